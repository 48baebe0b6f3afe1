"""What the tests of the Python package share."""
import pathlib

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def source():
    """The top of the tree."""
    return SOURCE


BROKEN = """
collective broken(in x: T[n], out y: T[ranks][n])
  ensures for r in 0..ranks: y[r] == x@r
{
  copy x to y[rank];
}
"""
