#!/usr/bin/env python3
"""Sparse alltoall A(16 B, p) on 1,024 ranks: everybody sends 16 bytes to a random part p of all others, in
the order of ranks, colored greedily, and colored optimally. Flat LogGP knows no backpressure, so its
times hardly differ; with four receive slots per rank a sender whose peer is busy stalls.

source: T. Hoefler, T. Schneider, "Optimization principles for collective neighborhood communications",
SC 2012: colored about 40 % faster at all densities, on a Cray XE6
"""
from experiment import Table, finish, makespan_us, side_by_side

NETWORK = ["-L", 1500, "-o", 400, "-g", 300, "-G", 0.2]
FORMS = [("as written", []),
         ("welsh-powell", ["--passes", "edge-coloring{algorithm=welsh-powell;always=true}"]),
         ("optimal", ["--passes", "edge-coloring{algorithm=optimal;always=true}"])]
MODELS = [("flat", []), ("4 slots", ["--receive-slots", 4])]
PERMILLE = [5, 10, 20, 50, 100, 200, 400]


def time_us(case):
    permille, passes, model = case
    return makespan_us("neighbor_alltoall", "-n", 1024, "--bytes", 16, "--set",
                       f"g=erdos_renyi({permille})", *NETWORK, *model, *passes)


if __name__ == "__main__":
    table = Table("p in permille", *(f"{form}, {model}" for model, _ in MODELS for form, _ in FORMS))
    for permille in PERMILLE:
        table.add(permille, *side_by_side(time_us, [(permille, passes, more) for _, more in MODELS
                                                    for _, passes in FORMS]))
    finish("sparse_alltoall", table, title="A(16 B, p) on 1,024 ranks", x="density in permille",
           y="completion time in us", log="xy")
