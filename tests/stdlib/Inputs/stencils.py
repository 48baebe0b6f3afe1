#!/usr/bin/env python3
"""Compares what neighbor_alltoall sends on stencils and on random graphs with the rules worked out
by themselves, and what the combining forms send with what their comments promise.

The rule of stencils: slots are sorted by the steps, the last dimension first, each in the order
0, -1, +1, -2, +2; what is sent from the slot of an offset arrives in that of the opposite one. Nothing
is sent past an open border.

usage: stencils.py COLLDSL
"""
import collections
import itertools
import math
import re
import subprocess
import sys

import schedule
from cartesian import sent

# dimensions, radius, and steps in all dimensions together
STENCILS = [
    ([1], 1, 1), ([2], 3, 3), ([5], 2, 2), ([2, 1], 1, 2), ([3, 4], 1, 1), ([3, 4], 2, 2),
    ([2, 3], 2, 4), ([2, 3], 2, 3), ([2, 2, 3], 1, 3), ([3, 1, 2], 2, 2), ([2, 1, 3, 2], 1, 4),
]
# ranks, probability in thousandths, seed
RANDOM = [(16, 300, 1), (16, 300, 2), (9, 1000, -5), (9, 0, 7), (40, 100, 2**40)]


def offsets(dims, radius, reach):
    """The offsets of all slots."""
    steps = itertools.product(range(-radius, radius + 1), repeat=dims)
    near = [o for o in steps if 0 < sum(map(abs, o)) <= reach]
    return sorted(near, key=lambda o: [2 * abs(step) - (step < 0) for step in reversed(o)])


def demanded(dims, radius, reach, periodic):
    """Every message as (from, slot there, to, slot there)."""
    slots = offsets(len(dims), radius, reach)
    places = list(itertools.product(*map(range, dims)))
    for place, (slot, offset) in itertools.product(places, enumerate(slots)):
        there = [p + step for p, step in zip(place, offset)]
        if periodic:
            there = [p % size for p, size in zip(there, dims)]
        if tuple(there) in places:
            back = slots.index(tuple(-step for step in offset))
            yield places.index(place), slot, places.index(tuple(there)), back


def chance(x):
    x = (x ^ x >> 16) * 0x21F0AAAD % 2**32
    x = (x ^ x >> 15) * 0x735A2D97 % 2**32
    return x ^ x >> 15


def random_edges(ranks, permille, seed):
    def there(i, j):
        number = chance((chance((chance(seed % 2**32) + i) % 2**32) + j) % 2**32)
        return i != j and number % 1000 < permille

    edges = [(i, j) for i, j in itertools.product(range(ranks), repeat=2) if there(i, j)]
    for i, j in edges:
        slot = sum(1 for a, b in edges if a == i and b < j)
        yield i, slot, j, sum(1 for a, b in edges if b == j and a < i)


def direct(colldsl, ranks, graph):
    made = schedule.make(colldsl, "neighbor_alltoall", ranks, "--bytes", "8", "--set", f"g={graph}")
    return collections.Counter(sent(made))


def combined(colldsl, form, dims, radius, reach):
    """How many messages all ranks send together, and how many blocks."""
    settings = [f"dims={dims}", f"radius={radius}", f"reach={reach}"]
    options = itertools.chain.from_iterable(("--set", s) for s in settings)
    command = [colldsl, "opt", form, "-n", str(math.prod(dims)), "--bytes", "8", *options]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    sizes = [int(size) for size in re.findall(r": send (\d+)b", text)]
    return len(sizes), sum(sizes) // 8


def promised(form, dims, radius, reach):
    slots = offsets(len(dims), radius, reach)
    hops = [sum(step != 0 for step in o) if "alltoall" in form else 1 for o in slots]
    return math.prod(dims) * 2 * radius * len(dims), math.prod(dims) * sum(hops)


def check(name, good):
    print(f"{name}: {'as' if good else 'NOT as'} the rule demands")
    return good


def main(colldsl):
    good = True
    for (dims, radius, reach), periodic in itertools.product(STENCILS, [True, False]):
        graph = f"stencil({dims}, {radius}, {reach}, {str(not periodic).lower()})"
        expected = collections.Counter(demanded(dims, radius, reach, periodic))
        good &= check(graph, direct(colldsl, math.prod(dims), graph) == expected)
    for dims, radius, reach in STENCILS:
        for form in ["neighbor_allgather_combining", "neighbor_alltoall_combining"]:
            got = combined(colldsl, form, dims, radius, reach)
            name = "{} on stencil({}, {}, {}), {} messages, {} blocks"
            name = name.format(form, dims, radius, reach, *got)
            good &= check(name, got == promised(form, dims, radius, reach))
    for ranks, permille, seed in RANDOM:
        graph = f"erdos_renyi({permille}, {seed})"
        expected = collections.Counter(random_edges(ranks, permille, seed))
        name = f"{graph}, {ranks} ranks, {expected.total()} edges"
        good &= check(name, direct(colldsl, ranks, graph) == expected)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
