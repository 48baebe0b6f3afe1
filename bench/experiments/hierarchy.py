#!/usr/bin/env python3
"""Broadcast and allgather on 32 nodes of 24 cores, along the machine and not: over the number of ranks per
node, over bindings, segment sizes and, for allgather, by a leader or around a ring; and the broadcasts of
ASP (all-pairs shortest paths), one of 64 KiB from each rank in turn.

All ranks of a node share its one link to a switch, where messages meet (`--network`).
As written the leader of a node hands out its bytes to one rank after the other; `readers` is the same schedule
after the pass `direction`, which lets the ranks that are less busy copy, all at the same time.

source: T. Ma, "Kernel-assisted and Topology-aware MPI Collective Communication", 2012, chapter 5
"""
import os

from experiment import HERE, Table, finish, main, makespan_us, points, side_by_side

NODES = points(32, 4)
MIB2 = points(2 << 20, 64 << 10)
FULL = f"node:{NODES} package:2 core:12"
RANKS = NODES * 24
READERS = ", readers"
BCASTS = ["bcast_hierarchical", "bcast_hierarchical" + READERS, "bcast_adapt", "bcast_binomial", "bcast_binary",
          "bcast_chain", "bcast_scatter_allgather"]
ALLGATHERS = ["allgather_leaders", "allgather_leaders" + READERS, "allgather_distance_ring",
              "allgather_ring"]
NETWORKS = ["cluster", "ethernet"]


def model_of(network):
    """The file of a machine model, whose nodes share nothing: --network has the links."""
    return os.path.join(HERE, "models", network + ".json")


def time_us(case):
    form, network, topology, ranks, size, *more = case
    name = form.removesuffix(READERS)
    readers = ["--passes", "direction{least=1}"] if form != name else []
    return makespan_us(name, "-n", ranks, "--topology", topology, "--bytes", size, "--model",
                       model_of(network), "--network", f"fattree:{NODES},hop=100", *readers, *more)


def nodes_with(ranks):
    """32 nodes with so many ranks each."""
    if ranks == 1:
        return f"node:{NODES} core:1"
    return f"node:{NODES} package:2 core:{ranks // 2}"


def ranks_per_node(name, collectives, size, counts, **labels):
    table = Table("ranks per node", *collectives)
    for count in counts:
        table.add(count, *side_by_side(time_us, [(each, "cluster", nodes_with(count), NODES * count, size)
                                                 for each in collectives]))
    finish(name, table, x="ranks per node", y="completion time in us", log="y", **labels)


def binding():
    table = Table("collective", "by core", "by node", "ratio")
    cases = [(name, MIB2) for name in BCASTS] + [(name, points(16 << 10, 64)) for name in ALLGATHERS]
    for name, size in cases:
        core, node = side_by_side(time_us, [(name, "cluster", f"{FULL} bind={how}", RANKS, size)
                                            for how in ("core", "scatter")])
        table.add(name, core, node, node / core)
    finish("hierarchy-binding", table)


def segments():
    forms = [(name, network) for network in NETWORKS for name in BCASTS[:2]]
    table = Table("segment in KiB", *(f"{name}, {network}" for name, network in forms))
    for kib in points([4, 8, 16, 32, 64, 128, 256, 512, 1024], [4, 64]):
        table.add(kib, *side_by_side(time_us, [(name, network, FULL, RANKS, MIB2, "--set",
                                                f"segment={kib}KiB") for name, network in forms]))
    finish("hierarchy-segments", table, title=f"Broadcast of 2 MiB on {RANKS} ranks",
           x="segment in KiB", y="completion time in us", log="xy")


def asp():
    """Mean over some roots; relative to the hierarchical one that is bound by core."""
    roots = points([0, 13, 301], [1])
    columns = [(network, how) for network in NETWORKS for how in ("core", "scatter")]
    table = Table("64 KiB rows", *(f"{network}, bind={how}" for network, how in columns))
    for name in BCASTS:
        means = []
        for network, how in columns:
            segment = ["--set", "segment=16KiB"] if name in BCASTS[:3] else []
            times = side_by_side(time_us, [(name, network, f"{FULL} bind={how}", RANKS, 64 << 10,
                                            "--set", f"root={root}", *segment) for root in roots])
            means.append(sum(times) / len(times))
        table.add(name, *means)
    finish("hierarchy-asp", table)


def experiment():
    counts = points([1, 2, 4, 8, 12, 16, 20, 24], [1, 2])
    ranks_per_node("hierarchy", BCASTS, MIB2, counts, title=f"Broadcast of 2 MiB on {NODES} nodes")
    print()
    ranks_per_node("hierarchy-allgather", ALLGATHERS, points(16 << 10, 64),
                   points([1, 2, 4, 6, 8, 12], [1, 2]),
                   title=f"Allgather of 16 KiB each on {NODES} nodes")
    print()
    binding()
    print()
    segments()
    print()
    asp()


if __name__ == "__main__":
    main(experiment)
