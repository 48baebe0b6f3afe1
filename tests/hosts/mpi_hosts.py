#!/usr/bin/env python3
"""MPI programs under the backend on several hosts, which are namespaces of the network (hosts.py).
Prints what it does, and fails with what went wrong.

usage: mpi_hosts.py BUILD MPI...
"""
import os
import re
import signal
import sys
import time

from hosts import Job, MOST_SECONDS, expect, run_all
from mpi_launch import words

BUILD = sys.argv[1] if len(sys.argv) > 1 else ""


def job(hosts, mpi, per_host, *command, survives=False, **environment):
    def start(heard):
        served = {"LD_PRELOAD": f"{BUILD}/lib/libcolldsl-{mpi}.so", "COLLDSL_VERBOSE": "1",
                  "HEARD": heard, **environment}
        # Once one dies the launcher ends what it started on its host, if it finds it.
        hidden = "setsid --fork --wait" if survives and mpi == "mpich" else ""
        inside = ["sh", "-c", f'exec {hidden} "$0" "$@" >> "$HEARD" 2>&1', *command]
        return words(mpi, hosts, per_host, inside, served, survives)
    return Job(start)


def rounds_are_right(hosts, mpi, network):
    """By either way the data is right, and what is said is what was asked for."""
    with job(hosts, mpi, 2, f"{BUILD}/bin/rounds-{mpi}", "1", COLLDSL_NETWORK=network) as ranks:
        ranks.hear("all rounds were right", 1, 60)
        said = ranks.heard()
    expect(re.search(f"messages between nodes: .*{network}", said, re.I), said)


def conformance(hosts, mpi):
    for judge, *more in (("conformance",), ("conformance-collectives", "--skip-known-faults-of", "errors")):
        with job(hosts, mpi, 2, f"{BUILD}/bin/{judge}-{mpi}", *more, "--cases", "1", "--timeout",
                 "100") as ranks:
            said, code = ranks.end(120)
        expect(code == 0 and "messages between nodes: tcp" in said, said)


def survivors_fail(ranks, count, reason, seconds):
    begin = time.monotonic()
    ranks.hear(r"rank (\d+) failed after [\d.]+ s in \w+: MPI_ERR_OTHER", count, seconds)
    print(f"  all told within {time.monotonic() - begin:.1f} s")
    named = set(re.findall(rf"colldsl: rank (\d+): {reason}", ranks.heard()))
    expect(len(named) >= count, ranks.heard())


def begun(hosts, mpi):
    ranks = job(hosts, mpi, 2, f"{BUILD}/bin/rounds-{mpi}", "1000", survives=True)
    processes = ranks.hear(r"rank (\d+) of \d+ is process (\d+)", 2 * len(hosts.names), 60)
    time.sleep(0.5)
    return ranks, dict(processes)


def dead_rank_is_named(hosts, mpi):
    ranks, processes = begun(hosts, mpi)
    with ranks:
        os.kill(int(processes["1"]), signal.SIGKILL)
        survivors_fail(ranks, 2 * len(hosts.names) - 1, r".*rank 1 died", 10)


def cut_link_is_noticed(hosts, mpi):
    ranks, _ = begun(hosts, mpi)
    with ranks:
        hosts.cut(1)
        survivors_fail(ranks, 2 * len(hosts.names),
                       r".*rank \d cannot (?:be reached|reach rank \d)", MOST_SECONDS)


def main():
    plan = []
    for mpi in sys.argv[2:]:
        plan += [(2, rounds_are_right, mpi, "tcp"), (2, rounds_are_right, mpi, "ofi"), (3, rounds_are_right, mpi, "mpi")]
        # MPICH 4.0.2 by itself may hang between such hosts when it ends (in MPI_Finalize, over UCX).
        plan += [(3, conformance, mpi)] if mpi != "mpich" else []
        plan += [(3, dead_rank_is_named, mpi), (2, cut_link_is_noticed, mpi)]
    return run_all(plan)


if __name__ == "__main__":
    sys.exit(main())
