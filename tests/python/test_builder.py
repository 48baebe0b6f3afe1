"""Collectives that are written in Python."""
import inspect
import re
import sys

import numpy as np
import pytest

import colldsl


@colldsl.collective(
    "in x: T[n], out y: T[ranks][n]", ensures="for r in 0..ranks: y[r] == x@r"
)
def ring(me, x, y):
    me.copy(x, y[me.rank])
    for k in range(me.ranks - 1):
        me.send(y[(me.rank - k) % me.ranks], to=(me.rank + 1) % me.ranks)
        me.recv(y[(me.rank - k - 1) % me.ranks], source=(me.rank - 1) % me.ranks)


@colldsl.collective(
    "in x: T[n], out y: T[n], op: reduction = sum",
    where="commutative(op)",
    ensures="y == reduce(op, for r in 0..ranks: x@r)",
)
def reduced(me, x, y, op):
    other = me.temp("T[n]")
    me.copy(x, y)
    if me.rank > 0:
        me.send(x, to=0)
        me.recv(y, source=0, tag=1)
        return
    for source in range(1, me.ranks):
        if source % 2 == 1:
            me.recv(y, source, combine=op)
        else:
            me.recv(other, source)
            me.combine(other, y, op)
    for rank in range(1, me.ranks):
        me.send(y, to=rank, tag=1)


@colldsl.collective("inout buf: T[n]", ensures="buf == buf@{root}")
def flat(me, buf, root):
    half = [buf.part(i, of=2) for i in range(2)]
    for piece in half:
        if me.rank == root:
            for peer in range(me.ranks):
                if peer != root:
                    me.send(piece, to=peer)
        else:
            me.recv(piece, source=root)


def test_proved_like_text():
    assert ring.verify(ranks=range(1, 9)).check().proofs == 24
    assert reduced.verify(ranks=range(1, 6), op="max").ok
    assert flat.verify(ranks=[2, 5], values={"root": 1}).ok


def test_the_same_schedule_as_text(source):
    text = colldsl.load(source / "examples" / "first.coll")
    model = {"L": 100, "o": 10, "G": 1}
    for ranks in (1, 2, 7):
        traced = ring.simulate(model, ranks=ranks, bytes=4096)
        written = text.simulate(model, ranks=ranks, bytes=4096)
        assert (traced.finish_ns == written.finish_ns).all()
    assert (ring.instantiate(3).ops == text.instantiate(3).ops).all()


def test_mistakes_are_found_and_placed():
    @colldsl.collective(
        "in x: T[n], out y: T[ranks][n]", ensures="for r in 0..ranks: y[r] == x@r"
    )
    def short(me, x, y):
        me.copy(x, y[me.rank])
        me.send(x, to=(me.rank + 1) % me.ranks)

    report = short.verify(ranks=[3], bytes=8)
    assert not report.ok
    line = inspect.getsourcelines(short._body)[1] + 5
    places, sent, caret = str(report.counterexamples[0]).split("\n")[:3]
    assert places.startswith(f"test_builder.py:{line}:9: error: matching: rank 0's send x[0..2] to 1 (line {line})")
    assert sent == "        me.send(x, to=(me.rank + 1) % me.ranks)"
    assert caret == "        ^"


# Collectives with mistakes, each as a traced one and as text.

GATHERED = {"parameters": "in x: T[n], out y: T[ranks][n]", "ensures": "for r in 0..ranks: y[r] == x@r"}
SUMMED = {"parameters": "in x: f32[n], out y: f32[n], op: reduction = sum",
          "ensures": "y == reduce(op, for r in 0..ranks: x@r)"}


@colldsl.collective(**GATHERED)
def short_ring(me, x, y):
    me.copy(x, y[me.rank])
    for k in range(me.ranks - 2):
        me.send(y[(me.rank - k) % me.ranks], to=(me.rank + 1) % me.ranks)
        me.recv(y[(me.rank - k - 1) % me.ranks], source=(me.rank - 1) % me.ranks)


SHORT_RING = """
  copy x to y[rank];
  for k in 0..ranks - 2 {
    send y[(rank - k) % ranks] to (rank + 1) % ranks;
    recv y[(rank - k - 1) % ranks] from (rank - 1) % ranks;
  }
"""


@colldsl.collective(**GATHERED)
def lonely(me, x, y):
    me.copy(x, y[me.rank])
    me.send(x, to=(me.rank + 1) % me.ranks)
    me.send(x, to=(me.rank + 2) % me.ranks)


LONELY = """
  copy x to y[rank];
  send x to (rank + 1) % ranks;
  send x to (rank + 2) % ranks;
"""


@colldsl.collective(**GATHERED)
def waiting(me, x, y):
    other = me.temp("T[n]")
    for r in range(me.ranks):
        me.recv(other, source=(me.rank + 1) % me.ranks)
        me.copy(other, y[r])
        me.send(other, to=(me.rank - 1) % me.ranks)


WAITING = """
  temp temp0: T[n];
  for r in 0..ranks {
    recv temp0 from (rank + 1) % ranks;
    copy temp0 to y[r];
    send temp0 to (rank - 1) % ranks;
  }
"""


def move(me, data, into):
    """Operations of a function that the collective calls."""
    me.send(data, to=(me.rank + 1) % me.ranks)
    me.recv(into, source=(me.rank - 1) % me.ranks)


@colldsl.collective(**SUMMED)
def once_too_often(me, x, y, op):
    first, second = me.temp("f32[n]"), me.temp("f32[n]")
    me.copy(x, y)
    me.copy(x, first)
    for _ in range(me.ranks):
        move(me, first, second)
        me.combine(second, y, op)
        me.copy(second, first)


ONCE_TOO_OFTEN = """
  temp temp0: f32[n];
  temp temp1: f32[n];
  copy x to y;
  copy x to temp0;
  for k in 0..ranks {
    send temp0 to (rank + 1) % ranks;
    recv temp1 from (rank - 1) % ranks;
    combine temp1 into y op;
    copy temp1 to temp0;
  }
"""


@colldsl.collective(**SUMMED)
def only_even(me, x, y, op):
    me.copy(x, y)
    peer = me.rank ^ 1
    if peer < me.ranks:
        me.send(x, to=peer)
        me.recv(y, source=peer, combine=op, side="before" if peer < me.rank else "after")


ONLY_EVEN = """
  copy x to y;
  let peer = rank xor 1;
  if peer < ranks {
    send x to peer;
    if peer < rank { recv y from peer combine op before; } else { recv y from peer combine op after; }
  }
"""


def without_places(text):
    """The lines of counterexamples without those of sources, whose numbers count from 0 as they come."""
    known = {}

    def number(line):
        return f"line {known.setdefault(line, len(known))}"

    lines = iter(text.split("\n"))
    for line in lines:
        placed = re.match(r"[^:]+:(\d+):\d+: ((?:error|note): .*)", line)
        if placed:
            line = f"{number(placed[1])}: {placed[2]}"
            next(lines)  # the source
            assert next(lines).strip() == "^"
        yield re.sub(r"\(line (\d+)\)", lambda match: f"({number(match[1])})", line)


@pytest.mark.parametrize("traced, text, contract, is_alike", [
    (short_ring, SHORT_RING, GATHERED, True), (lonely, LONELY, GATHERED, True), (waiting, WAITING, GATHERED, False),
    (once_too_often, ONCE_TOO_OFTEN, SUMMED, True), (only_even, ONLY_EVEN, SUMMED, False),
], ids=lambda value: getattr(value, "name", ""))
def test_counterexamples_are_those_of_the_same_text(traced, text, contract, is_alike):
    written = colldsl.parse(
        f"collective {traced.name}({contract['parameters']})\n  ensures {contract['ensures']}\n{{{text}}}\n")
    expected = written.verify(ranks=[3, 4, 5]).counterexamples
    found = traced.verify(ranks=[4, 3, 5, 3]).counterexamples
    assert [(c.ranks, c.bytes) for c in found] == [(c.ranks, c.bytes) for c in expected]
    assert found[0].bytes > 0
    for one, other in zip(found, expected):
        assert list(without_places(one.text)) == list(without_places(other.text))
    assert ("and alike on 2 other ranks (1..2)" in found[0].text) == is_alike


def test_places_are_those_of_the_calls():
    def helper(me, x):
        me.send(x, to=1); me.send(x, to=2)

    @colldsl.collective("in x: T[n]")
    def two(me, x):
        if me.rank == 0:
            helper(me, x)

    text = two.verify(ranks=3, bytes=4).counterexamples[0].text
    line = inspect.getsourcelines(helper)[1] + 1
    columns = [9, 27] if sys.version_info >= (3, 11) else [9, 9]
    for peer, column in zip((1, 2), columns):
        assert f"test_builder.py:{line}:{column}: error: matching: rank 0's send x[0..1] to {peer}" in text
    assert f"send x to 2; // test_builder.py:{line}" in two.text(3)


def test_places_in_code_without_a_file():
    code = "def silent(me, x):\n\n    me.send(x, to=1)\n"
    names = {}
    exec(compile(code, "<made\n>", "exec"), names)
    silent = colldsl.collective("in x: T[n]")(names["silent"])
    text = silent.verify(ranks=2, bytes=4).counterexamples[0].text
    assert text.startswith("<made?>:3:1: error: matching: rank 0's send x[0..1] to 1 (line 3)")


def test_memory_of_another_rank():
    kept = []

    @colldsl.collective("in x: T[n]")
    def leaky(me, x):
        kept.append(me.temp("T[n]"))
        me.copy(x, kept[0][0:1].part(0, of=1))

    with pytest.raises(colldsl.ArgumentError, match=r"'part\(temp0\[0..1\], 0 of 1\)' is memory of rank 0, and not of rank 1"):
        leaky.text(2)


def test_a_peer_that_does_not_exist():
    @colldsl.collective("in x: T[n]")
    def far(me, x):
        me.send(x, to=me.ranks)

    with pytest.raises(colldsl.ProgramError, match=r"test_builder.py:\d+:9: error: "):
        far.instantiate(2)


def test_exceptions_of_the_function_are_raised():
    @colldsl.collective("in x: T[n]")
    def broken(me, x):
        raise LookupError(f"rank {me.rank}")

    with pytest.raises(LookupError, match="rank 0"):
        broken.verify(ranks=2)


def test_wrong_calls():
    with pytest.raises(colldsl.ArgumentError, match="nothing to trace for 0 ranks"):
        ring.text(0)
    with pytest.raises(colldsl.ArgumentError, match="with both numbers"):
        colldsl.Slice("x")[1:]
    with pytest.raises(colldsl.ArgumentError, match="side 'before' is for a recv that combines"):
        colldsl.RankTrace(0, 1).recv(colldsl.Slice("x"), 0, side="before")


def test_plans_run_it():
    with colldsl.Communicator.local(3) as ranks:
        program = ring.program(3)

        def body(comm):
            y = np.zeros(6, dtype=np.int32)
            comm.plan("ring", np.full(2, comm.rank, dtype=np.int32), y, program=program).run(20)
            return y.tolist()

        assert ranks.run(body) == [[0, 0, 1, 1, 2, 2]] * 3
