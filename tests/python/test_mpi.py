# SPDX-License-Identifier: BSD-3-Clause
"""tonari.mpi on ranks: each job runs all that the modules in tests/python/ranks check."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import mpi4py_jobs as jobs
import pytest
from command_line import PATIENCE

pytestmark = jobs.needed
MODULES = ["operations", "mistakes", "grids", "vectors", "products", "exchanges_in_place"]
MODULES += ["sparse_exchanges", "groups", "boxes", "lengths"]


def checks(module: str) -> list[str]:
    """The names of what a module checks, in its order."""
    tree = ast.parse((jobs.RANKS / f"{module}.py").read_text())
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [name for name in names if name.startswith("check_")]


@jobs.on_ranks([3], [], [1, 2, 5], 8)
def test_on_ranks(mpi: str, ranks: int, tmp_path: Path) -> None:
    done = jobs.run(mpi, ranks, tmp_path, jobs.RANKS / "run.py", *MODULES)
    passed = [line for line in jobs.succeeded(done).splitlines() if line.startswith("passed: ")]
    assert passed == [f"passed: {module}.{name}" for module in MODULES for name in checks(module)]
    assert len(passed) > 30


@jobs.on_ranks([2], [], [])
def test_after_finalize_nothing_is_freed_any_more(mpi: str, ranks: int, tmp_path: Path) -> None:
    done = jobs.run(mpi, ranks, tmp_path, jobs.RANKS / "finalize.py")
    assert jobs.succeeded(done) == "finalized\n"
    assert "Traceback" not in done.stderr


@pytest.mark.more
def test_types_hold(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    paths = ["--cache-dir", str(tmp_path), "--follow-imports=silent", "python/tonari/mpi"]
    env = {"PYTHONPATH": "python", "MYPYPATH": "python", "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-m", "mypy", *paths]
    done = subprocess.run(command, capture_output=True, text=True, cwd=jobs.SOURCE, env=env)
    assert done.returncode == 0, done.stdout
    assert (jobs.SOURCE / "python/tonari/py.typed").is_file()


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {"PYTHONPATH": str(jobs.SOURCE / "python"), "PATH": "/usr/bin:/bin", **environment}
    command = [sys.executable, "-B", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=env)


def test_importing_tonari_needs_neither_mpi_nor_mpi4py() -> None:
    code = "import sys, tonari; print(sorted({'mpi4py', 'tonari.mpi'} & set(sys.modules)))"
    assert jobs.succeeded(python(code)) == "[]\n"


def test_without_mpi4py_one_sentence_says_what_to_do() -> None:
    done = python("import sys; sys.modules['mpi4py'] = None; import tonari; tonari.mpi")
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: tonari.mpi needs mpi4py and an MPI"), done.stderr
    assert "pip install mpi4py" in last


@pytest.mark.parametrize("found", ["/nowhere/libtonari.so", __file__])
def test_without_a_library_one_sentence_says_what_to_do(found: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import tonari.mpi\n")
    done = jobs.run(jobs.MPIS[0], 1, tmp_path, program, TONARI_LIBRARY=found)
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("ImportError: ")]
    assert found in said and done.returncode != 0
    assert ("there is no libtonari for it" if "nowhere" in found else "cannot be loaded") in said
