# SPDX-License-Identifier: BSD-3-Clause
"""No two units include each other, directly or around corners: usage: cycles.py SOURCE_ROOT. A unit
is a .cpp with its .hpp. Prints every cycle that is found, and exits with 1."""

import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from includes import QUOTED
from rooms import sources

Includes = dict[str, set[str]]  # of each unit: the units that it includes


def unit(file: str) -> str:
    return file.rpartition(".")[0]


def includes_of_units(root: Path) -> Includes:
    found: Includes = {}
    for _, path in sources(root):
        name = unit(path.relative_to(root / "src").as_posix())
        lines = map(QUOTED.match, path.read_text().splitlines())
        found.setdefault(name, set()).update(unit(line[1]) for line in lines if line)
    return {
        name: {other for other in others if other in found and other != name}
        for name, others in found.items()
    }


def cycles(units: Includes) -> Iterator[list[str]]:
    """Cycles that have no include in common; at least one if there is any. Each begins and ends
    with the same unit."""
    while True:
        try:
            TopologicalSorter(units).prepare()
        except CycleError as error:
            cycle = error.args[1][::-1]  # each includes the next
            yield cycle
            units[cycle[0]].discard(cycle[1])
        else:
            return


def problems(root: Path) -> Iterator[str]:
    units = includes_of_units(root)
    if not units:
        yield f"there are no sources in {root}/src"
    for cycle in cycles(units):
        yield "these include each other: " + " -> ".join(cycle)


if __name__ == "__main__":
    found = list(problems(Path(sys.argv[1])))
    print("\n".join(found) or "no unit includes itself around corners")
    sys.exit(bool(found))
