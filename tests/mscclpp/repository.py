#!/usr/bin/env python3
"""Verifies the plans in a checkout of MSCCL++, and those that its DSL's test programs make, and compares the verdicts with
the tables of docs/mscclpp.md. Plans that are proved are run, too.

usage: repository.py COLLDSL [CHECKOUT] [--page FILE]

  CHECKOUT   of github.com/microsoft/mscclpp (default: $COLLDSL_MSCCLPP); without one it is skipped, with exit code 77
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAMS = "python/mscclpp/language/tests"
GIVEN = {"--name": None, "--num_gpus": "4", "--gpus_per_node": "4", "--nnodes": "2", "--tbg_size": "2"}
# The package itself needs a GPU's libraries; its DSL needs none of them.
RUN = """
import os, runpy, sys, types
package = types.ModuleType("mscclpp")
package.__path__ = [sys.argv[1]]
sys.modules["mscclpp"] = package
sys.path.insert(0, os.path.dirname(sys.argv[1]))
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def rows(page):
    """Pairs of a plan, or a program, as the tables of the page name it, and its verdict."""
    with open(page, encoding="utf-8") as text:
        section = text.read().split("## The plans in the repository of MSCCL++")[1].split("\n## ")[0]
    folder = ""
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 3 or not cells[0].startswith("`"):
            continue
        for name in re.findall(r"`([^`]*)`", cells[0]):
            if "/" in name and not name.startswith("..."):
                folder = os.path.dirname(name)
            if not name.endswith("/"):
                yield os.path.join(folder, os.path.basename(name)), cells[1]


def make(checkout, program, folder):
    """The plan of a program in a file, or why there is none."""
    path = os.path.join(checkout, PROGRAMS, program + ".py")
    with open(path, encoding="utf-8") as text:
        options = re.findall(r'add_argument\("(--\w+)"', text.read())
    words = []
    for option in options:
        if option in GIVEN:
            words += [option, GIVEN[option] or os.path.basename(program)]
    package = os.path.join(checkout, "python", "mscclpp")
    run = subprocess.run([sys.executable, "-B", "-c", RUN, package, path, *words], capture_output=True, text=True, check=False)
    try:
        plan = json.loads(run.stdout)
    except json.JSONDecodeError:
        return None, (run.stderr.strip().splitlines() or ["it prints no plan"])[-1]
    file = os.path.join(folder, program.replace("/", "_") + ".json")
    with open(file, "w", encoding="utf-8") as out:
        json.dump(plan, out, indent=1)
    return file, ""


def verdict(colldsl, file):
    """The verdict on a plan, in the words of the page, and its reason."""
    run = subprocess.run([colldsl, "verify", "--json", file], capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1):
        return f"ends with {run.returncode}", run.stderr
    plan = json.loads(run.stdout)["plans"][0]
    if "error" in plan:
        return "not read", plan["error"]
    if plan["ok"]:
        return "proved", plan["for"]
    return "refused", f'{plan["failures"][0]["text"]} [{plan["for"]}]'


def programs(checkout):
    top = os.path.join(checkout, PROGRAMS)
    for part in ("single_node", "multi_node"):
        for folder, _, files in os.walk(os.path.join(top, part)):
            for file in files:
                if file.endswith(".py"):
                    yield os.path.relpath(os.path.join(folder, file), top)[:-3]


def plans(checkout):
    for top in ("test/execution-files", "test/executor-tests/execution-plans"):
        for file in os.listdir(os.path.join(checkout, top)):
            if file.endswith(".json"):
                yield os.path.join(top, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("colldsl")
    parser.add_argument("checkout", nargs="?", default=os.environ.get("COLLDSL_MSCCLPP", ""))
    parser.add_argument("--page", default=os.path.join(ROOT, "docs", "mscclpp.md"))
    args = parser.parse_args()
    if not os.path.isdir(os.path.join(args.checkout or "/nonexistent", PROGRAMS)):
        print("skipped: no checkout of github.com/microsoft/mscclpp; its path is the second argument, or COLLDSL_MSCCLPP")
        return 77
    expected = dict(rows(args.page))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted([*plans(args.checkout), *programs(args.checkout)]):
            if name.endswith(".json"):
                file, why = os.path.join(args.checkout, name), ""
            else:
                file, why = make(args.checkout, name, folder)
            found, reason = verdict(args.colldsl, file) if file else ("none", why)
            print(f"{name}: {found}: {reason}")
            wanted = expected.pop(name, "not in the tables")
            if found != wanted.split(" ")[0] and found != wanted:
                failed += 1
                print(f"  but the page says: {wanted}")
            if found == "proved":
                run = subprocess.run([args.colldsl, "run", file, "--iters", "4"], capture_output=True, text=True, check=False)
                if run.returncode != 0:
                    failed += 1
                    print(f"  but run ends with {run.returncode}: {run.stderr}")
    for name in expected:
        failed += 1
        print(f"{name} is in the tables, and not in the checkout")
    print(f"{failed} differences" if failed else "all as the page says")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
