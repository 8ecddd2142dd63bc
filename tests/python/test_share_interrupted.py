# SPDX-License-Identifier: BSD-3-Clause
"""tonari share shows how far it is, and Ctrl-C ends it at once: with a sentence about what is left
out, with status 130, and without half files."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pytest
from terminal import interrupted_when
from tonari.commands.share import write_front
from tonari.communication import Communication
from tonari.interruptible import Interrupted, run
from tonari.sharing_front import Limit, Setting

LEFT_OUT = "stopped; {} are missing".format


def pattern(ranks: int, targets: int) -> Communication:
    random = np.random.default_rng(1)
    pairs = [
        (a, int(b))
        for a in range(ranks)
        for b in random.choice(ranks, size=targets, replace=False)
        if a != b
    ]
    senders, receivers = np.array(pairs, dtype=np.int32).T.copy()
    return Communication(ranks, senders, receivers, np.full(len(pairs), 3, np.uint64), "")


def matrix_file(path: Path, one: Communication) -> str:
    lines = [f"{a + 1} {b + 1} 3" for a, b in zip(one.senders, one.receivers, strict=True)]
    path.write_text(
        f"%%MatrixMarket matrix coordinate integer general\n{one.ranks} {one.ranks} {len(lines)}\n"
        + "\n".join(lines)
        + "\n"
    )
    return str(path)


def test_ctrl_c_ends_the_front_at_once(tmp_path):
    path = matrix_file(tmp_path / "m.mtx", pattern(256, 60))
    made = tmp_path / "out.json"
    command = ["share", path, "--communication", "--front", "--output", str(made)]
    end, seconds = interrupted_when(command, "planning for 256 ranks, the front")
    assert seconds < 20  # the front takes longer
    last = end.strip().splitlines()[-1]
    assert "tonari: stopped; " in last
    assert last.endswith("points of the front are not planned")
    assert not made.exists()


def test_a_schedule_is_whole_or_not_there(tmp_path, monkeypatch):
    """Ctrl-C comes between the second file and its name."""
    replace = Path.replace
    calls = []

    def interrupted(self, target):
        calls.append(target)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    front = [Setting(2), Setting(3), Limit(1.5)]
    with pytest.raises(Interrupted, match="stopped; 2 of 3 schedules are not in") as stop:
        write_front(pattern(24, 6), front, tmp_path / "front")
    assert str(stop.value).endswith("and those there are whole")
    (file,) = (tmp_path / "front").iterdir()
    assert file == calls[0]
    assert file.read_text().startswith("tonari schedule 1\nranks 24\n")


def test_results_come_in_the_order_of_items():
    finished = []
    waits = [0.05, 0, 0.02, 0]

    def work(wait):
        time.sleep(wait)
        return 10 * wait

    found = run(
        work, waits, doing="", left_out=LEFT_OUT, finish=lambda *both: finished.append(both)
    )
    assert found == [10 * wait for wait in waits]
    assert sorted(finished) == sorted(zip(waits, found, strict=True))
    assert run(work, [], doing="", left_out=LEFT_OUT) == []


def test_an_error_of_one_ends_all():
    def work(item):
        if item == 1:
            raise ValueError("the second")
        return item

    before = set(threading.enumerate())  # one of them may end by itself
    with pytest.raises(ValueError, match="the second"):
        run(work, range(50), doing="", left_out=LEFT_OUT)
    assert set(threading.enumerate()) <= before


def test_ctrl_c_says_how_many_are_missing():
    def stop(item, _):
        if item == 3:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match=r"^stopped; \d+ are missing$"):
        run(lambda item: item, range(9), doing="", left_out=LEFT_OUT, finish=stop)
