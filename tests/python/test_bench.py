# SPDX-License-Identifier: BSD-3-Clause
"""tonari bench: what it prints and counts, on the MPIs of the build. No assertion about time."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import built
import pytest
from command_line import call, fits, printed, refused, shown, words

from tonari.benchmark import plot as plotting
from tonari.benchmark.presets import PRESETS
from tonari.benchmark.summary import add_ratio_spread, fastest
from tonari.views import bench as view

BUILT, needs_build, each_mpi = built.marks("tonari_bench")
FIELDS = set(
    """
    pattern op ranks mpi bytes algorithm channel median_us q1_us q3_us messages verified chosen
    reason init_us rounds batch mpi_version dims ratio_native floor_ratio disturbed repeat
    ratio_spread
""".split()
)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return call("bench", *words(*arguments))


def rows(*arguments: str) -> list[dict[str, Any]]:
    return json.loads(printed(run(*words(*arguments), *words("--rounds 8 --max-time 2 --json"))))


def named(*arguments: str) -> dict[str, dict[str, Any]]:
    """The rows by what was asked for."""
    return {row["requested"]: row for row in rows(*arguments)}


@each_mpi
def test_rows_have_the_promised_fields(mpi: str) -> None:
    names = ["auto", "native", "irecv", "torus/p2p-typed", "linear/p2p-packed"]
    found = rows(f"moore:2:1 --bytes 8,96 --mpi {mpi} --algorithms {','.join(names)}")
    assert [row["requested"] for row in found] == 2 * names
    assert [row["bytes"] for row in found] == 5 * [8] + 5 * [96]
    for row in found:
        assert FIELDS <= row.keys()
        assert row["mpi"] in built.names_in_rows(mpi)
        assert (row["pattern"], row["op"], row["ranks"]) == ("moore:2:1", "alltoall", 2)
        assert 0 < row["q1_us"] <= row["median_us"] <= row["q3_us"]
        assert row["rounds"] >= 1
        assert not any(isinstance(value, (dict, list)) for value in row.values())
    both = {(row["algorithm"], row["channel"]) for row in found if "/" in row["requested"]}
    assert both == {("torus", "p2p-typed"), ("linear", "p2p-packed")}
    assert all(row["ratio_native"] == 1 for row in found if row["algorithm"] == "native")
    assert all(row["floor_ratio"] is None for row in found)


@each_mpi
@pytest.mark.parametrize(
    ("op", "ranks"),
    [
        built.more("alltoall", "1"),
        ("alltoall", "2"),
        built.more("allgather", "2"),
        built.more("alltoallw", "2"),
        built.more("alltoall", "4"),
        ("allgather", "4"),
    ],
)
def test_the_floor_stands_beside_the_others(mpi: str, op: str, ranks: str) -> None:
    """It copies what the ranks put there and sends no message; the others are multiples of it, it
    is none of native."""
    job = f"moore:2:1 --op {op} --bytes 24,4096 --ranks {ranks} --mpi {mpi}"
    all_rows = rows(f"{job} --algorithms native,irecv,floor")
    for size in (24, 4096):
        found = {row["requested"]: row for row in all_rows if row["bytes"] == size}
        floor = found["floor"]
        assert (floor["algorithm"], floor["channel"]) == ("floor", "hardware")
        assert floor["messages"] == 0 and floor["verified"] is True
        assert 0 < floor["q1_us"] <= floor["median_us"] <= floor["q3_us"]
        assert (floor["floor_ratio"], floor["ratio_native"]) == (1, None)
        for row in found.values():
            ratio = row["median_us"] / floor["median_us"]
            assert row["floor_ratio"] == pytest.approx(ratio, rel=1e-4)


@pytest.mark.more
@each_mpi
def test_the_floor_is_among_the_usual_candidates(mpi: str) -> None:
    """Also on graphs, where two ranks may give each other unequal amounts, or one of them
    nothing."""
    unequal = "random:0.5:2 --op alltoallv --bytes 500 --ranks 4"
    for arguments in ("moore:1:1", "hotspot --ranks 3", unequal):
        found = rows(f"{arguments} --mpi {mpi} --tune model")
        assert found[-1]["requested"] == "floor" and found[-1]["verified"] is True
        assert all(row["floor_ratio"] > 0 for row in found)


def made_up(requested: str, median_us: float, **fields: Any) -> dict[str, Any]:
    row = {
        "pattern": "moore:2:1", "op": "alltoall", "ranks": 2, "hosts": 0, "mpi": "openmpi",
        "mpi_version": "4.1.4", "dims": "2x1", "mesh": False,
        "neighbors": 8, "bytes": 8, "requested": requested, "algorithm": requested, "channel":
        "mpi", "chosen": "", "reason": "", "messages": 8,
        "median_us": median_us, "q1_us": median_us, "q3_us": median_us, "rounds": 200, "repeat": 0,
        "ratio_native": 2 / median_us,
        "floor_ratio": median_us / 0.25, "verified": True, "disturbed": False,
    }  # fmt: skip
    return row | fields


FLOOR = made_up("floor", 0.25, channel="hardware", messages=0, ratio_native=None)


def test_the_floor_is_never_the_best() -> None:
    found = [made_up("auto", 0.5), made_up("native", 2.0), made_up("auto", 8.0, bytes=64), FLOOR]
    found += [FLOOR | {"bytes": 64}, FLOOR | {"bytes": 512}]
    assert fastest(found) == {8: 0.5, 64: 8.0}
    add_ratio_spread(found)
    assert FLOOR["ratio_spread"] is None


def test_rows_of_one_algorithm_are_told_apart() -> None:
    found = [
        made_up("auto", 0.5),
        made_up("auto/start-with", 0.6, algorithm="auto"),
        made_up("linear/shared/view", 0.4, algorithm="linear", channel="shared"),
    ]
    text = "\n".join(shown(view.show, found))
    assert all(f"{name} " in text for name in ("auto", "auto/start-with", "linear/view"))


def test_the_table_shows_multiples_of_the_floor() -> None:
    found = [
        made_up("auto", 0.5, bytes=32768),
        made_up("native-nonblocking", 1234.5, bytes=32768, q1_us=1111.1, q3_us=2222.2),
        made_up("native", 2.0, bytes=32768, verified=False),
        made_up("additive-basis", 1.0, bytes=32768, channel="p2p-packed", floor_ratio=None),
        FLOOR | {"bytes": 32768},
    ]
    add_ratio_spread(found)
    head, *lines = shown(view.show, found)[1 : 2 + len(found)]
    table = {line.removeprefix("32.0 KiB").split()[0]: line.split() for line in lines}
    assert head.split()[-4:] == ["vs", "native", "x", "floor"]
    assert table["auto"][-3:] == ["4.00", "x", "2.00"]
    assert table["native-nonblocking"][-1] == "4938"
    assert table["native"][-2:] == ["WRONG", "8.00"]
    assert table["additive-basis"][-2:] == ["2.00", "x"]
    assert table["floor"][-2:] == ["0", "1.00"]


def test_a_floor_above_an_exchange_is_said_to_be_none() -> None:
    def said(*found: dict[str, Any]) -> str:
        return " ".join(" ".join(shown(view.show, list(found))).split())

    disturbed = said(made_up("auto", 0.5), made_up("floor", 0.6))
    assert "At 8 B the floor took longer than auto: something disturbed it" in disturbed
    # A view leaves out the copy.
    assert "the floor took" not in said(made_up("auto", 0.5), made_up("linear/view", 0.2), FLOOR)


def test_a_plot_draws_the_floor_as_a_line_to_compare_with() -> None:
    from matplotlib.figure import Figure

    axis = Figure().subplots()
    three = (made_up("auto", 0.5), made_up("irecv", 1.0), FLOOR)
    plotting._panel(axis, "", [row | {"bytes": size} for size in (8, 64) for row in three])
    lines = {line.get_label(): line for line in axis.get_lines()}
    assert set(lines) == {"auto", "irecv", "floor, a flag and a copy"}
    floor, *others = (lines[name] for name in ("floor, a flag and a copy", "auto", "irecv"))
    assert (floor.get_linestyle(), floor.get_marker()) == ("--", "None")
    assert floor.get_linewidth() < min(line.get_linewidth() for line in others)
    assert len(axis.collections) == 2  # bands of quartiles: the floor has none


@each_mpi
@pytest.mark.parametrize(
    "op",
    [
        "alltoall",
        built.more("alltoallv"),
        built.more("alltoallw"),
        built.more("allgather"),
        "allgatherv",
        built.more("allgatherw"),
    ],
)
def test_every_operation_delivers(mpi: str, op: str) -> None:
    names = ("one-shot", "irecv", "irecv-persistent", "linear", "torus", "torus-direct")
    job = f"moore:2:1 --op {op} --bytes 24 --mpi {mpi}"
    found = named(f"{job} --algorithms {','.join(names)}")
    assert {name: row["verified"] for name, row in found.items()} == dict.fromkeys(names, True)


@each_mpi
@pytest.mark.parametrize(
    "op", [built.more("alltoall"), built.more("alltoallv"), built.more("allgather"), "allgatherw"]
)
def test_graphs_deliver(mpi: str, op: str) -> None:
    algorithms = "irecv,irecv-persistent,linear,linear/p2p-packed"
    job = f"--op {op} --bytes 24 --ranks 3 --mpi {mpi} --algorithms {algorithms}"
    for pattern, most in ("random:0.6:3", None), ("hotspot", 2), ("hotspot-in", 1), ("clique:2", 1):
        found = named(f"{pattern} {job}")
        assert [row["verified"] for row in found.values()] == [True] * 4, pattern
        packed = found["linear/p2p-packed"]["messages"]
        assert packed == found["irecv"]["messages"], pattern
        assert most is None or packed == most, pattern


@pytest.mark.more
@each_mpi
def test_several_buffers_deliver(mpi: str) -> None:
    """A group of four sends a message to each neighbor, four requests send four."""
    names = [f"linear/{use}" for use in ("start-with", "two-requests", "group", "requests")]
    for job in ("moore:2:1 --op alltoallv", "moore:2:1 --op alltoallw", "random:0.5 --ranks 3"):
        found = rows(f"{job} --bytes 40 --mpi {mpi} --algorithms {','.join(names)} --tune off")
        assert [row["requested"] for row in found] == names
        assert all(row["verified"] is True for row in found)
    packed = [name.replace("linear/", "linear/p2p-packed/") for name in names]
    ring = f"moore:1:1 --ranks 3 --bytes 8 --mpi {mpi} --algorithms {','.join(packed)}"
    by_name = named(ring)
    assert [by_name[name]["messages"] for name in packed] == [2, 2, 2, 8]


@each_mpi
def test_a_mesh_delivers(mpi: str) -> None:
    found = rows(f"moore:2:1 --mesh --bytes 24 --mpi {mpi} --algorithms native,irecv,torus")
    assert [row["verified"] for row in found] == [True, True, True]


@each_mpi
def test_messages_are_counted(mpi: str) -> None:
    """On 3 ranks in a ring every offset of moore:1:1 is another rank; in 2 dimensions, 3 x 1, six
    blocks go to others and two to the rank itself."""
    messages = {
        "irecv": 2, "irecv-persistent": 2, "tonari-irecv/p2p-packed": 2, "linear/p2p-packed": 2,
        "linear/shared": 0,  # not by the MPI
    }  # fmt: skip
    ring = named(f"moore:1:1 --ranks 3 --mpi {mpi} --algorithms native,{','.join(messages)}")
    native = ring.pop("native")
    # The wheels of Open MPI 5 and MPICH 5 do not show what their collectives send.
    hidden = not native["mpi_version"].startswith("4.")
    assert native["messages"] == 2 or (hidden and native["messages"] is None)
    assert {name: row["messages"] for name, row in ring.items()} == messages
    both = {"irecv": (8, 6), "irecv-persistent": (8, 6), "linear/p2p-packed": (2, 2)}
    job = f"moore:2:1 --ranks 3 --dims 3x1 --mpi {mpi} --algorithms {','.join(both)}"
    wrapped = named(job).items()
    assert {name: (row["messages"], row["messages_remote"]) for name, row in wrapped} == both


@each_mpi
def test_wrong_data_of_the_native_collective_is_reported(mpi: str) -> None:
    """MPICH 4.0 reverses the blocks of duplicate edges; whatever this MPI does, the row says so and
    the command goes on."""
    found = named(f"moore:2:1 --bytes 8 --mpi {mpi} --algorithms native,torus")
    assert found["torus"]["verified"] is True
    if found["native"]["mpi_version"].startswith("4.0") and mpi == "mpich":
        assert found["native"]["verified"] is False


@needs_build
def test_table_file_and_plot(tmp_path: Path) -> None:
    file, plot = tmp_path / "rows.json", tmp_path / "plot.svg"
    options = "--rounds 8 --max-time 2 --algorithms auto,native,irecv,floor --repeat 2"
    job = f"moore:2:1 --bytes 8,64 {options} --output {file} --plot {plot}"
    text = printed(run(job))
    assert "moore:2:1 alltoall: 8 neighbors" in text
    assert "auto at 64 B" in text and "x floor" in text and fits(text)
    assert sorted({row["repeat"] for row in json.loads(file.read_text())}) == [0, 1]
    assert all(name in plot.read_text() for name in ("<svg", "</svg>"))


@pytest.mark.more
@needs_build
def test_setup_times() -> None:
    found = rows("moore:2:1", "--setup")
    mpis = ["MPI_Dist_graph_create_adjacent", "MPI_Dist_graph_create"]
    ours = "tonari_neighborhood_create_cart"
    asked = f"{ours} and tonari_neighborhood_ranks"
    assert [row["function"] for row in found[:4]] == [*mpis, ours, asked]
    expected = {"off", "model", "online", "measure", "wisdom"}
    assert {row["tune"] for row in found if row["algorithm"] == "auto"} == expected
    for row in found:
        assert (row["lost_exchanges"] is None) == (row["algorithm"] != "auto")
    assert {"torus", "linear"} <= {row["algorithm"] for row in found}
    first = [row["function"] for row in found if row["tune"] == "first call"]
    assert first == ["MPI_Comm_dup and MPI_Neighbor_alltoall", "tonari_alltoall"]
    assert all(row["median_us"] > 0 for row in found)


@needs_build
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["moore:2:1", "--op", "alltoal"], "unknown operation 'alltoal'"),
        (["moore:2:1", "--bytes", "8,none"], "--bytes is 'none'"),
        (["moore:2:1", "--algorithms", "torsu"], "torsu"),
        (["moore:2:1", "--algorithms", "linear/p2p-packed/vew"], "p2p-packed/vew"),
        (["moore:2:1", "--dims", "3x3"], "--dims makes 9 ranks, but there are 2"),
        (["moore:2:1", "--layout", "halo"], "layout 'halo' does not go with alltoall"),
        (["more:2:1"], "more:2:1"),
        (["moore:2:1", "--plot", "picture.txt"], ".png"),
        (["moore:2:1", "--mpi", "other"], "the build has no other"),
        ([], "either a pattern"),
        (["moore:2:1", "--preset", "fig2"], "either a pattern"),
        (["random:1.5", "--rounds", "8"], "0 to 1"),
        (["random", "--rounds", "8"], "random:P"),
        (["clique:0", "--rounds", "8"], "from 1"),
        (["scale-free:x", "--rounds", "8"], "'x'"),
    ],
)
def test_mistakes_get_one_sentence(arguments: list[str], sentence: str) -> None:
    refused(run(*arguments), sentence)


def test_no_build_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TONARI_BUILD", str(tmp_path))
    done = run("moore:2:1")
    assert done.returncode != 0 and "make build" in done.stderr


@pytest.mark.more
@pytest.mark.skipif("openmpi" not in BUILT, reason="hosts need Open MPI in the build")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make network namespaces")
def test_hosts_come_and_go() -> None:
    def netns(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["ip", "netns", *words], capture_output=True, text=True)

    before = netns("list").stdout
    if (made := netns("add", "tonari-test")).returncode:
        pytest.skip(f"no network namespaces here: {made.stderr.strip()}")
    netns("del", "tonari-test").check_returncode()
    job = "moore:1:1 --hosts 3 --mpi openmpi --algorithms"
    found = named(f"{job} irecv,torus").items()
    refused(run(f"{job} irecv,floor"), "on one node")  # no memory is shared between hosts
    seen = {name: (row["verified"], row["messages"], row["hosts"]) for name, row in found}
    assert seen == {"irecv": (True, 2, 3), "torus": (True, 2, 3)}
    assert netns("list").stdout == before


def test_the_weather_code_is_a_mesh_with_whole_layers():
    (run,) = PRESETS["fig12"]  # Hoefler 2012: 41 x 81 columns of 65 floats
    assert "--mesh" in run.arguments() and run.pattern == "star:2:1"
    assert all(int(size) % (3 * 65 * 4) == 0 for size in run.bytes.split(","))
    assert not any("--mesh" in other.arguments() for other in PRESETS["fig10"])
