"""Programs, schedules, proofs and simulations."""
from __future__ import annotations

import html
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional, SupportsIndex, Union

import numpy as np
import numpy.typing as npt

from . import _colldsl
from ._words import Model, Number, Numbers, fields
from .errors import ArgumentError, NotProved
from .picture import Picture, show_runs, table

if TYPE_CHECKING:
    import pandas

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Counterexample:
    """A proof that failed: for which call, on which machine (as `topology` of verify(); empty where
    the schedule depends on none), and what the verifier shows."""

    collective: str
    ranks: int
    bytes: int
    in_place: bool
    parameters: str
    topology: str
    text: str
    _proof: "_Proof" = field(repr=False, compare=False)

    def show(self) -> Picture:
        """Draws the ops that the failure names, and what leads to them; wrong bytes where they are."""
        proof = self._proof
        return Picture(
            _colldsl.Shown.of_proof(proof.program, proof.request, self.collective, proof.task)
        )

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class _Proof:
    """One of those that verify() tried."""

    program: _colldsl.Program
    request: _colldsl.ProofRequest
    task: int


@dataclass(frozen=True)
class _Proved:
    """The proofs of one collective, and the call that made them."""

    found: _colldsl.Verified
    program: _colldsl.Program
    request: _colldsl.ProofRequest


class Report:
    """What came of the proofs of one collective, or of several. True if all of them hold."""

    def __init__(self, proved: list[_Proved]) -> None:
        self._proved = proved

    @property
    def _parts(self) -> list[_colldsl.Verified]:
        return [proved.found for proved in self._proved]

    @property
    def proofs(self) -> int:
        """How many were tried."""
        return sum(part.proofs for part in self._parts)

    @property
    def refused(self) -> int:
        """How many of them failed."""
        return sum(part.refused for part in self._parts)

    @property
    def ok(self) -> bool:
        """There were proofs, and all hold."""
        return self.proofs > 0 and all(part.ok for part in self._parts)

    @property
    def collectives(self) -> list[str]:
        return [part.name for part in self._parts]

    @property
    def counterexamples(self) -> list[Counterexample]:
        """As `colldsl verify` shows them: of few ranks first; of no bytes none that fails as one of
        some bytes does."""
        return [
            Counterexample(
                part.found.name, c.ranks, c.bytes, c.in_place, c.parameters, c.topology, c.text,
                _Proof(part.program, part.request, c.task),
            )
            for part, c in self._failures()
        ]

    def _failures(self) -> list[tuple[_Proved, _colldsl.Counterexample]]:
        shown: list[tuple[_Proved, _colldsl.Counterexample]] = []
        for name in dict.fromkeys(self.collectives):
            failures = [
                (part, c)
                for part in self._proved
                if part.found.name == name
                for c in part.found.counterexamples
            ]
            kept = _colldsl.Program.shown([(c.bytes, c.pattern) for _, c in failures])
            shown += [failures[i] for i in kept]
        return shown

    def show(self, which: int = 0) -> Picture:
        """A page of one of the counterexamples, else of the first one."""
        found = self.counterexamples
        if not found:
            raise ArgumentError("there is no counterexample to show")
        if not -len(found) <= which < len(found):
            raise ArgumentError(f"there is no counterexample {which} of {len(found)}")
        return found[which].show()

    def _repr_html_(self) -> str:
        rows = [
            (part.name, "proved" if part.ok else "refused", part.proofs, part.refused, part.range)
            for part in self._parts
        ]
        page = table(["collective", "", "proofs", "refused", "for"], rows)
        found = self.counterexamples
        if found:
            page += f"<pre>{html.escape(found[0].text)}</pre>"
        if len(found) > 1:
            page += f"<p>{len(found) - 1} more in counterexamples; show() draws one.</p>"
        return page

    def check(self) -> "Report":
        """Raises NotProved, with the first counterexample, unless ok."""
        if not self.ok:
            found = self.counterexamples
            more = [part.promises_of_nothing for part in self._parts if part.promises_of_nothing]
            shown = [found[0].text] if found else more
            raise NotProved("\n".join([*shown, str(self)]).rstrip())
        return self

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return "\n".join(part.summary for part in self._parts) or "nothing was proved"

    def __repr__(self) -> str:
        return f"<colldsl.Report: {self}>"


@dataclass(frozen=True)
class LevelTraffic:
    """Messages that cross one level of the machine and stay within the next one."""

    crosses: Optional[str]
    within: Optional[str]
    messages: int
    bytes: int


class Times:
    """A simulated run."""

    def __init__(
        self,
        simulated: _colldsl.Simulated,
        program: _colldsl.Program,
        request: _colldsl.SimulationRequest,
    ) -> None:
        self._run = (program, request)
        self.name: str = simulated.name
        self.bytes: int = simulated.bytes
        """n times the size of T."""
        self.finish_ns: npt.NDArray[np.uint64] = simulated.finish_ns
        """Per rank: when it is done."""
        self.makespan_ns: int = simulated.makespan_ns
        """When the last rank is done."""
        self.ops: int = simulated.ops
        self.messages: int = simulated.messages
        self.traffic: list[LevelTraffic] = [
            LevelTraffic(level.crosses or None, level.within or None, level.messages, int(level.bytes))
            for level in simulated.traffic
        ]
        """From the node outwards, by the levels of `topology`."""

    @property
    def ranks(self) -> int:
        return len(self.finish_ns)

    def frame(self) -> "pandas.DataFrame":
        """A DataFrame with a row per rank; needs pandas."""
        import pandas

        return pandas.DataFrame(
            {"finish_ns": self.finish_ns}, index=pandas.RangeIndex(self.ranks, name="rank")
        )

    def show(self, view: Optional[str] = None, *, max_events: Optional[int] = None) -> Picture:
        """A page of the run over space and time, and of its schedule. `view` and `max_events` as in
        `colldsl show`."""
        return show_runs([self._run], view, max_events)

    def _repr_html_(self) -> str:
        return table(_RUN, [_run_row(self)])

    def __repr__(self) -> str:
        return f"<colldsl.Times: {self.name}, {self.ranks} ranks, {self.makespan_ns} ns>"


_RUN = ["collective", "ranks", "bytes", "time, us", "ops", "messages"]


def _run_row(run: Times) -> tuple[object, ...]:
    return run.name, run.ranks, run.bytes, f"{run.makespan_ns / 1e3:.3f}", run.ops, run.messages


class Comparison:
    """Several runs beside each other. Made by compare()."""

    def __init__(self, runs: tuple[Times, ...]) -> None:
        self.runs = runs

    def show(self, view: Optional[str] = None, *, max_events: Optional[int] = None) -> Picture:
        """A page of all runs, on one time axis; "compare" is a table of them."""
        return show_runs([run._run for run in self.runs], view, max_events)

    def frame(self) -> "pandas.DataFrame":
        """A DataFrame with a row per run; needs pandas."""
        import pandas

        return pandas.DataFrame([_run_row(run) for run in self.runs], columns=_RUN)

    def _repr_html_(self) -> str:
        fastest = min(run.makespan_ns for run in self.runs)
        rows = [
            (*_run_row(run), f"{run.makespan_ns / fastest:.2f}" if fastest else "")
            for run in self.runs
        ]
        return table([*_RUN, "of the fastest"], rows)

    def __repr__(self) -> str:
        return f"<colldsl.Comparison: {', '.join(run.name for run in self.runs)}>"


def compare(*runs: Times) -> Comparison:
    """Simulated runs beside each other: compare(ring.simulate(ranks=8), tree.simulate(ranks=8))."""
    if len(runs) < 2:
        raise ArgumentError("there is nothing to compare: name two runs or more")
    return Comparison(runs)


class _Readable:
    """What programs and schedules have in common."""

    _native: _colldsl.Program

    @property
    def remarks(self) -> str:
        """Warnings of the compiler, and which rule chose a collective."""
        return self._native.remarks

    def verify(
        self,
        ranks: Optional[Numbers] = None,
        bytes: Optional[Numbers] = None,
        *,
        name: Optional[str] = None,
        type: Optional[str] = None,
        op: Optional[str] = None,
        parameters: Optional[Mapping[str, Any]] = None,
        roots: Optional[Numbers] = None,
        topology: Optional[str] = None,
        in_place: bool = False,
        thorough: bool = False,
        passes: Optional[str] = None,
        channel_slots: Optional[int] = None,
        max_failures: Optional[int] = None,
    ) -> Report:
        """As `colldsl verify`. What fails is no exception but in the report; Report.check() raises.
        Ctrl-C ends it."""
        request = _colldsl.ProofRequest(fields(**locals()))
        found = self._native.verify(request)
        return Report([_Proved(part, self._native, request) for part in found])

    def simulate(
        self,
        model: Optional[Model] = None,
        *,
        ranks: Optional[SupportsIndex] = None,
        bytes: Optional[Number] = None,
        name: Optional[str] = None,
        type: Optional[str] = None,
        op: Optional[str] = None,
        parameters: Optional[Mapping[str, Any]] = None,
        topology: Optional[str] = None,
        network: Optional[str] = None,
        receive_slots: Optional[int] = None,
        in_place: bool = False,
        passes: Optional[str] = None,
        noise: Optional[str] = None,
        skew_ns: Optional[int] = None,
        seed: Optional[int] = None,
    ) -> Times:
        """As `colldsl sim`: `model` is a file, "cluster" or "profile", or parameters of LogGOP, as in
        {"L": 2500, "o": 1500}. Ctrl-C ends it."""
        request = _colldsl.SimulationRequest(fields(**locals()))
        return Times(self._native.simulate(request), self._native, request)

    def show(
        self,
        model: Optional[Model] = None,
        *,
        view: Optional[str] = None,
        max_events: Optional[int] = None,
        **options: Any,
    ) -> Picture:
        """As `colldsl show`: a page of a simulated run and its schedule. `options` as simulate()
        takes them."""
        return self.simulate(model, **options).show(view, max_events=max_events)


class Program(_Readable):
    """Collectives, for any number of ranks. Made by load() and collective()."""

    def __init__(self, native: _colldsl.Program) -> None:
        self._native = native
        self._libraries: dict[Optional[str], _colldsl.Library] = {}

    @property
    def collectives(self) -> list[str]:
        return self._native.collectives()

    def instantiate(
        self,
        ranks: Optional[SupportsIndex] = None,
        bytes: Optional[Number] = None,
        *,
        name: Optional[str] = None,
        type: Optional[str] = None,
        op: Optional[str] = None,
        parameters: Optional[Mapping[str, Any]] = None,
        topology: Optional[str] = None,
        in_place: bool = False,
        passes: Optional[str] = None,
        model: Optional[Model] = None,
        network: Optional[str] = None,
        prove: bool = True,
    ) -> "Schedule":
        """As `colldsl opt`: the schedule of all ranks. What passes make is proved, unless `prove` is
        false. `bytes` is n times the size of T."""
        request = _colldsl.MakeRequest(fields(**locals()))
        return Schedule(self._native.instantiate(request))

    def library(self, name: Optional[str] = None) -> _colldsl.Library:
        """For plans. Compiled once."""
        if name not in self._libraries:
            self._libraries[name] = _colldsl.Library(self._native.library(name))
        return self._libraries[name]

    def __repr__(self) -> str:
        return f"<colldsl.Program: {', '.join(self.collectives)}>"


class Schedule(_Readable):
    """The dependency graphs of all ranks, for one number of ranks and a range of sizes."""

    def __init__(self, native: _colldsl.Program) -> None:
        self._native = native
        self._shape = native.shape()

    @property
    def name(self) -> str:
        return self._shape.name

    @property
    def ranks(self) -> int:
        return self._shape.ranks

    @property
    def elements(self) -> int:
        """n."""
        return self._shape.elements

    @property
    def sizes(self) -> tuple[int, int]:
        """The least and the greatest n that the schedule is for."""
        return self._shape.min_elements, self._shape.max_elements

    @property
    def ops(self) -> npt.NDArray[np.uint64]:
        """Per rank: how many ops it has."""
        return self._shape.ops

    @property
    def text(self) -> str:
        """The text form (docs/textform.md)."""
        return self._native.text()

    def passes(
        self,
        passes: str,
        *,
        model: Optional[Model] = None,
        network: Optional[str] = None,
        topology: Optional[str] = None,
        prove: bool = True,
    ) -> "Schedule":
        """The schedule that these passes on DAGs make of it: "default", "edge-coloring,fuse". It is
        proved, unless `prove` is false."""
        request = _colldsl.MakeRequest(fields(**locals()))
        return Schedule(self._native.instantiate(request))

    def __repr__(self) -> str:
        return f"<colldsl.Schedule: {self.name}, {self.ranks} ranks, {int(self.ops.sum())} ops>"


def load(*sources: Path, include: Iterable[Path] = ()) -> Program:
    """Reads files of any kind that `colldsl` reads, or takes collectives and functions of the
    standard library by their names. Files are searched in `include` too."""
    reading = _colldsl.SingleRequest(fields(include=include))
    program = Program(_colldsl.Program.read([os.fspath(source) for source in sources], reading))
    program._native.collectives()  # an error for a name that is unknown
    return program


def parse(text: str, name: str = "text", include: Iterable[Path] = ()) -> Program:
    """Compiles source text of the language. Messages call it `name`."""
    reading = _colldsl.SingleRequest(fields(include=include))
    return Program(_colldsl.Program.of_text(name, text, reading))
