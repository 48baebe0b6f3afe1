#!/usr/bin/env python3
"""Compares what all front ends choose for the calls of situations.txt: the collective, and the rule or decision.

usage: same_choice.py BUILD [--mpi NAME=LAUNCHER]... [--python INTERPRETER] [--apart FRONT]

Each call is made by `colldsl choose`, whose answer the others must give too. A machine profile then has
decisions for some of the calls; and one of them cannot be followed, so that none counts. With --apart one
front end does not get the profile, so that this must fail: the comparison is compared.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DECISIONS = [
    {"function": "bcast", "ranks": 3, "nodes": 1, "bytes": [0], "use": "bcast_kary k=2"},
    {"function": "allreduce", "ranks": 4, "nodes": 1, "bytes": [1024, 1 << 20], "use": "allreduce_ring",
     "commutative": True},
    {"function": "gather", "ranks": 4, "nodes": 2, "bytes": [0], "use": "gather_binomial"},
]
# It names a collective that there is not.
WRONG = {"function": "scatter", "ranks": 2, "nodes": 1, "bytes": [0], "use": "scatter_none"}
CALLED = {row["function"] for row in DECISIONS}


class Row:
    def __init__(self, line):
        self.function, ranks, self.bytes, self.type, self.op, nodes, self.form = line.split()
        self.ranks, self.nodes = int(ranks), int(nodes)
        self.name = line.strip()

    @property
    def topology(self):
        return "flat" if self.nodes == 1 else f"node:{self.nodes} core:{self.ranks // self.nodes}"

    @property
    def words(self):
        return [self.function, self.bytes, self.type, self.op, self.form]

    @property
    def options(self):
        options = ["-n", str(self.ranks), "--bytes", self.bytes, "--topology", self.topology]
        options += [] if self.type == "i32" else ["--type", self.type]  # a barrier takes none
        options += [] if self.op == "-" else ["--op", self.op]
        return options + (["--in-place"] if self.form == "in-place" else [])

    @property
    def oversubscribed(self):
        """Of ranks that run here."""
        return self.nodes == 1 and self.ranks > os.cpu_count()


def read_rows():
    with open(os.path.join(HERE, "situations.txt")) as file:
        return [Row(line) for line in file if line.strip() and not line.startswith("#")]


class Front:
    """One front end: it maps rows to "COLLECTIVE, REASON"."""

    runs = True  # ranks of this machine, which may have too few cores

    def __init__(self, name, tools):
        self.name, self.tools = name, tools

    def can_make(self, row):
        return True

    def choices(self, rows):
        raise NotImplementedError


class Command(Front):
    """`run`, `sim`, `opt`: they print the rule that chose."""

    def __init__(self, tools, command, runs, more=(), library=None):
        super().__init__(command + (" of a library" if library else ""), tools)
        self.command, self.runs, self.more, self.library = command, runs, more, library

    def choices(self, rows):
        return [self.choice(row) for row in rows]

    def choice(self, row):
        operands = [self.library, "--name", row.function] if self.library else [row.function]
        shown = self.tools.run(self, [self.tools.colldsl, self.command, *operands, *row.options, *self.more]).stderr
        return self.tools.of_rule(row.function, shown)


class Api(Front):
    def __init__(self, tools, library="-"):
        super().__init__("C API" + ("" if library == "-" else " of a library"), tools)
        self.library = library

    def can_make(self, row):
        return row.op != "matmul"  # the header has operators that commute

    def choices(self, rows):
        words = [word for row in rows for word in row.words]
        program = os.path.join(self.tools.build, "bin", "chosen-by-api")
        shown = self.tools.run(self, [program, self.library, str(rows[0].ranks), rows[0].topology, *words]).stdout
        return shown.splitlines()


class Python(Front):
    def __init__(self, tools, kind, interpreter):
        super().__init__(f"Python, {kind}", tools)
        self.kind, self.interpreter, self.runs = kind, interpreter, kind == "plan"

    def can_make(self, row):
        return self.kind != "plan" or row.op != "matmul"

    def choices(self, rows):
        words = [word for row in rows for word in row.words]
        shown = self.tools.run(self, [self.interpreter, os.path.join(HERE, "chosen_by_python.py"), self.kind,
                                      str(rows[0].ranks), rows[0].topology, *words]).stdout
        lines = shown.splitlines()
        if self.kind == "plan":
            return lines
        return [self.tools.of_rule(row.function, f"colldsl: {row.function}: {line}\n") for row, line in zip(rows, lines)]


class Mpi(Front):
    def __init__(self, tools, mpi, launcher):
        super().__init__(mpi, tools)
        self.launcher = launcher

    def choices(self, rows):
        """A process prints a line once: calls of one function are in jobs of their own."""
        jobs, found = [], {}
        for row in rows:
            for job in jobs:
                if all(row.function != other.function for other in job):
                    job.append(row)
                    break
            else:
                jobs.append([row])
        for job in jobs:
            found.update(self.of_job(job))
        return [found[row.name] for row in rows]

    def of_job(self, rows):
        program = os.path.join(self.tools.build, "bin", f"chosen-by-mpi-{self.name}")
        words = [word for row in rows for word in row.words]
        more = {"COLLDSL_VERBOSE": "1", "COLLDSL_FIRST_CALLS": "0", "OMPI_MCA_topo": "basic"}
        if rows[0].nodes > 1:
            more["COLLDSL_RANKS_PER_NODE"] = str(rows[0].ranks // rows[0].nodes)
            more["COLLDSL_NETWORK"] = "mpi"
        shown = self.tools.run(self, [self.tools.colldsl, "mpi", "--", self.launcher, "-n", str(rows[0].ranks),
                                      program, *words], more).stderr
        for row in rows:
            line = re.search(rf"^colldsl: {row.function}: (\w+, (?:rule|decision) \d+ .*? ?for {row.function})", shown,
                             re.M)
            yield row.name, line.group(1) if line else f"nothing: {shown}"


class Tools:
    """The programs, and the profile that they get."""

    def __init__(self, build, apart):
        self.build, self.apart = build, apart
        self.colldsl = os.path.join(build, "bin", "colldsl")
        self.library = os.path.join(build, "stdlib", "stdlib.cdag")
        self.profile = ""
        listed = subprocess.run([self.colldsl, "lib", self.library, "--json"], capture_output=True, text=True, check=True)
        self.rules = json.loads(listed.stdout)["rules"]

    def run(self, front, words, more=None):
        env = {**os.environ, "COLLDSL_PROFILE": "" if front and front.name == self.apart else self.profile,
               "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "PYTHONPATH": os.path.join(self.build, "python"), "PYTHONDONTWRITEBYTECODE": "1", **(more or {})}
        ended = subprocess.run(words, capture_output=True, text=True, env=env, timeout=120)
        if ended.returncode != 0:
            sys.exit(f"{' '.join(words)}\nended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
        return ended

    def of_rule(self, function, shown):
        """The text of a rule, as commands print it, as "COLLECTIVE, rule 5 for FUNCTION"."""
        line = re.search(rf"^colldsl: {function}: ({function} .*?)(, by the machine profile)?$", shown, re.M)
        if not line:
            return f"nothing: {shown}"
        text, decided = line.groups()
        collective = re.search(r" use (\w+)", text).group(1)
        if decided:
            return f"{collective}, decision of the profile for {function}"
        return f"{collective}, rule {self.rules.index(text) + 1 if text in self.rules else text} for {function}"

    def expected(self, row, oversubscribed):
        words = [self.colldsl, "choose", row.function, *row.options, "--json", "--model", "cluster"]
        choice = json.loads(self.run(None, words + (["--oversubscribed"] if oversubscribed else [])).stdout)
        collective, rule = choice["chosen"]["collective"], choice["rule"]
        if rule["decision"]:
            return f"{collective}, decision of the profile for {row.function}"
        return f"{collective}, rule {self.rules.index(rule['text']) + 1} for {row.function}"

    def make_profile(self, path, decisions):
        """A profile of this machine: of a barrier that `tune` measured as briefly as it can."""
        subprocess.run([self.colldsl, "tune", "--noise", "1000000", "--time", "1ms", "--ranks", "2", "--functions",
                        "barrier"], env={**os.environ, "COLLDSL_PROFILE": path}, capture_output=True, check=True)
        with open(path) as file:
            profile = json.load(file)
        profile["decisions"] = decisions
        with open(path, "w") as file:
            json.dump(profile, file)


def plain(reason):
    """Decisions are not numbered alike where some are for other functions."""
    return re.sub(r"decision \d+ of", "decision of", reason)


def compare(tools, fronts, rows, title):
    """The number of calls that a front end chooses otherwise for, which are printed."""
    differ = 0
    expected = {(row.name, more): tools.expected(row, more) for row in rows for more in {row.oversubscribed, False}}
    groups = {}
    for row in rows:
        groups.setdefault((row.ranks, row.topology), []).append(row)
    for front in fronts:
        for group in groups.values():
            group = [row for row in group if front.can_make(row)]
            if not group:
                continue
            found = front.choices(group)
            if len(found) != len(group):
                sys.exit(f"{front.name}: {len(found)} answers for {len(group)} calls")
            for row, reason in zip(group, found):
                wanted = expected[row.name, front.runs and row.oversubscribed]
                if plain(reason) != wanted:
                    print(f"{title}: {row.name}: {front.name} chooses {plain(reason)}; choose says {wanted}")
                    differ += 1
    print(f"{title}: {len(rows)} calls, {len(fronts)} front ends, {differ} differences")
    return differ


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--mpi", action="append", default=[])
    parser.add_argument("--python")
    parser.add_argument("--apart")
    options = parser.parse_args()
    tools = Tools(options.build, options.apart)
    fronts = [Command(tools, "run", True, ["--iters", "1"]), Command(tools, "sim", False),
              Command(tools, "opt", False, ["-o", os.devnull]), Api(tools)]
    if options.python:
        fronts += [Python(tools, kind, options.python) for kind in ("plan", "schedule", "choose")]
    fronts += [Mpi(tools, *mpi.split("=", 1)) for mpi in options.mpi]
    libraries = [Command(tools, "sim", False, library=tools.library), Api(tools, tools.library)]
    rows = read_rows()
    decided = [row for row in rows if row.function in CALLED]
    with tempfile.TemporaryDirectory() as folder:
        good, wrong = os.path.join(folder, "good.json"), os.path.join(folder, "wrong.json")
        if options.apart:
            tools.make_profile(good, DECISIONS)
            tools.profile = good
            return 0 if compare(tools, [f for f in fronts if f.name == options.apart], decided, "apart") else 1
        differ = compare(tools, fronts + libraries, rows, "by the rules")
        tools.make_profile(good, DECISIONS)
        tools.profile = good
        differ += compare(tools, fronts, decided, "with decisions")
        tools.make_profile(wrong, DECISIONS + [WRONG])
        tools.profile = wrong
        differ += compare(tools, fronts, decided, "with a decision that cannot be followed")
        if any("decision" in tools.expected(row, False) for row in decided):
            print("a profile counts in part")
            differ += 1
    return 1 if differ else 0


sys.exit(main())
