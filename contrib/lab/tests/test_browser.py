# SPDX-License-Identifier: Apache-2.0
"""The page as its reader has it: nothing on the console, no text over text, every control does what it says, in
light and dark, wide and narrow."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import visit
from conftest import Lab

LOOK = (Path(__file__).parent / "look.js").read_text()
CONTROLS = (Path(__file__).parent / "controls.js").read_text()
UNVARIED = (Path(__file__).parent / "unvaried.js").read_text()
DONE = (Path(__file__).parent / "done.js").read_text()


@pytest.mark.parametrize("which", ["wide_study", "both"])
@pytest.mark.parametrize(("width", "is_dark"), [(1400, False), (1400, True), (768, False), (500, True)])
def test_page_in_a_browser(
    request: pytest.FixtureRequest, tmp_path: Path, which: str, width: int, is_dark: bool
) -> None:
    page = request.getfixturevalue(which)
    page = page / "report.html" if page.is_dir() else page
    script = LOOK + (CONTROLS if width == 1400 else "") + DONE
    seen = visit(page, script, tmp_path / "b", width=width, is_dark=is_dark)
    found = seen.found
    assert not seen.console
    assert found["overlaps"] == []
    assert found["faint"] == []
    assert found["wide"] <= found["width"]
    assert found["drawn"] == found["figures"] > 15
    assert found["dark"] is is_dark
    if found["changed"]:
        assert {name for name, has in found["changed"].items() if not has} == set()
        assert {"runs", "legend", "request_size", "wire_MBps", "irq_all_kps", "payload_MBps", "cell", "sort"} <= set(
            found["changed"]
        )


def test_what_a_study_has_not_varied_is_told(study: Path, lab: Lab, tmp_path: Path) -> None:
    words = ("tcp_rr", "request_size=64,1k", "--set", "test_length=60ms", "--repeat", "1", "--no-report", "-o", "sizes")
    assert lab("run", *words).returncode == 0
    assert lab("report", study, "sizes", "-o", "page.html").returncode == 0
    seen = visit(tmp_path / "page.html", LOOK + UNVARIED, tmp_path / "b", width=1400)
    assert not seen.console
    assert seen.found["first"] == []
    assert seen.found["told"] == [["1", "num_flows is not varied here"]] * 3
    assert seen.found["figures"] == ["0"]


def test_the_check_can_fail(wide_study: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    spoilt = (
        (wide_study / "report.html").read_text().replace("</style>", "th button { color: #999 !important }</style>")
    )
    page.write_text(spoilt.replace("</main>", '<img src="https://example.invalid/x.png"></main>'))
    seen = visit(page, LOOK + DONE, tmp_path / "b", width=1400)
    assert any("Content Security Policy" in line for line in seen.console)
    assert seen.found["faint"]
