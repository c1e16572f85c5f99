# SPDX-License-Identifier: Apache-2.0
"""The page: complete, alone, and proof against what is in it."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import Lab
from large import enlarge

from netmodel_lab.folder import Folder
from netmodel_lab.page import html
from netmodel_lab.page.warnings import warnings
from netmodel_lab.table import Table

# What a page would fetch, or run beside its own scripts.
_FETCHES = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=|@import|url\((?!["']?(?:#|data:))""")


class Reader(HTMLParser):
    """Texts by the element that they are in, and how many elements there are."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = {}
        self.tags: list[str] = []
        self._open = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open = f"{tag}#{dict(attrs).get('id') or ''}"
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self._open, []).append(data)


def read(path: Path) -> tuple[str, Reader]:
    text, reader = path.read_text(), Reader()
    reader.feed(text)
    return text, reader


def test_page(study: Path) -> None:
    text, reader = read(study / "report.html")
    data = json.loads("".join(reader.texts["script#data"]))
    assert data["axis"] == "num_flows"
    charts = [chart["column"] for chart in data["charts"]]
    assert charts[0] == "transactions_per_s"
    assert {"p50_us", "p99_us", "cpu_us_per_transaction.shared"} <= set(charts)
    assert reader.tags.count("figure") == len(charts) + text.count('class="picture"')
    assert len(data["studies"][0]["runs"]["transactions_per_s"]) == 4
    assert data["studies"][0]["dimensions"]["num_flows"] == {"text": ["1", "2"], "number": [1, 2]}
    assert "default-src &#x27;none&#x27;" in text or "default-src 'none'" in text
    outside = re.sub(r"<script type=\"module\">.*?</script>", "", text, flags=re.DOTALL)
    assert not _FETCHES.search(outside)
    rates = data["studies"][0]["runs"]["transactions_per_s"]
    (low, high) = data["charts"][0]["spec"]["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert low == 0
    # However long the intervals of two runs are, the runs can be told apart.
    most = max(rates) + (max(rates) - min(rates)) / 2
    assert max(rates) * 1.04 < high < most * 1.06
    assert "num_flows=1,2" in "".join(reader.texts["pre#"])
    assert len(text) < 1_500_000


def _rows(text: str) -> dict[str, list[str]]:
    """The figures of each machine's row, by its name; those that are not known of it in parentheses."""
    group = text[text.index("<summary>Machines<") : text.index("<summary>What it costs<")]
    return {
        row.partition("</h3>")[0]: [
            f"({name})" if kind else name
            for kind, name in re.findall(r'<figure (class="none" )?[^>]*?data-figure="(\w+)"', row)
        ]
        for row in group.split("<h3>")[1:]
    }


def test_single_runs_are_shown_at_once_where_they_are_few(
    study: Path, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for most, is_shown in ((4, True), (3, False)):
        monkeypatch.setattr(html, "_MOST_RUNS", most)
        assert lab("report", study, "-o", "page.html").returncode == 0
        assert ('id="runs" checked>' in (tmp_path / "page.html").read_text()) is is_shown


def test_each_machine_has_a_row_of_the_same_charts(apart_study: Path) -> None:
    text, reader = read(apart_study / "report.html")
    rows = _rows(text)
    assert list(rows) == ["master", "slave"]
    # Some machines of tests have these.
    rows = {end: [name for name in row if name not in ("hidden_TL", "busy_hw_TL")] for end, row in rows.items()}
    assert rows["master"] == [
        *("busy_kernel_TL", "(irq_nic_kps)", "irq_all_kps", "wire_MBps", "(packets_per_nic_irq)", "packets_per_irq"),
        *("softirq_net_kps", "wire_kpps", "cs_kps", "packets_per_cs", "p50_us", "p90_us", "p99_us"),
    ]
    assert [name.strip("()") for name in rows["slave"]] == [name.strip("()") for name in rows["master"]]
    assert [name for name in rows["slave"] if name[0] == "("] == ["(softirq_net_kps)"]
    data = json.loads("".join(reader.texts["script#data"]))
    domains = {
        chart["column"]: chart["spec"]["layer"][0]["encoding"]["y"]["scale"]["domain"] for chart in data["charts"]
    }
    assert domains["busy_kernel_TL.master"] == domains["busy_kernel_TL.slave"]
    axes = {axis["name"]: axis["columns"] for axis in data["axes"]}
    assert axes["irq_all_kps"] == [
        {"": "irq_all_kps.master", "master": "irq_all_kps.master", "slave": "irq_all_kps.slave"}
    ]
    assert axes["payload_MBps"] == [{"": "payload_MBps", "master": "payload_MBps", "slave": "payload_MBps"}]


def test_several_studies_have_one_page(both: Path, wide_study: Path, apart_study: Path) -> None:
    text, reader = read(both)
    rows = _rows(text)
    assert list(rows) == ["wide: this one, with both ends", "apart: master", "apart: slave"]
    assert len({tuple(name.strip("()") for name in figures) for figures in rows.values()}) == 1
    data = json.loads("".join(reader.texts["script#data"]))
    assert data["series"]["num_flows"] == ["request_size=64", "request_size=16k"]
    domains: dict[str, set[float]] = {}
    for chart in data["charts"]:
        figure = chart["column"].partition(".")[0]
        domains.setdefault(figure, set()).add(chart["spec"]["layer"][0]["encoding"]["y"]["scale"]["domain"][1])
    assert {figure: len(tops) for figure, tops in domains.items()} == dict.fromkeys(domains, 1)
    assert [one["title"] for one in data["details"]][::6] == [
        "wide num_flows=1 request_size=64",
        "apart num_flows=1 request_size=64",
    ]
    assert text.count('<p class="of">apart</p>') > 3


def test_studies_that_have_varied_other_things(study: Path, lab: Lab, tmp_path: Path) -> None:
    words = ("tcp_rr", "request_size=64,1k", "--set", "test_length=60ms", "--repeat", "1", "--no-report", "-o", "sizes")
    assert lab("run", *words).returncode == 0
    assert lab("report", study, "sizes", "-o", "page.html").returncode == 0
    text, reader = read(tmp_path / "page.html")
    data = json.loads("".join(reader.texts["script#data"]))
    assert data["axis"] == "wire_MBps"
    assert data["series"]["num_flows"] == ["tcp_rr"]
    assert data["series"]["request_size"] == ["tcp_rr"]
    assert re.findall(r'class="row" data-study="(.)"><p class="unvaried">', text) == ["0", "1"] * 3


def test_a_row_of_swapped_roles_is_of_both_machines() -> None:
    hosts = SimpleNamespace(master=SimpleNamespace(text="ssh:a"), slave=SimpleNamespace(text="ssh:b"))
    titles = []
    for is_swapped in (False, True):
        plan = [SimpleNamespace(is_swapped=False), SimpleNamespace(is_swapped=is_swapped)]
        manifest = SimpleNamespace(study=SimpleNamespace(hosts=hosts), plan=plan)
        table: Any = SimpleNamespace(manifest=manifest)
        titles += [html._end_title(table, end) for end in ("master", "slave")]
    assert titles == ["master, ssh:a", "slave, ssh:b", "master, ssh:a or ssh:b", "slave, ssh:b or ssh:a"]


def test_several_studies_are_asked_for_rightly(wide_study: Path, apart_study: Path, lab: Lab, tmp_path: Path) -> None:
    done = lab("report", wide_study, apart_study, wide_study, "--text")
    assert done.returncode == 2
    assert [line.removeprefix("netmodel-lab: ") for line in done.stderr.splitlines()] == [
        "--text: is for one study at a time",
        "-o FILE says where the page of several studies goes",
        f"{wide_study}: is there twice",
    ]
    assert not list(tmp_path.iterdir())


def test_texts_of_others_do_nothing(study: Path, lab: Lab, tmp_path: Path) -> None:
    evil = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\u2028"
    path = tmp_path / "s"
    shutil.copytree(study, path)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["study"]["profile"] = evil
    manifest["epochs"][0]["facts"]["host"] = evil
    for point in manifest["plan"]:
        point["profile"] = evil
    (path / "manifest.json").write_text(json.dumps(manifest))
    command = path / "runs" / "000001-a1" / "command.json"
    command.write_text(json.dumps({**json.loads(command.read_text()), "why": evil}))
    assert lab("report", path).returncode == 0
    _, tame = read(study / "report.html")
    text, reader = read(path / "report.html")
    assert reader.tags.count("script") == tame.tags.count("script")
    assert "img" not in reader.tags
    assert text.count(evil[:20]) == 0
    assert evil in "".join(reader.texts["p#"])


def test_text(study: Path, lab: Lab) -> None:
    lines = lab("report", study, "--text").stdout.splitlines()
    assert lines[0].split() == [
        *("num_flows", "runs", "transactions_per_s", "payload_MBps", "p50_us", "p99_us"),
        "busy_kernel_TL.shared",
    ]
    assert [line.split()[:2] for line in lines[1:3]] == [["1", "2"], ["2", "2"]]
    assert lines[4].split()[:6] == ["num_flows", "figure", "n", "mean", "median", "sd"]
    assert [line.split()[:3] for line in lines[5:7]] == [["1", name, "2"] for name in lines[0].split()[2:4]]


def test_results_that_told_no_costs_yet(study: Path, tmp_path: Path) -> None:
    path = tmp_path / "s"
    shutil.copytree(study, path)
    said = "runs are of a netmodel that told no costs of hosts"
    assert said not in (path / "report.html").read_text()
    for result in sorted(path.glob("runs/*/result.json"))[:3]:
        document = json.loads(result.read_text())
        for host in document["hosts"]:
            del host["costs"]
        result.write_text(json.dumps(document))
    table = Table(Folder.open(path))
    shutil.rmtree(path / "runs")  # a study has many, and they are large: each is read once
    assert [text for text in warnings(table) if text.startswith(f"3 {said}")]


def test_statistics_and_outliers(wide_study: Path, lab: Lab, tmp_path: Path) -> None:
    """Of ten cells with ten runs each, one of which lies far from the others of its cell."""
    path = tmp_path / "s"
    enlarge(wide_study, path, 100)
    manifest = json.loads((path / "manifest.json").read_text())
    seqs = [point["seq"] for point in manifest["plan"] if point["cell"] == manifest["plan"][0]["cell"]]
    assert len(seqs) == 10
    for i, seq in enumerate(seqs):
        result = path / "runs" / f"{seq:06d}-a1" / "result.json"
        document = json.loads(result.read_text())
        document["totals"]["transactions_per_s"] = 5000 if i == 3 else 1000 + i
        result.write_text(json.dumps(document))
    text = lab("report", path, "--text").stdout
    mine = [line for line in text.splitlines() if f"run {seqs[3]} far" in line]
    assert len(mine) == 1  # the other figures of that run lie with the others
    # Of 1000 .. 1009 without 1003, and 5000: mean, median and deviation, and all but one at either end.
    figures = re.split("  +", mine[0])[3:]
    assert figures == ["10", "1.40 k/s", "1.01 k/s", "1.26 k/s", "1.00 k/s .. 1.01 k/s", f"run {seqs[3]} far"]
    assert lab("report", path).returncode == 0
    _, reader = read(path / "report.html")
    assert f"Run {seqs[3]} lies far from the others of its cell in transactions_per_s" in reader.texts["li#"]
    assert f"run {seqs[3]} far" in reader.texts["td#"]


def test_the_first_of_many_are_told(
    wide_study: Path, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s"
    enlarge(wide_study, path, 100)
    plan = json.loads((path / "manifest.json").read_text())["plan"]
    cells = sorted({point["cell"] for point in plan})
    for point in plan:
        result = path / "runs" / f"{point['seq']:06d}-a1" / "result.json"
        document = json.loads(result.read_text())
        is_far = point["block"] == 1 or (point["block"] == 2 and point["cell"] in cells[:2])
        document["totals"]["transactions_per_s"] = 5000 if is_far else 1000 + point["block"]
        result.write_text(json.dumps(document))
    monkeypatch.setattr(html, "_MOST_STATISTICS", 3)
    assert lab("report", path).returncode == 0
    _, reader = read(path / "report.html")
    told = [text for text in reader.texts["li#"] if "lies far" in text]
    assert len(told) == 10
    assert "So do 2 more, see the statistics of the cells" in reader.texts["li#"]
    assert any(re.fullmatch(r"The first 3 of \d+ statistics of the cells", text) for text in reader.texts["summary#"])
