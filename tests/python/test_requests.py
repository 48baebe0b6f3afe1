"""Requests: keyword arguments and command lines make the same ones; long work shows its progress, and
Ctrl-C ends it."""
import json
import os
import shlex
import subprocess
import sys

import pytest

import colldsl
from colldsl import _colldsl, _progress
from colldsl._words import fields

VERIFY = [
    {"ranks": "1..3"},
    {"ranks": [2, 5], "bytes": "8,1KiB"},
    {"ranks": "4", "type": "f64", "op": "max"},
    {"ranks": "4", "topology": "node:2 core:2"},
    {"ranks": "2", "in_place": True, "thorough": True},
    {"ranks": "3", "passes": "edge-coloring", "channel_slots": 2, "max_failures": 3},
]


def request_of(values):
    ranks = colldsl._words.numbers(values["ranks"], "ranks")
    return _colldsl.ProofRequest(fields(**{**values, "ranks": ranks}))


@pytest.mark.parametrize("values", VERIFY, ids=str)
def test_the_text_of_a_request_is_its_command_line(values):
    report = colldsl.load("allreduce_ring").verify(**values)
    words = shlex.split(str(request_of(values)))
    command = [os.environ["COLLDSL_PROGRAM"], "verify", "allreduce_ring", "--json", *words]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    one = told["collectives"][0]
    assert (report.proofs, report.refused, report.ok) == (told["proofs"], told["refused"], told["ok"])
    assert report._parts[0].range == one["for"]


def test_requests_are_compared_and_printed():
    one = _colldsl.SimulationRequest(fields(ranks=4, bytes="1KiB", model={"L": 7}))
    other = _colldsl.SimulationRequest(fields(bytes=1024, ranks="4", model="L=7"))
    assert one == other
    assert str(one) == "-n 4 --bytes 1024 --model L=7"
    assert one != _colldsl.SimulationRequest(fields(ranks=4))


def test_a_keyword_that_no_field_has_is_an_error():
    with pytest.raises(colldsl.ArgumentError, match="there is no 'rank'"):
        _colldsl.ProofRequest([("rank", "1")])


def test_a_keyword_without_effect_is_an_error(tmp_path):
    bcast = colldsl.load("bcast_binomial")
    lacks = "--op: 'bcast_binomial' has no parameter that is a reduction"
    for call in (bcast.verify, bcast.simulate, bcast.instantiate):
        with pytest.raises(colldsl.ArgumentError, match=lacks):
            call(ranks=4, op="sum")
    with pytest.raises(colldsl.ArgumentError, match="--op: none of the collectives here has a"):
        colldsl.load("barrier").verify(ranks=2, op="sum")


class Terminal:
    """A standard error that says that it is a terminal."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return True


def test_progress_on_a_terminal(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(_progress, "INTERVAL", 0.0)
    colldsl.load("allreduce_ring").verify(ranks=range(1, 40))
    assert "\r\033[Kallreduce_ring: " in terminal.text
    assert terminal.text.endswith("\r\033[K")


def test_no_progress_elsewhere(monkeypatch, capfd):
    monkeypatch.setattr(_progress, "INTERVAL", 0.0)
    colldsl.load("allreduce_ring").verify(ranks=range(1, 40))
    assert capfd.readouterr() == ("", "")


def test_progress_in_a_notebook(monkeypatch):
    updates = []

    class Handle:
        def update(self, data, raw):
            updates.append(data)

    monkeypatch.setattr(_progress, "_display", lambda: lambda data, raw, display_id: Handle())
    monkeypatch.setattr(_progress, "INTERVAL", 0.0)
    _progress.show("ring<1>", 1, 4, "")
    _progress.show("ring<1>", 2, 4, " events")
    _progress.clear()
    assert updates[0]["text/html"].startswith('<progress value="0.2500">')
    assert "ring&lt;1&gt;: 2 of 4 events" in updates[1]["text/html"]
    assert updates[-1] == {"text/plain": ""}


INTERRUPTED = """
import os, signal, threading
import colldsl
program = colldsl.load("allreduce_ring")
threads = len(os.listdir("/proc/self/task"))
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.5, interrupt).start()
try:
    program.verify(ranks=range(1, 2000))
except KeyboardInterrupt:
    print("interrupted", len(os.listdir("/proc/self/task")) - threads)
print(program.verify(ranks=2).ok)
"""


def test_ctrl_c_ends_proofs_and_their_threads():
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=300)
    assert ended.stdout == "interrupted 0\nTrue\n", ended.stderr
