#!/usr/bin/env python3
"""Wrong texts of every kind that was once taken for right: what the verifier refuses for some number of ranks is not
proved for all of them.

usage: wrong.py COLLDSL TEXTS
"""
import json
import pathlib
import subprocess
import sys
import tempfile


def report(colldsl, *arguments):
    """The collectives of `verify --json`, by name."""
    done = subprocess.run([colldsl, "verify", "--json", *arguments], capture_output=True, text=True, check=False)
    return {c["name"]: c for c in json.loads(done.stdout)["collectives"]}


def main(colldsl, texts):
    wrong = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for section in pathlib.Path(texts).read_text().split("=== ")[1:]:
            name, text = section.split("\n", 1)
            path = pathlib.Path(folder) / f"{name}.coll"
            path.write_text(text)
            judged = report(colldsl, "--no-warn", "--ranks", "1..6,8", str(path))
            bad = [c for c, summary in judged.items() if not summary["ok"]]
            refused += bool(bad)
            if not bad:
                print(f"{name}: the verifier refuses nothing, so this text proves nothing")
            for collective, proof in report(colldsl, "--all-ranks", "--within", "20", "--up-to", "0",
                                                    str(path)).items():
                if collective in bad and proof["proved"] and not proof["restrictedTo"]:
                    wrong += 1
                    print(f"{name}: '{collective}' is proved for all ranks, but refused for some")
    print(f"{refused} wrong texts, {wrong} proved")
    sys.exit(1 if wrong or not refused else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
