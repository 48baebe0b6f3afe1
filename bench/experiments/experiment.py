"""What the experiments share: simulations, a table, a plot."""
import argparse
import concurrent.futures
import functools
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "bench", "experiments")
COLLDSL = os.environ.get("COLLDSL", os.path.join(ROOT, "build", "release", "bin", "colldsl"))
TIMEOUT_S = 150


class Failed(Exception):
    """The program did not do what the experiment asked."""


_arguments = []


def argument(*names, **details):
    """Adds an option of one experiment, before options() is called."""
    _arguments.append((names, details))


@functools.cache
def options():
    """What the command line says."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=os.path.join(ROOT, "build", "experiments"),
                        help="folder for the tables and plots (default: build/experiments)")
    parser.add_argument("--quick", action="store_true",
                        help="few and small points: to see that it works, not what it shows")
    for names, details in _arguments:
        parser.add_argument(*names, **details)
    return parser.parse_args()


def points(full, quick):
    """What to sweep over, or the few points of --quick."""
    return quick if options().quick else full


def colldsl(*words):
    """What the program prints."""
    command = [COLLDSL, *map(str, words)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired as late:
        raise Failed(f"{' '.join(command)}\nnot done after {TIMEOUT_S} s") from late
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}\n{done.stderr.strip()}")
    return done.stdout


def main(experiment):
    """Runs an experiment; says so and ends with 1 if the program failed."""
    options()
    try:
        experiment()
    except Failed as failure:
        sys.exit(str(failure))


def simulate(*words):
    """`colldsl sim --json`: finish (ns, one per rank), makespan, events."""
    return json.loads(colldsl("sim", *words, "--json"))


def makespan_us(*words):
    return simulate(*words)["makespan"] / 1000


def side_by_side(work, cases):
    """work(case) of each case, two at a time, in order."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return list(pool.map(work, cases))


class Table:
    """Rows of numbers under named columns."""

    def __init__(self, *columns):
        self.columns = columns
        self.rows = []

    def add(self, *values):
        self.rows.append(values)

    def cells(self):
        yield list(self.columns)
        for row in self.rows:
            yield [f"{value:.4g}" if isinstance(value, float) else str(value) for value in row]

    def show(self):
        cells = list(self.cells())
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        for row in cells:
            print("  ".join(cell.rjust(width) for cell, width in zip(row, widths)))

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.writelines("\t".join(row) + "\n" for row in self.cells())


def plot(path, table, title, x, y, log="", series=None):
    """Columns over the first one, as lines; `series`: which columns, all but the first if none are
    named."""
    series = series or table.columns[1:]
    data_columns = [(name, table.columns.index(name) + 1) for name in series]
    data = path.removesuffix(".svg") + ".tsv"
    lines = ", ".join(
        f"'{data}' using 1:{column} with linespoints title '{name}'"
        for name, column in data_columns)
    script = f"""
        set terminal svg size 680,480 noenhanced font 'sans,12' background 'white'
        set output '{path}'
        set datafile separator '\\t'
        set datafile missing '-'
        set title '{title}'
        set xlabel '{x}'
        set ylabel '{y}'
        set key outside below
        set grid
        {f"set logscale {log}" if log else ""}
        plot {lines}
    """
    try:
        subprocess.run(["gnuplot"], input=script, text=True, check=True)
    except FileNotFoundError:
        print(f"no plot: gnuplot is not installed (the table is in {data})", file=sys.stderr)


def finish(name, table, **labels):
    """Shows the table, and writes it and its plot to the folder that --out names."""
    out = options().out
    os.makedirs(out, exist_ok=True)
    table.show()
    table.write(os.path.join(out, name + ".tsv"))
    if labels:
        plot(os.path.join(out, name + ".svg"), table, **labels)
