#!/usr/bin/env python3
"""The models of real machines, beside what was measured there: the factor between predicted and measured
times of single algorithms, and how much longer than the fastest one the algorithms take that the model
picks, and those that the MPI of the machine chose.

The factors of a model's own data are those that its fit has seen. --fit makes the models anew, judges them
by every fifth time, which a fit has not seen, and writes them to the folder that --out names (half an hour).

source: HLC-Lab/pico, D. De Sensi and S. Pasqualoni, 2025; data in data/pico
"""
import json
import lzma
import os
import subprocess
import tempfile

from experiment import COLLDSL, HERE, Failed, Table, argument, finish, main, options, points

DATA = os.path.join(HERE, "data", "pico", "timings.tsv.xz")
# Each fit begins with a model of the form of its machine; some predictions need more options: nodes of Fugaku are a
# torus, whose links take 0.1576 ns per byte; its largest calls of 512 nodes take minutes to simulate.
START = {"fugaku": "machines-start-fugaku.json"}
MORE = {"fugaku": ["--network", "torus,hop=100,G=0.1576", "--most-ops", "60000"]}
# Machines, or their times on some nodes; a fit sees the first ones of a machine alone.
PARTS = [("fugaku", "2x2x2"), ("fugaku", "8x8x8"), ("leonardo", ""), ("lumi", ""), ("mare_nostrum", "")]

argument("--fit", action="store_true", help="fit the models anew")
argument("--times", default=DATA, help="table of measured times (default: data/pico/timings.tsv.xz)")


def report(times, machine, is_seen):
    """What `colldsl fit --json` says of the machine."""
    command = [COLLDSL, "fit", times, "--system", machine, "--json", *MORE.get(machine, [])]
    fitted = os.path.join(options().out, machine + ".json")
    if options().fit and is_seen:
        command += ["--model", os.path.join(HERE, START.get(machine, "machines-start.json")), "-o", fitted]
    else:
        command += ["--check", "--model", fitted if options().fit else machine]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}\n{done.stderr.strip()}")
    return json.loads(done.stdout)


def select(table, machine, nodes):
    """The lines of a machine, on some nodes or on all, below the names of the columns."""
    names = table[0].split("\t")
    system, shape = names.index("system"), names.index("nodes")
    cells = ((line, line.split("\t")) for line in table[1:])
    return table[:1] + [line for line, row in cells if row[system] == machine and nodes in ("", row[shape])]


def experiment():
    table = Table("machine", "times", "median", "90 % within", "calls", "picked", "worst", "of all", "worst of all",
                  "MPI's", "MPI's worst")
    os.makedirs(options().out, exist_ok=True)
    opener = lzma.open if options().times.endswith(".xz") else open
    with opener(options().times, "rt", encoding="utf-8") as packed:
        measured = packed.readlines()
    seen = set()
    for machine, nodes in points(PARTS, [("lumi", "")]):
        with tempfile.NamedTemporaryFile("w", suffix=".tsv") as times:
            times.writelines(select(measured, machine, nodes))
            times.flush()
            told = report(times.name, machine, machine not in seen)
        seen.add(machine)
        unseen, picks, defaults = told["unseen"], told["picks"], told["defaults"]
        table.add(f"{machine} {nodes}".rstrip(), unseen["times"], unseen["median"], unseen["p90"], picks["calls"],
                  picks["mean"], picks["worst"], picks["meanOfAll"], picks["worstOfAll"], defaults["mean"],
                  defaults["worst"])
    finish("machines", table)


main(experiment)
