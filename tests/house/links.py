#!/usr/bin/env python3
"""Checks the links of all pages: the file is there, and so is the heading that a link names.

usage: links.py ROOT
"""
import os
import re
import sys

import tree

CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$", re.MULTILINE)
FENCED = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)


def slug(heading):
    """The anchor of a heading, as GitHub and Python-Markdown make it."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-")


def anchors(text):
    """All anchors of a page; a heading that comes again has a number behind it."""
    found = {}
    for heading in HEADING.findall(FENCED.sub("", text)):
        anchor = slug(heading)
        found[anchor] = found.get(anchor, -1) + 1
    return {anchor + (f"-{i}" if i else "") for anchor, last in found.items() for i in range(last + 1)}


def check_link(root, page, link):
    """What is wrong with a link, or None."""
    if re.match(r"[a-z]+:", link):
        return None
    path, _, anchor = link.partition("#")
    target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if not os.path.exists(os.path.join(root, target)):
        return f"links to {link}, which does not exist"
    if anchor and target.endswith(".md") and anchor not in anchors(tree.read(root, target)):
        return f"links to {link}, but {target} has no such heading"
    return None


def check(root):
    """All links that lead nowhere, one line each."""
    found = []
    for page in tree.files(root, ".md"):
        text = tree.read(root, page)
        blank = CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        for match in LINK.finditer(blank):
            problem = check_link(root, page, match[1])
            if problem:
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{page}:{line}: {problem}")
    return found


if __name__ == "__main__":
    violations = check(sys.argv[1])
    print("\n".join(violations) if violations else "all links lead somewhere")
    sys.exit(1 if violations else 0)
