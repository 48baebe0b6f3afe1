#!/usr/bin/env python3
"""Whether a pass made a schedule faster: reads what --time-passes tells.

usage: colldsl opt ... --time-passes 2>&1 | gain.py LEAST
LEAST: the least quotient of the time before and the time after
"""
import re
import sys

times = re.findall(r"(\d+) ns, then (\d+) ns", sys.stdin.read())
if not times:
    sys.exit("no pass told of times")
before, after = (int(time) for time in times[-1])
gain = before / after
print(f"{before} ns, then {after} ns: {gain:.2f}")
sys.exit(0 if gain >= float(sys.argv[1]) else f"less than {sys.argv[1]}")
