#!/usr/bin/env python3
"""Checks that each folder has one namespace: its files open that one, or one of their own within it. What belongs to
another folder they may declare, not define.

usage: namespaces.py ROOT
"""
import re
import sys

import tree

# The namespace of each folder; a folder in it, or a file, may have a row of its own.
NAMESPACES = {
    "api": "colldsl::api",
    "compiler": "colldsl",
    "device": "colldsl::device",
    "driver": "colldsl::driver",
    "executor": "colldsl",
    "formats": "colldsl",
    "instantiate": "colldsl",
    "ir": "colldsl",
    "lsp": "colldsl::lsp",
    "mpi": "colldsl::mpi",
    "mscclpp": "colldsl::mscclpp",
    "parameterized": "colldsl::parameterized",
    "passes": "colldsl",
    "program": "colldsl",
    "protocol": "colldsl::protocol",
    "protocol/Endpoint.h": "colldsl",  # the contract, in the words of all who run plans
    "protocol/fake": "colldsl::fake",
    "python": "colldsl::python",
    "runtime": "colldsl",
    "select": "colldsl",
    "show": "colldsl::show",
    "simulator": "colldsl::sim",
    "stdlib": "colldsl",
    "tools": "colldsl::tools",
    "tools/tune/mpi/measure": "measure",  # a plain MPI program
    "topology": "colldsl",
    "transports": "colldsl",
    "transports/cma": "colldsl::cma",
    "transports/datagram": "colldsl::datagram",
    "transports/network": "colldsl::network",
    "transports/ofi": "colldsl::ofi",
    "transports/shm": "colldsl::shm",
    "transports/tcp": "colldsl::tcp",
    "transports/verbs": "colldsl::verbs",
    "verifier": "colldsl::proof",
    "wireup": "colldsl",
}
# They are no modules: tests, benchmarks, and what users include.
OUTSIDE = ("tests/", "bench/", "examples/", "include/", "packaging/")
OPEN = re.compile(r"^(?:inline )?namespace (?:([\w:]+) )?\{$")
CLOSE = re.compile(r"^\} // namespace")
DECLARATION = re.compile(r"^(?:template <.*> )?(?:struct|class|enum class) [\w ,:]+;$")


def only_declares(content):
    return all(DECLARATION.match(line) for line in content)


def blocks(text):
    """Line, full name and content of each named namespace, those within it excluded. House style puts namespaces and
    their ends at the beginning of a line; short ones end without a comment."""
    spaces, found = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if opened := OPEN.match(line):
            name = "::".join([*(name for _, name, _ in spaces[-1:] if name), *filter(None, opened.groups())])
            spaces.append((number if opened[1] else 0, name, []))
        elif spaces and (CLOSE.match(line) or line == "}" and only_declares(spaces[-1][2])):
            found.append(spaces.pop())
        elif spaces and line and not line.startswith("//"):
            spaces[-1][2].append(line)
    return [block for block in found if block[0]]


def row_of(path):
    return max((row for row in NAMESPACES if path == row or path.startswith(row + "/")), key=len, default=None)


def problem(path, name, content, owners):
    """Why this file must not open this namespace with this content; None if it may."""
    row = row_of(path)
    if not row:
        return "there is no namespace for this folder"
    if only_declares(content):
        return None
    own = NAMESPACES[row]
    others = {NAMESPACES[other] for other in NAMESPACES} - {own}
    if name != own and (name in others or not name.startswith(own + "::")):
        return f"defines names in {name}, where {row} has {own}"
    owner = name != own and owners.setdefault(name, row)
    return f"defines names in {name}, which is {owner}'s" if owner and owner != row else None


def check(root):
    """All violations in the tree, one line each."""
    found, owners = [], {}
    for path in tree.files(root, ".h", ".cpp"):
        if path.startswith(OUTSIDE):
            continue
        for number, name, content in blocks(tree.read(root, path)):
            if why := problem(path, name, content, owners):
                found.append(f"{path}:{number}: {why}")
    return found


if __name__ == "__main__":
    violations = check(sys.argv[1])
    print("\n".join(violations) if violations else "each folder has one namespace")
    sys.exit(1 if violations else 0)
