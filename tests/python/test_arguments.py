"""Arguments that are wrong, or unusual."""
import functools

import numpy as np
import pytest

import colldsl
from colldsl import ArgumentError, Communicator

ALONE = np.zeros(6)
GATHER = "in x: T[n], out y: T[ranks][n]"


@pytest.fixture
def comm():
    with Communicator.local(1) as ranks:
        yield ranks[0]


@pytest.mark.parametrize(
    "name, values, message",
    [
        ("bcast", {"root": "prod"}, "parameter 'root' of 'bcast' takes a rank, not 'prod'"),
        ("bcast", {"root": "1"}, "parameter 'root' of 'bcast' takes a rank, not '1'"),
        ("bcast", {"root": [0]}, r"parameter 'root' of 'bcast' takes a rank, not \[0\]"),
        ("bcast", {"root": 1.0}, "parameter 'root' of 'bcast' takes a rank, not 1.0"),
        ("bcast", {"root": 2**63}, "parameter 'root': 9223372036854775808 is more than"),
        ("allreduce", {"op": 3}, "parameter 'op' of 'allreduce' takes a reduction.*, not 3"),
        ("allreduce", {"op": True}, "parameter 'op' of 'allreduce' takes a reduction.*, not True"),
        ("allreduce", {"op": "most"}, "there is no reduction 'most'"),
        ("allreduce", {"op": "matmul"}, "there is no reduction 'matmul'"),
        ("neighbor_alltoall", {"g": "torus([2])"}, r"'g' of .* takes a graph, which .* not 'torus\(\[2\]\)'"),
        ("allreduce", {"foo": [1.7]}, r"parameter 'foo'\[0\]: 1.7 is no int"),
        ("allreduce", {"count": 1.5}, "count: 1.5 is no int"),
        ("allreduce", {"count": -1}, "count: -1 is less than 0"),
        ("allreduce", {"count": 2**64}, "count: 18446744073709551616 is more than"),
        ("alltoallv", {"blocks": {"x": [-1]}}, "lengths of the blocks of 'x'.0.: -1 is less than 0"),
        ("alltoallv", {"blocks": {"x": 4}}, "lengths of the blocks of 'x': 4 is no list of ints"),
        ("allreduce", {"values": {"op": "sum"}, "op": "max"}, "parameter 'op' is given twice"),
        (None, {}, "the name of a collective is text, not None"),
        ("allreduce", {"program": 7}, "program= takes a Program, .* not a 'int'"),
    ],
    ids=str,
)
def test_values_of_a_plan(comm, name, values, message):
    with pytest.raises(ArgumentError, match=message):
        comm.plan(name, ALONE, **values)


def test_schedules_are_no_programs(comm, source):
    schedule = colldsl.load(source / "examples" / "first.coll").instantiate(2, 8)
    with pytest.raises(ArgumentError, match="not a 'Schedule'"):
        comm.plan("first_allgather", ALONE, ALONE, program=schedule)


def test_programs_by_path_and_traced(source):
    @colldsl.collective(GATHER, ensures="for r in 0..ranks: y[r] == x@r")
    def gather(me, x, y):
        me.copy(x, y[me.rank])
        for r in range(me.ranks):
            if r != me.rank:
                me.send(x, to=r)
        for r in range(me.ranks):
            if r != me.rank:
                me.recv(y[r], source=r)

    def body(comm, name, program):
        y = np.zeros(4)
        comm.plan(name, np.full(2, comm.rank + 1.0), y, program=program).run(20)
        return y.tolist()

    for name, program in (("first_allgather", source / "examples" / "first.coll"),
                          ("first_allgather", str(source / "examples" / "first.coll")),
                          ("gather", gather)):
        with Communicator.local(2) as ranks:
            assert ranks.run(body, name, program) == [[1, 1, 2, 2]] * 2


@pytest.mark.parametrize("name", ["self", "count", "type", "values", "collective"])
def test_buffers_with_names_of_arguments(comm, name):
    program = colldsl.parse(f"collective f(inout {name}: T[n])\n ensures {name} == {name}@rank\n{{ }}")
    plan = comm.plan("f", values={name: np.ones(4, np.int32)}, program=program)
    plan.run(20)
    plan.bind(values={name: np.zeros(4, np.int32)}).run(20)
    assert plan.info.collective == "f"


def test_integers_of_numpy():
    two = np.int64(2)
    with Communicator.local(two) as ranks:
        def body(comm):
            y = np.zeros(1)
            comm.graph(np.array([1 - comm.rank]), np.array([1 - comm.rank]))
            comm.plan("bcast", y, root=np.int32(1), count=np.uint8(1)).run(20)
        ranks.run(body)
    ring = colldsl.load("allgather_ring")
    assert ring.verify(ranks=two, bytes=np.int64(8)).ok
    assert ring.verify(ranks=np.arange(1, 4), bytes=[np.int16(8)]).ok
    assert ring.simulate(ranks=two, bytes=np.int64(8)).ranks == 2


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: Communicator.local(1.5), "ranks: 1.5 is no int"),
        (lambda: Communicator.local(-1), "ranks: -1 is less than 0"),
        (lambda: Communicator.local(2**40), "ranks: 1099511627776 is more than"),
        (lambda: Communicator.local(1, setup_timeout="soon"), "setup_timeout: 'soon' is no number"),
        (lambda: Communicator.local(1, arena_bytes=-1), "arena_bytes: -1 is less than 0"),
        (lambda: Communicator.from_allgather("x", 1, bytes), "rank: 'x' is no int"),
        (lambda: Communicator.from_allgather(0, 1, None), "allgather: None cannot be called"),
        (lambda: colldsl.load("allreduce").verify(ranks=[1.5]), r"ranks\[0\]: 1.5 is no int"),
        (lambda: colldsl.load("allreduce").verify(ranks=range(0)), "ranks: there is no number"),
    ],
    ids=range(9),
)
def test_numbers_that_are_wrong(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


def test_peers_that_do_not_exist(comm):
    with pytest.raises(ArgumentError, match=r"destinations\[1\]: 1 is more than 0"):
        comm.graph([0, 1], [0])
    with pytest.raises(ArgumentError, match=r"sources\[0\]: 0.5 is no int"):
        comm.graph([0], [0.5])


def traced(body):
    return colldsl.collective(GATHER, ensures="for r in 0..ranks: y[r] == x@r")(body)


def iterates(me, x, y):
    for block in y:
        me.copy(x, block)


def contains(me, x, y):
    return x in y


def divides(me, x, y):
    me.copy(x, y[me.rank / 2])


def to_a_float(me, x, y):
    me.send(x, to=1.9)


@pytest.mark.parametrize(
    "body, message",
    [
        (iterates, r"'y' cannot be iterated over.*for r in range\(me.ranks\): ... y\[r\]"),
        (contains, "'in y' has no meaning"),
        (divides, "index of y: 0.0 is no int"),
        (to_a_float, "to: 1.9 is no int"),
    ],
)
def test_bodies_that_are_wrong(body, message):
    with pytest.raises(ArgumentError, match=message):
        traced(body).text(2)


def generates(me, x, y):
    yield me.copy(x, y[0])


async def waits(me, x, y):
    me.copy(x, y[0])


class Callable:
    def __call__(self, me, x, y):
        pass


@pytest.mark.parametrize(
    "body, message",
    [
        (functools.partial(iterates, 1), "wraps a function, not a 'partial'"),
        (Callable(), "wraps a function, not a 'Callable'"),
        (lambda me, x, y: None, "a lambda has none"),
        (generates, "is a generator or a coroutine"),
        (waits, "is a generator or a coroutine"),
    ],
    ids=range(5),
)
def test_what_is_no_body(body, message):
    with pytest.raises(ArgumentError, match=message):
        traced(body)


def test_a_decorator_without_parameters():
    with pytest.raises(ArgumentError, match="takes the parameters of the collective first"):
        colldsl.collective(divides)


def test_values_that_the_contract_misses():
    wrapped = colldsl.collective(GATHER, ensures="for r in 0..ranks: y[r] == x@{root}")(divides)
    with pytest.raises(ArgumentError, match="ensures '.*': KeyError.'root'"):
        wrapped.text(2)


def test_a_report_of_nothing():
    report = traced(divides).verify(range(0))
    assert not report and repr(report) == "<colldsl.Report: nothing was proved>"
    with pytest.raises(colldsl.NotProved, match="nothing was proved"):
        report.check()
