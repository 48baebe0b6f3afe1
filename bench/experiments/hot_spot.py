#!/usr/bin/env python3
"""Tree transformation of hot spots: one rank sends a block to each other one, as written, with the two
published rules, and with the pass's own search.

source: T. Hoefler, T. Schneider, "Optimization principles for collective neighborhood communications",
SC 2012, section II.B
"""
import os

from experiment import HERE, Table, finish, main, makespan_us, points, side_by_side

NETWORK = ["-L", 2500, "-o", 1500, "-g", 1000, "-G", 6]
FORMS = [("as written", []),
         ("published", ["--passes", "tree-rebalance{rule=published}"]),
         ("optimal", ["--passes", "tree-rebalance{rule=optimal}"])]
PATTERNS = [("alltoall", "fan_alltoall"), ("allgather", "fan_allgather")]


def time_us(case):
    collective, ranks, passes = case
    return makespan_us(os.path.join(HERE, "fan.coll"), "--name", collective, "-n", ranks, "--bytes", 8,
                       *NETWORK, *passes)


def experiment():
    table = Table("ranks", *(f"{name}, {form}" for name, _ in PATTERNS for form, _ in FORMS))
    for ranks in points([1 << e for e in range(3, 11)], [8, 16]):
        table.add(ranks, *side_by_side(time_us, [(collective, ranks, passes)
                                                 for _, collective in PATTERNS
                                                 for _, passes in FORMS]))
    finish("hot_spot", table, title="One rank to all others, 8 bytes each", x="ranks",
           y="completion time in us", log="xy")


if __name__ == "__main__":
    main(experiment)
