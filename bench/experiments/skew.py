#!/usr/bin/env python3
"""Process skew and host time: every rank but the root draws a time uniformly from -max/2 to max/2,
computes for so long if it is positive, and then calls the broadcast. How long a rank is in the call, on
average over all of them but the root, if the ranks themselves forward (those below a late rank wait for it),
and if something in the background does, as soon as the message is there.

A rank that forwards itself is simulated with its computation. In the background nothing waits for a
computation, so the message comes when it comes without any; a rank is in the call from the end of its
computation until then, or for as long as it takes to take a message that is there already, o.

source: W. Yu, "Enhancing MPI with modern networking mechanisms in cluster interconnects", 2006, section
6.7: 16 ranks on Myrinet, 400 us of average skew: 5.82 times less for small messages, 2.0 for 8 KB
"""
import os
import random
import statistics

from experiment import HERE, Table, finish, main, points, side_by_side, simulate

# Assumed: 3.5 us from end to end for a short message, 250 MB/s.
O_NS = 1000
NETWORK = ["-L", 1500, "-o", O_NS, "-g", 900, "-G", 4]
RANKS, SIZES = 16, points([8, 8192], [8])
ITERATIONS = points(50, 2)


def late_ns(max_us, seed):
    draw = random.Random(seed)
    half = max_us * 500
    return [0] + [max(0, round(draw.uniform(-half, half))) for _ in range(RANKS - 1)]


def in_call_us(case):
    """Mean time in the call of all but the root, forwarded by the ranks and in the background."""
    size, late, undisturbed = case
    finish_ns = simulate(os.path.join(HERE, "skew.coll"), "--name", "bcast_late", "-n", RANKS,
                         "--bytes", size, "--set", f"late={late}", *NETWORK)["finish"]
    host = [end - begin for end, begin in zip(finish_ns, late)][1:]
    background = [max(end - begin, O_NS) for end, begin in zip(undisturbed, late)][1:]
    return statistics.mean(host) / 1000, statistics.mean(background) / 1000


def experiment():
    table = Table("average skew in us", *(f"{size} B, {what}" for size in SIZES
                                          for what in ("by the ranks", "in the background", "ratio")))
    undisturbed = [simulate("bcast_binomial", "-n", RANKS, "--bytes", size, *NETWORK)["finish"]
                   for size in SIZES]
    for average_us in points([0, 25, 50, 100, 200, 300, 400], [0, 400]):
        row = []
        for size, times in zip(SIZES, undisturbed):
            # A uniform draw from -max/2 to max/2 is max/4 away from 0 on average.
            pairs = side_by_side(in_call_us, [(size, late_ns(4 * average_us, seed), times)
                                              for seed in range(ITERATIONS)])
            host, background = (statistics.mean(column) for column in zip(*pairs))
            row += [host, background, host / background]
        table.add(average_us, *row)
    finish("skew", table, title="Time in a broadcast on 16 ranks", x="average skew in us",
           y="mean time in the call in us", log="y",
           series=[name for name in table.columns[1:] if not name.endswith("ratio")])


if __name__ == "__main__":
    main(experiment)
