# SPDX-License-Identifier: BSD-3-Clause
"""tonari share of products: words where ranks on the way add, counted here once more; and vectors
that run on such routes send what is counted, in each hop."""

from __future__ import annotations

import json
from collections import Counter

import mpi4py_jobs as jobs
import numpy as np
import pytest
from command_line import printed
from test_share_schedule import read

# What runs the rows of `tonari share`.
ROUTES = {
    "balanced/2 stages": "balanced",
    "balanced/3 stages": "balanced/3 stages",
    "sharing-1": "message-sharing/whole pattern phase I",
    "sharing-2": "message-sharing",
}


def product(ranks, seed):
    """Rows of a matrix and their owners: a few rows are full, so that all ranks add to them."""
    random = np.random.default_rng(seed)
    size = 4 * ranks
    entries = {(i, i) for i in range(size)}
    entries |= {
        (i, int(j)) for i in (1, 2, size // 2) for j in random.permutation(size)[: size - 3]
    }
    entries |= {(int(i), int(j)) for i, j in random.integers(0, size, (3 * size, 2))}
    cuts = [size * r // ranks for r in range(ranks + 1)]
    owners = [r for r in range(ranks) for _ in range(cuts[r], cuts[r + 1])]
    return sorted(entries), owners, cuts


@pytest.fixture
def files(tmp_path):
    def write(entries, owners):
        matrix, partition = tmp_path / "a.mtx", tmp_path / "a.part"
        lines = "".join(f"{i + 1} {j + 1}\n" for i, j in entries)
        head = f"{len(owners)} {len(owners)} {len(entries)}\n"
        matrix.write_text("%%MatrixMarket matrix coordinate pattern general\n" + head + lines)
        partition.write_text("".join(f"{owner}\n" for owner in owners))
        return str(matrix), str(partition)

    return write


def share(tonari, files, scheme, schedule):
    matrix, partition = files
    arguments = ["share", matrix, "--partition", partition, "--schemes", scheme]
    done = tonari(*arguments, "--schedule", str(schedule), "--json")
    return json.loads(printed(done))[-1], read(schedule.read_text())[1]


def hops_of_sums(entries, owners, messages):
    """(stage, from, to) for each part of a sum that travels: a rank passes on what it has of a sum
    once, with the last message that carries any of it."""
    parts = {}
    for i, j in entries:
        parts.setdefault(i, set()).add(owners[j])
    hops = []
    for row, ranks in parts.items():
        owner = owners[row]
        last = {}
        for stage, sender, receiver, blocks in messages:
            if any(target == owner and origin in ranks for origin, target in blocks):
                found = last.get(sender, (-1, 0))
                last[sender] = max(found, (stage, -receiver))
        there = set()  # ranks that have a part of this sum, or get one
        for rank in ranks - {owner}:
            while rank != owner and rank not in there:
                there.add(rank)
                hops.append((last[rank][0], rank, -last[rank][1]))
                rank = -last[rank][1]
    return hops


@pytest.mark.parametrize("scheme", ["direct", "store-and-forward/2", *ROUTES])
def test_words_are_counted(tonari, files, tmp_path, scheme):
    entries, owners, _ = product(24, len(scheme))
    row, messages = share(tonari, files(entries, owners), scheme, tmp_path / "s.txt")
    hops = hops_of_sums(entries, owners, messages)
    direct = len({(i, owners[j]) for i, j in entries if owners[i] != owners[j]})
    assert row["added_words"] == pytest.approx(len(hops) / direct)
    assert row["added_messages"] == pytest.approx(len({*hops}) / 24)
    assert row["added_messages"] <= row["avg_messages"]
    if scheme == "direct":
        assert row["added_words"] == row["words"] == 1
    else:
        assert row["added_words"] < row["words"]


def test_words_of_a_communication_matrix_are_not_known(tonari, tmp_path):
    path = tmp_path / "c.mtx"
    path.write_text("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 5\n")
    rows = json.loads(printed(tonari("share", str(path), "--communication", "--json")))
    assert {(row["added_words"], row["added_messages"]) for row in rows} == {(None, None)}


@jobs.needed
@jobs.on_ranks([5], [], [1, 2, 3, 8])
def test_vectors_send_what_is_counted(tonari, files, tmp_path, mpi, ranks):
    entries, owners, cuts = product(ranks, 7)
    paths = files(entries, owners)
    wanted, as_planned = [], 0
    for scheme in ROUTES:
        row, messages = share(tonari, paths, scheme, tmp_path / "s.txt")
        hops = hops_of_sums(entries, owners, messages)
        sent = {*hops}
        as_planned += sent == {message[:3] for message in messages}
        assert len(sent) == round(row["added_messages"] * ranks)
        stages = sorted({stage for stage, *_ in sent})
        by_stage = Counter(message[:2] for message in sent)
        words = Counter(sender for _, sender, _ in hops)
        wanted.append(
            [
                [[by_stage[stage, rank] for stage in stages], 8 * words[rank]]
                for rank in range(ranks)
            ]
        )
    (tmp_path / "a.json").write_text(json.dumps({"cuts": cuts, "entries": entries}))
    program = jobs.RANKS / "adds_on_the_way.py"
    done = jobs.run(mpi, ranks, tmp_path, program, str(tmp_path / "a.json"), *ROUTES.values())
    assert json.loads(jobs.succeeded(done)) == wanted
    assert as_planned >= 2  # no message of the plan is left out, mostly
