# SPDX-License-Identifier: BSD-3-Clause
"""tonari plan --json: fields, and values worked out by hand from the paper."""

from __future__ import annotations

import json

import pytest

FIELDS = {"algorithm", "variant", "rounds", "messages", "volume_blocks", "bytes", "predicted_us"}
FIELDS |= {"crossover_bytes"}


def counts(row):
    return row["rounds"], row["messages"], row["volume_blocks"]


def test_every_row_has_the_promised_fields_and_is_flat(rows):
    for row in rows("moore:3:1", "--bytes", "64").values():
        assert row.keys() >= FIELDS
        assert not any(isinstance(value, (list, dict)) for value in row.values())
        assert row["bytes"] == 64 * row["volume_blocks"]
        assert row["predicted_us"] > 0


@pytest.mark.parametrize(
    ("pattern", "op", "algorithm", "rounds", "volume"),
    [
        ("moore:3:1", "alltoall", "linear", 26, 26),
        ("moore:3:1", "alltoall", "torus", 6, 54),  # 6 faces, 12 edges, 8 corners: 6 + 24 + 24 hops
        ("moore:3:1", "alltoall", "torus-direct", 6, 54),
        ("moore:3:1", "allgather", "torus", 6, 26),
        ("moore:2:2", "allgather", "torus", 8, 24),
        ("octant:3", "alltoall", "torus", 3, 12),  # 3 + 3 * 2 + 3
        ("octant:3", "allgather", "torus", 3, 7),
        ("star:3:2", "alltoall", "torus", 12, 18),  # 6 * (1 + 2)
        ("star:3:2", "alltoall", "torus-direct", 12, 12),
        ("star:3:2", "allgather", "torus", 12, 12),
        # Not the 12 rounds that the paper's text counts.
        ("shells:3:3,7", "alltoall", "torus-direct", 42, 3948),
        ("moore:8:1", "alltoall", "torus", 16, 34992),  # 8 * 2 * 3^7
        ("moore:5:3", "alltoall", "torus", 30, 144060),  # 5 * 12 * 7^4
    ],
)
def test_rounds_and_volume(rows, pattern, op, algorithm, rounds, volume):
    row = rows(pattern, "--op", op)[algorithm]
    assert counts(row) == (rounds, rounds, volume)
    assert (row["closed_form_rounds"], row["closed_form_volume"]) == (rounds, volume)


def test_additive_bases_need_fewer_rounds(rows):
    (row,) = rows("moore:3:3", "--algorithm", "additive-basis").values()
    assert row["algorithm"] == "additive-basis" and 9 <= row["rounds"] < 18


def test_all_variants_run_from_nine_rounds_towards_torus_direct(tonari):
    done = tonari("plan", "moore:3:3", "--algorithm", "additive-basis", "--variants", "--json")
    variants = json.loads(done.stdout)
    assert [row["rounds"] for row in variants] == sorted({row["rounds"] for row in variants})
    assert variants[0]["rounds"] == 9  # {-3, 1, 2} along each dimension
    volumes = [row["volume_blocks"] for row in variants]
    assert volumes == sorted(volumes, reverse=True)


def test_combining_pays_for_small_blocks_only(rows):
    small, large = rows("moore:3:1", "--bytes", "8"), rows("moore:3:1", "--bytes", "1000000")
    crossover = small["torus"]["crossover_bytes"]
    assert 8 < crossover < 1000000
    assert crossover == large["torus"]["crossover_bytes"]
    assert small["torus"]["predicted_us"] < small["linear"]["predicted_us"]
    assert large["torus"]["predicted_us"] > large["linear"]["predicted_us"]
    assert small["linear"]["crossover_bytes"] == 0


def test_algorithms_that_are_not_applicable_have_no_row(rows):
    assert "additive-basis" not in rows("moore:3:1")
    assert "additive-basis" in rows("moore:3:2")


def test_a_corner_of_a_mesh_sends_only_inwards(rows):
    corner = rows("moore:2:1", "--dims", "4x4", "--mesh", "--rank", "0")
    assert corner["linear"]["messages"] == 3
    # Closed forms hold only where a rank has all its neighbors.
    assert corner["linear"]["closed_form_rounds"] is None
    assert counts(rows("moore:2:1", "--dims", "4x4", "--mesh")["torus"]) == (4, 4, 12)


def test_a_mix_of_periodic_and_not(rows):
    row = rows("moore:2:1", "--dims", "3x3", "--periodic", "1,0", "--rank", "0")["linear"]
    assert row["periodic"] == "1,0"
    assert row["messages"] == 5


def test_offsets_that_meet_on_a_small_torus_share_messages(rows):
    row = rows("moore:2:1", "--dims", "2x2")["linear"]
    assert counts(row) == (3, 3, 8)


def test_a_file_of_offsets(rows, tmp_path):
    path = tmp_path / "offsets.txt"
    octant = "1 0 0\n0,1,0\n0 0 1\n1 1 0\n1 0 1\n0 1 1\n1 1 1"
    path.write_text(f"# the paper's octant\n{octant}  # the corner\n")
    assert counts(rows(str(path))["torus"]) == (3, 3, 12)


def test_a_file_with_duplicates_and_the_rank_itself(rows, tmp_path):
    path = tmp_path / "offsets.txt"
    path.write_text("0 0\n1 0\n1 0\n0 2\n")
    linear, torus = rows(str(path))["linear"], rows(str(path))["torus"]
    assert counts(linear) == (2, 2, 3)
    assert counts(torus) == (3, 3, 4)


def test_ports_lengthen_the_chain(rows):
    assert rows("moore:2:1")["torus"]["depth"] == 2
    assert rows("moore:2:1", "--ports", "1")["torus"]["depth"] == 4


def test_alternating_storage_needs_no_more_scratch(rows):
    separate = rows("moore:3:3")["torus"]
    alternate = rows("moore:3:3", "--storage", "alternate")["torus"]
    assert alternate["scratch_blocks"] <= 342 < separate["scratch_blocks"]
    assert counts(alternate) == counts(separate)


def test_a_machine_file_changes_the_prediction(rows, tmp_path):
    import _tonari_core

    machine = _tonari_core.LogGP()
    machine.L = 1e-3
    path = tmp_path / "machine.txt"
    path.write_text(machine.to_text())
    slowly, usually = rows("moore:2:1", "--machine", str(path)), rows("moore:2:1")
    assert slowly["torus"]["predicted_us"] > 2000 > usually["torus"]["predicted_us"]


def test_proofs_are_in_the_rows(rows):
    assert all(row["proved"] for row in rows("moore:2:2", "--prove").values())
    assert all(row["proved"] is None for row in rows("moore:2:2").values())
