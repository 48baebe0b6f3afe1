#!/usr/bin/env python3
"""Ends a run of colldsl in the middle, and looks at what it leaves behind.

usage: end-run.py rank|parent SIGNAL COLLDSL ARGUMENT...

Starts `colldsl ARGUMENT...`, a run that would last, sends the signal to one of its ranks (or
to the program itself), and checks that all ends: no process is left, nor
shared memory. Prints the exit code and what the program said.
"""
import os
import signal
import subprocess
import sys
import time

from leftovers import SharedMemory

LIMIT_S = 30.0  # of a busy machine


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def is_alive(pid):
    """Zombies are dead; their parent has not asked yet."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def wait_until(condition, seconds, what):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"end-run: {what}")
        time.sleep(0.01)


def main():
    whom, name, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    ranks = int(command[command.index("-n") + 1])
    shared = SharedMemory()
    run = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    wait_until(lambda: len(children(run.pid)) == ranks, 60, "the ranks did not start")
    family = children(run.pid)
    wait_until(lambda: all(cpu_ticks(pid) > 5 for pid in family), 60, "the ranks do not work")
    os.kill(family[ranks // 2] if whom == "rank" else run.pid, signal.Signals[name])
    start = time.monotonic()
    try:
        said, _ = run.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        run.kill()
        sys.exit(f"end-run: still running {LIMIT_S} s after the signal")
    left = LIMIT_S - (time.monotonic() - start)
    wait_until(lambda: not any(map(is_alive, family)), left, "some ranks live on")
    if new := shared.left():
        sys.exit(f"end-run: left in /dev/shm: {new}")
    print(f"exit {run.returncode}\n{said}", end="")


main()
