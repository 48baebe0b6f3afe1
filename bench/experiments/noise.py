#!/usr/bin/env python3
"""Broadcast and reduce of 4 MB on 256 ranks under noise: schedules in which only data orders, against
the same trees with what Wait and Waitall order besides. Noise takes every processor away 10 times a second
for as long as the named part of the time, from a random moment on; each figure is the median of 9 seeds.
The last table is about one delay of 10 ms on one rank: how many ranks finish later, and by how much.

source: X. Luo et al., "ADAPT: an event-based adaptive collective communication framework", HPDC 2018
"""
import os
import statistics

from experiment import HERE, Table, finish, main, points, side_by_side, simulate

SOURCE = os.path.join(HERE, "waitall.coll")
RANKS, PERIOD_US = points(256, 16), 100_000
SEEDS = range(1, points(10, 2))
NETWORK = ["-L", 1500, "-o", 500, "-g", 400, "-G", 0.3, "-S", 12288]
FORMS = ["bcast_waitall", "bcast_events", "reduce_waitall", "reduce_events"]


def run(name, *more):
    return simulate(SOURCE, "--name", name, "-n", RANKS, "--bytes", points(4 << 20, 64 << 10), "--set",
                    "t=binomial(0)", *NETWORK, *more)


def slowest_us(case):
    name, percent, seed = case
    noise = ["--noise", f"periodic:{PERIOD_US}us,{PERIOD_US * percent // 100}us"] if percent else []
    return run(name, "--seed", seed, *noise)["makespan"] / 1000


def under_noise():
    table = Table("noise in %", *FORMS)
    for percent in points([0, 1, 2, 5, 10], [0, 10]):
        cases = [(name, percent, seed) for name in FORMS for seed in SEEDS]
        times = side_by_side(slowest_us, cases)
        count = len(SEEDS)
        table.add(percent, *(statistics.median(times[i * count:(i + 1) * count])
                             for i in range(len(FORMS))))
    return table


def subtree(rank):
    """How many ranks hear of something through this one, in the binomial tree of rank 0."""
    return rank & -rank if rank else RANKS


def spread(case):
    """How many ranks finish at least 1 ms later if one is 10 ms late, and how much later on average."""
    name, late = case
    times = [run(name, "--set", f"late={who}")["finish"] for who in (-1, late)]
    later = [(b - a) / 1e6 for a, b in zip(*times) if b - a >= 1e6]
    return len(later), statistics.mean(later) if later else 0.0


def one_delay():
    table = Table("late rank", "ranks below", *(f"{name}, {what}" for name in FORMS
                                                for what in ("ranks", "ms")))
    for late in points([1, 2, 4, 8, 16, 32, 64, 128, 255], [4]):
        pairs = side_by_side(spread, [(name, late) for name in FORMS])
        table.add(late, subtree(late) - 1, *(number for pair in pairs for number in pair))
    return table


def experiment():
    finish("noise", under_noise(), title="4 MB, 256 ranks", x="time taken by noise in %",
           y="completion time in us")
    print()
    table = one_delay()
    finish("noise-spread", table, title="One rank 10 ms late, of 256", x="late rank",
           y="ranks that finish at least 1 ms later", log="x", series=table.columns[2::2])


if __name__ == "__main__":
    main(experiment)
