#!/usr/bin/env python3
"""Changes members of plans at random. `colldsl verify` must refuse or prove what comes out, and never crash.

usage: fuzz.py COLLDSL [--runs N] [--seed S]
"""
import argparse
import copy
import json
import os
import random
import subprocess
import sys
import tempfile

import plans

VALUES = [None, True, -1, 0, 1, 2, 7, 100, 1 << 20, 1 << 32, 1 << 63, 1.5, "", "i", "s", "memory", "port", "switch", "LL", [], {}]


def places(node, found):
    """Each container with a key in it."""
    keys = node.keys() if isinstance(node, dict) else range(len(node))
    for key in keys:
        found.append((node, key))
        if isinstance(node[key], (dict, list)):
            places(node[key], found)
    return found


def change(plan, chance):
    container, key = chance.choice(places(plan, []))
    action = chance.randrange(4)
    if action == 0:
        del container[key]
    elif action == 1 and isinstance(container[key], int) and not isinstance(container[key], bool):
        container[key] += chance.choice([-1, 1])
    elif action == 2:
        other, at = chance.choice(places(plan, []))
        container[key] = copy.deepcopy(other[at])
    else:
        container[key] = copy.deepcopy(chance.choice(VALUES))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("colldsl")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    read = 0
    with tempfile.TemporaryDirectory() as folder:
        for at in range(0, options.runs, 100):
            files = []
            for i in range(min(100, options.runs - at)):
                plan = plans.ALL[chance.choice(list(plans.ALL))](chance.choice([2, 3]))
                for _ in range(chance.choice([1, 1, 2, 4])):
                    change(plan, chance)
                files.append(os.path.join(folder, f"{i}.json"))
                plan = {"gpus": [], "collective": "", **plan} if isinstance(plan, dict) else plan
                with open(files[-1], "w", encoding="utf-8") as out:
                    json.dump(plan, out)
            run = subprocess.run([options.colldsl, "verify", "--json", *files], capture_output=True, text=True, check=False,
                                 timeout=300)
            if run.returncode not in (0, 1):
                kept = [open(file, encoding="utf-8").read() for file in files]
                print(f"exit code {run.returncode}: {run.stderr[-2000:]}")
                with open("fuzz-plans.json", "w", encoding="utf-8") as out:
                    out.write("\n".join(kept))
                return 1
            read += json.loads(run.stdout)["proofs"]
    print(f"{options.runs} plans, {read} of them could be read")
    return 0 if read * 25 > options.runs else 1


if __name__ == "__main__":
    sys.exit(main())
