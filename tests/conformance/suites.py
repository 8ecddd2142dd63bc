# SPDX-License-Identifier: BSD-3-Clause
"""The source of other people's suites, fetched by the clients of their packages into the build
tree. Nothing of it is part of this repository."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

import built

SOURCE = Path(__file__).resolve().parents[2]
FOLDER = built.CONFIG.parent.absolute() / "conformance"
# Of mpi4py's source package, by the version that tools/requirements-test.txt has.
CHECKSUMS = {"4.1.2": "56860286dc45f20e8821e93cb06669e30462348bf866f685553fa4b712d58d02"}
PATIENCE = 300


class Missing(Exception):
    """A sentence that says why there is no source."""


def _fetched(name: str, fetch: Callable[[Path], None]) -> Path:
    """A folder that is there as a whole or not at all."""
    folder = FOLDER / name
    if folder.is_dir():
        return folder
    if os.environ.get("INSTALL") == "no":
        raise Missing(f"INSTALL=no forbids to fetch the source of {name}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER, prefix=".fetching-") as made:
        try:
            fetch(Path(made))
            (Path(made) / "source").rename(folder)
        except (subprocess.SubprocessError, OSError, tarfile.TarError) as error:
            if not folder.is_dir():  # another process may have been faster
                raise Missing(f"the source of {name} cannot be had: {_why(error)}") from None
    return folder


def _why(error: Exception) -> str:
    said = getattr(error, "stderr", "") or str(error)
    return said.strip().splitlines()[-1] if said.strip() else type(error).__name__


def _run(*command: object, cwd: Path | None = None) -> str:
    return subprocess.run(
        list(map(str, command)),
        check=True,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=cwd,
    ).stdout


def mpi4py() -> Path:
    """The folder of its tests, in the version of the installed package."""
    try:
        version = importlib.metadata.version("mpi4py")
    except importlib.metadata.PackageNotFoundError:
        raise Missing("there is no mpi4py") from None
    if version not in CHECKSUMS:
        raise Missing(f"no checksum is known of the source of mpi4py {version}")
    archive = f"mpi4py-{version}.tar.gz"

    def fetch(folder: Path) -> None:
        client = SOURCE / "tools/setup/fetch_pypi.py"
        where = folder / archive
        _run(sys.executable, client, "mpi4py", archive, CHECKSUMS[version], where)
        with tarfile.open(where) as tar:
            # Python 3.11.2, which Debian 12 has, knows no filters yet.
            safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            tar.extractall(folder, **safely)
        (folder / archive.removesuffix(".tar.gz") / "test").rename(folder / "source")

    return _fetched(f"mpi4py-{version}", fetch)


def mpich() -> Path:
    """The folder test/mpi of Debian's source package."""
    if not shutil.which("apt-get"):
        if (FOLDER / "mpich").is_dir():
            return FOLDER / "mpich"
        raise Missing("there is no apt-get to fetch the source of mpich")
    return _fetched("mpich", _fetch_mpich)


def _fetch_mpich(folder: Path) -> None:
    apt = ["apt-get", "-q", *_options(folder)]
    _run(*apt, "update")
    _run(*apt, "source", "--download-only", "mpich", cwd=folder)
    [archive] = folder.glob("mpich_*.orig.tar.*")
    _run("tar", "-xf", archive, "-C", folder, "--wildcards", "*/test/mpi/*")
    [tests] = folder.glob("*/test/mpi")
    tests.rename(folder / "source")


def _options(folder: Path) -> list[str]:
    """Lists of source packages of its own: those of the system stay as they are."""
    [place, release] = _place_of_mpich()
    sources = folder / "own.list"
    sources.write_text(f"deb-src {place} {release}\n")
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    options = {
        "Dir::Etc::SourceList": sources,
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": folder / "lists",
        "Dir::Cache": folder / "cache",
        "APT::Sandbox::User": "root",
    }
    return [word for name, value in options.items() for word in ("-o", f"{name}={value}")]


def _place_of_mpich() -> tuple[str, str]:
    """Where the package comes from: http://deb.debian.org/debian and "bookworm main"."""
    for line in _run("apt-cache", "madison", "mpich").splitlines():
        words = line.split("|")[2].split()
        if len(words) >= 2 and "/" in words[1]:
            return words[0], words[1].replace("/", " ", 1)
    raise OSError("apt-cache knows no package mpich")
