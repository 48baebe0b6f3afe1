#!/usr/bin/env python3
"""Sparse alltoall A(16 B, p) on 1,024 ranks: everybody sends 16 bytes to a random part p of all others,
in the order of ranks, colored greedily, and colored optimally. Flat LogGP knows no backpressure, so that
there coloring can gain little; with four receive slots per rank a sender whose peer is busy stalls.

source: T. Hoefler, T. Schneider, "Optimization principles for collective neighborhood communications",
SC 2012: colored about 40 % faster at all densities, on a Cray XE6
"""
import os
import random

from experiment import Table, finish, main, makespan_us, options, points, side_by_side

RANKS = points(1024, 64)
NETWORK = ["-L", 1500, "-o", 400, "-g", 300, "-G", 0.2]
FORMS = [("as written", []),
         ("welsh-powell", ["--passes", "edge-coloring{algorithm=welsh-powell;always=true}"]),
         ("optimal", ["--passes", "edge-coloring{algorithm=optimal;always=true}"])]
MODELS = [("flat", []), ("4 slots", ["--receive-slots", 4])]
PERMILLE = points([5, 10, 20, 50, 100, 200], [50, 100])


def random_graph(permille):
    """A file with the edges of a random graph.
    source: P. Erdos, A. Renyi, "On random graphs", 1959"""
    path = os.path.join(options().out, "graphs", f"{RANKS}-{permille}.edges")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    draw = random.Random(permille)
    with open(path, "w", encoding="utf-8") as file:
        for rank in range(RANKS):
            for peer in range(RANKS):
                if peer != rank and draw.random() < permille / 1000:
                    file.write(f"{rank} {peer}\n")
    return path


def time_us(case):
    path, passes, model = case
    return makespan_us("neighbor_alltoall", "-n", RANKS, "--bytes", 16, "--set", f'g=edges("{path}")',
                       *NETWORK, *model, *passes)


def experiment():
    table = Table("p in permille", *(f"{form}, {model}" for model, _ in MODELS for form, _ in FORMS),
                  "gain in %")
    for permille in PERMILLE:
        path = random_graph(permille)
        times = side_by_side(time_us, [(path, passes, more) for _, more in MODELS
                                       for _, passes in FORMS])
        table.add(permille, *times, 100 * (1 - times[-1] / times[-3]))
    finish("sparse_alltoall", table, title=f"A(16 B, p) on {RANKS:,} ranks", x="density in permille",
           y="completion time in us", log="xy", series=table.columns[1:-1])


if __name__ == "__main__":
    main(experiment)
