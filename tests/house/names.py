#!/usr/bin/env python3
"""Checks that no two headers define a type of the same name in the same namespace: the linker
would take the templates made for one of them for those of the other, without a word.

usage: names.py ROOT
"""
import re
import sys

import tree

OPEN = re.compile(r"^(?:inline )?namespace ([\w:]+) \{$")
CLOSE = re.compile(r"^\} // namespace ([\w:]+)$")
TYPE = re.compile(r"^(?:template .*> )?(?:struct|class|enum class) (?:alignas\(.*?\) )?(\w+)\b(?!::|.*;$)")


def definitions(text):
    """Line and full name of each type that stands directly in a named namespace. House style puts
    namespaces and what is directly in them at the beginning of a line."""
    spaces = []
    for number, line in enumerate(text.splitlines(), 1):
        if opened := OPEN.match(line):
            spaces.append(opened[1])
        elif CLOSE.match(line) and spaces:
            spaces.pop()
        elif (kind := TYPE.match(line)) and spaces:
            yield number, "::".join([*spaces, kind[1]])


def check(root):
    """All names that are defined twice, one line each."""
    found, first = [], {}
    for path in tree.files(root, ".h"):
        for number, name in definitions(tree.read(root, path)):
            place = first.setdefault(name, f"{path}:{number}")
            if place != f"{path}:{number}":
                found.append(f"{path}:{number}: {name} is also defined in {place}")
    return found


if __name__ == "__main__":
    violations = check(sys.argv[1])
    print("\n".join(violations) if violations else "every type has one definition")
    sys.exit(1 if violations else 0)
