#!/usr/bin/env python3
"""Checks that what the documentation quotes of a file is what the file says: a line of a page
that is just `PATH`: quotes the file PATH in the code block that follows.

usage: quotes.py ROOT
"""
import os
import re
import sys

import tree

QUOTE = re.compile(r"^`([\w./-]+)`:\n\n```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def check(root):
    """All quotes that are wrong, one line each."""
    found = []
    for page in tree.files(root, ".md"):
        for path, quoted in QUOTE.findall(tree.read(root, page)):
            if not os.path.exists(os.path.join(root, path)):
                found.append(f"{page}: quotes {path}, which does not exist")
            elif tree.read(root, path) != quoted:
                found.append(f"{page}: quotes {path}, which says something else")
    return found


if __name__ == "__main__":
    violations = check(sys.argv[1])
    print("\n".join(violations) if violations else "all quotes are exact")
    sys.exit(1 if violations else 0)
