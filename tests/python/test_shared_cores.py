# SPDX-License-Identifier: BSD-3-Clause
"""What messages cost between hosts that share cores, found from times that are made up."""

from __future__ import annotations

from pathlib import Path

import pytest
from tonari.calibration import text_of
from tonari.core import core
from tonari.neighborhood import neighborhood
from tonari.shared_cores import SIZES, Seen, fitted, seen

BEFORE = {
    "L": 8e-6, "o": 1e-6, "g": 1e-6, "G": 1e-10, "copy_block": 1e-9, "copy_byte": 1e-12,
    "typed_block": 1e-9, "rendezvous": 0.0, "shared_latency": 1e-9, "shared_overhead": 1e-9,
    "eager": 65000,
}  # fmt: skip
MESSAGES, PEERS = 18, 2  # of moore:3:1 on three hosts in a row


def times(turns: float, o: float, byte: float, rest: float) -> Seen:
    """Of a machine that does as the model says."""
    more = MESSAGES * (SIZES[1] - SIZES[0])
    direct, packed = (
        turns * max(2 * o * count, (count + 1) * o + rest) for count in (MESSAGES, PEERS)
    )
    return Seen(direct, direct + turns * byte * more, packed, MESSAGES, PEERS, more)


@pytest.mark.parametrize("turn", [12e-6, 80e-6])
def test_the_parameters_that_made_the_times_are_found(turn: float) -> None:
    """A turn is shorter or longer than all sends."""
    found = fitted(BEFORE, 3, 2, times(1.5, 2.5e-6, 4e-10, turn))
    assert found["o"] == pytest.approx(2.5e-6)
    assert found["G"] == pytest.approx(4e-10)
    assert found["core_switch"] == pytest.approx(turn)
    assert found["cores"] == 2
    assert found["L"] == 1e-9, "no wire is there"


def test_ranks_with_a_core_each_take_no_turns() -> None:
    found = fitted(BEFORE, 2, 2, times(1, 2.5e-6, 4e-10, 7e-6))
    assert found["L"] == pytest.approx(7e-6)
    assert "core_switch" not in found


def test_times_that_no_machine_can_have_give_a_machine_file(tmp_path: Path) -> None:
    odd = Seen(1e-6, 0.5e-6, 2e-6, MESSAGES, PEERS, 1000)
    file = tmp_path / "machine.txt"
    file.write_text(text_of(fitted(BEFORE, 3, 2, odd), "made up"))
    assert core().read_cluster_file(str(file)), "every value is possible"


def test_the_simulator_gives_the_times_back_and_stretches_them(tmp_path: Path) -> None:
    """On nine times as many hosts each rank has a ninth as much of a core."""
    made = times(1.5, 2.5e-6, 4e-10, 12e-6)
    file = tmp_path / "machine.txt"
    file.write_text(text_of(fitted(BEFORE, 3, 2, made), "made up"))
    model = core().read_cluster_file(str(file))

    def native(dims: tuple[int, ...], size: int) -> float:
        question = neighborhood("moore:3:1", dims).exchange(bytes=size).question
        simulation = core().Simulation(core().native_schedule(question), model)
        while simulation.advance(1 << 20):
            pass
        return simulation.predicted_us * 1e-6

    assert native((3, 1, 1), SIZES[0]) == pytest.approx(made.direct, rel=0.02)
    assert native((3, 1, 1), SIZES[1]) == pytest.approx(made.direct_long, rel=0.05)
    direct = 13.5 * 2 * 2.5e-6 * 26
    assert native((3, 3, 3), SIZES[0]) == pytest.approx(direct, rel=0.02)


def test_rows_of_the_benchmark_give_their_medians() -> None:
    def row(algorithm: str, size: int, time: float, messages: int) -> dict[str, object]:
        names = ("requested", "bytes", "median_us", "messages_remote")
        return dict(zip(names, (algorithm, size, time, messages), strict=True))

    short, long = SIZES
    rows = [row("irecv", short, time, 18) for time in (150.0, 900.0, 160.0)]
    rows += [row("irecv", long, 200.0, 18), row("linear", short, 34.0, 2)]
    found = seen(rows)
    assert found.direct == pytest.approx(160e-6)
    assert (found.messages, found.peers, found.more_bytes) == (18, 2, 18 * (long - short))
