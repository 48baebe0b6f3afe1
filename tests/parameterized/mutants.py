#!/usr/bin/env python3
"""Makes one small mistake after the other in the collectives of the standard library that are proved for every number
of ranks. A text with a mistake that is still proved for all ranks must be right for the numbers that are tried.

usage: mutants.py COLLDSL STDLIB [--only NAME...] [--every N] [--ranks LIST] [--within SECONDS] [--up-to N]
                  [--seconds N] [--json]
"""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

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


def judged(colldsl, names, within, up_to=0):
    """The report on these collectives or files by name; for those that are not proved for all ranks there is a search
    for a counterexample at up to so many ranks."""
    result = run([colldsl, "verify", "--all-ranks", "--json", "--within", str(within), "--up-to", str(up_to), *names])
    try:
        return {c["name"]: c for c in json.loads(result.stdout)["collectives"]}
    except json.JSONDecodeError:
        return None  # it does not compile


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
    parser.add_argument("--only", nargs="+", help="these collectives, not all that STDLIB/proofs.txt says are proved")
    parser.add_argument("--every", type=int, default=1, help="tries each N-th mistake only")
    parser.add_argument("--ranks", default="1..13,16,17")
    parser.add_argument("--within", type=int, default=20)
    parser.add_argument("--up-to", type=int, default=0, help="searches so far for counterexamples to what is not proved")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="tries no more mistakes after that time")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    begin = time.monotonic()
    stamps = [line.split(" | ") for line in (args.stdlib / "proofs.txt").read_text().splitlines() if " | " in line]
    chosen = args.only or [stamp[0] for stamp in stamps if "all" in stamp[3:4]]
    texts = {}
    for file in sorted(args.stdlib.glob("*.coll")):
        for match in COLLECTIVE.finditer(file.read_text()):
            # The proofs leave `deterministic` out.
            if match.group(1) in chosen:
                texts[match.group(1)] = match.group(0).removeprefix("deterministic ")
    right = {}  # by name: whether the text without a mistake is proved
    number = tried = harmless = refused = 0
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "mutant.coll"
        mistakes = [(name, mutant) for name, text in sorted(texts.items()) for mutant in mutants(text)]
        random.Random(1).shuffle(mistakes)  # those that the time allows are a sample
        for name, mutant in mistakes:
            number += 1
            if number % args.every or not right.get(name, True):
                continue
            if time.monotonic() - begin > args.seconds:
                break
            if name not in right:
                right[name] = judged(args.colldsl, [name], args.within)[name]["proved"]
            if not right[name]:
                continue
            path.write_text(mutant + "\n")
            report = judged(args.colldsl, [str(path)], args.within, args.up_to)
            if report is None or name not in report:
                continue
            tried += 1
            if not report[name]["proved"]:
                refused += "counterexample" in report[name]
                continue
            # A proof for operators that commute is tried with one.
            op = ["--op", "sum"] if report[name]["restrictedTo"] and "op:" in mutant else []
            check = run([args.colldsl, "verify", "--no-warn", "--ranks", args.ranks, *op, str(path)])
            harmless += check.returncode == 0
            if check.returncode != 0:
                wrong.append(mutant)
                print(f"{name}: proved for all ranks, but\n{mutant}\n{check.stdout}{check.stderr}", file=sys.stderr,
                      flush=True)
    counts = {"collectives": sum(right.values()), "mistakes": tried, "harmless": harmless,
              "notProved": tried - harmless - len(wrong), "refused": refused, "wrongAndProved": len(wrong)}
    if args.json:
        print(json.dumps({"ok": not wrong, "every": args.every, "upTo": args.up_to, **counts}, indent=2))
    else:
        print(f"{counts['collectives']} collectives, {tried} mistakes: {harmless} proved and harmless, "
              f"{counts['notProved']} not proved, {refused} of these refused at up to {args.up_to} ranks, "
              f"{len(wrong)} wrong and proved")
    if tried == 0:
        sys.exit("no mistake was tried")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
