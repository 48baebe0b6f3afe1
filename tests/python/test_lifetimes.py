"""What ends while something else still uses it: signals, threads, tasks, the interpreter."""
import asyncio
import contextlib
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import colldsl
from colldsl import Communicator


def run(body, *arguments, limit=None):
    """A Python program, which has to end by itself."""
    command = [sys.executable, "-c", body, *arguments]
    if limit is not None:
        command = ["bash", "-c", f'ulimit -v {limit}; exec "$@"', "-", *command]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_ctrl_c_while_a_graph_is_made():
    """The other rank never comes. What the signal raised is raised there, and nowhere else."""
    ended = run("""
import os, signal, threading, colldsl
ranks = colldsl.Communicator.local(2)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    ranks[0].graph([1], [1])
except KeyboardInterrupt:
    print("interrupted")
colldsl.Communicator.local(1)[0].plan("barrier").commit()
print("committed")
""")
    assert (ended.stdout, ended.stderr, ended.returncode) == ("interrupted\ncommitted\n", "", 0)


def test_ctrl_c_while_allgather_fails():
    ended = run("""
import os, signal, time, colldsl
def allgather(mine):
    raise LookupError("none")
try:
    colldsl.Communicator.from_allgather(0, 2, allgather)
except LookupError:
    print("raised")
colldsl.Communicator.local(1)[0].plan("barrier").commit()
""")
    assert (ended.stdout, ended.stderr, ended.returncode) == ("raised\n", "", 0)


def close_while_a_graph_is_made(ranks):
    """The error of close(), None if the other thread came too late; and what that thread raised."""
    errors, refusal = [], None

    def graph():
        try:
            ranks[0].graph([1], [1])
        except (colldsl.SetupError, colldsl.StateError) as error:
            errors.append(str(error))

    waiter = threading.Thread(target=graph)
    waiter.start()
    time.sleep(0.1)
    try:
        ranks.close()
    except colldsl.StateError as error:
        refusal = str(error)
    waiter.join()
    return refusal, errors


def test_a_communicator_in_use_is_not_closed():
    for _ in range(50):
        ranks = Communicator.local(2)
        refusal, errors = close_while_a_graph_is_made(ranks)
        if refusal:
            break
    assert refusal and "another thread uses the communicator" in refusal
    assert ranks[1].closed  # all are closed that can be
    assert errors == ["rank 1 has left"]
    ranks.close()
    assert ranks[0].closed


def test_progress_beside_close():
    """A close comes between two calls of the other thread, or is refused."""
    for _ in range(10):
        ranks = Communicator.local(2, arena_bytes=1 << 21)
        plans = []
        is_over = threading.Event()

        def begin(comm):
            plans.append(comm.plan("allreduce", np.ones(50000), np.zeros(50000)).start())

        def progress(comm):
            with contextlib.suppress(colldsl.StateError):
                while not is_over.is_set():
                    comm.progress()

        ranks.run(begin)
        threads = [threading.Thread(target=progress, args=(comm,)) for comm in ranks]
        for thread in threads:
            thread.start()
        for _ in range(5):
            with contextlib.suppress(colldsl.StateError):
                ranks.close()
        is_over.set()
        for thread in threads:
            thread.join()
        ranks.close()


def test_a_graph_ends_when_another_rank_fails():
    with Communicator.local(2) as ranks:

        def body(comm):
            if comm.rank == 0:
                with pytest.raises(colldsl.CancelledError):
                    comm.graph([1], [1])
                return
            time.sleep(0.2)
            raise KeyError("mine")

        begin = time.monotonic()
        with pytest.raises(KeyError, match="mine"):
            ranks.run(body)
        assert time.monotonic() - begin < 30


def test_more_threads_than_there_are():
    """In so little address space there are stacks for some of the ranks alone."""
    ended = run("""
import colldsl
try:
    colldsl.Communicator.local(400, arena_bytes=1 << 20)
except (colldsl.SetupError, colldsl.OutOfMemoryError) as error:
    print(error)
""", limit=2500000)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("there is no thread for rank ") or "memory" in ended.stdout


def test_a_thread_of_run_that_cannot_start(monkeypatch):
    start = threading.Thread.start

    def refuse(self):
        if self.name == "colldsl-rank-1":
            raise RuntimeError("can't start new thread")
        start(self)

    with Communicator.local(2) as ranks:
        monkeypatch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            ranks.run(lambda comm: comm.plan("barrier").run())
        assert all(comm.closed for comm in ranks)


@pytest.mark.parametrize("what", ["wait", "commit", "graph", "progress", "verify", "simulate", "allgather"])
def test_daemon_threads_at_exit(what):
    """The program ends in the midst of a call of a daemon thread: with its own exit code."""
    ended = run("""
import sys, threading, time, numpy as np, colldsl
what = sys.argv[1]
ranks = colldsl.Communicator.local(2)
plans = ranks.run(lambda comm: comm.plan("allreduce", np.ones(9), np.zeros(9)).commit())
plans[0].start()
def progress():
    while True:
        ranks[0].progress()
def allgather(mine):
    time.sleep(20)
calls = {
    "wait": plans[0].wait,
    "commit": lambda: ranks[0].plan("barrier").commit(),
    "graph": lambda: ranks[0].graph([1], [1]),
    "progress": progress,
    "verify": lambda: colldsl.load("allreduce").verify("1..64"),
    "simulate": lambda: colldsl.load("allreduce_ring").simulate(ranks=1000, bytes=1 << 20),
    "allgather": lambda: colldsl.Communicator.from_allgather(0, 2, allgather),
}
threading.Thread(target=calls[what], daemon=True).start()
time.sleep(0.4)
sys.exit(7)
""", what)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("", "", 7)


def test_a_task_that_is_cancelled_while_it_commits():
    """Its thread has ended when the task has, so that the communicators can be closed."""

    async def job():
        with Communicator.local(2) as ranks:

            async def one(comm):
                async with comm.plan("barrier") as plan:
                    plan.start()
                    await plan

            await asyncio.wait_for(one(ranks[0]), 0.3)

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(job())


def test_a_loop_that_ends_before_the_commit():
    ended = run("""
import asyncio, colldsl
async def main():
    ranks = colldsl.Communicator.local(2)
    async def one(comm):
        async with comm.plan("barrier") as plan:
            await plan
    task = asyncio.ensure_future(one(ranks[0]))
    await asyncio.sleep(0.1)
asyncio.run(main())
""")
    assert (ended.stderr, ended.returncode) == ("", 0)


def test_subinterpreters_are_refused():
    ended = run("""
import _xxsubinterpreters as interpreters
one = interpreters.create()
interpreters.run_string(one, '''
try:
    import colldsl
except ImportError as error:
    print(error, flush=True)
''')
interpreters.destroy(one)
import colldsl
print(colldsl.__version__)
""")
    assert ended.returncode == 0, ended.stderr
    assert "not in a subinterpreter" in ended.stdout.splitlines()[0]


def test_a_forked_child_leaves_communicators_alone():
    ended = run("""
import os, sys, numpy as np, colldsl
ranks = colldsl.Communicator.local(2)
ys = [np.zeros(4), np.zeros(4)]
plans = ranks.run(lambda comm: comm.plan("allreduce", np.ones(4), ys[comm.rank]).commit())
child = os.fork()
if child == 0:
    for plan in plans:
        plan.close()
    ranks.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
ranks.run(lambda comm: plans[comm.rank].run(20))
print(ys[0][0], ys[1][0])
""")
    assert (ended.stdout, ended.stderr) == ("2.0 2.0\n", "")
