# SPDX-License-Identifier: Apache-2.0
"""A run in a cluster: what is made, each sample, and what is removed, on every path."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from netmodel_lab.k8s import (
    histograms,
    machines,
    manifests,
    network_checks,
    network_objects,
    networks,
    openshift,
    others_output,
    policies,
    results,
)
from netmodel_lab.k8s.cleaning import remove
from netmodel_lab.k8s.cluster import BY_NAME, NODE, SERVICE_CIDR, Cluster
from netmodel_lab.k8s.facts import of_cluster
from netmodel_lab.k8s.figures import common
from netmodel_lab.k8s.manifests import Dial
from netmodel_lab.k8s.network_waits import wait_for
from netmodel_lab.k8s.others import NETMODEL
from netmodel_lab.k8s.placement import (
    Nodes,
    Pair,
    Places,
    choose,
    inner_addresses,
    pod_ranges,
    verify,
    verify_nodes,
    verify_relation,
)
from netmodel_lab.k8s.problems import ApiProblem, ClientProblem, MeasurementProblem, SkewProblem
from netmodel_lab.k8s.settings import MOST_TRIES, Point, Settings
from netmodel_lab.k8s.slaves import Slave, Slaves, verify_ports
from netmodel_lab.k8s.waits import Waits, ended
from netmodel_lab.problems import EnvironmentProblem

Json = dict[str, Any]
_LOG_S = 10.0  # a busy node writes the end of a log some time after the end of its pod
_LOG_LOOK_S = 0.2
Ends = Sequence[tuple[Pair, Dial]]  # of one client: several where it is one master over many slaves


def of_clients(point: Point, ends: Ends) -> list[Ends]:
    """What each client has."""
    return [ends] if point.slaves > 1 else [[one] for one in ends]


@dataclass(frozen=True)
class Sample:
    """What one pair has measured."""

    pair: int
    document: Json
    k8s: Json
    histogram: str | None = None  # of its latencies, as netmodel logs them


class Driver:
    """Between open() and close(), sample() measures a point."""

    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        points: Sequence[Point],
        key: str | None = None,
        tell: Callable[[str], None] | None = None,
        before: Nodes | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        """tell: is called with each object that is made, say with what the user must know. before: where the samples
        that are there were measured."""
        self._cluster, self._settings, self._points, self._tell = cluster, settings, points, tell
        self._before, self._say = before or {}, say
        self._key = key or secrets.token_hex(32)
        self._expires = settings.expires()
        self._waits = Waits(cluster, settings.limits)
        self._layouts = manifests.layouts(points)
        self._places: Places = {}
        self._nodes: dict[str, Json] = {}
        self._facts: Json = {}
        self._ranges: list[str] = []
        self._networks: list[Json] = []
        self._suspects: list[str] = []  # what may keep its pods apart
        self._slaves: Slaves
        self.has_begun = False
        self.has_left = False  # what could not be removed
        self._has_failed = False  # a sample

    # --- before the first sample ---

    def look(self) -> Places:
        """Which nodes it will be on; nothing is made."""
        nodes = self._cluster.listed(NODE)
        self._nodes = {str(node["metadata"]["name"]): node for node in nodes}
        self._places = choose(nodes, self._settings.where, self._settings.pods)
        verify_nodes(self._places, self._before)
        verify_ports(self._settings, self._points, self._places)
        return self._places

    def open(self) -> None:
        settings, used = self._settings, self._layouts
        lacking = network_checks.lacks(self._cluster, settings, self._points, self.look())
        lacking += openshift.lacks(self._cluster, settings, used)
        found = policies.in_the_way(self._cluster, settings, self._points, list(self._nodes.values()), self._places)
        lacking += found.refusal
        if lacking:
            raise EnvironmentProblem([*lacking, *found.warning])
        self._suspects = list(found.warning)
        if self._say:
            for line in found.warning:
                self._say(line)
        self._facts = of_cluster(self._cluster, len(self._nodes))
        self.has_begun = True
        for item in manifests.namespaces(settings, used, self._expires):
            self._create(item)
        for item in openshift.bindings(settings, used, self._expires):
            self._create(item)
        for namespace in dict.fromkeys(manifests.namespace_of(settings, layout) for layout in used):
            self._create(manifests.secret(settings, namespace, self._key, self._expires))
            files = manifests.config_map(settings, namespace, self._expires)
            if files:
                self._create(files)
        self._ranges = self.ranges()
        for item in (
            *policies.objects(settings, self._points, self._ranges, self._expires),
            *network_objects.objects(settings, self._points, self._places, self._expires),
        ):
            self._networks.append(item)
            self._create(item)
        wait_for(self._cluster, settings, self._points, self._places)
        self._slaves = Slaves(
            self._cluster,
            settings,
            self._points,
            self._create,
            self._nodes,
            self._places,
            self._ranges,
            self._expires,
            self._key,
        )
        self._slaves.open()

    def _create(self, item: Json) -> Json:
        if self._tell:
            meta = item["metadata"]
            self._tell(f"{item['kind']} {meta['name']}" + (f" in {meta['namespace']}" if "namespace" in meta else ""))
        return self._cluster.create(item)

    def ranges(self) -> list[str]:
        """Where data may come from, beside the master's own address: pods, services and nodes of the cluster."""
        network = self._settings.network
        found = [*self._settings.allow_peers, *([network.range] if network and network.is_beside else [])]
        for item in self._cluster.listed_if_there(SERVICE_CIDR):
            found += (item.get("spec") or {}).get("cidrs") or []
        for node in self._nodes.values():
            found += [*pod_ranges(node), *inner_addresses(node)]
        return list(dict.fromkeys(found))

    # --- a sample ---

    def sample(self, point: Point) -> list[Sample]:
        """One for each pair; all pairs at the same time. Raises MeasurementProblem when one has none that counts. When
        pods start is the cluster's: pairs that have not run together have another try."""
        for number in range(1, MOST_TRIES + 1):
            try:
                return self._try(point)
            except MeasurementProblem as problem:
                if not isinstance(problem, SkewProblem) or number == MOST_TRIES:
                    self._has_failed = True
                    if isinstance(problem, ClientProblem):
                        raise MeasurementProblem([*problem.lines, *self._suspects]) from None
                    raise
                if self._say:
                    self._say(f"{point.title}: {'; '.join(problem.lines)}: try {number + 1} of {MOST_TRIES}")
        raise AssertionError

    def _try(self, point: Point) -> list[Sample]:
        self._slaves.stand_again(point)
        pairs = self._places[point.place]
        dials = [self._slaves.dial(point, pair) for pair in pairs]
        clients = of_clients(point, list(zip(pairs, dials, strict=True)))
        jobs = [self._client(point, i, ends) for i, ends in enumerate(clients)]
        for item, ends in zip(jobs, clients, strict=True):
            self._again(item, point, ends[0][1])
        starts = self._waits.machine if point.is_virtual else self._waits.started
        try:
            pods = [starts(item["metadata"]["name"], item["metadata"]["namespace"]) for item in jobs]
            each = zip(clients, pods, strict=True)
            found = [self._result(point, i, *one) for i, one in enumerate(each)]
            results.check_together([one.document for one in found], point.test.duration)
        except MeasurementProblem:
            self._end(jobs)
            raise
        if self._settings.keep != "always":
            self._drop(jobs)
        return found

    def _client(self, point: Point, number: int, ends: Ends) -> Json:
        pair, dial = ends[0]
        if point.is_virtual:
            return machines.client(self._settings, point, number, pair, self._expires)
        return manifests.client(
            self._settings, point, number, pair, dial, self._ranges, self._expires, [one for _, one in ends[1:]]
        )

    def _end(self, jobs: Sequence[Json]) -> None:
        """A client that still runs would disturb the next sample, whatever is to be kept."""
        for item in jobs:
            meta = item["metadata"]
            there = self._cluster.get(BY_NAME[item["kind"]], meta["name"], meta["namespace"])
            if not there:
                continue
            status = there.get("status") or {}
            is_over = status.get("phase") in ("Succeeded", "Failed")  # of a machine
            is_over |= any(status.get(how) for how in ("succeeded", "failed"))
            if self._settings.keep == "never" or not is_over:
                self._cluster.delete(item)
                self._waits.gone(item["kind"], meta["name"], meta["namespace"])

    def _drop(self, jobs: Sequence[Json]) -> None:
        for item in jobs:
            self._cluster.delete(item)

    def _again(self, item: Json, point: Point, dial: Dial) -> None:
        """What an earlier try at this point has left makes way."""
        kind, meta = item["kind"], item["metadata"]
        there = self._cluster.get(BY_NAME[kind], meta["name"], meta["namespace"])
        if there:
            self._cluster.delete({**there, "kind": kind})
            self._waits.gone(kind, meta["name"], meta["namespace"])
        made = self._create(item)
        if point.is_virtual:
            self._create(machines.client_data(self._settings, item | made, point, dial, self._key, self._expires))

    def _result(self, point: Point, number: int, ends: Ends, pod: Json) -> Sample:
        pair, dial = ends[0]
        slaves = [(one, slave) for one, _ in ends if (slave := self._slaves.of(point, one))]
        slave = slaves[0][1] if slaves else None
        uid = verify(pod, pair.client)
        limit = manifests.client_seconds(self._settings, point)
        pod = self._waits.finished(pod, limit, [one.server for one, _ in slaves])
        verify(pod, pair.client, uid)
        log, why = self._log(point, pod)
        log, histogram = histograms.taken_out(log)
        try:
            document = self._document(point, slave, pod, log, why)
        except MeasurementProblem as problem:
            self._waits.verify_nodes([one.pod for _, one in slaves], "; ".join(problem.lines))
            raise
        client_node = self._node(pair.client)
        facts: Json = {
            "run": self._settings.run,
            "uuid": self._settings.uuid,
            "cluster": self._facts,
            "network": point.network,
            "place": point.place,
            "dialled": {
                "address": dial.address,
                "port": dial.port,
                "data_port": dial.data,
                "node": dial.via,
                "control": dial.control or dial.address,
            },
            "client": results.end(pod, client_node),
            **self._attached(point, pod),
        }
        if point.network == "external":
            model = point.test.model
            address = dict(model.params)["server"] if model and model.is_alone else self._settings.external
            return Sample(
                number,
                document,
                facts | {"server": {"address": address}, "relation": "external"},
                histogram,
            )
        for at, one in slaves:
            self._slaves.verify(one, at)
        nodes = [self._node(one.server) for one, _ in ends]
        pods = [one.pod for _, one in slaves] or [pod]
        servers = [results.end(*one) for one in zip(pods, nodes, strict=True)]
        facts |= {"server": servers[0]} | ({"servers": servers} if len(servers) > 1 else {})
        facts["relation"] = common([verify_relation(node, client_node, point.place) for node in nodes])
        return Sample(number, document, facts, histogram)

    def _attached(self, point: Point, client: Json) -> Json:
        """Where the client is on the network of the point. Raises MeasurementProblem when it is not."""
        network = self._settings.network
        if network is None or point.network != network.kind:
            return {}
        given = self._settings.machines.ends if self._settings.machines else ()
        if given:
            return {"attached": {"network": network.text, "client_address": given[1].partition("/")[0]}}
        try:
            address = networks.address_of(client, network, self._settings.run, point.family)
        except EnvironmentProblem as problem:
            raise MeasurementProblem(problem.lines) from None
        return {"attached": {"network": network.text, "client_address": address}}

    def _document(self, point: Point, slave: Slave | None, pod: Json, log: str, why: str) -> Json:
        """What the client says that it has measured."""
        if point.driver == NETMODEL:
            return results.parse(log, why)
        facts = {"version": slave.version if slave else None, "image": self._settings.drivers[point.driver]}
        found = others_output.document(point.driver, log, why, point.test, facts)
        return found | {"run": results.times(pod) | others_output.start(point.driver, log)}

    def _node(self, name: str) -> Json:
        """As it is now: labels may have changed since the run began."""
        node = self._cluster.get(NODE, name)
        if node is None:
            raise MeasurementProblem([f"node {name} is not in the cluster any more: the sample does not count"])
        return node

    def _log(self, point: Point, pod: Json) -> tuple[str, str]:
        """And why the client has failed, or nothing."""
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        try:
            if point.is_virtual:
                return machines.said(self._cluster.log(name, namespace, machines.CONSOLE))
            why, log = ended(pod) or "", self._cluster.log(name, namespace)
            until = time.monotonic() + _LOG_S
            while point.driver == NETMODEL and not why and not results.is_whole(log) and time.monotonic() < until:
                time.sleep(_LOG_LOOK_S)
                log = self._cluster.log(name, namespace)
            return log, why
        except ApiProblem as problem:
            raise MeasurementProblem([f"the log of pod {name} cannot be had: {problem.message}"]) from None

    # --- at the end ---

    def close(self, *, has_failed: bool) -> list[str]:
        """What is still there, and why. Removes all objects of the run, unless they are to be kept."""
        keep = self._settings.keep
        if not self.has_begun:
            return []
        names = list(dict.fromkeys(manifests.namespace_of(self._settings, layout) for layout in self._layouts))
        if keep == "always" or (keep == "failed" and (has_failed or self._has_failed)):
            return [f"kept for a look: {', '.join([f'namespace {name}' for name in names] + self._outside(names))}"]
        left = remove(
            self._cluster,
            self._waits,
            self._settings.run,
            names,
            self._networks[::-1],
            is_own=not self._settings.namespace,
            has_machines=bool(self._settings.machines),
        )
        self.has_left = bool(left)
        return left

    def _outside(self, namespaces: Sequence[str]) -> list[str]:
        """Objects of networks that are not in the namespaces of the run."""
        each = [(item["kind"], item["metadata"]["name"], item["metadata"].get("namespace")) for item in self._networks]
        return [
            f"{kind} {name}" + (f" in {where}" if where else "")
            for kind, name, where in each
            if where not in namespaces
        ]


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
            left, driver.has_left = problem.lines, True
        for line in left:
            say(line)
        if left:
            say(f"to remove it: {clean}")
