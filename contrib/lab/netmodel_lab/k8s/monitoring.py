# SPDX-License-Identifier: Apache-2.0
"""Prometheus, asked after a run what nodes and pods have used during each of its samples."""

from __future__ import annotations

import functools
import json
import math
import re
from collections import Counter
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
from netmodel_lab.k8s.usage import MODES, End, Pod, ends_of, of_samples
from netmodel_lab.problems import EnvironmentProblem, UsageProblem, nearest

Json = dict[str, Any]
Series = list[tuple[dict[str, str], float]]
_Window = tuple[dict[str, str], float]
AUTO = "auto"  # the Service that is found in the cluster
_LABELS = "app.kubernetes.io/name=prometheus"
_REQUEST_S = 10.0
_WORD = re.compile(r"[!-~]+")  # what a header may have
_ON = r'instance=~"\\[?($ip|$node)\\]?(:.*)?"'  # an address of IPv6 is in brackets
_VSWITCH = f'id="/system.slice/ovs-vswitchd.service",{_ON}'
_MOST_PODS = 10  # of each list: those that use most
# $node and $ip are those of an end, $window is as long as a sample: a rate over all of it, and nothing else.
QUERIES = {
    "cpu": f"avg by (mode) (rate(node_cpu_seconds_total{{{_ON}}}[$window])) * 100",
    "pods": f'sum by (namespace, pod) (rate(container_cpu_usage_seconds_total{{container!="",{_ON}}}[$window])) * 100',
    "memory": f'sum by (namespace, pod) (max_over_time(container_memory_rss{{container!="",{_ON}}}[$window]))',
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

    def ends(self, samples: Sequence[Sequence[Json]]) -> dict[str, End]:
        """As from inside, and what is known here beside it. samples: the pairs of each."""
        found = {}
        ask = functools.cache(self._ask)  # most nodes are those of both ends
        for name, end in of_samples(samples).items():
            try:
                found[name] = self._end(end, list(_windows(name, samples)), ask)
            except EnvironmentProblem as problem:
                lacking = [figure for figure in QUERIES if not (figure == "cpu" and end.cpu)]
                found[name] = replace(end, why_not=dict.fromkeys(lacking, "; ".join(problem.lines)))
        return found

    def _end(self, end: End, windows: Sequence[_Window], ask: Callable[[str, float], Series]) -> End:
        each = {
            figure: [ask(Template(query).substitute(words), at) for words, at in windows]
            for figure, query in self.queries.items()
        }
        nodes = [words["node"] for words, _ in windows]
        cpu, pods = _by_mode(each["cpu"]), _most(_cpu_of_pods(nodes, each["pods"]))
        memory = _most(_memory_of_pods(each["memory"]))
        outside = {pod: (pods.get(pod), memory.get(pod)) for pod in {**pods, **memory}}
        own = {("", pod[1]): pod for pod in end.pods}  # by queries that tell of no namespace
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
            pods={own.get(pod, pod): used for pod, used in outside.items()} | end.pods,
            outside_pods=outside,
            vswitch=(
                fmean(values) if (values := _values(each["vswitch_cpu"])) else None,
                max(_values(each["vswitch_memory"]), default=None),
            ),
            why_not=why,
        )


def _windows(name: str, samples: Sequence[Sequence[Json]]) -> Iterator[_Window]:
    """Of each sample and node: what stands for the words of a query, and its end. From the first begin of a pair to the
    last end, so that both ends of a sample have the same."""
    for pairs in samples:
        times = list(_times(pairs))
        if not times:
            continue
        begin = min(begin for begin, _ in times)
        window = math.ceil(max(end for _, end in times) - begin)
        nodes = {end["node"]: str(end.get("host_ip")) for end in ends_of(name, pairs) if end.get("node")}
        for node, address in nodes.items():
            yield {"node": node, "ip": address, "window": f"{window}s"}, begin + window


def _times(pairs: Sequence[Json]) -> Iterator[tuple[float, float]]:
    for pair in pairs:
        run = pair["result"].get("run") or {}
        begin, seconds = run.get("start_s"), run.get("elapsed_s") or reach(pair, "result", "totals", "seconds")
        if begin is not None and seconds:
            yield begin, begin + seconds


def _by_mode(each: Sequence[Series]) -> dict[str, float]:
    """The mean of all samples and nodes."""
    found: dict[str, list[float]] = {}
    for series in each:
        for labels, value in series:
            found.setdefault(labels.get("mode", ""), []).append(value)
    return {name: fmean(values) for name, values in found.items()}


def _pod(labels: Mapping[str, str]) -> Pod:
    return labels.get("namespace", ""), labels.get("pod", "")


def _cpu_of_pods(nodes: Sequence[str], each: Sequence[Series]) -> dict[Pod, float]:
    """The mean of all samples of its nodes, of which one may not have it: there it has used nothing."""
    known = Counter(node for node, series in zip(nodes, each, strict=True) if series)
    found: dict[Pod, dict[str, float]] = {}
    for node, series in zip(nodes, each, strict=True):
        for labels, value in series:
            of_nodes = found.setdefault(_pod(labels), {})
            of_nodes[node] = of_nodes.get(node, 0.0) + value
    return {pod: sum(used.values()) / sum(known[node] for node in used) for pod, used in found.items()}


def _memory_of_pods(each: Sequence[Series]) -> dict[Pod, float]:
    """The most of all samples, as netmodel's own."""
    found: dict[Pod, float] = {}
    for series in each:
        for labels, value in series:
            found[_pod(labels)] = max(value, found.get(_pod(labels), value))
    return found


def _most(used: Mapping[Pod, float]) -> dict[Pod, float]:
    return dict(sorted(used.items(), key=lambda one: -one[1])[:_MOST_PODS])


def _values(each: Sequence[Series]) -> list[float]:
    return [value for series in each for _, value in series]
