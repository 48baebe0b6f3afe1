"""Simulations over numbers of ranks, sizes and passes."""
from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Optional, SupportsIndex, Union

import numpy as np

from ._words import Model, Number
from .errors import ArgumentError
from .picture import table
from .program import Program, load

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_ROW = [("name", object), ("ranks", np.uint32), ("bytes", np.uint64), ("passes", object),
        ("makespan_ns", np.uint64), ("messages", np.uint64)]


class Sweep:
    """What sweep() found, a row per simulation."""

    def __init__(self, rows: Sequence[tuple[Any, ...]]) -> None:
        self.rows = np.array(rows, dtype=_ROW)
        """A structured array: name, ranks, bytes, passes, makespan_ns, messages."""

    def frame(self) -> "pandas.DataFrame":
        """A DataFrame of the rows; needs pandas."""
        import pandas

        return pandas.DataFrame({column: self.rows[column] for column, _ in _ROW})

    def plot(self, x: Optional[str] = None, ax: Optional["Axes"] = None) -> "Axes":
        """Draws the times over `x`, "bytes" or "ranks", with a line for each of what else varies;
        needs matplotlib. Default: the one of the two that has more values."""
        from matplotlib import pyplot

        if x is None:
            x = max(("bytes", "ranks"), key=lambda axis: len(np.unique(self.rows[axis])))
        if x not in ("bytes", "ranks"):
            raise ArgumentError(f"there is no axis '{x}'; there are 'bytes' and 'ranks'")
        if ax is None:
            ax = pyplot.subplots()[1]
        others = [column for column in ("name", "ranks", "bytes", "passes") if column != x]
        for key in sorted({tuple(row[others]) for row in self.rows}):
            is_line = np.array([tuple(row[others]) == key for row in self.rows])
            line = np.sort(self.rows[is_line], order=x)
            ax.plot(line[x], line["makespan_ns"] / 1e3, marker="o", label=self._label(others, key))
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_xlabel(x)
        ax.set_ylabel("simulated time, us")
        ax.legend()
        return ax

    def _repr_html_(self) -> str:
        return table([column for column, _ in _ROW], self.rows)

    def _label(self, columns: list[str], key: tuple[Any, ...]) -> str:
        """The name, and what else is not the same in all rows."""
        words = [str(key[0])]
        for column, value in list(zip(columns, key))[1:]:
            if len({row[column] for row in self.rows}) > 1:
                words.append(f"{column} {value}")
        return ", ".join(words)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<colldsl.Sweep: {len(self)} simulations>"


def _all(values: Union[None, str, SupportsIndex, Iterable[Any]]) -> list[Any]:
    if isinstance(values, Iterable) and not isinstance(values, str):
        return list(values)
    return [values]


def sweep(
    programs: Union[str, Program, Iterable[Union[str, Program]]],
    ranks: Union[SupportsIndex, Iterable[SupportsIndex]],
    bytes: Union[Number, Iterable[Number]],
    passes: Union[None, str, Iterable[Optional[str]]] = None,
    model: Optional[Model] = None,
    **options: Any,
) -> Sweep:
    """Simulates each program (or what load() makes of a name) with all these numbers of ranks,
    sizes and passes; None: no passes. `options` as Program.simulate() takes them."""
    if isinstance(programs, (str, os.PathLike, Program)):
        programs = [programs]
    rows = []
    for given in programs:
        program = given if isinstance(given, Program) else load(given)
        for count in _all(ranks):
            for size in _all(bytes):
                for made in _all(passes):
                    times = program.simulate(
                        model, ranks=count, bytes=size, passes=made, **options
                    )
                    rows.append((times.name, count, times.bytes, made or "", times.makespan_ns,
                                 times.messages))
    return Sweep(rows)
