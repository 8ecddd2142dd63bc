# SPDX-License-Identifier: BSD-3-Clause
"""tonari reproduce: steps that are kept, fail or are interrupted, and the report. What the commands
print is made up at random; `make test-all` runs them, in the short form."""

from __future__ import annotations

import json
import random
import re
import sys
from html import unescape
from pathlib import Path
from unittest import mock

import pytest
from built import CONFIG
from command_line import call, printed, refused
from made_up_rows import rows
from terminal import interrupted_when
from tonari.errors import INTERNAL, Error
from tonari.interruptible import Interrupted
from tonari.reproduce import make as making
from tonari.reproduce import papers, published
from tonari.reproduce import run as running
from tonari.reproduce.figures import AGREES, DIFFERS, RAN, SHAPE, Here, Step
from tonari.reproduce.keep import Keep
from tonari.reproduce.outcome import FAILED, LEFT_OUT, outcome
from tonari.reproduce.report import page as pages
from tonari.reproduce.report.front import lacking
from tonari.reproduce.report.plots import drawings, sweep_drawings
from tonari.reproduce.run import Made, plan, run

PAPERS = papers.papers()
FIGURES = [(paper, figure) for paper in PAPERS for figure in paper.figures]
every_figure = pytest.mark.parametrize(
    "paper, figure", FIGURES, ids=lambda f: getattr(f, "number", "") or f.key
)
KINDS = {AGREES, SHAPE, DIFFERS}


@pytest.fixture
def here(tmp_path: Path) -> Here:
    return Here(short=True, mpis=("openmpi", "mpich"), scratch=tmp_path)


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that were called, which print made-up rows. No plotly: it is large."""
    numbers, calls = random.Random(1), []

    def made_up(arguments: list[str]) -> list[dict]:
        calls.append(arguments)
        return rows(arguments, numbers)

    monkeypatch.setattr(running, "call", made_up)
    monkeypatch.setattr(pages, "plotly", lambda: "")
    monkeypatch.setattr(making, "check_plotly", lambda: None)
    return calls


def of(paper, figure, here: Here, seed: int) -> Made:
    numbers = random.Random(seed)
    made = Made(paper, figure, steps=figure.steps(here), sweeps=figure.sweeps(here))
    for step in (*made.steps, *made.sweeps):
        made.rows[step.name] = rows(step.arguments, numbers)
    return made


@every_figure
@pytest.mark.parametrize("short", [True, False])
def test_each_figure_has_a_verdict_that_follows_its_numbers(paper, figure, short, tmp_path):
    here = Here(short, ("openmpi", "mpich"), root=True, scratch=tmp_path)
    with mock.patch("tonari.reproduce.papers.hoefler_stencils.write_random"):
        found = [outcome(of(paper, figure, here, seed)) for seed in range(12)]
    assert all(one.kind in KINDS and one.sentence.endswith(".") for one in found)
    assert len({one.sentence for one in found}) > 1
    assert all(point.how and point.y > 0 for one in found for point in one.points)
    with mock.patch("tonari.reproduce.papers.hoefler_stencils.write_random"):
        names = [step.name for step in (*figure.steps(here), *figure.sweeps(here))]
    assert len(names) == len(set(names))


@every_figure
def test_a_step_that_is_missing_fails_its_figure_at_most(paper, figure, here):
    for step in figure.steps(here):
        made = of(paper, figure, here, 2)
        del made.rows[step.name]
        made.failed = {step.name: "there is no room"}
        one = outcome(made)
        assert one.kind in KINDS | {FAILED} and "in 0 of 0" not in one.sentence
        assert one.kind != FAILED or one.sentence.startswith(f"{step.name} failed, so ")


@every_figure
def test_without_a_row_a_figure_has_failed(paper, figure, here):
    made = Made(paper, figure, steps=figure.steps(here))
    made.failed = {step.name: "there is no room" for step in made.steps}
    one = outcome(made)
    assert one.kind == FAILED and not one.points
    assert " failed, so " in one.sentence


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.key)
def test_published_numbers_say_where_they_are_from(paper):
    for figure in paper.figures:
        claims = published.read(figure.published)
        assert claims
        for row in claims:
            assert row.place and row.unit, row
            assert row.text or row.panel != published.TEXT, row
    assert not paper.headline or paper.headline in [figure.number for figure in paper.figures]


def test_numbers_of_table_2_of_traeff_are_all_there():
    table = published.read("traeff-table2")
    assert len(table) == 4 * 4 * 3
    assert {row.panel for row in table} == {f"{d} dimensions" for d in (2, 3, 4, 5)}


def test_plotly_takes_the_plots(here):
    graph = pytest.importorskip("plotly.graph_objects")
    for paper, figure in FIGURES[:3]:
        one = outcome(of(paper, figure, here, 3))
        drawn = [*drawings(one), *(d for sweep in one.sweeps for d in sweep_drawings(sweep))]
        assert drawn
        for drawing in drawn:
            graph.Figure(drawing)  # refuses a word that plotly does not know


def test_rows_are_kept_for_the_same_command_of_the_same_version(tmp_path, monkeypatch):
    keep, step = Keep(tmp_path / "deep"), Step("bench it", ("bench", "moore:2:1"), "ran")
    assert keep.load("a figure", step) is None
    keep.save("a figure", step, [{"bytes": 8}])
    assert keep.load("a figure", step) == [{"bytes": 8}]
    assert keep.load("a figure", Step("bench it", ("bench", "moore:3:1"), "ran")) is None
    file = keep.path("a figure", step)
    whole = file.read_text()
    for broken in (whole[:-20], "", "[]", '{"tonari": 1}'):
        file.write_text(broken)
        assert keep.load("a figure", step) is None
    file.write_text(whole)
    monkeypatch.setattr("tonari.reproduce.keep.__version__", "0.0.0")
    assert keep.load("a figure", step) is None


def test_what_was_interrupted_goes_on_where_it_was(tmp_path, here, called, monkeypatch):
    made = plan(PAPERS[:1], here)
    whole = sum(len(one.steps) + len(one.sweeps) for one in made)
    made_up = running.call

    def stopped(arguments: list[str]) -> list[dict]:
        if len(called) == 3:
            raise KeyboardInterrupt
        return made_up(arguments)

    monkeypatch.setattr(running, "call", stopped)
    with pytest.raises(Interrupted, match=rf"^stopped; 3 of {whole} steps are kept in .* goes on"):
        run(made, Keep(tmp_path))
    monkeypatch.setattr(running, "call", made_up)
    before = list(called)
    run(plan(PAPERS[:1], here), Keep(tmp_path))
    assert len(called) == whole and not any(again in before for again in called[3:])
    run(plan(PAPERS[:1], here), Keep(tmp_path))
    assert len(called) == whole


def reproduce(folder: Path, *arguments: str, status: int = 0) -> tuple[list[dict], str]:
    """The rows of the short form, and then the page."""
    words = ("reproduce", "--short", "--folder", str(folder), *arguments)
    rows, page = call(*words, "--json"), call(*words)
    assert rows.returncode == page.returncode == status, rows.stderr + page.stderr
    return json.loads(rows.stdout), (folder / "report.html").read_text(encoding="utf-8")


def told(row: dict, page: str) -> bool:
    """Whether the page has all that the row's sentence says."""
    said = re.sub(r" ?And \d+ more, in the report\.$", "", row["sentence"])
    return bool(said) and all(part in unescape(page) for part in re.split(r"(?<=\.) ", said))


needs_build = pytest.mark.skipif(not CONFIG.is_file(), reason="there is no build")


@needs_build
def test_the_report_has_every_sentence_and_needs_no_other_file(tmp_path, called):
    found, page = reproduce(tmp_path)
    text = unescape(page)
    assert [row["figure"] for row in found] == [figure.number for _, figure in FIGURES]
    assert all(told(row, page) for row in found)
    for paper in PAPERS:
        assert paper.claimed in text and paper.beyond in text
        assert all(one.reason in text for one in paper.unmade)
    assert not re.search(r'(src|href)="(?!#)', page)
    assert "This is the short form" in text and "<h4>What is left out</h4>" in page


@needs_build
def test_a_row_that_is_changed_by_hand_changes_the_sentence(tmp_path, called):
    before, _ = reproduce(tmp_path, "hoefler")
    count = len(called)
    kept = next(tmp_path.glob("hoefler-2012-figure-10-*.json"))
    whole = json.loads(kept.read_text())
    for row in whole["rows"]:
        row["median_us"] *= 100 if row["requested"] == "irecv" else 1
    kept.write_text(json.dumps(whole))
    after, page = reproduce(tmp_path, "hoefler")
    assert len(called) == count
    changed = [a["figure"] for a, b in zip(after, before, strict=True) if a != b]
    assert changed == ["Figure 10"]
    assert told(after[1], page) and not told(before[1], page)


@needs_build
def test_a_step_that_fails_is_red_and_named_and_the_rest_stands(tmp_path, called, monkeypatch):
    made_up = running.call

    def failing(arguments: list[str]) -> list[dict]:
        if "star:4:1" in arguments and "--sweep" not in arguments:
            raise Error("the machine has no room", INTERNAL)
        return made_up(arguments)

    monkeypatch.setattr(running, "call", failing)
    found, page = reproduce(tmp_path, "hoefler", status=1)
    kinds = {row["figure"]: row["outcome"] for row in found}
    assert kinds.pop("Figure 11") == FAILED and set(kinds.values()) <= KINDS
    red = re.findall(r'<p class="failed-text">(.*?)</p>', page)
    assert len(red) == 1 and "star:4:1" in red[0] and red[0].endswith("the machine has no room")
    monkeypatch.setattr(running, "call", made_up)
    count = len(called)
    again, _ = reproduce(tmp_path, "hoefler")
    assert len(called) == count + 1 and FAILED not in {row["outcome"] for row in again}


def test_without_an_mpi_what_ran_is_left_out_and_said(tmp_path, called):
    here = Here(short=True, mpis=(), scratch=tmp_path)
    made = plan(PAPERS, here)
    run(made, Keep(tmp_path))
    found = [outcome(one) for one in made]
    kinds = {f"{one.paper.key} {one.figure.number}": one.kind for one in found}
    assert kinds["traeff-2016 Table 2"] == kinds["hoefler-2012 Figure 10"] == LEFT_OUT
    assert kinds["traeff-2016 Figure 2"] in KINDS and kinds["hoefler-2012 Figure 9"] in KINDS
    assert not any(step.how == RAN for one in made for step in one.steps)
    page = pages.page(PAPERS, found, here, "")
    assert "The build has no MPI" in page
    assert "There is no GPU" in page and page.count(": the build has no MPI") >= 2


def test_help_names_the_papers():
    said = printed(call("reproduce", "--help"))
    assert "Usage: tonari reproduce [OPTIONS] [PAPER...]\n" in said and "]...]" not in said


def test_mistakes_are_one_sentence(tmp_path):
    refused(call("reproduce", "traef"), "there is no paper 'traef'")
    refused(call("reproduce", "--matrices", str(tmp_path / "none")), "is no folder")
    (tmp_path / "file").touch()
    here = call("reproduce", "--json", "--folder", str(tmp_path / "file"))
    refused(here, "name another with --folder")
    with pytest.raises(Error, match="^there is no option --nothing"):
        running.call(["plan", "--nothing"])


@needs_build
@pytest.mark.more
def test_the_short_form_is_complete_and_nothing_in_it_fails(tmp_path):
    found, page = reproduce(tmp_path)
    assert [row["figure"] for row in found] == [figure.number for _, figure in FIGURES]
    assert {row["outcome"] for row in found} <= KINDS | {LEFT_OUT}
    assert not any(row["failed"] for row in found)
    assert all(told(row, page) for row in found)
    assert "Plotly.newPlot" in page and len(page) > 1_000_000


@needs_build
@pytest.mark.more
def test_ctrl_c_ends_it_in_one_sentence(tmp_path):
    said, _ = interrupted_when(
        ["reproduce", "traeff", "--short", "--folder", str(tmp_path)], "traeff-2016"
    )
    assert re.search(r"tonari: stopped; \d+ of \d+ steps are kept in", said)
    assert "Traceback" not in said


@pytest.fixture
def without_plotly(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("plotly", "plotly.offline"):
        monkeypatch.setitem(sys.modules, module, None)


@needs_build
def test_without_plotly_nothing_is_measured_for_a_report(tmp_path, without_plotly, monkeypatch):
    monkeypatch.setattr(running, "call", mock.Mock())
    refused(call("reproduce", "--short", "--folder", str(tmp_path)), "the report needs plotly")
    assert not running.call.called and not list(tmp_path.iterdir())


@needs_build
def test_rows_for_programs_need_no_plotly(tmp_path, called, monkeypatch):
    monkeypatch.setattr(making, "check_plotly", mock.Mock(side_effect=AssertionError))
    done = call("reproduce", "hoefler", "--short", "--json", "--folder", str(tmp_path))
    assert len(json.loads(printed(done))) == 5 and "written" not in done.stderr
    assert called and not (tmp_path / "report.html").exists()


@needs_build
def test_fresh_makes_its_own_rows_again_and_leaves_other_files(tmp_path, called):
    other = tmp_path / "thesis.json"
    other.write_text("mine")
    reproduce(tmp_path, "hoefler")
    count = len(called)
    call("reproduce", "hoefler", "--short", "--fresh", "--folder", str(tmp_path))
    assert len(called) == 2 * count and other.read_text() == "mine"


@pytest.mark.parametrize(
    "mpis, root, sentence",
    [
        (("openmpi",), True, "The build has one MPI, openmpi"),
        (("openmpi", "mpich"), False, "There are no hosts, which only root can make"),
        (("mpich",), True, "There are no hosts, which Open MPI starts ranks on"),
        ((), False, "The build has no MPI"),
    ],
)
def test_what_the_machine_lacks_is_said_on_the_first_page(mpis, root, sentence):
    said = lacking(Here(mpis=mpis, root=root, gpu=True))
    assert any(line.startswith(sentence) for line in said)
    assert lacking(Here(mpis=("openmpi", "mpich"), root=True, gpu=True, matrices=Path())) == []


def test_with_root_ranks_run_between_hosts_and_a_second_mpi_stands_beside(tmp_path):
    figure = PAPERS[0].figures[1]
    names = [step.name for step in figure.steps(Here(mpis=("openmpi", "mpich"), root=True))]
    assert "bench moore:3:1 on 27 hosts" in names
    assert any(name.endswith("by mpich") for name in names)
    one = outcome(of(PAPERS[0], figure, Here(mpis=("openmpi", "mpich"), root=True), 5))
    assert {"moore:3:1 on 27 ranks", "moore:3:1 on 2 ranks, mpich"} <= {p.panel for p in one.points}
    assert not any("host" in step.name for step in figure.steps(Here(mpis=("openmpi",))))


def test_commands_print_their_readable_form(tmp_path, called):
    if not CONFIG.is_file():
        pytest.skip("there is no build")
    shown = printed(call("reproduce", "hoefler", "--short", "--folder", str(tmp_path)))
    assert "Hoefler and Schneider 2012" in shown and "Of 5 figures and tables" in shown


SCALE = ["traeff-2016", "hoefler-2012", "duymus-2021", "hofmann-2013", "zhao-2021"]


@pytest.mark.parametrize("key", SCALE)
def test_each_paper_has_sweeps_beside_its_claims_about_scale(key, here):
    (paper,) = (paper for paper in PAPERS if paper.key == key)
    sweeps = [sweep for figure in paper.figures for sweep in figure.sweeps(here)]
    assert sweeps and all(sweep.arguments[-1] == "--sweep" for sweep in sweeps)
    for figure in paper.figures:
        simulates = any(step.how == "simulated" for step in figure.steps(here))
        assert not simulates or figure.sweeps(here) or figure.number in ("Figure 4", "Figure 7")
