#!/usr/bin/env python3
"""Proves the examples of a page: its blocks marked ```coll, each a file of its own.

usage: examples.py COLLDSL PAGE.md FOLDER
"""
import os
import re
import subprocess
import sys

BLOCK = re.compile(r"^```coll\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main(colldsl, page, folder):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    os.makedirs(folder, exist_ok=True)
    bad = count = 0
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start()) + 1
        path = os.path.join(folder, f"line-{line}.coll")
        with open(path, "w", encoding="utf-8") as file:
            file.write(block[1])
        proof = subprocess.run(
            [colldsl, "verify", path, "--ranks", "1..8"], capture_output=True, text=True
        )
        count += 1
        if proof.returncode != 0:
            bad += 1
            print(f"{page}:{line}: the example is refused\n{proof.stdout}{proof.stderr}")
    print(f"{count - bad} of {count} examples proved")
    return 1 if bad or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
