"""Pages that show schedules, and pictures of them: what `colldsl show` makes."""
from __future__ import annotations

import atexit
import html
import os
import pathlib
import tempfile
import webbrowser
from collections.abc import Iterable, Sequence
from typing import Optional, Union

from . import _colldsl
from ._words import fields
from .errors import ArgumentError, Error

Path = Union[str, "os.PathLike[str]"]

_FRAME = (
    '<iframe title="{title}" sandbox="allow-scripts" srcdoc="{page}" '
    'style="width: 100%; height: {height}px; border: 1px solid #8c959f"></iframe>'
)


class Picture:
    """A page for a browser, with everything inside; docs/show.md describes it. In a notebook it
    displays itself; elsewhere open() and save() show it."""

    height = 640
    """Of the page in a notebook, in pixels."""

    def __init__(self, native: _colldsl.Shown) -> None:
        self._native = native

    @property
    def title(self) -> str:
        return self._native.title

    @property
    def view(self) -> str:
        """That the page opens, and that svg() draws."""
        return self._native.view

    def html(self) -> str:
        """The whole page."""
        return self._native.html()

    def svg(
        self,
        view: Optional[str] = None,
        *,
        rank: Optional[int] = None,
        round: Optional[int] = None,
        buffer: Optional[str] = None,
    ) -> str:
        """A picture for papers, of the page's view or another one. `rank` is for "dag"; `round` and
        `buffer` are for "provenance"."""
        return self._native.svg(_colldsl.PageRequest(fields(**locals())), view is None)

    def save(self, path: Path) -> pathlib.Path:
        """Writes the page, or the picture if the name ends with .svg."""
        file = pathlib.Path(path)
        if file.suffix not in (".html", ".svg"):
            raise ArgumentError(f"'{file}': the name of a page ends with .html, of a picture .svg")
        file.write_text(self.svg() if file.suffix == ".svg" else self.html(), encoding="utf-8")
        return file

    def open(self) -> "Picture":
        """Opens the page in the browser, from a file that is removed when Python ends."""
        descriptor, name = tempfile.mkstemp(prefix="colldsl-", suffix=".html")
        os.close(descriptor)
        atexit.register(pathlib.Path(name).unlink, missing_ok=True)
        webbrowser.open(self.save(name).as_uri())
        return self

    def _repr_html_(self) -> str:
        # A document of its own: styles and scripts of the notebook and of the page do not meet.
        return _FRAME.format(
            title=html.escape(self.title), page=html.escape(self.html()), height=self.height
        )

    def _repr_svg_(self) -> Optional[str]:
        try:
            return self.svg()
        except Error:  # a table, or too much for a picture: there is the page
            return None

    def __repr__(self) -> str:
        return f"<colldsl.Picture: {self.title}; view '{self.view}'>"


def show_runs(
    runs: Sequence[tuple[_colldsl.Program, _colldsl.SimulationRequest]],
    view: Optional[str],
    max_events: Optional[int],
) -> Picture:
    """Of simulations: programs, and requests as their simulate() takes them."""
    page = _colldsl.PageRequest(fields(view=view, max_events=max_events))
    return Picture(_colldsl.Shown.of_runs(list(runs), page))


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """In HTML."""

    def row(cells: Iterable[object], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(c))}</{tag}>" for c in cells) + "</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    return f"<table><thead>{row(head, 'th')}</thead><tbody>{body}</tbody></table>"
