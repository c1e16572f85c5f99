# SPDX-License-Identifier: Apache-2.0
"""Prometheus, asked after a run what nodes and pods have used during each of its samples."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from string import Template
from typing import Any
from urllib.parse import urlencode

import urllib3
import urllib3.exceptions
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from netmodel_lab.columns import reach
from netmodel_lab.k8s.cluster import SERVICE, Cluster
from netmodel_lab.k8s.problems import ApiProblem
from netmodel_lab.k8s.search import parts_of, text_of
from netmodel_lab.k8s.usage import MODES, End, Used, ends_of, of_samples
from netmodel_lab.problems import EnvironmentProblem, UsageProblem, nearest

Json = dict[str, Any]
Series = list[tuple[dict[str, str], float]]
AUTO = "auto"  # the Service that is found in the cluster
_LABELS = "app.kubernetes.io/name=prometheus"
_REQUEST_S = 10.0
_WORD = re.compile(r"[!-~]+")  # what a header may have
_ON = 'instance=~"($ip|$node)(:.*)?"'
_VSWITCH = f'id="/system.slice/ovs-vswitchd.service",{_ON}'
# $node and $ip are those of an end, $window is as long as a sample: a rate over all of it, and nothing else.
QUERIES = {
    "cpu": f"avg by (mode) (rate(node_cpu_seconds_total{{{_ON}}}[$window])) * 100",
    "pods": f'topk(10, sum by (pod) (rate(container_cpu_usage_seconds_total{{container!="",{_ON}}}[$window])) * 100)',
    "memory": f'topk(10, sum by (pod) (max_over_time(container_memory_rss{{container!="",{_ON}}}[$window])))',
    "vswitch_cpu": f"sum(rate(container_cpu_usage_seconds_total{{{_VSWITCH}}}[$window])) * 100",
    "vswitch_memory": f"sum(max_over_time(container_memory_rss{{{_VSWITCH}}}[$window]))",
}


def queries(path: str | None) -> dict[str, str]:
    """Those of a file in the place of ours. Raises UsageProblem."""
    if path is None:
        return QUERIES
    try:
        given = YAML(typ="safe").load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, YAMLError) as error:
        raise UsageProblem([f"--prom-queries {path}: {error}"]) from None
    if not isinstance(given, dict):
        raise UsageProblem([f"--prom-queries {path}: must be NAME: QUERY, with names of {', '.join(QUERIES)}"])
    wrong = [
        f"--prom-queries {path}: {name}: no such figure{nearest(str(name), list(QUERIES))}"
        for name in given
        if name not in QUERIES
    ]
    for name, text in given.items():
        found = Template(str(text)) if isinstance(text, str) else None
        if found is None or not found.is_valid() or set(found.get_identifiers()) - {"node", "ip", "window"}:
            wrong.append(
                f"--prom-queries {path}: {name}: must be a query, in which $node, $ip and $window stand for values"
            )
    if wrong:
        raise UsageProblem(wrong)
    return {**QUERIES, **given}


@dataclass(frozen=True)
class Prometheus:
    """get: asks for a path, and gives the status of the answer and its text."""

    text: str
    get: Callable[[str], tuple[int, bytes]]
    queries: Mapping[str, str]
    is_open: bool = False  # others on the way can read the token

    @classmethod
    def at(cls, url: str, token_file: str | None, ca: str | None, queries: Mapping[str, str]) -> Prometheus:
        """Raises UsageProblem; what is secret is not shown."""
        wrong: list[str] = []
        parts = parts_of(url)
        if parts is None:
            wrong.append(f"--prom: must be http://HOST:PORT, https://HOST:PORT or {AUTO}")
        elif parts.username or parts.password:
            wrong.append("--prom: a command line is no place for a password: --prom-token FILE")
        token = text_of("--prom-token", token_file, wrong)
        text_of("--prom-ca", ca, wrong)
        if token is not None and not _WORD.fullmatch(token):
            wrong.append(f"--prom-token {token_file}: must have one word of ASCII")
        if wrong:
            raise UsageProblem(wrong)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        pool = urllib3.PoolManager(cert_reqs="CERT_REQUIRED", ca_certs=ca)

        def get(path: str) -> tuple[int, bytes]:
            try:
                answer = pool.request("GET", url.rstrip("/") + path, headers=headers, retries=False, timeout=_REQUEST_S)
            except urllib3.exceptions.SSLError as error:
                raise EnvironmentProblem([f"{url} is not trusted: {error}"]) from None
            except urllib3.exceptions.HTTPError as error:
                raise EnvironmentProblem([f"{url} does not answer: {error}"]) from None
            return answer.status, answer.data

        return cls(url, get, queries, is_open=bool(token) and url.startswith("http:"))

    @classmethod
    def of(cls, cluster: Cluster, queries: Mapping[str, str]) -> Prometheus:
        """The Service that has the label of all charts, through the API server, which this user is known to. Raises
        EnvironmentProblem."""
        for one in cluster.listed(SERVICE, labels=_LABELS):
            meta = one["metadata"]
            ports = [
                port for port in one["spec"].get("ports") or [] if port.get("name") in (None, "web", "http", "http-web")
            ]
            if ports:
                root = f"{SERVICE.path(meta['namespace'], meta['name'])}:{ports[0]['port']}/proxy"

                def get(path: str, root: str = root) -> tuple[int, bytes]:
                    try:
                        return 200, cluster.request("GET", root + path, patience_s=0)
                    except ApiProblem as problem:
                        return problem.status, problem.message.encode()

                return cls(f"service {meta['name']} in {meta['namespace']}", get, queries)
        raise EnvironmentProblem([f"--prom {AUTO}: no Service has the label {_LABELS}; --prom URL names one"])

    def check(self) -> None:
        """Before anything is measured. Raises EnvironmentProblem."""
        self._ask("vector(1)", None)

    def _ask(self, query: str, at_s: float | None) -> Series:
        words = {"query": query} | ({} if at_s is None else {"time": f"{at_s:.3f}"})
        status, data = self.get(f"/api/v1/query?{urlencode(words)}")
        try:
            answer = json.loads(data)
            if answer["status"] != "success":
                raise EnvironmentProblem([f"{self.text}: {answer['error']}: {query}"])
            found = [(dict(one["metric"]), float(one["value"][1])) for one in answer["data"]["result"]]
        except (ValueError, KeyError, TypeError):
            said = data.decode("utf-8", "replace").strip().partition("\n")[0][:200]
            raise EnvironmentProblem([f"{self.text} is no Prometheus: it answers {status}: {said}"]) from None
        return [(labels, value) for labels, value in found if math.isfinite(value)]

    # --- what ends have used ---

    def ends(self, pairs: Sequence[Json]) -> dict[str, End]:
        """As from inside, and what is known here beside it. pairs: of all samples."""
        found = {}
        for name, end in of_samples(pairs).items():
            try:
                found[name] = self._end(end, name, pairs)
            except EnvironmentProblem as problem:
                lacking = [figure for figure in QUERIES if not (figure == "cpu" and end.cpu)]
                found[name] = replace(end, why_not=dict.fromkeys(lacking, "; ".join(problem.lines)))
        return found

    def _end(self, end: End, name: str, pairs: Sequence[Json]) -> End:
        windows = list(_windows(name, pairs))
        each = {
            figure: [self._ask(Template(query).substitute(words), at) for words, at in windows]
            for figure, query in self.queries.items()
        }
        cpu = _by(each["cpu"], "mode")
        pods, memory = _by(each["pods"], "pod"), _by(each["memory"], "pod")
        names = {**pods, **memory, **end.pods}  # those that use most come first
        seconds = ", ".join(dict.fromkeys(words["window"] for words, _ in windows))
        why = {
            figure: f"{self.text} has no value of it within the {seconds} of the samples"
            for figure, found in each.items()
            if not any(found) and not (figure == "cpu" and end.cpu)
        }
        inside = {field: cpu[mode] for field, (_, mode) in MODES.items() if mode in cpu}
        return replace(
            end,
            cpu=end.cpu or inside,
            outside=inside,
            pods={pod: _known(pods.get(pod), memory.get(pod), end.pods.get(pod)) for pod in names},
            vswitch=(_one(each["vswitch_cpu"]), _one(each["vswitch_memory"])),
            why_not=why,
        )


def _windows(name: str, pairs: Sequence[Json]) -> Iterator[tuple[dict[str, str], float]]:
    """Of each sample and node: what stands for the words of a query, and its end."""
    for pair in pairs:
        run = pair["result"].get("run") or {}
        begin, seconds = run.get("start_s"), run.get("elapsed_s") or reach(pair, "result", "totals", "seconds")
        if begin is None or not seconds:
            continue
        window = math.ceil(seconds)
        nodes = {end["node"]: str(end.get("host_ip")) for end in ends_of(name, [pair]) if end.get("node")}
        for node, address in nodes.items():
            yield {"node": node, "ip": address, "window": f"{window}s"}, begin + window


def _by(each: Sequence[Series], label: str) -> dict[str, float]:
    """The mean of all samples, by a label."""
    found: dict[str, list[float]] = {}
    for series in each:
        for labels, value in series:
            found.setdefault(labels.get(label, ""), []).append(value)
    return {name: fmean(values) for name, values in found.items()}


def _known(cpu: float | None, memory: float | None, inside: Used | None) -> Used:
    """Of a pod: from inside where it is not known here, as of one that has just begun."""
    own = inside or (None, None)
    return (own[0] if cpu is None else cpu, own[1] if memory is None else memory)


def _one(each: Sequence[Series]) -> float | None:
    values = [value for series in each for _, value in series]
    return fmean(values) if values else None
