"""Prints what the Python package chooses, a line per call.

usage: chosen_by_python.py plan|schedule|choose RANKS TOPOLOGY [FUNCTION BYTES TYPE OP FORM]...
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


def planned(comm, function, size, type_, op, form):
    n = int(size) // np.dtype(TYPES[type_]).itemsize
    in_place = form == "in-place"
    shapes = buffers(function, n, comm.size, comm.rank, in_place)
    arrays = [None if shape is None else np.zeros(shape, TYPES[type_]) for shape in shapes]
    more = {} if op == "-" else {"op": op}
    if function != "barrier":
        more.update(count=n, type=type_)
    info = comm.plan(function, *arrays, in_place=in_place, **more).commit().info
    return f"{info.collective}, {info.reason}"


def call(row, ranks, topology):
    _, size, type_, op, form = row
    type_ = None if type_ == "i32" else type_  # a barrier takes none
    return dict(ranks=ranks, bytes=int(size), type=type_, op=None if op == "-" else op, topology=topology,
                in_place=form == "in-place")


def scheduled(row, ranks, topology):
    """The rule in the remarks, behind "colldsl: FUNCTION: ". """
    program = colldsl.load(row[0])
    remarks = program.instantiate(**call(row, ranks, topology)).remarks
    return remarks.strip().splitlines()[-1].split(": ", 2)[2]


def chosen(row, ranks, topology):
    choice = colldsl.choose(row[0], **call(row, ranks, topology))
    return choice.rule + (", by the machine profile" if choice.is_decision else "")


def main(kind, ranks, topology, words):
    rows = [words[i:i + 5] for i in range(0, len(words), 5)]
    if kind == "plan":
        with colldsl.Communicator.local(ranks, topology=topology) as local:
            lines = [local.run(lambda comm, row=row: planned(comm, *row))[0] for row in rows]
    else:
        lines = [(scheduled if kind == "schedule" else chosen)(row, ranks, topology) for row in rows]
    print("\n".join(lines))


main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:])
