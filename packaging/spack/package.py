# Copyright the colldsl authors. Apache License 2.0, see LICENSE.
"""A recipe for Spack 1.0 and later.

In the source tree, with a repository of packages of your own (`spack repo create`), whose folder
packages/colldsl/ holds this file:

    spack dev-build colldsl@0.2.0 mpi=openmpi

The project has no public archive, so the version has no address to be fetched from.
"""

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Colldsl(CMakePackage):
    """A language for communication schedules, with proofs, passes, a simulator, and an executor that
    also runs under MPI programs."""

    license("Apache-2.0")

    version("0.2.0")

    variant("mpi", default="none", values=("none", "openmpi", "mpich"), multi=False,
            description="MPI whose programs are served")
    variant("metis", default=True, description="Graphs of matrices, partitioned by METIS")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("java", type="build")
    depends_on("antlr4-complete@4.9.3", type="build")
    depends_on("antlr4-cpp-runtime@4.9.3")
    depends_on("llvm@19.1")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("hwloc@2:")
    depends_on("xxhash@0.8:")
    depends_on("isa-l")
    depends_on("z3")
    depends_on("pmix")
    depends_on("nlohmann-json")
    depends_on("eigen@3.4:")
    depends_on("libxml2")
    depends_on("protobuf")
    depends_on("libfabric")
    depends_on("rdma-core")
    depends_on("metis@5:", when="+metis")
    depends_on("openmpi", when="mpi=openmpi")
    depends_on("mpich", when="mpi=mpich")

    requires("platform=linux", msg="Ranks are processes of Linux")
    requires("target=x86_64:", "target=aarch64:", msg="Ranks are processes on x86-64 and 64-bit Arm")
    conflicts("%gcc@:11", msg="C++20 as of GCC 12 is needed")

    generator("ninja")

    @property
    def antlr(self):
        """The program that CMake runs on the grammar; Spack's package has the archive alone."""
        return join_path(self.stage.path, "antlr4")

    @run_before("cmake")
    def write_antlr(self):
        archive = join_path(self.spec["antlr4-complete"].prefix.bin, "antlr-complete.jar")
        java = join_path(self.spec["java"].prefix.bin, "java")
        with open(self.antlr, "w", encoding="utf-8") as script:
            script.write(f'#!/bin/sh\nexec "{java}" -jar "{archive}" "$@"\n')
        set_executable(self.antlr)

    def mpi_args(self):
        """CMake looks for MPIs where Debian has them; these variables name them instead, or none."""
        args = []
        for mpi, library in (("openmpi", "libmpi.so"), ("mpich", "libmpi.so")):
            prefix = self.spec[mpi].prefix if self.spec.satisfies(f"mpi={mpi}") else None
            args += [
                self.define(f"{mpi.upper()}_INCLUDE_DIR", prefix.include if prefix else ""),
                self.define(f"{mpi.upper()}_LIBRARY", join_path(prefix.lib, library) if prefix else ""),
                self.define(f"{mpi.upper()}_LAUNCHER", prefix.bin.mpirun if prefix else ""),
            ]
        return args

    def cmake_args(self):
        return [
            self.define("COLLDSL_BUILD_TESTS", False),
            self.define("COLLDSL_BUILD_BENCH", False),
            self.define("ANTLR4_TOOL", self.antlr),
            self.define_from_variant("COLLDSL_METIS", "metis"),
            *self.mpi_args(),
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def prove(self):
        """The installed program proves a broadcast."""
        colldsl = Executable(join_path(self.prefix.bin, "colldsl"))
        colldsl("verify", "bcast_binomial", "--ranks", "1..8")
