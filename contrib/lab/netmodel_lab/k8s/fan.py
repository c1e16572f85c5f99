# SPDX-License-Identifier: Apache-2.0
"""One master over many slaves: a profile whose groups are there once for each of them."""

from __future__ import annotations

import copy
import re
import tempfile
import xml.etree.ElementTree as tree
from collections.abc import Mapping
from pathlib import Path

from netmodel_lab.problems import UsageProblem
from netmodel_lab.program import Program

PARAMETER = "host"
_REFERENCE = re.compile(rf"\$\$|\${PARAMETER}(?!\w)|\$\{{{PARAMETER}\}}", re.ASCII)  # $$ is a dollar sign
_WORDS = (f"remotehost=${PARAMETER}", f"remotehost=${{{PARAMETER}}}")


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
    beside = [text for element in root.iter() for text in _beside(element)]
    if beside:
        said = f"$host stands elsewhere than in remotehost=$host: {beside[0]}"
        raise UsageProblem([f"--pattern one-to-many: {profile}: {said}"])
    at = max((at for at, element in enumerate(root, 1) if element.tag == "param"), default=0)
    for number in range(1, count):
        name = parameter(number)
        param = tree.Element("param", name=name, type="host", default="local", help="a slave")
        root.insert(at + number - 1, param)
        for group in groups:
            one = copy.deepcopy(group)
            one.set("name", f"{group.get('name')}_{number + 1}")
            for flowop in filter(_is_to_host, one.iter("flowop")):
                words = [f"remotehost=${name}" if word in _WORDS else word for word in _words(flowop)]
                flowop.set("options", " ".join(words))
            root.append(one)
    tree.indent(root)
    return tree.tostring(root, encoding="unicode") + "\n"


def check(profile: str, text: str, params: Mapping[str, str]) -> None:
    """What netmodel has against a profile that was made of one. Raises UsageProblem."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.xml"
        path.write_text(text, encoding="utf-8")
        said = Program.find().check(str(path), params)
    if said:
        raise UsageProblem(f"--pattern one-to-many: {profile}: {line.replace(str(path), 'as made')}" for line in said)


def _words(flowop: tree.Element) -> list[str]:
    return str(flowop.get("options")).split(" ")


def _is_to_host(flowop: tree.Element) -> bool:
    return any(word in _WORDS for word in _words(flowop))


def _beside(element: tree.Element) -> list[str]:
    """Other places of the address, which has a port of its own where it is another slave's."""
    texts = [word for text in element.attrib.values() for word in text.split(" ")]
    return [text for text in texts if text not in _WORDS and set(_REFERENCE.findall(text)) - {"$$"}]
