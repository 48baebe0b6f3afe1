#!/usr/bin/env python3
"""Compares what neighbor_alltoall sends on Cartesian grids with what MPI demands.

MPI's rule, for rank r of a grid whose last dimension runs fastest: slots 2d and 2d + 1 belong to the
neighbours at -1 and +1 in dimension d, and what is sent from slot s towards a neighbour arrives
there in slot s xor 1. Nothing is sent past an open border.

usage: cartesian.py COLLDSL
"""
import collections
import itertools
import math
import re
import sys

import schedule

GRIDS = [[1], [2], [3], [1, 1], [2, 1], [1, 2], [2, 2], [3, 1], [3, 3], [2, 3, 1], [1, 2, 2], [2, 2, 2]]


def demanded(dims, periodic):
    """Every message as (from, slot there, to, slot there)."""
    places = list(itertools.product(*map(range, dims)))
    messages = []
    for place in places:
        for d, (direction, delta) in itertools.product(range(len(dims)), enumerate([-1, 1])):
            there = list(place)
            there[d] += delta
            if periodic:
                there[d] %= dims[d]
            if not 0 <= there[d] < dims[d]:
                continue
            slot = 2 * d + direction
            messages.append((places.index(place), slot, places.index(tuple(there)), slot ^ 1))
    return messages


def slot_of(op):
    """The block, of a slice such as send[2n..3n] of n elements each; send alone is the only one."""
    if "[" not in op.slices:
        return 0
    begin = re.fullmatch(r"\w+\[(?:0|(\d*)n)\.\..*\]", op.slices)
    return int(begin[1] or 1) if begin[1] is not None else 0


def sent(ranks):
    receives = {
        (op.peer, to, op.message): op
        for to, rank in enumerate(ranks)
        for op in rank.ops.values()
        if op.kind == "recv"
    }
    return [
        (sender, slot_of(op), op.peer, slot_of(receives.pop((sender, op.peer, op.message))))
        for sender, rank in enumerate(ranks)
        for op in rank.ops.values()
        if op.kind == "send"
    ]


def main(colldsl):
    bad = 0
    for dims, (graph, periodic) in itertools.product(GRIDS, [("torus", True), ("grid", False)]):
        setting = f"g={graph}({dims})"
        made = schedule.make(
            colldsl, "neighbor_alltoall", math.prod(dims), "--bytes", "8", "--set", setting
        )
        got, expected = collections.Counter(sent(made)), collections.Counter(demanded(dims, periodic))
        same = got == expected
        print(f"{graph}({dims}): {sum(got.values())} messages {'as' if same else 'NOT as'} MPI demands")
        if not same:
            bad += 1
            print(f"  missing: {sorted((expected - got).elements())}")
            print(f"  besides: {sorted((got - expected).elements())}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
