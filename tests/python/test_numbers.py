# SPDX-License-Identifier: BSD-3-Clause
"""Numbers that pages claim as measured: each has a row, and is what its row says."""

from __future__ import annotations

import csv
import re
import shutil
import statistics
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tools"))

import measure_numbers as measuring  # noqa: E402
import write_numbers as numbers  # noqa: E402

FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
MARKED = re.compile(r"<!--=([\w.-]+)-->(.*?)<!--/-->", re.S)
TABLE = re.compile(r"^<!-- rows: ([\w-]+) -->\n(.*?)^<!-- /rows -->", re.M | re.S)
# How numbers that were measured look.
CLAIM = re.compile(
    r"\d[\d.,/]*(?: (?:to|and) [\d.,/]+)?\s(?:us|µs|ns|ms|TB/s|GB/s|instructions|%|times)(?![\w-])"
)
# What looks like it, and was not measured: what code does, examples, and words that explain.
NOT_MEASURED = {
    "docs/benchmark.md": ["5 µs", "10 %", "5 %", "1.57 times", "10 µs"],
    "docs/explanation/busy-ranks.md": ["3 %"],
    "docs/explanation/channels.md": ["50 us", "20 ms", "0.2 ms", "2 ms", "50 us"],
    "docs/explanation/choosing.md": ["4.9 us", "5.5 us", "61 us", "4.6 us"],
    "docs/howto/advise.md": ["1 %"],
    "docs/howto/gpu-memory.md": ["26 times"],
    "docs/performance.md": ["13 times", "50 us", "0.9 times"],
}
MEANS = ("messages", "words", "fewest messages", "their words", "messages there", "fewest words")


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def digits(text: str) -> list[float]:
    return [float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


def table_rows(name: str, root: Path = SOURCE) -> list[dict[str, str]]:
    with (root / numbers.ROWS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_pages_and_pictures_are_what_the_rows_give() -> None:
    assert numbers.main(["--check"]) == 0


def test_every_number_in_a_sentence_is_that_of_its_row() -> None:
    rows = {row["name"]: row["shown"] for row in table_rows("numbers")}
    found = [m.groups() for page in numbers.pages(SOURCE) for m in MARKED.finditer(text_of(page))]
    for name, shown in found:
        if name in rows:
            assert digits(shown) == digits(rows[name]), name
    counts = Counter(name for name, _ in found)
    assert set(counts) == {*rows, *numbers.DERIVED}, "a row without a page, or a page without a row"
    assert rows.keys() & numbers.DERIVED.keys() == set()


def test_every_number_of_a_table_is_that_of_its_row() -> None:
    tables = [table for page in numbers.pages(SOURCE) for table in TABLE.findall(text_of(page))]
    found = dict(tables)
    assert sorted(name for name, _ in tables) == sorted(numbers.TABLES)
    for name, columns in (
        ("busy-ranks", ("messages", "words", "us")),
        ("thesis", ("average", "bottleneck")),
        ("sharing-means", MEANS),
    ):
        lines = found[name].splitlines()[2:]
        shown = [n for line in lines for n in digits(line.strip("| ").partition("|")[2])]
        assert shown == [float(row[c]) for row in table_rows(name) for c in columns]


def test_real_programs_are_shown_by_their_medians() -> None:
    (page,) = [
        page for page in numbers.pages(SOURCE) if "<!-- rows: real-programs" in text_of(page)
    ]
    lines = dict(TABLE.findall(text_of(page)))["real-programs"].splitlines()[2:]
    medians: dict[tuple[str, str, str], list[float]] = {}
    for row in table_rows("real-programs"):
        of = row["program"].partition(",")[0], row["MPI"], row["ranks"]
        both = [digits(row[whose])[0] for whose in ("by the MPI", "by tonari")]
        medians.setdefault(of, []).extend(both)
    assert len(lines) == len(medians)
    for line, ((program, mpi, ranks), shown) in zip(lines, medians.items(), strict=True):
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        assert (cells[0], cells[2], cells[3]) == (program, mpi, ranks)
        assert digits(cells[4])[0] == min(shown[::2]) and digits(cells[4])[-1] == max(shown[::2])
        assert digits(cells[5])[0] == min(shown[1::2]) and digits(cells[5])[-1] == max(shown[1::2])


def test_predictions_and_scatters_are_counted() -> None:
    """Once more, without the script."""
    shown = numbers.shown(numbers.Rows(SOURCE))
    for ranks in ("2", "8"):
        found = [row for row in table_rows("predictions") if row["ranks"] == ranks]
        near = sum(int(row["within 2x"]) for row in found)
        assert digits(shown[f"predictions.{ranks}"]) == [near, 16 * len(found)]
    ratios, of_scatters, of_copies = [], [], []
    for row in table_rows("petsc"):
        basic, neighbor, ours = (
            digits(row[f"{t}, us"])[0] for t in ("basic", "neighbor", "tonari")
        )
        ratios.append(min(basic, neighbor) / ours)
        words = row["exchange"].split("/")
        if len(words) == 3:
            of_scatters.append(ratios[-1])
            if row["ranks"] == "2" and words[0] != "local-to-local":
                of_copies.append(ratios[-1])
    assert (len(of_scatters), len(of_copies)) == (72, 24)
    for name, some in (("petsc.scatters", of_scatters), ("petsc.copies", of_copies)):
        assert float(shown[name]) == pytest.approx(statistics.median(some), abs=0.005)
    assert digits(shown["petsc.slower"]) == [sum(r < 1 for r in ratios), len(ratios)]
    assert float(shown["petsc.least"]) == pytest.approx(min(ratios), abs=0.005)
    assert float(shown["petsc.most"]) == pytest.approx(max(ratios), abs=0.05)
    middle = float(shown["petsc.middle"])
    half = len(ratios) // 2
    assert sum(r < middle - 0.005 for r in ratios) <= half <= sum(r < middle + 0.02 for r in ratios)


def test_what_simgrid_says_is_counted() -> None:
    """Once more, without the scripts."""
    rows = table_rows("simgrid")
    near = [r for r in rows if 0.9 <= float(r["tonari_us"]) / float(r["smpi_us"]) <= 1.1]
    shown = numbers.shown(numbers.Rows(SOURCE))
    assert shown["simgrid.near"] == f"{len(near)} of {len(rows)}"
    cases: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        cases.setdefault((row["pattern"], row["ranks"], row["bytes"]), []).append(row)
    same = 0
    for some in cases.values():
        ours = min(some, key=lambda row: float(row["tonari_us"]))
        same += float(ours["smpi_us"]) <= 1.01 * min(float(row["smpi_us"]) for row in some)
    assert shown["simgrid.winners"] == f"{same} of {len(cases)}"
    assert same >= 0.9 * len(cases)
    table = dict(TABLE.findall(text_of(SOURCE / "docs/explanation/simulator.md")))["simgrid"]
    plans = [line.split("|")[3].split() for line in table.splitlines()[2:]]
    assert sum(int(cells[0]) for cells in plans) == len(near)
    assert sum(int(cells[2]) for cells in plans) == len(rows)


def test_the_fastest_of_each_column_is_bold() -> None:
    rows = table_rows("busy-ranks")
    least: dict[tuple[str, str], float] = {}
    for row in rows:
        at = row["matrix"], row["ranks"]
        least[at] = min(least.get(at, float(row["us"])), float(row["us"]))
    page = text_of(SOURCE / "docs/explanation/busy-ranks.md")
    bold = re.findall(r"\*\*([\d.]+)\*\*", dict(TABLE.findall(page))["busy-ranks"])
    assert sorted(map(float, bold)) == sorted(least.values())


def test_what_the_slower_cases_are_is_counted() -> None:
    """Once more, without the script."""
    of_8 = [row for row in table_rows("slower") if row["block"] == "8 B"]
    slower = [float(row["median"]) for row in of_8 if float(row["most"]) < 0.95]
    shown = numbers.shown(numbers.Rows(SOURCE))
    assert shown["slower.8B"] == str(len(slower)) and shown["slower.8B.all"] == str(len(of_8))
    assert digits(shown["slower.8B.ratios"]) == [round(min(slower), 1), round(max(slower), 1)]


def test_the_alternative_of_the_picture_has_its_range() -> None:
    for page in (SOURCE / "README.md", SOURCE / "docs/index.md", SOURCE / "docs/performance.md"):
        (said,) = re.findall(
            r'alt="Speed-ups over MPI, from ([\d.]+) to ([\d.]+) times"', text_of(page)
        )
        rows = numbers.Rows(SOURCE).speedups()
        assert float(said[0]) == pytest.approx(min(float(row["low"]) for row in rows), abs=0.05)
        assert float(said[1]) == max(float(row["high"]) for row in rows)


@pytest.mark.parametrize(
    "page", numbers.pages(SOURCE), ids=lambda page: str(page.relative_to(SOURCE))
)
def test_numbers_that_look_measured_have_rows(page: Path) -> None:
    name = str(page.relative_to(SOURCE))
    prose = FENCED.sub("", text_of(page))
    prose = numbers.ALT.sub("", TABLE.sub("", MARKED.sub("", prose)))
    for title, body in re.findall(r"^\| (.*?) .*\n\|[-|]+\n((?:\|.*\n)+)", prose, re.M):
        cells = [c for line in body.splitlines() for c in line.strip("| ").split("|")[1:]]
        if sum(c.strip()[:1].isdigit() for c in cells) > len(cells) / 2:
            pytest.fail(f"{name}: a table of numbers without rows: {title}")
    claims = [" ".join(c.split()) for c in CLAIM.findall(re.sub(r"^\|.*\n", "", prose, flags=re.M))]
    assert claims == NOT_MEASURED.get(name, [])


@pytest.mark.parametrize("page", numbers.pages(SOURCE), ids=lambda page: page.stem)
def test_no_line_begins_with_a_mark(page: Path) -> None:
    """It would end the paragraph."""
    assert not re.search(r"^ *<!--[=/]", text_of(page), re.M)


def test_every_file_says_how_it_was_measured() -> None:
    sources = {row["file"]: row for row in table_rows("sources")}
    files = {path.stem for path in (SOURCE / numbers.ROWS).glob("*.csv")}
    assert sources.keys() == files - {"sources", "numbers"}
    for row in [*sources.values(), *table_rows("numbers")]:
        assert all(row.values()), row
        assert re.fullmatch(r"0\.1\.0 \(2026-\d\d-\d\d, [0-9a-f]{8}\)", row["version"]), row
    for name in sources:
        for row in table_rows(name):
            mpi = row.get("MPI", "")
            assert mpi.split(" 4")[0] in sources[name]["MPI"], f"{name}: {mpi}"


# tools/measure_numbers.py measures them again.
def test_numbers_have_the_runs_that_gave_them() -> None:
    rows = table_rows("numbers")
    assert not [r["name"] for r in rows if r["kept"] == "as the page had it"]
    for row in rows:
        if row["kept"].startswith(measuring.KEPT):
            runs = sorted(digits(row["kept"]))
            assert len(runs) >= 3 and set(digits(row["shown"])) <= {runs[0], runs[-1]}, row


def test_what_is_measured_is_said_with_two_digits_and_its_unit() -> None:
    said = measuring.shown
    assert said("halo.mapped", [0.2649, 12.34, 1]) == "0.26 to 12 us"
    assert said("spmv.share", [0.474, 0.58]) == "0.47 to 0.58 %"
    assert said("moore33.8B", [103.7]) == "104"
    row = {"name": "in-place.second.8", "MPI": "Open MPI 4.1.4", "ranks": "8 and 16"}
    asked = [words[-5:] for words in measuring.commands(row)]
    assert asked == [["--mpi", "openmpi", "--ranks", n, "--json"] for n in ("8", "16")]


def test_products_are_compared_with_the_fastest_of_mpi() -> None:
    rows = [
        {"kind": kind, "candidate": name, "median_us": time, "verified": True}
        for kind, name, time in (
            ("rows", "irecv", 6), ("rows", "native", 5), ("rows", "auto", 1),
            ("rows", "vector/direct", 4), ("columns", "irecv", 8), ("columns", "native", 9),
            ("columns", "vector/direct", 10), ("forward", "native", 1),
        )
    ]  # fmt: skip
    assert measuring.products(rows) == [5 / 4, 8 / 10]


def test_what_a_run_gives_is_a_ratio_of_its_own_rows() -> None:
    rows = [
        {"algorithm": name, "bytes": 8, "median_us": time, "verified": right}
        for name, time, right in (
            ("auto", 2.0, True),
            ("native", 9.0, True),
            ("native-persistent", 1.0, False),
            ("irecv", 7.0, True),
            ("counts", 3.0, True),
        )
    ]
    assert measuring.whole_neighborhood(rows[:4], 8) == [3.5]
    assert measuring.sparse(rows, 8) == [1.5]
    with pytest.raises(AssertionError):
        measuring.median(rows, algorithm="native-persistent")


@pytest.mark.parametrize("name", [row["file"] for row in table_rows("sources")])
def test_commands_are_those_of_the_pages(name: str) -> None:
    (command,) = [row["command"] for row in table_rows("sources") if row["file"] == name]
    pages = " ".join(text_of(page) for page in numbers.pages(SOURCE))
    plain = " ".join(pages.replace("\\\n", " ").split())
    assert command.removeprefix("./").removesuffix(" FILE...") in plain


# What is changed by hand shows


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copy(SOURCE / "README.md", tmp_path)
    keep = shutil.ignore_patterns("adr", "*.bib")
    shutil.copytree(SOURCE / "docs", tmp_path / "docs", ignore=keep)
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = text_of(path)
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


# Each changes what is shown on pages.
CHANGED_ROWS = [
    ("numbers", "0.41 to 0.99 us", "0.41 to 1.2 us", ["docs/performance.md"]),
    ("numbers", "13 s of one", "14 s of one", ["docs/howto/simulate.md"]),
    ("hosts", "8 B,1.8,2.0", "8 B,1.2,2.0", ["docs/performance.md"]),
    ("busy-ranks", "70.4", "70.5", ["docs/explanation/busy-ranks.md"]),
    ("thesis", "187.6", "187.7", ["docs/explanation/busy-ranks.md"]),
    ("sharing-means", "sharing-1,39.2", "sharing-1,39.3", ["docs/explanation/busy-ranks.md"]),
    ("regret", "0.77 to 1.01", "0.77 to 0.90", ["docs/performance.md"]),
    ("slower", "0.64,0.88,0.94", "0.64,0.88,0.96", ["README.md", "docs/performance.md"]),
    ("device-halos", "80.4", "90.4", ["docs/performance.md"]),
    (
        "neighborhoods",
        "18,19,11,12",
        "18,25,9,12",
        ["docs/figures/speedups.csv", "README.md", "docs/index.md", "docs/performance.md"],
    ),
]


@pytest.mark.parametrize(("row", "old", "new", "pages"), CHANGED_ROWS)
def test_a_row_that_was_changed_is_noticed(
    row: str,
    old: str,
    new: str,
    pages: list[str],
    copy: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    change(copy / numbers.ROWS / f"{row}.csv", old, new)
    assert numbers.main(["--check", "--root", str(copy)]) == 1
    said = capsys.readouterr().out
    assert all(page in said for page in pages), said


def test_rows_that_were_changed_are_written(copy: Path) -> None:
    """All at once, since each writing draws all pictures."""
    for row, old, new, _ in CHANGED_ROWS:
        change(copy / numbers.ROWS / f"{row}.csv", old, new)
    assert numbers.main(["--root", str(copy)]) == 0
    for page in {page for *_, pages in CHANGED_ROWS for page in pages}:
        assert text_of(copy / page) != text_of(SOURCE / page), page
    assert numbers.main(["--check", "--root", str(copy)]) == 0


CHANGED_PAGES = [
    ("README.md", "11 to 21<", "11 to 22<"),
    ("README.md", "from 0.1 to 21 times", "from 0.1 to 22 times"),
    ("docs/howto/simulate.md", "137 s and", "136 s and"),
    ("docs/explanation/busy-ranks.md", "| 43, 1.59, 52.8 |", "| 43, 1.59, 2.8 |"),
    ("docs/performance.md", "-->11<!--/-->", "-->12<!--/-->"),
]


@pytest.mark.parametrize(("page", "old", "new"), CHANGED_PAGES)
def test_a_page_that_was_changed_is_noticed(page: str, old: str, new: str, copy: Path) -> None:
    change(copy / page, old, new)
    assert numbers.main(["--check", "--root", str(copy)]) == 1


def test_pages_that_were_changed_are_written_again(copy: Path) -> None:
    for page, old, new in CHANGED_PAGES:
        change(copy / page, old, new)
    assert numbers.main(["--root", str(copy)]) == 0
    for page, *_ in CHANGED_PAGES:
        assert text_of(copy / page) == text_of(SOURCE / page)


def test_where_a_line_breaks_does_not_matter(copy: Path) -> None:
    change(copy / "README.md", "11 to 21<", "11\nto 21<")
    assert numbers.main(["--check", "--root", str(copy)]) == 0


def test_ends_are_written_as_in_the_rows() -> None:
    assert numbers.said(["2.0", "10", "1.55"]) == "1.55 to 10"
    assert numbers.said(["1.0", "1.0"]) == "1.0"
    assert [low for low, _ in pairwise(map(numbers.counted, range(12)))][9:] == ["nine", "10"]
