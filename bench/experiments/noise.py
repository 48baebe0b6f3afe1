#!/usr/bin/env python3
"""Broadcast and reduce of 4 MB on 256 ranks under noise: schedules in which only data orders, against
the same trees with what Wait and Waitall order besides. Noise takes every processor away 10 times a second
for as long as the named part of the time, from a random moment on; each figure is the median of 9 seeds.
The last table is about one delay of 10 ms on one rank: how many ranks finish later, and by how much.

source: X. Luo et al., "ADAPT: an event-based adaptive collective communication framework", HPDC 2018
"""
import os
import statistics

from experiment import HERE, Table, finish, simulate, side_by_side

SOURCE = os.path.join(HERE, "waitall.coll")
RANKS, SEEDS, PERIOD_US = 256, range(1, 10), 100_000
NETWORK = ["-L", 1500, "-o", 500, "-g", 400, "-G", 0.3, "-S", 12288]
FORMS = ["bcast_waitall", "bcast_events", "reduce_waitall", "reduce_events"]


def run(name, *more):
    return simulate(SOURCE, "--name", name, "-n", RANKS, "--bytes", 4 << 20, "--set",
                    "t=binomial(0)", *NETWORK, *more)


def slowest_us(case):
    name, percent, seed = case
    noise = ["--noise", f"periodic:{PERIOD_US}us,{PERIOD_US * percent // 100}us"] if percent else []
    return run(name, "--seed", seed, *noise)["makespan"] / 1000


def under_noise():
    table = Table("noise in %", *FORMS)
    for percent in (0, 1, 2, 5, 10):
        cases = [(name, percent, seed) for name in FORMS for seed in SEEDS]
        times = side_by_side(slowest_us, cases)
        count = len(SEEDS)
        table.add(percent, *(statistics.median(times[i * count:(i + 1) * count])
                             for i in range(len(FORMS))))
    return table


if __name__ == "__main__":
    finish("noise", under_noise(), title="4 MB, 256 ranks", x="time taken by noise in %",
           y="completion time in us")
