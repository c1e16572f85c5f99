# SPDX-License-Identifier: Apache-2.0
"""The slaves of a run, which stand for all of its samples, and the Services before them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from netmodel_lab.k8s import manifests
from netmodel_lab.k8s.cluster import POD, Cluster
from netmodel_lab.k8s.manifests import Dial
from netmodel_lab.k8s.paths import Layout
from netmodel_lab.k8s.placement import Pair, Places, door, node_address, stands, verify
from netmodel_lab.k8s.problems import ApiProblem, MeasurementProblem
from netmodel_lab.k8s.settings import CONTROL_PORT, Point, Settings
from netmodel_lab.k8s.waits import Waits, ended, is_ready
from netmodel_lab.problems import EnvironmentProblem

Json = dict[str, Any]
_PORTS_TRIED = 4  # of a node, for a slave in its network, or for a Service
_TAKEN = ("Address already in use", "free ports")  # the slave's words, and the scheduler's


@dataclass(frozen=True)
class Slave:
    """A server that is ready, and where masters find it."""

    pod: Json
    uid: str
    address: str
    port: int

    @property
    def name(self) -> str:
        return str(self.pod["metadata"]["name"])

    @property
    def namespace(self) -> str:
        return str(self.pod["metadata"]["namespace"])


class Slaves:
    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        points: Sequence[Point],
        create: Callable[[Json], Json],
        nodes: dict[str, Json],
        places: Places,
        ranges: Sequence[str],
        expires: str,
    ) -> None:
        self._cluster, self._settings, self._points, self._create = cluster, settings, points, create
        self._nodes, self._ranges, self._expires = nodes, ranges, expires
        self._waits = Waits(cluster, settings.limits)
        self._places, self._stands = places, stands(places)
        self._slaves: dict[tuple[int, Layout], Slave] = {}
        self._dials: dict[tuple[int, str], Dial] = {}

    def open(self) -> None:
        """All are made before any is waited for."""
        wanted = manifests.slaves(self._points, self._places)
        for slave, layout in wanted:
            self._create(self._item(slave, layout, 0))
        made = {one: self._service(*one) for one in manifests.services(self._points, self._places)}
        for (slave, network), (service, first) in made.items():
            self._dials[slave, network] = self._way_to(service, network, first)
        for slave, layout in wanted:
            self._slaves[slave, layout] = self._ready(slave, layout)

    def _item(self, slave: int, layout: Layout, attempt: int) -> Json:
        node = self._stands[slave].node
        return manifests.server(self._settings, slave, layout, node, self._ranges, self._expires, attempt)

    def _ready(self, slave: int, layout: Layout) -> Slave:
        """Once it is made; in a node's network with another port where the first is taken."""
        for attempt in range(_PORTS_TRIED):
            item = self._item(slave, layout, attempt)
            name, namespace = item["metadata"]["name"], item["metadata"]["namespace"]
            if attempt:
                self._create(item)
            try:
                pod = self._waits.ready(name, namespace)
            except EnvironmentProblem as problem:
                is_taken = any(words in line for words in _TAKEN for line in problem.lines)
                if layout != "host" or attempt + 1 == _PORTS_TRIED or not is_taken:
                    raise
                self._cluster.delete(item, grace_s=0)
                self._waits.gone("Pod", name, namespace)
                continue
            uid = verify(pod, self._stands[slave].node)
            port = manifests.control_port(self._settings, slave, layout, attempt)
            return Slave(pod, uid, pod["status"]["podIP"], port)
        raise AssertionError

    def _service(self, slave: int, network: str) -> tuple[Json, int]:
        """And the first port of its data."""
        lanes, protocols = self._stands[slave].lanes, manifests.protocols(self._points)
        for attempt in range(_PORTS_TRIED):
            item = manifests.service(self._settings, slave, lanes, network, protocols, self._expires, attempt)
            try:
                made = self._create(item)
            except ApiProblem as problem:
                if attempt + 1 == _PORTS_TRIED or "provided port is already allocated" not in problem.message:
                    raise
                continue
            return made, manifests.data_port(self._settings, network, slave, lanes, attempt)
        raise AssertionError

    def _way_to(self, made: Json, network: str, first: int) -> Dial:
        """A Service's address. That of a node's port depends on the client, and is found then."""
        name, namespace = made["metadata"]["name"], made["metadata"]["namespace"]
        if network == "headless":
            return Dial(f"{name}.{namespace}.svc", CONTROL_PORT)
        if network == "loadbalancer":
            return Dial(self._waits.balanced(name, namespace), CONTROL_PORT, first)
        if network == "nodeport":
            return Dial("", int(made["spec"]["ports"][0]["nodePort"]), first)
        return Dial(str(made["spec"]["clusterIP"]), CONTROL_PORT, first)

    # --- for a sample ---

    def dial(self, point: Point, pair: Pair) -> Dial:
        if self._settings.external:
            host, _, port = self._settings.external.partition(",")
            return Dial(host, int(port or CONTROL_PORT))
        found = self._dials.get((pair.slave, point.network))
        if found is None:
            slave = self._slaves[pair.slave, point.path.server]
            return Dial(slave.address, slave.port)
        data = None if found.data is None else found.data + pair.lane
        if point.network == "nodeport":
            node = door(list(self._nodes.values()), pair)
            return Dial(node_address(node), found.port, data, str(node["metadata"]["name"]))
        return Dial(found.address, found.port, data)

    def of(self, point: Point, pair: Pair) -> Slave | None:
        """None: it is not one of those that stand."""
        return self._slaves.get((pair.slave, point.path.server)) if not point.path.is_within else None

    def stand_again(self, layout: Layout) -> None:
        """Slaves that an earlier sample has lost are made anew."""
        for (number, its), slave in list(self._slaves.items()):
            if its != layout:
                continue
            now = self._cluster.get(POD, slave.name, slave.namespace)
            if now and now["metadata"]["uid"] == slave.uid and is_ready(now) and ended(now) is None:
                continue
            if now:
                self._cluster.delete({**now, "kind": "Pod"}, grace_s=0)
                self._waits.gone("Pod", slave.name, slave.namespace)
            self._create(self._item(number, layout, 0))
            self._slaves[number, layout] = self._ready(number, layout)

    def verify(self, slave: Slave, pair: Pair) -> None:
        """That it is still the one that it was before the sample."""
        now = self._cluster.get(POD, slave.name, slave.namespace)
        if now is None:
            raise MeasurementProblem([f"pod {slave.name} is gone: the sample does not count"])
        verify(now, pair.server, slave.uid)
