"""Communicators, and how plans are made of them."""
from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, SupportsIndex, TypeVar, Union, overload

from . import _colldsl
from ._closing import Closing
from ._words import INT64, MOST_ELEMENTS, MOST_RANKS, integer, integers, number
from .builder import Collective
from .errors import ArgumentError, CancelledError, StateError
from .plans import PROOFS, Graph, Plan, parameters_of, program_of, set_value
from .program import Path, Program

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

R = TypeVar("R")


class Communicator(Closing):
    """The ranks, as one of them sees them."""

    def __init__(self, native: _colldsl.Communicator) -> None:
        self._native = native

    @staticmethod
    def local(
        ranks: SupportsIndex,
        *,
        topology: Optional[str] = None,
        passes: Optional[str] = None,
        network: Optional[str] = None,
        setup_timeout: float = 0,
        arena_bytes: int = 0,
        single_copy: bool = True,
        least_proof: str = "none",
        strict_transfers: bool = False,
    ) -> "LocalRanks":
        """Ranks that are threads of this process, of which LocalRanks.run() has one each.
        The settings are those of colldsl_options in the C API."""
        settings = _settings(locals())
        count = integer(ranks, "ranks", 0, MOST_RANKS)
        return LocalRanks([Communicator(c) for c in _colldsl.Communicator.local(count, settings)])

    @staticmethod
    def from_mpi4py(
        comm: "Intracomm",
        *,
        topology: Optional[str] = None,
        passes: Optional[str] = None,
        network: Optional[str] = None,
        setup_timeout: float = 0,
        arena_bytes: int = 0,
        single_copy: bool = True,
        least_proof: str = "none",
        strict_transfers: bool = False,
    ) -> "Communicator":
        """Collective: the ranks of an intracommunicator of mpi4py, which is used in this call
        alone."""
        settings = locals()
        settings.pop("comm")
        return Communicator.from_allgather(
            comm.Get_rank(),
            comm.Get_size(),
            lambda mine: b"".join(comm.allgather(mine)),
            **settings,
        )

    @staticmethod
    def from_allgather(
        rank: SupportsIndex,
        size: SupportsIndex,
        allgather: Callable[[bytes], bytes],
        *,
        topology: Optional[str] = None,
        passes: Optional[str] = None,
        network: Optional[str] = None,
        setup_timeout: float = 0,
        arena_bytes: int = 0,
        single_copy: bool = True,
        least_proof: str = "none",
        strict_transfers: bool = False,
    ) -> "Communicator":
        """Collective: `allgather` takes as many bytes on each rank and returns those of all, in the
        order of the ranks. What it raises is raised here."""
        settings = _settings(locals())
        if not callable(allgather):
            raise ArgumentError(f"allgather: {allgather!r} cannot be called")
        return Communicator(
            _colldsl.Communicator.of_bootstrap(
                integer(rank, "rank", 0, MOST_RANKS),
                integer(size, "size", 0, MOST_RANKS),
                allgather,
                settings,
            )
        )

    @staticmethod
    def launched(
        *,
        topology: Optional[str] = None,
        passes: Optional[str] = None,
        network: Optional[str] = None,
        setup_timeout: float = 0,
        arena_bytes: int = 0,
        single_copy: bool = True,
        least_proof: str = "none",
        strict_transfers: bool = False,
    ) -> "Communicator":
        """Collective: the processes that mpirun or srun started; one that was started alone is a
        communicator of one rank."""
        return Communicator(_colldsl.Communicator.launched(_settings(locals())))

    @property
    def rank(self) -> int:
        return self._native.rank

    @property
    def size(self) -> int:
        return self._native.size

    def plan(
        self,
        collective: str,
        /,
        *buffers: Any,
        count: Optional[SupportsIndex] = None,
        type: Optional[str] = None,
        in_place: bool = False,
        device_only: bool = False,
        device_messages: Optional[SupportsIndex] = None,
        passes: Optional[str] = None,
        program: Union[None, Program, Collective, Path] = None,
        blocks: Optional[Mapping[str, Iterable[SupportsIndex]]] = None,
        displacements: Optional[Mapping[str, Iterable[SupportsIndex]]] = None,
        values: Optional[Mapping[str, Any]] = None,
        **more: Any,
    ) -> Plan:
        """Describes a plan; commit() or the first start(), which all ranks call, makes it.

        collective  a collective, or a function for which rules choose one, of the standard library
                    or of `program`
        program     a Program, a function that collective() wraps, or a file; None: the standard
                    library
        buffers     memory in the order of the collective's buffers: NumPy arrays, or whatever has the
                    buffer protocol or DLPack; arrays in memory of CUDA also by
                    __cuda_array_interface__. None: this rank has none. It is used where it is.
        count       n; else the length of the first buffer that has n elements, or n per rank
        type        of the elements; else that of the buffers
        in_place    the form in place, without the buffer that lies in another one
        device_only all ranks bind all their buffers in memory of CUDA: long messages between ranks
                    of one machine go from device to device
        device_messages
                    these have so many bytes or more; 0: all of them, as CUDA graphs need it
        blocks      per buffer whose lengths only this rank knows: the lengths of its blocks
        displacements
                    per buffer of `blocks`: where its blocks begin; else they lie side by side.
                    Both count elements
        more        parameters by their names, such as root=3, op="max"; buffers by theirs
        values      the same as a dict, for names that are those of other arguments
        """
        source = program_of(program, self.size)
        if not isinstance(collective, str):
            raise ArgumentError(f"the name of a collective is text, not {collective!r}")
        parameters = parameters_of(collective, source)
        library = None if source is None else source.library(None)
        names = [p.name for p in parameters if p.is_buffer and not (in_place and p.is_aliased)]
        if len(buffers) > len(names):
            raise ArgumentError(
                f"'{collective}' has {len(names)} buffers ({', '.join(names)}), "
                f"not {len(buffers)}"
            )
        named = dict(zip(names, buffers))
        native = _colldsl.Plan(self._native, library, collective)
        plan = Plan(native, parameters, self.size)
        twice = set(values or {}) & set(more)
        if twice:
            raise ArgumentError(f"parameter '{min(twice)}' is given twice")
        known = {p.name: p for p in parameters}
        for name, value in {**(values or {}), **more}.items():
            if name in known and known[name].is_buffer:
                if name in named:
                    raise ArgumentError(f"buffer '{name}' is given twice")
                named[name] = value
            else:
                set_value(native, collective, name, known[name].kind if name in known else "", value)
        if type is not None:
            native.set_type(type)
            plan._type = type
        if in_place:
            native.set_in_place()
        if device_only:
            native.set_device_only()
        if device_messages is not None:
            native.set_device_messages(
                integer(device_messages, "device_messages", 0, MOST_ELEMENTS)
            )
        if passes is not None:
            native.set_passes(passes)
        plan._bind(count, named)
        for name in displacements or {}:
            if name not in (blocks or {}):
                raise ArgumentError(f"displacements of '{name}' without the lengths of its blocks")
        for name, lengths in (blocks or {}).items():
            plan.set_blocks(name, lengths, (displacements or {}).get(name))
        return plan

    def graph(
        self,
        destinations: Iterable[SupportsIndex],
        sources: Iterable[SupportsIndex],
        *,
        destination_keys: Optional[Iterable[SupportsIndex]] = None,
        source_keys: Optional[Iterable[SupportsIndex]] = None,
    ) -> Graph:
        """Collective: the ranks that this one sends to and receives from, in the order of slots. -1
        leads nowhere, but keeps its slot. Keys tell apart edges between the same two ranks: the k-th
        out-edge from a to b with a key is the k-th in-edge of b from a with that key."""
        out_keys = in_keys = None
        if destination_keys is not None:
            out_keys = integers(destination_keys, "destination_keys", *INT64)
        if source_keys is not None:
            in_keys = integers(source_keys, "source_keys", *INT64)
        last = self.size - 1
        out = integers(destinations, "destinations", -1, last)
        come = integers(sources, "sources", -1, last)
        return Graph(_colldsl.Graph(self._native, out, come, out_keys, in_keys))

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

    def __repr__(self) -> str:
        if self.closed:
            return "<colldsl.Communicator: closed>"
        return f"<colldsl.Communicator: rank {self.rank} of {self.size}>"


class LocalRanks(Closing, Sequence[Communicator]):
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
        try:
            for thread in threads:
                thread.start()
        except BaseException as error:  # there is no other thread
            errors.append(error)
            self._comms[0]._native.interrupt()
        threads = [thread for thread in threads if thread.ident is not None]
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
            with contextlib.suppress(StateError):  # other threads of the program may use them
                self.close()
            causes = [error for error in errors if not isinstance(error, CancelledError)]
            raise (causes or errors)[0]
        return results

    def close(self) -> None:
        """Closes all, also if one raises."""
        with contextlib.ExitStack() as stack:
            for comm in self._comms:
                stack.callback(comm.close)

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


def _settings(given: Mapping[str, Any]) -> _colldsl.Settings:
    """From the arguments of a factory."""
    settings = _colldsl.Settings()
    settings.topology = given["topology"]
    settings.passes = given["passes"]
    settings.network = given["network"]
    settings.setup_timeout = number(given["setup_timeout"], "setup_timeout")
    settings.arena_bytes = integer(given["arena_bytes"], "arena_bytes", 0, MOST_ELEMENTS)
    settings.no_single_copy = not given["single_copy"]
    if given["least_proof"] not in PROOFS:
        raise ArgumentError(
            f"least_proof: {given['least_proof']!r} is none of {', '.join(PROOFS)}"
        )
    settings.least_proof = PROOFS.index(given["least_proof"])
    settings.strict_transfers = given["strict_transfers"]
    return settings
