#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Has tonari simulate judged by LogGOPSim, by SimGrid's SMPI and by real runs between hosts, and
prints what each of them says.

Usage: tools/judge_simulator.py [--output FOLDER] [--loggopsim FOLDER --stable FOLDER]
       [--most RANKS] [--only JUDGE,...]

A judge that is not there is left out, and the last lines say why: LogGOPSim needs a build of it
(its folder, and one that sorts stably), SimGrid its smpicc and smpirun in PATH, hosts need root.
--output: a folder that gets the rows as loggopsim.csv, simgrid.csv and judged-hosts.csv. Exits with
1 if a judge disagrees or none is there.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import compare_hosts  # noqa: E402
import compare_loggopsim  # noqa: E402
import compare_simgrid  # noqa: E402
import judged  # noqa: E402

Rows = Sequence[judged.Row]


@dataclass(frozen=True)
class Judge:
    name: str  # of its file, too
    missing: str  # why it is left out, or nothing
    rows: Callable[[], Rows]
    table: Callable[[Rows], list[list[str]]]
    agrees: Callable[[Rows], bool]
    asked: str  # what agreeing means
    found: Callable[[Rows], str]  # in few words


def judges(given: argparse.Namespace) -> list[Judge]:
    hosts = compare_hosts.host_counts(given.hosts)
    return [
        Judge(
            "loggopsim",
            missing_loggopsim(given.loggopsim),
            lambda: compare_loggopsim.rows_of(given.loggopsim, given.stable, given.random),
            judged.loggopsim,
            judged.loggopsim_agrees,
            "equal to the nanosecond",
            judged.loggopsim_found,
        ),
        Judge(
            "simgrid",
            missing_simgrid(),
            lambda: compare_simgrid.rows_of(given.least, given.most),
            judged.simgrid,
            judged.simgrid_agrees,
            "nine of ten plans within 10 %, and the same winner in nine of ten cases",
            judged.simgrid_found,
        ),
        Judge(
            "judged-hosts",
            compare_hosts.impossible(),
            lambda: compare_hosts.rows_of(hosts, given.fit, given.repeat, given.seconds),
            judged.hosts,
            judged.hosts_agree,
            "ratios within 30 %, and the same winner above 1.15",
            judged.hosts_found,
        ),
    ]


def missing_loggopsim(folder: Path | None) -> str:
    if not folder:
        return "--loggopsim names no folder with a build of it"
    absent = [name for name in ("LogGOPSim", "txt2bin") if not (folder / name).is_file()]
    return f"{folder} has no {' and no '.join(absent)}" if absent else ""


def missing_simgrid() -> str:
    absent = [name for name in ("smpicc", "smpirun") if not shutil.which(name)]
    return f"there is no {' and no '.join(absent)} in PATH: install libsimgrid-dev" * bool(absent)


def judge(all_of_them: Sequence[Judge], folder: Path | None) -> int:
    """Asks those that are there; the exit status."""
    verdicts, agreed = [], 0
    asked = [one for one in all_of_them if not one.missing]
    for one in asked:
        rows = one.rows()
        if folder:
            judged.write_rows(rows, folder / f"{one.name}.csv")
        print(f"{one.name}:\n{judged.as_table(one.table(rows))}", flush=True)
        agrees = one.agrees(rows)
        agreed += agrees
        verdicts.append([one.name, one.asked, one.found(rows), "yes" if agrees else "no"])
    verdicts += [
        [one.name, one.asked, one.missing, "left out"] for one in all_of_them if one.missing
    ]
    print(judged.as_table([["judge", "asked", "found", "agrees"], *verdicts]), end="")
    return 0 if asked and agreed == len(asked) else 1


def main(arguments: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--only", default="", help="these judges, separated by commas")
    options.add_argument("--output", type=Path, help="a folder for the rows")
    options.add_argument("--loggopsim", type=Path, help="a folder with LogGOPSim and txt2bin")
    options.add_argument("--stable", type=Path, help="another build, which sorts stably")
    options.add_argument("--random", type=int, default=1000, help="schedules for LogGOPSim (1000)")
    options.add_argument("--least", type=int, default=1, help="ranks for SimGrid (1)")
    options.add_argument("--most", type=int, default=4096, help="ranks for SimGrid (4096)")
    compare_hosts.add_options(options)
    given = options.parse_args(arguments)
    found = judges(given)
    names = [one.name for one in found]
    only = given.only.split(",") if given.only else names
    if unknown := [name for name in only if name not in names]:
        options.error(f"there is no judge '{unknown[0]}'; there are {', '.join(names)}")
    if given.output and not given.output.is_dir():
        options.error(f"--output is '{given.output}', which is no folder")
    return judge([one for one in found if one.name in only], given.output)


if __name__ == "__main__":
    sys.exit(main())
