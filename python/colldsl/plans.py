"""Plans."""
from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Dict, Optional, SupportsIndex, Union

from . import _colldsl
from ._closing import Closing
from ._streams import Stream, handle_of
from ._words import INT64, MOST_ELEMENTS, MOST_RANKS, integer, integers, is_integer, number
from .builder import Collective
from .errors import ArgumentError
from .program import Path, Program, load

_known: dict[str, list[_colldsl.Parameter]] = {}
_known_lock = threading.Lock()


def program_of(given: Union[None, Program, Collective, Path], ranks: int) -> Optional[Program]:
    """What `program=` names; None: the standard library."""
    if given is None or isinstance(given, Program):
        return given
    if isinstance(given, Collective):
        return given.program(ranks)
    if isinstance(given, (str, os.PathLike)):
        return load(given)
    raise ArgumentError(
        "program= takes a Program, a function that collective() wraps, or a file, not a "
        f"'{type(given).__name__}'"
    )


def parameters_of(collective: str, program: Optional[Program]) -> list[_colldsl.Parameter]:
    """Those of a collective of the program, or of the standard library."""
    if program is not None:
        return program._native.parameters(collective)
    with _known_lock:
        if collective not in _known:
            _known[collective] = load(collective)._native.parameters(collective)
        return _known[collective]


PROOFS = ("none", "smaller ranks", "exact", "all ranks")
"""How far a plan is proved, the weakest first: colldsl_proof of the C API."""


@dataclass(frozen=True)
class PlanInfo:
    """What a committed plan runs: colldsl_plan_description of the C API. `proof` is one of PROOFS."""

    collective: str
    reason: str
    schedule: str
    arguments: str
    passes: str
    proof: str
    min_count: int
    max_count: int
    remarks: str
    transfers: str
    proved_for: str
    proved_ranks: int


class Graph:
    """The ranks that a rank sends to and receives from. Made by Communicator.graph()."""

    def __init__(self, native: _colldsl.Graph) -> None:
        self._native = native

    @property
    def rounds(self) -> int:
        """In how many rounds all ranks send along the graph; 0 if there was no search."""
        return self._native.rounds


class Plan(Closing):
    """A collective bound to memory: committed by all ranks together, then run as often as wanted.
    Made by Communicator.plan().

    with comm.plan("allreduce", x, y) as sum:
        sum.start()
        ...
        sum.wait()
    """

    def __init__(
        self, native: _colldsl.Plan, parameters: list[_colldsl.Parameter], ranks: int
    ) -> None:
        self._native = native
        self._parameters = {p.name: p for p in parameters}
        self._ranks = ranks
        self._is_committed = False
        self._type: Optional[str] = None

    def bind(
        self,
        /,
        count: Optional[SupportsIndex] = None,
        values: Optional[Mapping[str, Any]] = None,
        **buffers: Any,
    ) -> "Plan":
        """Other memory for these buffers, before commit() or between runs. `count` is n; without
        it, it follows from the first buffer that has n elements, or n per rank. `values` has
        buffers that are named `count` or `values`."""
        return self._bind(count, {**(values or {}), **buffers})

    def _bind(self, count: Optional[SupportsIndex], buffers: Mapping[str, Any]) -> "Plan":
        memories: dict[str, _colldsl.Memory] = {}
        for name, array in buffers.items():
            parameter = self._parameters.get(name)
            if parameter is None or not parameter.is_buffer:
                known = ", ".join(p.name for p in self._parameters.values() if p.is_buffer)
                raise ArgumentError(f"there is no buffer '{name}'; there are {known}")
            if array is not None:
                memories[name] = _colldsl.Memory(array, name, parameter.kind != "in")
                self._check_type(name, parameter, memories[name])
        n = self._count(memories) if count is None else integer(count, "count", 0, MOST_ELEMENTS)
        if n is not None:
            self._native.set_count(n)
        for name, memory in memories.items():
            self._native.bind(name, memory)
        return self

    def _check_type(
        self, name: str, parameter: _colldsl.Parameter, memory: _colldsl.Memory
    ) -> None:
        if parameter.type != "T":
            if parameter.type != memory.type:
                raise ArgumentError(
                    f"buffer '{name}' has elements of {memory.type}, not of {parameter.type}"
                )
            return
        if self._type is None:
            self._type = memory.type
            self._native.set_type(memory.type)
        elif self._type != memory.type:
            raise ArgumentError(
                f"buffer '{name}' has elements of {memory.type}, others have {self._type}"
            )

    def _count(self, memories: dict[str, _colldsl.Memory]) -> Optional[int]:
        """n, of which all buffers must be; None: no buffer tells it."""
        n: Optional[int] = None
        for name, memory in memories.items():
            parameter = self._parameters[name]
            if not parameter.is_of_n:
                continue
            share = self._ranks if parameter.counts_ranks else 1
            if memory.elements % share != 0:
                raise ArgumentError(
                    f"buffer '{name}' has {memory.elements} elements, which are not the same "
                    f"number for each of {share} ranks"
                )
            if n is None:
                n = memory.elements // share
            elif n * share != memory.elements:
                raise ArgumentError(
                    f"buffer '{name}' has {memory.elements} elements, not {n * share}"
                )
        return n

    def set_blocks(
        self,
        buffer: str,
        lengths: Iterable[SupportsIndex],
        displacements: Optional[Iterable[SupportsIndex]] = None,
    ) -> "Plan":
        """Other lengths of the blocks of a buffer, and where they begin, in elements; before commit()
        or between runs. Without displacements they lie side by side."""
        counts = integers(lengths, f"lengths of the blocks of '{buffer}'", 0, MOST_ELEMENTS)
        starts = None
        if displacements is not None:
            starts = integers(displacements, f"displacements of '{buffer}'", 0, MOST_ELEMENTS)
        self._native.set_blocks(buffer, counts, starts)
        return self

    def commit(self) -> "Plan":
        """Collective: all ranks commit their plans in the same order. Errors are the same on all.
        Ctrl-C ends it, and fails the communicator on all ranks."""
        self._native.commit()
        self._is_committed = True
        return self

    @property
    def info(self) -> PlanInfo:
        told: Dict[str, Any] = dict(self._native.info())
        told["proof"] = PROOFS[told["proof"]]
        return PlanInfo(**told)

    def start(self) -> "Plan":
        """Begins a run and returns at once. The first start commits the plan."""
        if not self._is_committed:
            self.commit()
        self._native.start()
        return self

    def start_on_stream(self, stream: Stream) -> "Plan":
        """Begins a run once the work that the stream of CUDA holds now has finished, and returns at
        once. test(), wait() and `await` make the progress of the run. The stream is an int, or an
        object with __cuda_stream__(), `cuda_stream` or `ptr`. The first start commits the plan.

        A stream that captures gets the whole plan, in the order of its last run: each launch of the
        graph is then a run of all ranks, and wait() says whether the plan failed meanwhile. An error
        names an op that needs the host, if there is one."""
        handle = handle_of(stream)
        if not self._is_committed:
            self.commit()
        self._native.start_on_stream(handle)
        return self

    def wait_on_stream(self, stream: Stream) -> "Plan":
        """Lets a stream wait for the run under way: what is added to it from now on begins when the
        run is over, or has failed. Returns at once. Until then, calls that wait for the stream or
        the device return only if another thread makes progress."""
        self._native.wait_on_stream(handle_of(stream))
        return self

    def test(self) -> bool:
        """Makes progress: is no run under way?"""
        return self._native.test()

    def wait(self, timeout: Optional[float] = None) -> None:
        """Waits until the run is over. A run that takes longer than `timeout` seconds fails, and the
        plan with it. After Ctrl-C the run goes on, and may be waited for again."""
        self._native.wait(-1.0 if timeout is None else number(timeout, "timeout"))

    def run(self, timeout: Optional[float] = None) -> None:
        """start() and wait()."""
        self.start()
        self.wait(timeout)

    def cancel(self) -> None:
        """Gives up the result of the run under way; a wait then ends with CancelledError."""
        self._native.cancel()

    def blocks(self, buffer: str, count: SupportsIndex) -> list[int]:
        """After a run: how many elements each of the `count` blocks of a buffer T[k][<= m] has."""
        return self._native.blocks(buffer, integer(count, "count of blocks", 0, MOST_RANKS))

    @property
    def closed(self) -> bool:
        return self._native.closed

    def close(self) -> None:
        """Frees the plan. One that runs fails on the other ranks."""
        self._native.close()

    def __enter__(self) -> "Plan":
        return self if self._is_committed else self.commit()

    async def __aenter__(self) -> "Plan":
        if not self._is_committed:
            await _in_thread(self.commit, self._native.interrupt)
        return self

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __await__(self) -> Generator[Any, None, None]:
        """Waits until the run is over, while other tasks of the event loop go on."""
        return self._wait_async().__await__()

    async def _wait_async(self) -> None:
        # Other tasks of this thread may be the ranks that are waited for.
        polls_before_sleep, sleep_s = 1000, 0.0005
        polls = 0
        while not self._native.test():
            polls += 1
            await asyncio.sleep(0 if polls < polls_before_sleep else sleep_s)


async def _in_thread(work: Callable[[], object], interrupt: Callable[[], None]) -> None:
    """Runs what blocks until other ranks do the same: in a thread of its own, as those of a pool
    may all be taken by ranks that wait for this one. If the task is cancelled, so is the work, and
    the task ends when the thread has: until then it uses the plan."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def end(error: Optional[BaseException]) -> None:
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def body() -> None:
        error: Optional[BaseException] = None
        try:
            work()
        except BaseException as raised:
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(end, error)

    # No daemon: Python would end it in the midst of C++ when the program ends.
    threading.Thread(target=body, name="colldsl-commit").start()
    try:
        await asyncio.shield(done)
    except asyncio.CancelledError:
        interrupt()
        while not done.done():
            with contextlib.suppress(BaseException):
                await asyncio.shield(done)
        done.exception()  # is known
        raise


_WORDS = {
    "int": "an int",
    "bool": "a bool",
    "rank": "a rank",
    "bytes": "a number of bytes",
    "time": "a time in nanoseconds",
    "reduction": 'a reduction, such as "sum"',
    "int[]": "a list of ints",
    "graph": "a graph, which Communicator.graph() makes",
}


def _kinds(value: Any) -> tuple[str, ...]:
    """Of parameters, those that take such a value."""
    if isinstance(value, str):
        return ("reduction",)
    if isinstance(value, Graph):
        return ("graph",)
    if is_integer(value):
        return ("int", "bool", "rank", "bytes", "time")
    if isinstance(value, Sequence) or hasattr(value, "__array__"):
        return ("int[]",)
    return ()


def set_value(native: _colldsl.Plan, collective: str, name: str, kind: str, value: Any) -> None:
    """A value of a parameter. `kind` is empty for one that is not known here: of a collective that
    rules choose, or a size; the commit checks it."""
    kinds = _kinds(value)
    if not kinds or (kind and kind not in kinds):
        takes = _WORDS.get(kind, "an int, a list of ints, a reduction or a graph")
        raise ArgumentError(f"parameter '{name}' of '{collective}' takes {takes}, not {value!r}")
    if isinstance(value, str):
        native.set_op(name, value)
    elif isinstance(value, Graph):
        native.set_graph(name, value._native)
    elif "int" in kinds:
        native.set_int(name, integer(value, f"parameter '{name}'", *INT64))
    else:
        native.set_list(name, integers(value, f"parameter '{name}'", *INT64))
