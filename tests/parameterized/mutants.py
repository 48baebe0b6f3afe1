#!/usr/bin/env python3
"""Makes one small mistake after the other in the collectives of the standard library that are proved for every number
of ranks. A text with a mistake that is still proved for all ranks must be right for the numbers that are tried.

usage: mutants.py COLLDSL STDLIB [--every N] [--ranks LIST] [--within SECONDS]
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# A word, and what may stand in its place.
CHANGES = {
    "+": ["-"], "-": ["+"], "<": ["<="], "<=": ["<"], ">": [">="], "==": ["!="], "!=": ["=="], "0": ["1"],
    "1": ["0", "2"], "2": ["1"], "before": ["after"], "after": ["before"], "ranks": ["(ranks - 1)"],
    "rank": ["(rank + 1)"], "root": ["0"], "and": ["or"], "or": ["and"], "true": ["false"],
    "left": ["right"], "right": ["left"], "ahead": ["behind"], "behind": ["ahead"], "parent": ["root"],
    "send": ["recv"], "recv": ["send"], "..": ["..="], "..=": [".."], "x": ["y"], "y": ["x"],
}
TOKEN = re.compile(r"\.\.=|\.\.|==|!=|<=|>=|\w+|\S")
COLLECTIVE = re.compile(r"^(?:deterministic )?collective (\w+)\(.*?^}", re.MULTILINE | re.DOTALL)


def run(command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def proved(colldsl, names, within):
    """Of these collectives or files the names that are proved for all ranks."""
    result = run([colldsl, "verify", "--all-ranks", "--json", "--within", str(within), "--up-to", "0",
                  *names])
    try:
        report = json.loads(result.stdout)
    except json.JSONDecodeError:
        return None  # it does not compile
    return {c["name"]: c for c in report["collectives"] if c["proved"]}


def body_of(text):
    """Where the statements begin."""
    return text.index("\n{") + 2


def mutants(text):
    for token in TOKEN.finditer(text, body_of(text)):
        line = text.rfind("\n", 0, token.start())
        if "//" in text[line:token.start()]:
            continue
        for other in CHANGES.get(token.group(), []):
            yield text[:token.start()] + other + text[token.end():]
    lines = text.split("\n")
    for i, line in enumerate(lines):  # one statement less
        if line.strip().endswith(";"):
            yield "\n".join(lines[:i] + lines[i + 1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("colldsl")
    parser.add_argument("stdlib", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1, help="tries each N-th mistake only")
    parser.add_argument("--ranks", default="1..13,16,17")
    parser.add_argument("--within", type=int, default=20)
    args = parser.parse_args()
    texts = {}
    for file in sorted(args.stdlib.glob("*.coll")):
        for match in COLLECTIVE.finditer(file.read_text()):
            # The proofs leave `deterministic` out.
            texts[match.group(1)] = match.group(0).removeprefix("deterministic ")
    right = {}  # by name: whether the text without a mistake is proved
    number = tried = harmless = 0
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "mutant.coll"
        for name, text in sorted(texts.items()):
            for mutant in mutants(text):
                number += 1
                if number % args.every:
                    continue
                if name not in right:
                    right[name] = name in proved(args.colldsl, [name], args.within)
                if not right[name]:
                    break
                path.write_text(mutant + "\n")
                still = proved(args.colldsl, [str(path)], args.within)
                if still is None:
                    continue
                tried += 1
                if name not in still:
                    continue
                # A proof for operators that commute is tried with one.
                op = ["--op", "sum"] if still[name]["restrictedTo"] and "op:" in mutant else []
                check = run([args.colldsl, "verify", "--no-warn", "--ranks", args.ranks, *op, str(path)])
                harmless += check.returncode == 0
                if check.returncode != 0:
                    wrong.append(mutant)
                    print(f"{name}: proved for all ranks, but\n{mutant}\n{check.stdout}{check.stderr}", flush=True)
    print(f"{sum(right.values())} collectives, {tried} mistakes: {harmless} harmless, "
          f"{tried - harmless - len(wrong)} not proved, {len(wrong)} wrong and proved")
    if tried == 0:
        sys.exit("no mistake was tried")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
