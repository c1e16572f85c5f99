# SPDX-License-Identifier: Apache-2.0
"""How it goes: on a terminal one line that lives below the points done, elsewhere one plain line for each point."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TextIO

from netmodel_lab.columns import reach
from netmodel_lab.folder import Json
from netmodel_lab.plan import Point
from netmodel_lab.runner import Estimate
from netmodel_lab.words import clock, with_unit

_BAR = 24


class Progress:
    """A runner's watcher. A terminal is redrawn; what is no terminal has no control characters."""

    def __init__(
        self,
        out: TextIO,
        *,
        points: int,
        done: int,
        blocks: int,
        is_terminal: bool,
        quiet: bool = False,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._out, self._points, self._done, self._blocks = out, points, done, blocks
        self._is_live = is_terminal and not quiet
        self._quiet = quiet
        self._clock_s = clock_s
        self._began = clock_s()
        self._failed = 0
        self._now: tuple[Point, Estimate] | None = None

    def begin(self, point: Point, estimate: Estimate) -> None:
        self._now = (point, estimate)
        self.tick(0.0)

    def tick(self, gone_s: float) -> None:
        if self._is_live and self._now:
            width = shutil.get_terminal_size().columns
            line = self._line(*self._now, gone_s)
            self._out.write(f"\r\x1b[K{line[: width - 1]}")
            self._out.flush()

    def _line(self, point: Point, estimate: Estimate, gone_s: float) -> str:
        filled = _BAR * self._done // max(self._points, 1)
        left = max(estimate.seconds() - gone_s, 0.0)
        ends = (datetime.now() + timedelta(seconds=left)).strftime("%H:%M")
        failed = f"  failed {self._failed}" if self._failed else ""
        return (
            f"block {point.block}/{self._blocks} [{'#' * filled}{'-' * (_BAR - filled)}] {self._done}/{self._points} "
            f"{clock(self._clock_s() - self._began)} gone, {clock(left)} to go, ends {ends}{failed}  "
            f"now {point.title()} {gone_s:.0f} s"
        )

    def end(self, point: Point, result: Json | None, why: str | None) -> None:
        self.clear()
        if why is None:
            self._done += 1
        else:
            self._failed += 1
        if self._quiet and why is None:
            return
        left = clock(self._now[1].seconds()) if self._now else "-"
        text = f"failed: {why}" if why else told(result or {})
        print(
            f"{datetime.now():%H:%M:%S}  {self._done}/{self._points}  block {point.block}  {point.title()}  {text}"
            + ("" if self._is_live else f"  about {left} to go"),
            file=self._out,
            flush=True,
        )

    def clear(self) -> None:
        """Leaves the terminal as it was."""
        if self._is_live:
            self._out.write("\r\x1b[K")
            self._out.flush()


def told(result: Json) -> str:
    """A run in a few words."""
    rate, p99 = reach(result, "totals", "transactions_per_s"), reach(result, "totals", "latency_s", "p99")
    text = with_unit(rate, "1/s")
    return text if p99 is None else f"{text}  p99 {with_unit(p99 * 1e6, 'us')}"
