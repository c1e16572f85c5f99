# SPDX-License-Identifier: Apache-2.0
"""What a run would make, and in which order it would measure."""

from __future__ import annotations

import io
from typing import Any

from ruamel.yaml import YAML

from netmodel_lab.k8s import machines, manifests, network_objects, openshift, policies
from netmodel_lab.k8s.driver import Driver, of_clients
from netmodel_lab.k8s.others import NETMODEL
from netmodel_lab.k8s.placement import Pair, stands
from netmodel_lab.k8s.settings import Point, Settings, points
from netmodel_lab.k8s.slaves import other_dial
from netmodel_lab.words import clock

Json = dict[str, Any]
_START_S = 4.0  # of a sample, beside what it measures
_NO_ADDRESS, _NO_ADDRESS6 = "0.0.0.0", "::"  # known when the server has one


def items(settings: Settings, driver: Driver) -> list[Json]:
    """All objects, in their order; addresses of servers are not known yet."""
    every = points(settings)
    expires = settings.expires()
    places = driver.look()
    ranges = driver.ranges()
    used = manifests.layouts(every)
    found = [*manifests.namespaces(settings, used, expires), *openshift.bindings(settings, used, expires)]
    for namespace in dict.fromkeys(manifests.namespace_of(settings, layout) for layout in used):
        found.append(manifests.secret(settings, namespace, "made for the run", expires))
        files = manifests.config_map(settings, namespace, expires)
        found += [files] if files else []
    found += policies.objects(settings, every, ranges, expires)
    found += network_objects.objects(settings, every, places, expires)
    stand = stands(places)
    protocols = manifests.protocols(every)
    for slave, layout, who in manifests.slaves(every, places):
        at = stand[slave]
        if layout == "vm":
            found.append(machine := machines.server(settings, slave, at.node, expires))
            found.append(machines.server_data(settings, machine, "made for the run", ranges, expires))
            continue
        found.append(manifests.server(settings, slave, layout, at.node, ranges, expires, 0, who, at.lanes))
    for way in manifests.services(every, places):
        lanes = stand[way.slave].lanes
        found.append(manifests.service(settings, way.slave, lanes, way.network, protocols, expires, 0, *way[2:]))
    for point in every:
        ends = [(pair, _dial(settings, point, pair, stand[pair.slave].lanes)) for pair in places[point.place]]
        for i, each in enumerate(of_clients(point, ends)):
            pair, dial = each[0]
            if point.is_virtual:
                found.append(machine := machines.client(settings, point, i, pair, expires))
                found.append(machines.client_data(settings, machine, point, dial, "made for the run", expires))
                continue
            found.append(
                manifests.client(settings, point, i, pair, dial, ranges, expires, [one for _, one in each[1:]])
            )
    return found


def _dial(settings: Settings, point: Point, pair: Pair, lanes: int) -> manifests.Dial:
    port = manifests.control_port(settings, pair.slave, point.path.server, driver=point.driver)
    none = _NO_ADDRESS6 if point.family == "ipv6" else _NO_ADDRESS
    if point.driver != NETMODEL:
        return other_dial(settings, point, pair, none, port, lanes)
    control = none if manifests.is_parted(settings, point) else None
    if not point.path.has_fixed_ports:
        return manifests.Dial(settings.external or none, port, control=control)
    first = manifests.data_port(settings, point.network, pair.slave, lanes, 0, point.family)
    return manifests.Dial(none, port, first + pair.lane, control=control)


def as_yaml(settings: Settings, driver: Driver) -> str:
    out = io.StringIO()
    writer = YAML()
    writer.default_flow_style = False
    writer.width = 4096
    every = points(settings)
    for item in items(settings, driver):
        out.write("---\n")
        writer.dump(item, out)
    out.write("---\n")
    for point in every:
        out.write(f"# {point.seq:4}  {point.title}\n")
    seconds = sum(point.test.duration + _START_S for point in every)
    most = max(map(len, driver.look().values()))
    out.write(f"# {len(every)} samples, of {most} pairs at the same time; about {clock(seconds)}\n")
    return out.getvalue()
