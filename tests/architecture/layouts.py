# SPDX-License-Identifier: BSD-3-Clause
"""Public structures and constants stay as they are within an ABI (docs/versioning.md): usage:
layouts.py SOURCE_ROOT CC CXX [INCLUDE_DIRECTORY...].

Compiles layouts.c, which says where each member lies, as C and as C++. All structures, members and
constants of the headers must be there, and structures must have room to grow."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
STRUCT = re.compile(r"\bstruct\s*(\w*)\s*\{")
NAME = re.compile(r"\}\s*(\*?)\s*(\w+)")
MEMBER = re.compile(r"(\w+)\s*(?:\[[^\]]*\])*\s*(?:,|$)")
ENUM = re.compile(r"\benum\s*\w*\s*\{([^}]*)\}")
PINNED = re.compile(r"\b(?:AT|SIZE)\((?:struct )?(\w+), (\w+)")
VALUE = re.compile(r"\bVALUE\((\w+), ")
# Structures without reserved members, and why they can do without.
FINAL = {
    "tonari_box": "programs have arrays of them: it never grows",
    "tonari_fortran_field": "programs have arrays of them: it never grows",
    "tonari_messages_s": "only the library makes them: it grows at its end",
}


def structures(text: str) -> Iterator[tuple[str, set[str]]]:
    """The structures that a header defines, without comments, and the members of each."""
    for start in STRUCT.finditer(text):
        depth, at = 1, start.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        pointer, name = NAME.match(text, at - 1).groups()
        body = re.sub(r"\bunion\s*\{|\}", "", text[start.end() : at - 1])
        members = {m for part in body.split(";") for m in MEMBER.findall(part.strip())}
        yield start[1] if pointer else name, members


def constants(text: str) -> set[str]:
    return {
        name
        for body in ENUM.findall(text)
        for name in re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", body.strip())
    }


def problems(headers: list[str], pins: str) -> Iterator[str]:
    pinned, values = set(PINNED.findall(pins)), set(VALUE.findall(pins))
    sizes = set(re.findall(r"\bSIZE\((?:struct )?(\w+), ", pins))
    found = {name: members for text in headers for name, members in structures(text)}
    for name, members in sorted(found.items()):
        if name not in sizes:
            yield f"the size of {name} is not in layouts.c"
        if "reserved" not in members and name not in FINAL:
            yield f"{name} has no reserved members"
        for member in sorted(members):
            if (name, member) not in pinned:
                yield f"{name}.{member} is not in layouts.c"
    for name in sorted({name for text in headers for name in constants(text)} - values):
        yield f"{name} is not in layouts.c"


def compile_pins(compiler: list[str], directories: list[str]) -> list[str]:
    """What a compiler says of layouts.c; nothing if all is as it says."""
    run = subprocess.run(
        [*compiler, "-fsyntax-only", *(f"-I{d}" for d in directories), HERE / "layouts.c"],
        capture_output=True,
        text=True,
    )
    return [run.stderr] if run.returncode else []


def selftest() -> None:
    header = (
        "typedef struct tonari_x {\n  int a, b[2];\n  union {\n    int* c;\n    int* d;\n  };\n"
        "  int reserved[2];\n} tonari_x;\n"
        "typedef const struct tonari_messages_s {\n  int n;\n}* m;\n"
        "enum { E = 0, F };\n"
    )
    assert dict(structures(header)) == {
        "tonari_x": {"a", "b", "c", "d", "reserved"},
        "tonari_messages_s": {"n"},
    }
    pins = "".join(
        f"AT(tonari_x, {member}, 0, 4);\n" for member in ["a", "b", "c", "d", "reserved"]
    )
    pins += "SIZE(tonari_x, 8);\nAT(struct tonari_messages_s, n, 0, 4);\n"
    pins += "SIZE(struct tonari_messages_s, 4);\nVALUE(E, 0);\nVALUE(F, 1);\n"
    assert not list(problems([header], pins)), list(problems([header], pins))
    less = {
        "AT(tonari_x, b, 0, 4);": "tonari_x.b is not in layouts.c",
        "SIZE(tonari_x, 8);": "the size of tonari_x is not in layouts.c",
        "VALUE(F, 1);": "F is not in layouts.c",
    }
    for line, sentence in less.items():
        assert [*problems([header], pins.replace(line, ""))] == [sentence]
    bare = header.replace("  int reserved[2];\n", "")
    assert [*problems([bare], pins)] == ["tonari_x has no reserved members"]


def main(root: Path, cc: str, cxx: str, mpi: list[str]) -> int:
    headers = [
        COMMENT.sub("", path.read_text(encoding="utf-8"))
        for path in sorted(root.glob("include/tonari/*.h"))
    ]
    found = list(problems(headers, (HERE / "layouts.c").read_text(encoding="utf-8")))
    directories = [str(root / "include"), *mpi]
    no_bindings = ["-DOMPI_SKIP_MPICXX=1", "-DMPICH_SKIP_MPICXX=1"]
    found += compile_pins([cc, "-std=c11", "-xc"], directories)
    found += compile_pins([cxx, "-std=c++20", *no_bindings, "-xc++"], directories)
    count = sum(1 for text in headers for _ in structures(text))
    print("\n".join(found) or f"{count} structures are as layouts.c says")
    return bool(found) or not count


if __name__ == "__main__":
    selftest()
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]))
