#!/usr/bin/env python3
"""Runs a command of colldsl under many limits of its address space.

usage: memory-limits.py COLLDSL ARGUMENT...

Under each limit the command must go well, or end with exit code 1 and messages, of which the first
is colldsl's, and leave no process and no shared memory. Prints how many of the failures said that
memory ran out, which some must.
"""
import os
import resource
import subprocess
import sys

from leftovers import SharedMemory

# Limits below the one that suffices: as many all over, and just below it.
SPREAD, NEAR = (14, 12) if "COLLDSL_TEST_LONG" in os.environ else (5, 5)
MEMORY = ("not enough memory", "Cannot allocate memory", "Resource temporarily unavailable")


def run(command, kib):
    def limit():
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (kib << 10, kib << 10))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               preexec_fn=limit)
    said = process.communicate(timeout=120)[1]
    try:
        os.killpg(process.pid, 0)
        sys.exit(f"memory-limits: {kib} KiB: a process is left")
    except ProcessLookupError:
        return process.returncode, said


def least(command, low):
    """The smallest limit from `low` on, to 1%, under which the command goes well."""
    high = 2 * low
    while run(command, high)[0] != 0:
        low, high = high, 2 * high
        if high > 1 << 26:
            sys.exit(f"memory-limits: {command} fails without a limit, too")
    while high - low > high // 100:
        middle = (low + high) // 2
        if run(command, middle)[0] == 0:
            high = middle
        else:
            low = middle
    return high


def main():
    command = sys.argv[1:]
    shared = SharedMemory()
    first = least([command[0], "--version"], 1 << 14)
    last = least(command, first)
    failures = 0
    limits = [first + (last - first) * i // SPREAD for i in range(SPREAD)]
    limits += [last - last * i // 400 for i in range(1, NEAR + 1)]
    for kib in limits:
        code, said = run(command, kib)
        if code == 0:
            continue
        lines = said.splitlines()
        if code != 1 or not lines or not lines[0].startswith("colldsl: error: "):
            sys.exit(f"memory-limits: {kib} KiB: exit code {code}, and\n{said}")
        failures += any(word in said for word in MEMORY)
    if left := shared.left():
        sys.exit(f"memory-limits: left in /dev/shm: {left}")
    print(f"{failures} failures, {'some' if failures else 'none'} for lack of memory")


if __name__ == "__main__":
    main()
