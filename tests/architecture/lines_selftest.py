"""The check of line lengths notices what it is for."""

import tempfile
from pathlib import Path

from lines import WIDTH, problems

LONG = "word " * (WIDTH // 5 + 1)
RIGHT = [
    ("src/plan/a.hpp", "x" * 20 + " // " + "y" * (WIDTH - 24)),
    ("docs/a.md", f"| {LONG} |"),
    ("docs/a.md", f"see https://example.org/{'x' * WIDTH}"),
    ("tools/a.sh", f'die "{LONG}"'),
    ("tests/goldens/a.txt", LONG),
    ("src/a.inc", LONG),
]
WRONG = [
    ("src/plan/a.hpp", f"// {LONG}"),
    ("src/plan/a.hpp", f'f("{LONG}");'),
    ("tools/a.sh", f"# {LONG}"),
    ("CMakeLists.txt", f"set(a {LONG})"),
    ("docs/a.md", LONG),
]


def complaints(name: str, line: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        for file, text in (("src/short.cpp", ""), (name, line + "\n")):
            path = Path(folder) / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return list(problems(Path(folder)))


for name, line in RIGHT:
    assert not complaints(name, line), (name, line)
for name, line in WRONG:
    assert complaints(name, line), (name, line)
with tempfile.TemporaryDirectory() as empty:
    assert list(problems(Path(empty)))
print(f"{len(RIGHT)} right and {len(WRONG)} wrong lines told apart")
