# SPDX-License-Identifier: BSD-3-Clause
"""tonari share --thesis: the figures and tables of the thesis (Duymuş 2021), Fig. 2.3 from the
program, means over files, what is wrong with calls."""

from __future__ import annotations

import json
from contextlib import nullcontext
from math import prod
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import fits, printed, refused
from tonari.commands.share_thesis import compare_all, read_all
from tonari.communication import read_communication
from tonari.interruptible import Interrupted
from tonari.thesis_tables import ALGORITHMS, Compared, geometric_mean, loads, means
from tonari.views.thesis import show

DATA = Path(__file__).resolve().parents[1] / "data/comm512"
FIGURE_2_3 = {(0, 1), (0, 2), (0, 3), (2, 3), (2, 4)}

# Table 6.2, and the overhead of Table 6.4: averages, then those of the bottleneck.
TABLE = {
    "cbuckle": (7.43, 7.36, 7.6, 62, 41, 8, 0.02),
    "msc10848": (16.95, 16.62, 17.05, 67, 34, 18, 0),
    "fe_rotor": (12.68, 12.32, 12.75, 41, 23, 14, 0),
    "sparsine": (76.21, 56.87, 57.01, 223, 80, 58, 0.24),
    "coAuthorsDBLP": (175.02, 48.65, 48.89, 288, 216, 50, 9.56),
    "net125": (106.44, 52.01, 52.03, 209, 123, 53, 1.79),
    "nd3k": (59.15, 24.28, 24.88, 107, 47, 26, 0.9),
    "GaAsH6": (75.96, 25.66, 26.18, 227, 77, 27, 0.84),
    "pkustk04": (18.52, 17.4, 17.87, 101, 51, 19, 0),
    "gupta2": (154.37, 31.08, 31.73, 276, 132, 33, 3.47),
    "TSOPF_FS_b300_c2": (140.93, 74.29, 74.31, 497, 249, 124, 0.01),
    "pattern1": (70.41, 7.76, 8.06, 472, 61, 9, 3.61),
    "SiO2": (156.86, 23.92, 25.4, 298, 147, 26, 1.12),
    "human_gene_2": (393.25, 30.48, 30.66, 511, 256, 114, 1.27),
    "coPapersCiteseer": (102.99, 46.83, 47.1, 226, 131, 48, 6.15),
}


@pytest.fixture
def file(tmp_path):
    def write(pairs, ranks, name="c.mtx"):
        path = tmp_path / name
        lines = "".join(f"{a + 1} {b + 1} 1\n" for a, b in sorted(pairs))
        head = "%%MatrixMarket matrix coordinate integer general\n"
        path.write_text(f"{head}{ranks} {ranks} {len(pairs)}\n{lines}")
        return str(path)

    return write


def thesis(tonari, *arguments):
    return printed(tonari("share", "--thesis", "--communication", *arguments))


def of_the_thesis(name):
    """A row of the thesis's tables, as if the core had planned it."""
    averages, most, overhead = TABLE[name][:3], TABLE[name][3:6], TABLE[name][6]
    schemes = ("direct", "thesis-1", "thesis-2")
    answers = {
        scheme: SimpleNamespace(avg_messages=a, max_messages=m, overhead_messages=512 * overhead)
        for scheme, a, m in zip(schemes, averages, most)
    }
    return Compared(name, 512, answers, ([0], [0]))


def test_the_means_are_those_of_table_6_3():
    rows = {row.algorithm: row for row in means([of_the_thesis(name) for name in TABLE])}
    found = {
        name: (round(row.average, 1), round(row.maximally_loaded, 1)) for name, row in rows.items()
    }
    assert found == {
        "Initial": (65.7, 187.6),
        "After Phase I": (25.7, 87.0),
        "After Phase II": (26.3, 30.8),
    }
    assert round(rows["After Phase I"].overhead, 1) == 0.8, "the text below Table 6.3"


def test_what_the_thesis_concludes():
    """54 % and 84 % less for the bottleneck, 60 % fewer messages."""
    initial, one, two = (row for row in means([of_the_thesis(name) for name in TABLE]))
    assert round(100 * (1 - one.maximally_loaded / initial.maximally_loaded)) == 54
    assert round(100 * (1 - two.maximally_loaded / initial.maximally_loaded)) == 84
    assert round(100 * (1 - two.average / initial.average)) == 60


@pytest.mark.parametrize("values", [[3], [2, 8], [1, 10, 100, 7.5]])
def test_a_mean_is_geometric(values):
    assert geometric_mean(values) == pytest.approx(prod(values) ** (1 / len(values)))
    assert geometric_mean([*values, 0]) == 0


def test_figure_2_3_comes_out_of_the_program(tonari, file, tmp_path):
    path, schedule = file(FIGURE_2_3, 5), tmp_path / "s.txt"
    done = tonari(f"share {path} --communication --schemes thesis-1 --schedule {schedule} --json")
    (row,) = json.loads(printed(done))
    assert (row["max_messages"], row["stages"], row["delivered"]) == (2, 2, 1)
    assert schedule.read_text().splitlines()[3:] == [
        "0 0 1: 0-1",
        "0 0 2: 0-2 0-3",
        "0 2 4: 2-4",
        "1 2 3: 0-3 2-3",
    ]


def test_table_6_2_of_figure_2_3(tonari, file):
    """Phase I: 2 messages of rank 0, and 4 of all. tonari takes no friend with one common
    target."""
    lines = thesis(tonari, file(FIGURE_2_3, 5, "fig23.mtx")).splitlines()
    assert lines[2].split() == "Initial Phase I Phase II Initial Phase I Phase II overhead".split()
    assert lines[3] == "fig23, 5 ranks"
    assert lines[4].split() == ["thesis", "1.00", "0.80", "0.80", "3", "2", "1", "0.00"]
    assert lines[5].split() == ["as", "counted", "1.00", "0.80", "0.80", "3", "2", "1"]
    assert lines[6].split()[:5] == ["tonari", "1.00", "1.00", "1.00", "3"]
    assert not any("Geometric" in line for line in lines)


def test_section_2_1(tonari, tmp_path):
    """Fig. 2.1: row 6 has columns 1, 2, 5 and 6, and two consecutive columns are of one processor.
    So P_1 sends its part of y_6 to P_3, and nobody anything else."""
    matrix, parts = tmp_path / "a.mtx", tmp_path / "a.part"
    cells = [(i, i) for i in range(1, 9)] + [(6, 1), (6, 2), (6, 5)]
    lines = "".join(f"{i} {j}\n" for i, j in cells)
    head = "%%MatrixMarket matrix coordinate pattern general\n"
    matrix.write_text(f"{head}8 8 {len(cells)}\n{lines}")
    parts.write_text("0\n0\n1\n1\n2\n2\n3\n3\n")
    arguments = ["share", "--thesis", str(matrix), "--partition", str(parts), "--json"]
    row = json.loads(printed(tonari(*arguments)))[0]
    assert (row["name"], row["ranks"]) == ("a", 4)
    assert row["average_messages_initial"] == 1 / 4
    schedule = tmp_path / "s.txt"
    printed(tonari(*arguments, "--schedule", str(schedule)))
    assert schedule.read_text().splitlines()[3:] == ["0 0 2: 0-2"]


def test_figure_4_2(tonari, file):
    """Both send half of their six messages, and one to each other, which they do not count."""
    pairs = {(a, t) for a in (0, 1) for t in range(2, 8)}
    rows = json.loads(thesis(tonari, file(pairs, 8), "--json"))
    by = {row["by"]: row for row in rows}
    assert [by[name]["bottleneck_messages_phase_1"] for name in by] == [4, 3, 4]
    assert [by[name]["average_overhead"] for name in by] == [2 / 8, None, 2 / 8]


def test_a_set_of_files(tonari, tmp_path):
    """All bundled matrices at 512 ranks: rows in the order of files, and means of these rows."""
    names = ["sparsine", "bcsstk29", "fe_pwt", "finan512"]
    paths = [str(DATA / f"{name}.mtx.gz") for name in names]
    out = tmp_path / "rows.json"
    text = thesis(tonari, *paths, "--output", str(out))
    rows = json.loads(out.read_text())
    table, mean_rows = ([row for row in rows if row["table"] == name] for name in ("6.2", "6.3"))
    assert [(row["name"], row["by"]) for row in table] == [
        (name, by) for name in names for by in ("thesis", "as counted", "tonari")
    ]
    by = {(row["name"], row["by"]): row for row in table}
    sparsine = by["sparsine", "thesis"]
    keys = [f"{kind}_messages_{phase}" for kind in ("average", "bottleneck")
            for phase in ("initial", "phase_1", "phase_2")]  # fmt: skip
    assert [round(sparsine[key], 1) for key in keys] == [65.3, 62.9, 62.7, 183, 127, 65]
    assert [row["algorithm"] for row in mean_rows] == [*ALGORITHMS]
    of = {row["algorithm"]: row for row in mean_rows}
    for name, who, phase in (
        ("Initial", "thesis", "initial"),
        ("After Phase I", "thesis", "phase_1"),
        ("After Phase II", "thesis", "phase_2"),
        ("tonari sharing-1", "tonari", "phase_1"),
        ("tonari sharing-2", "tonari", "phase_2"),
    ):
        for key, kind in (("average", "average"), ("maximally_loaded", "bottleneck")):
            values = [by[each, who][f"{kind}_messages_{phase}"] for each in names]
            assert of[name][f"{key}_messages"] == pytest.approx(prod(values) ** 0.25)
    most = [row["maximally_loaded_messages"] for row in mean_rows]
    assert most[0] > most[2] > most[3] > most[5], "each phase lowers the bottleneck, ours more"
    fits(text)
    assert f"Geometric means of {len(names)} patterns" in text and "…" not in text
    for name in ALGORITHMS:
        shown = f"{of[name]['average_messages']:.1f}", f"{most[[*ALGORITHMS].index(name)]:.1f}"
        line = next(line for line in text.splitlines() if line.startswith(name))
        assert line.removeprefix(name).split()[:2] == [*shown]


def test_few_ranks_have_no_baseline(tonari, file):
    """A mesh of two dimensions needs 4 ranks."""
    paths = [file({(0, 1), (1, 2), (2, 0)}, 3), file(set(), 1, "one.mtx")]
    rows = json.loads(thesis(tonari, *paths, "--json"))
    assert [row["algorithm"] for row in rows if row["table"] == "6.3"] == [
        name for name in ALGORITHMS if not name.startswith("Baseline")
    ]
    assert {row["average_messages"] for row in rows if row["table"] == "6.3"} == {0}


def test_a_plot(tonari, file, tmp_path):
    plot = tmp_path / "messages.svg"
    thesis(tonari, file(FIGURE_2_3, 5), "--plot", str(plot))
    drawn = plot.read_text()
    assert all(f"<!-- {name} -->" in drawn for name in ("direct", "thesis-2", "sharing-2"))


def test_both_phases_stand_beside_others(tonari, file):
    """They are schemes like others, but only where they are named."""
    path = file(FIGURE_2_3, 5)
    rows = json.loads(
        printed(tonari(f"share {path} --communication --json --schemes sharing-1,thesis-2,direct"))
    )
    assert [row["scheme"] for row in rows] == ["direct", "sharing-1", "thesis-2"]
    rows = json.loads(printed(tonari(f"share {path} --communication --json")))
    assert not any(row["scheme"].startswith("thesis") for row in rows)


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        ("FILE FILE --communication", 2, "here are 2 files; give one, or add --thesis or"),
        ("FILE --thesis --communication --schemes direct", 2, "leave out --schemes"),
        ("FILE --thesis --communication --front", 2, "leave out --schemes, --front"),
        ("FILE --thesis --communication --machine m", 2, "and --machine"),
        ("FILE FILE --thesis --communication --schedule s", 1, "--schedule writes one schedule"),
        ("FILE FILE --thesis --communication --plot s.svg", 1, "--plot draws one pattern"),
        ("FILE FILE --thesis --partition p", 1, "--partition has the owners of one matrix"),
        ("FILE FILE --front --communication --schedule s", 1, "--schedule writes one schedule"),
        ("FILE FILE --front --communication --plot s.svg", 1, "--plot draws one pattern"),
        ("FILE FILE --front --communication --schemes direct", 1, "no other scheme than direct"),
        ("FILE --thesis", 1, "say how many ranks there are: --parts P"),
        ("FILE /nowhere/x.mtx --thesis --communication", 1, "/nowhere/x.mtx cannot be read"),
        ("FILE --communication --schemes thesis-3", 1, "did you mean thesis-"),
    ],
)
def test_what_does_not_go_together_is_told(tonari, file, arguments, status, sentence):
    path = file(FIGURE_2_3, 5)
    refused(tonari("share", *arguments.replace("FILE", path).split()), sentence, status)


def test_ctrl_c_says_what_is_left_out(file, monkeypatch):
    """While files are read, and while they are planned: at once, and nothing is printed."""
    path = file(FIGURE_2_3, 5)

    def read(name):
        if name == "second":
            raise KeyboardInterrupt
        return read_communication(path)

    with pytest.raises(Interrupted, match="stopped; 2 of 3 files are not read, and nothing is"):
        read_all(["first", "second", "third"], read)
    patterns = read_all(["first", "third"], read)
    assert [one.ranks for one in compare_all(["a", "b"], patterns)] == [5, 5]

    def stop():
        raise KeyboardInterrupt

    monkeypatch.setattr("tonari.output.progress", lambda *_: nullcontext(stop))
    with pytest.raises(Interrupted, match="^stopped; 15 of 16 plans are not made$"):
        compare_all(["a", "b"], patterns)


def test_rows_of_the_readable_form_are_those_of_the_thesis(capsys):
    """Its names and numbers, as Table 6.2 has them."""
    pattern = of_the_thesis("gupta2")
    answers = pattern.answers | {
        f"sharing-{phase}": pattern.answers[f"thesis-{phase}"] for phase in (1, 2)
    }
    show([Compared("gupta2", 512, answers, ([1] * 512, [1] * 512))])
    line = capsys.readouterr().out.splitlines()[4]
    assert line.split() == ["thesis", "154.37", "31.08", "31.73", "276", "132", "33", "3.47"]
    assert [one.by for one in loads(Compared("", 512, answers, ([1], [1])))][0] == "thesis"
