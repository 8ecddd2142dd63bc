# SPDX-License-Identifier: BSD-3-Clause
"""libtonari.so exports what include/symbols.txt lists, and the headers declare just that: usage:
symbols.py SOURCE_ROOT NM LIBRARY."""

import re
import subprocess
import sys
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
DECLARED = re.compile(r"^TONARI_API\b[^;(]*?(\w+)\s*\(", re.MULTILINE)
ROW = re.compile(r"(\w+) (\d+)\.(\d+)\.(\d+)")
PROJECT = re.compile(r"^project\(tonari VERSION (\d+)\.(\d+)\.(\d+)", re.MULTILINE)

Version = tuple[int, ...]


def declared(headers: list[str]) -> set[str]:
    return {name for text in headers for name in DECLARED.findall(COMMENT.sub("", text))}


def exported(nm: str) -> set[str]:
    """Of the output of `nm -D --defined-only`; a symbol's version, if it has one, is left out."""
    return {line.split()[-1].partition("@")[0] for line in nm.splitlines() if line.strip()}


def listed(text: str, now: Version) -> tuple[dict[str, Version], list[str]]:
    """The functions with their versions, and what is wrong with the list itself."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    matches = [ROW.fullmatch(line) for line in lines]
    wrong = [
        f"'{line}' is not a name, a blank and a version"
        for line, match in zip(lines, matches, strict=True)
        if not match
    ]
    rows = [(match[1], tuple(map(int, match.groups()[1:]))) for match in matches if match]
    names = [name for name, _ in rows]
    if names != sorted(set(names)):
        wrong.append("the names are not sorted, or one is there twice")
    wrong += [f"{name} is of a later version than CMake's project" for name, v in rows if v > now]
    return dict(rows), wrong


def differences(known: set[str], there: set[str], where: str) -> list[str]:
    lost = [f"{name} is listed, but not {where}" for name in sorted(known - there)]
    more = [f"{name} is {where}, but not listed" for name in sorted(there - known)]
    return lost + more


def problems(text: str, now: Version, headers: list[str], nm: str) -> list[str]:
    known, wrong = listed(text, now)
    wrong += differences(set(known), declared(headers), "declared in a header")
    return wrong + differences(set(known), exported(nm), "exported by the library")


def selftest() -> None:
    header = "#define TONARI_API x\nTONARI_API int f(int a);\n/* TONARI_API int h(); */\n"
    both = [header, "TONARI_API const char* g(\n    void);\n"]
    nm = "0000000000001140 T f\n0000000000001150 T g@@TONARI\n"
    right = "# about\nf 0.1.0\ng 0.2.0\n"
    now = (0, 2, 0)
    assert not problems(right, now, both, nm), problems(right, now, both, nm)
    wrong = {
        "_Zx is exported by the library, but not listed": (right, now, both, nm + "0 W _Zx\n"),
        "g is listed, but not exported by the library": (right, now, both, "0 T f\n"),
        "g is listed, but not declared in a header": (right, now, [header], nm),
        "g is declared in a header, but not listed": ("f 0.1.0\n", now, both, nm),
        "g is of a later version": (right, (0, 1, 9), both, nm),
        "the names are not sorted": ("g 0.2.0\nf 0.1.0\n", now, both, nm),
        "'f' is not a name, a blank and a version": ("f\ng 0.2.0\n", now, both, nm),
    }
    for sentence, case in wrong.items():
        assert any(sentence in problem for problem in problems(*case)), (sentence, problems(*case))


def main(root: Path, nm: str, library: str) -> int:
    version = PROJECT.search((root / "CMakeLists.txt").read_text(encoding="utf-8"))
    headers = [path.read_text(encoding="utf-8") for path in sorted(root.glob("include/tonari/*.h"))]
    symbols = subprocess.run(
        [nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True
    ).stdout
    text = (root / "include/symbols.txt").read_text(encoding="utf-8")
    found = problems(text, tuple(map(int, version.groups())), headers, symbols)
    print(
        "\n".join(found)
        or f"{len(exported(symbols))} functions are exported, declared and listed, no other symbol"
    )
    return bool(found)


if __name__ == "__main__":
    selftest()
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
