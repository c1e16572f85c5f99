# SPDX-License-Identifier: Apache-2.0
"""What a run is: the tests, where they run, and what its pods are like. All of it goes into the folder of the run, for
resume."""

from __future__ import annotations

import pathlib
import time
import uuid
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from netmodel_lab.k8s import fan, models
from netmodel_lab.k8s.catalog import CATALOG
from netmodel_lab.k8s.models import Model
from netmodel_lab.k8s.netperf_file import Test
from netmodel_lab.k8s.networks import Network
from netmodel_lab.k8s.others import FOLDER, NETMODEL, OTHERS
from netmodel_lab.k8s.paths import OF_MACHINES, PATHS, Family, Path

Keep = Literal["never", "failed", "always"]
Pattern = Literal["pairs", "many-to-one", "one-to-many", "all-to-all", "matrix"]
Placement = Literal["other-node", "same-node", "same-zone", "other-zone", "same-pod", "external"]
PROFILES = pathlib.Path(__file__).parent / "profiles"
DATA_PORT, CONTROL_PORT = 21000, 20000
MOST_TRIES = 3  # of a sample whose pairs have not started together
TTL_S = 3600  # of a Job that has ended


@dataclass(frozen=True)
class Pods:
    """What all pods of a run have."""

    image: str
    pull: str = "IfNotPresent"
    pull_secret: str | None = None
    requests: dict[str, str] = field(default_factory=dict)
    limits: dict[str, str] = field(default_factory=dict)
    tolerations: tuple[dict[str, str], ...] = ()
    annotations: dict[str, str] = field(default_factory=dict)
    service_account: str | None = None
    priority_class: str | None = None
    spec: dict[str, Any] = field(default_factory=dict)  # of one's own, beside ours
    is_privileged: bool = False


@dataclass(frozen=True)
class Where:
    """Which nodes are wanted, and who sends to whom. Names are nodes'."""

    server: str | None = None
    client: str | None = None
    selector: str = ""
    placements: tuple[Placement, ...] = ("other-node",)
    pattern: Pattern = "pairs"
    pairs: int = 1
    nodes: tuple[str, ...] = ()  # all of them, of patterns over every node

    @property
    def slaves(self) -> int:
        """Of one master."""
        return self.pairs if self.pattern == "one-to-many" else 1

    @property
    def places(self) -> list[str]:
        """The names of what is measured one after the other: pairs of nodes, or sets of them at the same time."""
        if self.pattern == "matrix":
            return [f"{client} > {server}" for server in self.nodes for client in self.nodes if server != client]
        return ["all-to-all"] if self.pattern == "all-to-all" else list(self.placements)


@dataclass(frozen=True)
class Limits:
    """Seconds that a wait may take."""

    start_s: float = 120.0  # of a pod, from its creation until it is ready
    schedule_s: float = 30.0  # of these, until it has a node
    remove_s: float = 120.0
    spare_s: float = 3600.0  # that what nobody removes outlives its samples


@dataclass(frozen=True)
class Machines:
    """Of KubeVirt. image: a container disk that has netmodel and cloud-init. ends: addresses of the server and of the
    client, with the lengths of their prefixes, on a network that gives none."""

    image: str
    sockets: int = 2
    cores: int = 2
    threads: int = 1
    binding: str = "passt"  # on a primary network
    ends: tuple[str, ...] = ()
    are_alone: bool = False  # no pods are measured


@dataclass(frozen=True)
class Settings:
    run: str  # the label of all objects
    uuid: str
    tests: tuple[Test, ...]
    networks: tuple[str, ...]  # names of paths
    pods: Pods
    where: Where
    limits: Limits
    namespace: str | None = None  # the user's; None: one of its own
    external: str | None = None  # address of a slave that somebody else has started
    has_external_key: bool = False
    allow_peers: tuple[str, ...] = ()  # beside what the cluster tells of its ranges
    keep: Keep = "never"
    families: tuple[Family, ...] = ("",)
    drivers: dict[str, str] = field(default_factory=dict)  # programs of others that measure too, and their images
    is_openshift: bool = False
    machines: Machines | None = None
    many: dict[str, str] = field(default_factory=dict)  # profiles of one master over many slaves, by their names
    interval: str = ""  # of what netmodel tells of a sample; "": a second
    network: Network | None = None  # that pods are on, beside the cluster's or instead of it
    network_policy: bool | None = None  # one of its own; None: others that are in the way are refused

    @property
    def parallelism(self) -> int:
        """The most of a test: so many ports of a kind are needed."""
        return max((test.parallelism for test in self.tests), default=1)

    def expires(self) -> str:
        """When nothing of the run is of use any more."""
        seconds = sum(point.test.duration + 30 for point in points(self)) * (MOST_TRIES + 1) + self.limits.spare_s
        return str(int(time.time() + seconds))


@dataclass(frozen=True)
class Point:
    """One sample of one test over one network, at one place, by one program."""

    seq: int  # from 1
    cell: int  # from 1: all samples of a test over a network at a place
    sample: int  # from 1
    test: Test
    network: str
    place: str
    driver: str = NETMODEL
    family: Family = ""
    is_virtual: bool = False  # machines are the ends
    slaves: int = 1  # of one master
    on: str = ""  # which network beside the cluster's own its traffic takes: the kind is that of the path

    @property
    def way(self) -> str:
        """The path, the family of its addresses where it was asked for, and what its ends are."""
        return " ".join(filter(None, (self.network, self.family, self.ends)))

    @property
    def ends(self) -> str:
        """What they are where that is not a pod each."""
        return "vm" if self.is_virtual else f"{self.slaves} slaves" if self.slaves > 1 else ""

    @property
    def path(self) -> Path:
        found = PATHS[self.network]
        return replace(found, server="vm", client="vm") if self.is_virtual else found

    @property
    def title(self) -> str:
        return f"{self.cell_title}, sample {self.sample}/{self.test.samples}"

    @property
    def cell_title(self) -> str:
        who = "" if self.driver == NETMODEL else f", {self.driver}"
        return f"{self.test.title}, {self.way}, {self.place}{who}"

    @property
    def has_data_host(self) -> bool:
        """Its control connection may go elsewhere than its data: its profile can be told both addresses."""
        model = self.test.model
        return self.driver == NETMODEL and (model is None or "data_host" in model.sets)

    def params(self, address: str, port: int | None, control: str | None = None) -> dict[str, str]:
        """control: the address of the slave, when its data go to another one."""
        test = self.test
        found = {"data_host": address} if control else {}
        if test.model:
            return found | self._of_model(test.model, control or address, port)
        found |= {"host": control or address, "num_flows": str(test.parallelism), "num_threads": str(test.parallelism)}
        found |= {"test_length": f"{test.duration}s"} | CATALOG[test.profile].params(test)
        return found if port is None else found | {"port": str(port)}

    def _of_model(self, model: Model, address: str, port: int | None) -> dict[str, str]:
        found = model.values(self.test.duration)
        if "host" in model.sets and not model.is_alone:
            found["host"] = address
        return found if port is None else found | {"port": str(port)}

    @property
    def profile(self) -> str:
        if self.slaves > 1:
            return f"{FOLDER}/{fan.file(self.test.own_profile, self.slaves)}"
        if self.test.model:
            return f"{FOLDER}/{self.test.model.file}" if self.test.model.file else self.test.model.profile
        name = CATALOG[self.test.profile].profile
        return f"/profiles/{name}" if name.endswith(".xml") else name


def points(settings: Settings) -> list[Point]:
    """Samples are interleaved: the first of each cell, then the second of each. A test that goes through a service
    has that path alone."""
    cells: list[tuple[Test, str, str, str, Family, bool, str]] = []
    ends = (False,) if not settings.machines else (True,) if settings.machines.are_alone else (False, True)
    for test in settings.tests:
        is_outside = settings.external or test.is_alone
        networks = ("external",) if is_outside else ("service",) if test.service else settings.networks
        cells += [
            (test, network, place, driver, family, is_virtual, _on(settings, network, is_virtual))
            for network in networks
            for family in (("",) if network == "external" else settings.families)
            for place in settings.where.places
            if _is_of(place, network)
            for driver in (NETMODEL, *settings.drivers)
            if driver == NETMODEL or test.profile in OTHERS[driver].profiles
            for is_virtual in ends
            if not is_virtual or network in OF_MACHINES
        ]
    found: list[Point] = []
    for sample in range(1, max((test.samples for test in settings.tests), default=0) + 1):
        for cell, one in enumerate(cells, 1):
            if sample <= one[0].samples:
                found.append(Point(len(found) + 1, cell, sample, *one[:-1], slaves=settings.where.slaves, on=one[-1]))
    return found


def _on(settings: Settings, path: str, is_virtual: bool) -> str:
    """A Service of pods on a primary network leads there, too."""
    network = settings.network
    if network is None or not (path == network.kind or (network.is_primary and PATHS[path].service)):
        return ""
    has_binding = is_virtual and network.is_primary and settings.machines
    return network.info[1] + (f" - {settings.machines.binding}" if has_binding and settings.machines else "")


def _is_of(place: str, network: str) -> bool:
    """Some paths have a place of their own."""
    own = {"hairpin": "same-pod", "external": "external"}.get(network)
    return place == own if own else place not in ("same-pod", "external")


def own_profiles(settings: Settings) -> dict[str, str]:
    """Files that go to the cluster, by their names. What one master runs is made of all of them."""
    if settings.many:
        return dict(settings.many)
    names = dict.fromkeys(test.entry.profile for test in settings.tests)
    found = {name: (PROFILES / name).read_text(encoding="utf-8") for name in names if name.endswith(".xml")}
    return found | {test.model.file: test.model.text for test in settings.tests if test.model and test.model.file}


def new_run(given: str | None) -> tuple[str, str]:
    """The label of a run, and its identifier, which may be given."""
    whole = given or str(uuid.uuid4())
    return uuid.uuid5(uuid.NAMESPACE_OID, whole + str(uuid.uuid4())).hex[:8], whole


def as_json(settings: Settings) -> dict[str, Any]:
    return asdict(settings)


def _machines(document: dict[str, Any] | None) -> Machines | None:
    return Machines(**{**document, "ends": tuple(document["ends"])}) if document else None


def from_json(document: dict[str, Any]) -> Settings:
    pods = dict(document["pods"], tolerations=tuple(document["pods"]["tolerations"]))
    return Settings(
        **{
            **document,
            "tests": tuple(Test(**{**one, "model": models.from_json(one.get("model"))}) for one in document["tests"]),
            "networks": tuple(document["networks"]),
            "allow_peers": tuple(document["allow_peers"]),
            "families": tuple(document.get("families") or ("",)),
            "pods": Pods(**pods),
            "where": Where(
                **{
                    **document["where"],
                    "placements": tuple(document["where"]["placements"]),
                    "nodes": tuple(document["where"]["nodes"]),
                }
            ),
            "limits": Limits(**document["limits"]),
            "machines": _machines(document.get("machines")),
            "network": Network(**document["network"]) if document.get("network") else None,
        }
    )
