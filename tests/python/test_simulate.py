# SPDX-License-Identifier: BSD-3-Clause
"""tonari simulate: rows, the shortcut against every rank, graphs, the readable form, errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest
from built import c_compiler
from command_line import PATIENCE, call, fits, printed, refused
from terminal import interrupted_when
from tonari.benchmark.launch import ANY_RANKS
from tonari.grids import balanced_dims

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TONARI_BUILD", SOURCE / "build")).resolve()
FIELDS = ["algorithm", "variant", "op", "bytes", "ranks", "predicted_us", "events", "every_rank"]
FIELDS += ["wall_s", "peak_mib"]
OFFSETS = ["native", "linear", "torus", "torus-direct", "joint-basis"]


def simulate(tonari, *arguments):
    done = tonari("simulate", *arguments, "--json")
    assert done.stderr == ""
    return json.loads(printed(done))


def test_a_million_ranks_have_a_row_for_each_algorithm(tonari):
    rows = simulate(tonari, "moore:3:1", "--ranks", "1000000", "--bytes", "8")
    assert [row["algorithm"] for row in rows] == OFFSETS
    for row in rows:
        assert list(row) == FIELDS
        assert row["ranks"] == 1_000_000 and row["bytes"] == 8 and row["op"] == "alltoall"
        assert row["wall_s"] < 5 and 0 < row["peak_mib"] < 4096 and not row["every_rank"]
        assert row["events"] % 1_000_000 == 0
    times = {row["algorithm"]: row["predicted_us"] for row in rows}
    # 26 sends of 0.4 us each, and as many messages of 0.4 us and 7 bytes more
    assert times["linear"] == times["native"] == pytest.approx(52 * 0.4 + 26 * 7e-4)
    assert times["torus"] < times["linear"]


@pytest.mark.parametrize("op", ["alltoall", "allgather"])
def test_every_rank_finds_the_same_to_the_bit(tonari, op):
    call = ["star:2:2", "--dims", "5x3", "--op", op, "--bytes", "1,700"]
    short, each = simulate(tonari, *call), simulate(tonari, *call, "--every-rank")
    assert {row["algorithm"] for row in short} == {*OFFSETS, "additive-basis"}
    assert len(short) == 2 * len(OFFSETS) + 2
    assert all(row["every_rank"] for row in each)
    assert not all(row["every_rank"] for row in short)
    for a, b in zip(short, each, strict=True):
        assert [a[f] for f in FIELDS[:7]] == [b[f] for f in FIELDS[:7]]


def test_meshes_and_long_messages_run_every_rank(tonari):
    for more in (["--mesh", "--bytes", "8"], ["--bytes", "1MiB"]):
        rows = simulate(tonari, "moore:2:1", "--dims", "4x3", *more)
        assert all(row["every_rank"] for row in rows if row["algorithm"] == "linear")
    border, inside = (
        simulate(tonari, "moore:2:1", "--dims", "9x9", "--algorithms", "linear", *more)[0]
        for more in (["--mesh"], [])
    )
    assert border["events"] < inside["events"]


def test_the_machine_counts(tonari, tmp_path):
    machine = tmp_path / "machine"
    machine.write_text(
        "L=2e-6 o=1e-6 g=1e-6 G=1e-9 copy_block=1e-9 copy_byte=1e-9 typed_block=1e-9 "
        "rendezvous=0 eager=1000000"
    )
    (row,) = simulate(
        tonari, "moore:1:1", "--ranks", "9", "--algorithms", "linear", "--bytes", "101",
        "--machine", str(machine),
    )  # fmt: skip
    assert row["predicted_us"] == pytest.approx(2 * 1 + 2 * (1 + 0.1) + 1)
    machine.write_text("L=2e-6")
    done = tonari("simulate", "moore:1:1", "--ranks", "9", "--machine", str(machine))
    refused(done, "o is missing")


def test_graphs_run_every_rank(tonari, tmp_path):
    hot = tmp_path / "hot.txt"
    hot.write_text("".join(f"0 {rank}\n" for rank in range(1, 13)))
    rows = simulate(tonari, "--graph", str(hot), "--bytes", "8,1KiB")
    times = {(row["algorithm"], row["bytes"]): row["predicted_us"] for row in rows}
    assert {"native", "linear", "tree"} <= {name for name, _ in times}
    assert {size for _, size in times} == {8, 1024}
    assert all(row["every_rank"] and row["ranks"] == 13 for row in rows)
    assert times["tree", 8] < times["linear", 8] < times["linear", 1024]
    # 12 sends, the latency, and the last message
    assert times["native", 8] == pytest.approx(12 * 0.4 + 1.0 + 0.4 + 7e-4)


def test_the_table_fits_and_says_how_it_came_about(tonari):
    lines = fits(printed(tonari("simulate", "moore:3:1", "--ranks", "1000000", "--bytes", "8")))
    assert "1,000,000 ranks" in lines[0]
    assert [line.split()[0] for line in lines[3:8]] == OFFSETS
    assert any("One rank stood for all" in line for line in lines)
    lines = fits(printed(tonari("simulate", "moore:3:1", "--dims", "3x3x3", "--mesh")))
    assert not any("One rank stood for all" in line for line in lines)


def test_algorithms_that_are_not_expected_to_pay_are_named_and_can_be_simulated(tonari):
    call = ["moore:3:1", "--dims", "4x4x4"]
    text = " ".join(printed(tonari("simulate", *call)).split())
    assert "Left out: additive-basis; --every-algorithm simulates" in text
    rows = simulate(tonari, *call, "--every-algorithm")
    assert [row["algorithm"] for row in rows] == [*OFFSETS[:4], "additive-basis", "joint-basis"]
    assert "Left out" not in printed(tonari("simulate", *call, "--every-algorithm"))


def test_impossible_algorithms_stay_left_out_of_graphs(tonari, tmp_path):
    path = tmp_path / "pair.txt"
    path.write_text("0 1\n1 0\n")
    some, every = (
        {row["algorithm"] for row in simulate(tonari, "--graph", str(path), *more)}
        for more in ([], ["--every-algorithm"])
    )
    assert {"native", "linear"} <= some < every


SWEPT = ["moore:3:1", "--dims", "8x8x8", "--bytes", "256"]


@pytest.fixture(scope="module")
def swept():
    return json.loads(printed(call("simulate", *SWEPT, "--sweep", "--json")))


def test_a_sweep_has_every_algorithm_at_every_factor(swept):
    times = [row for row in swept if row["kind"] == "time"]
    factors = [2.0**k for k in range(-4, 5)]
    for parameter, seconds in (("o", 4e-7), ("L", 1e-6), ("G", 1e-10)):
        rows = [row for row in times if row["parameter"] == parameter]
        assert [r["factor"] for r in rows if r["algorithm"] == "linear"] == factors
        for factor in factors:
            here = [row for row in rows if row["factor"] == factor]
            assert [row["algorithm"] for row in here] == OFFSETS
            (best,) = (row for row in here if row["fastest"])
            assert best["predicted_us"] == min(row["predicted_us"] for row in here)
            assert all(r["seconds"] == pytest.approx(factor * seconds, rel=1e-4) for r in here)
    assert {row["bytes"] for row in swept} == {256} and {row["ranks"] for row in swept} == {512}


def test_a_sweep_without_a_factor_is_what_simulate_says(tonari, swept):
    plain = {row["algorithm"]: row["predicted_us"] for row in simulate(tonari, *SWEPT)}
    once = [row for row in swept if row["kind"] == "time" and row["factor"] == 1]
    assert len(once) == 3 * len(plain)
    assert all(row["predicted_us"] == plain[row["algorithm"]] for row in once)


def test_a_sweep_turns_where_the_times_cross(tonari, swept, tmp_path):
    """With o, L or G of a machine file a hundredth below and above."""
    turns = [row for row in swept if row["kind"] == "turn"]
    assert [row["parameter"] for row in turns] == ["o", "L", "G"]
    values = {"L": 1e-6, "o": 4e-7, "g": 1e-7, "G": 1e-10, "eager": 4096, "rendezvous": 2e-6}
    values |= {"copy_block": 1e-8, "copy_byte": 1e-10, "typed_block": 2e-8}
    for turn in turns:
        times = {}
        for factor in (0.98, 1.01):
            path = tmp_path / "machine"
            own = values | {turn["parameter"]: turn["seconds"] * factor}
            path.write_text(" ".join(f"{name}={value}" for name, value in own.items()))
            rows = simulate(tonari, *SWEPT, "--machine", str(path))
            times[factor] = {row["algorithm"]: row["predicted_us"] for row in rows}
        after, before = turn["algorithm"], turn["instead_of"]
        assert times[0.98][before] < times[0.98][after]
        assert times[1.01][after] < times[1.01][before]


def test_the_table_of_a_sweep_fits_and_says_where_it_turns(tonari, tmp_path):
    drawn = tmp_path / "sweep.svg"
    done = tonari("simulate", *SWEPT, "--sweep", "--plot", str(drawn))
    lines = fits(printed(done))
    assert lines[2].split() == ["times", "o", "L", "G"]
    assert [line.split()[0] for line in lines[3:12]] == [
        "1/16", "1/8", "1/4", "1/2", "1", "2", "4", "8", "16",
    ]  # fmt: skip
    assert any(line.startswith("o: torus is faster than native from 0.3") for line in lines)
    picture = drawn.read_text()
    assert "<svg" in picture and picture.count('<g id="axes_') == 3


def test_a_sweep_of_a_graph_without_turns_says_so(tonari, tmp_path):
    path = tmp_path / "one.txt"
    path.write_text("0 1\n")
    text = printed(tonari("simulate", "--graph", str(path), "--algorithms", "native", "--sweep"))
    assert [line for line in text.splitlines() if "everywhere" in line] == [
        f"{parameter}: native is the fastest everywhere." for parameter in ("o", "L", "G")
    ]


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        ([], 2, "a pattern, --graph FILE or --from-goal FILE"),
        (["moore:2:1", "--from-goal", "x"], 2, "a pattern, --graph FILE or --from-goal FILE"),
        (["--from-goal", "/nowhere"], 1, "/nowhere: cannot be read"),
        (["--from-goal", "/nowhere", "--ranks", "3"], 2, "do not go with --from-goal"),
        (["moore:2:1", "--ranks", "9", "--goal", "x"], 1, "name one with --algorithms"),
        (["moore:2:1", "--ranks", "9", "--seed", "7"], 1, "--seed is for noise"),
        (["moore:2:1"], 2, "either --ranks or --dims"),
        (["moore:2:1", "--ranks", "9", "--dims", "3x3"], 2, "either --ranks or --dims"),
        (["moore:2:1", "--ranks", "0"], 2, "--ranks"),
        (["moore:2:1", "--ranks", "2000000000"], 1, "room for; use fewer"),
        (["moore:3:1", "--dims", "100000x100000x100000"], 1, "room for; use fewer"),
        (["moore:3:1", "--ranks", "900000000", "--every-rank"], 1, "use fewer ranks"),
        (["moore:3:1", "--ranks", "500000000", "--mesh"], 1, "GiB are available; use fewer ranks"),
        (["moor:2:1", "--ranks", "9"], 1, "did you mean moore"),
        (["moore:2:1", "--ranks", "9", "--algorithms", "toru"], 1, "did you mean torus?"),
        (["moore:2:1", "--ranks", "9", "--bytes", "8,x"], 2, "--bytes is 'x'"),
        (["--graph", "/nowhere", "--mesh"], 2, "--dims and --mesh go with a pattern"),
        (["--graph", "/nowhere"], 1, "/nowhere"),
        (["moore:2:1", "--ranks", "9", "--sweep", "--goal", "x"], 2, "do not go with --sweep"),
        (["moore:2:1", "--ranks", "9", "--plot", "x.svg"], 2, "--plot draws what --sweep finds"),
        (["moore:2:1", "--ranks", "9", "--sweep", "--plot", "x.txt"], 1, "x.txt is none of them"),
    ],
)
def test_errors_are_one_sentence(tonari, arguments, status, sentence):
    refused(tonari("simulate", *arguments), sentence, status)


def test_what_needs_more_memory_is_refused_before_it_begins(tonari):
    with mock.patch("_tonari_core.available_memory", return_value=1 << 20):
        call = ["simulate", "moore:3:1", "--ranks", "8000", "--algorithms", "linear"]
        refused(tonari(*call, "--every-rank"), "use fewer ranks", 1)
        assert tonari(*call).returncode == 0


def test_ctrl_c_ends_it_at_once():
    command = ["simulate", "moore:3:1", "--ranks", "1000000", "--every-rank"]
    command += ["--algorithms", "linear,torus"]
    end, _ = interrupted_when(command, "linear on 1,000,000 ranks")
    assert "tonari: stopped; 2 of 2 simulations are not finished" in end


MACHINE = (
    "L=2.5e-6 o=1.5e-6 g=1e-6 G=6e-9 copy_block=1e-9 copy_byte=1e-9 typed_block=1e-9 rendezvous=0 "
    "eager=65535 shared_latency=1e-7 shared_overhead=3e-8\n"
)


@pytest.fixture
def machine(tmp_path):
    def write(more=""):
        path = tmp_path / "machine"
        path.write_text(MACHINE + more)
        return ["--machine", str(path)]

    return write


def test_goal_files_take_as_long_as_the_plans_they_come_from(tonari, machine, tmp_path):
    for number, call in enumerate([["--dims", "4x3"], ["--dims", "4x3", "--mesh"]]):
        path = tmp_path / f"{number}.goal"
        call = ["moore:2:1", *call, "--bytes", "100", "--algorithms", "torus", *machine()]
        (plan,) = simulate(tonari, *call, "--goal", str(path), "--every-rank")
        (read,) = simulate(tonari, "--from-goal", str(path), *machine())
        assert read["algorithm"] == "goal" and read["op"] is read["bytes"] is None
        for field in ("ranks", "events", "predicted_us"):
            assert read[field] == plan[field]
    text = printed(tonari("simulate", "--from-goal", str(path)))
    assert "GOAL on 12 ranks" in " ".join(text.split())


def test_nodes_hops_and_noise_are_read_and_count(tonari, machine):
    call = ["moore:2:1", "--dims", "8x4", "--bytes", "100", "--algorithms", "linear"]

    def time(more, *options):
        (row,) = simulate(tonari, *call, *machine(more), *options)
        assert row["every_rank"] == bool(more)
        return row["predicted_us"]

    plain = time("")
    assert time("ranks_per_node=8") < plain
    assert time("ranks_per_nic=8") > plain
    assert time("network=torus:8x4 hop=1e-5") > plain
    assert time("network=fat-tree:4 hop=2e-5") > time("network=fat-tree:4 hop=1e-5")
    assert time("network=dragonfly:2,4 hop=1e-5") > plain
    noise = "noise_period=2e-5 noise_duration=5e-6"
    assert time(noise, "--seed", "3") == time(noise, "--seed", "3") > plain
    assert len({time(noise, "--seed", str(seed)) for seed in range(6)}) > 1


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ("ranks_per_node=0", "it must be a whole number from 1"),
        ("network=torus:2x2 hop=1e-7", "9 ranks take 9 nodes"),
        ("network=torus:4x4", "hop is missing"),
        ("noise_period=1", "noise needs a noise_period and a noise_duration"),
    ],
)
def test_machines_that_cannot_be_are_refused(tonari, machine, more, sentence):
    refused(tonari("simulate", "moore:2:1", "--ranks", "9", *machine(more)), sentence, 1)


def test_other_commands_pass_over_what_simulations_read(tonari, machine):
    printed(tonari("plan", "moore:2:1", *machine("ranks_per_node=8 network=fat-tree:4 hop=1e-7")))


@pytest.mark.parametrize(
    ("ranks", "dimensions", "dims"),
    [(10**6, 3, (100, 100, 100)), (12, 2, (4, 3)), (7, 3, (7, 1, 1)), (1, 2, (1, 1))],
)
def test_grids_are_as_even_as_they_can_be(ranks, dimensions, dims):
    assert balanced_dims(ranks, dimensions) == dims


def test_help_has_an_example(tonari):
    assert "tonari simulate moore:3:1 --ranks 1000000" in printed(tonari("simulate", "--help"))


def test_the_comparison_notices_what_differs(tmp_path):
    """With a LogGOPSim that always says 7 ns."""
    for name, text in (
        ("txt2bin", "true"),
        ("LogGOPSim", "echo Maximum finishing time at host 0: 7"),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    command = [sys.executable, SOURCE / "tools/compare_loggopsim.py", tmp_path, "--random", "4"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines()]
    assert [row[0].split()[0] for row in rows[2:]] == ["random,", "random,", "plans"]
    assert all(int(row[2]) == 0 < int(row[1]) for row in rows[2:])
    assert "random, few steps: seed 1: " in done.stderr and "ns here, 7 ns there" in done.stderr


def compare_simgrid(folder, says, *options):
    """With an SMPI that says this of each schedule, whose file is $goal."""
    for name, text in (("smpicc", "exit 0"), ("smpirun", f"for goal; do :; done; {says}")):
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    command = [sys.executable, SOURCE / "tools/compare_simgrid.py", "--bin", folder, "--most", "27"]
    return subprocess.run([*command, *options], capture_output=True, text=True)


def test_the_comparison_with_simgrid_notices_what_differs(tmp_path):
    rows = tmp_path / "rows.csv"
    done = compare_simgrid(tmp_path, "echo 1000", "--output", rows)
    assert done.returncode == 1, done.stderr  # nobody loses, but no time is near
    table = [line.split("|")[1:-1] for line in done.stdout.splitlines()]
    assert [row[0].strip() for row in table[2:]] == ["moore:3:1 on a torus", "one sends to all"]
    assert [row[2].strip() for row in table[2:]] == ["0 of 12", "0 of 10"]
    assert [row[4].strip() for row in table[2:]] == ["4 of 4", "4 of 4"]
    assert len(rows.read_text().splitlines()) == 1 + 12 + 10


def test_the_comparison_with_simgrid_fails_where_another_plan_wins(tmp_path):
    fewer_receives_take_longer = 'echo "1000 / $(grep -c recv $goal)" | bc -l'
    done = compare_simgrid(tmp_path, fewer_receives_take_longer)
    assert done.returncode == 1
    assert "| 1 of 4 |" in done.stdout.splitlines()[2]


def test_the_comparison_with_simgrid_says_why_smpi_failed(tmp_path):
    done = compare_simgrid(tmp_path, "echo no such host >&2; exit 1")
    assert done.returncode == 1 and "smpirun failed: no such host" in done.stderr


@pytest.mark.parametrize("order", [[], ["messages-first"]])
def test_the_program_for_simgrid_runs_under_mpi(tonari, tmp_path, order):
    mpis = json.loads((BUILD / "tonari-config.json").read_text())["mpis"]
    mpi = dict(mpis["openmpi" if "openmpi" in mpis else next(iter(mpis))])
    program, goal = tmp_path / "run_goal", tmp_path / "plan.goal"
    source = SOURCE / "tools/simgrid/run_goal.c"
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([c_compiler(mpi), *flags, source, "-o", program], check=True)
    call = ["star:2:1", "--dims", "2x2", "--algorithms", "torus", "--bytes", "300"]
    printed(tonari("simulate", *call, "--goal", str(goal)))

    def run(ranks):
        return subprocess.run(
            [mpi["mpiexec"], "-n", str(ranks), program, goal, *order],
            env=ANY_RANKS | {"OMPI_MCA_mpi_yield_when_idle": "1"} | dict(os.environ),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    done = run(4)
    assert done.returncode == 0, done.stderr
    assert 0 < float(done.stdout) < 1e8
    wrong = run(3)
    assert wrong.returncode != 0 and "start as many ranks as the file has" in wrong.stderr
