#!/usr/bin/env python3
"""Prints the matrix of a Poisson equation on a grid of SIDE x SIDE points, as a Matrix Market file.

usage: poisson.py SIDE
"""
import sys

side = int(sys.argv[1])
points = [(row, column) for row in range(side) for column in range(side)]
number = {point: i + 1 for i, point in enumerate(points)}
entries = [(number[p], number[p], 4) for p in points]
entries += [(number[r + dr, c + dc], number[r, c], -1)
            for r, c in points for dr, dc in ((1, 0), (0, 1)) if (r + dr, c + dc) in number]
print("%%MatrixMarket matrix coordinate real symmetric")
print(side * side, side * side, len(entries))
for row, column, value in entries:
    print(row, column, value)
