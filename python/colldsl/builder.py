"""Collectives that are written in Python: a function is called for each rank, and the operations
that it names become the program of that rank, which is compiled and proved as text is."""
from __future__ import annotations

import functools
import inspect
import itertools
import linecache
import os
import re
import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, NamedTuple, NoReturn, Optional, SupportsIndex, Union

from . import _colldsl
from ._words import Model, Number, Numbers, integer, integers, is_integer
from .errors import ArgumentError
from .picture import Picture
from .program import Program, Report, Schedule, Times

_BUFFER = re.compile(r"\b(?:in|out|inout)\s+(\w+)\s*:")
_MOST_COLUMNS = 0xFFFF  # that a place can have
_REDUCTION = re.compile(r"\b(\w+)\s*:\s*reduction\b")


class Slice:
    """A buffer, or a part of one."""

    def __init__(self, text: str, rank: Optional[int] = None) -> None:
        self._text = text
        self._rank = rank  # whose temporary it is

    def __getitem__(self, index: Union[SupportsIndex, slice]) -> "Slice":
        """A block, or the blocks or elements from one to before another, from their numbers."""
        if not isinstance(index, slice):
            return Slice(f"{self._text}[{integer(index, f'index of {self}')}]", self._rank)
        if index.start is None or index.stop is None or index.step is not None:
            raise ArgumentError("a part of a buffer is written [first:end], with both numbers")
        first = integer(index.start, f"begin of a part of {self}")
        end = integer(index.stop, f"end of a part of {self}")
        return Slice(f"{self._text}[{first}..{end}]", self._rank)

    def part(self, index: SupportsIndex, of: SupportsIndex) -> "Slice":
        """Part `index` of so many parts, whose lengths differ by one element at most."""
        which = integer(index, f"part of {self}")
        parts = integer(of, f"parts of {self}")
        return Slice(f"part({self._text}, {which} of {parts})", self._rank)

    # Python would take x[0], x[1] and so on without end.
    def __iter__(self) -> NoReturn:
        raise ArgumentError(
            f"'{self}' cannot be iterated over, as its length is known when it runs; "
            f"write: for r in range(me.ranks): ... {self}[r]"
        )

    def __contains__(self, item: object) -> NoReturn:
        raise ArgumentError(f"'in {self}' has no meaning: what '{self}' holds is known when it runs")

    def __str__(self) -> str:
        return self._text


class _Place(NamedTuple):
    """The place of an operation in Python; lines and columns from 1."""

    file: str
    line: int
    column: int


def _place_of(frame: FrameType) -> _Place:
    """The call that a frame is in; before Python 3.11 the begin of its line."""
    line, column = frame.f_lineno, None
    if sys.version_info >= (3, 11):
        position = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
        if position[0] is not None and position[2] is not None:
            line, column = position[0], position[2] + 1
    if column is None:
        text = linecache.getline(frame.f_code.co_filename, line, frame.f_globals)
        column = len(text) - len(text.lstrip()) + 1
    return _Place(frame.f_code.co_filename, line, column)


def _printable(path: str) -> str:
    """The name of a file, for comments and messages."""
    return "".join(c if c.isprintable() else "?" for c in os.path.basename(path))


class _Traced:
    """A text of the language, and the places in Python that its lines stand for."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._number = 1
        self._files: dict[str, list[str]] = {}  # lines of each, by its path
        self.places: list[tuple[int, int, int, int]] = []

    @property
    def text(self) -> str:
        return "\n".join([*self._lines, ""])

    @property
    def files(self) -> list[tuple[str, str]]:
        return [(_printable(path), "".join(lines)) for path, lines in self._files.items()]

    def add(self, line: str, place: Optional[_Place] = None) -> None:
        if place:
            self._note(place)
            line += f" // {_printable(place.file)}:{place.line}"
        self._lines.append(line)
        self._number += line.count("\n") + 1

    def _note(self, place: _Place) -> None:
        lines = self._files.get(place.file)
        if lines is None:
            lines = self._files[place.file] = linecache.getlines(place.file)[:]
        lines += ["\n"] * (place.line - len(lines))  # of a file that cannot be read, or has changed
        bytes_there = len(lines[place.line - 1].rstrip("\r\n").encode())
        column = max(1, min(place.column, bytes_there, _MOST_COLUMNS))
        file = list(self._files).index(place.file)
        self.places.append((self._number, file, place.line, column))


class RankTrace:
    """What the function of one rank names. Operations wait for each other where they touch common
    bytes and one of them writes, as in the language."""

    def __init__(self, rank: int, ranks: int) -> None:
        self.rank = rank
        self.ranks = ranks
        self._operations: list[tuple[str, _Place]] = []
        self._temps = 0

    def copy(self, source: Slice, target: Slice) -> None:
        self._add(f"copy {self._own(source)} to {self._own(target)}")

    def send(
        self, data: Slice, to: SupportsIndex, tag: Optional[SupportsIndex] = None
    ) -> None:
        self._add(f"send {self._own(data)} to {integer(to, 'to')}{_tag(tag)}")

    def recv(
        self,
        data: Slice,
        source: SupportsIndex,
        tag: Optional[SupportsIndex] = None,
        combine: Optional[str] = None,
        side: Optional[str] = None,
    ) -> None:
        """`combine`: a reduction, or the parameter that is one, which combines what comes with what
        is there; `side`: "before" or "after", where what comes stands."""
        origin = f"{integer(source, 'source')}{_tag(tag)}"
        self._add(f"recv {self._own(data)} from {origin}{_combine(combine, side)}")

    def combine(
        self, source: Slice, target: Slice, reduction: str, side: Optional[str] = None
    ) -> None:
        how = reduction if side is None else f"{reduction} {side}"
        self._add(f"combine {self._own(source)} into {self._own(target)} {how}")

    def signal(self, to: SupportsIndex, tag: Optional[SupportsIndex] = None) -> None:
        """A message without data."""
        self._add(f"signal to {integer(to, 'to')}{_tag(tag)}")

    def wait(self, source: SupportsIndex, tag: Optional[SupportsIndex] = None) -> None:
        """Receives what signal() sends."""
        self._add(f"wait from {integer(source, 'source')}{_tag(tag)}")

    def temp(self, type: str) -> Slice:
        """Memory of this rank for the length of a run: "T[n]", "f64[ranks][n]"."""
        name = f"temp{self._temps}"  # alike on all ranks, as counterexamples name it
        self._temps += 1
        self._add(f"temp {name}: {type}")
        return Slice(name, self.rank)

    def _own(self, data: Slice) -> Slice:
        owner = getattr(data, "_rank", None)
        if owner not in (None, self.rank):
            raise ArgumentError(f"'{data}' is memory of rank {owner}, and not of rank {self.rank}")
        return data

    def _add(self, operation: str) -> None:
        self._operations.append((f"    {operation};", _place_of(sys._getframe(2))))


def _tag(tag: Optional[SupportsIndex]) -> str:
    return "" if tag is None else f" tag {integer(tag, 'tag')}"


def _combine(reduction: Optional[str], side: Optional[str]) -> str:
    if reduction is None:
        if side is not None:
            raise ArgumentError(f"side '{side}' is for a recv that combines")
        return ""
    return f" combine {reduction}" + ("" if side is None else f" {side}")


class Collective:
    """A function that collective() wraps. What it makes is a Program for one number of ranks."""

    def __init__(
        self,
        body: Callable[..., None],
        parameters: str,
        ensures: Iterable[str],
        where: Optional[str],
        aliases: Iterable[str],
        deterministic: bool,
    ) -> None:
        _check_body(body)
        functools.update_wrapper(self, body)
        self._body = body
        self._parameters = parameters
        self._ensures = list(ensures)
        self._where = where
        self._aliases = list(aliases)
        self._deterministic = deterministic
        self.name = body.__name__
        self._file = _printable(body.__code__.co_filename)

    def text(self, /, ranks: SupportsIndex, **values: Any) -> str:
        """Source text of the language: what each rank does. `values` go to the function, and into
        the contract where it has their names in braces."""
        return self._trace(integer(ranks, "ranks"), values).text

    def _trace(self, ranks: int, values: dict[str, Any]) -> _Traced:
        if ranks < 1:
            raise ArgumentError(f"there is nothing to trace for {ranks} ranks")
        buffers = [Slice(name) for name in _BUFFER.findall(self._parameters)]
        reductions = {name: name for name in _REDUCTION.findall(self._parameters)}
        deterministic = "deterministic " if self._deterministic else ""
        traced = _Traced()
        traced.add(f"/// Traced from {self.name}() in {self._file}, for {ranks} ranks.")
        traced.add(f"{deterministic}collective {self.name}({self._parameters})")
        traced.add(f"  where ranks == {ranks}" + (f" and ({self._where})" if self._where else ""))
        for alias in self._aliases:
            traced.add(f"  {alias}")
        for promise in self._ensures:
            traced.add(f"  ensures {_filled(promise, values)}")
        traced.add("{")
        for rank in range(ranks):
            trace = RankTrace(rank, ranks)
            self._body(trace, *buffers, **reductions, **values)
            traced.add(f"  if rank == {rank} {{")
            for operation, place in trace._operations:
                traced.add(operation, place)
            traced.add("  }")
        traced.add("}")
        return traced

    def program(self, /, ranks: SupportsIndex, **values: Any) -> Program:
        """Compiled, for so many ranks."""
        count = integer(ranks, "ranks")
        traced = self._trace(count, values)
        name = f"{self.name}, {count} ranks"
        return Program(
            _colldsl.Program.of_text(name, traced.text, _colldsl.SingleRequest([]), traced.files, traced.places)
        )

    def verify(
        self,
        ranks: Numbers = range(1, 18),
        bytes: Optional[Numbers] = None,
        values: Optional[dict[str, Any]] = None,
        **options: Any,
    ) -> Report:
        """Traces and proves each number of ranks; options as Program.verify() takes them."""
        if isinstance(ranks, str):
            raise ArgumentError("numbers of ranks are ints here, such as range(1, 65)")
        proved = []
        one = is_integer(ranks)
        counts = [integer(ranks, "ranks")] if one else integers(ranks, "ranks")  # type: ignore
        for count in sorted(set(counts)):
            program = self.program(count, **(values or {}))
            proved += program.verify(count, bytes, **options)._proved
        return Report(proved)

    def instantiate(
        self,
        ranks: SupportsIndex,
        bytes: Optional[Number] = None,
        values: Optional[dict[str, Any]] = None,
        **options: Any,
    ) -> Schedule:
        """As Program.instantiate()."""
        return self.program(ranks, **(values or {})).instantiate(ranks, bytes, **options)

    def simulate(
        self,
        model: Optional[Model] = None,
        *,
        ranks: SupportsIndex,
        bytes: Optional[Number] = None,
        values: Optional[dict[str, Any]] = None,
        **options: Any,
    ) -> Times:
        """As Program.simulate()."""
        program = self.program(ranks, **(values or {}))
        return program.simulate(model, ranks=ranks, bytes=bytes, **options)

    def show(
        self,
        model: Optional[Model] = None,
        *,
        ranks: SupportsIndex,
        bytes: Optional[Number] = None,
        values: Optional[dict[str, Any]] = None,
        **options: Any,
    ) -> Picture:
        """As Program.show()."""
        program = self.program(ranks, **(values or {}))
        return program.show(model, ranks=ranks, bytes=bytes, **options)

    def __repr__(self) -> str:
        return f"<colldsl.Collective: {self.name}({self._parameters})>"


def _check_parameters(parameters: object) -> None:
    if not isinstance(parameters, str):
        raise ArgumentError(
            "collective() takes the parameters of the collective first, as in "
            '@colldsl.collective("in x: T[n], out y: T[n]")'
        )


def _check_body(body: Callable[..., None]) -> None:
    """What can be called rank by rank, and does what it says when it is called."""
    if not (inspect.isfunction(body) or inspect.ismethod(body)):
        raise ArgumentError(f"collective() wraps a function, not a '{type(body).__name__}'")
    if not body.__name__.isidentifier():
        raise ArgumentError("a collective has the name of its function, and a lambda has none")
    if (
        inspect.isgeneratorfunction(body)
        or inspect.iscoroutinefunction(body)
        or inspect.isasyncgenfunction(body)
    ):
        raise ArgumentError(
            f"{body.__name__}() is a generator or a coroutine, of which a call does nothing"
        )


def _filled(promise: str, values: dict[str, Any]) -> str:
    try:
        return promise.format(**values)
    except (LookupError, ValueError, AttributeError) as error:
        raise ArgumentError(f"ensures '{promise}': {error!r} in the values {values}") from None


def collective(
    parameters: str,
    *,
    ensures: Union[str, Iterable[str]] = (),
    where: Optional[str] = None,
    aliases: Union[str, Iterable[str]] = (),
    deterministic: bool = False,
) -> Callable[[Callable[..., None]], Collective]:
    """Makes a collective of a function that says what one rank does.

    @colldsl.collective("in x: T[n], out y: T[ranks][n]",
                        ensures="for r in 0..ranks: y[r] == x@r")
    def ring(me, x, y):
        me.copy(x, y[me.rank])
        for k in range(me.ranks - 1):
            me.send(y[(me.rank - k) % me.ranks], to=(me.rank + 1) % me.ranks)
            me.recv(y[(me.rank - k - 1) % me.ranks], source=(me.rank - 1) % me.ranks)

    `parameters` and the rest are as in the language: buffers, and parameters that are reductions,
    which the function gets by their names. Numbers that the function needs are `values` of the
    calls.
    """
    _check_parameters(parameters)
    return lambda body: Collective(
        body,
        parameters,
        [ensures] if isinstance(ensures, str) else ensures,
        where,
        [aliases] if isinstance(aliases, str) else aliases,
        deterministic,
    )
