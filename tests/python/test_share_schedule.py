# SPDX-License-Identifier: BSD-3-Clause
"""tonari share --schedule: files are judged by a checker that knows their format and the pattern,
and nothing else. Programs run them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import built
import mpi4py_jobs as jobs
import numpy as np
import pytest
from command_line import printed, refused
from tonari.commands.share import analyze, analyze_settings
from tonari.communication import Communication
from tonari.core import core
from tonari.sharing_front import Comparison, Limit, Setting, compare
from tonari.views.share import show_front


def read(text):
    """Ranks and messages, (stage, from, to, blocks), of a schedule file."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines[0] == "tonari schedule 1"
    word, ranks = lines[1].split()
    assert word == "ranks"
    messages = []
    for line in lines[2:]:
        head, blocks = line.split(":")
        stage, sender, receiver = map(int, head.split())
        messages.append(
            (stage, sender, receiver, [tuple(map(int, b.split("-"))) for b in blocks.split()])
        )
    return int(ranks), messages


def check(text, pairs, ranks):
    """What is wrong with a schedule for the pairs of a pattern; nothing if it is right."""
    found, messages = read(text)
    if found != ranks:
        return f"{found} ranks"
    at = {pair: (pair[0], -1) for pair in pairs}  # where a block is, since which stage
    passed = {pair: {pair[0]} for pair in pairs}
    if messages != sorted(messages) or len({m[:3] for m in messages}) != len(messages):
        return "order"
    for stage, sender, receiver, blocks in messages:
        if stage < 0 or sender == receiver or not blocks or blocks != sorted(set(blocks)):
            return f"message {stage} {sender} {receiver}"
        for block in blocks:
            if block not in at:
                return f"block {block} is not of the pattern"
            rank, since = at[block]
            if rank != sender or since >= stage:
                return f"block {block} is not at {sender} in stage {stage}"
            if receiver in passed[block] or not 0 <= receiver < ranks:
                return f"block {block} comes to {receiver} again"
            at[block] = receiver, stage
            passed[block].add(receiver)
    late = [block for block, (rank, _) in at.items() if rank != block[1]]
    return f"lost {late}" if late else ""


def pattern(ranks, seed):
    """Hubs and others: {(from, to): words}."""
    random = np.random.default_rng(seed)
    return {
        (a, int(b)): int(random.integers(1, 30))
        for a in range(ranks)
        for b in random.choice(
            ranks, size=max(1, ranks - 2) if a < 2 else min(4, ranks), replace=False
        )
        if a != b
    }


@pytest.fixture
def matrix(tmp_path):
    def write(pairs, ranks):
        path = tmp_path / "c.mtx"
        lines = [f"{a + 1} {b + 1} {w}" for (a, b), w in pairs.items()]
        head = f"%%MatrixMarket matrix coordinate integer general\n{ranks} {ranks} {len(pairs)}\n"
        path.write_text(head + "\n".join(lines) + "\n")
        return str(path)

    return write


def write_schedule(tonari, path, scheme, file):
    arguments = ["share", path, "--communication", "--schemes", scheme]
    done = tonari(*arguments, "--schedule", str(file), "--json")
    assert done.stderr == ""
    return printed(done), file.read_text()


THESIS = ["thesis-1", "thesis-2"]
SCHEMES = ["direct", "store-and-forward/2", "forward-3", "sharing-1", "sharing-2", *THESIS] + [
    f"balanced/{point}"
    for point in (
        "2 stages",
        "2 stages price 5 words 1.1",
        "3 stages",
        "4 stages price 10",
        "5 stages",
        "6 stages price 2",
        "7 stages",
        "8 stages words 2",
    )
]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_schedules_deliver_and_are_what_is_counted(tonari, matrix, tmp_path, scheme):
    pairs = pattern(40, len(scheme))
    row, text = write_schedule(tonari, matrix(pairs, 40), scheme, tmp_path / "s.txt")
    assert check(text, pairs, 40) == ""
    (counted,) = json.loads(row)
    messages = read(text)[1]
    sent = Counter(sender for _, sender, _, _ in messages)
    received = Counter(receiver for _, _, receiver, _ in messages)
    words = sum(pairs[block] for *_, blocks in messages for block in blocks)
    assert counted["max_messages"] == max(sent.values())
    assert counted["max_recv"] == max(received.values())
    assert counted["stages"] == max(stage for stage, *_ in messages) + 1
    assert counted["words"] == pytest.approx(words / sum(pairs.values()))


def test_the_checker_finds_what_is_wrong(tonari, matrix, tmp_path):
    """Every line that is dropped, and every block that leaves a stage earlier, is found."""
    pairs = pattern(24, 3)
    _, text = write_schedule(tonari, matrix(pairs, 24), "balanced/3 stages", tmp_path / "s.txt")
    lines = text.splitlines()
    assert check(text, pairs, 24) == ""
    for k in range(3, len(lines)):
        assert check("\n".join(lines[:k] + lines[k + 1 :]), pairs, 24)
    silent = next((a, b) for a in range(24) for b in range(24) if a != b and (a, b) not in pairs)
    assert check(text, {**pairs, silent: 1}, 24)
    assert check(text, pairs, 25)


def test_one_scheme_has_one_schedule(tonari, matrix, tmp_path):
    path, file = matrix(pattern(12, 1), 12), tmp_path / "s.txt"
    arguments = ["share", path, "--communication", "--schedule", str(file), "--schemes"]
    refused(tonari(*arguments, "balanced"), "the schedule of one scheme")
    refused(tonari(*arguments, "balanced/9 stages"), "'2 stages' to '8 stages'")
    assert not file.exists()
    there = ["share", path, "--communication", "--schemes", "direct", "--schedule", str(tmp_path)]
    refused(tonari(*there), "cannot write the schedule")


def run(mpi, ranks, folder, pairs, words):
    """What follows_schedule.py has done on ranks."""
    (folder / "pairs.json").write_text(json.dumps(sorted(pairs)))
    program = jobs.RANKS / "follows_schedule.py"
    return jobs.run(mpi, ranks, folder, program, str(folder / "pairs.json"), *words)


@jobs.needed
@jobs.on_ranks([5], [], [2, 3, 8])
def test_programs_run_what_is_written(tonari, matrix, tmp_path, mpi, ranks):
    pairs = pattern(ranks, 4)
    words, counts = [], []
    for scheme in ["direct", "sharing-2", "balanced/3 stages"]:
        file = tmp_path / f"{scheme.replace('/', ' ')}.txt"
        _, text = write_schedule(tonari, matrix(pairs, ranks), scheme, file)
        sent = Counter(sender for _, sender, _, _ in read(text)[1])
        words.append(f"tonari_schedule={file}")
        counts.append([sent[rank] for rank in range(ranks)])
    assert json.loads(jobs.succeeded(run(mpi, ranks, tmp_path, pairs, words))) == counts


@jobs.needed
@jobs.on_ranks([3], [], [1, 2, 5, 8])
def test_programs_run_the_thesis(tonari, matrix, tmp_path, mpi, ranks):
    pairs = pattern(ranks, 6)
    words, counts = [], []
    for scheme in THESIS:
        file = tmp_path / f"{scheme}.txt"
        _, text = write_schedule(tonari, matrix(pairs, ranks), scheme, file)
        assert check(text, pairs, ranks) == ""
        sent = Counter(sender for _, sender, _, _ in read(text)[1])
        words.append(f"tonari_schedule={file}")
        counts.append([sent[rank] for rank in range(ranks)])
    assert json.loads(jobs.succeeded(run(mpi, ranks, tmp_path, pairs, words))) == counts


@pytest.mark.parametrize("seed", range(4))
def test_the_thesis_sends_what_its_table_says(tonari, matrix, tmp_path, seed):
    """--thesis --schedule writes what Phase II makes; both phases are counted here once more."""
    ranks, pairs, file = 40, pattern(40, seed), tmp_path / "s.txt"
    path = matrix(pairs, ranks)
    done = tonari("share", path, "--communication", "--thesis", "--schedule", str(file), "--json")
    row = next(row for row in json.loads(printed(done)) if row["by"] == "thesis")
    texts = {"phase_2": file.read_text()}
    _, texts["phase_1"] = write_schedule(tonari, path, "thesis-1", tmp_path / "1.txt")
    _, texts["initial"] = write_schedule(tonari, path, "direct", tmp_path / "0.txt")
    for phase, text in texts.items():
        assert check(text, pairs, ranks) == ""
        messages = read(text)[1]
        sent = Counter(sender for _, sender, _, _ in messages)
        assert row[f"average_messages_{phase}"] == pytest.approx(len(messages) / ranks)
        assert row[f"bottleneck_messages_{phase}"] == max(sent.values())
    between = [message[1:3] for message in read(texts["phase_1"])[1]]
    extra = sum(pair not in pairs for pair in between)
    assert row["average_overhead"] == pytest.approx(extra / ranks)
    most = [row[f"bottleneck_messages_{phase}"] for phase in ("initial", "phase_1", "phase_2")]
    assert most[0] > most[1] > most[2]


@jobs.needed
@jobs.on_ranks([3], [], [])
def test_a_schedule_for_another_pattern_is_refused(tonari, matrix, tmp_path, mpi, ranks):
    pairs = pattern(ranks, 4)
    file = tmp_path / "s.txt"
    write_schedule(tonari, matrix(pairs, ranks), "direct", file)
    done = run(mpi, ranks, tmp_path, sorted(pairs)[1:], [f"tonari_schedule={file}"])
    assert done.returncode != 0
    assert f"the schedule '{file}' cannot be used: block" in done.stderr
    assert "is not of the pattern" in done.stderr


ELEMENTS = 5  # in a block of follows_schedule.py
FRONT = ["--communication", "--schemes", "direct,forward-2,sharing-2", "--front"]


def ways_to_run(text):
    """The last lines of the readable form: {a point in short: what a program says}."""
    lines = text.rstrip().splitlines()
    count = next(k for k, line in enumerate(reversed(lines)) if line.endswith("What runs them:"))
    return dict(line.split(maxsplit=1) for line in lines[len(lines) - count :])


# Whether a front has a point that is a limit of words changes with the planners.
LIMIT = "balanced/words 1.5"


@jobs.needed
@jobs.on_ranks([8], [], [])
@pytest.mark.parametrize("dense", [False, built.more(True)])
def test_what_the_front_prints_runs(tonari, matrix, tmp_path, mpi, ranks, dense):
    """A file per point, with the messages that the table has; all of them, and what is printed
    without files, run as it is printed. And so does a limit of words."""
    pairs = {(a, b): ELEMENTS for a in range(ranks) for b in range(ranks) if (a - b) % ranks > 1}
    if not dense:
        pairs = dict.fromkeys(pattern(ranks, 13), ELEMENTS)
    path, folder = matrix(pairs, ranks), tmp_path / "front"
    done = tonari("share", path, *FRONT, "--schedule", str(folder), "--json")
    rows = [row for row in json.loads(printed(done)) if row["schedule"]]
    for row in rows:
        text = Path(row["schedule"]).read_text()
        assert check(text, pairs, ranks) == ""
        sent = Counter(sender for _, sender, _, _ in read(text)[1])
        assert row["max_messages"] == max(sent.values())
    ways = ways_to_run(printed(tonari("share", path, *FRONT, "--schedule", str(folder))))
    assert {*ways.values()} == {f"tonari_schedule={row['schedule']}" for row in rows}
    assert {file.name for file in folder.iterdir()} == {Path(row["schedule"]).name for row in rows}
    named = ways_to_run(printed(tonari("share", path, *FRONT)))
    assert [*named] == [*ways]
    assert all(way.startswith("tonari_algorithm=balanced/") for way in named.values())
    limit = tmp_path / "limit.txt"
    (limited,) = json.loads(write_schedule(tonari, path, LIMIT, limit)[0])
    words = [*(f"tonari_schedule={row['schedule']}" for row in rows), *named.values()]
    words += [f"tonari_schedule={limit}", f"tonari_algorithm={LIMIT}"]
    counts = json.loads(jobs.succeeded(run(mpi, ranks, tmp_path, pairs, words)))
    most = {row["schedule"]: row["max_messages"] for row in rows}
    shown = [most[way.removeprefix("tonari_schedule=")] for way in ways.values()]
    assert [max(count) for count in counts] == [
        *[row["max_messages"] for row in rows],
        *shown,
        *[limited["max_messages"]] * 2,
    ]


def test_no_point_of_the_front_loses_to_another_scheme():
    """Where all write to nearly all, too: nothing has fewer words at as few messages, or fewer
    messages at as few words."""
    for ranks, seed, missing in [(24, 1, 0.0), (40, 3, 0.3)]:
        random = np.random.default_rng(seed)
        cells = random.random((ranks, ranks)) >= missing
        np.fill_diagonal(cells, False)
        words = random.integers(1, 9, cells.sum()).astype(np.uint64)
        a, b = (side.astype(np.int32) for side in np.nonzero(cells))
        dense = Communication(ranks, a, b, words, "")
        answers = analyze(dense)
        others = [answer for answer in answers if answer.scheme not in ("direct", "balanced")]
        compared = compare(others, analyze_settings(dense, answers))
        assert len(compared) == len(others) > 4
        for row in compared:
            for _, point in filter(None, (row.fewest_messages, row.fewest_words)):
                for other in others:
                    ours, theirs = ((one.max_messages, one.words) for one in (point, other))
                    assert ours == theirs or ours[0] < theirs[0] or ours[1] < theirs[1]
            assert row.fewest_messages and row.fewest_words


def test_patterns_too_large_for_one_rank_run_by_a_schedule(capsys):
    c = core()

    def runs_by_name(ranks, pairs):
        a, b = (side.astype(np.int32) for side in np.array(pairs).T)
        return c.CommunicationMatrix(ranks, a, b, np.ones(len(a), np.uint64)).runs_by_name

    a, k = np.divmod(np.arange(2048 * 512), 512)
    near = np.stack([a, (a + k + 1) % 2048], axis=1)
    assert runs_by_name(2048, near)
    assert not runs_by_name(2048, np.append(near, [[0, 513]], axis=0))
    assert not runs_by_name(1 << 15, near[:9])
    answer = c.CommunicationMatrix(
        2, np.array([0], np.int32), np.array([1], np.int32), np.array([1], np.uint64)
    ).analyze("direct", "", c.LogGP())
    front = [Comparison(answer, (Setting(2), answer), (Limit(1.5), answer))]
    for by_name, files, said in [
        (True, {}, ["tonari_algorithm=balanced/2 stages", "tonari_algorithm=balanced/words 1.5"]),
        (False, {}, ["by a schedule: --schedule FOLDER writes it"] * 2),
        (
            False,
            {Setting(2): Path("a"), Limit(1.5): Path("b")},
            ["tonari_schedule=" + f for f in "ab"],
        ),
    ]:
        show_front(front, files, by_name)
        assert [*ways_to_run(capsys.readouterr().out).values()] == said


def test_the_front_needs_a_folder(tonari, matrix, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    there = ["share", matrix(pattern(12, 1), 12), *FRONT, "--schedule", str(file)]
    refused(tonari(*there), "cannot make a folder")
