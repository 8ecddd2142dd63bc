#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs an Open MPI program on several hosts that are network namespaces of this machine, with TCP
between them.

    tools/netns_hosts.py 27 -- mpiexec ./program arguments        one rank on each of 27 hosts
    tools/netns_hosts.py 4 --slots 2 -- mpiexec ./program         two on each of 4

          h0      h1      h2   ...     one namespace each, 10.77.0.1, 10.77.0.2, ...
           \\       |      /
            bridge, in a namespace of its own

Nothing of it shows in the machine's own network. All is removed at the end, also after a failure or
an interrupt. Needs root.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

SUBNET = "10.77.0.0/16"
NETNS_ETC = Path("/etc/netns")  # ip-netns(8): NAME/hosts there is /etc/hosts inside
AUTOGROUP = Path("/proc/sys/kernel/sched_autogroup_enabled")
NEIGHBORS = Path("/proc/sys/net/ipv4/neigh/default")  # one table for all namespaces
# mpiexec's own remote start, without ssh: AGENT HOST COMMAND... The host gets its name in a UTS
# namespace.
AGENT = """#!/bin/sh
host=$1
shift
exec ip netns exec "{prefix}$host" unshare -u \\
    sh -c 'hostname "$1"; shift; exec sh -c "$*"' sh "$host" "$@"
"""


class Trouble(Exception):
    """One sentence."""


def run(*command: str, text: str | None = None) -> None:
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        raise Trouble(
            f"`{' '.join(command)}` failed: "
            f"{done.stderr.strip().splitlines()[-1] if done.stderr.strip() else done.returncode}"
        )


class Hosts:
    """Namespaces PREFIXh0, PREFIXh1, ... and PREFIXbridge, as a context manager."""

    _number = itertools.count()  # of those that this process makes

    def __init__(self, count: int) -> None:
        self.count = count
        self.prefix = f"tonari{os.getpid()}-{next(self._number)}-"
        self.names = [f"h{i}" for i in range(count)]
        self.settings: dict[Path, str] = {}  # of the kernel, as they were
        self.made: list[str] = []

    def __enter__(self) -> Hosts:
        try:
            self._room_for_neighbors()
            self._one_queue()
            self._bridge()
            for i, name in enumerate(self.names):
                self._host(i, name)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for name in reversed(self.made):
            for pid in subprocess.run(
                ["ip", "netns", "pids", name], capture_output=True, text=True
            ).stdout.split():
                try:
                    os.kill(int(pid), signal.SIGKILL)
                except ProcessLookupError:
                    pass
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
            shutil.rmtree(NETNS_ETC / name, ignore_errors=True)
        try:
            NETNS_ETC.rmdir()  # if it was ours alone
        except OSError:
            pass
        for path, value in self.settings.items():
            path.write_text(value)

    def _namespace(self, name: str) -> str:
        full = self.prefix + name
        self.made.append(full)
        run("ip", "netns", "add", full)
        return full

    def _bridge(self) -> None:
        full = self._namespace("bridge")
        run("ip", "-n", full, "link", "add", "bridge", "type", "bridge")
        run("ip", "-n", full, "link", "set", "bridge", "up")

    def _host(self, i: int, name: str) -> None:
        full = self._namespace(name)
        etc = NETNS_ETC / full
        etc.mkdir(parents=True)
        (etc / "hosts").write_text(
            "127.0.0.1 localhost\n"
            + "".join(f"{self.address(j)} {other}\n" for j, other in enumerate(self.names))
        )
        run(
            "ip",
            "-n",
            self.prefix + "bridge",
            "link",
            "add",
            name,
            "type",
            "veth",
            "peer",
            "name",
            "eth0",
            "netns",
            full,
        )
        run(
            "ip",
            "-n",
            self.prefix + "bridge",
            "-batch",
            "-",
            text=f"link set {name} master bridge\nlink set {name} up\n",
        )
        run(
            "ip",
            "-n",
            full,
            "-batch",
            "-",
            text=f"link set lo up\naddr add {self.address(i)}/16 dev eth0\nlink set eth0 up\n",
        )

    @staticmethod
    def address(i: int) -> str:
        return f"10.77.{(i + 1) // 256}.{(i + 1) % 256}"

    def _room_for_neighbors(self) -> None:
        """Every host remembers every other one's address; the kernel forgets some when its one
        table is full."""
        needed = 2 * self.count * self.count
        for name in ("gc_thresh3", "gc_thresh2", "gc_thresh1"):
            path = NEIGHBORS / name
            if path.exists() and int(path.read_text()) < needed:
                self._set(path, str(needed))

    def _one_queue(self) -> None:
        """Each host's daemon starts a session. With a scheduling group for each session, a waiting
        rank that yields would yield to nobody."""
        if AUTOGROUP.exists():
            self._set(AUTOGROUP, "0")

    def _set(self, path: Path, value: str) -> None:
        self.settings[path] = path.read_text()
        path.write_text(value)


def launch(hosts: Hosts, slots: int, command: list[str]) -> int:
    """mpiexec on h0, which starts the others; its exit status."""
    with tempfile.TemporaryDirectory(prefix="tonari-hosts-") as folder:
        agent = Path(folder) / "agent"
        agent.write_text(AGENT.format(prefix=hosts.prefix))
        agent.chmod(0o755)
        settings = {
            "plm_rsh_agent": str(agent),
            "plm_rsh_no_tree_spawn": "1",
            "plm_rsh_num_concurrent": "64",
            "pml": "ob1",
            "btl": "tcp,self",
            "btl_tcp_if_include": SUBNET,
            "oob_tcp_if_include": SUBNET,
            "mpi_yield_when_idle": "1",
        }
        mpiexec = [
            command[0],
            "--allow-run-as-root",
            "--bind-to",
            "none",
            "--map-by",
            "node",
            "-n",
            str(slots * hosts.count),
        ]
        mpiexec += ["-H", ",".join(f"{name}:{slots}" for name in hosts.names)]
        for key, value in settings.items():
            mpiexec += ["--mca", key, value]
        exported = sorted(key for key in os.environ if key.startswith("TONARI_"))
        mpiexec += [word for key in exported for word in ("-x", key)]
        environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("OMPI_MCA_rmaps", "OMPI_MCA_hwloc"))
        }
        inside = [
            "ip",
            "netns",
            "exec",
            hosts.prefix + hosts.names[0],
            "unshare",
            "-u",
            "sh",
            "-c",
            'hostname "$1"; shift; exec "$@"',
            "sh",
            hosts.names[0],
        ]
        # All hosts share a few cores: whatever else runs would look like a slow network.
        process = subprocess.Popen(
            ["nice", "-n", "-20", *inside, *mpiexec, *command[1:]], env=environment
        )
        try:
            return process.wait()
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(timeout=5)
                except subprocess.TimeoutExpired:
                    process.kill()


def parse(doc: str, wanted: str, most: int, slots: tuple[str, int], least: int = 1) -> Any:
    """HOSTS [--slots N] -- COMMAND, up to `most` of each, and a command of at least `least` words.
    slots: what they are, and how many there are without the option."""
    what, usual = slots
    parser = argparse.ArgumentParser(
        description=doc.splitlines()[0], usage=f"%(prog)s HOSTS [--slots N] -- {wanted}"
    )
    parser.add_argument("hosts", type=int)
    parser.add_argument("--slots", type=int, default=usual, help=f"{what} of each host ({usual})")
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    given = parser.parse_args(words[:end])
    given.command = words[end + 1 :]
    room = 1 <= given.hosts <= most and 1 <= given.slots <= most
    if not room or len(given.command) < least:
        parser.error(f"it takes 1 to {most} hosts, 1 to {most} {what} of each, and: {wanted}")
    return given


def interrupted(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> int:
    given = parse(__doc__ or "", "mpiexec PROGRAM [ARGUMENT...]", 1000, ("ranks", 1), least=2)
    signal.signal(signal.SIGTERM, interrupted)
    signal.signal(signal.SIGHUP, interrupted)
    try:
        if os.geteuid() != 0:
            raise Trouble("only root can make network namespaces: run it as root")
        if not shutil.which("ip"):
            raise Trouble("there is no `ip`: install iproute2")
        with Hosts(given.hosts) as hosts:
            return launch(hosts, given.slots, given.command)
    except Trouble as trouble:
        print(f"netns_hosts: {trouble}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
