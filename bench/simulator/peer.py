#!/usr/bin/env python3
"""Both simulators on the same GOAL schedules, turn by turn: `colldsl sim` and LogGOPSim.

usage: peer.py --peer DIR [--repeats N] [--limit S] [NAME[:RANKS]...]

DIR holds LogGOPSim, schedgen and txt2bin, built with optimization. schedgen writes each schedule,
txt2bin converts it, and both read the binary file. Taken is the processor time of the whole program,
reading the file included: of each run, then the median. Both have to find the same makespan. A
simulator that takes more than the limit is stopped, and not run again on that schedule.
"""
import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COLLDSL = os.environ.get("COLLDSL", os.path.join(ROOT, "build", "release", "bin", "colldsl"))
SCHEDULES = {  # name: schedgen's pattern, ranks
    "binomial": ("binomialtreebcast", 65536),
    "dissemination": ("dissemination", 65536),
    "alltoall": ("linear_alltoall", 1024),
}
BYTES = 8
ROW = "{:<14} {:>7} {:>10}  {:>10} {:>10} {:>8}"


class Simulator:
    """A way to run one of the two on a schedule."""

    def __init__(self, command, makespan):
        self.command = command
        self.makespan_at = re.compile(makespan)
        self.times = []
        self.found = None
        self.stopped = False

    def run(self, schedule, limit):
        """One run; exits if the program fails."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(self.command + [schedule], stdout=subprocess.PIPE, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU,
                                                                    (limit, limit + 1)))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if done.returncode < 0 and seconds >= limit - 1:
            self.stopped = True
            return
        found = self.makespan_at.search(done.stdout)
        if done.returncode != 0 or not found:
            sys.exit(f"peer.py: {' '.join(self.command)}: exit {done.returncode}\n{done.stdout}")
        self.times.append(seconds)
        self.found = int(found.group(1))

    def median(self):
        return None if self.stopped else statistics.median(self.times)


def make(peer, folder, pattern, ranks):
    """The schedule's file, as both read it."""
    text, binary = os.path.join(folder, "schedule.goal"), os.path.join(folder, "schedule.bin")
    for command in (["schedgen", "-p", pattern, "-s", str(ranks), "-d", str(BYTES), "-o", text],
                    ["txt2bin", "-i", text, "-o", binary]):
        command[0] = os.path.join(peer, command[0])
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    os.remove(text)
    return binary


def compare(name, ranks, args, folder):
    """Runs both and prints a row of the table."""
    ours = Simulator([COLLDSL, "sim"], r"makespan: (\d+) ns")
    peers = Simulator([os.path.join(args.peer, "LogGOPSim"), "-b", "-f"],
                      r"finishing time at host \d+: (\d+)")
    schedule = make(args.peer, folder, SCHEDULES[name][0], ranks)
    for _ in range(args.repeats):
        for simulator in (ours, peers):
            if not simulator.stopped:
                simulator.run(schedule, args.limit)
    if ours.found != peers.found and not (ours.stopped or peers.stopped):
        sys.exit(f"peer.py: {name}: colldsl finds {ours.found} ns, LogGOPSim {peers.found} ns")
    mine, other = ours.median(), peers.median()
    words = [f"> {args.limit} s" if time is None else f"{time:.3f} s" for time in (mine, other)]
    ratio = "" if mine is None else f"{'> ' * peers.stopped}{(other or args.limit) / mine:.1f}"
    print(ROW.format(name, ranks, ours.found or "", *words, ratio), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--limit", type=int, default=1800)
    parser.add_argument("schedules", nargs="*", default=list(SCHEDULES))
    args = parser.parse_args()
    print(ROW.format("schedule", "ranks", "ends at ns", "colldsl", "LogGOPSim", "ratio"))
    with tempfile.TemporaryDirectory() as folder:
        for word in args.schedules:
            name, _, ranks = word.partition(":")
            if name not in SCHEDULES:
                parser.error(f"no schedule '{name}': there are {', '.join(SCHEDULES)}")
            compare(name, int(ranks or SCHEDULES[name][1]), args, folder)


if __name__ == "__main__":
    main()
