"""Programs of others, each with an input, for tests and for benchmarks: those that Debian packages, and
those that the user has built below a folder, DIR/openmpi and DIR/mpich. README.md says how they are built.

Each says what of its output is a result. Results are compared as they are printed, and each program
prints fewer digits than the order of summation changes: an MPI_Allreduce adds the ranks' numbers in
an order of its own, and messages that any of which may come first are added as they come.
"""
import dataclasses
import glob
import os
import re
import subprocess
from collections.abc import Callable

HERE = os.path.dirname(os.path.abspath(__file__))
INPUTS = os.path.join(HERE, "Inputs")
PYTHON = "/usr/bin/python3"  # the packages'
# One thread per rank: the ranks fill the machine.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
PETSC_EXAMPLE = "/usr/share/petsc/*/share/petsc/examples/src/ksp/ksp/tutorials/ex2.c"
SCALAPACK = "/usr/lib/*/scalapack/{mpi}-tests"
LU_INPUT = """'LU of matrices that are as large as the program has memory for'
'MPI'
''        output file
6         device
{count}   problem sizes
{sizes}   M
{sizes}   N
{block_count} block sizes
{blocks}  NB
1         numbers of right hand sides
1         NRHS
1         their block sizes
1         NBRHS
1         grids
1         P
{ranks}   Q
1.0       threshold
F         condition estimates
"""


class Missing(Exception):
    """Why a program cannot run."""


@dataclasses.dataclass
class Command:
    """What is started, in which folder."""
    words: list
    folder: str


@dataclasses.dataclass
class Program:
    """`make(job)` gives a Command or raises Missing; `results` finds what is compared, whole matches or,
    where it has groups, these; `seconds` the times that the program took of itself, which are added. A
    program that finds wrong results prints none of these."""
    name: str
    mpis: tuple
    make: Callable
    results: str
    seconds: str = ""

    def results_of(self, output):
        """In any order of the ranks."""
        found = (" ".join(filter(None, each.groups())) or each.group()
                 for each in re.finditer(self.results, output, re.M))
        return sorted(re.sub(r"\s+", " ", each) for each in found)

    def seconds_of(self, output):
        """None where the program does not print any."""
        found = re.findall(self.seconds, output, re.M) if self.seconds else []
        return sum(map(float, found)) if found else None


@dataclasses.dataclass
class Job:
    """Where and how a program is to run; `isLong`: as benchmarks want it; `built`: the folder with programs
    that the user has built."""
    mpi: str
    ranks: int
    work: str
    isLong: bool
    mpi4pyTests: str | None = None
    built: str | None = None


def add_options(add):
    """The options that say where programs are that no package has; `add` is a parser's add_argument."""
    add("--mpi4py-tests", metavar="DIR", help="the folder with runtests.py, of the version that is installed")
    add("--programs", metavar="DIR", help="the folder with programs that are built for an MPI, below DIR/MPI")


def has_modules(*names):
    return subprocess.run([PYTHON, "-c", f"import {', '.join(names)}"], capture_output=True).returncode == 0


def make_lammps(job):
    if subprocess.run(["which", "lmp"], capture_output=True).returncode:
        raise Missing("lammps is not installed")
    cells, steps = (16, 400) if job.isLong else (8, 100)
    return Command(["lmp", "-in", os.path.join(INPUTS, "melt.lammps"), "-log", "none",
                    "-var", "n", str(cells), "-var", "steps", str(steps)], job.work)


def make_petsc(scatter):
    """With its messages (`basic`) or neighbourhood collectives (`neighbor`) where vectors are scattered."""
    def make(job):
        sources = glob.glob(PETSC_EXAMPLE)
        flags = [subprocess.run(["pkg-config", kind, "petsc"], capture_output=True, text=True)
                 for kind in ("--cflags", "--libs")]
        if not sources or any(each.returncode for each in flags):
            raise Missing("libpetsc-real-dev or libpetsc*-dev-examples is not installed")
        program = os.path.join(job.work, "ex2")
        if not os.path.exists(program):
            cflags, libraries = (each.stdout.split() for each in flags)
            subprocess.run(["mpicc.openmpi", *cflags, sources[-1], "-o", program, *libraries, "-lm"], check=True)
        size = "300" if job.isLong else "40"
        words = [program, "-sf_type", scatter, "-m", size, "-n", size]
        return Command(words + (["-ksp_type", "cg", "-pc_type", "jacobi"] if job.isLong else ["-ksp_monitor_short"]),
                       job.work)
    return make


def make_dolfinx(job):
    if not has_modules("dolfinx", "petsc4py"):
        raise Missing("python3-dolfinx-real is not installed")
    words = ["64", "5"] if job.isLong else ["16"]
    # What it compiles is kept.
    return Command(["env", f"XDG_CACHE_HOME={job.work}", PYTHON, os.path.join(INPUTS, "poisson.py"), *words],
                   job.work)


def make_mpi4py(job):
    if not has_modules("mpi4py"):
        raise Missing("python3-mpi4py is not installed")
    return Command([PYTHON, os.path.join(INPUTS, "neighbors.py")], job.work)


def make_mpi4py_tests(job):
    """Without those that spawn processes: ranks that come later are the MPI's."""
    if not has_modules("mpi4py"):
        raise Missing("python3-mpi4py is not installed")
    if not job.mpi4pyTests:
        raise Missing("no package has them; --mpi4py-tests names a folder with its version's runtests.py")
    return Command([PYTHON, "-B", os.path.join(job.mpi4pyTests, "runtests.py"), "-q",
                    "-e", "test_spawn", "-e", "test_dynproc"], job.work)


def make_lu(job):
    found = glob.glob(os.path.join(SCALAPACK.format(mpi=job.mpi), "xdlu"))
    if not found:
        raise Missing(f"scalapack-mpi-test is not installed for {job.mpi}")
    sizes = [430, 440, 450, 460, 470, 480, 490, 500] if job.isLong else [100, 200]
    blocks = [4, 8, 16, 32]
    folder = os.path.join(job.work, f"lu-{job.ranks}-{job.isLong}")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "LU.dat"), "w") as file:
        file.write(LU_INPUT.format(count=len(sizes), sizes=" ".join(map(str, sizes)), ranks=job.ranks,
                                   block_count=len(blocks), blocks=" ".join(map(str, blocks))))
    return Command(found[:1], folder)


def built(job, name):
    """The path of a program that the user has built for the job's MPI."""
    if not job.built:
        raise Missing("no package has it; --programs names a folder with it")
    top = os.path.join(os.path.abspath(job.built), job.mpi)
    for folder, _, files in os.walk(top):
        path = os.path.join(folder, name)
        if name in files and os.access(path, os.X_OK):
            return path
    raise Missing(f"no {name} is below {top}")


def make_npb(name):
    return lambda job: Command([built(job, name)], job.work)


def make_amg(job):
    # The ranks part the longest side, so there are as many unknowns with 4 ranks as with 2.
    length, side = (120, 50) if job.isLong else (40, 10)
    words = ["-problem", "1", "-n", length // job.ranks, side, side, "-P", job.ranks, 1, 1]
    return Command([built(job, "amg"), *map(str, words)], job.work)


def make_graph500(job):
    return Command([built(job, "graph500_reference_bfs"), "13" if job.isLong else "10", "16"], job.work)


def make_heffte(job):
    size, runs = (["128"] * 3, "-nruns10") if job.isLong else (["32"] * 3, "-nruns1")
    return Command([built(job, "speed3d_c2c"), "fftw", "double", *size, runs], job.work)


def make_cp2k(job):
    if subprocess.run(["which", "cp2k.psmp"], capture_output=True).returncode:
        raise Missing("cp2k is not installed")
    return Command(["cp2k.psmp", "-i", os.path.join(INPUTS, "water.cp2k")], job.work)


BOTH = ("openmpi", "mpich")
NPB = (r"^ *(Verification *= *SUCCESSFUL)$", r"^ Time in seconds *= *([\d.]+)")
OPENMPI = ("openmpi",)
PROGRAMS = [
    Program("LAMMPS melt", OPENMPI, make_lammps,
            # Of each tenth step; then how atoms, ghosts and neighbours are spread over the ranks.
            r"^ +\d+(?: +-?[\d.e+-]+){5} *$|^N(?:local|ghost|eighs):.*|^Total # of neighbors.*",
            r"^Loop time of ([\d.]+)"),
    Program("PETSc ex2, messages", OPENMPI, make_petsc("basic"), r"^ *\d+ KSP Residual.*|^Norm of error.*"),
    Program("PETSc ex2, neighbours", OPENMPI, make_petsc("neighbor"), r"^ *\d+ KSP Residual.*|^Norm of error.*"),
    # The solver's steps depend on how the mesh is parted, and PT-SCOTCH parts it anew each time.
    Program("dolfinx Poisson", OPENMPI, make_dolfinx, r"^unknowns \d+|norm \S+$", r"^seconds ([\d.]+)"),
    Program("mpi4py neighbours", OPENMPI, make_mpi4py, r"^\[\[.*"),
    Program("mpi4py tests", OPENMPI, make_mpi4py_tests, r"^Ran \d+ tests|^OK.*|^FAILED.*",
            r"^Ran \d+ tests in ([\d.]+)s"),
    Program("ScaLAPACK LU", BOTH, make_lu,
            r"^WALL(?: +\d+){7}|(?:PASSED|FAILED)$|^ *\d+ tests .*", r"^WALL(?: +\d+){7} +([\d.]+)"),
    Program("CP2K water", OPENMPI, make_cp2k, r"^ ENERGY.*: +(-?\d+\.\d{6})",
            r"^ CP2K +1 +1\.0(?: +[\d.]+){3} +([\d.]+)$"),
    Program("NPB FT, class A", BOTH, make_npb("ft.A.x"), *NPB),
    Program("NPB IS, class A", BOTH, make_npb("is.A.x"), *NPB),
    Program("NPB CG, class A", BOTH, make_npb("cg.A.x"), *NPB),
    Program("AMG", BOTH, make_amg, r"^(Iterations = \d+)|^Final (Relative Residual Norm = \d\.\d\d)\d*(e-\d+)",
            r"^PCG (?:Setup|Solve):\n +wall clock time = ([\d.]+)"),
    # Graph500 prints these where all searches passed its validation.
    Program("Graph500", BOTH, make_graph500, r"^(?:NBFS|min_nedge|mean_nedge|max_nedge): *\d+",
            r"^Time for BFS \d+ is ([\d.e-]+)"),
    # Its ranks exchange blocks and add up nothing, so the error is the same to the last digit.
    Program("heFFTe", BOTH, make_heffte, r"^Max error: .*", r"^Time per run: ([\d.e-]+)"),
]


def chosen(patterns):
    return [each for each in PROGRAMS
            if not patterns or any(re.search(pattern, each.name) for pattern in patterns)]
