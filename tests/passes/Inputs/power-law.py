#!/usr/bin/env python3
"""Writes a graph in which few ranks have most of the edges, as a list of edges.

usage: power-law.py RANKS EDGES
"""
import random
import sys

ranks, edges = int(sys.argv[1]), int(sys.argv[2])
draw = random.Random(1)
for _ in range(edges):
    print(int(ranks * draw.random() ** 4), int(ranks * draw.random() ** 2))
