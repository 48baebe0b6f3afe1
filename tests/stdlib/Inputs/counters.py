#!/usr/bin/env python3
"""Counts in schedules what their sources claim.

usage: counters.py COLLDSL roots|steps|edges
"""
import sys

import schedule

RANKS = 8
ONE_TO_MANY = ["bcast_binomial", "bcast_kary", "bcast_knomial", "bcast_postal", "bcast_chain", "bcast_binary",
               "bcast_adapt", "bcast_flat"]


def kinds(rank, *wanted):
    return [op for _, op in sorted(rank.ops.items()) if op.kind in wanted]


def roots(colldsl):
    """Local work of the root, and of all ranks; each other rank receives every segment once."""
    for name in ONE_TO_MANY:
        ranks = schedule.make(colldsl, name, RANKS, "--set", "root=3", "--bytes", "64KiB")
        copies = [len(kinds(rank, "copy", "combine")) for rank in ranks]
        received = {len(kinds(rank, "recv")) for r, rank in enumerate(ranks) if r != 3}
        print(f"{name}: {copies[3]} copies at the root, {sum(copies)} in all, {max(received)} received")


def is_permutation(targets):
    return sorted(targets) == list(range(len(targets))) and all(t != r for r, t in enumerate(targets))


def steps(colldsl):
    """In step k every rank sends to another one, and from the one that it then receives from."""
    for name in ["alltoall_rotated", "alltoallv_rotated", "alltoall_pairwise", "alltoallv_pairwise"]:
        for number in [2, 7, 8]:
            ranks = schedule.make(colldsl, name, number, "--bytes", "8")
            sends = [[op.peer for op in kinds(rank, "send")] for rank in ranks]
            recvs = [[op.peer for op in kinds(rank, "recv")] for rank in ranks]
            good = sum(is_permutation(step) for step in zip(*sends))
            met = sum(all(recvs[to][k] == r for r, to in enumerate(step)) for k, step in enumerate(zip(*sends)))
            print(f"{name}, {number} ranks: {good} permutations, {met} steps meet, of {len(sends[0])}")


def edges(colldsl):
    """What a rank keeps for a call along a graph: an op per edge, however many ranks there are."""
    for number in [16, 256]:
        ranks = schedule.make(colldsl, "neighbor_alltoall", number, "--set", f"g=torus([{number}])")
        print(f"{number} ranks: {min(len(r.ops) for r in ranks)} to {max(len(r.ops) for r in ranks)} ops")


if __name__ == "__main__":
    {"roots": roots, "steps": steps, "edges": edges}[sys.argv[2]](sys.argv[1])
