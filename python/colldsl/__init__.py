"""colldsl from Python: collectives as programs that are proved, simulated and run.

import colldsl

ring = colldsl.load("ring.coll")
report = ring.verify(ranks=range(1, 65))
times = ring.simulate(ranks=8, bytes=1 << 20)

docs/python.md tells of the rest.
"""
from . import _interpreter  # first: it may refuse
from . import _colldsl
from .builder import Collective, RankTrace, Slice, collective
from .errors import (
    ArgumentError,
    CancelledError,
    Error,
    LibraryError,
    NotProved,
    OutOfMemoryError,
    PlanError,
    ProgramError,
    RunError,
    SetupError,
    StateError,
    TimeoutError,
)
from .choice import Alternative, Choice, choose
from .communicators import Communicator, LocalRanks
from .plans import Graph, Plan, PlanInfo
from .picture import Picture
from .program import (
    Comparison,
    Counterexample,
    LevelTraffic,
    Program,
    Report,
    Schedule,
    Times,
    compare,
    load,
    parse,
)
from .sweep import Sweep, sweep

__version__: str = _colldsl.version

__all__ = [
    "Alternative",
    "ArgumentError",
    "CancelledError",
    "Choice",
    "Collective",
    "Communicator",
    "Comparison",
    "Counterexample",
    "Error",
    "Graph",
    "LevelTraffic",
    "LibraryError",
    "LocalRanks",
    "NotProved",
    "OutOfMemoryError",
    "Picture",
    "Plan",
    "PlanError",
    "PlanInfo",
    "Program",
    "ProgramError",
    "RankTrace",
    "Report",
    "RunError",
    "Schedule",
    "SetupError",
    "Slice",
    "StateError",
    "Sweep",
    "Times",
    "TimeoutError",
    "choose",
    "collective",
    "compare",
    "load",
    "parse",
    "sweep",
]
