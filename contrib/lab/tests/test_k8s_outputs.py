# SPDX-License-Identifier: Apache-2.0
"""What netmodel-lab k8s makes of samples for other programs: an index, Prometheus; and results of k8s-netperf."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import ssl
import threading
import xml.etree.ElementTree as tree
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed; requirements-dev.txt has it")

from conftest import Lab, rows
from k8s_examples import ENDS, RR, STREAM, cell, keep_run, of

from netmodel_lab import foreign
from netmodel_lab.k8s import figures, outputs, prometheus, rules, search
from netmodel_lab.k8s.figures import Cell
from netmodel_lab.k8s.models import Model
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.k8s.search import Index, Target, identifier
from netmodel_lab.k8s.settings import points
from netmodel_lab.problems import EnvironmentProblem, UsageProblem

Json = dict[str, Any]


# --- an index ---


@dataclass
class Recorder:
    """A server that speaks the bulk protocol as OpenSearch does, and refuses what OpenSearch refuses."""

    url: str = ""
    documents: dict[str, Json] = field(default_factory=dict)
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)  # of the next answers; then 200
    busy: set[str] = field(default_factory=set)  # documents that are refused once for lack of room
    broken: str | None = None  # why each document is refused

    def answer(self, method: str, path: str, headers: Any, body: str) -> tuple[int, Json]:
        self.asked.append((method, path, headers.get("Authorization")))
        status = self.statuses.pop(0) if self.statuses else 200
        if status != 200 or method == "HEAD":
            return status, {"error": {"reason": "no more today"}, "status": status}
        assert (method, path) == ("POST", "/results/_bulk")
        assert headers["Content-Type"] == "application/x-ndjson"
        assert body.endswith("\n")
        lines = [json.loads(line) for line in body.splitlines()]
        return 200, {"items": [self._take(*two) for two in zip(lines[::2], lines[1::2], strict=True)]}

    def _take(self, action: Json, document: Json) -> Json:
        (name,) = action["index"].values()
        assert list(action["index"]) == ["_id"]
        if self.broken:
            return {"index": {"_id": name, "status": 400, "error": {"reason": self.broken}}}
        if name in self.busy:
            self.busy.discard(name)
            return {"index": {"_id": name, "status": 429, "error": {"reason": "queue is full"}}}
        is_new = name not in self.documents
        self.documents[name] = document
        return {"index": {"_id": name, "status": 201 if is_new else 200}}


def serve(recorder: Recorder, certificate: Path | None = None) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            status, document = recorder.answer(self.command, self.path, self.headers, body)
            data = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_HEAD = do_POST

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, certificate.with_suffix(".key"))
        server.socket = context.wrap_socket(server.socket, server_side=True)
    recorder.url = f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    found = Recorder()
    server = serve(found)
    yield found
    server.shutdown()
    server.server_close()


def index(recorder: Recorder, credentials: str | None = None, ca: str | None = None) -> Index:
    return Index(Target(recorder.url, "results", credentials, ca), sleep=lambda _: None)


def documents() -> list[Json]:
    ends = {name: {"node": name, "host_ip": "192.0.2.1"} for name in ("server", "client")}
    pairs = {1: [{"k8s": {**ends, "relation": "other node"}}]}
    cells = [cell(STREAM, network, [100.0, 110.0]) for network in ("pod", "host")]
    for one in cells:
        for row in one.rows:
            row["seq"] = 1
    return outputs.documents(cells, of(STREAM), "2026-01-31T12:00:00Z", pairs)


def test_documents_are_sent_once_however_often_they_are_sent(recorder: Recorder) -> None:
    first, second = sent = documents()
    assert index(recorder, "me:hunter2").send(sent) == 2
    assert list(recorder.documents) == [identifier(first), identifier(second)]
    found = recorder.documents[identifier(first)]
    assert (found["profile"], found["throughput"], found["hostNetwork"]) == ("TCP_STREAM", 105.0, False)
    assert "sampleRows" in first["netmodel"] and "sampleRows" not in found["netmodel"]
    later = [{**one, "timestamp": "later", "throughput": 1.0} for one in sent]
    index(recorder).send(later)
    assert len(recorder.documents) == 2 and recorder.documents[identifier(first)]["timestamp"] == "later"
    assert recorder.asked[0][2] == "Basic " + base64.b64encode(b"me:hunter2").decode()
    assert recorder.asked[-1][2] is None
    index(recorder, "me:\u2713").check()
    assert recorder.asked[-1][2] == "Basic " + base64.b64encode("me:\u2713".encode()).decode()


def test_what_differs_in_anything_that_tells_cells_apart_has_another_identifier() -> None:
    """Programs of others stand in the same run, and families of addresses do."""
    one, _ = documents()
    others = [{**one, "driver": "iperf3"}, {**one, "virt": True}]
    differs: Json = {"on": "blue", "family": "ipv6", "model": {"profile": "echo", "params": {}}}
    others += [{**one, "netmodel": {**one["netmodel"], name: value}} for name, value in differs.items()]
    assert len({identifier(each) for each in (one, *others)}) == 1 + len(others)


def test_an_index_that_is_busy_is_asked_again(recorder: Recorder) -> None:
    """For what it has not taken, and nothing else."""
    sent = documents()
    recorder.statuses = [503, 429]
    recorder.busy = {identifier(sent[1])}
    assert index(recorder).send(sent) == 2
    assert len(recorder.documents) == 2 and len(recorder.asked) == 4
    recorder.statuses = [503] * 6
    with pytest.raises(EnvironmentProblem, match="answers 503: no more today"):
        index(recorder).send(sent)


def test_what_an_index_refuses(recorder: Recorder) -> None:
    recorder.broken = "failed to parse field [throughput]"
    with pytest.raises(
        EnvironmentProblem, match=r"has refused documents, 2 of 2: failed to parse field \[throughput\]"
    ):
        index(recorder).send(documents())
    recorder.statuses = [401]
    with pytest.raises(EnvironmentProblem, match="answers 401"):
        index(recorder, "me:wrong").check()
    recorder.statuses = [404]  # it is made with the first document
    index(recorder).check()
    with pytest.raises(EnvironmentProblem, match="does not answer"):
        Index(Target("http://127.0.0.1:1", "results", None, None), sleep=lambda _: None).check()


def test_its_certificate_is_verified(certificate: Path) -> None:
    recorder = Recorder()
    server = serve(recorder, certificate)
    with pytest.raises(EnvironmentProblem, match="is not trusted"):
        index(recorder).check()
    index(recorder, ca=str(certificate)).check()
    assert [method for method, *_ in recorder.asked] == ["HEAD"]
    server.shutdown()
    server.server_close()


def test_an_address_has_no_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageProblem) as caught:
        Target.of("https://me:hunter2@search", "Results", str(tmp_path / "none"), None)
    assert [line.partition(":")[0] for line in caught.value.lines] == [
        "--search",
        '--index "Results"',
        f"--search-credentials {tmp_path}/none",
    ]
    assert "hunter2" not in "".join(caught.value.lines)
    for url in ("http://[x", "http://x:99999", "search:9200"):
        with pytest.raises(UsageProblem, match="must be http://HOST:PORT"):
            Target.of(url, "a", None, None)
    (tmp_path / "key").write_text("me:hunter2\n")
    assert Target.of("https://search:9200/", "a", str(tmp_path / "key"), None).credentials == "me:hunter2"
    monkeypatch.setenv(search.CREDENTIALS, "you:other")
    assert Target.of("https://search:9200/", "a", None, None).credentials == "you:other"


def test_resume_sends_what_is_done(lab: Lab, tmp_path: Path, recorder: Recorder) -> None:
    """No cluster is asked for samples that are all there; the password is in no file and in no output."""
    keep_run(tmp_path / "out")
    words = ("k8s", "resume", "out", "--search", recorder.url, "--index", "results", "--textfile", "node.prom")
    recorder.broken = "full"
    done = lab(*words, NETMODEL_SEARCH_CREDENTIALS="me:hunter2")
    assert done.returncode == 3
    assert "has refused documents, 1 of 1: full" in done.stderr
    assert "netmodel-lab k8s resume out, with the same --search, sends them again" in done.stderr
    recorder.broken = None
    done = lab(*words, NETMODEL_SEARCH_CREDENTIALS="me:hunter2")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "documents in the index: 1")
    (document,) = recorder.documents.values()
    assert document["timestamp"] == "2026-01-31T12:00:00Z"
    assert "the password can be read by others on its way" in done.stderr
    assert (document["throughput"], document["latency"], document["samples"]) == (1000.0, 200.0, 2)
    assert (tmp_path / "node.prom").read_text() == (tmp_path / "out" / "metrics.prom").read_text()
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or "hunter2" not in path.read_text()


# --- profiles of one's own ---


def sent(ways: tuple[int, int], received: float | None = 8e6, **more: Any) -> Json:
    """A result of a profile of one's own: bytes of the client, out and in."""
    totals = {"seconds": 1.0, "transactions_per_s": 500.0, "throughput": {"received_bits_per_s": received}}
    return {
        "run": {"start_s": 1.0},
        "totals": totals | dict(zip(("bytes_sent", "bytes_received"), ways, strict=True)) | more,
    }


def model_cell(result: Json, params: tuple[tuple[str, str], ...] = ()) -> Cell:
    test = Test("mine", "udp_stream", 3, 1, 0, 1, model=Model("udp_stream", params))
    (point,) = points(of(test))
    facts = {**ENDS, "relation": "other node"}
    return Cell(point, (figures.row(of(test), point, {"pairs": [{"result": result, "k8s": facts}]}, None),))


def test_a_stream_of_one_s_own_has_what_has_arrived_and_its_loss() -> None:
    lossy = model_cell(sent((1000, 0), loss=0.53))
    assert lossy.is_stream and lossy.figure == "received_MBps"
    assert lossy.throughput and lossy.throughput.mean == 8.0 and lossy.unit == "Mb/s"
    tables = dict(outputs.results([lossy], of()))
    assert list(tables) == ["Stream Results", "UDP Loss Percent"]
    assert tables["UDP Loss Percent"][1][-1] == "53.00"
    assert "UDP Percent Loss,netmodel,udp_stream" in outputs.csv_losses([lossy], of(), "now")
    rows = tuple({**lossy.rows[0], "received_MBps": value} for value in (1.0, 1.01, 0.99))
    earlier = [{**row, "received_MBps": row["received_MBps"] * 2} for row in rows]
    now = replace(lossy, rows=rows)
    (found,) = rules.baseline([now], {rules.key_of(now): earlier}, 10)
    assert found.is_worse  # with as many sent as before


def test_what_is_answered_or_not_told_is_no_stream() -> None:
    asked = model_cell(sent((1000, 1000), retransmits=3))
    assert not asked.is_stream and asked.unit == "OP/s"
    assert [title for title, _ in outputs.results([asked], of())] == [
        "Rr Results",
        "RR Latency Results",
        "TCP Retransmissions",
    ]
    assert not model_cell(sent((1000, 0), received=None)).is_stream  # to a server that is no slave


def test_a_profile_of_one_s_own_has_no_sizes_and_is_told_from_others() -> None:
    cells = [model_cell(sent((1000, 0)), (("size", size),)) for size in ("1", "2")]
    cells[0].rows[0]["server_node"] = "=cmd()"  # a spreadsheet would reckon it
    lines = list(csv.DictReader(io.StringIO(outputs.csv_results(cells, of(), "now"))))
    assert lines[0]["Server node"] == "'=cmd()"
    for line, size in zip(lines, ("1", "2"), strict=True):
        assert [line[name] for name in ("Parallelism", "Message Size", "Burst")] == [""] * 3
        assert line["Model"] == f"udp_stream size={size}"
    assert [name for name in cells[0].rows[0] if name.startswith("p.")] == ["p.duration"]


# --- Prometheus ---

LINE = re.compile(r'[a-z0-9_]+(\{([a-z_]+="([^"\\\n]|\\[\\"n])*",?)+\})? -?[0-9.e+-]+')


def test_metrics_are_prometheus_text() -> None:
    finding = rules.Finding('a "rule"\n', "x", True)
    host = cell(STREAM, "host", [100.0, 110.0])
    text = prometheus.text([host, cell(RR, "pod", [5.0])], [finding], "2026-01-31T12:00:00Z")
    lines = text.splitlines()
    assert all(line.startswith("# ") or LINE.fullmatch(line) for line in lines)
    more = 'parallelism="1",burst="0",path="host",place="other-node",driver="netmodel"'
    labels = f'test="TCPStream",profile="TCP_STREAM",duration="10",message_size="1024",message_read_size="1",{more}'
    assert f"netmodel_k8s_throughput_bits_per_second{{{labels}}} 105000000" in lines
    assert f'netmodel_k8s_samples{{{labels},state="failed"}} 1' in lines
    assert 'netmodel_k8s_rule_failed{rule="a \\"rule\\"\\n"} 1' in lines
    assert "netmodel_k8s_run_end_timestamp_seconds 1769860800" in lines
    names = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(names) == len(set(names)) == 5


def test_a_rule_without_a_verdict_has_not_passed() -> None:
    """Neither in Prometheus nor in JUnit."""
    (finding,) = rules.baseline([cell(STREAM, "pod", [])], {}, 10)
    assert (finding.word, finding.text) == ("none", "no verdict: the baseline has no sample of it")
    assert "rule_failed" not in prometheus.text([], [finding], "2026-01-31T12:00:00Z")
    suite = tree.fromstring(outputs.junit([], [finding], of(STREAM)).partition("\n")[2])
    assert (suite.get("skipped"), suite.get("failures"), suite.find("testcase/skipped") is not None) == ("1", "0", True)


def test_ends_of_several_pairs_that_differ() -> None:
    one = cell(STREAM, "pod", [100.0])
    one.rows[0]["seq"] = 1
    ends = {name: {"node": name} for name in ("server", "client")}
    pairs = {1: [{"k8s": {**ends, "relation": relation}} for relation in ("other zone", "same node")]}
    (document,) = outputs.documents([one], of(STREAM), "now", pairs)
    assert (document["netmodel"]["relation"], document["acrossAZ"]) == ("mixed", None)
    assert [info["nodeName"] for info in document["serverNodeInfo"]] == ["server", "server"]


# --- k8s-netperf ---

THEIRS: Json = {
    "uuid": "u",
    "timestamp": "2026-01-31T12:00:00Z",
    "hostNetwork": False,
    "driver": "netperf",
    "parallelism": 1,
    "profile": "TCP_STREAM",
    "duration": 10,
    "service": False,
    "local": False,
    "virt": False,
    "acrossAZ": True,
    "samples": 3,
    "messageSize": 1024,
    "burst": 0,
    "throughput": 100.0,
    "latency": 30.0,
    "tputMetric": "Mb/s",
    "ltcyMetric": "usec",
    "tcpRetransmits": 4.0,
    "confidence": [100.0 - 2.4841377, 100.0 + 2.4841377],
    "udnInfo": "",
    "externalServer": False,
}


def test_results_of_k8s_netperf_are_a_baseline(lab: Lab, tmp_path: Path) -> None:
    """Of three samples with a mean of 100 and a deviation of 1."""
    rr = {**THEIRS, "profile": "TCP_RR", "service": True, "local": True, "samples": 1, "confidence": [0, 0]}
    rr |= {"tputMetric": "OP/s", "throughput": 5000.0}
    nothing = {**THEIRS, "throughput": 0}
    (tmp_path / "theirs.json").write_text(json.dumps([THEIRS, rr, nothing]))
    done = lab("import", "k8s-netperf", "theirs.json", "-o", "rows.jsonl")
    assert done.returncode == 4 and "5 rows, 1 of them failed" in done.stderr
    found = rows(tmp_path)
    assert [round(row["received_MBps"] * 8, 4) for row in found[:3]] == [99.0017, 99.9967, 101.0016]
    assert (found[3]["transactions_per_s"], found[3]["p99_us"], found[3]["d.network"]) == (5000.0, 30.0, "service")
    assert (found[4]["ok"], found[4]["why"]) == (False, "nothing was carried")
    before = rules.read_baseline(tmp_path / "rows.jsonl")
    for now, is_worse in ((50.0, True), (99.0, False)):
        one = cell(STREAM, "pod", [now, now + 0.5, now - 0.5])
        one = replace(one, point=replace(one.point, place="other-zone"))
        missing, finding = rules.baseline([one], before, 10)
        assert (missing.word, missing.title.partition(",")[0]) == ("none", "TCP_RR")
        assert (finding.is_worse, finding.is_sure) == (is_worse, True), finding.text


def test_drivers_of_k8s_netperf_are_not_mixed(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("one.json", "two.json")]
    for path, driver in zip(paths, ("netperf", "iperf3"), strict=True):
        path.write_text(json.dumps([{**THEIRS, "driver": driver}]))
    with pytest.raises(UsageProblem, match="several drivers, which are not to be mixed: netperf, iperf3"):
        foreign.read("k8s-netperf", paths)


def from_theirs(tmp_path: Path, **other: Any) -> list[Json]:
    (tmp_path / "theirs.json").write_text(json.dumps({**THEIRS, **other}))
    return foreign.read("k8s-netperf", [tmp_path / "theirs.json"])


@pytest.mark.parametrize(
    ("field", "text", "network"),
    [
        ("bridgeInfo", "default/fast", "bridge"),
        ("sriovInfo", "sriov/ens1", "sriov"),
        ("macvlanInfo", "macvlan/eth1", "macvlan"),
        ("localnetInfo", "localnet/ph", "localnet"),
        ("udnInfo", "layer2", "udn"),
        ("udnInfo", "Cudn -layer3", "cudn"),
    ],
)
def test_networks_beside_that_of_the_pods_are_told_apart(tmp_path: Path, field: str, text: str, network: str) -> None:
    (first, *_) = from_theirs(tmp_path, **{field: text})
    assert (first["d.network"], first["d.on"], "d.ends" in first) == (network, text, False)
    (first, *_) = from_theirs(tmp_path, **{field: text, "virt": True})
    assert (first["d.network"], first["d.ends"]) == (network, "vm")


def test_a_service_of_pods_on_a_primary_network_is_not_one_of_the_cluster_s(tmp_path: Path) -> None:
    found = [from_theirs(tmp_path, service=True, udnInfo=text)[0] for text in ("", "layer2", "layer3", "Cudn -layer2")]
    assert {one["d.network"] for one in found} == {"service"}
    assert [one.get("d.on") for one in found] == [None, "layer2", "layer3", None]
    (first, *_) = from_theirs(tmp_path, hostNetwork=True, udnInfo="layer2")
    assert (first["d.network"], "d.on" in first) == ("host", False)


def test_path_and_place_come_back_with_our_own_documents(tmp_path: Path) -> None:
    (first, *_) = from_theirs(tmp_path)
    assert (first["d.network"], first["d.place"], first["d.duration"]) == ("pod", "other-zone", "10")
    (first, *_) = from_theirs(tmp_path, netmodel={"network": "nodeport", "place": "same-zone"})
    assert (first["d.network"], first["d.place"]) == ("nodeport", "same-zone")


def test_values_that_k8s_netperf_does_not_tell_are_not_made_up(tmp_path: Path) -> None:
    for interval in (None, [0, 0], [100, 100]):
        assert [row["received_MBps"] for row in from_theirs(tmp_path, confidence=interval)] == [12.5]
    wide = [row["received_MBps"] * 8 for row in from_theirs(tmp_path, confidence=[-300.0, 500.0])]
    assert len(wide) == 3 and min(wide) > 0 and abs(sum(wide) / 3 - 100) < 1e-6
    (row,) = from_theirs(tmp_path, throughput=0.0, confidence=[0, 0])
    assert (row["ok"], row["why"]) == (False, "nothing was carried")


@pytest.mark.parametrize(
    ("driver", "profile", "is_ok", "p99_us"),
    [
        ("ib_write_bw", "TCP_STREAM", False, None),
        ("iperf3", "SCTP_STREAM", False, None),
        ("uperf", "SCTP_RR", False, None),
        ("uperf", "TCP_RR", True, None),
        ("netperf", "TCP_STREAM", True, None),
        ("netperf", "TCP_CRR", True, 30.0),
    ],
)
def test_figures_that_are_others_are_refused(
    tmp_path: Path, driver: str, profile: str, is_ok: bool, p99_us: float | None
) -> None:
    (row,) = from_theirs(tmp_path, driver=driver, profile=profile, samples=1)
    assert (row["ok"], row.get("p99_us")) == (is_ok, p99_us)
    assert is_ok or str(row["why"]).startswith(driver)
