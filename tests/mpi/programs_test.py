#!/usr/bin/env python3
"""programs_test.py BUILD MPI: bench/programs sees which programs have other results with colldsl loaded,
none, or fail, and which are not there. Scripts stand for the programs."""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.join(HERE, "..", "..", "bench", "programs")
SERVED = 'case "$LD_PRELOAD" in *colldsl*) '
RIGHT = "echo ' Verification    =    SUCCESSFUL'"


class Programs(unittest.TestCase):
    def measure(self, script):
        """Runs the benchmark with a script in the place of NPB's CG, or with none. Each of two ranks runs it."""
        with tempfile.TemporaryDirectory() as folder:
            below = os.path.join(folder, MPI, "bin")
            os.makedirs(below)
            if script:
                with open(os.path.join(below, "cg.A.x"), "w") as file:
                    file.write(f"#!/bin/sh\n{script}\n")
                    os.fchmod(file.fileno(), 0o755)
            return subprocess.run([BENCH, BUILD, "--mpi", MPI, "--programs", folder, "--only", "NPB CG", "--ranks", "2",
                                   "--rounds", "2"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=100)

    def check(self, script, code, *lines):
        done = self.measure(script)
        self.assertEqual(done.returncode, code, done.stdout)
        for line in lines:
            self.assertIn(line, done.stdout)

    def test_same(self):
        self.check(f"{RIGHT}; echo ' Time in seconds = 2.5'; echo 'collective times: all 3 calls 0.5 s of 2.0 s'", 0,
                   "the same", "25%", "5.000     5.000   1.00x")

    def test_other(self):
        self.check(f"{SERVED}echo ' Verification = UNSUCCESSFUL';; *) {RIGHT};; esac", 1, "other results",
                   "alone only: Verification = SUCCESSFUL")

    def test_none(self):
        self.check("echo ' Verification = UNSUCCESSFUL'", 1, "other results", "alone it prints no result")

    def test_fails(self):
        self.check(f"{SERVED}exit 3;; esac; {RIGHT}", 1, f"NPB CG, class A, {MPI}, 2 ranks ends with 3 served")

    def test_absent(self):
        self.check(None, 77, "no cg.A.x is below", "no program is there")


if __name__ == "__main__":
    BUILD, MPI = sys.argv[1:3]
    if subprocess.run(["which", f"mpirun.{MPI}"], capture_output=True).returncode:
        print(f"skipped: mpirun.{MPI} is not there")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
