# SPDX-License-Identifier: BSD-3-Clause
"""tonari predict: the shipped machines and their sources, winners that follow from what tonari
simulate finds, the readable form, the picture, errors."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from command_line import call, fits, printed, refused
from terminal import interrupted_when
from tonari import machines
from tonari.core import core
from tonari.prediction import Point
from tonari.sweep import Time
from tonari.views import predict as view

SHIPPED = ["blue-gene-q", "ethernet-25", "infiniband-hdr", "infiniband-ndr", "slingshot-11"]
FIELDS = ["machine", "op", "ranks", "bytes", "algorithm", "variant", "predicted_us", "fastest"]
SMALL = ["moore:2:1", "--ranks", "12,20", "--bytes", "8,2KiB"]
TWO = ["infiniband-hdr", "ethernet-25"]  # one of each kind: with and without a latency


@pytest.fixture(scope="module")
def rows():
    return json.loads(printed(call("predict", *SMALL, "--json")))


def test_the_shipped_machines_are_these():
    assert machines.names() == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_each_shipped_machine_can_be_read_and_each_value_has_its_source(name):
    path = machines.find(name)
    core().read_cluster_file(path)
    file = machines.read(path)
    assert file.title and "#" not in file.title
    values = [value for value in file.values if value.name != machines.OTHERWISE]
    assert "G" in {value.name for value in values}
    for value in values:
        assert "https://" in value.source or "IEEE Std" in value.source, value
    assert file.generic and set(file.generic) < set(machines.NEEDED)


def test_a_value_without_a_source_is_seen(tmp_path):
    path = tmp_path / "machine"
    path.write_text("# a title\n\n# Somebody 2020, https://example.org\nL=1e-6\n\no=1e-7\n")
    first, second = machines.read(str(path)).values
    assert first == machines.Value("L", "1e-6", "Somebody 2020, https://example.org")
    assert second == machines.Value("o", "1e-7", "")


def test_what_is_needed_is_what_the_core_asks_for(tmp_path):
    path = tmp_path / "machine"
    values = {name: "4096" if name == "eager" else "1e-6" for name in machines.NEEDED}
    for name in machines.NEEDED:
        path.write_text(" ".join(f"{n}={v}" for n, v in values.items() if n != name))
        with pytest.raises(Exception, match=f"{name} is missing"):
            core().read_machine_file(str(path))
    path.write_text(" ".join(f"{name}={value}" for name, value in values.items()))
    core().read_machine_file(str(path))


def test_rows_are_those_of_simulate_and_the_shortest_time_wins(tonari, rows):
    assert all(list(row) == FIELDS for row in rows)
    assert list(dict.fromkeys(row["machine"] for row in rows)) == SHIPPED
    same = FIELDS[1:7]
    for machine in TWO:
        for ranks in (12, 20):
            done = tonari("simulate", SMALL[0], "--ranks", str(ranks), "--bytes", "8,2KiB",
                          "--machine", machine, "--json")  # fmt: skip
            here = [row for row in rows if (row["machine"], row["ranks"]) == (machine, ranks)]
            simulated = json.loads(printed(done))
            assert [[r[f] for f in same] for r in here] == [[r[f] for f in same] for r in simulated]
            for size in (8, 2048):
                some = [row for row in here if row["bytes"] == size]
                (best,) = (row for row in some if row["fastest"])
                assert best["predicted_us"] == min(row["predicted_us"] for row in some)


def test_the_machine_decides(rows):
    """At 2 KiB a fast network combines no more messages than a slow one."""
    times = {
        (row["machine"], row["algorithm"]): row["predicted_us"]
        for row in rows
        if row["bytes"] == 2048 and row["ranks"] == 20
    }
    assert times["infiniband-ndr", "linear"] < times["infiniband-hdr", "linear"]
    assert times["infiniband-hdr", "linear"] < times["ethernet-25", "linear"]


def test_the_table_fits_and_says_where_values_come_from(tonari, tmp_path):
    own = tmp_path / "own"
    own.write_text("L=1e-6 otherwise=generic")
    call_ = ["--machine", "infiniband-hdr", "--machine", str(own)]
    lines = fits(printed(tonari("predict", *SMALL, *call_)))
    assert lines[2] == "infiniband-hdr"
    assert lines[3].split() == ["block", "12", "ranks", "20", "ranks"]
    assert lines[4].split()[:3] == ["8", "B", "torus"]
    text = " ".join(" ".join(lines).split())
    assert "Published, with their sources in the file: L, G. Of the generic machine: o, g" in text
    assert "From the file: L. Of the generic machine: o, g, G, eager" in text


def test_the_picture_and_the_csv_have_every_point(tonari, tmp_path):
    drawn, table = tmp_path / "map.svg", tmp_path / "rows.csv"
    call_ = ["--machine", "ethernet-25", "--machine", "slingshot-11", "--json"]
    done = tonari("predict", *SMALL, *call_, "--plot", str(drawn), "--csv", str(table))
    rows = json.loads(printed(done))
    with table.open() as file:
        read = list(csv.DictReader(file))
    assert [[r[f] for f in FIELDS] for r in read] == [[str(r[f]) for f in FIELDS] for r in rows]
    assert drawn.read_text().count('<g id="axes_') == 2


def test_a_map_has_a_cell_for_each_point():
    points = [
        Point("", "alltoall", ranks, size, [Time("native", "", 2.0), Time("torus", "", best)])
        for ranks, size, best in ((8, 8, 1.0), (8, 64, 3.0), (64, 8, 0.5), (64, 64, 2.5))
    ]
    axis = view.make(points, "made up").axes[0]
    found = {(t.get_position()): t.get_text() for t in axis.texts}
    assert found == {
        (0, 0): "torus\n2.0", (0, 1): "native\n1.0", (1, 0): "torus\n4.0", (1, 1): "native\n1.0",
    }  # fmt: skip


def test_graphs_are_predicted(tonari, tmp_path):
    hot = tmp_path / "hot.txt"
    hot.write_text("".join(f"0 {rank}\n" for rank in range(1, 13)))
    done = tonari("predict", "--graph", str(hot), "--bytes", "8", "--machine", "slingshot-11",
                  "--json")  # fmt: skip
    rows = json.loads(printed(done))
    assert {row["ranks"] for row in rows} == {13}
    (best,) = (row for row in rows if row["fastest"])
    assert best["algorithm"] != "native"


def test_a_machine_without_room_is_left_out_unless_it_was_named(tonari):
    call_ = ["moore:1:1", "--ranks", "60000", "--bytes", "8", "--algorithms", "native"]
    text = printed(tonari("predict", *call_))
    assert "Left out, because its network has no room for so many ranks: blue-gene-q" in text
    refused(tonari("predict", *call_, "--machine", "blue-gene-q"), "use fewer ranks", 1)


@pytest.mark.parametrize("command", [["plan", "moore:2:1"], ["simulate", "moore:2:1 --ranks 9"]])
def test_other_commands_take_the_names_too(tonari, command):
    done = tonari(*" ".join(command).split(), "--machine", "slingshot-11")
    assert "slingshot-11." in " ".join(printed(done).split())


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        ([], 2, "a pattern or --graph FILE"),
        (["moore:2:1", "--graph", "x"], 2, "a pattern or --graph FILE"),
        (["moore:2:1", "--machine", "infiniband-hdx"], 1, "ethernet-25, infiniband-hdr"),
        (["moore:2:1", "--machine", "infiniband-hdx"], 1, "did you mean infiniband-hdr"),
        (["moore:2:1", "--ranks", "9,x"], 2, "--ranks has 'x'"),
        (["moore:2:1", "--ranks", "9,,3"], 2, "--ranks has ''"),
        (["moore:2:1", "--ranks", "2000000000"], 1, "room for; use fewer"),
        (["moore:2:1", "--bytes", "8,x"], 2, "--bytes is 'x'"),
        (["moore:2:1", "--plot", "x.txt"], 1, "x.txt is none of them"),
        (["moor:2:1"], 1, "did you mean moore"),
        (["--graph", "/nowhere"], 1, "/nowhere"),
        (["--graph", "x", "--mesh"], 2, "--mesh goes with a pattern"),
        (["moore:2:1", "--algorithms", "toru"], 1, "did you mean torus?"),
    ],
)
def test_errors_are_one_sentence(tonari, arguments, status, sentence):
    refused(tonari("predict", *arguments), sentence, status)


def test_a_machine_file_that_lacks_a_value_is_refused(tonari, tmp_path):
    path = tmp_path / "machine"
    path.write_text("L=1e-6 G=1e-10")
    done = tonari("predict", "moore:1:1", "--ranks", "9", "--machine", str(path))
    refused(done, "o is missing; give it in seconds", 1)


def test_ctrl_c_ends_it_at_once():
    command = ["predict", "moore:3:1", "--ranks", "40000", "--bytes", "8,16"]
    end, _ = interrupted_when([*command, "--machine", "blue-gene-q"], "0/2")
    assert "tonari: stopped; 2 of 2 predictions are not finished" in end


def test_help_has_an_example():
    assert "tonari predict moore:3:1 --machine slingshot-11" in printed(call("predict", "--help"))
    assert Path(machines.FOLDER).is_dir()
