#!/usr/bin/env python3
"""forms.py MPI OURS: all forms of the calls that are served, as far as the MPI has them, are in our library.

Blocking, nonblocking and persistent ones, with counts of int and of MPI_Count, by both of their names.
"""
import re
import subprocess
import sys

COLLECTIVES = """barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv alltoallw
reduce allreduce reduce_scatter reduce_scatter_block scan exscan neighbor_allgather neighbor_allgatherv
neighbor_alltoall neighbor_alltoallv neighbor_alltoallw""".split()
COMPLETIONS = """wait waitall waitany waitsome test testall testany testsome start startall request_free cancel
request_get_status request_get_status_all request_get_status_any request_get_status_some""".split()
COMMUNICATORS = """cart_create cart_sub graph_create dist_graph_create dist_graph_create_adjacent comm_create
comm_create_group comm_create_from_group comm_dup comm_dup_with_info comm_idup comm_idup_with_info comm_split
comm_split_type""".split()
MESSAGES = "send ssend rsend recv sendrecv probe mprobe mrecv".split()
OF_COLLECTIVE = re.compile(r"P?MPIX?_(I?)(\w+?)(_init)?(_c)?$")
OF_MESSAGE = re.compile(r"P?MPI_(\w+?)(_c)?$")


def functions(library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    # Versions follow a name behind '@'.
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}


def is_served(name):
    if not re.match(r"P?MPIX?_[A-Z]", name):
        return False
    found = OF_COLLECTIVE.match(name)
    if found and found[2].lower() in COLLECTIVES:
        return True
    found = OF_MESSAGE.match(name)
    return bool(found) and (found[1].lower() in MESSAGES or
                            not found[2] and found[1].lower() in COMPLETIONS + COMMUNICATORS)


def main():
    mpi, ours = functions(sys.argv[1]), functions(sys.argv[2])
    served = sorted(name for name in mpi if is_served(name))
    missing = [name for name in served if name not in ours]
    strange = sorted(name for name in ours if name not in mpi)
    print(f"{len(served)} functions of {sys.argv[1]}; missing here: {missing}; only here: {strange}")
    return int(len(served) < 100 or bool(missing) or bool(strange))


if __name__ == "__main__":
    sys.exit(main())
