#!/usr/bin/env python3
"""Checks that the C++ files are formatted by clang-format 14, Debian 12's.

usage: format.py ROOT; exits with 77 where there is no such clang-format
"""
import os
import shutil
import subprocess
import sys

import tree

SKIPPED = 77


def check(root, formatter):
    """Complaints of clang-format, empty if there are none."""
    paths = [os.path.join(root, path) for path in tree.files(root, ".h", ".hpp", ".c", ".cpp", ".cu")]
    result = subprocess.run(
        [formatter, "--dry-run", "-Werror", *paths], capture_output=True, text=True
    )
    return result.stderr if result.returncode else ""


if __name__ == "__main__":
    formatter = shutil.which("clang-format-14")
    if not formatter:
        print("skipped: clang-format-14 is not installed")
        sys.exit(SKIPPED)
    complaints = check(sys.argv[1], formatter)
    print(complaints or "all C++ files are formatted")
    sys.exit(1 if complaints else 0)
