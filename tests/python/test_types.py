"""The annotations of the package, and that a program that uses it may be checked."""
import subprocess
import sys

import pytest

import colldsl

pytest.importorskip("mypy")

PROGRAM = """
import numpy as np
import colldsl

report: colldsl.Report = colldsl.load("a.coll").verify(ranks=range(1, 65))
times: colldsl.Times = colldsl.load("a").simulate({"L": 1}, ranks=4, bytes=1 << 20)
picture: colldsl.Picture = colldsl.compare(times, times).show("compare", max_events=10)
text: str = picture.svg("dag", rank=2) + report.show().html()
with colldsl.Communicator.local(4) as ranks:
    comm: colldsl.Communicator = ranks[0]
    plan: colldsl.Plan = comm.plan("allreduce", np.zeros(3), np.zeros(3))
"""


def mypy(*arguments):
    return subprocess.run([sys.executable, "-m", "mypy", "--cache-dir=/dev/null", *arguments],
                          capture_output=True, text=True)


def test_the_package(source):
    checked = mypy("--strict", "--ignore-missing-imports", str(source / "python" / "colldsl"))
    assert checked.returncode == 0, checked.stdout


def test_a_program(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    checked = mypy(str(file))
    assert checked.returncode == 0, checked.stdout
    file.write_text(PROGRAM + "colldsl.load(7)\n")
    assert 'incompatible type "int"' in mypy(str(file)).stdout


def test_all_names_exist():
    assert all(hasattr(colldsl, name) for name in colldsl.__all__)
