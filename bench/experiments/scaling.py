#!/usr/bin/env python3
"""Barrier and 8-byte broadcast on 16 to 1,048,576 ranks: the dissemination barrier and the binomial
broadcast against a barrier that counts at one rank and a broadcast that sends to all, with the models that
the source gives: T = T_init + (ceil(log2 N) - 1) T_trig + T_adj for the barrier, linear for the others.
T_trig is what a message takes end to end here, 2 o + L; the linear forms are simulated up to 4,096 ranks.

source: W. Yu, "Enhancing MPI with modern networking mechanisms in cluster interconnects", 2006, sections
6.3 and 6.6: 3.50 us a step on Myrinet, which gives 38.94 us on 1,024 ranks
"""
from experiment import Table, finish, main, makespan_us, points, side_by_side

# o and L so that a step takes the 3.50 us that the source measured.
NETWORK = ["-L", 1500, "-o", 1000, "-g", 900, "-G", 4]
STEP_US = 3.5
LINEAR_UP_TO = 1 << 12


def times(ranks):
    def us(name, *more):
        return makespan_us(name, "-n", ranks, *NETWORK, *more)
    linear = ranks <= LINEAR_UP_TO
    log2 = (ranks - 1).bit_length()
    return (ranks, us("barrier_dissemination"), STEP_US * log2,
            us("bcast_binomial", "--bytes", 8),
            us("barrier_tree", "--set", "t=flat(0)") if linear else "-",
            us("bcast_tree", "--set", "t=flat(0)", "--bytes", 8) if linear else "-")


def experiment():
    table = Table("ranks", "dissemination", "log model", "binomial", "counter", "sends to all")
    for row in side_by_side(times, points([1 << e for e in range(4, 21, 2)], [16, 64])):
        table.add(*row)
    finish("scaling", table, title="Barrier and 8-byte broadcast", x="ranks",
           y="completion time in us", log="xy")


if __name__ == "__main__":
    main(experiment)
