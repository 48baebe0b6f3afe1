#!/usr/bin/env python3
"""Checks editors/vscode: its files are JSON, the paths in package.json exist, and the grammar names
the parts of a text as it should.

usage: editors.py ROOT
"""
import json
import os
import re
import sys

TEXT = '/// d\ncollective ring(in x: T[n], k: rank = 2 in 1..64KiB)\n  ensures x == x@none // c\n' \
       '{ send x to max(rank, 1) combine sum; let s = "a\\"b"; }\n'
WANTED = {
    "/// d": "comment.line.documentation", "collective ring": "", "ensures": "keyword.other.contract",
    " rank": "support.type", "64KiB": "constant.numeric", "none": "constant.language",
    "// c": "comment.line.double-slash", "send": "keyword.operation", "to": "keyword.other",
    "max": "support.function", "rank": "variable.language", "sum": "constant.other.reduction",
    "let": "storage.modifier", "..": "keyword.operator",
}


def parts(grammar, text):
    """Of each line the matches, from left to right: the earliest one, of several the first rule's."""
    for line in text.splitlines():
        at = 0
        while at < len(line):
            found = []
            for number, rule in enumerate(grammar["patterns"]):
                begin = re.compile(rule.get("match") or rule["begin"]).search(line, at)
                if begin and begin.end() > begin.start():
                    found.append((begin.start(), number, begin.end(), rule))
            if not found:
                break
            start, _, end, rule = min(found[:], key=lambda f: f[:2])
            yield line[start:end], rule.get("name", "")
            at = end


def check(root):
    folder = os.path.join(root, "editors", "vscode")

    def load(*path):
        with open(os.path.join(folder, *path), encoding="utf-8") as file:
            return json.load(file)

    contributes = load("package.json")["contributes"]
    load(contributes["languages"][0]["configuration"])
    grammar = load(contributes["grammars"][0]["path"])
    wrong = []
    if grammar["scopeName"] != contributes["grammars"][0]["scopeName"]:
        wrong.append("package.json and the grammar disagree about scopeName")
    seen = list(parts(grammar, TEXT))
    for word, scope in WANTED.items():
        if not any(part == word and name.startswith(scope) for part, name in seen):
            wrong.append(f"'{word}' is not {scope}: {[n for p, n in seen if p == word]}")
    return wrong


if __name__ == "__main__":
    faults = check(sys.argv[1])
    print("\n".join(faults) or "editors/vscode is sound")
    sys.exit(bool(faults))
