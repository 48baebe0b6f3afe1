"""show(): pages and pictures of programs, schedules, runs, comparisons and failed proofs."""
import html
import html.parser
import os
import pathlib
import subprocess
import webbrowser
import xml.dom.minidom

import pytest
from conftest import BROKEN

import colldsl


@pytest.fixture
def first(source):
    return colldsl.load(source / "examples" / "first.coll")


def command(*words):
    done = subprocess.run([os.environ["COLLDSL_PROGRAM"], *words, "-o", "-"], check=True,
                          capture_output=True, text=True)
    return done.stdout


class Frame(html.parser.HTMLParser):
    """The one iframe of a notebook's output."""

    def __init__(self, text):
        super().__init__()
        self.attributes = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        assert tag == "iframe" and self.attributes is None
        self.attributes = dict(attributes)


def test_a_run_is_the_page_of_the_command(source, first):
    file = str(source / "examples" / "first.coll")
    model = {"L": 2500, "o": 1500}
    picture = first.show(model, ranks=4, bytes=64, view="matrix")
    page = command("show", file, "-n", "4", "--bytes", "64", "--model", "L=2500,o=1500", "--view", "matrix")
    assert picture.html() == page
    assert picture.title == "first_allgather, 4 ranks, 64 B" and picture.view == "matrix"
    svg = command("show", file, "-n", "4", "--bytes", "64", "--view", "dag", "--rank", "2", "--svg")
    assert picture.svg("dag", rank=2) == svg


def test_in_a_notebook_the_page_has_a_frame_of_its_own(first):
    picture = first.simulate(ranks=4, bytes=64).show()
    frame = Frame(picture._repr_html_())
    assert frame.attributes["srcdoc"] == picture.html()
    assert frame.attributes["sandbox"] == "allow-scripts"
    assert frame.attributes["title"] == "first_allgather, 4 ranks, 64 B"
    assert xml.dom.minidom.parseString(picture._repr_svg_()).documentElement.tagName == "svg"
    assert repr(picture) == "<colldsl.Picture: first_allgather, 4 ranks, 64 B; view 'space-time'>"


def test_save(first, tmp_path):
    picture = first.instantiate(ranks=4, bytes=64).show(view="graph")
    assert picture.save(tmp_path / "a.html").read_text(encoding="utf-8") == picture.html()
    assert picture.save(str(tmp_path / "a.svg")).read_text(encoding="utf-8") == picture.svg()
    with pytest.raises(colldsl.ArgumentError, match="a.png': the name of a page ends with .html"):
        picture.save(tmp_path / "a.png")


def test_open_starts_the_browser(first, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    picture = first.show(ranks=2, bytes=8)
    assert opened == []
    assert picture.open() is picture
    assert len(opened) == 1 and opened[0].startswith("file://")
    assert pathlib.Path(opened[0].removeprefix("file://")).read_text(encoding="utf-8") == picture.html()


def test_provenance(first):
    picture = first.show(ranks=4, bytes=4, view="provenance")
    assert "rank 0, bytes 4 to 8: x[0..4] of rank 1" in picture.svg(round=3)
    with pytest.raises(colldsl.ProgramError, match="--round 9: the schedule has rounds 0 to 3"):
        picture.svg(round=9)
    assert "what x holds" in picture.svg(buffer="x", round=0)


def test_traced_collectives():
    @colldsl.collective("in x: T[n], out y: T[n]", ensures="y == x@0")
    def bcast(me, x, y):
        if me.rank == 0:
            me.copy(x, y)
        for peer in range(1, me.ranks):
            if me.rank == 0:
                me.send(x, to=peer)
            elif me.rank == peer:
                me.recv(y, source=0)

    assert '"messages":3,' in bcast.show(ranks=4, bytes=8).html()


def test_comparison(first):
    times = [first.simulate(ranks=4, bytes=8), colldsl.load("allgather_ring").simulate(ranks=4, bytes=8)]
    both = colldsl.compare(*times)
    picture = both.show(view="compare")
    assert picture.title == "first_allgather and allgather_ring, 4 ranks, 8 B"
    assert picture._repr_svg_() is None
    with pytest.raises(colldsl.ArgumentError, match="'compare' is a table"):
        picture.svg()
    assert "allgather_ring, 4 ranks, 8 B" in both.show().svg()
    rows = xml.dom.minidom.parseString(both._repr_html_()).getElementsByTagName("tr")
    assert len(rows) == 3
    assert repr(both) == "<colldsl.Comparison: first_allgather, allgather_ring>"
    with pytest.raises(colldsl.ArgumentError, match="nothing to compare"):
        colldsl.compare(times[0])
    torus = first.simulate(ranks=4, bytes=8, topology="node:4", network="torus:4")
    with pytest.raises(colldsl.ProgramError, match="different networks"):
        colldsl.compare(times[0], torus).show()


def test_failed_proofs(first):
    report = colldsl.parse(BROKEN, "broken.coll").verify(ranks=[1, 2, 3], bytes=8)
    picture = report.show()
    assert picture.title == "broken, 2 ranks, 8 B: refused" and picture.view == "failure"
    assert "y[2..4] is promised, but nothing writes it" in picture.html()
    assert "Red: 2 broken promises." in picture.svg()
    assert report.show(1).title == "broken, 3 ranks, 8 B: refused"
    assert report.counterexamples[1].show().title == report.show(-1).title
    with pytest.raises(colldsl.ArgumentError, match="there is no counterexample 2 of 2"):
        report.show(2)
    with pytest.raises(colldsl.ArgumentError, match="there is no counterexample to show"):
        first.verify(ranks=2, bytes=8).show()


def test_the_page_of_a_failure_is_that_of_the_command(tmp_path):
    file = tmp_path / "broken.coll"
    file.write_text(BROKEN)
    page = tmp_path / "page.html"
    subprocess.run([os.environ["COLLDSL_PROGRAM"], "verify", str(file), "--ranks", "3", "--bytes", "8",
                    "--show", str(page)], capture_output=True)
    picture = colldsl.load(file).verify(ranks=3, bytes=8).show()
    assert picture.html() == page.read_text(encoding="utf-8")


def test_reports_as_html(first):
    report = colldsl.parse(BROKEN, "<b>.coll").verify(ranks=[2, 3], bytes=8)
    page = report._repr_html_()
    assert "<td>broken</td><td>refused</td><td>2</td><td>2</td>" in page
    assert "&lt;b&gt;.coll:3:30: error" in page and "<b>" not in page
    assert "1 more in counterexamples" in page
    assert "<td>proved</td>" in first.verify(ranks=2, bytes=8)._repr_html_()
    assert "<td>first_allgather</td><td>2</td>" in first.simulate(ranks=2, bytes=8)._repr_html_()
    assert colldsl.sweep(first, ranks=[2, 3], bytes=8)._repr_html_().count("<tr>") == 3


def test_wrong_arguments(first):
    with pytest.raises(colldsl.ArgumentError, match="'sideways' is no view; there are space-time"):
        first.show(ranks=2, view="sideways")
    with pytest.raises(colldsl.ProgramError, match="it shows the load of a --network"):
        first.show(ranks=2, view="links")
    with pytest.raises(colldsl.ProgramError, match="say for how many ranks"):
        first.show()
