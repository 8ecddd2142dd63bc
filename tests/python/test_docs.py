# SPDX-License-Identifier: BSD-3-Clause
"""All documents, at the root and below docs/, do what they say: the blocks of code in them are
compiled, run, or compared with real output, but for drawings and blocks that say why they are not.

A comment in front of a fenced block says what it is:

    <!-- program: NAME ranks 1 4 -->     a whole program, compiled and run on so many ranks; one in
                                         Python is run
    <!-- fragment: NAME ranks 4 -->      C statements, put into tests/docs/frame.c with all others
    <!-- shell: uses NAME -->            commands, run from the root of the repository (NAME: a
                                         program of the same document, lying there)
    <!-- shell: needs NAME -->          the same, skipped where the example NAME is left out for
                                        want of a library
    <!-- output -->                      lines that the shell block before printed, in this order
    <!-- drawing: REASON -->
    <!-- not run: REASON -->
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import mpi4py_jobs
import pytest
import typer
from built import c_compiler, fortran_compiler, more
from command_line import PATIENCE
from tonari import cli
from tonari.benchmark.launch import ANY_RANKS

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TONARI_BUILD", SOURCE / "build")).resolve()
DOCUMENTS = [
    str(path.relative_to(SOURCE))
    for path in [*sorted(SOURCE.glob("*.md")), *sorted((SOURCE / "docs").rglob("*.md"))]
]
BLOCK = re.compile(
    r"(?:^<!-- (?P<kind>[\w ]+?)(?:: (?P<about>[^\n]*?))? -->\n)?"
    r"^```(?P<language>\w*)\n(?P<code>.*?)^```$",
    re.M | re.S,
)
# As root, with more ranks than cores.
LAUNCH = ANY_RANKS | {"OMPI_MCA_mpi_yield_when_idle": "1"}


@dataclass
class Block:
    document: str
    line: int
    kind: str
    about: str
    language: str
    code: str

    @property
    def name(self) -> str:
        return self.about.split()[0] if self.about else f"line{self.line}"

    @property
    def ranks(self) -> list[int]:
        _, _, counts = self.about.partition(" ranks ")
        return [int(count) for count in counts.split()]

    def __str__(self) -> str:
        return f"{Path(self.document).stem}-{self.name}"


@cache
def blocks(document: str) -> list[Block]:
    text = (SOURCE / document).read_text(encoding="utf-8")
    line = lambda m: text.count("\n", 0, m.start()) + 1  # noqa: E731
    return [Block(document, line(m), *m.groups(default="")) for m in BLOCK.finditer(text)]


def every_block() -> list[Block]:
    return [block for document in DOCUMENTS for block in blocks(document)]


def of_kind(*kinds: str) -> list[Block]:
    return [block for block in every_block() if block.kind in kinds]


@pytest.fixture(scope="session")
def mpi() -> dict[str, str]:
    """One MPI of the build, Open MPI rather than MPICH."""
    mpis = json.loads((BUILD / "tonari-config.json").read_text())["mpis"]
    name = "openmpi" if "openmpi" in mpis else next(iter(mpis))
    found = dict(mpis[name], name=name, library=str(Path(mpis[name]["bin"]).parent / "lib"))
    found["mpicc"] = c_compiler(found)
    found["mpif90"] = fortran_compiler(found)
    return found


def run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    env = LAUNCH | dict(os.environ) | (environment or {})
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def compile_program(mpi: dict[str, str], source: Path) -> Path:
    program = source.with_suffix(".out")
    compilers = {".cpp": [mpi["mpicxx"], "-std=c++20"], ".c": [mpi["mpicc"], "-std=c99"]}
    compilers[".f90"] = [mpi["mpif90"], str(SOURCE / "include/tonari/fortran/tonari.F90")]
    # The old C++ bindings do not pass. Whole numbers are compared as they are.
    warnings = "-Wall -Wextra -Werror -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX".split()
    if source.suffix == ".f90":
        warnings += ["-Wno-compare-reals", "-std=f2018"]
    places = [f"-I{SOURCE / 'include'}", f"-L{mpi['library']}", f"-Wl,-rpath,{mpi['library']}"]
    files = [str(source), "-ltonari", "-o", str(program)]
    run([*compilers[source.suffix], *warnings, *places, *files], source.parent)
    return program


def launch(mpi: dict[str, str], ranks: int, program: Path, *arguments: str) -> str:
    return run([mpi["mpiexec"], "-n", str(ranks), str(program), *arguments], program.parent)


def run_python(mpi: dict[str, str], ranks: int, program: Path) -> None:
    if not mpi4py_jobs.found():
        pytest.skip("there is no mpi4py")
    mpi4py_jobs.succeeded(mpi4py_jobs.run(mpi["name"], ranks, program.parent, program))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_block_says_what_it_is(document: str) -> None:
    known = {"program", "fragment", "shell", "output", "drawing", "not run"}
    unknown = [f"{document}:{block.line}" for block in blocks(document) if block.kind not in known]
    assert not unknown
    fences = (SOURCE / document).read_text(encoding="utf-8").count("\n```")
    assert fences == 2 * len(blocks(document))


def test_blocks_that_do_not_run_say_why() -> None:
    """docs/index.md says so."""
    kept = [block for block in every_block() if block.kind in ("not run", "drawing")]
    assert [f"{b.document}:{b.line}" for b in kept if len(b.about.split()) < 2] == []
    assert len(kept) < len(every_block()) / 3


# How many blocks of each page are not run, at most. A new one needs a reason, and counts here.
NOT_RUN = {
    "CONTRIBUTING.md": 5,
    "README.md": 1,
    "docs/explanation/simulator.md": 4,
    "docs/howto/advise.md": 2,
    "docs/howto/fortran.md": 1,
    "docs/howto/gpu-memory.md": 6,
    "docs/howto/petsc.md": 1,
    "docs/howto/read-describe.md": 2,
    "docs/howto/reproduce.md": 1,
    "docs/howto/several-nodes.md": 3,
    "docs/howto/slurm.md": 2,
    "docs/howto/simulate.md": 1,
    "docs/howto/unmodified-programs.md": 4,
    "docs/howto/when-it-hangs.md": 3,
    "docs/install.md": 6,
    "docs/performance.md": 10,
    "docs/tutorial.md": 1,
}


def test_blocks_that_do_not_run_are_counted() -> None:
    assert Counter(block.document for block in of_kind("not run")) <= Counter(NOT_RUN)


def commands_of(block: Block) -> list[list[str]]:
    """Calls of tonari, as words."""
    if block.language != "sh":
        return []
    lines = block.code.replace("\\\n", " ").splitlines()
    words = [shlex.split(line, comments=True) for line in lines]
    return [w[1:] for w in words if w and w[0] in ("tonari", "./tonari")]


NOT_RUN_COMMANDS = [words for block in of_kind("not run") for words in commands_of(block)]


@pytest.mark.parametrize("words", NOT_RUN_COMMANDS, ids=" ".join)
def test_commands_that_are_not_run_have_options_that_there_are(words: list[str]) -> None:
    """The command line reads them, and stops before it does anything."""
    group = typer.main.get_command(cli.app)
    name = max((n for n in group.commands if words[: len(n.split())] == n.split()), key=len)
    group.commands[name].make_context(name, words[len(name.split()) :])


def test_most_commands_of_pages_are_looked_at() -> None:
    assert len(NOT_RUN_COMMANDS) >= 15


GPU_FRAME = """
#include <tonari/grid.h>
#include <tonari/tonari.h>
typedef void* cudaStream_t;
int cudaMalloc(void** at, size_t bytes);
int cudaStreamSynchronize(cudaStream_t stream);
void compute(double* data, cudaStream_t stream);
void compute_interior();
void use(const double* data, cudaStream_t stream);
extern int length;
extern double *cells, *send, *recv;
extern cudaStream_t stream;
extern tonari_request halo, swap;
extern tonari_grid grid;
extern tonari_grid_shape shape;
extern tonari_neighborhood near;
extern MPI_Comm cart;
"""


@pytest.mark.parametrize(
    "block", [b for b in of_kind("not run") if b.about == "it needs a GPU"], ids=str
)
def test_code_that_needs_a_gpu_compiles(block: Block, mpi: dict[str, str], tmp_path: Path) -> None:
    if block.language == "python":
        compile(block.code, f"{block.document}:{block.line}", "exec")
        return
    assert block.language == "c"
    body = f'void program(void) {{\n#line {block.line + 1} "{block.document}"\n{block.code}}}\n'
    source = tmp_path / "gpu.c"
    source.write_text(GPU_FRAME + body, encoding="utf-8")
    options = ["-std=c99", "-fsyntax-only", "-Wall", "-Werror", f"-I{SOURCE / 'include'}"]
    run([mpi["mpicc"], *options, str(source)], tmp_path)


def test_readme_has_every_command_once() -> None:
    text = (SOURCE / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `tonari ([\w-]+)[^`]*` \|", text, re.M)
    group = typer.main.get_command(cli.app)
    assert Counter(rows) == Counter(name for name in group.commands if " " not in name)


def test_readme_is_a_screen_and_a_half() -> None:
    """In lines as a terminal of 100 columns shows them."""
    text = (SOURCE / "README.md").read_text(encoding="utf-8")
    assert sum(1 + len(line) // 101 for line in text.splitlines()) <= 85


def test_every_example_is_listed() -> None:
    text = (SOURCE / "docs/examples.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"\]\(\.\./examples/([^)/]*)", text))
    own = {p.name for p in (SOURCE / "examples").iterdir() if p.name != "CMakeLists.txt"}
    assert listed == own - {"grids"}, "grids is shared by examples on grids"


def test_every_public_header_is_listed() -> None:
    text = (SOURCE / "docs/reference/headers.md").read_text(encoding="utf-8")
    listed = re.findall(r"\[([\w.]+)\]\(\.\./\.\./include/tonari/(?:fortran/)?([\w.]+)\)", text)
    public = [p.name for p in (SOURCE / "include/tonari").glob("*.h*")] + ["tonari.F90"]
    assert sorted(listed) == sorted((name, name) for name in public if name != "fortran.h")


def test_no_block_is_lost() -> None:
    """The guide, whose 56 blocks became pages of docs/, had so many. A page that is lost, or no
    longer looked at, shows here."""
    kinds = Counter(block.kind for block in every_block() if block.document.startswith("docs/"))
    least = {"program": 14, "fragment": 30, "shell": 16, "output": 5}
    assert {kind: count for kind, count in least.items() if kinds[kind] < count} == {}


# Whose programs run in `make test`; a compiler takes seconds for each of the others.
FIRST_PAGES = ("README.md", "docs/index.md", "docs/tutorial.md")


@pytest.mark.parametrize(
    "block", [b if b.document in FIRST_PAGES else more(b) for b in of_kind("program")], ids=str
)
def test_program(block: Block, mpi: dict[str, str], tmp_path: Path) -> None:
    skip_without(block, mpi)
    source = tmp_path / block.name
    source.write_text(block.code, encoding="utf-8")
    assert block.ranks
    if source.suffix == ".py":
        for ranks in block.ranks:
            run_python(mpi, ranks, source)
        return
    program = compile_program(mpi, source)
    for ranks in block.ranks:
        launch(mpi, ranks, program)


def function(block: Block) -> str:
    """A fragment as a function, whose errors name the line of the document."""
    return (
        f"static void {c_name(block)}(MPI_Comm cart, tonari_neighborhood near, "
        "tonari_request swap) {\n  (void)cart, (void)near, (void)swap;\n  {\n"
        f'#line {block.line + 1} "{block.document}"\n{block.code}  }}\n}}\n'
    )


def c_name(block: Block) -> str:
    return f"fragment_{re.sub(r'[^a-z0-9]', '_', str(block).lower())}_{block.line}"


@pytest.fixture(scope="session")
def fragments(mpi: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One program of all fragments: a compiler and a job for each would take far longer."""
    frame = (SOURCE / "tests/docs/frame.c").read_text(encoding="utf-8")
    found = of_kind("fragment")
    names = "".join(f'{{"{block}", {c_name(block)}}}, ' for block in found)
    parts = {"/*FUNCTIONS*/": "\n".join(map(function, found)), "/*NAMES*/": names}
    assert [frame.count(marker) for marker in parts] == [1, 1]
    for marker, text in parts.items():
        frame = frame.replace(marker, text)
    source = tmp_path_factory.mktemp("fragments") / "fragments.c"
    source.write_text(frame, encoding="utf-8")
    return compile_program(mpi, source)


def test_every_fragment_runs_and_has_a_name() -> None:
    found = of_kind("fragment")
    assert [str(block) for block in found if not block.ranks] == []
    assert [name for name, count in Counter(map(str, found)).items() if count > 1] == []


@pytest.mark.parametrize(
    "ranks", sorted({count for block in of_kind("fragment") for count in block.ranks})
)
def test_fragments(ranks: int, mpi: dict[str, str], fragments: Path) -> None:
    names = [str(block) for block in of_kind("fragment") if ranks in block.ranks]
    for old in fragments.parent.glob("done.*"):
        old.unlink()
    launch(mpi, ranks, fragments, *names)
    done = [(fragments.parent / f"done.{rank}").read_text().splitlines() for rank in range(ranks)]
    assert done == [names] * ranks


def workplace(block: Block, mpi: dict[str, str], folder: Path) -> dict[str, str]:
    """A folder that looks like the root of a built checkout, with mpicc and mpiexec on the path."""
    for name in ("include", "tonari", "python", "examples"):
        (folder / name).symlink_to(SOURCE / name)
    (folder / "build").symlink_to(BUILD)
    (folder / "bin").mkdir()
    for name in ("mpicc", "mpicxx", "mpif90", "mpiexec"):
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{mpi[name]}" "$@"\n')
        script.chmod(0o755)
    for used in block.about.split()[1:] if block.name == "uses" else []:
        program = next(b for b in blocks(block.document) if b.kind == "program" and b.name == used)
        (folder / used).write_text(program.code, encoding="utf-8")
    plain = {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONUTF8": "1", "TONARI_BUILD": str(BUILD)}
    return plain | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}


def skip_without(block: Block, mpi: dict[str, str]) -> None:
    """Only what CMake itself left out may be missing."""
    known = (BUILD / "CMakeCache.txt").read_text()
    has_fortran = f"TONARI_FORTRAN_WITH_{mpi['name']}:INTERNAL=1" in known
    if block.about.partition(" ranks ")[0].endswith(".f90") and not has_fortran:
        pytest.skip("there is no Fortran compiler: the module is left out")
    if block.about == "needs fft3d" and not re.search(r"^TONARI_FFTW3_LINKS:.*=1$", known, re.M):
        pytest.skip("there is no FFTW: the example fft3d is left out")


def run_shell(block: Block, mpi: dict[str, str], folder: Path) -> str:
    skip_without(block, mpi)
    code = block.code.replace("build/openmpi/", f"build/{mpi['name']}/")
    return run(["sh", "-eu", "-c", code], folder, workplace(block, mpi, folder))


def shells_with_output() -> list[tuple[Block, Block]]:
    pairs = [pair for document in DOCUMENTS for pair in pairwise(blocks(document))]
    return [(before, after) for before, after in pairs if after.kind == "output"]


def shells_without_output() -> list[Block]:
    """The others run in test_output."""
    shown = [command for command, _ in shells_with_output()]
    return [block for block in of_kind("shell") if block not in shown]


@pytest.mark.parametrize(
    "block", [more(b) if b.about == "more" else b for b in shells_without_output()], ids=str
)
def test_shell(block: Block, mpi: dict[str, str], tmp_path: Path) -> None:
    printed = run_shell(block, mpi, tmp_path)
    assert printed.strip() or ">" in block.code
    assert "0 tests from 0 test suites" not in printed, "a filter of GoogleTest matches nothing"


@pytest.mark.parametrize(
    "command, output", shells_with_output(), ids=lambda block: f"{block}-{block.kind}"
)
def test_output(command: Block, output: Block, mpi: dict[str, str], tmp_path: Path) -> None:
    printed = [line.strip() for line in run_shell(command, mpi, tmp_path).splitlines()]
    shown = [line.strip() for line in output.code.splitlines()]
    at = printed.index(shown[0])
    assert printed[at : at + len(shown)] == shown


def test_readme_begins_with_three_commands_and_a_short_program() -> None:
    commands, program = blocks("README.md")[:2]
    assert [line.split("#")[0].strip() for line in commands.code.splitlines()] == [
        "make demo", "make test", "make bench BENCH=halo",
    ]  # fmt: skip
    assert commands.line < 12 and program.name == "first"
    assert len(program.code.splitlines()) == 12


def test_octant_stands_as_printed() -> None:
    """The two statements of section 2 of the paper, character by character."""
    printed = "int octant[] =\n{1,0,0,0,1,0,0,0,1,1,1,0,1,0,1,0,1,1,1,1,1};\nIso_neighborhood_create(cartcomm,\n    7,octant,&isocomm);\n"
    assert printed in (SOURCE / "examples/octant.c").read_text()


FENCED = re.compile(r"^```.*?^```$", re.M | re.S)


def anchors(document: Path) -> set[str]:
    prose = FENCED.sub("", document.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.*)$", prose, re.M)
    return {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    here = SOURCE / document
    prose = FENCED.sub("", here.read_text(encoding="utf-8"))
    assert not re.search(r"\]\([^)\s]+\n", prose), "a link that goes on in the next line is none"
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if target.startswith("http"):
            continue
        file, _, anchor = target.partition("#")
        there = here.parent / file if file else here
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target
