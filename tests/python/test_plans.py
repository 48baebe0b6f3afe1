"""Communicators of local ranks, plans, memory, errors, signals."""
import array
import asyncio
import contextlib
import ctypes
import gc
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest

import colldsl
from colldsl import Communicator


@pytest.fixture
def ranks():
    with Communicator.local(4) as comms:
        yield comms


def test_allreduce(ranks):
    def body(comm):
        x = np.full(1000, comm.rank + 1.0)
        y = np.zeros(1000)
        with comm.plan("allreduce", x, y) as plan:
            plan.run(20)
            assert (y == 10).all()
            x += 1
            plan.start().wait(20)
            assert plan.info.collective.startswith("allreduce_")
        return y[0]

    assert ranks.run(body) == [14.0] * 4


def test_tells_for_what_it_is_proved(ranks):
    def info(comm, name):
        with comm.plan(name, np.ones(3), np.zeros(12)) as plan:
            return plan.info

    for found in ranks.run(lambda comm: info(comm, "allgather_ring")):
        assert (found.proof, found.proved_for) == ("all ranks", "all P")
        assert found.proved_ranks == 2**32 - 1
    for found in ranks.run(lambda comm: info(comm, "allgather_distance_ring")):
        assert found.proof == "smaller ranks" and found.proved_ranks == 64
        assert found.proved_for == "1 to 64 ranks, at the values tried"


def test_refuses_plans_that_are_proved_less():
    def run(comm, name):
        comm.plan(name, np.ones(3), np.zeros(12)).run(20)
        return True

    with Communicator.local(4, least_proof="all ranks") as comms:
        assert comms.run(lambda comm: run(comm, "allgather_ring")) == [True] * 4
        with pytest.raises(colldsl.Error, match="at the values tried, but must be proved for all P"):
            comms.run(lambda comm: run(comm, "allgather_distance_ring"))
    with pytest.raises(colldsl.ArgumentError, match="least_proof: 'most' is none of none, smaller"):
        Communicator.local(4, least_proof="most")


def test_values_operators_and_buffers_by_name(ranks):
    def body(comm):
        buf = np.full(7, comm.rank, dtype=np.int32)
        comm.plan("bcast", buf=buf, root=2).run(20)
        y = np.array([comm.rank, -comm.rank], dtype=np.int64)
        comm.plan("allreduce", y, in_place=True, op="max").run(20)
        return list(buf) == [2] * 7 and list(y) == [3, 0]

    assert ranks.run(body) == [True] * 4


def test_count_per_rank(ranks):
    def body(comm):
        x = np.arange(8, dtype=np.uint8) + 10 * comm.rank
        y = np.zeros(8, dtype=np.uint8)
        comm.plan("alltoall", x, y).run(20)
        return y.tolist()

    assert ranks.run(body)[1] == [2, 3, 12, 13, 22, 23, 32, 33]


def test_only_the_root_has_a_buffer(ranks):
    def body(comm):
        y = np.zeros(8, dtype=np.int32) if comm.rank == 1 else None
        comm.plan("gather", np.full(2, comm.rank, dtype=np.int32), y, root=1).run(20)
        return None if y is None else y.tolist()

    assert ranks.run(body) == [None, [0, 0, 1, 1, 2, 2, 3, 3], None, None]


def test_own_collective(ranks, source):
    program = colldsl.load(source / "examples" / "first.coll")

    def body(comm):
        y = np.zeros(12, dtype=np.float32)
        x = np.full(3, comm.rank, dtype=np.float32)
        comm.plan("first_allgather", x, y, program=program).run(20)
        return y.tolist()

    assert ranks.run(body) == [[0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]] * 4


def test_other_memory_between_runs(ranks):
    def body(comm):
        x = np.ones(5, dtype=np.int32)
        plan = comm.plan("allreduce", x, np.zeros(5, dtype=np.int32))
        plan.run(20)
        y = np.zeros(5, dtype=np.int32)
        plan.bind(y=y).run(20)
        return y.tolist()

    assert ranks.run(body) == [[4] * 5] * 4


def test_no_copies_and_memory_is_kept(ranks):
    """The plan alone keeps an array; the standard library's arrays have the buffer protocol."""

    def body(comm):
        y = array.array("i", [0] * 100)
        view = memoryview(y)
        plan = comm.plan("allreduce", np.ones(100, dtype=np.int32), view)
        gc.collect()
        plan.run(20)
        with pytest.raises(BufferError):  # its memory must stay
            y.append(1)
        plan.close()
        view.release()
        y.append(1)
        return y[0]

    assert ranks.run(body) == [4] * 4


class Tensor:
    """Memory that only DLPack can pass on, as an array of a framework."""

    def __init__(self, data, device=(1, 0)):
        self.data, self.device = data, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        assert self.device[0] == 1
        return self.data.__dlpack__()


def test_dlpack(ranks):
    def body(comm):
        y = np.zeros(6)
        comm.plan("allreduce", Tensor(np.ones(6)), Tensor(y)).run(20)
        return y.tolist()

    assert ranks.run(body) == [[4.0] * 6] * 4


class Typed(Tensor):
    """As Tensor, with another type of DLPack."""

    def __init__(self, data, code):
        super().__init__(data)
        self.code = code

    def __dlpack__(self, stream=None):
        capsule = super().__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        # struct DLTensor: data, device, number of dimensions, then the type.
        ctypes.c_uint8.from_address(pointer(capsule, b"dltensor") + 8 + 8 + 4).value = self.code
        return capsule


# Codes of include/dlpack/dlpack.h, version 1.1: bfloat, float8_e4m3fn, float8_e5m2; and 1 in that format.
@pytest.mark.parametrize("code, dtype, one, four", [(4, "u2", 0x3F80, 0x4080), (10, "u1", 0x38, 0x48), (12, "u1", 0x3C, 0x44)])
def test_small_floats_by_dlpack(ranks, code, dtype, one, four):
    def body(comm):
        y = np.zeros(6, dtype=dtype)
        comm.plan("allreduce", Typed(np.full(6, one, dtype=dtype), code), Typed(y, code)).run(20)
        return y.tolist()

    assert ranks.run(body) == [[four] * 6] * 4


@pytest.mark.parametrize("code", [3, 6, 7, 8, 9, 11, 13])
def test_types_of_dlpack_that_are_refused(code):
    with Communicator.local(1) as ranks:
        with pytest.raises(colldsl.ArgumentError, match=f"no type of elements stands for DLPack's type {code} of 8"):
            ranks[0].plan("allreduce", Typed(np.zeros(6, dtype="u1"), code), np.zeros(6, dtype="u1"))


def dtypes():
    """The dtype of NumPy that the table names for each type of elements, and the type."""
    table = (pathlib.Path(__file__).parents[2] / "ir" / "Vocabulary.def").read_text()
    rows = re.findall(r'^COLLDSL_TYPE\(\w+, "(\w+)", [\w:<>]+, \w+, "(\w+)"', table, re.MULTILINE)
    assert len(rows) >= 16
    return rows


def dtype_of(name):
    if hasattr(np, name):
        return np.dtype(name)
    extension = pytest.importorskip("ml_dtypes")
    return np.dtype(getattr(extension, name))


@pytest.mark.parametrize("element, name", dtypes())
def test_dtypes_of_numpy(ranks, element, name):
    dtype = dtype_of(name)

    def body(comm):
        x = np.full(6, comm.rank + 1).astype(dtype)
        y = np.zeros(6, dtype=dtype)
        with comm.plan("allreduce", x, y, op="sum") as plan:
            plan.run(20)
        return y.astype(complex).tolist()

    assert ranks.run(body) == [[10] * 6] * 4


class Extension(np.ndarray):
    """An array whose dtype has no format of a buffer, as those of ml_dtypes: four numbers lie in each date."""

    @property
    def dtype(self):
        return types.SimpleNamespace(name="bfloat16")

    @dtype.setter
    def dtype(self, value):  # view() sets that of the new array
        np.ndarray.dtype.__set__(self, value)


def test_dtypes_without_a_format(ranks):
    def body(comm):
        x, y = (np.full(8, bits, dtype="u2").view("M8[s]") for bits in (0x3F80, 0))
        comm.plan("allreduce", x.view(Extension), y.view(Extension)).run(20)
        return y.view("u2").tolist()

    assert ranks.run(body) == [[0x4080] * 8] * 4


def test_float16_is_rounded_as_numpy_rounds():
    values = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    shifted = np.roll(values, 12345)
    with np.errstate(all="ignore"):
        expected = values + shifted

    def body(comm):
        x = values if comm.rank == 0 else shifted
        y = np.zeros_like(x)
        comm.plan("allreduce", x, y).run(20)
        return y

    with Communicator.local(2) as ranks:
        for y in ranks.run(body):
            np.testing.assert_array_equal(y, expected)


def test_products_of_complex_numbers(ranks):
    def body(comm):
        y = np.array([comm.rank + 1j, 2 + 1j], dtype=np.complex64)
        comm.plan("allreduce", y, in_place=True, op="prod").run(20)
        return y.tolist()

    assert ranks.run(body) == [[1j * (1 + 1j) * (2 + 1j) * (3 + 1j), (2 + 1j) ** 4]] * 4


ALONE = np.zeros(6)


@pytest.mark.parametrize(
    "x, y, message",
    [
        (Tensor(ALONE, (10, 1)), ALONE, r"buffer 'x': the array is in the memory of a device .*10, device 1"),
        (Tensor(ALONE[::2]), ALONE, "buffer 'x': the array is not contiguous"),
        (ALONE.astype(np.clongdouble), ALONE, "buffer 'x': no type of elements stands for the format 'Zg'"),
        (ALONE.astype(bool), ALONE, "buffer 'x': no type of elements stands for the format '?'"),
        (ALONE.astype(">f8"), ALONE, "buffer 'x': no type of elements stands for the format '>d'"),
        (ALONE.astype(np.longdouble), ALONE, "buffer 'x': no type of elements stands for the format 'g'"),
        (np.zeros(12)[::2], ALONE, "buffer 'x': the array is not contiguous"),
        (np.zeros((2, 3)).T, ALONE, "buffer 'x': the array is not contiguous"),
        (ALONE, np.zeros(6, dtype=np.float32), "buffer 'y' has elements of f32, others have f64"),
        (ALONE, np.zeros(5), "buffer 'y' has 5 elements, not 6"),
        (ALONE, bytes(48), "buffer 'y': the array is read-only"),
        (Tensor(ALONE, "cpu"), ALONE, r"buffer 'x': __dlpack_device__\(\) returned no pair of ints"),
        ([1.0], ALONE, "buffer 'x': an object of type 'list' has no memory of numbers"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_memory_that_is_refused(x, y, message):
    with Communicator.local(1) as ranks:
        with pytest.raises(colldsl.ArgumentError, match=message):
            ranks[0].plan("allreduce", x, y)


def test_read_only_input_is_taken():
    x = np.ones(6)
    x.setflags(write=False)
    y = np.zeros(6)
    with Communicator.local(1) as ranks:
        ranks[0].plan("allreduce", x, y).run(20)
        assert (y == 1).all()


def test_wrong_descriptions():
    with Communicator.local(1) as ranks:
        comm = ranks[0]
        with pytest.raises(colldsl.ProgramError, match="there is no collective 'alreduce'"):
            comm.plan("alreduce")
        with pytest.raises(colldsl.ArgumentError, match="'allreduce' has 2 buffers .x, y., not 3"):
            comm.plan("allreduce", ALONE, ALONE, ALONE)
        with pytest.raises(colldsl.ArgumentError, match="buffer 'x' is given twice"):
            comm.plan("allreduce", ALONE, x=ALONE)
        with pytest.raises(colldsl.ArgumentError, match="there is no reduction 'most'"):
            comm.plan("allreduce", ALONE, op="most")
        with pytest.raises(colldsl.ArgumentError, match="parameter 'root' of 'bcast' takes a rank, not {}"):
            comm.plan("bcast", ALONE, root={})
        with pytest.raises(colldsl.PlanError, match="rout"):
            comm.plan("bcast", ALONE, rout=1).commit()
        with pytest.raises(colldsl.PlanError):  # the memory is too small
            comm.plan("allreduce", ALONE, np.zeros(6), count=7).run()
    with pytest.raises(colldsl.ArgumentError, match="0 ranks"):
        Communicator.local(0)
    with pytest.raises(colldsl.ArgumentError, match="there is no pass 'nome'"):
        Communicator.local(1, passes="nome")


def test_use_after_close():
    with Communicator.local(1) as ranks:
        comm = ranks[0]
        plan = comm.plan("barrier")
        with pytest.raises(colldsl.StateError, match="the plan is not committed"):
            plan.wait()
        plan.close()
        plan.close()
        for use in (plan.start, plan.test, plan.wait, plan.cancel, plan.commit, lambda: plan.info):
            with pytest.raises(colldsl.StateError, match="the plan is closed"):
                use()
        other = comm.plan("barrier")
    assert other.closed and comm.closed
    with pytest.raises(colldsl.StateError, match="the communicator is closed"):
        comm.plan("barrier")


def test_a_plan_that_is_waited_for_cannot_be_closed(ranks):
    def body(comm):
        plan = comm.plan("barrier").commit()
        go = comm.plan("barrier").commit()
        if comm.rank == 0:
            plan.start()
            waiter = threading.Thread(target=plan.wait, args=(20,))
            waiter.start()
            time.sleep(0.2)
            for use in (plan.close, comm.close, plan.start):
                with pytest.raises(colldsl.StateError, match="another thread uses the plan"):
                    use()
            go.run(20)
            waiter.join()
        else:
            go.run(20)
            plan.run(20)
        return True

    assert ranks.run(body) == [True] * 4


def test_timeout():
    with Communicator.local(2) as ranks:

        def body(comm):
            plan = comm.plan("barrier").commit()
            if comm.rank == 1:
                return plan
            with pytest.raises(colldsl.TimeoutError, match=r"timed out after 0\.12 s") as raised:
                plan.start().wait(0.12)
            assert isinstance(raised.value, TimeoutError)
            return True

        assert ranks.run(body)[0] is True


def test_an_exception_in_a_rank_ends_the_others(ranks):
    def body(comm):
        plan = comm.plan("barrier").commit()
        if comm.rank == 2:
            raise KeyError("mine")
        plan.run()

    with pytest.raises(KeyError, match="mine"):
        ranks.run(body)
    assert all(comm.closed for comm in ranks)


def test_cancel():
    """Rank 1 begins its run once rank 0 has cancelled its own: before, it could be over."""
    is_cancelled = threading.Event()
    with Communicator.local(2) as ranks:

        def body(comm):
            plan = comm.plan("barrier").commit()
            if comm.rank == 0:
                plan.start()
                plan.cancel()
                is_cancelled.set()
                with pytest.raises(colldsl.CancelledError, match="the run was cancelled"):
                    plan.wait(20)
            else:
                assert is_cancelled.wait(20)
                with contextlib.suppress(colldsl.CancelledError):
                    plan.start()
                    plan.wait(20)

        ranks.run(body)


def test_async(ranks):
    """All ranks are tasks of one thread."""

    async def rank(comm):
        x, y = np.full(100, comm.rank), np.zeros(100, dtype=int)
        async with comm.plan("allreduce", x, y) as plan:
            for _ in range(3):
                plan.start()
                await plan
        assert plan.closed
        return int(y[99])

    async def job():
        return await asyncio.gather(*(rank(comm) for comm in ranks))

    assert asyncio.run(job()) == [6] * 4


def test_an_error_of_an_async_commit_is_raised():
    async def job(comm):
        with pytest.raises(colldsl.PlanError):
            async with comm.plan("bcast", np.zeros(3), rout=1):
                pass

    with Communicator.local(1) as ranks:
        asyncio.run(job(ranks[0]))


def test_more_ranks_than_cores():
    with Communicator.local(3 * (os.cpu_count() or 1) + 7) as ranks:
        total = sum(range(len(ranks)))

        def body(comm):
            y = np.zeros(1, dtype=np.int64)
            comm.plan("allreduce", np.array([comm.rank]), y).run(60)
            return y[0] == total

        assert all(ranks.run(body))


def test_exceptions_of_allgather_are_raised():
    def broken(mine):
        raise LookupError("no such rank")

    with pytest.raises(LookupError, match="no such rank"):
        Communicator.from_allgather(0, 2, broken)
    with pytest.raises(TypeError, match="returned no bytes"):
        Communicator.from_allgather(0, 2, lambda mine: 7)
    with pytest.raises(ValueError, match="1 bytes; 2 ranks have"):
        Communicator.from_allgather(0, 2, lambda mine: b"x")


def test_graph(ranks):
    def body(comm):
        right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        graph = comm.graph([right, left], [left, right])
        x = np.array([comm.rank, comm.rank + 10], dtype=np.int32)
        y = np.zeros(2, dtype=np.int32)
        comm.plan("neighbor_alltoall", x, y, count=1, g=graph).run(20)
        return y.tolist()

    assert ranks.run(body)[1] == [0, 12]


def test_keys_of_a_graph(ranks):
    """Two edges lead to the right; the receiver has them the other way round."""

    def body(comm):
        right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        graph = comm.graph([right, right], [left, left], destination_keys=[7, 9], source_keys=[9, 7])
        x = np.array([comm.rank, comm.rank + 10], dtype=np.int32)
        y = np.zeros(2, dtype=np.int32)
        comm.plan("neighbor_alltoall", x, y, count=1, g=graph).run(20)
        return y.tolist()

    assert ranks.run(body)[1] == [10, 0]


def test_keys_that_do_not_fit():
    with Communicator.local(1) as ranks:
        with pytest.raises(colldsl.ArgumentError, match="1 keys of destinations for 2 destinations"):
            ranks[0].graph([0, 0], [0, 0], destination_keys=[1])


def test_blocks_with_displacements(ranks):
    """Rank r sends r + 1 elements to each rank; blocks are apart, and in other orders, on both sides."""

    def body(comm):
        p, mine = comm.size, comm.rank + 1
        x = np.full(p * 10, -1, dtype=np.int32)
        starts = [10 * (p - 1 - r) for r in range(p)]
        for r in range(p):
            x[starts[r] : starts[r] + mine] = 100 * comm.rank + r
        y = np.full(p * 8, -1, dtype=np.int32)
        plan = comm.plan("alltoallv_pairwise", x, y, blocks={"x": [mine] * p, "y": [r + 1 for r in range(p)]},
                         displacements={"x": starts, "y": [8 * r + 1 for r in range(p)]})
        plan.run(20)
        first = y.tolist()
        y[:] = -1
        plan.set_blocks("y", [r + 1 for r in range(p)]).run(20)  # side by side
        return first, y.tolist()

    for rank, (apart, beside) in enumerate(ranks.run(body)):
        expected = [-1] * 32
        for r in range(4):
            expected[8 * r + 1 : 8 * r + 2 + r] = [100 * r + rank] * (r + 1)
        assert apart == expected
        assert beside == [100 * r + rank for r in range(4) for _ in range(r + 1)] + [-1] * 22


def test_neighbors_with_blocks_and_displacements(ranks):
    def body(comm):
        right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        graph = comm.graph([right, left], [left, right])
        x = np.arange(8, dtype=np.int32) + 10 * comm.rank
        y = np.full(8, -1, dtype=np.int32)
        comm.plan("neighbor_alltoallv", x, y, g=graph, blocks={"send": [1, 2], "recv": [1, 2]},
                  displacements={"send": [5, 1], "recv": [3, 6]}).run(20)
        return y.tolist()

    assert ranks.run(body)[1] == [-1, -1, -1, 5, -1, -1, 21, 22]


def test_displacements_that_do_not_fit():
    with Communicator.local(1) as ranks:
        with pytest.raises(colldsl.ArgumentError, match="displacements of 'x' without the lengths"):
            ranks[0].plan("alltoallv_pairwise", ALONE, ALONE, displacements={"x": [0]})
        with pytest.raises(colldsl.ArgumentError, match="buffer 'x': 2 displacements for 1 blocks"):
            ranks[0].plan("alltoallv_pairwise", ALONE, ALONE, blocks={"x": [1]}, displacements={"x": [0, 1]})


def test_launched_alone():
    with Communicator.launched() as comm:
        assert (comm.rank, comm.size) == (0, 1)


@pytest.mark.parametrize("how", ["alone", "ranks"])
def test_ctrl_c_while_waiting(how):
    body = """
import sys, colldsl
ranks = colldsl.Communicator.local(2)
plans = ranks.run(lambda comm: comm.plan("barrier").commit())
def wait(comm):
    if comm.rank == 0:
        print("ready", flush=True)
        plans[0].wait()
plans[0].start()
try:
    if sys.argv[1] == "ranks":
        ranks.run(wait)
    else:
        wait(ranks[0])
except KeyboardInterrupt:
    if sys.argv[1] == "alone":  # the run goes on
        plans[1].run(20)
        plans[0].wait(20)
    print("interrupted", flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", body, how], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=60)[0] == "interrupted\n"
    assert child.returncode == 0


@pytest.mark.parametrize("how", ["alone", "ranks", "task"])
def test_ctrl_c_while_committing(how):
    """The other rank never commits. The commit would wait for 60 s."""
    body = """
import asyncio, sys, threading, colldsl
ranks = colldsl.Communicator.local(2)
def commit(comm):
    if comm.rank == 0:
        print("ready", flush=True)
        comm.plan("barrier").commit()
async def task():
    print("ready", flush=True)
    async with ranks[0].plan("barrier"):
        pass
try:
    if sys.argv[1] == "ranks":
        ranks.run(commit)
    elif sys.argv[1] == "task":
        asyncio.run(task())
    else:
        commit(ranks[0])
except KeyboardInterrupt:
    left = [t.name for t in threading.enumerate() if t is not threading.main_thread()]
    print("interrupted", left if sys.argv[1] != "task" else [], flush=True)
try:
    ranks[1].plan("barrier").commit()
except (colldsl.StateError, colldsl.CancelledError, colldsl.PlanError) as error:
    print(type(error).__name__, flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", body, how], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    begin = time.monotonic()
    printed = child.communicate(timeout=60)[0]
    assert time.monotonic() - begin < 30  # far less than the commit would wait
    assert printed in ("interrupted []\nCancelledError\n", "interrupted []\nStateError\n",
                       "interrupted []\nPlanError\n")
    assert child.returncode == 0
