#!/usr/bin/env python3
"""Exchange with all neighbours on 512 ranks, a torus of 32 x 16 (4 neighbours) and of 8 x 4 x 4 x 4 (8
neighbours), 16 bytes to 1 MiB per neighbour: as written, colored whether or not the cost model likes it,
and with all passes that the cost model chooses. Four receive slots per rank; first without a network, then
on the links of a torus of 8 x 8 x 8 nodes, where messages meet.

source: T. Hoefler, T. Schneider, "Optimization principles for collective neighborhood communications",
SC 2012: 2 and 4 times faster for small messages, 15 and 18 % for large ones, on a Cray XE6
"""
from experiment import Table, finish, main, makespan_us, points, side_by_side

RANKS = 512
NETWORK = ["-L", 1500, "-o", 400, "-g", 300, "-G", 0.2, "-S", 4096, "--receive-slots", 4]
LINKS = [("torus", "no links", []),
         ("torus-links", "links of a torus of 8 x 8 x 8",
          ["--topology", f"node:{RANKS} core:1", "--network", "torus:8x8x8,G=0.2"])]
TORI = [("2-D", "torus([32, 16])"), ("4-D", "torus([8, 4, 4, 4])")]
FORMS = [("as written", []), ("colored", ["--passes", "edge-coloring{always=true}"]),
         ("default", ["--passes", "default"])]


def time_us(case):
    torus, size, more = case
    return makespan_us("neighbor_alltoall", "-n", RANKS, "--bytes", size, "--set", f"g={torus}",
                       *NETWORK, *more)


def experiment():
    for name, where, links in LINKS:
        table = Table("bytes", *(f"{torus}, {form}" for torus, _ in TORI for form, _ in FORMS))
        for size in points([1 << e for e in range(4, 21, 2)], [16]):
            table.add(size, *side_by_side(time_us, [(torus, size, links + passes) for _, torus in TORI
                                                    for _, passes in FORMS]))
        finish(name, table, title=f"Torus neighbours on 512 ranks, {where}", x="bytes per neighbour",
               y="completion time in us", log="xy")
        print()


if __name__ == "__main__":
    main(experiment)
