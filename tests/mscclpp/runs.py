#!/usr/bin/env python3
"""Runs the plans of plans.py with small mistakes, also those that the proofs refuse. Each run must end, and leave the
right data if the plan is proved.

usage: runs.py COLLDSL [--every N] [--gpus N] [--bytes N] [--iters N]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import mutants
import plans


def right(colldsl, files, options):
    """The files whose runs ended with the right data."""
    command = [colldsl, "run", "--no-verify", "--json", "--timeout", "60", *options, *files]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1) or "not ended in time" in run.stderr:
        sys.exit(f"colldsl run ends with {run.returncode}: {run.stderr}")
    return {made["file"] for made in json.loads(run.stdout)["runs"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("colldsl")
    parser.add_argument("--every", type=int, default=1, help="one of so many mutants")
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--bytes", type=int, default=1152)
    parser.add_argument("--iters", type=int, default=3)
    args = parser.parse_args()
    options = ["--bytes", str(args.bytes), "--iters", str(args.iters)]
    count, wrong, broken = 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        for name, make in plans.ALL.items():
            plan = make(args.gpus)
            made = [("as it is", plan), *list(mutants.mutants(plan))[::args.every]]
            verdicts = mutants.proved(args.colldsl, folder, [changed for _, changed in made])
            files = [os.path.join(folder, f"{i}.json") for i in range(len(made))]
            ran = right(args.colldsl, files, options)
            for i, (mistake, _) in enumerate(made):
                count += 1
                wrong += files[i] not in ran
                if verdicts[i] and files[i] not in ran:
                    broken.append(f"{name}, {mistake}: proved, and wrong when it runs")
    print(f"{count} plans ran, {wrong} of them wrong")
    if broken:
        sys.exit("\n".join(broken))
    if wrong == 0:
        sys.exit("no mistake was found: the runs compare nothing")


if __name__ == "__main__":
    main()
