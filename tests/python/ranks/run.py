# SPDX-License-Identifier: BSD-3-Clause
"""Runs what the modules beside it check, on the ranks of this job: run.py MODULE...

Every function check_... of a module takes part on all ranks. Rank 0 prints the name of each that
has passed; the first one that fails ends the job.
"""

from __future__ import annotations

import importlib
import sys
import traceback

from mpi4py import MPI


def main(modules: list[str]) -> None:
    for name in modules:
        module = importlib.import_module(name)
        for check in [c for c in vars(module) if c.startswith("check_")]:
            getattr(module, check)()
            MPI.COMM_WORLD.Barrier()
            if MPI.COMM_WORLD.rank == 0:
                print(f"passed: {name}.{check}", flush=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BaseException:
        sys.stderr.write(f"on rank {MPI.COMM_WORLD.rank}:\n{traceback.format_exc()}")
        sys.stderr.flush()
        MPI.COMM_WORLD.Abort(1)
