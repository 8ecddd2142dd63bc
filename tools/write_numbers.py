#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes every number that README.md and the pages of docs/ claim as measured, from the rows of
docs/performance.

tools/write_numbers.py          writes pages, docs/figures/speedups.csv and the pictures
tools/write_numbers.py --check  says which of them are not what the rows give; exits with 1 if any

    <!--=NAME-->11 to 21<!--/-->     in a page: a number, out of DERIVED or of numbers.csv
    <!-- rows: NAME --> table <!-- /rows -->     a table, out of TABLES

numbers.csv has the numbers that stand for themselves, and sources.csv says of each other file how
it was measured. Numbers are written as they were rounded when they were measured.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Callable, Iterable
from io import StringIO
from itertools import groupby
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent))

import draw_speedups  # noqa: E402
import judged  # noqa: E402
import star_forests  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
ROWS = Path("docs/performance")
SPEEDUPS = draw_speedups.FOLDER / "speedups.csv"
INLINE = re.compile(r"(?<=<!--=)([\w.-]+)-->(.*?)(?=<!--/-->)", re.S)
TABLE = re.compile(r"(?<=<!-- rows: )([\w-]+) -->\n(.*?)(?=^<!-- /rows -->)", re.M | re.S)
ALT = re.compile(r'(?<=alt="Speed-ups over MPI, from )[^"]*(?= times")')
SLOWER = 0.95  # a ratio below which tonari counts as slower
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
Row = dict[str, str]


class Rows:
    """The files of a checkout, each read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._read: dict[str, list[Row]] = {}

    def of(self, table: str, **wanted: str) -> list[Row]:
        """Rows whose cells begin with these words, by column."""
        if table not in self._read:
            path = self.root / ROWS / f"{table}.csv"
            with path.open(encoding="utf-8", newline="") as file:
                self._read[table] = list(csv.DictReader(file))
        return [
            row
            for row in self._read[table]
            if all(row[column].startswith(word) for column, word in wanted.items())
        ]

    def speedups(self) -> list[Row]:
        """Of the picture: which ones are those that are there, and their ranges are computed."""
        with (self.root / SPEEDUPS).open(encoding="utf-8", newline="") as file:
            found = list(csv.DictReader(file))
        for row in found:
            row["low"], row["high"] = ends(SPEEDUPS_OF[row["exchange"]](self, row))
        return found


def numbers_in(*cells: str) -> list[str]:
    """As they are written: `18 to 23` has two."""
    return [number for cell in cells for number in re.findall(r"\d+(?:\.\d+)?", cell)]


def ends(numbers: Iterable[str]) -> tuple[str, str]:
    """The least and the largest, as they are written."""
    found = sorted(numbers, key=float)
    return found[0], found[-1]


def said(numbers: Iterable[str]) -> str:
    low, high = ends(numbers)
    return low if low == high else f"{low} to {high}"


def counted(count: int) -> str:
    return WORDS[count] if count < len(WORDS) else str(count)


# The picture: ranges of other rows ----------------------------------------------------------------


def _neighborhoods(rows: Rows, row: Row) -> list[str]:
    ranks = row["ranks"].partition(" ")[0]
    wanted = {"call": "request", "ranks": ranks, "MPI": row["mpi"], "block": row["case"]}
    (found,) = rows.of("neighborhoods", **wanted)
    return numbers_in(*(found[c] for c in found if c.startswith(("least", "most"))))


def _halos(rows: Rows, row: Row) -> list[str]:
    wanted = {"what": "layout", "against": "packing by plain loops", "MPI": row["mpi"]}
    (found,) = rows.of("halos", **wanted)
    return numbers_in(*list(found.values())[3:])  # by size


def _vectors(rows: Rows, row: Row) -> list[str]:
    ranks = row["ranks"].replace(" ranks", "")
    (found,) = rows.of("vectors", call="tonari_alltoallv_init", ranks=ranks, MPI=row["mpi"])
    return numbers_in(*list(found.values())[3:])  # filling ghosts, and summing


def _in_place(rows: Rows, row: Row) -> list[str]:
    ranks = row["ranks"].replace(" ranks", "")
    (found,) = rows.of("in-place", exchange="symmetric", ranks=ranks, MPI=row["mpi"])
    return numbers_in(found["times as fast"])


def _irregular(rows: Rows, _: Row) -> list[str]:
    """The medians of the runs: in single ones, senders that run ahead make any number."""
    return [found["median"] for found in rows.of("slower")]


SPEEDUPS_OF: dict[str, Callable[[Rows, Row], list[str]]] = {
    "26 neighbors": _neighborhoods,
    "Halo 8 cells wide": _halos,
    "Sparse matrix": _vectors,
    "In place": _in_place,
    "Irregular graphs": _irregular,
}


def speedups(rows: Rows) -> str:
    found = rows.speedups()
    out = StringIO()
    writer = csv.DictWriter(out, found[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return out.getvalue()


# Numbers in sentences -----------------------------------------------------------------------------


def _first(rows: Rows, ranks: str) -> str:
    """The first number of the first page: over both MPIs, for 8 B to 26 neighbors."""
    cases = [r for r in rows.speedups() if r["exchange"] == "26 neighbors" and r["case"] == "8 B"]
    return said(number for r in cases if r["ranks"] == ranks for number in (r["low"], r["high"]))


def _picture(rows: Rows) -> str:
    low, high = ends(number for r in rows.speedups() for number in (r["low"], r["high"]))
    return f"{float(low):.1g} to {high}"


def _missed(rows: Rows, table: str) -> str:
    """Cases that are slower in all runs, cold or remembered."""
    found = rows.of(table)
    highest = [
        min(float(numbers_in(row[state])[-1]) for state in ("cold", "remembered")) for row in found
    ]
    missed = sum(ratio < SLOWER for ratio in highest)
    return f"{counted(missed)} of these {len(found)} cases {'is' if missed == 1 else 'are'}"


def _slower(rows: Rows, block: str) -> list[Row]:
    """Below in all runs."""
    return [row for row in rows.of("slower", block=block) if float(row["most"]) < SLOWER]


def _slower_ratios(rows: Rows) -> str:
    low, high = ends(row["median"] for row in _slower(rows, "8 B"))
    return f"{float(low):.1f} to {float(high):.1f}"


def _far_slower(rows: Rows) -> str:
    """Medians below a half."""
    found = [row["median"] for row in rows.of("slower", block="8 B") if float(row["median"]) < 0.5]
    return f"{counted(len(found))} {float(found[0]):.1f}"


def _hot_spot(rows: Rows) -> str:
    found, _ = rows.of("slower", pattern="hotspot", ranks="8", call="alltoall", block="8 B")
    return f"{found['least']} to {found['most']}"


def _requests_between_hosts(rows: Rows) -> str:
    """How many times as fast requests are as one-shot calls, by middles, where both combine."""

    def middles(call: str) -> list[float]:
        found = rows.of("hosts", call=call)
        return [float(r["least"]) + float(r["most"]) for r in found if r["block"] != "64 KiB"]

    both = zip(middles("request"), middles("one-shot"), strict=True)
    ratios = [request / one_shot for request, one_shot in both]
    return f"{min(ratios):.2f} to {max(ratios):.2f}"


def _first_call(rows: Rows) -> str:
    """In terms of the MPI's way, over ranks, and over the lower and the higher of two medians."""

    def times(call: str) -> list[float]:
        found = rows.of("init", call=call)
        return [float(n) for row in found for n in numbers_in(row["least"], row["most"])]

    both = zip(times("first tonari"), times("MPI_Comm_dup"), strict=True)
    ratios = [ours / its for ours, its in both]
    return f"{min(ratios):.1f} to {max(ratios):.1f}"


def _launch(rows: Rows) -> str:
    (found,) = rows.of(
        "device-halos", **{"exchange on one H100, in us": "a launch that does nothing"}
    )
    low, high = ends(list(found.values())[1:])
    return f"{float(low):.1f} to {float(high):.1f}"


def _device(rows: Rows, above: str, below: str, sizes: int = 6) -> list[float]:
    name = "exchange on one H100, in us"
    (up,), (down,) = (rows.of("device-halos", **{name: word}) for word in (above, below))
    times = [[float(t.replace(",", "")) for t in list(r.values())[1:]] for r in (up, down)]
    return [a / b for a, b in list(zip(*times, strict=True))[:sizes]]


def _packing(rows: Rows) -> str:
    ratios = _device(rows, "gather:", "the driver")
    return f"{min(ratios):.2f} to {max(ratios):.2f}"


def _many_launches(rows: Rows) -> str:
    ratios = _device(rows, "gathers:", "gather:", sizes=3)
    return f"{sum(ratios) / len(ratios):.0f}"


def _streams(rows: Rows) -> str:
    ratios = _device(rows, "tonari-stream", "direct")
    return f"{min(ratios):.2f} to {max(ratios):.1f}"


def _datatypes(rows: Rows) -> str:
    ratios = _device(rows, "datatypes", "tonari-stream")
    return f"1/{min(ratios):.0f} to 1/{round(max(ratios), -1):.0f}"


def _stencil(rows: Rows, storage: str) -> str:
    (found,) = rows.of(
        "device-stencils",
        **{"stencil on one H100, in percent of a copy's speed": f"7 points on {storage}"},
    )
    return found["512^3"]


def _general(rows: Rows) -> str:
    cells = [row["times as fast"] for row in rows.of("in-place", exchange="general")]
    return said(numbers_in(*cells))


def _sums(rows: Rows) -> str:
    (found,) = rows.of("vectors", call="tonari_vector", ranks="2", MPI="MPICH")
    return said(numbers_in(found["summing into owners, times as fast"]))


def _simgrid_near(rows: Rows) -> str:
    found = rows.of("simgrid")
    return f"{sum(map(judged.near, found))} of {len(found)}"


def _simgrid_winners(rows: Rows) -> str:
    cases = judged.by_case(rows.of("simgrid"))
    return f"{sum(map(judged.same_winner, cases))} of {len(cases)}"


def _predicted(rows: Rows, ranks: str) -> str:
    found = rows.of("predictions", ranks=ranks)
    return f"{sum(int(r['within 2x']) for r in found)} of {sum(int(r['ways']) for r in found)}"


def _petsc(rows: Rows, which: Callable[[star_forests.Row], bool] = lambda _: True) -> list[float]:
    return star_forests.ratios([row for row in rows.of("petsc") if which(row)])


DERIVED: dict[str, Callable[[Rows], str]] = {
    "predictions.2": lambda rows: _predicted(rows, "2"),
    "predictions.8": lambda rows: _predicted(rows, "8"),
    "petsc.slower": lambda rows: star_forests.slower(rows.of("petsc")),
    "petsc.least": lambda rows: f"{_petsc(rows)[0]:.2f}",
    "petsc.middle": lambda rows: f"{median(_petsc(rows)):.2f}",
    "petsc.most": lambda rows: f"{_petsc(rows)[-1]:.1f}",
    "petsc.scatters": lambda rows: f"{median(_petsc(rows, star_forests.is_scatter)):.2f}",
    "petsc.copies": lambda rows: f"{median(_petsc(rows, star_forests.copies_its_own)):.2f}",
    "first.2": lambda rows: _first(rows, "2 ranks"),
    "first.8": lambda rows: _first(rows, "8 ranks on 2 cores"),
    "hosts.requests": _requests_between_hosts,
    "first-call": _first_call,
    "device.launch": _launch,
    "slower.hotspot": _hot_spot,
    "regret": lambda rows: _missed(rows, "regret"),
    "regret-work": lambda rows: _missed(rows, "regret-work"),
    "slower.8B": lambda rows: str(len(_slower(rows, "8 B"))),
    "slower.8B.all": lambda rows: str(len(rows.of("slower", block="8 B"))),
    "slower.8B.ratios": _slower_ratios,
    "slower.8B.far": _far_slower,
    "slower.512B": lambda rows: counted(len(_slower(rows, "512 B"))),
    "judged-hosts": lambda rows: judged.hosts_found(rows.of("judged-hosts")),
    "simgrid.near": _simgrid_near,
    "simgrid.winners": _simgrid_winners,
    "in-place.general": _general,
    "vectors.sums": _sums,
    "device.packing": _packing,
    "device.launches": _many_launches,
    "device.streams": _streams,
    "device.datatypes": _datatypes,
    "device.arrays": lambda rows: _stencil(rows, "arrays"),
    "device.bricks": lambda rows: _stencil(rows, "bricks"),
}


# Tables -------------------------------------------------------------------------------------------


def simulated(rows: Rows) -> list[list[str]]:
    """Predicted forward exchanges: messages, words and microseconds; the least of a column bold."""
    found = rows.of("busy-ranks")
    columns = list(dict.fromkeys((row["matrix"], row["ranks"]) for row in found))
    least = {
        column: min(float(r["us"]) for r in found if (r["matrix"], r["ranks"]) == column)
        for column in columns
    }
    lines = [["scheme", *_headings(columns)]]
    for scheme, members in groupby(found, lambda row: row["scheme"]):
        cells = {(r["matrix"], r["ranks"]): _cell(r, least) for r in members}
        lines.append([scheme, *(cells.get(column, "") for column in columns)])
    return lines


def _headings(columns: list[tuple[str, str]]) -> list[str]:
    first = columns[0]
    return [
        f"{matrix}, {ranks} ranks" if (matrix, ranks) == first else f"{matrix}, {ranks}"
        for matrix, ranks in columns
    ]


def _cell(row: Row, least: dict[tuple[str, str], float]) -> str:
    best = float(row["us"]) == least[row["matrix"], row["ranks"]]
    time = f"**{row['us']}**" if best else row["us"]
    return f"{row['messages']}, {row['words']}, {time}"


def thesis(rows: Rows) -> list[list[str]]:
    """Messages of the average and of the bottleneck processor."""
    found = rows.of("thesis")
    columns = list(dict.fromkeys(row["by"] for row in found))
    lines = [["Table 6.3", *columns]]
    for stage, members in groupby(found, lambda row: row["stage"]):
        cells = {r["by"]: f"{r['average']}, {r['bottleneck']}" for r in members}
        lines.append([stage, *(cells[column] for column in columns)])
    return lines


def sharing_means(rows: Rows) -> list[list[str]]:
    """A scheme, and what balanced has relative to it."""
    heads = [
        "scheme",
        "messages, words",
        "`balanced` with no more words: messages, words",
        "with no more messages: messages, words",
    ]
    lines = [heads]
    for row in rows.of("sharing-means"):
        scheme, *numbers = row.values()
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        lines.append([f"`{scheme}`", *(", ".join(pair) for pair in pairs)])
    return lines


def real_programs(rows: Rows) -> list[list[str]]:
    """Medians: of a program with several exchanges, the least and the largest one."""
    lines = [["program", "measured", "MPI", "ranks", "by the MPI", "by tonari"]]
    for (program, unit, mpi, ranks), members in groupby(rows.of("real-programs"), _measured):
        found = list(members)
        many = f"us, {len(found)} exchanges" if len(found) > 1 else unit
        medians = [
            said(row[whose].partition(" ")[0] for row in found)
            for whose in ("by the MPI", "by tonari")
        ]
        lines.append([program, many, mpi, ranks, *medians])
    return lines


def _measured(row: Row) -> tuple[str, str, str, str]:
    program, _, _ = row["program"].partition(",")
    unit = "us, an exchange" if "message" in row["measured"] else row["measured"]
    return program, unit, row["MPI"], row["ranks"]


def predictions(rows: Rows) -> list[list[str]]:
    found = rows.of("predictions")
    shown = [
        [
            f"{row['pattern']}, {row['ranks']} ranks, {row['block']}",
            f"{row['within 2x']} of {row['ways']}",
            f"{row['least']} to {row['most']}",
        ]
        for row in found
    ]
    return [["exchange", "within a factor of two", "measured/predicted"], *shown]


def turns(rows: Rows) -> list[list[str]]:
    """Of each claim what is the fastest, and what is with another o, L or G."""
    found = rows.of("turns")
    heads = {"o": "other o", "L": "other L", "G": "other G"}
    return [[heads.get(name, name) for name in found[0]], *(list(row.values()) for row in found)]


TABLES: dict[str, Callable[[Rows], list[list[str]]]] = {
    "petsc": lambda rows: star_forests.table(rows.of("petsc")),
    "predictions": predictions,
    "busy-ranks": simulated,
    "thesis": thesis,
    "sharing-means": sharing_means,
    "real-programs": real_programs,
    "simgrid": lambda rows: judged.simgrid(rows.of("simgrid")),
    "judged-hosts": lambda rows: judged.hosts(rows.of("judged-hosts")),
    "turns": turns,
    "loggopsim": lambda rows: judged.loggopsim(rows.of("loggopsim")),
}


def as_markdown(lines: list[list[str]]) -> str:
    head, *body = (f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in lines)
    body = [line.replace("|  |", "| |") for line in body]  # two empty cells in a row
    return "\n".join([head, "|---" * len(lines[0]) + "|", *body]) + "\n"


# Pages --------------------------------------------------------------------------------------------


def pages(root: Path) -> list[Path]:
    """Decisions are what was seen when they were made, and stay as they are."""
    found = sorted((root / "docs").rglob("*.md"))
    return [root / "README.md", *(page for page in found if page.parent.name != "adr")]


def shown(rows: Rows) -> dict[str, str]:
    """By name: each number that a page may have."""
    own = {row["name"]: row["shown"] for row in rows.of("numbers")}
    return own | {name: number(rows) for name, number in DERIVED.items()}


def placed(number: str, old: str) -> str:
    """With the breaks of lines that the old one has."""
    gaps = re.findall(r"\s+", old)
    words = number.split()
    if len(gaps) != len(words) - 1:
        return number
    return "".join(part for pair in zip(words, [*gaps, ""], strict=True) for part in pair)


def written(text: str, rows: Rows, numbers: dict[str, str]) -> str:
    """A page with the numbers of the rows. Where a line breaks does not matter."""
    text = INLINE.sub(lambda m: f"{m[1]}-->{placed(numbers[m[1]], m[2])}", text)
    text = TABLE.sub(lambda m: f"{m[1]} -->\n{as_markdown(TABLES[m[1]](rows))}", text)
    return ALT.sub(_picture(rows), text)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Writes what was measured into the pages.")
    parser.add_argument("--check", action="store_true", help="only say whether all is written")
    parser.add_argument("--root", type=Path, default=ROOT, help="of the checkout to look at")
    options = parser.parse_args(arguments)
    root, stale = options.root, []

    def put(path: Path, wanted: str) -> None:
        if path.read_text(encoding="utf-8") == wanted:
            return
        stale.append(str(path.relative_to(root)))
        if not options.check:
            path.write_text(wanted, encoding="utf-8")

    put(root / SPEEDUPS, speedups(Rows(root)))
    rows = Rows(root)
    numbers = shown(rows)
    for page in pages(root):
        put(page, written(page.read_text(encoding="utf-8"), rows, numbers))
    own = ["--root", str(root), *(["--check"] if options.check else [])]
    drawn = draw_speedups.main(own)
    if stale and options.check:
        print(f"not what the rows give: {', '.join(stale)}; run tools/write_numbers.py")
    return int(bool(stale and options.check)) or drawn


if __name__ == "__main__":
    sys.exit(main())
