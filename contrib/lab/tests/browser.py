# SPDX-License-Identifier: Apache-2.0
"""A page in a real browser without a screen, Chromium, which is spoken to in its DevTools protocol over a pipe. Nothing
is pretended: its clock is the machine's."""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from unpacked import find

Json = dict[str, Any]

PATIENCE_S = 180.0  # for a word of the browser
_SAID = {"Runtime.consoleAPICalled": "args", "Runtime.exceptionThrown": "exceptionDetails", "Log.entryAdded": "entry"}


class Browser:
    """One page at a time, in a window that has a width and may be dark, or a sheet of paper."""

    def __init__(self, folder: Path, *, width: int, is_dark: bool = False, media: str = "screen") -> None:
        program = find("chromium-headless-shell", "chromium-headless-shell", "chromium", "google-chrome")
        argv = [
            *(program.path, "--headless", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"),
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
            # Offline: whatever is asked of any host is refused, and told on the console.
            *("--host-resolver-rules=MAP * ~NOTFOUND", "--no-first-run", "--disable-background-networking"),
            *("--hide-scrollbars", "--remote-debugging-pipe"),
        ]
        self._process = subprocess.Popen(
            ["sh", "-c", 'exec "$@" 3<&0 4>&1', "sh", *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=program.environment(),
        )
        self._session: Json = {}
        self._number = 0
        self._rest = b""
        self._events: list[str] = []
        self.console: list[str] = []
        try:
            self._prepare(width, is_dark=is_dark, media=media)
        except BaseException:
            self._end()
            raise

    def _prepare(self, width: int, *, is_dark: bool, media: str) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Performance.enable", timeDomain="threadTicks")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            with suppress(OSError, EOFError, subprocess.TimeoutExpired):
                self._session = {}
                self.call("Browser.close")
                self._process.wait(30)
        self._end()

    def _end(self) -> None:
        self._process.kill()
        self._process.communicate()

    def call(self, method: str, **params: object) -> Json:
        """What the browser answers; what it says meanwhile is kept."""
        self._number += 1
        asked = {"id": self._number, "method": method, "params": params, **self._session}
        assert self._process.stdin
        self._process.stdin.write(json.dumps(asked).encode() + b"\0")
        self._process.stdin.flush()
        while (said := self._next()).get("id") != self._number:
            self._keep(said)
        assert "error" not in said, (method, said["error"])
        result: Json = said["result"]
        return result

    def _next(self) -> Json:
        assert self._process.stdout
        deadline = time.monotonic() + PATIENCE_S
        while b"\0" not in self._rest:
            if not select.select([self._process.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"the browser has said nothing for {PATIENCE_S:.0f} s")
            more = os.read(self._process.stdout.fileno(), 1 << 20)
            if not more:
                raise EOFError("the browser has ended")
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\0")
        message: Json = json.loads(text)
        return message

    def _keep(self, said: Json) -> None:
        method = said.get("method", "")
        self._events.append(method)
        if method in _SAID:
            self.console.append(json.dumps(said["params"][_SAID[method]]))

    def open(self, page: Path) -> None:
        """Returns when it is loaded, with all that its scripts do at once."""
        self._events.clear()
        self.call("Page.navigate", url=page.absolute().as_uri())
        while "Page.loadEventFired" not in self._events:
            self._keep(self._next())

    def play(self, script: str) -> Any:
        """What a script returns that plays the user."""
        wait = "const wait = (ms) => new Promise((go) => setTimeout(go, ms));"
        code = f"(async () => {{ {wait}\n{script}\n}})()"
        done = self.call("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def busy_s(self) -> float:
        """CPU time of the page's main thread so far, which other work on the machine does not lengthen as it does wall
        time."""
        found = self.call("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in found if one["name"] == "TaskDuration"))

    def pdf(self) -> bytes:
        """As it is printed."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])
