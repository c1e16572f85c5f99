# SPDX-License-Identifier: Apache-2.0
"""Requests that were recorded, against the servers that people have."""

from pathlib import Path

import partners
import pytest
from nmtest import Json, Netmodel, defines

# Five gets, two sets and a delete of the public form; one more line that nobody can send, and one for which a get is.
LINES = """\
0,apple,5,10,1,set,100
0,pear,4,0,1,get,0
0,apple,5,10,1,get,0
1,pear,4,3000,1,set,0
1,pear,4,3000,2,get,0
1,plum,4,1,2,incr,0
2,apple,5,10,2,delete,0
2,apple,5,10,1,gets,0
2,plum,4,0,1,get,0
"""
OUTCOMES = {"get": (5, 2), "set": (2, 0), "delete": (1, 1)}  # requests, hits


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "trace.csv"
    path.write_text(LINES)
    return path


def verbs_of(document: Json) -> dict[str, tuple[int, int]]:
    verbs = document["totals"]["verbs"]
    return {verb["name"]: (verb["outcomes"]["requests"], verb["outcomes"]["hits"]) for verb in verbs}


@pytest.mark.parametrize("app", ["memcache", "memcache_meta", "memcache_binary"])
def test_memcached(netmodel: Netmodel, recorded: Path, app: str) -> None:
    with partners.memcached() as memcached:
        document = netmodel.measure("replay", *defines(trace=recorded, server=memcached.server, app=app, writes="yes"))
        stats = memcached.stats()
    assert verbs_of(document) == OUTCOMES
    assert (stats["cmd_get"], stats["get_hits"], stats["cmd_set"], stats["delete_hits"]) == (5, 2, 2, 1)
    assert stats["bytes_read"] > 3010
