"""Keyword arguments as the text of a request's fields: the driver checks them, so that errors are
the same here and in the program `colldsl`."""
from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping
from typing import Any, Optional, SupportsIndex, Union

from .errors import ArgumentError

Number = Union[SupportsIndex, str]
Numbers = Union[SupportsIndex, str, Iterable[SupportsIndex]]
MOST_RANKS = 2**31 - 1
MOST_ELEMENTS = 2**64 - 1
INT64 = (-(2**63), 2**63 - 1)
Model = Union[str, "os.PathLike[str]", Mapping[str, Any]]


def integer(
    value: Any, what: str, least: Optional[int] = None, most: Optional[int] = None
) -> int:
    """An int, or what counts as one, as NumPy's integers do. A float is none."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{what}: {value!r} is no int") from None
    if least is not None and number < least:
        raise ArgumentError(f"{what}: {number} is less than {least}")
    if most is not None and number > most:
        raise ArgumentError(f"{what}: {number} is more than {most}")
    return number


def number(value: Any, what: str) -> float:
    """A float, or what counts as one."""
    try:
        return float(value + 0.0)  # text is no number
    except (TypeError, OverflowError):
        raise ArgumentError(f"{what}: {value!r} is no number") from None


def integers(
    values: Iterable[Any], what: str, least: Optional[int] = None, most: Optional[int] = None
) -> list[int]:
    """A list of such numbers; `what` names each of them by its index."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise ArgumentError(f"{what}: {values!r} is no list of ints")
    return [integer(value, f"{what}[{i}]", least, most) for i, value in enumerate(values)]


def is_integer(value: Any) -> bool:
    """Whether integer() takes it."""
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def numbers(value: Numbers, what: str) -> str:
    """8 as "8", range(1, 65) as "1..64", [1, 2, 8] as "1,2,8"; text stays."""
    if isinstance(value, str):
        return value
    if isinstance(value, range) and value.step == 1 and len(value) > 0:
        return f"{value[0]}..{value[-1]}"
    found = [integer(value, what)] if is_integer(value) else integers(value, what)  # type: ignore
    words = [str(one) for one in found]
    if not words:
        raise ArgumentError(f"{what}: there is no number in {value!r}")
    return ",".join(words)


def expression(value: Any) -> str:
    """A value of a parameter in the language's own words: True as "true", [2, 4] as "[2, 4]"."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(expression(item) for item in value) + "]"
    return str(value)


def fields(**values: Any) -> list[tuple[str, str]]:
    """The fields of a request, from the arguments of a function. Those that are None or False are left
    out."""
    values.pop("self", None)
    if "prove" in values:
        values["no_verify"] = not values.pop("prove")
    if "skew_ns" in values:
        values["skew"] = values.pop("skew_ns")
    found: list[tuple[str, str]] = []
    for name, value in values.items():
        if value is None or value is False:
            continue
        if name == "parameters":
            found += [(name, f"{key}={expression(one)}") for key, one in value.items()]
        elif name == "include":
            found += [(name, os.fspath(folder)) for folder in value]
        elif name in ("ranks", "bytes", "roots"):
            found.append((name, numbers(value, name)))
        elif isinstance(value, Mapping):  # a flat machine model
            found.append((name, ",".join(f"{key}={one}" for key, one in value.items())))
        elif isinstance(value, os.PathLike):
            found.append((name, os.fspath(value)))
        else:
            found.append((name, "" if value is True else str(value)))
    return found
