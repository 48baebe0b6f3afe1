"""Runs of an MPI program on hosts that are namespaces of the network (tests/hosts/hosts.py), under each
MPI alone, with components of Open MPI, and with colldsl, in turns."""
import argparse
import os
import statistics
import subprocess
import sys

from alternating import MPIS
from mpi_launch import words

COMPONENTS = ("han", "adapt")


class Variant:
    def __init__(self, mpi, served, component=None):
        self.mpi, self.served, self.component = mpi, served, component
        self.name = MPIS[mpi] + ("+colldsl" if served else f", {component}" if component else "")
        self.rows = {}

    def run(self, args, hosts, per_host, program, key, by_node=False):
        """The words that the program prints, kept below a key."""
        environment = {"LD_PRELOAD": f"{args.build}/lib/libcolldsl-{self.mpi}.so"} if self.served else {}
        if self.component:
            environment[f"OMPI_MCA_coll_{self.component}_priority"] = "100"
        name, *arguments = map(str, program)
        command = [f"{args.build}/bin/{name}-{self.mpi}", *arguments]
        said = output(words(self.mpi, hosts, per_host, command, environment, by_node=by_node), args.timeout)
        self.rows.setdefault(key, []).append(said.split())

    def median(self, key, column):
        return statistics.median(float(row[column]) for row in self.rows[key])


def output(command, timeout):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        sys.exit(f"no end after {timeout} s: {' '.join(command)}")
    if done.returncode:
        sys.exit(f"failed: {' '.join(command)}\n{done.stderr}")
    return done.stdout


def parser(description, rate):
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    add = made.add_argument
    here = os.path.dirname(os.path.abspath(__file__))
    add("--build", default=os.path.join(here, "..", "..", "build", "release"), help="the build folder")
    add("--hosts", type=int, default=4)
    add("--per-host", type=int, default=2, help="ranks")
    add("--rate", default=rate, help="of each host's link, as tc takes it (%(default)s)")
    add("--rounds", type=int, default=3)
    add("--mpis", type=lambda names: names.split(","), default=list(MPIS), help="these alone")
    add("--components", action="store_true", help="of Open MPI, too: han, adapt")
    add("--timeout", type=int, default=300, help="seconds that a run may take")
    return made


def variants(args):
    bare = [Variant(mpi, False) for mpi in args.mpis]
    if args.components and "openmpi" in args.mpis:
        bare += [Variant("openmpi", False, each) for each in COMPONENTS]
    return bare + [Variant(mpi, True) for mpi in args.mpis]


def run_in_turns(args, each_of, *run):
    """Rounds of all variants, every other one backwards."""
    for turn in range(args.rounds):
        for variant in each_of if turn % 2 == 0 else reversed(each_of):
            variant.run(args, *run)


def best(each_of, served, key, column):
    """The least median of those that are ours, or of the others."""
    return min(variant.median(key, column) for variant in each_of if variant.served == served)
