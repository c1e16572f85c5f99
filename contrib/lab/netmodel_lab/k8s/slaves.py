# SPDX-License-Identifier: Apache-2.0
"""The slaves of a run, which stand for all of its samples, and the Services before them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from netmodel_lab.k8s import machines, manifests, networks
from netmodel_lab.k8s.cluster import MACHINE, POD, Cluster
from netmodel_lab.k8s.manifests import Dial
from netmodel_lab.k8s.others import NETMODEL, OTHERS, all_ports, data_port
from netmodel_lab.k8s.paths import Family
from netmodel_lab.k8s.placement import Pair, Places, door, first_of, node_address, stands, verify
from netmodel_lab.k8s.problems import ApiProblem, MeasurementProblem
from netmodel_lab.k8s.settings import CONTROL_PORT, Point, Settings
from netmodel_lab.k8s.waits import Waits, ended, is_ready
from netmodel_lab.problems import EnvironmentProblem, UsageProblem

Json = dict[str, Any]
_LAST_PORT, _SERVICE_PORTS = 65535, 1000
_PORTS_TRIED = 4  # of a node, for a slave in its network, or for a Service
_TAKEN = ("Address already in use", "free ports")  # the slave's words, and the scheduler's


@dataclass(frozen=True)
class Slave:
    """A server that is ready, and where masters find it."""

    pod: Json
    uid: str
    port: int
    version: str = ""  # of a program of others, as it says itself

    @property
    def name(self) -> str:
        return str(self.pod["metadata"]["name"])

    @property
    def namespace(self) -> str:
        return str(self.pod["metadata"]["namespace"])


def address_of(pod: Json, family: Family) -> str:
    """Of a pod. Raises EnvironmentProblem when it has none of this family."""
    status = pod["status"]
    every = [str(one["ip"]) for one in status.get("podIPs") or []] or [str(status["podIP"])]
    found = first_of(every, family)
    if found is None:
        where = "node" if pod["spec"].get("hostNetwork") else "pod"
        raise EnvironmentProblem(
            [f"{where} of {pod['metadata']['name']} has {', '.join(every)}, and no {family} address"]
        )
    return found


def other_dial(settings: Settings, point: Point, pair: Pair, address: str, port: int, lanes: int) -> Dial:
    """Where the client of a program of others finds the server that is its own. port: the first one of the server."""
    driver = point.driver
    data = data_port(driver, port, pair.lane, lanes, settings.parallelism)
    return Dial(address, port + (pair.lane if OTHERS[driver].is_single else 0), data)


def verify_ports(settings: Settings, points: Sequence[Point], places: Places) -> None:
    """Raises UsageProblem when a server of another program would need ports that there are not."""
    stand, wrong = stands(places), []
    for number, layout, driver in manifests.slaves(points, places):
        if driver == NETMODEL:
            continue
        for attempt in range(_PORTS_TRIED):
            port = manifests.control_port(settings, number, layout, attempt, driver)
            every = all_ports(driver, port, stand[number].lanes, settings.parallelism)
            if every[-1] > _LAST_PORT:
                wrong.append(f"{OTHERS[driver].option}: parallelism {settings.parallelism} needs ports to {every[-1]}")
    for way in manifests.services(points, places):
        if way.driver != NETMODEL:
            count = len(all_ports(way.driver, 0, stand[way.slave].lanes, settings.parallelism))
            if count > _SERVICE_PORTS:
                said = f"parallelism {settings.parallelism} needs a Service with {count} ports"
                wrong.append(f"{OTHERS[way.driver].option}: {said}; {_SERVICE_PORTS} are the most")
    if wrong:
        raise UsageProblem(list(dict.fromkeys(wrong)))


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
        key: str,
    ) -> None:
        self._key = key
        self._cluster, self._settings, self._points, self._create = cluster, settings, points, create
        self._nodes, self._ranges, self._expires = nodes, ranges, expires
        self._waits = Waits(cluster, settings.limits)
        self._places, self._stands = places, stands(places)
        self._slaves: dict[manifests.Slave, Slave] = {}
        self._dials: dict[manifests.Way, Dial] = {}

    def open(self) -> None:
        """All are made before any is waited for."""
        wanted = manifests.slaves(self._points, self._places)
        for one in wanted:
            self._make(one)
        made = {way: self._service(way) for way in manifests.services(self._points, self._places)}
        for way, (service, first) in made.items():
            self._dials[way] = self._way_to(service, way, first)
        for one in wanted:
            self._slaves[one] = self._ready(one)

    def _make(self, slave: manifests.Slave) -> None:
        settings = self._settings
        if slave.layout != "vm":
            self._create(self._item(slave, 0))
            return
        machine = machines.server(settings, slave.number, self._stands[slave.number].node, self._expires)
        made = self._create(machine)
        self._create(machines.server_data(settings, machine | made, self._key, self._ranges, self._expires))

    def _item(self, slave: manifests.Slave, attempt: int) -> Json:
        number, layout, driver = slave
        node, lanes = self._stands[number].node, self._stands[number].lanes
        settings = self._settings
        return manifests.server(settings, number, layout, node, self._ranges, self._expires, attempt, driver, lanes)

    def _ready(self, slave: manifests.Slave) -> Slave:
        """Once it is made; in a node's network with another port where the first is taken."""
        number, layout, driver = slave
        if layout == "vm":
            name = manifests.server_name(self._settings, number, layout)
            pod = self._waits.machine(name, manifests.namespace_of(self._settings, layout))
            return Slave(pod, verify(pod, self._stands[number].node), CONTROL_PORT)
        for attempt in range(_PORTS_TRIED):
            item = self._item(slave, attempt)
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
            uid = verify(pod, self._stands[number].node)
            port = manifests.control_port(self._settings, number, layout, attempt, driver)
            said = "" if driver == NETMODEL else self._cluster.log(name, namespace, "version")
            return Slave(pod, uid, port, said.strip().partition("\n")[0])
        raise AssertionError

    def _service(self, way: manifests.Way) -> tuple[Json, int]:
        """And the first port of its data."""
        slave, network, family = way.slave, way.network, way.family
        lanes, protocols = self._stands[slave].lanes, manifests.protocols(self._points)
        for attempt in range(_PORTS_TRIED):
            settings = self._settings
            item = manifests.service(settings, slave, lanes, network, protocols, self._expires, attempt, *way[2:])
            try:
                made = self._create(item)
            except ApiProblem as problem:
                if attempt + 1 == _PORTS_TRIED or "provided port is already allocated" not in problem.message:
                    raise
                continue
            return made, manifests.data_port(self._settings, network, slave, lanes, attempt, family)
        raise AssertionError

    def _way_to(self, made: Json, way: manifests.Way, first: int) -> Dial:
        """A Service's address. That of a node's port depends on the client, and is found then."""
        network = way.network
        name, namespace = made["metadata"]["name"], made["metadata"]["namespace"]
        control = int(made["spec"]["ports"][0]["port"])
        if network == "headless":
            return Dial(f"{name}.{namespace}.svc", control)
        if network == "loadbalancer":
            return Dial(self._waits.balanced(name, namespace), CONTROL_PORT, first)
        if network == "nodeport":
            return Dial("", int(made["spec"]["ports"][0]["nodePort"]), first)
        return Dial(str(made["spec"]["clusterIP"]), control, first)

    # --- for a sample ---

    def dial(self, point: Point, pair: Pair) -> Dial:
        if point.network == "external":
            host, _, port = (self._settings.external or "").partition(",")
            return Dial(host, int(port or CONTROL_PORT))
        way = manifests.Way(pair.slave, point.network, point.driver, point.family, point.path.server)
        found, slave = self._dials.get(way), self.of(point, pair)
        if found is None:
            assert slave
            found = Dial(self._address(slave.pod, point), slave.port)
        if slave and manifests.is_parted(self._settings, point):
            found = replace(found, port=slave.port, control=address_of(slave.pod, point.family))
        if point.driver != NETMODEL:
            lanes = self._stands[pair.slave].lanes
            return other_dial(self._settings, point, pair, found.address, found.port, lanes)
        data = None if found.data is None else found.data + pair.lane
        if point.network == "nodeport":
            node = door(list(self._nodes.values()), pair)
            name = str(node["metadata"]["name"])
            return replace(found, address=node_address(node, point.family), data=data, via=name)
        return replace(found, data=data)

    def _address(self, pod: Json, point: Point) -> str:
        network = self._settings.network
        if network and point.network == network.kind:
            given = machines.address(self._settings.machines) if point.is_virtual else None
            return given or networks.address_of(pod, network, self._settings.run, point.family)
        return address_of(pod, point.family)

    def of(self, point: Point, pair: Pair) -> Slave | None:
        """None: it is not one of those that stand."""
        one = manifests.Slave(pair.slave, point.path.server, point.driver)
        return self._slaves.get(one) if not point.path.is_within else None

    def stand_again(self, point: Point) -> None:
        """Slaves that an earlier sample has lost are made anew."""
        for one, slave in list(self._slaves.items()):
            if (one.layout, one.driver) != (point.path.server, point.driver):
                continue
            now = self._cluster.get(POD, slave.name, slave.namespace)
            if now and now["metadata"]["uid"] == slave.uid and is_ready(now) and ended(now) is None:
                continue
            self._drop(one, slave, now)
            self._make(one)
            self._slaves[one] = self._ready(one)

    def _drop(self, one: manifests.Slave, slave: Slave, pod: Json | None) -> None:
        """A machine has a pod of its own, which goes with it."""
        name = slave.name
        if one.layout == "vm":
            name = manifests.server_name(self._settings, one.number, one.layout)
            pod = self._cluster.get(MACHINE, name, slave.namespace)
        if pod:
            kind = MACHINE if one.layout == "vm" else POD
            self._cluster.delete({**pod, "kind": kind.name}, grace_s=0)
            self._waits.gone(kind.name, name, slave.namespace)

    def verify(self, slave: Slave, pair: Pair) -> None:
        """That it is still the one that it was before the sample."""
        now = self._cluster.get(POD, slave.name, slave.namespace)
        if now is None:
            raise MeasurementProblem([f"pod {slave.name} is gone: the sample does not count"])
        verify(now, pair.server, slave.uid)
