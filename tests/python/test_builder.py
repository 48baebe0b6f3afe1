"""Collectives that are written in Python."""
import inspect

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
    assert f"// test_builder.py:{line}" in str(report.counterexamples[0])


@colldsl.collective(
    "in x: T[n], out y: T[ranks][n]", ensures="for r in 0..ranks: y[r] == x@r"
)
def short_ring(me, x, y):
    me.copy(x, y[me.rank])
    for k in range(me.ranks - 2):
        me.send(y[(me.rank - k) % me.ranks], to=(me.rank + 1) % me.ranks)
        me.recv(y[(me.rank - k - 1) % me.ranks], source=(me.rank - 1) % me.ranks)


SHORT_RING = """
collective short_ring(in x: T[n], out y: T[ranks][n])
  ensures for r in 0..ranks: y[r] == x@r
{
  copy x to y[rank];
  for k in 0..ranks - 2 {
    send y[(rank - k + ranks) % ranks] to (rank + 1) % ranks;
    recv y[(rank - k - 1 + ranks) % ranks] from (rank + ranks - 1) % ranks;
  }
}
"""


def test_counterexamples_are_those_of_the_same_text():
    traced = short_ring.verify(ranks=[4, 3, 5, 3]).counterexamples
    written = colldsl.parse(SHORT_RING).verify(ranks=[3, 4, 5]).counterexamples
    assert [(c.ranks, c.bytes) for c in traced] == [(c.ranks, c.bytes) for c in written]
    assert traced[0].bytes > 0


def test_a_peer_that_does_not_exist():
    @colldsl.collective("in x: T[n]")
    def far(me, x):
        me.send(x, to=me.ranks)

    with pytest.raises(colldsl.ProgramError, match="far, 2 ranks:"):
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
        colldsl.RankTrace(0, 1, "f").recv(colldsl.Slice("x"), 0, side="before")


def test_plans_run_it():
    with colldsl.Communicator.local(3) as ranks:
        program = ring.program(3)

        def body(comm):
            y = np.zeros(6, dtype=np.int32)
            comm.plan("ring", np.full(2, comm.rank, dtype=np.int32), y, program=program).run(20)
            return y.tolist()

        assert ranks.run(body) == [[0, 0, 1, 1, 2, 2]] * 3
