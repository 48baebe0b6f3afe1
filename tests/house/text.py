#!/usr/bin/env python3
"""Checks what every file keeps to: length, spelling, no paths of one machine, comments that name their subjects.

usage: text.py ROOT
"""
import re
import sys

import tree

MAX_LINES = 800
GENERATED = ("docs/commands.md",)  # by scripts/index-commands, for readers who search
CPP = (".h", ".hpp", ".c", ".cpp", ".cu", ".def")
CODE = (".h", ".cpp", ".cu", ".def", ".g4", ".coll")
ALL = (*CODE, ".hpp", ".c", ".py", ".md", ".txt", ".cmake", ".in", ".sh", ".test", ".json")
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|root|home|Users)/")
# Code spells neighbor as MPI does, prose spells neighbour.
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
COMMENT = re.compile(r"(?:^|(?<=[;,{(]))\s*///?<?\s?(.*)")
NO_SUBJECT = re.compile(r"(What|Of|Whether|Where|Who|Whoever|Which|Whose|How|When|The same|As above|As [\w:]+(?=\(\)))\b")
MARKDOWN_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)


def blank(pattern, text):
    """The text with all matches removed, its lines kept."""
    return pattern.sub(lambda match: "\n" * match.group().count("\n"), text)


def lines_with(pattern, text):
    return [n for n, line in enumerate(text.splitlines(), 1) if re.search(pattern, line)]


def without_subject(text):
    """Lines where a comment of C++ opens without its subject, and the word that it opens with."""
    is_open = False
    for number, line in enumerate(text.splitlines(), 1):
        comment = COMMENT.search(line)
        goes_on = is_open and line.lstrip().startswith("//")
        opening = comment and not goes_on and NO_SUBJECT.match(comment[1])
        is_open = bool(comment)
        if opening:
            yield number, opening[1]


def problems(path, text):
    """What is wrong with one file, as pairs of line and complaint."""
    found = []
    count = len(text.splitlines())
    if count > MAX_LINES and path not in GENERATED:
        found.append((count, f"has more than {MAX_LINES} lines: split it"))
    found += [(n, "names a path of one machine") for n in lines_with(MACHINE_PATH, text)]
    if path.endswith(CODE):
        code = blank(COMMENT_OR_STRING, text)
        found += [(n, "code spells it neighbor") for n in lines_with("(?i)neighbour", code)]
    if path.endswith(CPP) and not path.startswith("tests/"):
        found += [(n, f"a comment names its subject, and opens with '{word}'") for n, word in without_subject(text)]
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
