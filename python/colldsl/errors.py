"""The exceptions of colldsl. Their texts are those of the program `colldsl` and of the C API."""
from __future__ import annotations

import builtins


class Error(Exception):
    """What all exceptions of colldsl are."""


class ArgumentError(Error, ValueError):
    """An argument makes no sense: an unknown name, a wrong number, memory of the wrong kind."""


class ProgramError(Error):
    """A program or a schedule cannot be read, compiled, instantiated or simulated. The text is what
    the program `colldsl` prints, with the lines of the source."""


class NotProved(Error):
    """Report.check() of a report with counterexamples."""


class StateError(Error, RuntimeError):
    """Not possible now: what is used is closed, runs, or is not committed."""


class LibraryError(Error):
    """A library cannot be read."""


class SetupError(Error):
    """Ranks could not be connected."""


class PlanError(Error):
    """A plan cannot be made from what was given, or ranks gave different things: which, and both."""


class RunError(Error):
    """A run failed: a rank died, failed or left, or ranks disagree."""


class TimeoutError(Error, builtins.TimeoutError):  # pylint: disable=redefined-builtin
    """A run did not end in time."""


class CancelledError(Error):
    """The run was cancelled, or another of the local ranks failed."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory."""
