# SPDX-License-Identifier: BSD-3-Clause
"""The picture of README.md: it is what the rows give, which are what docs/performance.md says."""

from __future__ import annotations

import csv
import re
import shutil
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tools"))

import draw_speedups as draw  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
ROWS = draw.read(SOURCE / draw.FOLDER / "speedups.csv")


def test_the_pictures_are_what_the_rows_give() -> None:
    assert draw.main(["--check"]) == 0


@pytest.mark.parametrize("file", ["README.md", "docs/index.md", "docs/performance.md"])
def test_light_and_dark_pages_have_theirs(file: str) -> None:
    text = (SOURCE / file).read_text(encoding="utf-8")
    found = re.search(r'srcset="(.*?)".*?<img[^>]* src="(.*?)"', text, re.S)
    assert found
    for path, theme in ((found[1], "dark"), (found[2], "light")):
        assert ((SOURCE / file).parent / path).resolve() == (
            SOURCE / draw.FOLDER / f"speedups-{theme}.svg"
        )


def test_a_stale_picture_is_noticed_and_drawn_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(SOURCE / draw.FOLDER, tmp_path / draw.FOLDER)
    rows = tmp_path / draw.FOLDER / "speedups.csv"
    text = rows.read_text(encoding="utf-8")
    higher = re.sub(r",(\d+)\n", lambda most: f",{int(most[1]) + 1}\n", text, count=1)
    rows.write_text(higher, encoding="utf-8")
    assert draw.main(["--check", "--root", str(tmp_path)]) == 1
    assert "run tools/draw_speedups.py" in capsys.readouterr().out
    assert draw.main(["--root", str(tmp_path)]) == 0
    assert draw.main(["--check", "--root", str(tmp_path)]) == 0


each_layout = pytest.mark.parametrize("layout", draw.LAYOUTS, ids=["wide", "narrow"])


@each_layout
@pytest.mark.parametrize("theme", draw.THEMES, ids=lambda theme: theme.name)
def test_bars_are_where_their_numbers_are(theme: draw.Theme, layout: draw.Layout) -> None:
    tree = ElementTree.fromstring(draw.drawing(ROWS, theme, layout))
    x_of = layout.x_of
    assert x_of(2) - x_of(1) == pytest.approx(x_of(1) - x_of(0.5), abs=0.2)
    bars = [rect for rect in tree.iter(f"{SVG}rect") if rect.get("width") != "18"]
    assert len(bars) == len(ROWS)
    for rect, row in zip(bars, ROWS, strict=True):
        left, width = float(rect.get("x", "")), float(rect.get("width", ""))
        assert left + width / 2 == pytest.approx((x_of(row.low) + x_of(row.high)) / 2, abs=0.2)
        assert width == pytest.approx(max(draw.BAR, x_of(row.high) - x_of(row.low)), abs=0.2)
        assert rect.get("fill") == theme.mpis[draw.MPIS.index(row.mpi)]
    words = [element.text for element in tree.iter(f"{SVG}text")]
    for row in ROWS:
        assert row.said in words and f"{row.case}, {row.ranks}" in words and row.exchange in words


@each_layout
def test_no_words_leave_the_picture_or_touch_each_other(layout: draw.Layout) -> None:
    """By the average width of characters in DejaVu Sans, which is a wide font."""
    tree = ElementTree.fromstring(draw.drawing(ROWS, draw.THEMES[0], layout))
    lines: dict[float, list[tuple[float, float]]] = defaultdict(list)
    for element in tree.iter(f"{SVG}text"):
        average = 0.58 if element.get("font-weight") else 0.52
        wide = average * float(element.get("font-size", "13")) * len(element.text or "")
        x, anchor = float(element.get("x", "")), element.get("text-anchor")
        start = x - {"end": wide, "middle": wide / 2}.get(anchor or "", 0)
        assert start >= 0 and start + wide <= layout.width, element.text
        lines[float(element.get("y", ""))].append((start, start + wide))
    for spans in lines.values():
        for (_, end), (start, _) in pairwise(sorted(spans)):
            assert end < start


def test_a_phone_shows_the_narrow_picture_without_making_it_smaller() -> None:
    """Of 390 pixels, the page's margins take 16 on each side."""
    assert draw.NARROW.width <= 390 - 2 * 15
    sizes = re.findall(r'font-size="(\d+)"', draw.drawing(ROWS, draw.THEMES[0], draw.NARROW))
    assert min(map(int, sizes)) >= 11


def rows_of(table: str, **wanted: str) -> list[dict[str, str]]:
    """Rows of a file of docs/performance whose cells begin with these words, by column."""
    with (SOURCE / "docs/performance" / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return [
            cells
            for cells in csv.DictReader(file)
            if all(cells[column].startswith(word) for column, word in wanted.items())
        ]


def numbers_of(*cells: str) -> list[float]:
    return [float(number) for cell in cells for number in re.findall(r"\d+(?:\.\d+)?", cell)]


def of_neighborhoods(row: draw.Row) -> list[float]:
    ranks = row.ranks.partition(" ")[0]
    (found,) = rows_of("neighborhoods", call="request", ranks=ranks, MPI=row.mpi, block=row.case)
    return numbers_of(*(found[column] for column in found if column.startswith(("least", "most"))))


def of_halos(row: draw.Row) -> list[float]:
    (found,) = rows_of("halos", what="layout", against="packing by plain loops", MPI=row.mpi)
    return numbers_of(*list(found.values())[3:])  # by size


def of_vectors(row: draw.Row) -> list[float]:
    ranks = row.ranks.replace(" ranks", "")
    (found,) = rows_of("vectors", call="tonari_alltoallv_init", ranks=ranks, MPI=row.mpi)
    return numbers_of(*list(found.values())[3:])  # filling ghosts, and summing


def in_place(row: draw.Row) -> list[float]:
    ranks = row.ranks.replace(" ranks", "")
    (found,) = rows_of("in-place", exchange="symmetric", ranks=ranks, MPI=row.mpi)
    return numbers_of(found["times as fast"])


def of_irregular_graphs(_: draw.Row) -> list[float]:
    """The medians of the runs: in single ones, senders that run ahead make any number."""
    return [float(found["median"]) for found in rows_of("slower")]


SOURCES = {
    "26 neighbors": of_neighborhoods,
    "Halo 8 cells wide": of_halos,
    "Sparse matrix": of_vectors,
    "In place": in_place,
    "Irregular graphs": of_irregular_graphs,
}


@pytest.mark.parametrize(
    "row", ROWS, ids=lambda row: f"{row.exchange}, {row.case}, {row.ranks}, {row.mpi}"
)
def test_every_range_is_that_of_the_rows_that_were_measured(row: draw.Row) -> None:
    found = SOURCES[row.exchange](row)
    assert (row.low, row.high) == (min(found), max(found))


@pytest.mark.parametrize("file", ["README.md", "docs/index.md"])
def test_the_first_numbers_are_those_of_the_rows(file: str) -> None:
    """Over both MPIs, for 8 B to 26 neighbors."""
    text = (SOURCE / file).read_text(encoding="utf-8")
    shown = re.findall(r"([\d.]+) to ([\d.]+)\W+times", text.split("<picture>")[0])
    rows = [row for row in ROWS if row.exchange == "26 neighbors" and row.case == "8 B"]
    expected = []
    for ranks in ("2 ranks", "8 ranks on 2 cores"):
        found = [row for row in rows if row.ranks == ranks]
        expected.append((min(row.low for row in found), max(row.high for row in found)))
    assert [(float(low), float(high)) for low, high in shown] == expected


@pytest.mark.parametrize(
    ("row", "number"),
    [("x,1,y,Cray,1,2", "MPI"), ("x,1,y,MPICH,2,1", "low"), ("x,1,y,MPICH,0,1", "low")],
)
def test_rows_that_cannot_be_drawn_are_refused(row: str, number: str, tmp_path: Path) -> None:
    file = tmp_path / "speedups.csv"
    file.write_text(f"exchange,ranks,case,mpi,low,high\n{row}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=number):
        draw.read(file)
