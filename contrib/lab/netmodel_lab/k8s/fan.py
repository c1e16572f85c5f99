# SPDX-License-Identifier: Apache-2.0
"""One master over many slaves: a profile whose groups are there once for each of them."""

from __future__ import annotations

import copy
import xml.etree.ElementTree as tree
from pathlib import Path

from netmodel_lab.problems import UsageProblem

PARAMETER = "host"


def parameter(number: int) -> str:
    """The name of the parameter that has the address of a slave: host, host2, and so on."""
    return PARAMETER if number == 0 else f"{PARAMETER}{number + 1}"


def file(profile: str, count: int) -> str:
    """The name of the profile that is made of one."""
    return f"many-{count}-{Path(profile).stem}.xml"


def spread(profile: str, text: str, count: int) -> str:
    """Groups that go to $host have copies that go to $host2, and so on. Raises UsageProblem when that cannot be."""
    root = tree.fromstring(text)
    ours = {parameter(number) for number in range(1, count)}
    taken = [name for param in root.findall("param") if (name := str(param.get("name"))) in ours]
    if taken:
        raise UsageProblem([f"--pattern one-to-many: {profile}: has a parameter {taken[0]}, which would be a slave's"])
    groups = [group for group in root.findall("group") if any(map(_is_to_host, group.iter("flowop")))]
    if not groups:
        raise UsageProblem([f"--pattern one-to-many: {profile}: no group of it goes to $host"])
    at = list(root).index(groups[0])
    for number in range(1, count):
        name = parameter(number)
        root.insert(at, tree.Element("param", name=name, type="host", default="local", help="a slave"))
        for group in groups:
            one = copy.deepcopy(group)
            one.set("name", f"{group.get('name')}_{number + 1}")
            for flowop in filter(_is_to_host, one.iter("flowop")):
                words = str(flowop.get("options")).split(" ")
                flowop.set("options", " ".join(f"remotehost=${name}" if _is_host(word) else word for word in words))
            root.append(one)
    tree.indent(root)
    return tree.tostring(root, encoding="unicode") + "\n"


def _is_host(word: str) -> bool:
    return word == f"remotehost=${PARAMETER}"


def _is_to_host(flowop: tree.Element) -> bool:
    return any(map(_is_host, str(flowop.get("options")).split(" ")))
