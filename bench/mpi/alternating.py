"""Runs of one MPI program under each MPI, alone and with colldsl, in turns.

The program prints a line per row, the words that name it, nanoseconds, `right` or `wrong`; the last
word of the name is a size in bytes.
"""
import argparse
import math
import os
import statistics
import subprocess
import sys

MPIS = {"openmpi": "Open MPI", "mpich": "MPICH"}


def launcher(mpi, ranks):
    """The words before the program: one rank per core as long as there are enough."""
    bound = ranks <= len(os.sched_getaffinity(0))
    if mpi == "openmpi":
        words = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"]
        words += ["--use-hwthread-cpus", "--bind-to", "hwthread"] if bound else ["--bind-to", "none"]
        return [*words, "-n", str(ranks)]
    return ["mpirun.mpich", "-bind-to", "hwthread" if bound else "none", "-n", str(ranks)]


def preloaded(mpi, library):
    """The words that put a library before the program."""
    if not library:
        return []
    return ["-x", f"LD_PRELOAD={library}"] if mpi == "openmpi" else ["-genv", "LD_PRELOAD", library]


def floor_of(build, calls=300):
    """What bench-floor measures: (what, bytes) to nanoseconds. Exits where it is not built."""
    program = os.path.join(build, "bin", "bench-floor")
    if not os.path.exists(program):
        sys.exit(f"{program}: not built")
    done = subprocess.run([program, str(calls)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{program}: {done.stderr}")
    rows = (line.split() for line in done.stdout.splitlines())
    return {(what, int(size)): float(ns) for what, size, ns in rows}


def print_floor(floor):
    """A line per way, a column per size."""
    sizes = sorted({size for _, size in floor if size})
    print(f"{'floor, ns':10}" + "".join(f"{size_name(size):>9}" for size in sizes))
    print(f"{'flag':10}{floor['flag', 0]:9.0f}")
    for what in ("message", "copy", "cma"):
        cells = "".join(f"{floor[what, size]:9.0f}" if (what, size) in floor else f"{'-':>9}"
                        for size in sizes)
        print(f"{what:10}{cells}")


def parser(description, rounds, forms):
    """The options of all these benchmarks."""
    made = argparse.ArgumentParser(description=description,
                                   formatter_class=argparse.RawTextHelpFormatter)
    here = os.path.dirname(os.path.abspath(__file__))
    add = made.add_argument
    add("--build", default=os.path.join(here, "..", "..", "build", "release"), help="the build folder")
    add("--ranks", type=int, default=2)
    add("--rounds", type=int, default=rounds, help="how often each variant runs")
    add("--form", choices=forms, default="blocking")
    add("--data", choices=("rewritten", "unread", "unchanged"), default="rewritten",
        help="what programs do with their buffers between calls: write and read them, only write, neither")
    add("--operations", help="these alone: A,B,...")
    add("--sizes", help="bytes: N,N,...")
    made.set_defaults(board=None, topologies=None, by_hand=False, slowest=False)
    add("--alloc-mem", action="store_true", help="buffers of MPI_Alloc_mem")
    add("--places", type=int, default=1, help="buffers change from call to call, so many in turns")
    add("--calls", type=int, default=200, help="at most so many calls per row and run")
    add("--least-calls", type=int, default=5, help="though they take longer than a row may")
    add("--row-ms", type=int, default=50, help="at most about so long per row and run")
    add("--percentile", type=int, default=50, help="of the calls of one run; what is shown are medians of these")
    add("--timeout", type=int, default=300, help="seconds that one run may take")
    return made


class Program:
    """One program, as `args` want it."""

    def __init__(self, name, args):
        self.name, self.args = name, args
        self.bare = {mpi: (mpi, None) for mpi in MPIS if os.path.exists(self.path(mpi))}
        libraries = {mpi: os.path.abspath(os.path.join(args.build, "lib", f"libcolldsl-{mpi}.so"))
                     for mpi in self.bare}
        self.ours = {f"{mpi}+colldsl": (mpi, library) for mpi, library in libraries.items()
                     if os.path.exists(library)}
        if not self.bare:
            sys.exit(f"{self.path('MPI')}: not built")

    def path(self, mpi):
        return os.path.join(self.args.build, "bin", f"{self.name}-{mpi}")

    def start(self, mpi, library, ranks):
        """The words before the program."""
        start = launcher(mpi, ranks)
        return [start[0], *preloaded(mpi, library), *start[1:]]

    def run(self, mpi, library, environment=None, **changes):
        """What it prints; `changes` are to the arguments."""
        args = argparse.Namespace(**{**vars(self.args), **changes})
        words = [*self.start(mpi, library, args.ranks), self.path(mpi), "--form", args.form, "--data", args.data]
        words += ["--calls", str(args.calls), "--least-calls", str(args.least_calls),
                  "--row-ms", str(args.row_ms), "--percentile", str(args.percentile)]
        words += ["--places", str(args.places), "--timeout", str(args.timeout)]
        words += (["--alloc-mem"] if args.alloc_mem else [])
        words += ["--by-hand"] if args.by_hand and not library else []
        words += ["--slowest"] if args.slowest else []
        words += ["--board", args.board] if args.board else []
        words += ["--operations", args.operations] if args.operations else []
        words += ["--sizes", args.sizes] if args.sizes else []
        words += ["--topologies", args.topologies] if args.topologies else []
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=args.timeout + 10,
                                  env={**os.environ, **(environment or {})})
        except subprocess.TimeoutExpired:
            sys.exit(f"{self.name}: no end after {args.timeout + 10} s: {' '.join(words)}")
        if done.returncode:
            sys.exit(f"{self.name}: failed: {' '.join(words)}\n{done.stderr}")
        return done

    def rows(self, variant):
        """The rows of one run: (word, ..., bytes) to (nanoseconds, right)."""
        rows = {}
        for line in self.run(*variant).stdout.splitlines():
            *name, size, ns, state = line.split()
            rows[*name, int(size)] = (float(ns), state == "right")
        return rows

    def measure(self):
        """All variants, round by round."""
        variants = {**self.bare, **self.ours}
        results = Results(variants)
        for _ in range(self.args.rounds):
            for name, variant in variants.items():
                results.runs[name].append(self.rows(variant))
        return results


class Results:
    """What all runs said, by the variant's name."""

    def __init__(self, variants):
        self.runs = {name: [] for name in variants}

    def has(self, name, row):
        return name in self.runs and row in self.runs[name][0]

    def median(self, name, row):
        return statistics.median(run[row][0] for run in self.runs[name])

    def right(self, name, row):
        return all(run[row][1] for run in self.runs[name])

    def best(self, names, row):
        return min((self.median(name, row) for name in names), default=None)

    def ratio(self, program, row):
        """How many times faster ours is than the better MPI; None if there is no ours."""
        if not program.ours:
            return None
        return self.best(program.bare, row) / self.best(program.ours, row)

    def cell(self, name, row):
        """A median, with `!` where data was wrong; `-` where there is no such variant, or it has no such row."""
        if not self.has(name, row):
            return f"{'-':>11} "
        return f"{self.median(name, row):11.0f}{' ' if self.right(name, row) else '!'}"

    def rows(self):
        return list(next(iter(self.runs.values()))[0])

    def wrong(self, names):
        """A line for each row whose data was wrong."""
        return [f"{name} delivered wrong data: {' '.join(row[:-1])} {size_name(row[-1])}"
                for name in names for row in self.runs[name][0] if not self.right(name, row)]


def size_name(size):
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB" if size >= 1024 else f"{size} B"


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))
