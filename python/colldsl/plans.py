"""Communicators and plans."""
from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Optional, TypeVar, Union, overload

from . import _colldsl
from .errors import ArgumentError, CancelledError
from .program import Program, load

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

R = TypeVar("R")

_known: dict[str, list[_colldsl.Parameter]] = {}
_known_lock = threading.Lock()


def _parameters(collective: str, program: Optional[Program]) -> list[_colldsl.Parameter]:
    """Those of a collective of the program, or of the standard library."""
    if program is not None:
        return program._native.parameters(collective)
    with _known_lock:
        if collective not in _known:
            _known[collective] = load(collective)._native.parameters(collective)
        return _known[collective]


@dataclass(frozen=True)
class PlanInfo:
    """What a committed plan runs: colldsl_plan_description of the C API."""

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


class Graph:
    """The ranks that a rank sends to and receives from. Made by Communicator.graph()."""

    def __init__(self, native: _colldsl.Graph) -> None:
        self._native = native

    @property
    def rounds(self) -> int:
        """In how many rounds all ranks send along the graph; 0 if there was no search."""
        return self._native.rounds


class Plan:
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

    def bind(self, count: Optional[int] = None, **buffers: Any) -> "Plan":
        """Other memory for these buffers, before commit() or between runs. `count` is n; without
        it, it follows from the first buffer that has n elements, or n per rank."""
        memories: dict[str, _colldsl.Memory] = {}
        for name, array in buffers.items():
            parameter = self._parameters.get(name)
            if parameter is None or not parameter.is_buffer:
                known = ", ".join(p.name for p in self._parameters.values() if p.is_buffer)
                raise ArgumentError(f"there is no buffer '{name}'; there are {known}")
            if array is not None:
                memories[name] = _colldsl.Memory(array, name, parameter.kind != "in")
                self._check_type(name, parameter, memories[name])
        n = self._count(memories) if count is None else count
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
        lengths: Sequence[int],
        displacements: Optional[Sequence[int]] = None,
    ) -> "Plan":
        """Other lengths of the blocks of a buffer, and where they begin, in elements; before commit()
        or between runs. Without displacements they lie side by side."""
        starts = None if displacements is None else list(displacements)
        self._native.set_blocks(buffer, list(lengths), starts)
        return self

    def commit(self) -> "Plan":
        """Collective: all ranks commit their plans in the same order. Errors are the same on all.
        Ctrl-C ends it, and fails the communicator on all ranks."""
        self._native.commit()
        self._is_committed = True
        return self

    @property
    def info(self) -> PlanInfo:
        return PlanInfo(**self._native.info())

    def start(self) -> "Plan":
        """Begins a run and returns at once. The first start commits the plan."""
        if not self._is_committed:
            self.commit()
        self._native.start()
        return self

    def test(self) -> bool:
        """Makes progress: is no run under way?"""
        return self._native.test()

    def wait(self, timeout: Optional[float] = None) -> None:
        """Waits until the run is over. A run that takes longer than `timeout` seconds fails, and the
        plan with it. After Ctrl-C the run goes on, and may be waited for again."""
        self._native.wait(-1.0 if timeout is None else timeout)

    def run(self, timeout: Optional[float] = None) -> None:
        """start() and wait()."""
        self.start()
        self.wait(timeout)

    def cancel(self) -> None:
        """Gives up the result of the run under way; a wait then ends with CancelledError."""
        self._native.cancel()

    def blocks(self, buffer: str, count: int) -> list[int]:
        """After a run: how many elements each of the `count` blocks of a buffer T[k][<= m] has."""
        return self._native.blocks(buffer, count)

    @property
    def closed(self) -> bool:
        return self._native.closed

    def close(self) -> None:
        """Frees the plan. One that runs fails on the other ranks."""
        self._native.close()

    def __enter__(self) -> "Plan":
        return self if self._is_committed else self.commit()

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

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
    may all be taken by ranks that wait for this one. If the task is cancelled, so is the work."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def end(error: Optional[BaseException]) -> None:
        if done.cancelled():
            return
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
        loop.call_soon_threadsafe(end, error)

    # No daemon: Python would end it in the midst of C++ when the program ends.
    threading.Thread(target=body, name="colldsl-commit").start()
    try:
        await done
    except asyncio.CancelledError:
        interrupt()
        raise


class Communicator:
    """The ranks, as one of them sees them."""

    def __init__(self, native: _colldsl.Communicator) -> None:
        self._native = native

    @staticmethod
    def local(
        ranks: int,
        *,
        topology: Optional[str] = None,
        passes: Optional[str] = None,
        setup_timeout: float = 0,
        arena_bytes: int = 0,
        single_copy: bool = True,
        prove: bool = False,
        strict_transfers: bool = False,
    ) -> "LocalRanks":
        """Ranks that are threads of this process, of which LocalRanks.run() has one each.
        The settings are those of colldsl_options in the C API."""
        settings = _settings(
            topology, passes, setup_timeout, arena_bytes, single_copy, prove, strict_transfers
        )
        return LocalRanks([Communicator(c) for c in _colldsl.Communicator.local(ranks, settings)])

    @staticmethod
    def from_mpi4py(
        comm: "Intracomm",
        *,
        topology: Optional[str] = None,
        passes: Optional[str] = None,
        setup_timeout: float = 0,
        arena_bytes: int = 0,
        single_copy: bool = True,
        prove: bool = False,
        strict_transfers: bool = False,
    ) -> "Communicator":
        """Collective: the ranks of an intracommunicator of mpi4py, which is used in this call
        alone."""
        return Communicator.from_allgather(
            comm.Get_rank(),
            comm.Get_size(),
            lambda mine: b"".join(comm.allgather(mine)),
            topology=topology,
            passes=passes,
            setup_timeout=setup_timeout,
            arena_bytes=arena_bytes,
            single_copy=single_copy,
            prove=prove,
            strict_transfers=strict_transfers,
        )

    @staticmethod
    def from_allgather(
        rank: int,
        size: int,
        allgather: Callable[[bytes], bytes],
        *,
        topology: Optional[str] = None,
        passes: Optional[str] = None,
        setup_timeout: float = 0,
        arena_bytes: int = 0,
        single_copy: bool = True,
        prove: bool = False,
        strict_transfers: bool = False,
    ) -> "Communicator":
        """Collective: `allgather` takes as many bytes on each rank and returns those of all, in the
        order of the ranks. What it raises is raised here."""
        settings = _settings(
            topology, passes, setup_timeout, arena_bytes, single_copy, prove, strict_transfers
        )
        return Communicator(_colldsl.Communicator.of_bootstrap(rank, size, allgather, settings))

    @staticmethod
    def launched(
        *,
        topology: Optional[str] = None,
        passes: Optional[str] = None,
        setup_timeout: float = 0,
        arena_bytes: int = 0,
        single_copy: bool = True,
        prove: bool = False,
        strict_transfers: bool = False,
    ) -> "Communicator":
        """Collective: the processes that mpirun or srun started; one that was started alone is a
        communicator of one rank."""
        return Communicator(
            _colldsl.Communicator.launched(
                _settings(
                    topology,
                    passes,
                    setup_timeout,
                    arena_bytes,
                    single_copy,
                    prove,
                    strict_transfers,
                )
            )
        )

    @property
    def rank(self) -> int:
        return self._native.rank

    @property
    def size(self) -> int:
        return self._native.size

    def plan(
        self,
        collective: str,
        *buffers: Any,
        count: Optional[int] = None,
        type: Optional[str] = None,
        in_place: bool = False,
        passes: Optional[str] = None,
        program: Optional[Program] = None,
        blocks: Optional[dict[str, Sequence[int]]] = None,
        displacements: Optional[dict[str, Sequence[int]]] = None,
        **values: Any,
    ) -> Plan:
        """Describes a plan; commit() or the first start(), which all ranks call, makes it.

        collective  a collective, or a function for which rules choose one, of the standard library
                    or of `program`
        buffers     memory in the order of the collective's buffers: NumPy arrays, or whatever has the
                    buffer protocol or DLPack. None: this rank has none. It is used where it is.
        count       n; else the length of the first buffer that has n elements, or n per rank
        type        of the elements; else that of the buffers
        in_place    the form in place, without the buffer that lies in another one
        blocks      per buffer whose lengths only this rank knows: the lengths of its blocks
        displacements
                    per buffer of `blocks`: where its blocks begin; else they lie side by side.
                    Both count elements
        values      parameters by their names, such as root=3, op="max"; buffers by theirs
        """
        parameters = _parameters(collective, program)
        library = None if program is None else program.library(None)
        names = [p.name for p in parameters if p.is_buffer and not (in_place and p.is_aliased)]
        if len(buffers) > len(names):
            raise ArgumentError(
                f"'{collective}' has {len(names)} buffers ({', '.join(names)}), "
                f"not {len(buffers)}"
            )
        named = dict(zip(names, buffers))
        native = _colldsl.Plan(self._native, library, collective)
        plan = Plan(native, parameters, self.size)
        for name, value in values.items():
            if any(p.name == name and p.is_buffer for p in parameters):
                if name in named:
                    raise ArgumentError(f"buffer '{name}' is given twice")
                named[name] = value
            else:
                _set(native, name, value)
        if type is not None:
            native.set_type(type)
            plan._type = type
        if in_place:
            native.set_in_place()
        if passes is not None:
            native.set_passes(passes)
        plan.bind(count, **named)
        for name in displacements or {}:
            if name not in (blocks or {}):
                raise ArgumentError(f"displacements of '{name}' without the lengths of its blocks")
        for name, lengths in (blocks or {}).items():
            plan.set_blocks(name, lengths, (displacements or {}).get(name))
        return plan

    def graph(
        self,
        destinations: Sequence[int],
        sources: Sequence[int],
        *,
        destination_keys: Optional[Sequence[int]] = None,
        source_keys: Optional[Sequence[int]] = None,
    ) -> Graph:
        """Collective: the ranks that this one sends to and receives from, in the order of slots. -1
        leads nowhere, but keeps its slot. Keys tell apart edges between the same two ranks: the k-th
        out-edge from a to b with a key is the k-th in-edge of b from a with that key."""
        return Graph(
            _colldsl.Graph(
                self._native,
                list(destinations),
                list(sources),
                None if destination_keys is None else list(destination_keys),
                None if source_keys is None else list(source_keys),
            )
        )

    def progress(self) -> None:
        """Moves all running plans as far as they get without waiting."""
        self._native.progress()

    @property
    def closed(self) -> bool:
        return self._native.closed

    def close(self) -> None:
        """Closes its plans, then the communicator. Local."""
        self._native.close()

    def __enter__(self) -> "Communicator":
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return "<colldsl.Communicator: closed>"
        return f"<colldsl.Communicator: rank {self.rank} of {self.size}>"


class LocalRanks(Sequence[Communicator]):
    """The communicators of ranks that are threads of this process, by their ranks. Made by
    Communicator.local()."""

    def __init__(self, comms: list[Communicator]) -> None:
        self._comms = comms

    def run(self, body: Callable[..., R], *arguments: Any) -> list[R]:
        """Calls body(comm, *arguments) for each rank, in a thread of its own, and returns what the
        calls returned. If one raises, or after Ctrl-C, the waits of all ranks end, the
        communicators are closed, and the first error is raised."""
        results: list[Any] = [None] * len(self)
        errors: list[BaseException] = []
        ended = threading.Semaphore(0)  # a join that Ctrl-C ends cannot be made again

        def rank(comm: Communicator) -> None:
            try:
                results[comm.rank] = body(comm, *arguments)
            except BaseException as error:
                errors.append(error)
                comm._native.interrupt()
            finally:
                ended.release()

        threads = [
            threading.Thread(target=rank, args=(comm,), name=f"colldsl-rank-{r}")
            for r, comm in enumerate(self._comms)
        ]
        for thread in threads:
            thread.start()
        running = len(threads)
        while running > 0:
            try:
                ended.acquire()
                running -= 1
            except BaseException as interrupt:
                errors.insert(0, interrupt)
                self._comms[0]._native.interrupt()
        for thread in threads:
            thread.join()
        if errors:
            self.close()
            causes = [error for error in errors if not isinstance(error, CancelledError)]
            raise (causes or errors)[0]
        return results

    def close(self) -> None:
        for comm in self._comms:
            comm.close()

    @overload
    def __getitem__(self, index: int) -> Communicator:
        ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Communicator]:
        ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Communicator, Sequence[Communicator]]:
        return self._comms[index]

    def __len__(self) -> int:
        return len(self._comms)

    def __enter__(self) -> "LocalRanks":
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


def _set(native: _colldsl.Plan, name: str, value: Any) -> None:
    """A value of a parameter, by its type in Python."""
    if isinstance(value, str):
        native.set_op(name, value)
    elif isinstance(value, Graph):
        native.set_graph(name, value._native)
    elif hasattr(value, "__index__"):
        native.set_int(name, int(value))
    elif isinstance(value, Sequence) or hasattr(value, "__array__"):
        native.set_list(name, [int(number) for number in value])
    else:
        raise ArgumentError(
            f"parameter '{name}': '{type(value).__name__}' is no int, list of ints, reduction or "
            "graph"
        )


def _settings(
    topology: Optional[str],
    passes: Optional[str],
    setup_timeout: float,
    arena_bytes: int,
    single_copy: bool,
    prove: bool,
    strict_transfers: bool,
) -> _colldsl.Settings:
    settings = _colldsl.Settings()
    settings.topology = topology
    settings.passes = passes
    settings.setup_timeout = setup_timeout
    settings.arena_bytes = arena_bytes
    settings.no_single_copy = not single_copy
    settings.proves_all = prove
    settings.strict_transfers = strict_transfers
    return settings
