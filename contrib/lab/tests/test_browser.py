# SPDX-License-Identifier: Apache-2.0
"""The page as its reader has it: nothing on the console, no text over text, every control does what it says, in
light and dark, wide and narrow."""

from __future__ import annotations

import csv
import json
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import browser
import pytest
from browser import Browser
from conftest import Lab
from unpacked import Program

LOOK = (Path(__file__).parent / "look.js").read_text()
CONTROLS = (Path(__file__).parent / "controls.js").read_text()
UNVARIED = (Path(__file__).parent / "unvaried.js").read_text()
DONE = (Path(__file__).parent / "done.js").read_text()
DRAWN = "return document.querySelectorAll('figure:not([hidden]) svg').length"
HIDDEN = """
const picture = document.querySelector("[data-picture=waterfall]"), figure = picture.closest("figure");
const cell = document.getElementById("cell"), hidden = [];
figure.parentElement.scrollIntoView();
await wait(1500);
for (const number of ["0", "3", "0"]) {
  cell.value = number;
  cell.dispatchEvent(new Event("change"));
  await wait(1500);
  hidden.push(figure.hidden);
}
return hidden"""
FIGURES = "return document.querySelectorAll('figure:not(.none):not([hidden])').length"


@pytest.mark.parametrize("which", ["wide_study", "both"])
@pytest.mark.parametrize(
    ("width", "is_dark", "media"),
    [
        (1400, False, "screen"),
        (1400, True, "screen"),
        (768, False, "screen"),
        (420, True, "screen"),
        (720, False, "print"),
    ],
)
def test_page_in_a_browser(
    request: pytest.FixtureRequest, tmp_path: Path, which: str, width: int, is_dark: bool, media: str
) -> None:
    page = request.getfixturevalue(which)
    page = page / "report.html" if page.is_dir() else page
    with Browser(tmp_path, width=width, is_dark=is_dark, media=media) as browser:
        browser.open(page)
        found = browser.play(LOOK + (CONTROLS if width == 1400 else "") + DONE)
        assert not browser.console
    assert found["overlaps"] == []
    assert found["faint"] == []
    assert found["wide"] <= found["width"] == width
    assert found["drawn"] == found["figures"] > 15
    assert found["dark"] is is_dark
    if found["changed"]:
        assert {name for name, has in found["changed"].items() if not has} == set()
        assert {
            "runs",
            "legend",
            "request_size",
            "wire_MBps",
            "irq_all_kps",
            "payload_MBps",
            "far",
            "cell",
            "sort",
        } <= set(found["changed"])


TOOLTIPS = """
const told = [];
for (const mark of document.querySelectorAll(".chart .mark-symbol path")) {
  const at = mark.getBoundingClientRect(), [clientX, clientY] = [at.x + at.width / 2, at.y + at.height / 2];
  for (const kind of ["pointermove", "pointerover"])
    mark.dispatchEvent(new PointerEvent(kind, { bubbles: true, clientX, clientY }));
  await wait(5);
  const tooltip = document.getElementById("vg-tooltip-element");
  if (tooltip) told.push(tooltip.textContent);
}
return { told, hit: window.hit ?? null, text: document.querySelector("main").textContent,
  made: document.querySelectorAll("main img, main script, #vg-tooltip-element :is(img, script)").length }"""


def test_texts_of_others_are_shown_and_not_run(wide_study: Path, lab: Lab, tmp_path: Path) -> None:
    """Among them the values of a dimension, which stand in legends, lists and tooltips."""
    evil = "<img src=x onerror=hit=1></script><script>hit=2</script>\u202e\u05d0\U0001f40d"
    path = tmp_path / "s"
    shutil.copytree(wide_study, path)
    values = {"64": evil, "16k": "=cmd()|'/c calc'!A0"}
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["study"]["profile"] = evil
    sizes = manifest["study"]["dimensions"][1]
    assert sizes["names"] == ["request_size"]
    sizes["values"] = [[values[value]] for (value,) in sizes["values"]]
    for point in manifest["plan"]:
        point["dimensions"]["request_size"] = values[point["dimensions"]["request_size"]]
    (path / "manifest.json").write_text(json.dumps(manifest))
    assert lab("report", path).returncode == 0
    assert {row["d.request_size"] for row in csv.DictReader((path / "rows.csv").open(newline=""))} == {
        *(evil, f"'{values['16k']}")
    }
    with Browser(tmp_path, width=1400) as browser:
        browser.open(path / "report.html")
        browser.play(LOOK + DONE)
        found = browser.play(TOOLTIPS)
        assert not browser.console
    assert (found["hit"], found["made"]) == (None, 0)
    for text in values.values():
        assert text in found["text"]
        assert any(text in told for told in found["told"]), found["told"][:3]


def test_a_page_of_what_is_not_known_and_below_nothing(wide_study: Path, lab: Lab, tmp_path: Path) -> None:
    """One run of each cell, with nulls, zeros, and hidden CPU below 0."""
    path = tmp_path / "s"
    shutil.copytree(wide_study, path)
    for number, file in enumerate(sorted(path.glob("runs/*/result.json"))):
        document = json.loads(file.read_text())
        document["totals"] |= {"bits_per_s": None if number % 2 else 0, "retransmits": 0}
        document["totals"]["latency_s"] |= {"p99": None, "p50": 0.0}
        for host in document["hosts"]:
            host["unhalted"] = {"source": "msr", "n_cpus": 2, "busy": 0.2, "hidden": -0.01 * number}
            host["costs"] = {"unavailable": "not here"}
            host["nics"] = []
        file.write_text(json.dumps(document))
    assert lab("report", path).returncode == 0
    with Browser(tmp_path, width=1400) as browser:
        browser.open(path / "report.html")
        found = browser.play(LOOK + DONE)
        figures = browser.play("return [...document.querySelectorAll('[data-figure]')].map((at) => at.dataset.figure)")
        assert not browser.console
    assert found["drawn"] == found["figures"] > 5
    assert found["overlaps"] == []
    assert "hidden_TL" in figures
    assert not {"p99_us", "cpu_us_per_transaction"} & set(figures)


def test_what_is_printed(wide_study: Path, tmp_path: Path) -> None:
    """All charts, also those that nobody has looked at yet, and no controls."""
    with Browser(tmp_path, width=1400) as browser:
        browser.open(wide_study / "report.html")
        assert browser.play(DRAWN) < browser.play(FIGURES)
        pages = browser.pdf().count(b"/Type /Page\n")
        assert browser.play(DRAWN) == browser.play(FIGURES)
        browser.call("Emulation.setEmulatedMedia", media="print")
        assert browser.play(
            "return [...document.querySelectorAll('.controls')].every((at) => !at.getClientRects().length)"
        )
        assert not browser.console
    assert 2 <= pages <= 20  # with facts, runs and commands


PRINTED = """
const all = () => [...document.querySelectorAll("details")].map((at) => at.open);
const before = all();
dispatchEvent(new Event("beforeprint"));
const open = all(), cut = [...document.querySelectorAll(".scroll, pre")]
  .filter((at) => at.scrollWidth > at.clientWidth + 1 || !at.clientHeight).map((at) => at.textContent.slice(0, 40));
dispatchEvent(new Event("afterprint"));
return { before, open, cut, after: all() }"""


def test_what_is_closed_or_wide_is_printed_whole(wide_study: Path, tmp_path: Path) -> None:
    with Browser(tmp_path, width=720, media="print") as browser:
        browser.open(wide_study / "report.html")
        found = browser.play(PRINTED)
    assert not all(found["before"])
    assert all(found["open"])
    assert found["cut"] == []
    assert found["after"] == found["before"]


def test_what_a_study_has_not_varied_is_told(study: Path, lab: Lab, tmp_path: Path) -> None:
    words = ("tcp_rr", "request_size=64,1k", "--set", "test_length=60ms", "--repeat", "1", "--no-report", "-o", "sizes")
    assert lab("run", *words).returncode == 0
    assert lab("report", study, "sizes", "-o", "page.html").returncode == 0
    with Browser(tmp_path, width=1400) as browser:
        browser.open(tmp_path / "page.html")
        found = browser.play(LOOK + UNVARIED)
        assert not browser.console
    assert found["first"] == []
    assert found["told"] == [["1", "num_flows is not varied here"]] * 3
    assert found["figures"] == ["0"]


def test_a_picture_is_hidden_while_its_cell_has_no_rows(wide_study: Path, tmp_path: Path) -> None:
    head, opening, rest = (
        (wide_study / "report.html").read_text().partition('<script type="application/json" id="data">')
    )
    text, closing, tail = rest.partition("</script>")
    data = json.loads(text)
    data["details"][0]["waterfall"] = []
    page = tmp_path / "page.html"
    page.write_text(head + opening + json.dumps(data).replace("<", "\\u003c") + closing + tail)
    with Browser(tmp_path, width=1400) as browser:
        browser.open(page)
        assert browser.play(HIDDEN) == [True, False, True]
        assert not browser.console


def test_the_check_can_fail(wide_study: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    spoilt = (
        (wide_study / "report.html").read_text().replace("</style>", "th button { color: #999 !important }</style>")
    )
    page.write_text(spoilt.replace("</main>", '<img src="https://example.invalid/x.png"></main>'))
    with Browser(tmp_path, width=1400) as browser:
        browser.open(page)
        found = browser.play(LOOK + DONE)
        assert any("Content Security Policy" in line for line in browser.console)
    assert found["faint"]


def test_a_browser_that_says_nothing_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mute = tmp_path / "mute"
    mute.write_text("#!/bin/sh\nexec sleep 600\n")
    mute.chmod(0o755)
    made, begin = list[subprocess.Popen[bytes]](), subprocess.Popen

    def noted(argv: list[str], **how: Any) -> subprocess.Popen[bytes]:
        made.append(begin(argv, **how))
        return made[-1]

    monkeypatch.setattr(subprocess, "Popen", noted)
    monkeypatch.setattr(browser, "find", lambda *_: Program(str(mute)))
    monkeypatch.setattr(browser, "PATIENCE_S", 0.2)
    with pytest.raises(TimeoutError, match="has said nothing"):
        Browser(tmp_path, width=1400)
    assert [process.poll() for process in made] == [-signal.SIGKILL]
