# SPDX-License-Identifier: BSD-3-Clause
"""tonari for Spack: spack repo add packaging/spack/spack_repo/tonari; spack install tonari"""

import os

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Tonari(CMakePackage):
    """Makes halo exchanges and other sparse collective communication in MPI programs faster: plans
    an exchange in many ways, measures them on the machine, and runs the fastest."""

    # the repository that this recipe lies in
    git = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 6))

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("mpi", default=True, description="the library, for the MPI of the spec")
    variant("python", default=False, description="the command line, for planning without MPI")
    variant("fortran", default=False, description="the tests of the Fortran module, too")
    variant("tests", default=False, description="what spack install --test=root runs")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.24:", type="build")
    generator("ninja")

    conflicts("~mpi~python", msg="tonari without MPI and without Python is nothing")
    conflicts("+tests", when="~mpi", msg="the tests of MPI programs need MPI")
    conflicts("+fortran", when="~mpi", msg="the Fortran module is that of the library")
    conflicts("%gcc@:11", msg="tonari is written in C++20")
    requires("platform=linux", msg="tonari uses Linux's shared memory")

    depends_on("mpi@3.1:", when="+mpi")
    depends_on("googletest", type="build", when="+tests")
    depends_on("pkgconfig", type="test", when="+mpi")
    with when("+python"):
        extends("python@3.11:")
        depends_on("py-nanobind@2.4:", type="build")
        depends_on("py-typer@0.20:", type="run")
        depends_on("py-rich@13:", type="run")
        depends_on("py-numpy@1.26:", type="run")
        depends_on("py-matplotlib@3.8:", type="run")

    def cmake_args(self):
        args = [
            self.define_from_variant("TONARI_PYTHON", "python"),
            self.define_from_variant("TONARI_FORTRAN", "fortran"),
            self.define_from_variant("TONARI_TESTS", "tests"),
            self.define("TONARI_EXAMPLES", False),
            self.define("TONARI_BENCHMARKS", False),
            self.define("CMAKE_UNITY_BUILD", True),
        ]
        if self.spec.satisfies("+mpi"):
            args.append(self.define("MPI_CXX_COMPILER", self.spec["mpi"].mpicxx))
        else:
            args.append(self.define("TONARI_MPI", "none"))
        if self.spec.satisfies("+python"):
            args.append(self.define("Python_EXECUTABLE", self.spec["python"].command.path))
        return args

    @run_after("install")
    def keep_smoke_test(self):
        cache_extra_test_sources(self, ["examples/ring.cpp", "packaging/smoke.sh"])

    def test_ring(self):
        """a program that is linked with the library runs on two ranks"""
        if self.spec.satisfies("~mpi"):
            raise SkipTest("without MPI there is no library")
        kind = next(iter(find(self.prefix, "tonari-*.pc")))
        kind = os.path.basename(kind).removeprefix("tonari-").removesuffix(".pc")
        with working_dir(self.test_suite.current_test_cache_dir):
            path = os.path.dirname(self.spec["mpi"].mpicxx)
            bash = which("bash", required=True)
            bash.add_default_env("PATH", path + os.pathsep + os.environ["PATH"])
            bash("packaging/smoke.sh", self.prefix, kind, "examples/ring.cpp")

    def test_plan(self):
        """the command line plans"""
        if self.spec.satisfies("~python"):
            raise SkipTest("without Python there is no command line")
        tonari = Executable(self.prefix.bin.tonari)
        out = tonari("plan", "moore:3:1", "--bytes", "64", output=str.split, error=str.split)
        check_outputs(["linear", "torus"], out)
