#!/usr/bin/env python3
"""Exports collectives of the standard library as plans. Each must be proved as it reads again, and no run of the
interpreter may find it wrong.

usage: exports.py COLLDSL [COLLECTIVE...]
"""
import json
import os
import subprocess
import sys
import tempfile

import interpreter

COLLECTIVES = ["allreduce_ring", "allreduce_recursive_doubling", "allgather_ring", "allgather_bruck", "alltoall_pairwise",
               "reduce_scatter_block_ring", "bcast_binomial"]


def main():
    colldsl, names = sys.argv[1], sys.argv[2:] or COLLECTIVES
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            for gpus in (2, 3, 4, 8):
                file = os.path.join(folder, "plan.json")
                made = subprocess.run([colldsl, "export", name, "-n", str(gpus), "--to", "mscclpp", "-o", file],
                                      capture_output=True, text=True, check=False)
                if made.returncode != 0:
                    failed += 1
                    print(f"{name} -n {gpus}: {made.stderr.strip()}")
                    continue
                run = subprocess.run([colldsl, "verify", file], capture_output=True, text=True, check=False)
                with open(file, encoding="utf-8") as text:
                    plan = json.load(text)
                wrong = interpreter.find_wrong(plan, range(4 if gpus < 8 else 1), launches=2)
                long = any(len(block["ops"]) > 64 for gpu in plan["gpus"] for block in gpu["threadblocks"])
                if run.returncode != 0 or wrong or long:
                    failed += 1
                    print(f"{name} -n {gpus}: exit code {run.returncode}, the interpreter: {wrong}, too long: {long}")
    print(f"{len(names)} collectives, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
