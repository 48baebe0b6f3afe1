#!/usr/bin/env python3
"""Counts the messages of a broadcast down a tree: between nodes, between sockets of a node, within
a socket.

usage: levels.py COLLDSL TREE RANKS NODE_SIZE SOCKET_SIZE
"""
import sys

import schedule


def main(colldsl, tree, ranks, node, socket):
    made = schedule.make(
        colldsl, "bcast_tree", ranks, "--bytes", "8", "--set", f"t={tree}",
        "--topology", f"node:{ranks // node} package:{node // socket} core:{socket}",
    )
    pairs = [(r, op.peer) for r, rank in enumerate(made) for op in rank.ops.values()
             if op.kind == "send"]
    nodes = sum(a // node != b // node for a, b in pairs)
    sockets = sum(a // socket != b // socket for a, b in pairs) - nodes
    print(f"{nodes} between nodes, {sockets} between sockets, {len(pairs) - nodes - sockets} within")


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))
