#!/usr/bin/env python3
"""Prints what bench/mpi-collectives --nccl-tests prints of results that are made up.

usage: nccl_bench.py ROOT
"""
import sys

sys.path.insert(0, f"{sys.argv[1]}/bench/mpi")
from alternating import Results
from nccl_columns import print_nccl_columns

ROWS = {("allreduce", "8000", 8000): (2000.0, True), ("allgather", "1000", 4000): (1000.0, True),
        ("bcast", "5000", 5000): (500.0, True), ("reduce_scatter_block", "8", 8): (1000.0, True),
        ("gather", "1000", 4000): (1000.0, True), ("scan", "8", 8): (1000.0, False),
        ("scatter", "500", 2000): (1000.0, True)}

results = Results(["mpich"])
results.runs["mpich"] = [ROWS, ROWS]
print_nccl_columns(results, ["mpich"], 4)
