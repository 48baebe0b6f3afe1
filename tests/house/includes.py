#!/usr/bin/env python3
"""Checks the includes between folders: data flows one way through them.

usage: includes.py ROOT
"""
import re
import sys

import tree

# What each folder may include of the others; a folder in it may have a row of its own. Folders that
# are not named here may include everything: tools, tests, bench.
ALLOWED = {
    "ir": [],
    "formats": ["ir"],
    "topology": ["ir"],
    "mscclpp": ["formats", "ir", "topology"],
    "program": ["ir", "topology"],
    "instantiate": ["ir", "topology", "program"],
    "instantiate/dependence": ["ir"],
    "instantiate/graphs": ["ir"],
    "stdlib": [],
    "compiler": ["ir", "program", "stdlib"],
    "passes": ["instantiate", "ir", "program", "simulator", "topology"],
    "verifier": ["ir"],
    "parameterized": ["ir", "program"],
    "simulator": ["ir", "topology"],
    "wireup": ["ir", "topology"],
    "transports": ["ir", "topology", "wireup"],
    "protocol": ["ir", "topology", "wireup", "transports"],
    "device": ["ir"],
    "executor": ["device", "ir", "topology", "transports", "protocol"],
    "select": ["ir", "topology", "program", "passes"],
    "runtime": ["ir", "topology", "program", "instantiate", "passes", "verifier", "wireup", "transports", "protocol",
                "executor", "select"],
    "runtime/job": ["ir", "topology", "wireup", "transports", "protocol", "executor"],
    "runtime/graph": ["ir", "topology", "program", "instantiate", "passes"],
    "api": ["device", "ir", "topology", "program", "select", "wireup", "runtime", "colldsl"],
    "mpi": ["ir", "topology", "program", "select", "wireup", "transports", "protocol", "device", "executor", "runtime"],
    "show": ["ir", "simulator", "topology", "verifier"],
    "driver": ["compiler", "formats", "instantiate", "ir", "mscclpp", "passes", "program", "runtime", "select", "show",
               "simulator", "stdlib", "topology", "verifier"],
    "lsp": ["compiler", "driver", "instantiate", "ir", "program", "runtime", "verifier"],
    "include": ["colldsl"],
    "examples": ["colldsl"],
}
# What runs a schedule knows images, not DAGs: these headers, and no others of ir.
IMAGE_ONLY = ["transports", "protocol", "executor"]
NOT_IMAGE = ["Dag.h", "Schedule.h", "TextForm.h"]
# Which folders of a folder a file there may include besides its own; "" is the folder itself.
PARTS = {
    # It holds over any wire: it includes no folder of transports/.
    "protocol": {"": [], "open": [""], "local": ["", "open"], "remote": ["", "open"], "fake": [""]},
    "mscclpp": {"": [], "host": [""]},
    "program": {"": [], "library": [""]},
    "instantiate": {"": ["dependence", "graphs"], "dependence": [], "graphs": [], "graphs/coloring": []},
    "runtime": {"": ["graph", "job"], "graph": ["job"], "job": []},
    "driver": {"explain": [], "": ["explain"], "files": [""], "requests": ["", "files"], "rules": ["", "files"],
               "source": ["", "explain", "files", "requests", "rules"],
               "schedule": ["", "requests", "source"],
               "choice": ["", "files", "requests", "rules", "source", "schedule"],
               "proofs": ["", "explain", "requests", "source", "schedule", "choice"],
               "library": ["", "files", "requests", "rules", "source", "choice", "proofs"],
               "fit": ["", "files", "requests"],
               "regret": ["", "files", "fit", "requests", "rules"],
               "draw": ["", "files", "requests", "source", "schedule", "proofs"]},
}
# Libraries that only some folders know.
LIBRARIES = {
    "ANTLR": (r"antlr4-runtime|Coll(Lexer|Parser|Visitor|BaseVisitor|Listener|BaseListener)\.h",
              ["compiler", "tools"]),
    "LLVM": (r"llvm/|llvm-c/", ["compiler", "driver", "lsp", "show", "tools", "python"]),
    "Eigen": (r"Eigen/", ["driver/fit"]),
    "hwloc": (r"hwloc", ["topology"]),
    "libfabric": (r"rdma/", ["transports"]),
    "libibverbs": (r"infiniband/", ["transports"]),
    "METIS": (r"metis\.h", ["instantiate/graphs"]),
    "z3": (r"z3", ["parameterized"]),
    "libxml2": (r"libxml/", ["formats"]),
    "protobuf": (r"google/protobuf/|\.pb\.h", ["formats"]),
    "xxHash": (r"xxhash\.h", ["ir"]),
    "ISA-L": (r"isa-l/", ["transports"]),
    "nlohmann-json": (r"nlohmann/", ["topology"]),
    "pybind11": (r"pybind11/|Python\.h", ["python"]),
    "PMIx": (r"pmix", ["wireup"]),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def problem(path, quote, header):
    """Why this file must not include this header; None if it may."""
    folder, _, file = path.partition("/")
    if folder not in ALLOWED:
        return None
    for library, (pattern, users) in LIBRARIES.items():
        if re.match(pattern, header):
            return None if path.startswith(tuple(user + "/" for user in users)) else f"{folder} does not know {library}"
    if quote == "<":
        return None
    other, _, name = header.partition("/")
    if not name:
        return None if folder == "examples" else 'includes start at the top: "folder/Header.h"'
    row = max((row for row in ALLOWED if path.startswith(row + "/")), key=len)
    if other != folder and other not in ALLOWED[row]:
        return f"{row} must not include {other}"
    if folder in IMAGE_ONLY and other == "ir" and name in NOT_IMAGE:
        return f"{folder} knows images only"
    return problem_in_parts(folder, file, other, name) if folder in PARTS else None


def problem_in_parts(folder, file, other, name):
    part, wanted = (path.rpartition("/")[0] for path in (file, name))
    if folder == "protocol" and other == "transports" and wanted and not part:
        return "it holds over any wire"
    if other == folder and wanted != part and wanted not in PARTS[folder][part]:
        return f"{folder}/{part} must not include {folder}/{wanted}"
    return None


def check(root):
    """All violations in the tree, one line each."""
    found = []
    for path in tree.files(root, ".h", ".hpp", ".c", ".cpp", ".cu", ".def", ".inc"):
        for number, line in enumerate(tree.read(root, path).splitlines(), 1):
            include = INCLUDE.match(line)
            why = include and problem(path, *include.groups())
            if why:
                found.append(f"{path}:{number}: {why}: {line.strip()}")
    return found


if __name__ == "__main__":
    violations = check(sys.argv[1])
    print("\n".join(violations) if violations else "all includes follow the rule")
    sys.exit(1 if violations else 0)
