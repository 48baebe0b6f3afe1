#!/usr/bin/env python3
"""Compares the time at which the last rank knows in the tree `optimal` with the least possible in
the postal model: each rank that has the data starts a message at each step, which arrives `latency` steps later.

usage: postal.py COLLDSL
"""
import itertools
import sys

import schedule

LATENCIES = [1, 2, 3, 5, 16]
RANKS = [1, 2, 3, 8, 21, 64]


def least(size, latency):
    """The first step at which `size` ranks can know: by counting them step by step."""
    known = [1]
    while known[-1] < size:
        new = known[-latency] if len(known) >= latency else 0
        known.append(known[-1] + new)
    return len(known) - 1


def taken(ranks, latency):
    learned, todo = {0: 0}, [0]
    for rank in todo:
        children = [op.peer for op in ranks[rank].ops.values() if op.kind == "send"]
        for step, child in enumerate(children):
            assert child not in learned
            learned[child] = learned[rank] + step + latency
            todo.append(child)
    assert len(learned) == len(ranks)
    return max(learned.values())


def main(colldsl):
    bad = 0
    for latency, size in itertools.product(LATENCIES, RANKS):
        made = schedule.make(
            colldsl, "bcast_tree", size, "--bytes", "8", "--set", f"t=optimal(0, {latency})"
        )
        steps, best = taken(made, latency), least(size, latency)
        bad += steps != best
        print(f"latency {latency}, {size} ranks: {steps} steps of at least {best}")
    print("optimal" if bad == 0 else f"{bad} not optimal")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
