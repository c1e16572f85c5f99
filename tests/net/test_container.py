# SPDX-License-Identifier: Apache-2.0
"""The container image that contrib/container/build-image makes: it runs, and has in it what it needs and no more."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from compose import check
from nmtest import PATIENCE_S, TOP, Netmodel

SCRIPT = TOP / "contrib" / "container" / "build-image"
NAME = "localhost/netmodel-test:1"


def run(argv: list[str | Path], env: dict[str, str], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in argv]
    return subprocess.run(words, env=env, cwd=cwd, capture_output=True, text=True, timeout=5 * PATIENCE_S, check=False)


@dataclass(frozen=True)
class Image:
    buildah: list[str | Path]
    env: dict[str, str]
    said: str
    archive: Path

    def ask(self, *args: str) -> subprocess.CompletedProcess[str]:
        return run([*self.buildah, *args], self.env)

    def config(self) -> dict[str, object]:
        done = self.ask("inspect", "--type", "image", NAME)
        assert done.returncode == 0, done.stderr
        config: dict[str, object] = json.loads(done.stdout)["OCIv1"]["config"]
        return config

    def run(self, *args: str) -> str:
        """What the program says in a container; skips the test where there can be none."""
        made = self.ask("from", "--pull-never", NAME)
        assert made.returncode == 0, made.stderr
        entry = self.config()["Entrypoint"]
        assert isinstance(entry, list)
        done = self.ask("run", "--isolation", "chroot", made.stdout.strip(), "--", *entry, *args)
        if done.returncode != 0 and "not permitted" in done.stderr:
            pytest.skip(f"buildah cannot run a container here: {done.stderr.strip()[:300]}")
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def image(netmodel: Netmodel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    """Made once: all that is in it is copied several times, which takes some seconds. The archive has a relative path, as
    the documents write it."""
    build = netmodel.binary.parents[1]
    if not (build / "Makefile").exists():
        pytest.skip(f"{netmodel.binary} is not in a build folder")
    folder = tmp_path_factory.mktemp("image")
    where = ("--root", folder / "root", "--runroot", folder / "run", "--storage-driver", "vfs")
    buildah: list[str | Path] = ["buildah", *where]
    env = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    env |= {"LC_ALL": "C", "BUILDAH": " ".join(map(str, buildah)), "SOURCE_DATE_EPOCH": "1000000000"}
    try:
        done = run([SCRIPT, "-b", build, "-t", NAME, "-o", "image.tar"], env, cwd=folder)
        assert done.returncode == 0, done.stderr
        yield Image(buildah, env, done.stdout, folder / "image.tar")
    finally:
        run([*buildah, "rm", "--all"], env)
        shutil.rmtree(folder, ignore_errors=True)


def test_its_name_is_told_and_no_container_is_left(image: Image) -> None:
    assert image.said == f"{NAME}\n"
    listed = image.ask("images", "--format", "{{.Name}}:{{.Tag}} {{.CreatedAtRaw}}").stdout.split()
    assert listed[:2] == [NAME, "2001-09-09"]
    left = image.ask("containers", "--format", "{{.ContainerName}}").stdout.split()
    assert not [name for name in left if not name.startswith("netmodel-test")]


def test_it_says_what_it_runs_and_as_whom(image: Image) -> None:
    config = image.config()
    assert config["User"] == "65534:65534"
    assert config["ExposedPorts"] == {"20000/tcp": {}}
    labels = config["Labels"]
    assert isinstance(labels, dict)
    assert labels["org.opencontainers.image.licenses"] == "Apache-2.0"
    assert image.run("--version") == f"netmodel {labels['org.opencontainers.image.version']}\n"


def test_a_profile_runs_in_it(image: Image) -> None:
    document = json.loads(image.run("-m", "tcp_rr", "-D", "test_length=200ms", "--format", "json"))
    assert check(document)["totals"]["transactions"] > 0


def test_neper_s_command_line_runs_in_it(image: Image) -> None:
    assert "num_transactions=50\n" in image.run("tcp_rr", "-c", "-H", "local", "-l", "-50")


def test_there_is_no_more_in_it_than_it_needs(image: Image) -> None:
    """Nothing to build with, no manuals, no shell: and the archive is one that other tools read."""
    with tarfile.open(image.archive) as outer:
        (manifest,) = json.load(outer.extractfile("manifest.json"))  # type: ignore[arg-type]
        assert manifest["RepoTags"] == [NAME]
        names: list[str] = []
        for layer in manifest["Layers"]:
            with tarfile.open(fileobj=outer.extractfile(layer)) as inner:
                names += [member.name for member in inner if member.isfile()]
    kinds = ("/bin/netmodel", ".xml", "etc/passwd", "etc/ld.so.conf", "etc/ld.so.cache", "COPYING")
    other = [name for name in names if not name.endswith(kinds) and ".so." not in name]
    assert other == []


MISTAKES = [
    (["-b", "/nowhere"], "-b /nowhere: nothing is built there: run ./quickstart build first"),
    (["-u", "root"], "-u root: not a number"),
    (
        ["-l", "/bin/false"],
        "-l /bin/false: is no Python (3.11 or newer) that has what netmodel-lab needs: pip install 'contrib/lab[k8s]'",
    ),
    (["-o", "/nowhere/image.tar"], "-o /nowhere/image.tar: its folder does not exist"),
    (["more"], "more: not an option; -h lists them"),
]


@pytest.mark.parametrize(("args", "message"), MISTAKES, ids=[message.partition(":")[0] for _, message in MISTAKES])
def test_mistakes_are_told(args: list[str], message: str) -> None:
    done = run([SCRIPT, *args], dict(os.environ))
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"build-image: {message}\n")


@pytest.mark.needs("bash")
def test_every_option_is_in_the_documents() -> None:
    usage = run([SCRIPT, "-h"], dict(os.environ)).stdout
    page = (TOP / "docs" / "kubernetes.md").read_text()
    options = [line.split()[0] for line in usage.splitlines() if line.startswith("  -")]
    assert options == ["-b", "-l", "-t", "-o", "-u"]
    assert all(f"| `{option} " in page for option in options)
