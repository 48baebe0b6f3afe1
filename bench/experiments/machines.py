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
START = os.path.join(HERE, "machines-start.json")

argument("--fit", action="store_true", help="fit the models anew")
argument("--times", default=DATA, help="table of measured times (default: data/pico/timings.tsv.xz)")


def report(times, machine):
    """What `colldsl fit --json` says of the machine."""
    command = [COLLDSL, "fit", times, "--system", machine, "--json"]
    if options().fit:
        command += ["--model", START, "-o", os.path.join(options().out, machine + ".json")]
    else:
        command += ["--check", "--model", machine]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}\n{done.stderr.strip()}")
    return json.loads(done.stdout)


def experiment():
    table = Table("machine", "times", "median", "90 % within", "calls", "picked", "worst", "of all", "worst of all",
                  "MPI's", "MPI's worst")
    os.makedirs(options().out, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as times:
        opener = lzma.open if options().times.endswith(".xz") else open
        with opener(options().times, "rt", encoding="utf-8") as packed:
            times.write(packed.read())
        times.flush()
        for machine in points(["leonardo", "lumi", "mare_nostrum"], ["lumi"]):
            told = report(times.name, machine)
            unseen, picks, defaults = told["unseen"], told["picks"], told["defaults"]
            table.add(machine, unseen["times"], unseen["median"], unseen["p90"], picks["calls"], picks["mean"],
                      picks["worst"], picks["meanOfAll"], picks["worstOfAll"], defaults["mean"], defaults["worst"])
    finish("machines", table)


main(experiment)
