# SPDX-License-Identifier: BSD-3-Clause
"""What a user of Slurm relies on: srun starts ranks, hosts are nodes, wisdom is shared, and jobs
that are told to end leave a report and nothing else."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import OF_MPICH, PROGRAM, Slurm, running, until
from slurm_combining import run

TWO_HOSTS = ("-N", "2", "-n", "4")
LONG = f"{PROGRAM} --starts 100000000"


def chosen(said: str) -> str:
    return re.search(r"^chosen: .* \((.*)\)$", said, re.MULTILINE)[1]


def measured(slurm: Slurm) -> None:
    """Until the times vary little enough to be remembered: hosts share a few cores."""
    said = slurm.run(*TWO_HOSTS, TONARI_TUNE="auto")
    for _ in range(5):
        assert chosen(said) == "measured"
        if "this is not remembered" not in said:
            return
        said = slurm.run(*TWO_HOSTS, TONARI_TUNE="auto")
    pytest.fail("times vary too much on this machine")


def left_in_shm() -> list[Path]:
    return [*Path("/dev/shm").glob("tonari*")]


@pytest.mark.parametrize(("program", "way"), [(PROGRAM, "pmix"), (OF_MPICH, "pmi2")], ids=str)
def test_hosts_are_nodes(slurm: Slurm, program: Path, way: str) -> None:
    if not program.exists():
        pytest.skip(f"there is no {program}")
    said = slurm.run(
        *TWO_HOSTS, f"--mpi={way}", program=program,
        TONARI_TUNE="off", TONARI_ALGORITHM="linear", TONARI_CHANNEL="shared",
    )  # fmt: skip
    assert sorted(re.findall(r"rank (\d) on (\w+)", said)) == [
        ("0", "h0"), ("1", "h0"), ("2", "h1"), ("3", "h1"),
    ]  # fmt: skip
    assert "sends: 3 messages (1 shared, 2 p2p-packed)" in said


def test_later_jobs_and_steps_know_what_the_first_one_measured(slurm: Slurm) -> None:
    measured(slurm)
    assert chosen(slurm.run(*TWO_HOSTS, TONARI_TUNE="auto")) == "wisdom"
    steps = f"srun {PROGRAM} --starts 5\nsrun {PROGRAM} --starts 5"
    job = slurm.submit(*TWO_HOSTS, "--wait", script=steps, TONARI_TUNE="auto")
    assert re.findall(r"\((measured|wisdom)\)", slurm.said(job)) == ["wisdom", "wisdom"]


def test_tasks_of_an_array_share_wisdom(slurm: Slurm) -> None:
    job = slurm.submit(
        *TWO_HOSTS, "--wait", "--array=0-2%1", "--output=%A_%a.out",
        script=f"srun {PROGRAM} --starts 5", TONARI_TUNE="auto",
    )  # fmt: skip
    said = [slurm.said(f"{job}_{k}") for k in range(3)]
    remembered = [k for k in range(3) if "this is not remembered" not in said[k]]
    first = remembered[0]
    assert [chosen(text) for text in said] == ["measured"] * (first + 1) + ["wisdom"] * (2 - first)


def test_jobs_that_write_wisdom_at_once_lose_nothing(slurm: Slurm) -> None:
    """Each step has block sizes of its own, and so a line of its own. Both jobs begin on one host,
    because wisdom is kept by the host of rank 0."""
    jobs = [
        slurm.submit(
            "-w", "h0,h1", "-n", "2", "--ntasks-per-node=1",
            script="\n".join(
                f"srun {PROGRAM} --starts 5 --words {words}" for words in (1, 100, 10_000)
            ).replace("--words ", f"--words {number}"),
            TONARI_TUNE="auto", TONARI_TUNE_SECONDS="0.05",
        )
        for number in (1, 2)
    ]  # fmt: skip
    until("both at once", lambda: all(slurm.state(job) == "RUNNING" for job in jobs))
    for job in jobs:
        until(f"the end of job {job}", lambda job=job: slurm.ended(job))
        assert re.findall(r"\((\w+)\)", slurm.said(job)).count("measured") == 3
    varied = sum(slurm.said(job).count("this is not remembered") for job in jobs)
    lines = (slurm.folder / "cache" / "wisdom").read_text().splitlines()
    assert len(lines) == 1 + 6 - varied, lines
    assert varied < 6


@pytest.mark.parametrize("way", ["--signal=USR1", "--signal=TERM", ""])
def test_scancel_ends_a_job_with_its_report(slurm: Slurm, way: str) -> None:
    job = slurm.submit(*TWO_HOSTS, script=f"srun {LONG}", TONARI_REPORT="report.json")
    until("the first exchange", lambda: "begun" in slurm.said(job))
    assert slurm.call("scancel", *([way] if way else []), job).returncode == 0
    until("the end of the job", lambda: slurm.ended(job))
    rows = json.loads((slurm.folder / "report.json").read_text())
    starts = int(re.search(r"signal \d+, starts (\d+)", slurm.said(job))[1])
    assert sum(row["starts"] for row in rows) == starts > 0
    until("the end of all ranks", lambda: not running(), 10)
    assert left_in_shm() == []


@pytest.mark.parametrize("way", ["--signal=USR1@50", ""], ids=["signal", "time"])
def test_the_limit_of_time_ends_a_job_with_its_report(slurm: Slurm, way: str) -> None:
    job = slurm.submit(
        *TWO_HOSTS, "--time=1", *([way] if way else []), script=f"srun {LONG}",
        TONARI_REPORT="report.json",
    )  # fmt: skip
    until("the end of the job", lambda: slurm.ended(job), 150)
    assert slurm.state(job) == ("COMPLETED" if way else "TIMEOUT")
    assert json.loads((slurm.folder / "report.json").read_text())
    until("the end of all ranks", lambda: not running(), 10)
    assert left_in_shm() == []


def lose(slurm: Slurm, host: str) -> None:
    """As if it had lost its power: all its processes end, and nobody is told."""
    name = slurm.cluster.hosts.prefix + host
    subprocess.run(["ip", "-n", name, "link", "set", "eth0", "down"], check=True)
    pids = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True, check=True)
    for pid in pids.stdout.split():
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass


def test_a_host_that_goes_away_ends_its_job_alone(own_slurm: Slurm) -> None:
    job = own_slurm.submit("-w", "h1,h2", "-n", "4", "--no-requeue", script=f"srun {LONG}")
    until("the first exchange", lambda: "begun" in own_slurm.said(job))
    lose(own_slurm, "h2")
    until("the end of the job", lambda: own_slurm.ended(job), 120)
    assert own_slurm.state(job) == "NODE_FAIL"
    until("the end of all ranks", lambda: not running(), 30)
    until("the word that it is down", lambda: own_slurm.nodes()["h2"].startswith("down"))
    assert left_in_shm() == []
    until("idle hosts", lambda: own_slurm.nodes()["h1"] == "idle")
    own_slurm.run(*TWO_HOSTS, TONARI_TUNE="off")


def test_messages_between_many_hosts_are_combined_by_default(large_slurm: Slurm) -> None:
    """One word to each of 26 neighbors, where nothing says how: what the first starts choose sends
    a few messages. What it gains is printed, as tools/slurm_combining.py does."""
    chosen_by_starts = run(large_slurm.cluster, 1, 400)
    assert chosen_by_starts.messages <= 8
    alone = run(large_slurm.cluster, 1, 400, TONARI_ALGORITHM="linear")
    assert alone.messages == 26
    print(f"{alone.us / chosen_by_starts.us:.2f} times as fast as a message per neighbor")
