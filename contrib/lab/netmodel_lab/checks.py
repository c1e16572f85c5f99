# SPDX-License-Identifier: Apache-2.0
"""What a study finds when it would be run now: its hosts are reached and asked, and nothing is made, copied or changed
there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from netmodel_lab.machine import Machine
from netmodel_lab.plan import cells
from netmodel_lab.problems import EnvironmentProblem, Exit
from netmodel_lab.program import Program
from netmodel_lab.spec import ROLES, HostSpec, Role, place_of
from netmodel_lab.study import Study

Json = dict[str, Any]


@dataclass
class Checked:
    """hosts: what each says of itself. places: the CPUs of each. lacking: what keeps the study from being run. unmet:
    what is held and is not so."""

    hosts: list[Json] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    lacking: list[str] = field(default_factory=list)
    unmet: list[str] = field(default_factory=list)

    @property
    def not_asked(self) -> list[str]:
        return list(
            dict.fromkeys(f"{one['role']} {one['host']}" for one in self.hosts if one["ok"] and not one["probe"])
        )

    @property
    def exit(self) -> Exit:
        return Exit.ENVIRONMENT if self.lacking else Exit.WORSE if self.unmet else Exit.DONE


def check(study: Study, program: Program) -> Checked:
    found = Checked()
    wanted = [cell.wanted for cell in cells(study)]
    for path in dict.fromkeys(one.program for one in wanted):
        used = Program.find(path) if path else program
        own = [one for one in wanted if one.program == path]
        connected_to = {"master" if one.is_swapped else "slave" for one in own}
        machines = _look(study, used, found, connected_to)
        for place, is_swapped in dict.fromkeys((one.place, one.is_swapped) for one in own if one.place):
            ends = dict(zip(ROLES, [machines.get(role) for role in ROLES[:: -1 if is_swapped else 1]], strict=True))
            _place(place, {role: machine for role, machine in ends.items() if machine}, found)
    return found


def _look(study: Study, program: Program, found: Checked, connected_to: set[str]) -> dict[Role, Machine]:
    """The machines that were reached, by what the study calls them. connected_to: those which are the slave
    of some cell."""
    hosts = study.hosts
    machines: dict[Role, Machine] = {}
    for role in ROLES if hosts else ROLES[:1]:
        spec: HostSpec = getattr(hosts, role) if hosts else HostSpec()
        machine = Machine(spec, role, program, None)
        said: Json = {"role": role, "host": spec.text, "program": str(program.path)}
        try:
            why = machine.look()
            if hosts and role in connected_to and (machine.probed or not spec.ns):
                machine.address()
                machine.key()
        except EnvironmentProblem as problem:
            found.lacking += problem.lines
            found.hosts.append({**said, "ok": False, "why": problem.lines[0], "probe": None})
            continue
        found.hosts.append({**said, "ok": True, "why": why, "probe": machine.probed or None})
        machines[role] = machine
        if machine.probed:
            wrong = not_held(machine.probed["facts"], study.hold)
            found.unmet += [f"{machine.title}: {text}" for text in wrong]
    return machines


def not_held(facts: Mapping[str, object], hold: Mapping[str, str]) -> list[str]:
    """Facts of a host that are not what the study holds them to be."""
    return [
        f"{name} is {facts.get(name)}, and the study holds {wanted}"
        for name, wanted in hold.items()
        if wanted != str(facts.get(name))
    ]


def _place(place: str, machines: Mapping[Role, Machine], found: Checked) -> None:
    """Which CPUs a place is of each machine that tells."""
    told = []
    for role, machine in machines.items():
        if not machine.probed:
            continue
        try:
            cpus = machine.cpus(place_of(place, role))
        except EnvironmentProblem as problem:
            found.lacking += [line for line in problem.lines if line not in found.lacking]
            continue
        told.append(f"{role} {cpus or 'any'}")
        known = _cpus(",".join(node["cpus"] for node in machine.probed["nodes"]))
        strange = sorted(_cpus(cpus) - known) if cpus and cpus[0].isdecimal() and known else []
        if strange:
            found.lacking.append(f'{machine.title}: place "{place}": the machine has no CPU {strange[0]}')
    found.places[place] = "; ".join(dict.fromkeys(filter(None, [found.places.get(place), ", ".join(told)])))


def _cpus(text: str) -> set[int]:
    """Of "0-3,8"."""
    ends = [part.split("-") for part in text.split(",") if part]
    return {cpu for each in ends for cpu in range(int(each[0]), int(each[-1]) + 1)}


# --- in words ---


def as_lines(checked: Checked) -> Iterator[str]:
    for one in checked.hosts:
        yield from host_lines(one, f"{one['role']} {one['host']}")
    for place, cpus in checked.places.items():
        if cpus:
            yield f"place {place}: CPUs {cpus}"


def host_lines(one: Mapping[str, Any], title: str) -> Iterator[str]:
    """What a host says of itself, and what it does not have."""
    if not one["ok"]:
        yield f"{title}: not usable: {one['why']}"
        return
    probe = one["probe"]
    if not probe:
        yield f"{title}: {one['why']}"
        return
    facts = probe["facts"]
    yield (
        f"{title}: netmodel {probe['version']}, Linux {facts['kernel']}, {facts['machine']}, "
        f"{facts['cpus']} CPUs, {facts['cpu_model']}"
    )
    for interface in probe["interfaces"]:
        if interface["addresses"]:
            driver = f" ({interface['driver']})" if interface["driver"] else ""
            yield f"  {interface['name']}{driver}: {', '.join(interface['addresses'])}"
    if probe["irqbalance"]:
        yield "  irqbalance runs: it moves interrupts while a study runs"
    for part in probe["missing"]:
        yield f"  not available: {part['what']}: {part['why']}"
