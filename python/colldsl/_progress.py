"""Progress of long work: a line on a terminal, a bar in a notebook, nothing elsewhere. The module in
C++ calls show() and clear() in the thread that waits for the work."""
from __future__ import annotations

import html
import sys
import threading
import time
from typing import Any, Optional

INTERVAL = 0.5
"""Between updates, in seconds; shorter work shows nothing."""

_CLEAR_LINE = "\r\033[K"


class _Line:
    """On the terminal of the standard error."""

    def update(self, text: str, part: float) -> None:
        sys.stderr.write(_CLEAR_LINE + text)
        sys.stderr.flush()

    def remove(self) -> None:
        sys.stderr.write(_CLEAR_LINE)
        sys.stderr.flush()


class _Bar:
    """An output of the cell of a notebook."""

    def __init__(self, display: Any) -> None:
        self._handle = display({"text/plain": ""}, raw=True, display_id=True)

    def update(self, text: str, part: float) -> None:
        bar = f'<progress value="{part:.4f}"></progress> {html.escape(text)}'
        self._handle.update({"text/plain": text, "text/html": bar}, raw=True)

    def remove(self) -> None:
        self._handle.update({"text/plain": ""}, raw=True)


class _State(threading.local):
    """Of the work for which a thread waits."""

    shown: Any = None
    due: Optional[float] = None


_state = _State()


def _display() -> Any:
    """The function of IPython that shows outputs, if this is a notebook; else None."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if getattr(shell, "kernel", None) is None:
        return None
    from IPython.display import display

    return display


def _make() -> Any:
    display = _display()
    if display:
        return _Bar(display)
    return _Line() if sys.stderr is not None and sys.stderr.isatty() else None


def show(what: str, done: int, total: int, more: str) -> None:
    """So many of the pieces are done."""
    now = time.monotonic()
    if _state.due is None:
        _state.due = now + INTERVAL
    if now < _state.due:
        return
    _state.due = now + INTERVAL
    _state.shown = _state.shown or _make()
    if _state.shown:
        _state.shown.update(f"{what}: {done} of {total}{more}", done / total if total else 1.0)


def clear() -> None:
    """The work has ended."""
    shown, _state.shown, _state.due = _state.shown, None, None
    if shown:
        shown.remove()
