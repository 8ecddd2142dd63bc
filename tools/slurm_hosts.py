#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command on a cluster of Slurm whose hosts are network namespaces of this machine
(tools/netns_hosts.py), with a daemon of Slurm on each.

    tools/slurm_hosts.py 4 -- srun -N 4 -n 8 --mpi=pmix ./program
    tools/slurm_hosts.py 4 --slots 2 -- sh -c 'sbatch --wait job.sh; sinfo'

      h0: slurmctld, the command      h0, h1, h2, ...: one slurmd each, its hostname is hK
      one munged for all of them, by a socket in a folder of this run

Slurm's files are in a folder that goes at the end, and so do all processes, also after a failure or
an interrupt. The command finds the folder in SLURM_HOSTS_FOLDER: `HOST.pid` there has the number of
a host's slurmd, and SLURM_HOSTS_PREFIX begins the names of the network namespaces. Needs root, and
Debian's slurmctld, slurmd, slurm-client and munge.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from netns_hosts import SUBNET, Hosts, Trouble, interrupted, parse

PROGRAMS = ["ip", "unshare", "munged", "slurmctld", "slurmd", "srun", "scontrol"]
# For jobs of Open MPI: TCP between hosts, shared memory within them, and cores that are given away.
OPEN_MPI = {
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "tcp,vader,self",
    "OMPI_MCA_btl_tcp_if_include": SUBNET,
    "OMPI_MCA_mpi_yield_when_idle": "1",
}
CONFIGURATION = """\
ClusterName=tonari
SlurmctldHost={first}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=0,bf_interval=1
MpiDefault=pmix
MpiParams=ports=15000-15999
SwitchType=switch/none
ReturnToService=2
SlurmdParameters=config_overrides
SlurmdTimeout=10
MessageTimeout=10
KillWait=5
MinJobAge=300
InactiveLimit=0
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
TmpFS={folder}/tmp-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


def lacking() -> str:
    """Why there can be no cluster here; empty if there can."""
    if os.geteuid() != 0:
        return "only root can make network namespaces: run it as root"
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if not missing:
        return ""
    return (
        f"there is no {', '.join(missing)}: install iproute2, munge, slurmctld, slurmd and "
        "slurm-client"
    )


class Cluster:
    """Daemons of Slurm on hosts, as a context manager."""

    def __init__(self, hosts: Hosts, slots: int, folder: Path) -> None:
        self.hosts, self.slots, self.folder = hosts, slots, folder
        self.daemons: list[subprocess.Popen[bytes]] = []
        self.environment = dict(
            os.environ,
            SLURM_CONF=str(folder / "slurm.conf"),
            SLURM_HOSTS_FOLDER=str(folder),
            SLURM_HOSTS_PREFIX=hosts.prefix,
        )

    def __enter__(self) -> Cluster:
        try:
            self._configure()
            self._munged()
            (self.folder / "state").mkdir()
            self._start(self.hosts.names[0], "slurmctld", "-D", "-i")
            for name in self.hosts.names:
                (self.folder / f"spool-{name}").mkdir()
                (self.folder / f"tmp-{name}").mkdir()
                self._start(name, "slurmd", "-D", "-N", name)
            self._until_idle()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the daemons in the opposite order; what they leave behind, Hosts ends."""
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(timeout=5)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def on(self, name: str, *command: str) -> list[str]:
        """The words that run a command on a host, under its name."""
        within = ["ip", "netns", "exec", self.hosts.prefix + name, "unshare", "-u", "sh", "-c"]
        return [*within, 'hostname "$1"; shift; exec "$@"', "sh", name, *command]

    def _configure(self) -> None:
        nodes = "\n".join(
            f"NodeName={name} NodeAddr={self.hosts.address(i)} CPUs={self.slots} State=UNKNOWN"
            for i, name in enumerate(self.hosts.names)
        )
        # Nothing is limited by groups of the kernel, and there may be none.
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(folder=self.folder, first=self.hosts.names[0], nodes=nodes)
        )

    def _munged(self) -> None:
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self._start(
            None, "munged", "--foreground", "--force", f"--key-file={key}", "--num-threads=4",
            f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munged.pid",
            f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munged.seed",
        )  # fmt: skip
        self._wait_for("munged", lambda: (self.folder / "munge.socket").exists())

    def _start(self, name: str | None, *command: str) -> None:
        words = list(command) if name is None else self.on(name, *command)
        log = (self.folder / f"{command[0]}{'-' + name if name else ''}.out").open("wb")
        self.daemons.append(
            subprocess.Popen(
                words, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        )

    def _until_idle(self) -> None:
        def idle() -> bool:
            told = subprocess.run(
                self.on(self.hosts.names[0], "sinfo", "-h", "-N", "-o", "%t"),
                env=self.environment, capture_output=True, text=True,
            )  # fmt: skip
            return told.stdout.split() == ["idle"] * self.hosts.count

        self._wait_for("Slurm", idle)

    def _wait_for(self, what: str, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 60
        while not ready():
            ended = next((d for d in self.daemons if d.poll() is not None), None)
            if ended or time.monotonic() > deadline:
                said = "".join(
                    f"\n{log.name}: {line}"
                    for log in sorted(self.folder.glob("*.out"))
                    for line in log.read_text(errors="replace").splitlines()[-3:]
                )
                raise Trouble(f"{what} does not start:{said}")
            time.sleep(0.1)


def run(cluster: Cluster, command: list[str]) -> int:
    process = subprocess.Popen(
        cluster.on(cluster.hosts.names[0], *command), env=cluster.environment
    )
    try:
        return process.wait()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def main() -> int:
    given = parse(__doc__ or "", "COMMAND [ARGUMENT...]", 100, ("CPUs", 2))
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupted)
    try:
        if why := lacking():
            raise Trouble(why)
        with (
            tempfile.TemporaryDirectory(prefix="tonari-slurm-") as folder,
            Hosts(given.hosts) as hosts,
            Cluster(hosts, given.slots, Path(folder)) as cluster,
        ):
            return run(cluster, given.command)
    except Trouble as trouble:
        print(f"slurm_hosts: {trouble}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
