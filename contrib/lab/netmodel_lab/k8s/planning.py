# SPDX-License-Identifier: Apache-2.0
"""What a run would make, and in which order it would measure."""

from __future__ import annotations

import io
from typing import Any

from ruamel.yaml import YAML

from netmodel_lab.k8s import manifests
from netmodel_lab.k8s.driver import Driver
from netmodel_lab.k8s.settings import Settings, points
from netmodel_lab.words import clock

Json = dict[str, Any]
_START_S = 4.0  # of a sample, beside what it measures
_NO_ADDRESS = "0.0.0.0"  # known when the server has one


def items(settings: Settings, driver: Driver) -> list[Json]:
    """All objects, in their order; addresses of servers are not known yet."""
    every = points(settings)
    expires = settings.expires()
    pairs = driver.look()
    used = manifests.layouts(settings, every)
    found = manifests.namespaces(settings, used, expires)
    for namespace in dict.fromkeys(manifests.namespace_of(settings, layout) for layout in used):
        found.append(manifests.secret(settings, namespace, "made for the run", expires))
        files = manifests.config_map(settings, namespace, expires)
        found += [files] if files else []
    if not settings.external:
        for i, pair in enumerate(pairs):
            for layout in used:
                found.append(manifests.server(settings, i, layout, pair.server, driver.ranges(), expires))
            protocols = manifests.protocols(every)
            found += [manifests.service(settings, i, protocols, expires)] if protocols else []
    for point in every:
        for i, pair in enumerate(pairs):
            address = settings.external or _NO_ADDRESS
            port = manifests.control_port(settings, point.layout)
            found.append(manifests.client(settings, point, i, pair.client, address, port, expires))
    return found


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
    out.write(f"# {len(every)} samples, {settings.where.pairs} pairs; about {clock(seconds)}\n")
    return out.getvalue()
