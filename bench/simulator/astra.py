#!/usr/bin/env python3
"""Exported schedules as custom collectives of ASTRA-sim, beside `colldsl sim` of the same traces.

usage: astra.py --astra DIR [--latency NS] [--bandwidth N] [--bytes N] [SCHEDULE[:RANKS]...]

DIR holds ASTRA-sim's programs with the analytical network, AstraSim_Analytical_Congestion_Unaware and
..._Aware, as its build/astra_analytical/build.sh makes them. `colldsl export --to chakra` writes each
schedule; ASTRA-sim runs it in place of its own algorithm, among NPUs with a link between each two. The
bandwidth is in bytes per ns, N a power of 2 for exact times; the bytes are those of a block, a multiple
of 1000, since ASTRA-sim counts computations in microseconds. Columns, in ns:

  unaware, aware   when ASTRA-sim's last NPU finishes, with links that messages share freely or in turns
  colldsl          the same of `colldsl sim`, with L the latency, G one by the bandwidth and no overheads
  beside           the same with computations on a processor of their own, as in ASTRA-sim
  messages         on the longest chain of them, each of which takes (s-1)G in LogGP and sG in ASTRA-sim
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COLLDSL = os.environ.get("COLLDSL", os.path.join(ROOT, "build", "release", "bin", "colldsl"))
TRACES = os.path.join(ROOT, "tests", "formats", "Inputs", "traces.py")
# Per schedule: ASTRA-sim's number and name of its collective, and whether its size has a block per rank.
SCHEDULES = {
    "allreduce_ring": (0, "all-reduce", True),
    "allreduce_recursive_doubling": (0, "all-reduce", False),
    "alltoall_pairwise": (6, "all-to-all", False),
    "allgather_ring": (2, "all-gather", False),
}
RANKS = (4, 8, 16)
COLLECTIVE_NODE = 7
BYTES_PER_GB = 2**30
ROW = "{:<29} {:>5} {:>9}  {:>9} {:>9} {:>9} {:>9} {:>8}"


def output_of(command, **options):
    """What it prints; exits if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"astra.py: {' '.join(command)}: exit {done.returncode}\n{done.stdout}")
    return done.stdout


def found(pattern, text):
    numbers = [int(number) for number in re.findall(pattern, text)]
    if not numbers:
        sys.exit(f"astra.py: no '{pattern}' in\n{text}")
    return max(numbers)


def write_inputs(folder, name, ranks, size, args):
    """The traces of the schedule, a workload that calls the collective once, and ASTRA-sim's files."""
    number, collective, _ = SCHEDULES[name]
    algorithm = os.path.join(folder, "algorithm")
    output_of([COLLDSL, "export", name, "-n", str(ranks), "--bytes", str(size), "--to", "chakra", "--local-as-calc",
               "-o", algorithm])
    for rank in range(ranks):
        node = f"{rank} {COLLECTIVE_NODE} is_cpu_op:27=0 comm_type={number} comm_size={size}\n"
        output_of([TRACES, "write", os.path.join(folder, f"workload.{rank}.et")], input=node)
    with open(os.path.join(folder, "system.json"), "w") as file:
        json.dump({"scheduling-policy": "FIFO", "preferred-dataset-splits": 1, "active-chunks-per-dimension": 1,
                   "endpoint-delay": 0, "local-mem-bw": 1600, f"{collective}-implementation-custom": [algorithm]}, file)
    with open(os.path.join(folder, "network.yml"), "w") as file:
        file.write(f"topology: [ FullyConnected ]\nnpus_count: [ {ranks} ]\n"
                   f"bandwidth: [ {args.bandwidth * 1e9 / BYTES_PER_GB!r} ]\nlatency: [ {float(args.latency)} ]\n")
    with open(os.path.join(folder, "memory.json"), "w") as file:
        json.dump({"memory-type": "NO_MEMORY_EXPANSION"}, file)
    return algorithm


def astra(folder, program, args):
    files = {"workload": "workload", "system": "system.json", "remote-memory": "memory.json", "network": "network.yml"}
    command = [os.path.join(args.astra, f"AstraSim_Analytical_Congestion_{program}")]
    command += [f"--{what}-configuration={os.path.join(folder, name)}" for what, name in files.items()]
    return found(r"finished, (\d+) cycles", output_of(command, cwd=folder, timeout=args.limit))


def simulate(schedule, args):
    return output_of([COLLDSL, "sim", schedule, "-L", str(args.latency), "-G", str(1 / args.bandwidth), "-o", "0", "-g",
                      "0", "-O", "0", "-S", str(2**40)])


def compare(name, ranks, args, folder):
    """Prints a row of the table."""
    size = args.bytes * (ranks if SCHEDULES[name][2] else 1)
    algorithm = write_inputs(folder, name, ranks, size, args)
    times = [astra(folder, program, args) for program in ("Unaware", "Aware")]
    goal = os.path.join(folder, "beside.goal")
    text = output_of([COLLDSL, "export", f"{algorithm}.0.et", "--to", "goal"])
    with open(goal, "w") as file:
        file.write(re.sub(r"(calc \d+)$", r"\1 cpu 1", text, flags=re.M))
    makespan = r"makespan: (\d+) ns"
    times += [found(makespan, simulate(schedule, args)) for schedule in (f"{algorithm}.0.et", goal)]
    # With messages that take the latency alone and computations that take no time, time counts messages.
    with open(goal, "w") as file:
        file.write(re.sub(r"(calc) \d+$", r"\1 0", text, flags=re.M))
    chain = found(makespan, output_of([COLLDSL, "sim", goal, "-L", "1", "-G", "0", "-o", "0", "-g", "0", "-O", "0", "-S",
                                       str(2**40)]))
    print(ROW.format(name, ranks, size, *times, chain), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--astra", required=True)
    parser.add_argument("--latency", type=int, default=500)
    parser.add_argument("--bandwidth", type=float, default=8)
    parser.add_argument("--bytes", type=int, default=16000)
    parser.add_argument("--limit", type=int, default=600, help="seconds of one run of ASTRA-sim (default: 600)")
    parser.add_argument("schedules", nargs="*", default=list(SCHEDULES))
    args = parser.parse_args()
    args.astra = os.path.abspath(args.astra)
    print(ROW.format("schedule", "ranks", "bytes", "unaware", "aware", "colldsl", "beside", "messages"))
    for word in args.schedules:
        name, _, ranks = word.partition(":")
        if name not in SCHEDULES:
            parser.error(f"no schedule '{name}': there are {', '.join(SCHEDULES)}")
        for count in [int(ranks)] if ranks else RANKS:
            with tempfile.TemporaryDirectory() as folder:
                compare(name, count, args, folder)


if __name__ == "__main__":
    main()
