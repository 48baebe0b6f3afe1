#!/usr/bin/env python3
"""Checks the names of files: a name leads to one header, and members of a class are in files that carry its name.

usage: file_names.py ROOT
"""
import os
import re
import sys

import tree

# They have names of their own: tests, and programs that stand alone.
OUTSIDE = ("tests/", "bench/", "examples/", "include/")
CLASS = re.compile(r"^(?:class|struct)(?: \[\[\w+\]\])? (\w+)(?: final)?(?: : [^;{]*)?\s*\{", re.M)
MEMBER = re.compile(r"^(?!\s)[^\n(]*?\b(\w+)::~?\w+\(", re.M)


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def same_names(headers):
    found, first = [], {}
    for path in headers:
        other = first.setdefault(os.path.basename(path), path)
        if other != path:
            found.append(f"{path}: {other} has this name too")
    return found


def check(root):
    """All violations in the tree, one line each."""
    files = [path for path in tree.files(root, ".h", ".cpp") if not path.startswith(OUTSIDE)]
    headers = [path for path in files if path.endswith(".h")]
    declared = {}  # folder and class -> header
    for path in headers:
        for name in CLASS.findall(tree.read(root, path)):
            declared[os.path.dirname(path), name] = path
    found = same_names(headers)
    for path in set(files) - set(headers):
        if path[:-4] + ".h" in headers:
            continue
        folder = os.path.dirname(path)
        classes = {name for name in MEMBER.findall(tree.read(root, path)) if (folder, name) in declared}
        of = {word for name in classes for word in (name, stem(declared[folder, name]))}
        if of and not stem(path).startswith(tuple(of)):
            found.append(f"{path}: implements {', '.join(sorted(classes))}, whose name its own does not begin with")
    return sorted(found)


if __name__ == "__main__":
    violations = check(sys.argv[1])
    print("\n".join(violations) if violations else "all files have names of their own")
    sys.exit(1 if violations else 0)
