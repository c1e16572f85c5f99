# SPDX-License-Identifier: Apache-2.0
"""Profiles that ask for keys, and what their results count."""

from __future__ import annotations

from nmtest import Json, master_of


def asking(app: str, flowops: str, connect: str = "", attributes: str = "", count: int = 100, law: str = "uniform", fill: str = "") -> str:
    """Fills a keyspace, if that is asked for, and then asks for a while."""
    first = f'<transaction name="fill" fill="k"><flowop type="set" options="keys=k {fill}"/></transaction>' if fill else ""
    return (
        f'<keyspace name="k" count="{count}" length="12" prefix="k:" law="{law}"/><group {attributes}>'
        f'<transaction><flowop type="connect" options="remotehost=local app={app} {connect}"/></transaction>{first}'
        f'<transaction name="ask" duration="200ms">{flowops}</transaction>'
        '<transaction><flowop type="disconnect"/></transaction></group>'
    )


def counts(document: Json) -> Json:
    """Those of the master."""
    of: Json = master_of(document)["groups"][0]
    return of
