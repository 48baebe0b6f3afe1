"""Runs wrong-arguments-MPI on the bare MPI and with colldsl, and compares the error classes.

wrong_arguments.py MPI COLLDSL PROGRAM LAUNCHER...
"""
import re
import subprocess
import sys

RANKS = 2
FORMS = "(nonblocking |persistent )?"
TIMEOUT_S = 600

# Cases that the bare MPI does not survive, or in which a rank waits for good: they run with colldsl
# alone, which must end them. MPI, cases, what the bare MPI does.
NOT_BARE = [
    ("mpich", ".*: no [sr](counts|displs|types).*", "crashes"),
    ("mpich", "(Allreduce|Reduce|Scan|Exscan|Reduce_scatter_block): negative scount", "crashes"),
    ("mpich", "Bcast: null rtype, count 0", "asserts"),
    ("mpich", "Bcast: in place, in rbuf", "crashes"),
    ("mpich", "(Gatherv?|Reduce): in place on all ranks, in sbuf", "crashes"),
    ("mpich", "Scatterv?: in place, in rbuf", "crashes"),
    ("mpich", "Neighbor_.*: in place.*", "crashes"),
    ("mpich", "Scatterv?: (in place on all ranks|negative scount|no sbuf|null stype|"
              "uncommitted stype|.*own block|sbuf is rbuf).*", "the rank that is no root waits"),
    ("mpich", "Allgatherv?: (rbuf is the own block of sbuf|sbuf is rbuf)", "rank 1 waits"),
    ("mpich", "(Allreduce|Alltoallv?|Exscan|Scan|Reduce_scatter(_block)?): .*own block.*",
     "rank 1 waits"),
    ("openmpi", "(?!Barrier).*: no [sr]buf", "crashes"),
    ("openmpi", "[^C].*: no request", "crashes"),
    ("openmpi", "Allgatherv: negative rcounts", "crashes"),
    ("openmpi", "(Neighbor_a|A)llgatherv: no rcounts", "crashes"),
    ("openmpi", "Exscan: in place, in rbuf", "crashes"),
    ("openmpi", "(Gatherv?|Reduce|Scatterv?): in place on all ranks, in sbuf", "a rank waits"),
    ("openmpi", "Scatter: negative scount", "crashes"),
    ("openmpi", "Scatterv: (negative scounts|no scounts|no sdispls|null stype.*|uncommitted stype)",
     "the rank that is no root waits"),
]

# Calls that are passed on: with colldsl they do the same.
NEITHER = [
    ("mpich", "Comm_get_info: no result", "crashes"),
    ("mpich", "(Op|Type)_free: nothing", "crashes"),
    ("mpich", "Dist_graph_create: source -1", "asserts"),
    ("mpich", "Alloc_mem: no result", "crashes"),
    ("openmpi", "(Neighbor_a|A)llgather: no communicator", "crashes"),
    ("openmpi", "Cart_sub: no (result|dimensions)", "crashes"),
    ("openmpi", "Graph_create: no result", "crashes"),
    ("openmpi", "Comm_idup: no request", "crashes"),
]

# Where the classes differ. MPI, cases, why.
DIFFERENT = [
    (".*", ".*: null (stype|rtype|types), counts? 0", "a block without bytes may have any type"),
    (".*", "Reduce.*: null stype, count 0", "both refuse it"),
    ("mpich", ".*: negative scount", "of reductions MPICH reports MPI_ERR_OTHER"),
    ("openmpi", ".*: uncommitted.*", "served as if it were committed, as Open MPI does for some"),
    ("openmpi", "Scatterv?: .*(stype|scounts?)", "Open MPI does not look at what is scattered"),
    (".*", ".*: in place, in rbuf", "the classes differ from call to call"),
    (".*", ".*: in place on all ranks, in sbuf", "away from the root it is refused"),
]


def listed(rows, mpi, name):
    return any(re.fullmatch(which, mpi) and re.fullmatch(FORMS + cases, name)
               for which, cases, _ in rows)


def run(command):
    """What ran, as {number: (name, classes or None)}, and how it ended."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=TIMEOUT_S)
        output, how = done.stdout, "exit code %d" % done.returncode
    except subprocess.TimeoutExpired as e:
        output, how = (e.stdout or b"").decode(errors="replace"), "no end"
    cases = {}
    for line in output.splitlines():
        found = re.fullmatch(r"(\d+) ([A-Za-z_ ]+: .*?)(?: = (.*))?", line)
        if found:
            cases[int(found[1])] = (found[2], found[3].split() if found[3] else None)
    return cases, how, output


def run_all(what, command, numbers, skipped):
    cases, how, output = run(command + ["0"] + [str(number) for number in sorted(skipped)])
    for number in numbers:
        if number in skipped:
            continue
        if number not in cases or cases[number][1] is None:
            name = cases.get(number, ("the case %d" % number,))[0]
            sys.exit("%s: '%s' did not end (%s)\n%s" % (what, name, how, output[-2000:]))
    return cases


def main():
    mpi, colldsl, program, *launcher = sys.argv[1:]
    bare = launcher + ["-n", str(RANKS), program]
    served = [colldsl, "mpi", "--"] + bare
    names = {number: name for number, (name, _) in list_cases(launcher, program).items()}
    not_bare = {n for n, name in names.items() if listed(NOT_BARE + NEITHER, mpi, name)}
    neither = {n for n, name in names.items() if listed(NEITHER, mpi, name)}
    expected = run_all("bare", bare, names, not_bare)
    got = run_all("with colldsl", served, names, neither)
    wrong = []
    for number, name in names.items():
        if number in not_bare or listed(DIFFERENT, mpi, name):
            continue
        pairs = zip(expected[number][1], got[number][1])
        if any(e != g and e != "SUCCESS" or e == "SUCCESS" and g not in ("SUCCESS", "OTHER")
               for e, g in pairs):
            wrong.append("%s: bare %s, with colldsl %s" %
                         (name, " ".join(expected[number][1]), " ".join(got[number][1])))
    for number in sorted(not_bare - neither):
        if "another" in got[number][1]:
            wrong.append("%s: an unknown class" % names[number])
    print("%d cases, %d of them not bare, %d differ" % (len(names), len(not_bare), len(wrong)))
    if wrong:
        sys.exit("\n".join(wrong))


def list_cases(launcher, program):
    cases, how, output = run(launcher + ["-n", "1", program, "--list"])
    if not cases:
        sys.exit("no cases (%s)\n%s" % (how, output[-2000:]))
    return cases


main()
