# SPDX-License-Identifier: BSD-3-Clause
"""libtonari.so has the name that docs/versioning.md gives it, which programs remember, and is not
unloaded by dlclose, since MPI keeps addresses of its callbacks: usage: soname.py READELF LIBRARY
VERSION."""

import re
import subprocess
import sys
from pathlib import Path

SONAME = re.compile(r"\(SONAME\).*\[(.+)\]")
STAYS = re.compile(r"\(FLAGS_1\).*\bNODELETE\b")


def soname_of(stem: str, version: str) -> str:
    """Before 1.0 each minor version may break programs, later each major one."""
    major, minor, _ = version.split(".")
    return f"{stem}.so.{major}" if major != "0" else f"{stem}.so.{major}.{minor}"


def problems(library: Path, dynamic: str, version: str) -> list[str]:
    """Of the library as CMake names it, and of what `readelf -d` says of it."""
    stem = library.name.partition(".so")[0]
    wanted, found = soname_of(stem, version), SONAME.findall(dynamic)
    wrong = [] if found == [wanted] else [f"the SONAME is {found}, it must be {wanted}"]
    if library.name != f"{stem}.so.{version}":
        wrong.append(f"the library is {library.name}, it must be {stem}.so.{version}")
    if not STAYS.search(dynamic):
        wrong.append("the library is not linked with -z nodelete")
    return wrong


def selftest() -> None:
    said = " 0x000000000000000e (SONAME)             Library soname: [libx.so.0.7]\n"
    said += " 0x000000006ffffffb (FLAGS_1)            Flags: NOW NODELETE\n"
    file = Path("/lib/libx.so.0.7.3")
    assert not problems(file, said, "0.7.3")
    assert problems(file, said.replace(".0.7", ".0"), "0.7.3")
    assert problems(Path("/lib/libx.so.0.7"), said, "0.7.3")
    assert problems(file, said.replace(" NODELETE", ""), "0.7.3")
    assert problems(file, said.partition("\n")[2], "0.7.3")
    assert soname_of("libx", "1.4.2") == "libx.so.1"


if __name__ == "__main__":
    selftest()
    readelf, library, version = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    dynamic = subprocess.run(
        [readelf, "-d", library], capture_output=True, text=True, check=True
    ).stdout
    found = problems(library, dynamic, version)
    print("\n".join(found) or f"{library.name} has the SONAME {soname_of('libtonari', version)}")
    sys.exit(bool(found))
