# SPDX-License-Identifier: BSD-3-Clause
"""The recipes of packaging/: conda's are rendered and its scripts run, a program is linked with
what they install; the others are linted, and compared with what the build knows."""

from __future__ import annotations

import ast
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml
from test_package import CACHE, FAST, LAUNCHER, MPIS, SOURCE, succeeded

PACKAGING = SOURCE / "packaging"
CONDA = PACKAGING / "conda"
SPACK = PACKAGING / "spack/spack_repo/tonari/packages/tonari/package.py"
EASYBUILD = PACKAGING / "easybuild/tonari-0.1.0-gompi-2024a.eb"
CONTAINERS = [PACKAGING / "container/Dockerfile", PACKAGING / "container/tonari.def"]


def options_of_cmake() -> set[str]:
    files = [SOURCE / "CMakeLists.txt", *SOURCE.glob("cmake/*.cmake")]
    declared = r"\b(?:option\(|set\()(TONARI_\w+)"
    return {name for file in files for name in re.findall(declared, file.read_text())}


@pytest.mark.parametrize("file", [SPACK, EASYBUILD, *CONDA.glob("*.sh"), SOURCE / "pyproject.toml"])
def test_recipes_set_what_cmake_knows(file: Path) -> None:
    named = set(re.findall(r"TONARI_[A-Z_]+", file.read_text()))
    assert named and named <= options_of_cmake(), named - options_of_cmake()


def needed_packages() -> set[str]:
    """Debian's, of the table in tools/setup/needs.sh, for `make demo`."""
    table = (SOURCE / "tools/setup/needs.sh").read_text()
    rows = dict(re.findall(r'^ {8}([\w| ]+)\) echo "[^|]*\|([^|]*)\|', table, re.M))
    needs = re.search(r"NEEDS=\(([^)]*)\)", table)[1].split() + ["mpi"]
    by_need = {need.strip(): row for needs, row in rows.items() for need in needs.split("|")}
    return {package for need in needs for package in by_need.get(need, "").split()}


@pytest.mark.parametrize("file", CONTAINERS)
def test_containers_install_what_the_demo_needs(file: Path) -> None:
    text = file.read_text()
    found = re.search(r"--no-install-recommends \\\n(.*?)\n *(?:&&|rm )", text, re.S)
    assert set(found[1].split()) - {"\\"} == needed_packages() | {"make"}


def test_the_dockerfile_is_clean() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    if not hadolint.is_file():
        pytest.skip("there is no hadolint in the environment of the tests")
    assert succeeded([hadolint, "--no-color", CONTAINERS[0]]) == ""


def test_spacks_recipe_has_the_variants_and_a_test() -> None:
    tree = ast.parse(SPACK.read_text())
    (recipe,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    calls = [node for node in ast.walk(recipe) if isinstance(node, ast.Call)]
    variants = {c.args[0].value for c in calls if getattr(c.func, "id", "") == "variant"}
    assert variants == {"mpi", "python", "fortran", "tests"}
    tests = [node.name for node in recipe.body if isinstance(node, ast.FunctionDef)]
    assert {"test_ring", "test_plan"} <= set(tests)
    files = re.findall(r'"((?:examples|packaging)/[^"]+)"', SPACK.read_text())
    assert files and all((SOURCE / file).is_file() for file in files)


def test_easybuilds_recipe_is_of_this_version_and_names_what_is_there() -> None:
    """It is Python, with two names of EasyBuild's own."""
    recipe = {"SOURCE_TAR_GZ": "%(name)s-%(version)s.tar.gz", "SHLIB_EXT": "so"}
    exec(EASYBUILD.read_text(), recipe)
    project = (SOURCE / "pyproject.toml").read_text()
    assert recipe["version"] == re.search(r'^version = "(.*)"', project, re.M)[1]
    toolchain = "-".join(recipe["toolchain"][key] for key in ("name", "version"))
    assert EASYBUILD.stem == f"{recipe['name']}-{recipe['version']}-{toolchain}"
    assert recipe["sources"] == ["%(name)s-%(version)s.tar.gz"]  # as `make wheel` names them
    for file in recipe["sanity_check_paths"]["files"]:
        if file.startswith("include/"):
            assert (SOURCE / file).is_file(), file
    files = re.findall(r"(?:examples|packaging)/\S+", recipe["sanity_check_commands"][0])
    assert len(files) == 2 and all((SOURCE / file).is_file() for file in files)


def test_the_names_of_pythons_requirements_agree() -> None:
    """pyproject.toml has them; conda and Spack call some differently."""
    wanted = re.search(r"^dependencies = \[(.*)\]", (SOURCE / "pyproject.toml").read_text(), re.M)
    versions = dict(re.findall(r'"([a-z]+)>=([\d.]+)"', wanted[1]))
    recipe = yaml.safe_load((CONDA / "recipe.yaml").read_text())
    run = recipe["outputs"][1]["requirements"]["run"]
    conda = dict(re.findall(r"(\w+)(?:-base)? >=([\d.]+)", " ".join(run)))
    spack = dict(re.findall(r'"py-(\w+)@([\d.]+):", type="run"', SPACK.read_text()))
    assert versions == conda == spack


@pytest.mark.more
def test_condas_recipe_renders_one_library_per_mpi() -> None:
    rattler = pytest.importorskip("rattler_build")
    recipe = rattler.Stage0Recipe.from_file(CONDA / "recipe.yaml")
    variants = rattler.VariantConfig.from_file(CONDA / "variants.yaml")
    rendered = [variant.recipe for variant in recipe.render(variants)]
    names = {
        (str(r.package.name), re.sub(r"h[0-9a-f]{7}_\d+$", "", r.build.string)) for r in rendered
    }
    assert names == {("libtonari", "mpi_mpich_"), ("libtonari", "mpi_openmpi_"), ("tonari", "")}
    for r in rendered:
        mpi = re.match(r"mpi_([a-z]+)_|", r.build.string)[1]
        assert r.requirements.to_dict()["host"][0] == (mpi or "python")


@pytest.fixture(scope="session")
def folder_on_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """mpicxx and mpiexec of the first MPI under these names, as an environment of conda has."""
    mpi = next(iter(MPIS.values()))
    folder = tmp_path_factory.mktemp("bin")
    for name in ("mpicxx", "mpiexec"):
        (folder / name).symlink_to(shutil.which(mpi[name]) or mpi[name])
    return folder


@pytest.mark.more
@pytest.mark.skipif(not MPIS, reason="there is no build (TONARI_BUILD)")
def test_condas_library_serves_a_program(folder_on_path: Path, tmp_path: Path) -> None:
    """As rattler-build runs the script, and then the test of the package."""
    tools = [
        folder_on_path,
        *(Path(CACHE[f"CMAKE_{x}"]).parent for x in ("COMMAND", "MAKE_PROGRAM")),
    ]
    path = os.pathsep.join([*map(str, tools), os.environ["PATH"]])
    quick = f"-DCMAKE_CXX_FLAGS_RELEASE={FAST} -DCMAKE_CXX_COMPILER_LAUNCHER={LAUNCHER}"
    env = {"PREFIX": str(tmp_path), "CMAKE_ARGS": quick, "PATH": path}
    succeeded(["bash", CONDA / "build_library.sh"], SOURCE, **env)
    wanted = yaml.safe_load((CONDA / "recipe.yaml").read_text())["outputs"][0]["tests"]
    mpi = next(iter(MPIS))
    for file in wanted[0]["package_contents"]["files"]:
        assert (tmp_path / file.replace("${{ mpi }}", mpi)).exists(), file
    script = wanted[1]["script"].replace("${{ mpi }}", mpi).replace("$CONDA_PREFIX", str(tmp_path))
    printed = succeeded(["bash", "-c", script], SOURCE, **env)
    assert "ring: all blocks right" in printed, printed


@pytest.mark.more
def test_spack_knows_the_recipe() -> None:
    """Where there is a Spack: it is no package of PyPI or Debian."""
    spack = shutil.which("spack")
    if not spack:
        pytest.skip("there is no spack on PATH")
    succeeded([spack, "-C", "/dev/null", "audit", "packages", "tonari"])
