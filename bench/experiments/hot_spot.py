#!/usr/bin/env python3
"""Tree transformation of hot spots: one rank sends 8 bytes to each other one, and a mix in which everybody
sends to the next four ranks, and four ranks to all; as written, with the two published rules, and with the
pass's own search.

source: T. Hoefler, T. Schneider, "Optimization principles for collective neighborhood communications",
SC 2012, section II.B
"""
import os

from experiment import HERE, Table, finish, main, makespan_us, points, side_by_side

NETWORK = ["-L", 2500, "-o", 1500, "-g", 1000, "-G", 6]
FORMS = [("as written", []),
         ("published", ["--passes", "tree-rebalance{rule=published}"]),
         ("optimal", ["--passes", "tree-rebalance{rule=optimal}"])]
PATTERNS = [("hot_spot", "fan", "One rank to all others"),
            ("hot_spot-mix", "mix", "All to the next four, four to all")]
OPERATIONS = ["alltoall", "allgather"]


def time_us(case):
    collective, ranks, passes = case
    return makespan_us(os.path.join(HERE, "fan.coll"), "--name", collective, "-n", ranks, "--bytes", 8,
                       *NETWORK, *passes)


def experiment():
    for name, pattern, title in PATTERNS:
        table = Table("ranks", *(f"{operation}, {form}" for operation in OPERATIONS for form, _ in FORMS))
        for ranks in points([1 << e for e in range(3, 11)], [8, 16]):
            table.add(ranks, *side_by_side(time_us, [(f"{pattern}_{operation}", ranks, passes)
                                                     for operation in OPERATIONS
                                                     for _, passes in FORMS]))
        finish(name, table, title=title + ", 8 bytes each", x="ranks", y="completion time in us",
               log="xy")
        print()


if __name__ == "__main__":
    main(experiment)
