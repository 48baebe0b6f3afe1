"""Collectives that are written in Python: a function is called for each rank, and the operations
that it names become the program of that rank, which is compiled and proved as text is."""
from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any, Optional, Union

from ._words import Model, Number, Numbers
from .errors import ArgumentError
from .picture import Picture
from .program import Program, Report, Schedule, Times, parse

_BUFFER = re.compile(r"\b(?:in|out|inout)\s+(\w+)\s*:")
_REDUCTION = re.compile(r"\b(\w+)\s*:\s*reduction\b")


class Slice:
    """A buffer, or a part of one."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __getitem__(self, index: Union[int, slice]) -> "Slice":
        """A block, or the blocks or elements from one to before another, from their numbers."""
        if not isinstance(index, slice):
            return Slice(f"{self._text}[{int(index)}]")
        if index.start is None or index.stop is None or index.step is not None:
            raise ArgumentError("a part of a buffer is written [first:end], with both numbers")
        return Slice(f"{self._text}[{int(index.start)}..{int(index.stop)}]")

    def part(self, index: int, of: int) -> "Slice":
        """Part `index` of so many parts, whose lengths differ by one element at most."""
        return Slice(f"part({self._text}, {int(index)} of {int(of)})")

    def __str__(self) -> str:
        return self._text


class RankTrace:
    """What the function of one rank names. Operations wait for each other where they touch common
    bytes and one of them writes, as in the language."""

    def __init__(self, rank: int, ranks: int, file: str) -> None:
        self.rank = rank
        self.ranks = ranks
        self._file = file
        self._lines: list[str] = []
        self._temps = 0

    def copy(self, source: Slice, target: Slice) -> None:
        self._add(f"copy {source} to {target}")

    def send(self, data: Slice, to: int, tag: Optional[int] = None) -> None:
        self._add(f"send {data} to {int(to)}{_tag(tag)}")

    def recv(
        self,
        data: Slice,
        source: int,
        tag: Optional[int] = None,
        combine: Optional[str] = None,
        side: Optional[str] = None,
    ) -> None:
        """`combine`: a reduction, or the parameter that is one, which combines what comes with what
        is there; `side`: "before" or "after", where what comes stands."""
        self._add(f"recv {data} from {int(source)}{_tag(tag)}{_combine(combine, side)}")

    def combine(
        self, source: Slice, target: Slice, reduction: str, side: Optional[str] = None
    ) -> None:
        self._add(f"combine {source} into {target} {reduction}{'' if side is None else ' ' + side}")

    def signal(self, to: int, tag: Optional[int] = None) -> None:
        """A message without data."""
        self._add(f"signal to {int(to)}{_tag(tag)}")

    def wait(self, source: int, tag: Optional[int] = None) -> None:
        """Receives what signal() sends."""
        self._add(f"wait from {int(source)}{_tag(tag)}")

    def temp(self, type: str) -> Slice:
        """Memory of this rank for the length of a run: "T[n]", "f64[ranks][n]"."""
        name = f"temp{self._temps}_{self.rank}"
        self._temps += 1
        self._add(f"temp {name}: {type}")
        return Slice(name)

    def _add(self, operation: str) -> None:
        frame = sys._getframe(2)
        self._lines.append(f"    {operation}; // {self._file}:{frame.f_lineno}")


def _tag(tag: Optional[int]) -> str:
    return "" if tag is None else f" tag {int(tag)}"


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
        functools.update_wrapper(self, body)
        self._body = body
        self._parameters = parameters
        self._ensures = list(ensures)
        self._where = where
        self._aliases = list(aliases)
        self._deterministic = deterministic
        self.name = body.__name__
        self._file = os.path.basename(body.__code__.co_filename)

    def text(self, ranks: int, **values: Any) -> str:
        """Source text of the language: what each rank does. `values` go to the function, and into
        the contract where it has their names in braces."""
        if ranks < 1:
            raise ArgumentError(f"there is nothing to trace for {ranks} ranks")
        buffers = [Slice(name) for name in _BUFFER.findall(self._parameters)]
        reductions = {name: name for name in _REDUCTION.findall(self._parameters)}
        where = f"ranks == {ranks}" + (f" and ({self._where})" if self._where else "")
        lines = [
            f"/// Traced from {self.name}() in {self._file}, for {ranks} ranks.",
            f"{'deterministic ' if self._deterministic else ''}collective "
            f"{self.name}({self._parameters})",
            f"  where {where}",
            *(f"  {alias}" for alias in self._aliases),
            *(f"  ensures {promise.format(**values)}" for promise in self._ensures),
            "{",
        ]
        for rank in range(ranks):
            trace = RankTrace(rank, ranks, self._file)
            self._body(trace, *buffers, **reductions, **values)
            lines += [f"  if rank == {rank} {{", *trace._lines, "  }"]
        return "\n".join([*lines, "}", ""])

    def program(self, ranks: int, **values: Any) -> Program:
        """Compiled, for so many ranks."""
        return parse(self.text(ranks, **values), f"{self.name}, {ranks} ranks")

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
        for count in [ranks] if isinstance(ranks, int) else ranks:
            program = self.program(count, **(values or {}))
            proved += program.verify(count, bytes, **options)._proved
        return Report(proved)

    def instantiate(
        self,
        ranks: int,
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
        ranks: int,
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
        ranks: int,
        bytes: Optional[Number] = None,
        values: Optional[dict[str, Any]] = None,
        **options: Any,
    ) -> Picture:
        """As Program.show()."""
        program = self.program(ranks, **(values or {}))
        return program.show(model, ranks=ranks, bytes=bytes, **options)

    def __repr__(self) -> str:
        return f"<colldsl.Collective: {self.name}({self._parameters})>"


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
    return lambda body: Collective(
        body,
        parameters,
        [ensures] if isinstance(ensures, str) else ensures,
        where,
        [aliases] if isinstance(aliases, str) else aliases,
        deterministic,
    )
