"""Which collective serves a function, and why."""
from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Optional, SupportsIndex, Union

from . import _colldsl
from ._words import Model, Number, fields
from .picture import table

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Alternative:
    """A collective that could serve the call, with values of its tuning parameters."""

    collective: str
    values: dict[str, int]
    predicted_ns: Optional[int]
    """By the simulator; None: it has no estimate."""
    measured_ns: Optional[float]
    """In the machine profile, of as many bytes on as many ranks and nodes."""
    noise: Optional[float]
    """Of what was measured: its spread or drift, as a part."""
    why: str
    """It was not chosen; empty for the one that was."""

    def __str__(self) -> str:
        return " ".join([self.collective, *(f"{n}={v}" for n, v in self.values.items())])


@dataclass(frozen=True)
class Choice:
    """What choose() returns."""

    function: str
    ranks: int
    nodes: int
    bytes: int
    type: str
    in_place: bool
    commutative: bool
    oversubscribed: bool
    multicast: bool
    tcp: bool
    rule: str
    """The rule that decides, as a line of a file of rules."""
    place: str
    """Where it stands: "stdlib/selection.rules:31"."""
    line: Optional[int]
    is_decision: bool
    """Of the machine profile."""
    chosen: Alternative
    others: list[Alternative]
    """The fastest first, by the simulator."""
    model: str
    """What times are predicted by."""

    def __str__(self) -> str:
        return f"{self.function}: {self.chosen}, by {self.place}: {self.rule}"

    def _repr_html_(self) -> str:
        rows = [
            (one, one.predicted_ns, one.measured_ns, one.why or "is chosen")
            for one in (self.chosen, *self.others)
        ]
        return table(["candidate", "predicted, ns", "measured, ns", "why"], rows)


def _alternative(found: dict[str, Any]) -> Alternative:
    return Alternative(
        found["collective"], found["values"], found["predictedNs"], found["measuredNs"],
        found["noise"], found.get("why", ""),
    )


def choose(
    function: str,
    ranks: SupportsIndex,
    bytes: Optional[Number] = None,
    *,
    sources: Iterable[Path] = (),
    type: Optional[str] = None,
    op: Optional[str] = None,
    root: Optional[SupportsIndex] = None,
    topology: Optional[str] = None,
    in_place: bool = False,
    oversubscribed: bool = False,
    multicast: bool = False,
    tcp: bool = False,
    rules: Optional[Path] = None,
    model: Optional[Model] = None,
    network: Optional[str] = None,
) -> Choice:
    """As `colldsl choose`: the collective that serves a call of the function, by which rule, and what
    could serve instead. `sources`: a schedule library, or files of collectives that `rules` names.
    """
    given = locals()
    operands = [given.pop("function"), *map(os.fspath, given.pop("sources"))]
    request = _colldsl.ChoiceRequest(fields(**given))
    found = json.loads(_colldsl.choose(operands, request))
    return Choice(
        found["function"], found["ranks"], found["nodes"], found["bytes"], found["type"],
        found["inPlace"], found["commutative"], found["oversubscribed"], found["multicast"],
        found["tcp"],
        found["rule"]["text"], found["rule"]["place"], found["rule"].get("line"), found["rule"]["decision"],
        _alternative(found["chosen"]), [_alternative(other) for other in found["others"]],
        found["model"],
    )
