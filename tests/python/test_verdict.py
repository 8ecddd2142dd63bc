# SPDX-License-Identifier: BSD-3-Clause
"""The sentence with which every benchmark closes, on rows that are made up."""

from __future__ import annotations

from typing import Any

import pytest
from command_line import shown
from tonari.benchmark import verdicts
from tonari.benchmark.verdict import Case, caveats, interval, sentence, span
from tonari.views import verdict as view

Row = dict[str, Any]


def bench(requested: str, median_us: float, size: int = 8, **fields: Any) -> Row:
    return {
        "pattern": "moore:3:1", "op": "alltoall", "bytes": size, "requested": requested,
        "algorithm": requested, "median_us": median_us, "q1_us": median_us, "q3_us": median_us,
        "rounds": 200, "ranks": 2, "mpi": "openmpi", "verified": True, "disturbed": False,
        "repeat": 0,
    } | fields  # fmt: skip


def times(auto: dict[int, float], native: float = 10.0, **fields: Any) -> list[Row]:
    """Rows of auto by size beside native and irecv, which is the slower one."""
    rows = []
    for size, ratio in auto.items():
        of_mpi = [bench("native", native, size), bench("irecv", 2 * native, size)]
        rows += [bench("auto", native / ratio, size, **fields), *of_mpi]
    return rows


def said(*rows: Row) -> str:
    (text,) = verdicts.of_bench(list(rows))
    return text


MPI = "the best MPI alternative"


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ({8: 13}, f"tonari (auto) is 13 times as fast as {MPI}."),
        ({8: 13, 512: 2.1}, f"tonari (auto) is 2.1 to 13 times as fast as {MPI}."),
        (
            {8: 13, 512: 2.1, 32768: 0.9},
            f"tonari (auto) is 2.1 to 13 times as fast as {MPI}; slower at 32 KiB (0.90).",
        ),
        (
            {8: 3, 512: 1.04, 4096: 0.97},
            f"tonari (auto) is 3.0 times as fast as {MPI}; as fast within noise at 512 B, "
            "at 4 KiB.",
        ),
        (
            {8: 3, 512: 1, 4096: 0.5},
            f"tonari (auto) is 3.0 times as fast as {MPI}; as fast within noise at 512 B; slower "
            "at 4 KiB (0.50).",
        ),
        ({8: 0.99}, f"tonari (auto) is as fast as {MPI} within noise (0.99)."),
        (
            {8: 1.02, 64: 0.7},
            f"tonari (auto) is as fast as {MPI} within noise (1.02); slower at 64 B (0.70).",
        ),
        ({8: 0.5, 64: 0.8}, f"tonari (auto) is slower than {MPI}: 0.50 to 0.80 times as fast."),
        (
            {8: 4, 16: 0.5, 32: 0.6, 64: 0.7, 128: 0.8},
            f"tonari (auto) is 4.0 times as fast as {MPI}; slower in 4 of 5 cases (0.50 to 0.80).",
        ),
    ],
)  # fmt: skip
def test_faster_equal_and_slower(ratios: dict[int, float], expected: str) -> None:
    assert said(*times(ratios)) == expected


def test_medians_within_their_confidence_are_equal() -> None:
    """1.57 times the quartiles' distance over the root of the rounds, on both sides; where one
    quartile is further off, that side is longer."""
    wide, narrow = (bench("auto", 10.0, q1_us=1.0, q3_us=q3) for q3 in (19.0, 1.9))
    half = 1.57 * 18 / 200**0.5
    assert interval(wide) == pytest.approx((10 - half, 10 + half))
    tail = bench("native", 20.0, q1_us=19.5, q3_us=900.0)
    assert interval(tail) == pytest.approx((20 - 1.57 / 200**0.5, 20 + 1.57 * 1760 / 200**0.5))
    assert "is 2.0 times as fast" in said(bench("auto", 10.0), tail)
    assert "within noise (1.15)" in said(wide, bench("native", 11.5))
    assert "is 1.15 times as fast" in said(narrow, bench("native", 11.5))
    assert "is 1.21 times as fast" in said(wide, bench("native", 12.06, q1_us=12, q3_us=12.1))
    few = bench("auto", 10.0, q1_us=9.0, q3_us=10.9, rounds=4)
    assert "within noise" in said(few, bench("native", 11.4))


def test_repeats_decide_what_is_noise() -> None:
    ratios = (0.8, 1.5, 1.6)
    repeats = [row | {"repeat": i} for i, r in enumerate(ratios) for row in times({8: r, 64: 5})]
    text = said(*repeats)
    assert "is 5.0 times as fast" in text and "as fast within noise at 8 B" in text
    assert text.endswith("; but between the repeats the ratio moved by up to 53 %.")
    steady = [row | {"repeat": i} for i, r in enumerate((1.2, 1.25)) for row in times({8: r})]
    assert said(*steady) == f"tonari (auto) is 1.23 times as fast as {MPI}."


def test_a_disturbed_machine_is_no_quiet_verdict() -> None:
    text = said(*times({8: 2}, disturbed=True))
    assert text.endswith("; but something else disturbed the machine, so repeat it.")
    spinning = [row | {"mpi": "mpich", "ranks": 4} for row in times({8: 2})]
    assert caveats(spinning, [], cores=4) == []
    assert "spin" in caveats(spinning, [], cores=2)[0]
    assert caveats([row | {"mpi": "openmpi"} for row in spinning], [], cores=2) == []


def test_wrong_data_is_compared_with_nothing() -> None:
    auto, wrong = bench("auto", 5.0), bench("native", 1.0, verified=False)
    assert "is 2.0 times as fast" in said(auto, wrong, bench("irecv", 10.0))
    assert said(auto, wrong) == "No verdict: what MPI did here delivered wrong data."
    assert said(auto | {"verified": False}, bench("irecv", 1.0)) == (
        "No verdict: what tonari did here delivered wrong data."
    )


def test_without_a_partner_there_is_no_verdict() -> None:
    floor = bench("floor", 0.1)
    assert said(bench("auto", 5.0), floor).endswith(
        "nothing of MPI ran that does the same work; ask for native."
    )
    assert "nothing of tonari ran" in said(bench("native", 5.0), floor)
    assert "nothing of tonari ran" in said(bench("native", 5.0), bench("auto/requests", 1.0))
    assert "same case" in said(bench("auto", 5.0), bench("native", 5.0, 64))


def test_who_is_compared() -> None:
    """auto, if it ran, however fast others are; else the fastest."""
    native, torus, linear = bench("native", 10.0), bench("torus", 2.0), bench("linear", 5.0)
    assert said(native, torus, bench("auto", 5.0)).startswith("tonari (auto) is 2.0 times")
    assert said(native, torus).startswith("tonari (torus) is 5.0 times")
    assert said(native, torus, linear).startswith("The fastest of tonari is 5.0 times")
    others = [bench(name, 0.1) for name in ("auto/start-with", "linear/shared/view", "floor")]
    assert said(native, torus, *others).startswith("tonari (torus) is 5.0 times")


def test_cases_are_called_by_what_tells_them_apart() -> None:
    other = [row | {"pattern": "star:2:1"} for row in times({8: 0.5, 64: 2})]
    assert said(*times({8: 2, 64: 2}), *other).endswith(
        "slower for star:2:1 alltoall at 8 B (0.50)."
    )
    alone = [row | {"pattern": "star:2:1"} for row in times({8: 0.5})]
    assert said(*times({8: 2}), *alone).endswith("; slower for star:2:1 alltoall (0.50).")


@pytest.mark.parametrize(
    ("ratios", "text"),
    [((0.9,), "0.90"), ((1.06,), "1.06"), ((2.04, 9.96), "2.0 to 10"), ((31.4, 31.2), "31")],
)
def test_numbers_have_two_or_three_digits(ratios: tuple[float, ...], text: str) -> None:
    assert span([Case("", (ratio,)) for ratio in ratios]) == text


def test_sentences_fit() -> None:
    cases = [Case(f"at {n} KiB", (ratio,)) for n, ratio in enumerate((0.5, 1.0, 0.8, 12.0))]
    lines = shown(view.show, _console(), [sentence(cases, "tonari (auto)", MPI) + "."])
    assert len(lines) > 1 and lines[0].startswith("tonari (auto) is 12 times as fast")


def _console() -> Any:
    from tonari import output

    return output.console()


# Each kind of benchmark


def in_place(algorithm: str, median_us: float, budget: int | None = None, **fields: Any) -> Row:
    return bench(algorithm, median_us) | {"exchange": "symmetric", "budget_bytes": budget} | fields


def test_in_place_is_compared_in_place_for_each_budget() -> None:
    rows = [in_place("native-out-of-place", 1.0), in_place("native-inplace", 20.0)]
    rows += [in_place("sendrecv-replace", 10.0)]
    rows += [in_place("linear-shift", us, size) for us, size in ((20.0, 4096), (5.0, 1 << 20))]
    rows += [in_place("mpich-order", 4.0, 1 << 20)]
    assert verdicts.of_inplace(rows) == [
        "The fastest of tonari is 2.5 times as fast as the best of MPI in place; slower in 4 KiB "
        "(0.50)."
    ]
    general = [in_place("native-out-of-place", 8.0, exchange="general")]
    general += [in_place("general", 4.0, 4096, exchange="general")]
    assert verdicts.of_inplace(rows + general)[1:] == [
        "tonari (general) is 2.0 times as fast as MPI with a second buffer."
    ]
    assert verdicts.of_inplace(rows[:2])[0].startswith("No verdict: nothing of tonari")


def halo(name: str, median_us: float, size: int = 64) -> Row:
    storage, _, exchange = name.rpartition("/")
    return bench(name, median_us) | {
        "storage": storage or "buffers",
        "exchange": exchange,
        "size": size,
    }


def test_halos_are_compared_on_arrays_and_in_the_fastest_storage() -> None:
    rows = [halo("array/pack", 30.0), halo("array/datatypes", 60.0), halo("network", 1.0)]
    rows += [halo("array/auto", 10.0), halo("array/faces", 0.1), halo("mapped/memmap", 3.0)]
    assert verdicts.of_halo(rows) == [
        "tonari (array/auto) is 3.0 times as fast as the best of plain MPI; mapped/memmap, the "
        "fastest here, 10 times."
    ]
    (text,) = verdicts.of_halo(rows[:4])
    assert text.endswith("plain MPI.")
    (text,) = verdicts.of_halo([*rows[:3], rows[-1]])
    assert text.startswith("tonari (mapped/memmap) is 10 times")


def product(candidate: str, median_us: float, kind: str = "forward", ranks: int = 2) -> Row:
    return bench(candidate, median_us) | {"candidate": candidate, "kind": kind, "ranks": ranks}


def test_products_are_compared_by_kind_and_ranks() -> None:
    rows = [product("native", 10.0), product("irecv", 8.0), product("start-with", 0.1)]
    rows += [product("vector/auto", 4.0), product("auto", 2.0)]
    assert verdicts.of_spmv(rows) == [f"tonari (vector/auto) is 2.0 times as fast as {MPI}."]
    more = [product("native", 1.0, "rows", 8), product("vector/auto", 2.0, "rows", 8)]
    (text,) = verdicts.of_spmv(rows + more)
    assert text.endswith("slower for rows on 8 ranks (0.50).")


def test_predictions_say_that_they_are_some() -> None:
    def row(name: str, us: float) -> Row:
        return {"kind": "simulated", "ranks": 512, "candidate": name, "predicted_us": us}

    rows = [row("direct", 10.0), row("balanced", 4.0)]
    expected = "Predicted, not measured: on 512 ranks balanced is 2.5 times as fast as direct."
    assert verdicts.of_spmv(rows) == [expected]
    assert verdicts.of_spmv([row("direct", 1.0), row("balanced", 4.0)]) == [
        "Predicted, not measured: on 512 ranks nothing is faster than direct."
    ]
    assert "No verdict" in verdicts.of_spmv(rows[1:])[0]


def test_sparse_exchanges_are_compared_with_what_programs_write() -> None:
    rows = [bench("counts", 10.0), bench("plain-nbx", 5.0), bench("auto", 2.0), bench("nbx", 1.0)]
    assert verdicts.of_sparse(rows) == [
        "tonari (auto) is 2.5 times as fast as the best of what programs write with MPI."
    ]
    assert verdicts.of_sparse(rows[2:])[0].endswith("ask for counts.")


def test_setup_compares_constructors() -> None:
    def row(function: str, us: float, algorithm: str = "") -> Row:
        made = bench("", us) | {"function": function, "algorithm": algorithm}
        return {key: value for key, value in made.items() if key not in ("verified", "disturbed")}

    rows = [row("MPI_Dist_graph_create_adjacent", 30.0), row("MPI_Dist_graph_create", 50.0)]
    rows += [row("tonari_neighborhood_create_cart", 60.0)]
    rows += [row("tonari_alltoall_init", us, "auto") for us in (7.0, 120.0)]
    assert verdicts.of_setup(rows) == [
        "tonari_neighborhood_create_cart is slower than MPI's fastest constructor of a graph: 0.50 "
        "times as fast.",
        "Making a request that tonari chooses takes 7.0 µs to 120.0 µs.",
    ]
