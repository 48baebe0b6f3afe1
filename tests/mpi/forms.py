#!/usr/bin/env python3
"""forms.py [--waits PROGRAM] TABLE HEADER... MPI OURS: our library has every function that it must have.

TABLE is mpi/Functions.def, beside which is Collectives.def; HEADER what the compiler makes of mpi.h. Each function
that is declared there is in a row of these tables. What may wait, or is called again and again, and each collective
that is served, in all forms that the MPI has, is exported by our library, by both of its names. Fortran's functions
call them. PROGRAM tries calls that wait (InCalls.cpp): with --waits it must have each of them.
"""
import argparse
import os
import re
import subprocess
import sys

ROW = re.compile(r"^COLLDSL_(WAITS|WAITS_C|POLLS|OWN_WAITS|OWN_POLLS|LOCAL)\(([^)]*)\)", re.M)
SERVED = re.compile(r"^COLLDSL_COLLECTIVE(?:_WITHOUT_COUNT)?\((\w+), (\w+), (\w+),", re.M)
DECLARED = re.compile(r"\bMPI_([A-Z][a-z]\w*)\s*\(")
# A type before a bracket, and conversions of handles.
OTHER = re.compile(r"Aint$|.*_(c2f|f2c|c2f08|f082c|f082f|f2f08|toint|fromint)$")
COLLECTIVE = re.compile(r"I?(barrier|bcast|gatherv?|scatterv?|allgatherv?|alltoall[vw]?|(all)?reduce(_scatter(_block)?)?|"
                        r"scan|exscan|neighbor_(allgatherv?|alltoall[vw]?))(_init)?$", re.I)
# Those that return at once, and know requests, communicators, types and memory of ours.
OWN = set("""Init Init_thread Start Startall Cancel Request_free Comm_idup Comm_idup_with_info Comm_get_info Op_free
Type_free Alloc_mem Free_mem""".split())
FORTRAN = ("libmpi_mpifh.so", "libmpichfort.so")
# They need an intercommunicator, a service or a version that no launcher here has.
UNTRIED = {"Comm_join", "Open_port", "Close_port", "Publish_name", "Unpublish_name", "Lookup_name",
           "Session_detach_buffer", "Session_flush_buffer"}


def table(path):
    """Names by kind of row: WAITS, POLLS, LOCAL; and all that have an entry."""
    rows = {"WAITS": set(), "POLLS": set(), "LOCAL": set()}
    with open(path, encoding="utf-8") as file:
        for kind, words in ROW.findall(file.read()):
            names = [word.strip() for word in words.split(",")]
            if kind in ("WAITS", "WAITS_C", "POLLS"):
                names = names[:1]
            rows[next(k for k in rows if k in kind)].update(name for name in names if name != "name")
    with open(os.path.join(os.path.dirname(path), "Collectives.def"), encoding="utf-8") as file:
        for _, blocking, name in SERVED.findall(file.read()):
            rows["WAITS"].update((blocking, f"{blocking}_init"))
            rows["LOCAL"].add(f"I{name}")
    return rows


def functions(library, which="--defined-only"):
    done = subprocess.run(["nm", "-D", which, library], capture_output=True, text=True, check=True)
    # Versions follow a name behind '@'.
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}


def declared(compiler, header):
    """Of an mpi.h, without MPI_."""
    done = subprocess.run([compiler, "-E", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", f"-I{os.path.dirname(header)}",
                           "-x", "c", header], capture_output=True, text=True, check=True)
    return {name for name in DECLARED.findall(done.stdout) if not OTHER.match(name)}


def base(name):
    """A name of a library without its prefix, and without _c."""
    return re.sub(r"_c$", "", re.sub(r"^P?MPIX?_", "", name))


def around(mpi, moving):
    """Functions that Fortran has, beside this MPI, and that call none of C."""
    found = set()
    for path in (os.path.join(os.path.dirname(mpi), name) for name in FORTRAN):
        if os.path.exists(path):
            fortran, called = functions(path), {base(name) for name in functions(path, "--undefined-only")}
            found |= {name for name in moving - called if f"mpi_{name.lower()}_" in fortran}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--waits", metavar="PROGRAM")
    for word in ("table", "compiler", "header", "mpi", "ours"):
        parser.add_argument(word)
    words = parser.parse_args()
    rows, mpi, ours = table(words.table), functions(words.mpi), functions(words.ours)
    moving = rows["WAITS"] | rows["POLLS"]
    names = declared(words.compiler, words.header)
    problems = []

    def expect(what, found):
        if found:
            problems.append(f"{what}: {', '.join(sorted(found))}")

    expect("in two kinds of rows", rows["WAITS"] & rows["POLLS"] | moving & rows["LOCAL"])
    expect(f"in {words.header}, but in no row", {name for name in names if base(name) not in moving | rows["LOCAL"]})
    served = {name for name in mpi if re.match(r"P?MPIX?_[A-Z][a-z]", name) and
              (base(name) in moving | OWN or COLLECTIVE.match(base(name)))}
    expect(f"not in {words.ours}", served - ours)
    # MPICH 5.0.2 has some functions without their PMPI_ names.
    expect(f"only in {words.ours}", {name for name in ours - mpi if name.removeprefix("P") not in mpi})
    expect("not called by Fortran's functions", around(words.mpi, moving))
    if words.waits:
        tried = set(subprocess.run([words.waits, "--list"], capture_output=True, text=True, check=True).stdout.split())
        here = {base(name) for name in names} & moving
        expect("not tried", here - tried - UNTRIED)
        expect("tried, but in no row", tried - moving)
    print(f"{len(names)} functions declared, {len(served)} exported names", *problems, sep="\n")
    return int(len(names) < 300 or len(served) < 200 or bool(problems))


if __name__ == "__main__":
    sys.exit(main())
