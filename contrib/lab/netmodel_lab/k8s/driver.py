# SPDX-License-Identifier: Apache-2.0
"""A run in a cluster: what is made, each sample, and what is removed, on every path."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from netmodel_lab.k8s import manifests, results
from netmodel_lab.k8s.cleaning import remove
from netmodel_lab.k8s.cluster import JOB, NODE, POD, SERVICE_CIDR, Cluster
from netmodel_lab.k8s.placement import Pair, choose, relation, verify
from netmodel_lab.k8s.problems import ApiProblem, MeasurementProblem
from netmodel_lab.k8s.settings import CONTROL_PORT, Layout, Point, Settings
from netmodel_lab.k8s.waits import Waits, ended, is_ready
from netmodel_lab.problems import EnvironmentProblem

Json = dict[str, Any]
_PORTS_TRIED = 4  # of a node, for a slave in its network
_TAKEN = "Address already in use"


@dataclass(frozen=True)
class Slave:
    """A server that is ready, and where masters find it."""

    pod: Json
    uid: str
    node: Json
    address: str
    port: int


@dataclass(frozen=True)
class Sample:
    """What one pair has measured."""

    pair: int
    document: Json
    k8s: Json


class Driver:
    """Between open() and close(), sample() measures a point."""

    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        points: Sequence[Point],
        key: str | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        """tell: is called with each object that is made."""
        self._cluster, self._settings, self._points, self._tell = cluster, settings, points, tell
        self._key = key or secrets.token_hex(32)
        self._expires = settings.expires()
        self._waits = Waits(cluster, settings.limits)
        self._layouts = manifests.layouts(settings, points)
        self._slaves: dict[tuple[int, Layout], Slave] = {}
        self._services: dict[int, str] = {}
        self._pairs: list[Pair] = []
        self._nodes: dict[str, Json] = {}
        self.has_begun = False
        self._has_failed = False  # a sample

    # --- before the first sample ---

    def look(self) -> list[Pair]:
        """Which nodes it will be on; nothing is made."""
        nodes = self._cluster.listed(NODE)
        self._nodes = {str(node["metadata"]["name"]): node for node in nodes}
        self._pairs = choose(nodes, self._settings.where, self._settings.pods)
        return self._pairs

    def open(self) -> None:
        settings, used = self._settings, self._layouts
        self.look()
        self.has_begun = True
        for item in manifests.namespaces(settings, used, self._expires):
            self._create(item)
        for namespace in dict.fromkeys(manifests.namespace_of(settings, layout) for layout in used):
            self._create(manifests.secret(settings, namespace, self._key, self._expires))
            files = manifests.config_map(settings, namespace, self._expires)
            if files:
                self._create(files)
        if settings.external:
            return
        for pair in range(len(self._pairs)):
            for layout in used:
                self._slaves[pair, layout] = self._slave(pair, layout)
            self._service(pair)

    def _create(self, item: Json) -> Json:
        if self._tell:
            meta = item["metadata"]
            self._tell(f"{item['kind']} {meta['name']}" + (f" in {meta['namespace']}" if "namespace" in meta else ""))
        return self._cluster.create(item)

    def ranges(self) -> list[str]:
        """Where data may come from, beside the master's own address: pods, services and nodes of the cluster."""
        found = [*self._settings.allow_peers]
        for item in self._cluster.listed_if_there(SERVICE_CIDR):
            found += (item.get("spec") or {}).get("cidrs") or []
        for node in self._nodes.values():
            spec = node.get("spec") or {}
            found += spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else [])
            found += [one["address"] for one in node["status"].get("addresses") or [] if one["type"] == "InternalIP"]
            # A CNI that has addresses of its own per node: Calico's tunnel is the source of what host pods send.
            annotations = node["metadata"].get("annotations") or {}
            found += [value for name, value in annotations.items() if name.endswith("/IPv4VXLANTunnelAddr")]
        return list(dict.fromkeys(found))

    def _slave(self, pair: int, layout: Layout) -> Slave:
        wanted = self._pairs[pair].server
        for attempt in range(_PORTS_TRIED):
            item = manifests.server(self._settings, pair, layout, wanted, self.ranges(), self._expires, attempt)
            name, namespace = item["metadata"]["name"], item["metadata"]["namespace"]
            self._create(item)
            try:
                pod = self._waits.ready(name, namespace)
            except EnvironmentProblem as problem:
                if layout != "host" or attempt + 1 == _PORTS_TRIED or not any(_TAKEN in line for line in problem.lines):
                    raise
                self._cluster.delete(item, grace_s=0)
                self._waits.gone("Pod", name, namespace)
                continue
            uid = verify(pod, wanted)
            node = self._nodes[pod["spec"]["nodeName"]]
            return Slave(
                pod, uid, node, pod["status"]["podIP"], manifests.control_port(self._settings, layout, attempt)
            )
        raise AssertionError

    def _service(self, pair: int) -> None:
        protocols = manifests.protocols(self._points)
        if not protocols:
            return
        item = self._create(manifests.service(self._settings, pair, protocols, self._expires))
        self._services[pair] = item["spec"]["clusterIP"]

    # --- a sample ---

    def sample(self, point: Point) -> list[Sample]:
        """One for each pair; all pairs at the same time. Raises MeasurementProblem when one has none that counts."""
        jobs = []
        self._stand_again(point.layout)
        for pair, nodes in enumerate(self._pairs):
            address, port = self._address(point, pair)
            item = manifests.client(self._settings, point, pair, nodes.client, address, port, self._expires)
            self._again(item)
            jobs.append(item)
        try:
            pods = [self._waits.started(item["metadata"]["name"], item["metadata"]["namespace"]) for item in jobs]
            found = [
                self._result(point, pair, item, pod) for pair, (item, pod) in enumerate(zip(jobs, pods, strict=True))
            ]
        except MeasurementProblem:
            self._has_failed = True
            if self._settings.keep == "never":  # a client that still runs would disturb the next sample
                self._drop(jobs)
            raise
        if self._settings.keep != "always":
            self._drop(jobs)
        return found

    def _drop(self, jobs: Sequence[Json]) -> None:
        for item in jobs:
            self._cluster.delete(item)

    def _stand_again(self, layout: Layout) -> None:
        """Slaves that an earlier sample has lost are made anew."""
        for (pair, its), slave in list(self._slaves.items()):
            if its != layout:
                continue
            name, namespace = slave.pod["metadata"]["name"], slave.pod["metadata"]["namespace"]
            now = self._cluster.get(POD, name, namespace)
            if now and now["metadata"]["uid"] == slave.uid and is_ready(now) and ended(now) is None:
                continue
            if now:
                self._cluster.delete({**now, "kind": "Pod"}, grace_s=0)
                self._waits.gone("Pod", name, namespace)
            self._slaves[pair, layout] = self._slave(pair, layout)

    def _again(self, item: Json) -> None:
        """A Job that an earlier try at this point has left makes way."""
        there = self._cluster.get(JOB, item["metadata"]["name"], item["metadata"]["namespace"])
        if there:
            self._cluster.delete(there)
            self._waits.gone("Job", item["metadata"]["name"], item["metadata"]["namespace"])
        self._create(item)

    def _address(self, point: Point, pair: int) -> tuple[str, int]:
        if self._settings.external:
            host, _, port = self._settings.external.partition(",")
            return host, int(port or 20000)
        slave = self._slaves[pair, point.layout]
        return (self._services[pair], CONTROL_PORT) if point.network == "service" else (slave.address, slave.port)

    def _result(self, point: Point, pair: int, item: Json, pod: Json) -> Sample:
        nodes, namespace = self._pairs[pair], item["metadata"]["namespace"]
        slave = self._slaves.get((pair, point.layout))
        uid = verify(pod, nodes.client)
        limit = float(item["spec"]["activeDeadlineSeconds"])
        pod = self._waits.finished(item["metadata"]["name"], pod, limit, nodes.server if slave else None)
        verify(pod, nodes.client, uid)
        log = self._log(pod, namespace)
        document = results.parse(log, ended(pod) or "")
        if slave:
            now = self._cluster.get(POD, slave.pod["metadata"]["name"], namespace)
            if now is None:
                raise MeasurementProblem([f"pod {slave.pod['metadata']['name']} is gone: the sample does not count"])
            verify(now, nodes.server, slave.uid)
        client_node = self._nodes[pod["spec"]["nodeName"]]
        facts: Json = {
            "run": self._settings.run,
            "uuid": self._settings.uuid,
            "network": point.network,
            "client": results.end(pod, client_node),
            "server": results.end(slave.pod, slave.node) if slave else {"address": self._settings.external},
            "relation": relation(slave.node, client_node) if slave else "external",
        }
        return Sample(pair, document, facts)

    def _log(self, pod: Json, namespace: str) -> str:
        try:
            return self._cluster.log(pod["metadata"]["name"], namespace)
        except ApiProblem as problem:
            raise MeasurementProblem(
                [f"the log of pod {pod['metadata']['name']} cannot be had: {problem.message}"]
            ) from None

    # --- at the end ---

    def close(self, *, has_failed: bool) -> list[str]:
        """What is still there, and why. Removes all objects of the run, unless they are to be kept."""
        keep = self._settings.keep
        if not self.has_begun:
            return []
        namespaces = [manifests.namespace_of(self._settings, layout) for layout in self._layouts]
        if keep == "always" or (keep == "failed" and (has_failed or self._has_failed)):
            return [f"kept for a look: namespace {', '.join(dict.fromkeys(namespaces))}"]
        return remove(self._cluster, self._waits, self._settings.run, namespaces, is_own=not self._settings.namespace)


@contextlib.contextmanager
def opened(driver: Driver, say: Callable[[str], None], clean: str) -> Iterator[Driver]:
    """Whatever happens, what was made is removed. A second interrupt leaves at once, and says how to clean up."""
    has_failed = False
    try:
        driver.open()
        yield driver
    except BaseException:
        has_failed = True
        raise
    finally:
        try:
            left = driver.close(has_failed=has_failed)
        except KeyboardInterrupt:
            say(f"left behind; to remove it: {clean}")
            raise
        except EnvironmentProblem as problem:
            left = problem.lines
        for line in left:
            say(line)
        if left:
            say(f"to remove it: {clean}")
