"""Prints what plans of the Python package choose, then what its simulations and schedules report.

usage: chosen_by_python.py RANKS TOPOLOGY [FUNCTION BYTES TYPE OP FORM]...
"""
import sys

import numpy as np

import colldsl

TYPES = {"u8": np.uint8, "i32": np.int32, "f32": np.float32, "f64": np.float64}


def buffers(function, n, ranks, rank, is_in_place):
    """The shapes of the buffers, in their order; None where this rank has none."""
    root = rank == 0
    shapes = {
        "barrier": [],
        "bcast": [n],
        "reduce": [n, n if root else None],
        "allgather": [n, (ranks, n)],
        "alltoall": [(ranks, n), (ranks, n)],
        "gather": [n, (ranks, n) if root else None],
        "scatter": [(ranks, n) if root else None, n],
        "reduce_scatter_block": [(ranks, n), n],
    }.get(function, [n, n])
    return shapes[1:] if is_in_place else shapes


def chosen(comm, row):
    function, size, type_, op, form = row
    n = int(size) // np.dtype(TYPES[type_]).itemsize
    shapes = buffers(function, n, comm.size, comm.rank, form == "in-place")
    arrays = [None if shape is None else np.zeros(shape, TYPES[type_]) for shape in shapes]
    more = {} if op == "-" else {"op": op}
    count = {} if function == "barrier" else {"count": n, "type": type_}
    plan = comm.plan(function, *arrays, in_place=form == "in-place", **count, **more).commit()
    info = plan.info
    return f"{info.collective}, {info.reason}"


def remarks(ranks, topology, row):
    function, size, type_, op, form = row
    call = dict(ranks=ranks, bytes=int(size), type=type_, topology=topology, in_place=form == "in-place")
    if op != "-":
        call["op"] = op
    schedule = colldsl.load(function).instantiate(**call)
    choice = colldsl.choose(function, ranks, int(size), type=type_, topology=topology,
                            op=call.get("op"), in_place=call["in_place"])
    return [schedule.remarks.strip().splitlines()[-1], choice.rule]


def main(ranks, topology, words):
    rows = [words[i:i + 5] for i in range(0, len(words), 5)]
    with colldsl.Communicator.local(ranks, topology=topology) as local:
        for row in rows:
            print("plan", local.run(lambda comm: chosen(comm, row))[0])
    for row in rows:
        for kind, line in zip(("schedule", "choose"), remarks(ranks, topology, row)):
            print(kind, line)


main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
