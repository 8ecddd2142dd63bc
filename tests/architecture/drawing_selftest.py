# SPDX-License-Identifier: BSD-3-Clause
"""tools/draw_architecture.py draws what is included, and its check notices what has changed."""

import contextlib
import io
import sys
import tempfile
from pathlib import Path

from rooms import FLOORS

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from draw_architecture import BEGIN, END, identifier, main, reduced, room_of

GROUND, LOW, MIDDLE, HIGH = (rooms[0] for rooms in FLOORS[:4])
FRAME = f"Before.\n{BEGIN}\n{END}\nAfter.\n"


def write(root: Path, name: str, *includes: str) -> None:
    path = root / "src" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f'#include "{included}"\n' for included in includes))


def house(root: Path) -> Path:
    """Three rooms above each other, and a document that waits for their drawing."""
    write(root, f"{HIGH}/a.cpp", f"{MIDDLE}/b.hpp", f"{MIDDLE}/c.hpp", f"{LOW}/d.hpp")
    write(root, f"{MIDDLE}/b.hpp", f"{LOW}/d.hpp", f"{MIDDLE}/c.hpp", f"{GROUND}/e.hpp")
    document = root / "docs/architecture.md"
    document.parent.mkdir()
    document.write_text(FRAME)
    return document


def run(root: Path, *arguments: str) -> tuple[int, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = main(["--root", str(root), *arguments])
    return status, out.getvalue()


def arrow(a: str, count: int, b: str) -> str:
    return f"  {identifier(a)} -->|{count}| {identifier(b)}\n"


def draws_what_is_included(root: Path, document: Path) -> None:
    assert run(root, "--check")[0] == 1, "not drawn yet"
    assert run(root)[0] == 0
    assert run(root, "--check")[0] == 0
    text = document.read_text()
    assert text.startswith("Before.\n") and text.endswith("\nAfter.\n")
    assert arrow(HIGH, 2, MIDDLE) in text and arrow(MIDDLE, 1, LOW) in text
    assert f"{identifier(HIGH)} -->|1| {identifier(LOW)}" not in text, "the others connect them"
    assert "Also left out are 1 arrows that" in " ".join(text.split())
    for room in (room for rooms in FLOORS[1:] for room in rooms):
        assert f'["{room}"]' in text, room


def notices(root: Path, document: Path, what: str) -> None:
    status, said = run(root, "--check")
    assert status == 1 and "run tools/draw_architecture.py" in said, what
    assert run(root)[0] == 0 and run(root, "--check")[0] == 0
    assert "Before." in document.read_text()


def notices_changes(root: Path, document: Path) -> None:
    write(root, f"{HIGH}/f.cpp", f"{MIDDLE}/b.hpp")
    notices(root, document, "one more include")
    (root / "src" / HIGH / "a.cpp").unlink()
    notices(root, document, "a file less")
    write(root, f"{LOW}/d.hpp", f"{GROUND}/e.hpp")
    assert run(root, "--check")[0] == 0, "the ground floor is left out"
    document.write_text(document.read_text().replace("|1|", "|7|"))
    notices(root, document, "somebody has drawn by hand")


def wants_its_markers(root: Path, document: Path) -> None:
    for text in ("", BEGIN, f"{END}\n{BEGIN}\n"):
        document.write_text(text)
        assert run(root)[0] == 1 and document.read_text() == text, text


def main_test() -> None:
    assert reduced({("a", "b"), ("b", "c"), ("a", "c"), ("d", "c")}) == {
        ("a", "b"),
        ("b", "c"),
        ("d", "c"),
    }
    assert room_of(f"{LOW}/a.hpp") == room_of(f"{LOW}/inside/a.hpp") == LOW
    assert room_of("a.hpp") == room_of("tonari/tonari.h") == ""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        document = house(root)
        draws_what_is_included(root, document)
        notices_changes(root, document)
        wants_its_markers(root, document)
    print("the drawing follows the code")


main_test()
