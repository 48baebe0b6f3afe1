#!/usr/bin/env python3
"""Shows that composed calls overlap: in bcast_hierarchical nothing that moves one segment waits,
directly or not, for an op that moves another; and that the test can see a dependency: what a leader
hands on waits for what it received.

usage: overlap.py COLLDSL
"""
import sys

import schedule

RANKS, PER_NODE = 16, 4


def main(colldsl):
    ranks = schedule.make(
        colldsl, "bcast_hierarchical", RANKS,
        "--topology", f"node:{RANKS // PER_NODE} core:{PER_NODE}",
        "--bytes", "20KiB", "--set", "segment=4KiB",
    )
    network = local = handed_on = mixed = 0
    for r, rank in enumerate(ranks):
        for i, op in rank.ops.items():
            crosses = op.peer // PER_NODE != r // PER_NODE
            network += crosses and op.kind == "send"
            local += not crosses and op.kind == "send"
            for before in rank.reaches(i):
                handed_on += op.kind == "send" and rank.ops[before].kind == "recv"
                mixed += rank.ops[before].slices != op.slices
    print(f"{network} sends between nodes, {local} within")
    print(f"{handed_on} sends wait for the receive of their segment")
    print(f"{mixed} ops wait for an op of another segment")


if __name__ == "__main__":
    main(sys.argv[1])
