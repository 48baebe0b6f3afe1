"""Programs under an MPI, alone and served: with the library of colldsl loaded before that MPI.

Nothing is left running: each process that a run starts, or one of those starts, carries a word in its
environment by which it is found when the time is up.
"""
import argparse
import dataclasses
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--bind-to", "none"], "mpich": ["mpirun.mpich"]}
MARK = "PAIR_OF_RUNS"
OUTPUT_BYTES = 8 << 20


def preloaded(mpi, library):
    """The words of a launcher that load a library."""
    if not library:
        return []
    return ["-x", f"LD_PRELOAD={library}"] if mpi == "openmpi" else ["-genv", "LD_PRELOAD", library]


def launch(mpi, ranks, library=None):
    """The words before a program and its arguments."""
    start = os.path.join(HERE, "Inputs", "start")
    return [start, *LAUNCHERS[mpi], *preloaded(mpi, library), "-n", str(ranks)]


def add_options(add):
    """The options that say what is compared; `add` is a parser's add_argument."""
    add("build", help="the build folder, which has lib/libcolldsl-MPI.so")
    add("--mpi", choices=LAUNCHERS, required=True)
    add("--library", help="instead of that of the build folder")


def library(args):
    """The library's path, or an end with exit code 77."""
    path = os.path.abspath(args.library or os.path.join(args.build, "lib", f"libcolldsl-{args.mpi}.so"))
    if not os.path.exists(path):
        skip(f"{path} is not there")
    return path


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def transports(mark):
    """The processes whose environment has the mark."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if f"{MARK}={mark}".encode() in file.read().split(b"\0"):
                    found.append(int(name))
        except OSError:
            pass
    return found


def end(mark):
    """Ends what carries the mark, until there is nothing left that does."""
    for _ in range(100):
        found = transports(mark)
        if not found:
            return
        for process in found:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)


@dataclasses.dataclass
class Outcome:
    """What became of one run; `status` is None if the time was up."""
    status: int | None
    seconds: float
    output: str

    @property
    def hung(self):
        return self.status is None


def run(words, limit, environment=None, folder=None):
    """Runs a command, `limit` seconds at most."""
    mark = uuid.uuid4().hex
    with tempfile.TemporaryFile() as file:
        started = time.monotonic()
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                                   cwd=folder, start_new_session=True,
                                   env={**os.environ, **(environment or {}), MARK: mark})
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
        except BaseException:
            end(mark)
            raise
        seconds = time.monotonic() - started
        end(mark)
        process.wait()
        file.seek(0)
        return Outcome(status, seconds, file.read(OUTPUT_BYTES).decode(errors="replace"))


@dataclasses.dataclass
class Test:
    """One program with its arguments."""
    name: str
    ranks: int
    words: list
    folder: str
    limit: float
    environment: dict = dataclasses.field(default_factory=dict)

    def __str__(self):
        return f"{self.name}, {self.ranks} ranks"


@dataclasses.dataclass
class Pair:
    """A test alone and served: all outcomes, those of the first runs first."""
    test: Test
    verdict: str
    alone: list
    served: list


BAD = ("fails", "hangs", "slower")
MEANING = {"passes": "passed alone and served", "fails": "fails only served", "hangs": "hangs only served",
           "slower": "slower served", "unsteady": "passed alone once, not always",
           "not alone": "does not pass alone"}


class Judge:
    """Runs tests alone and served. `passes(alone outcome, outcome)` tells whether an outcome is right."""

    def __init__(self, args, passes):
        self.mpi, self.loaded, self.passes = args.mpi, library(args), passes
        self.slower, self.repetitions, self.patience = args.slower, args.repetitions, args.patience

    def once(self, test, loaded, limit):
        words = [*launch(self.mpi, test.ranks, loaded), *test.words]
        return run(words, limit, test.environment, test.folder)

    def alone(self, test):
        return self.once(test, None, test.limit)

    def served(self, test, alone):
        """It has some seconds and five times what it took alone."""
        return self.once(test, self.loaded, self.patience + 5 * alone.seconds)

    def pair(self, test):
        """Runs a test as often as it takes to judge it."""
        first = self.alone(test)
        pair = Pair(test, "not alone", [first], [])
        if not self.passes(first, first):
            return pair
        pair.served = [self.served(test, first)]
        pair.verdict = self.state(first, pair.served[0])
        if pair.verdict == "passes" and self.ratio(pair) < self.slower:
            return pair
        return self.again(pair)

    def again(self, pair):
        """Once more, of what hangs, else as often as was asked for: is it so each time?"""
        first = pair.alone[0]
        for _ in range(min(self.repetitions - 1, 1 if pair.verdict == "hangs" else self.repetitions)):
            pair.alone.append(self.alone(pair.test))
            pair.served.append(self.served(pair.test, first))
        states = [self.state(first, each) for each in pair.served]
        if not all(self.passes(first, each) for each in pair.alone):
            pair.verdict = "unsteady"
        elif "hangs" in states or "fails" in states:
            pair.verdict = "hangs" if "hangs" in states else "fails"
        else:
            pair.verdict = "passes" if self.ratio(pair) < self.slower else "slower"
        return pair

    def state(self, alone, served):
        return "hangs" if served.hung else "passes" if self.passes(alone, served) else "fails"

    def bad(self, pair):
        """How many of the served runs did not pass."""
        return sum(self.state(pair.alone[0], each) != "passes" for each in pair.served)

    def ratio(self, pair):
        """How many times longer it took served, by medians and by the least times, since others share the
        machine; 0 where it is too short to tell."""
        if seconds(pair.served) < 0.5:
            return 0
        return min(middle([each.seconds for each in pair.served]) / middle([each.seconds for each in pair.alone])
                   for middle in (statistics.median, min))


def seconds(outcomes):
    return statistics.median(each.seconds for each in outcomes)


def describe(pair, judge):
    """A line."""
    times = f"{seconds(pair.alone):7.2f} s alone"
    if pair.served:
        times += f", {seconds(pair.served):7.2f} s served"
    counts = ""
    if pair.verdict in ("fails", "hangs"):
        counts = f", {judge.bad(pair)} of {len(pair.served)} runs"
    return f"{pair.verdict:9} {times}  {pair.test}{counts}"


def write_row(file, mpi, pair, judge):
    """A row of the table that programs read."""
    if file.tell() == 0:
        file.write("mpi\ttest\tranks\tverdict\talone_s\tserved_s\tserved_runs\tserved_bad\n")
    served = f"{seconds(pair.served):.3f}" if pair.served else "-"
    file.write(f"{mpi}\t{pair.test.name}\t{pair.test.ranks}\t{pair.verdict}\t{seconds(pair.alone):.3f}\t"
               f"{served}\t{len(pair.served)}\t{judge.bad(pair)}\n")
    file.flush()


def write_log(folder, mpi, pair):
    """What the served runs printed, and the first one alone."""
    os.makedirs(folder, exist_ok=True)
    name = re.sub(r"[^\w.=-]+", "_", f"{mpi} {pair.test.name} {pair.test.ranks}")[:200]
    with open(os.path.join(folder, name), "w") as file:
        for kind, outcomes in (("alone", pair.alone[:1]), ("served", pair.served)):
            for each in outcomes:
                state = "time is up" if each.hung else f"exit status {each.status}"
                file.write(f"--- {kind}, {each.seconds:.2f} s, {state}\n{each.output}\n")


def interrupt(*_):
    raise KeyboardInterrupt


def judge_all(judge, tests, args):
    """Runs the tests one after the other, prints what is not as it should be, and a table."""
    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGINT, interrupt)
    tsv = open(args.tsv, "a") if args.tsv else None
    pairs = []
    for test in tests:
        pair = judge.pair(test)
        pairs.append(pair)
        if args.verbose or pair.verdict != "passes":
            print(describe(pair, judge), flush=True)
        if tsv:
            write_row(tsv, args.mpi, pair, judge)
        if args.logs and pair.verdict != "passes":
            write_log(args.logs, args.mpi, pair)
    print(f"{args.mpi}: {len(pairs)} tests")
    for verdict, meaning in MEANING.items():
        print(f"{sum(pair.verdict == verdict for pair in pairs):6} {meaning}")
    return int(any(pair.verdict in BAD for pair in pairs))


def add_judging(add):
    """The options of judge_all() and Judge."""
    add("--timeout", type=float, default=60, help="seconds that a run alone may take (%(default)s)")
    add("--patience", type=float, default=20,
        help="seconds that it may take served besides five times as long as alone (%(default)s)")
    add("--slower", type=float, default=1.5,
        help="times that it may take longer served, where that is half a second or more (%(default)s)")
    add("--repetitions", type=int, default=3, help="of what fails or is slower (%(default)s)")
    add("--tsv", metavar="FILE", help="adds a row per test")
    add("--logs", metavar="FOLDER", help="keeps what tests print that do not pass")
    add("--list", action="store_true", help="the tests, and nothing is run")
    add("--verbose", action="store_true", help="prints a line for each test")
    add("patterns", nargs="*", metavar="PATTERN", help="tests whose name matches one of these")


def chosen(tests, args):
    """Those that the patterns ask for."""
    found = [test for test in tests
             if not args.patterns or any(re.search(pattern, test.name) for pattern in args.patterns)]
    if args.list:
        print(*found, sep="\n")
        sys.exit(0)
    return found


def parser(description):
    return argparse.ArgumentParser(description=description,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
