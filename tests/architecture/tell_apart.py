# SPDX-License-Identifier: BSD-3-Clause
"""For the self-tests of checks: right and wrong lines, each in a tree of its own."""

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

Lines = list[tuple[str, str]]  # the file's path in the tree, the line in it


def tell_apart(
    problems: Callable[[Path], Iterable[str]],
    right: Lines,
    wrong: Lines,
    what: str,
    *beside: tuple[str, str],
) -> None:
    """Fails unless problems(tree) complains about all wrong lines, about no right one, and about
    an empty tree. beside: files with their lines that every other tree has, too."""

    def complaints(name: str, line: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            for file, text in (*beside, (name, line)):
                path = Path(folder, file)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text + "\n")
            return list(problems(Path(folder)))

    for name, line in right:
        assert not complaints(name, line), (name, line)
    for name, line in wrong:
        assert complaints(name, line), (name, line)
    with tempfile.TemporaryDirectory() as empty:
        assert list(problems(Path(empty)))
    print(f"{len(right)} right and {len(wrong)} wrong {what} told apart")
