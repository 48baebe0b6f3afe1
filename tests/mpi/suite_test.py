#!/usr/bin/env python3
"""suite_test.py BUILD MPI: tests/mpi/suite sees what passes, fails, hangs and is slower with colldsl loaded,
and leaves nothing running."""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SERVED = 'case "$LD_PRELOAD" in *colldsl*) '
PROGRAMS = {
    "good": "echo No Errors",
    "never": "echo No Errors; exit 1",
    "silent": "echo done",
    "fails": SERVED + "exit 3;; esac; echo No Errors",
    "wrong": SERVED + "echo Found 1 errors; exit;; esac; echo No Errors",
    "hangs": SERVED + "sleep 7654;; esac; echo No Errors",
    "slower": SERVED + "sleep 4;; esac; echo No Errors",
    "argued": '[ "$1" = -count=2 ] && [ "$KIND" = odd ] && echo No Errors',
    "many": "exit 1",
    "failing": "exit 1",
}
LIST = """# a comment
good 2
never 1
silent 1
fails 1
wrong 1
hangs 2
slower 1
argued 1 arg=-count=2 env=KIND=odd
many 99
failing 1 xfail=true
absent 1
"""


class Suite(unittest.TestCase):
    def run_suite(self, folder, *options):
        words = [os.path.join(HERE, "suite"), BUILD, "--mpi", MPI, "--programs", folder, *options]
        return subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=120)

    def verdicts(self, folder, *options):
        table = os.path.join(folder, f"table-{options[-1]}")  # runs add to a table
        done = self.run_suite(folder, "--repetitions", "2", "--tsv", table, *options)
        if done.returncode == 77:
            print(done.stdout, end="")
            sys.exit(77)
        self.assertEqual(done.returncode, 1)
        with open(table) as file:
            return {row[1].split()[0]: row[3] for row in (line.split("\t") for line in list(file)[1:])}

    def test_sees(self):
        with tempfile.TemporaryDirectory() as folder:
            below = os.path.join(folder, "kind")
            os.mkdir(below)
            for name, text in PROGRAMS.items():
                with open(os.path.join(below, name), "w") as file:
                    file.write(f"#!/bin/sh\n{text}\n")
                    os.fchmod(file.fileno(), 0o755)
            for path, text in ((folder, "kind\n"), (below, LIST)):
                with open(os.path.join(path, "testlist"), "w") as file:
                    file.write(text)
            others = [name for name in PROGRAMS if name not in ("hangs", "slower")]
            self.assertEqual(self.verdicts(folder, "--patience", "60", "--slower", "9", *others), {
                "kind/good": "passes", "kind/never": "not alone", "kind/silent": "not alone",
                "kind/fails": "fails", "kind/wrong": "fails", "kind/argued": "passes"})
            # However long a launcher takes to start on a loaded machine.
            self.assertEqual(self.verdicts(folder, "--patience", "0.1", "hangs"), {"kind/hangs": "hangs"})
            # Even if that takes seven seconds.
            self.assertEqual(self.verdicts(folder, "--patience", "60", "--slower", "1.5", "slower"),
                             {"kind/slower": "slower"})
            self.assertEqual(self.run_suite(folder, "good", "argued").returncode, 0)
            self.assertEqual(self.run_suite(folder, "absent").returncode, 77)
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{process}/cmdline") as file:
                    self.assertNotIn("sleep\x007654", file.read())
            except OSError:
                pass


if __name__ == "__main__":
    BUILD, MPI = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
