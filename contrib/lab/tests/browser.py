# SPDX-License-Identifier: Apache-2.0
"""A page in a real headless browser: Chromium of the machine. A script that is put behind the page's own plays the
user, and leaves what it has found in the page, which the browser then prints."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import pytest

Json = dict[str, Any]

_TALL = 16000  # everything is in view at once: charts are drawn when they are


@dataclass(frozen=True)
class Seen:
    """What the script has found, and what the browser's console has said."""

    found: Json
    console: list[str]


def find() -> str:
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not browser:
        pytest.skip("there is no Chromium")
    return browser


def _argv(folder: Path, width: int, height: int, is_dark: bool) -> list[str]:
    return [
        *(find(), "--headless", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder / 'profile'}"),
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
        # Offline: whatever is asked of any host is refused, and told on the console.
        *("--host-resolver-rules=MAP * ~NOTFOUND", "--no-first-run", "--disable-background-networking"),
        *("--enable-logging=stderr", f"--window-size={width},{height}", "--virtual-time-budget=200000"),
        *(["--blink-settings=preferredColorScheme=0"] if is_dark else ["--blink-settings=preferredColorScheme=1"]),
    ]


def visit(page: Path, script: str, folder: Path, *, width: int, is_dark: bool = False) -> Seen:
    """Opens a copy of the page in which the script runs last; it leaves its findings with done(value)."""
    folder.mkdir(exist_ok=True)
    copy = folder / "page.html"
    helper = (
        "const done = (value) => { const at = document.createElement('pre'); at.id = 'found-by-test';"
        "at.textContent = JSON.stringify(value); document.body.append(at); };"
        "const wait = (ms) => new Promise((go) => setTimeout(go, ms));"
    )
    head, end, rest = page.read_text().rpartition("</body>")
    copy.write_text(f'{head}<script type="module">{helper}{script}</script>{end}{rest}')
    argv = [*_argv(folder, width, _TALL, is_dark), "--dump-dom", copy.as_uri()]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=180, stdin=subprocess.DEVNULL)
    match = re.search(r'<pre id="found-by-test">(.*?)</pre>', ran.stdout, re.DOTALL)
    console = [line for line in ran.stderr.splitlines() if "CONSOLE" in line]
    assert match, (console, ran.stdout[-300:])
    return Seen(json.loads(unescape(match[1])), console)


def photograph(page: Path, folder: Path, name: str, *, width: int, height: int, is_dark: bool = False) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    argv = [*_argv(folder, width, height, is_dark), f"--screenshot={path}", page.as_uri()]
    subprocess.run(argv, capture_output=True, check=True, timeout=180, stdin=subprocess.DEVNULL)
    return path
