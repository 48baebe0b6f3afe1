"""Keyword arguments as the words of a command line: the options of the program `colldsl` check
them, so that errors are the same there and here."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Optional, Union

Number = Union[int, str]
Numbers = Union[int, str, Iterable[int]]
Model = Union[str, "os.PathLike[str]", Mapping[str, Any]]


def numbers(value: Numbers) -> str:
    """8 as "8", range(1, 65) as "1..64", [1, 2, 8] as "1,2,8"; text stays."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, range) and value.step == 1 and len(value) > 0:
        return f"{value[0]}..{value[-1]}"
    return ",".join(str(int(number)) for number in value)


def expression(value: Any) -> str:
    """A value of a parameter in the language's own words: True as "true", [2, 4] as "[2, 4]"."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(expression(item) for item in value) + "]"
    return str(value)


def model_word(model: Model) -> str:
    """A machine model as --model takes it: a file, "profile", or flat parameters."""
    if isinstance(model, Mapping):
        return ",".join(f"{name}={value}" for name, value in model.items())
    return os.fspath(model)


class Words:
    """Collects options; those that are None are left out."""

    def __init__(self) -> None:
        self.list: list[str] = []

    def add(self, option: str, value: Optional[object]) -> "Words":
        if value is not None:
            self.list += [option, str(value)]
        return self

    def flag(self, option: str, is_on: bool) -> "Words":
        if is_on:
            self.list.append(option)
        return self

    def parameters(self, values: Optional[Mapping[str, Any]]) -> "Words":
        for name, value in (values or {}).items():
            self.list += ["--set", f"{name}={expression(value)}"]
        return self

    def machine(self, model: Optional[Model], network: Optional[str]) -> "Words":
        if model is not None:
            self.add("--model", model_word(model))
        return self.add("--network", network)
