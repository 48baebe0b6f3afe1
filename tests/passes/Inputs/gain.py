#!/usr/bin/env python3
"""Whether a pass made a schedule faster.

usage: colldsl opt ... --time-passes 2>&1 | gain.py LEAST
       gain.py LEAST BEFORE AFTER    by what `colldsl sim --json` told of both
LEAST: the least quotient of the time before and the time after
"""
import json
import re
import sys

def told(text):
    times = re.findall(r"(\d+) ns, then (\d+) ns", text)
    if not times:
        sys.exit("no pass told of times")
    return (int(time) for time in times[-1])


def makespan(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["makespan"]


files = sys.argv[2:]
before, after = map(makespan, files) if files else told(sys.stdin.read())
gain = before / after
print(f"{before} ns, then {after} ns: {gain:.2f}")
sys.exit(0 if gain >= float(sys.argv[1]) else f"less than {sys.argv[1]}")
