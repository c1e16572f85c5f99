# SPDX-License-Identifier: Apache-2.0
"""PSP once keys are set: a socket like any other, with all that moves bytes over one."""

from __future__ import annotations

import pytest

from nmtest import Netmodel, defines
from test_psp import Pair, _pair, assert_went_over_psp, moved, pair, run  # noqa: F401


@pytest.mark.parametrize("option", ["rx_zerocopy", "zerocopy", "skip_rx_copy"])
def test_streams_without_copies(netmodel: Netmodel, pair: Pair, option: str) -> None:
    before = [pair.control(side, "show") for side in (0, 1)]
    document = run(netmodel, pair, "psp_stream", *defines(test_length="1s", num_flows=2, **{option: "yes"}))
    assert moved(document)[0] > 0
    assert_went_over_psp(pair, before, document)
