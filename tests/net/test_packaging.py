# SPDX-License-Identifier: Apache-2.0
"""What packages say about this source is true of it: versions, libraries, functions, files. The packages themselves are
made and installed by tests/packages."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

import probes
from nmtest import PATIENCE_S, TOP, Netmodel

DEBIAN = TOP / "contrib" / "debian"
SPEC = (TOP / "contrib" / "rpm" / "netmodel.spec").read_text()
CONTROL = (DEBIAN / "control").read_text()
CONFIGURE = (TOP / "configure.ac").read_text()


def words(text: str, pattern: str) -> list[str]:
    found: list[str] = re.findall(pattern, text, re.MULTILINE)
    assert found, pattern
    return found


def stanza(package: str) -> str:
    (text,) = words(CONTROL, rf"^(?:Source|Package): {package}\n(?:.+\n)*")[-1:]
    return text


def test_all_have_one_version(netmodel: Netmodel) -> None:
    (version,) = words(CONFIGURE, r"^AC_INIT\(\[netmodel\], \[([^]]*)\]")
    assert netmodel.run("--version", code=0).out == f"netmodel {version}\n"
    assert words(SPEC, r"^Version: +(\S+)$") == [version]
    assert words((DEBIAN / "changelog").read_text(), r"^netmodel \(([^-]*)-")[0] == version
    assert words(SPEC, r"^\* .* - ([^-]*)-")[0] == version


def test_all_need_what_quickstart_installs() -> None:
    quickstart = (TOP / "quickstart").read_text()
    installed = {name for name in words(quickstart, r"^\t'[^']*:(lib\S*-dev|zlib1g-dev)'$")}
    to_build = quickstart[quickstart.index("to_build=(") : quickstart.index("to_check=(")]
    needed = {name for name in installed if f":{name}'" in to_build} - {"libc6-dev"}
    built = set(words(CONTROL.split("\n\n")[0], r"^ (lib\S*-dev|zlib1g-dev)"))
    assert built == needed
    # What the .pc file names, so that pkg-config --static finds it, and what libxml2 and libcrypto need for that.
    linked = set(words(stanza("libnetmodel-dev"), r"^ (lib\S*-dev|zlib1g-dev)"))
    assert linked == needed | {"liblzma-dev", "libzstd-dev"}


def test_all_need_the_same_versions() -> None:
    modules = words(CONFIGURE, r"^PKG_CHECK_MODULES\(\[[A-Z]+\], \[([^]]*)\]")
    needed = {module for text in modules for module in re.findall(r"\S+ >= \S+", text)}
    assert len(needed) > 8
    assert set(re.sub(r"pkgconfig\(([^)]*)\)", r"\1", line) for line in words(SPEC, r"(pkgconfig.* >= .*)$")) == needed


def test_the_symbols_are_those_of_the_header() -> None:
    header = (TOP / "src" / "lib" / "netmodel.h").read_text()
    symbols = (DEBIAN / "libnetmodel0.symbols").read_text()
    assert words(symbols, r"^ (\w+)@Base ") == sorted(words(header, r"^NETMODEL_API [^(;]*?\b(netmodel_\w+)\("))


@pytest.fixture(scope="module")
def installed(netmodel: Netmodel, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What make install puts below a prefix."""
    build = netmodel.binary.parents[1]
    probes.require("make")
    if not (build / "Makefile").exists():
        pytest.skip(f"{netmodel.binary} is not in a build folder")
    folder = tmp_path_factory.mktemp("installed")
    env = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    command = ["make", "-s", "-C", str(build), "install", f"DESTDIR={folder}", "prefix=/usr"]
    subprocess.run(command, env=env, check=True, capture_output=True, timeout=5 * PATIENCE_S)
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def test_each_file_is_in_one_package(installed: set[str]) -> None:
    """Debian's own tool finds the same when packages are made."""
    for name in sorted(installed):
        packages = []
        for listing in (*DEBIAN.glob("*.install"), DEBIAN / "not-installed"):
            patterns = [line.replace("lib/*/", "lib/") for line in listing.read_text().split()]
            if any(Path(name).match(pattern) or name.startswith(f"{pattern}/") for pattern in patterns):
                packages.append(listing.name)
        if name.endswith("libnetmodel.a") and not packages:
            continue  # this build may be without
        assert len(packages) == 1, f"{name}: {packages}"


@pytest.mark.needs("bash")
def test_packages_are_not_tried_on_this_host(tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name != "NETMODEL_IN_BARE_ROOT"}
    for words_ in (["try", str(tmp_path)], ["build", str(tmp_path)]):
        done = subprocess.run(
            ["bash", str(TOP / "tests" / "packages"), *words_],
            env=env,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.endswith("tests/bare-root RELEASE packages runs it in roots of its own\n")
