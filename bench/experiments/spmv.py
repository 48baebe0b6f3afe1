#!/usr/bin/env python3
"""The exchange of a sparse matrix-vector product: rows in as many parts as there are ranks, by METIS, a
block of 512 bytes along each edge of the graph that follows; as written, and with the passes that the cost
model chooses. Eight receive slots per rank.

source: T. Hoefler, T. Schneider, "Optimization principles for collective neighborhood communications",
SC 2012: 5 to 70 % less communication time on three other matrices (aug2dc, andrews, tube2)
"""
import os

import matrices
from experiment import ROOT, Table, finish, main, makespan_us, points, side_by_side

NETWORK = ["-L", 1500, "-o", 400, "-g", 300, "-G", 0.2, "--receive-slots", 8]
FORMS = [("as written", []), ("colored", ["--passes", "edge-coloring{always=true}"]),
         ("default", ["--passes", "default"])]
RANKS = [32, 64, 128, 256, 512]


def time_us(case):
    matrix, ranks, passes = case
    path = matrices.path_of(matrix, os.path.join(ROOT, "build", "experiments", "matrices"))
    return makespan_us("neighbor_alltoall", "-n", ranks, "--bytes", 512, "--set",
                       f'g=edges("{path}")', *NETWORK, *passes)


def experiment():
    for name in matrices.MATRICES:
        matrices.path_of(name, os.path.join(ROOT, "build", "experiments", "matrices"))
    table = Table("ranks", *(f"{name}, {form}" for name in matrices.MATRICES for form, _ in FORMS))
    for ranks in points(RANKS, RANKS[:1]):
        table.add(ranks, *side_by_side(time_us, [(name, ranks, passes) for name in matrices.MATRICES
                                                 for _, passes in FORMS]))
    finish("spmv", table, title="SpMV exchange", x="ranks", y="completion time in us", log="xy")


if __name__ == "__main__":
    main(experiment)
