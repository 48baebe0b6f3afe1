"""Refuses to be imported where the module in C++ would wait for ever."""
from __future__ import annotations

import importlib


def _is_main() -> bool:
    """Whether this is the main interpreter of the process, as far as Python can be asked."""
    for name in ("_interpreters", "_xxsubinterpreters"):  # of Python 3.13, of those before
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        return bool(module.get_current() == module.get_main())
    return True


if not _is_main():
    raise ImportError("colldsl works in the main interpreter of a process, not in a subinterpreter")
