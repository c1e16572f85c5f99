# SPDX-License-Identifier: Apache-2.0
"""Programs that the machine does not have, and Debian does: fetched with the libraries that the machine lacks, unpacked
below build/, and never installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import TOP

_BUILD = TOP / "build" / "unpacked"
_OPTIONS = ("-qq", "-y", "-oDebug::NoLocking=1", "--download-only", "--no-install-recommends")


@dataclass(frozen=True)
class Program:
    """libraries: the folders of those that were unpacked with it, as LD_LIBRARY_PATH has them."""

    path: str
    libraries: str = ""

    def environment(self) -> dict[str, str]:
        return {**os.environ, **({"LD_LIBRARY_PATH": self.libraries} if self.libraries else {})}


def _unpack(package: str, into: Path) -> None:
    # In a folder that only this process has: others may be at it, too.
    half = into.with_name(f"{into.name}-{os.getpid()}")
    (half / "partial").mkdir(parents=True)
    fetch = ["apt-get", *_OPTIONS, f"-oDir::Cache::archives={half}", "install", package]
    quiet = {"check": False, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if subprocess.run(fetch, **quiet).returncode == 0:  # type: ignore[call-overload]
        for file in half.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", file, half / "root"], **quiet)  # type: ignore[call-overload]
        with suppress(OSError):
            (half / "root").rename(into)
    shutil.rmtree(half)


def find(name: str, package: str, *others: str) -> Program:
    """The machine's, by its name or one of the others; else that of the package. Skips where neither is to be had."""
    folders = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"])
    here = next(filter(None, (shutil.which(each, path=folders) for each in (name, *others))), None)
    if here:
        return Program(here)
    into = _BUILD / package
    if not into.exists() and shutil.which("apt-get") and shutil.which("dpkg-deb"):
        _unpack(package, into)
    # A large program may stand elsewhere, behind a script of its name that takes it for installed.
    found = max(
        (path for path in into.rglob(name) if path.is_file()), key=lambda path: path.stat().st_size, default=None
    )
    if not found:
        pytest.skip(f"there is no {name}, and {package} cannot be had")
    return Program(str(found), ":".join(sorted({str(path.parent) for path in into.rglob("lib*.so*")})))
