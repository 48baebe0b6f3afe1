#!/usr/bin/env python3
"""Checks what every file keeps to: length, spelling, no paths of one machine.

usage: text.py ROOT
"""
import re
import sys

import tree

MAX_LINES = 800
CODE = (".h", ".cpp", ".def", ".g4", ".coll")
ALL = (*CODE, ".py", ".md", ".txt", ".cmake", ".in", ".sh", ".test", ".json")
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|root|home|Users)/")
# Code spells neighbor as MPI does, prose spells neighbour.
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
MARKDOWN_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)


def blank(pattern, text):
    """The text with all matches removed, its lines kept."""
    return pattern.sub(lambda match: "\n" * match.group().count("\n"), text)


def lines_with(pattern, text):
    return [n for n, line in enumerate(text.splitlines(), 1) if re.search(pattern, line)]


def problems(path, text):
    """What is wrong with one file, as pairs of line and complaint."""
    found = []
    count = len(text.splitlines())
    if count > MAX_LINES:
        found.append((count, f"has more than {MAX_LINES} lines: split it"))
    found += [(n, "names a path of one machine") for n in lines_with(MACHINE_PATH, text)]
    if path.endswith(CODE):
        code = blank(COMMENT_OR_STRING, text)
        found += [(n, "code spells it neighbor") for n in lines_with("(?i)neighbour", code)]
    if path.endswith(".md"):
        prose = blank(MARKDOWN_CODE, text)
        found += [(n, "prose spells it neighbour") for n in lines_with(r"(?i)\bneighbor", prose)]
    return found


def check(root):
    """All violations in the tree, one line each."""
    return [
        f"{path}:{line}: {complaint}"
        for path in tree.files(root, *ALL)
        for line, complaint in problems(path, tree.read(root, path))
    ]


if __name__ == "__main__":
    violations = check(sys.argv[1])
    print("\n".join(violations) if violations else "every file keeps to the rules")
    sys.exit(1 if violations else 0)
