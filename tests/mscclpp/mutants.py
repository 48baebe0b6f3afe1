#!/usr/bin/env python3
"""Makes small mistakes in the plans of plans.py. `colldsl verify` must prove each plan, and refuse each mutant that the
interpreter finds wrong.

usage: mutants.py COLLDSL [--every N] [--seeds N] [--gpus N]
"""
import argparse
import copy
import json
import os
import subprocess
import sys
import tempfile

import interpreter
import plans

RELAXED = {"signal": "rlxsignal", "wait": "rlxwait", "rlxsignal": "signal", "rlxwait": "wait"}


def op_lists(plan):
    """Each list of ops, with its place."""
    for g, gpu in enumerate(plan["gpus"]):
        for t, block in enumerate(gpu["threadblocks"]):
            yield (g, t), block["ops"]
            for op in block["ops"]:
                if op["name"] == "pipeline":
                    yield (g, t), op["ops"]


def edits(op):
    """Names and functions that change a list of ops at a position."""
    def drop(ops, i):
        del ops[i]

    def twice(ops, i):
        ops.insert(i, copy.deepcopy(ops[i]))

    def swap(ops, i):
        if i + 1 < len(ops):
            ops[i], ops[i + 1] = ops[i + 1], ops[i]

    yield "drop", drop
    yield "twice", twice
    yield "swap", swap
    if op["name"] in RELAXED:
        def relax(ops, i):
            ops[i]["name"] = RELAXED[ops[i]["name"]]
        yield "relax", relax
    for key in ("channel_ids", "semaphore_ids"):
        if op["name"] in ("signal", "rlxsignal", "wait", "rlxwait", "sem_acquire", "sem_release") and len(op.get(key, [])) > 1:
            def fewer(ops, i, key=key):
                ops[i][key].pop()
            yield "fewer", fewer
    for key in ("src_buff", "dst_buff"):
        for k in range(len(op.get(key, []))):
            for by in (-1, 1):
                def shift(ops, i, key=key, k=k, by=by):
                    ops[i][key][k]["index"] = max(0, ops[i][key][k]["index"] + by)
                yield f"{key}[{k}]{by:+}", shift
            def other(ops, i, key=key, k=k):
                buff = ops[i][key][k]
                if "type" in buff:
                    buff["type"] = {"i": "o", "o": "i", "s": "i"}[buff["type"]]
                elif "buffer_id" in buff:
                    buff["buffer_id"] = max(0, buff["buffer_id"] - 1)
            yield f"{key}[{k}] elsewhere", other
    if "tbg_info" in op:
        def slice_(ops, i):
            ops[i]["tbg_info"]["tb_id"] = 0
        yield "slice", slice_
    if op["name"] == "barrier":
        for by in (-1, 1):
            def count(ops, i, by=by):
                ops[i]["num_threadblocks"] += by
            yield f"count {by:+}", count


def mutants(plan):
    """Edits at one place, and at that place of all GPUs, so that signals and waits still match."""
    for flag in ("use_double_scratch_buffer", "inplace"):
        changed = copy.deepcopy(plan)
        changed[flag] = not changed[flag]
        yield flag, changed
    for i in range(len(plan["gpus"][0]["semaphores"])):
        for by in (-1, 1):
            changed = copy.deepcopy(plan)
            for gpu in changed["gpus"]:
                gpu["semaphores"][i]["init_value"] = max(0, gpu["semaphores"][i]["init_value"] + by)
            yield f"semaphore {i} {by:+}", changed
    lists = list(op_lists(plan))
    for k, (place, ops) in enumerate(lists):
        for i, op in enumerate(ops):
            if op["name"] == "pipeline":
                continue
            for name, _ in edits(op):
                for everywhere in (False, True) if place[0] == 0 else (False,):
                    changed = copy.deepcopy(plan)
                    for (g, t), other in op_lists(changed):
                        same = g == place[0] or everywhere
                        if same and t == place[1] and i < len(other) and other[i]["name"] == op["name"]:
                            edit = dict(edits(other[i])).get(name)
                            if edit:
                                edit(other, i)
                    yield f"gpu {'*' if everywhere else place[0]} tb {place[1]} op {i} {op['name']}: {name}", changed
    for t in range(1, len(plan["gpus"][0]["threadblocks"])):
        # Without a wait of one side, and the signal of the other, all counts still match.
        changed = copy.deepcopy(plan)
        for gpu in changed["gpus"]:
            blocks = gpu["threadblocks"]
            for a, b in zip(blocks[0]["ops"], blocks[t]["ops"]):
                if "src_buff" in a and "src_buff" in b and len(a["src_buff"]) == len(b["src_buff"]):
                    b["src_buff"] = copy.deepcopy(a["src_buff"])
        yield f"thread blocks 0 and {t} read alike", changed
    waits = [i for i, op in enumerate(plan["gpus"][0]["threadblocks"][0]["ops"]) if op["name"] in RELAXED]
    for i in waits:
        for j in waits:
            first = plan["gpus"][0]["threadblocks"][0]["ops"]
            if i < j and first[i]["name"].endswith("signal") and first[j]["name"].endswith("wait"):
                changed = copy.deepcopy(plan)
                for gpu in changed["gpus"]:
                    for block in gpu["threadblocks"]:
                        if len(block["ops"]) == len(first):
                            del block["ops"][j], block["ops"][i]
                yield f"signal {i} and wait {j} dropped", changed


def proved(colldsl, folder, made):
    """For each plan True if it is proved."""
    files = []
    for i, plan in enumerate(made):
        files.append(os.path.join(folder, f"{i}.json"))
        with open(files[-1], "w", encoding="utf-8") as out:
            json.dump(plan, out)
    result = {}
    for at in range(0, len(files), 200):
        run = subprocess.run([colldsl, "verify", "--json", *files[at:at + 200]], capture_output=True, text=True, check=False)
        if run.returncode not in (0, 1):
            sys.exit(f"colldsl verify ends with {run.returncode}: {run.stderr}")
        for plan in json.loads(run.stdout)["plans"]:
            result[plan["file"]] = plan["ok"]
    return [result.get(file, False) for file in files]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("colldsl")
    parser.add_argument("--every", type=int, default=1, help="of the mutants")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--gpus", type=int, default=2)
    options = parser.parse_args()
    failed, counts = 0, {"mutants": 0, "wrong": 0, "proved": 0, "refused, no run is wrong": 0, "not executed": 0}
    with tempfile.TemporaryDirectory() as folder:
        for name, make in plans.ALL.items():
            plan = make(options.gpus)
            units = 2 if any(op["name"] == "pipeline" for _, ops in op_lists(plan) for op in ops) else 1
            made = [("itself", plan)] + [m for m in mutants(plan) if m[1] != plan][::options.every]
            for (what, mutant), ok in zip(made, proved(options.colldsl, folder, [m for _, m in made])):
                try:
                    reason = interpreter.find_wrong(mutant, range(options.seeds), units=units)
                except (interpreter.Unsupported, IndexError, KeyError, ZeroDivisionError):
                    counts["not executed"] += 1
                    continue
                if what == "itself":
                    if reason or not ok:
                        failed += 1
                        print(f"{name}: proved: {ok}; the interpreter: {reason}")
                    continue
                counts["mutants"] += 1
                counts["wrong"] += reason is not None
                counts["proved"] += ok
                counts["refused, no run is wrong"] += not ok and reason is None
                if ok and reason:
                    failed += 1
                    print(f"{name}: {what}: is proved, and wrong: {reason}")
                if os.environ.get("COLLDSL_SHOW_CAUTIOUS") and not ok and reason is None:
                    print(f"{name}: {what}: refused, no run is wrong")
    print(", ".join(f"{key}: {value}" for key, value in counts.items()))
    if counts["wrong"] * 4 < counts["mutants"]:
        failed += 1
        print("fewer than a quarter of the mutants are wrong: the interpreter sees too little")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
