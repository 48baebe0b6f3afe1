#!/usr/bin/env python3
"""Three broadcasts on 64 ranks, simulated over the size of the message: a table, and a figure.

usage: figure.py FIGURE.svg
"""
import json
import math
import subprocess
import sys

RANKS = 64
SIZES = [1 << e for e in range(3, 23, 2)]
FORMS = {"bcast_binomial": "#1b6ca8", "bcast_chain": "#c2571a", "bcast_scatter_allgather": "#2e7d32"}
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 640, 360, 70, 20, 90


def microseconds(collective, size):
    command = ["colldsl", "sim", collective, "-n", str(RANKS), "--bytes", str(size), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["makespan"] / 1000


def scale(value, low, high, begin, end):
    return begin + (end - begin) * math.log(value / low) / math.log(high / low)


def figure(times):
    """The times as lines over the sizes, both on logarithmic scales."""
    low, high = min(map(min, times.values())), max(map(max, times.values()))
    x = [scale(size, SIZES[0], SIZES[-1], LEFT, WIDTH - 20) for size in SIZES]
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">'
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
    for power in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1):
        y = scale(10**power, low, high, HEIGHT - BOTTOM, TOP)
        yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - 20}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10**power} us</text>'
    for size, place in list(zip(SIZES, x))[::2]:
        yield f'<text x="{place:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{size} B</text>'
    for i, (name, color) in enumerate(FORMS.items()):
        points = " ".join(f"{place:.1f},{scale(time, low, high, HEIGHT - BOTTOM, TOP):.1f}"
                          for place, time in zip(x, times[name]))
        yield f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>'
        yield f'<text x="{LEFT}" y="{HEIGHT - 48 + 16 * i}" fill="{color}">{name}</text>'
    yield "</svg>"


times = {name: [microseconds(name, size) for size in SIZES] for name in FORMS}
print("  ".join(["    bytes", *(name.rjust(24) for name in FORMS)]))
for i, size in enumerate(SIZES):
    print("  ".join([str(size).rjust(9), *(f"{times[name][i]:.1f} us".rjust(24) for name in FORMS)]))
with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.write("\n".join(figure(times)) + "\n")
