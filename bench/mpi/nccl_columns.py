"""The columns of NVIDIA's nccl-tests, as `colldsl run --nccl-tests` prints them, of results of alternating.py.

A row of the results is (operation, bytes of a block, bytes in all). Bandwidths are those of nccl-tests'
doc/PERFORMANCE.md; what it does not have, such as a scan, has a bus bandwidth of the algorithm's.
"""

REDUCED = {"reduce", "allreduce", "reduce_scatter_block", "reduce_scatter", "scan", "exscan"}
ROOTED = {"bcast", "reduce", "gather", "gatherv", "scatter", "scatterv"}
IN_PLACE = {"bcast"}  # one buffer
DIVIDED = {"allgather", "allgatherv", "alltoall", "alltoallv", "reduce_scatter_block", "reduce_scatter", "gather",
           "gatherv", "scatter", "scatterv"}  # a rank's count is a share of the size
ABSENT = f"{'N/A':>8} {'N/A':>7} {'N/A':>7} {'N/A':>6}"


def bus_share(operation, ranks):
    """Bytes that cross the bus of each rank, as a share of the size."""
    if operation == "allreduce":
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if operation in DIVIDED else 1


def header():
    half = f"{'time':>8} {'algbw':>7} {'busbw':>7} {'#wrong':>6}"
    units = f"{'(us)':>8} {'(GB/s)':>7} {'(GB/s)':>7} {'':>6}"
    return ["#", f"#{'out-of-place':>74}{'in-place':>32}",
            f"#{'size':>11} {'count':>13} {'type':>9} {'redop':>7} {'root':>7} {half} {half}",
            f"#{'(B)':>11} {'(elements)':>13} {'':>9} {'':>7} {'':>7} {units} {units}".rstrip()]


def line(operation, size, ns, is_right, ranks):
    """A row, and its bus bandwidth in GB/s."""
    kind, redop, width = ("double", "sum", 8) if operation in REDUCED else ("uint8", "none", 1)
    count = size // width // (ranks if operation in DIVIDED else 1)
    algorithm = size / ns if ns > 0 else 0
    bus = algorithm * bus_share(operation, ranks)
    half = f"{ns / 1000:8.2f} {algorithm:7.2f} {bus:7.2f} {0 if is_right else 1:>6}"
    halves = (ABSENT, half) if operation in IN_PLACE else (half, ABSENT)
    root = 0 if operation in ROOTED else -1
    return f"{size:>12} {count:>13} {kind:>9} {redop:>7} {root:>7} {halves[0]} {halves[1]}", bus


def print_nccl_columns(results, names, ranks):
    """A table per variant."""
    for name in names:
        print(*header(), sep="\n")
        bandwidths, wrong, before = [], 0, None
        for row in (row for row in results.rows() if results.has(name, row)):
            operation, block, size = row
            size = int(block) * ranks if operation in DIVIDED else size  # of a block that is a double at least
            if operation != before:
                print(f"# {operation}, {name}, {ranks} ranks")
            before = operation
            is_right = results.right(name, row)
            text, bus = line(operation, size, results.median(name, row), is_right, ranks)
            print(text)
            bandwidths.append(bus)
            wrong += not is_right
        print(f"# Out of bounds values : {wrong} {'FAILED' if wrong else 'OK'}")
        print(f"# Avg bus bandwidth    : {sum(bandwidths) / max(len(bandwidths), 1):.5f}\n#")
