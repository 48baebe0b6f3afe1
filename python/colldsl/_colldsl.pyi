"""The module in C++ (python/native/)."""
from typing import Any, Callable, Optional

import numpy as np
import numpy.typing as npt

version: str

class Parameter:
    name: str
    kind: str
    type: str
    is_buffer: bool
    is_aliased: bool
    counts_ranks: bool
    is_of_n: bool
    has_default: bool

class Counterexample:
    task: int
    ranks: int
    bytes: int
    in_place: bool
    parameters: str
    topology: str
    text: str
    pattern: str

class Verified:
    name: str
    ok: bool
    proofs: int
    refused: int
    excluded: int
    range: str
    summary: str
    counterexamples: list[Counterexample]
    promises_of_nothing: str

class LevelCount:
    crosses: str
    within: str
    messages: int
    bytes: str

class Simulated:
    name: str
    bytes: int
    finish_ns: npt.NDArray[np.uint64]
    makespan_ns: int
    events: int
    ops: int
    messages: int
    traffic: list[LevelCount]

class Shape:
    name: str
    ranks: int
    elements: int
    min_elements: int
    max_elements: int
    ops: npt.NDArray[np.uint64]

class ChoiceRequest:
    def __init__(self, fields: list[tuple[str, str]]) -> None: ...

class SingleRequest:
    def __init__(self, fields: list[tuple[str, str]]) -> None: ...

class MakeRequest:
    def __init__(self, fields: list[tuple[str, str]]) -> None: ...

class ProofRequest:
    def __init__(self, fields: list[tuple[str, str]]) -> None: ...

class SimulationRequest:
    def __init__(self, fields: list[tuple[str, str]]) -> None: ...

class PageRequest:
    def __init__(self, fields: list[tuple[str, str]]) -> None: ...

class Program:
    @staticmethod
    def read(operands: list[str], reading: SingleRequest) -> Program: ...
    @staticmethod
    def of_text(
        name: str,
        text: str,
        reading: SingleRequest,
        files: list[tuple[str, str]] = ...,
        places: list[tuple[int, int, int, int]] = ...,
    ) -> Program: ...
    def collectives(self) -> list[str]: ...
    def parameters(self, collective: str) -> list[Parameter]: ...
    def instantiate(self, request: MakeRequest) -> Program: ...
    def verify(self, request: ProofRequest) -> list[Verified]: ...
    @staticmethod
    def shown(failures: list[tuple[int, str]]) -> list[int]: ...
    def simulate(self, request: SimulationRequest) -> Simulated: ...
    def library(self, name: Optional[str]) -> bytes: ...
    def text(self) -> str: ...
    def shape(self) -> Shape: ...
    remarks: str

def choose(operands: list[str], request: ChoiceRequest) -> str: ...

class Shown:
    @staticmethod
    def of_runs(
        runs: list[tuple[Program, SimulationRequest]], page: PageRequest
    ) -> Shown: ...
    @staticmethod
    def of_proof(
        program: Program, proofs: ProofRequest, collective: str, task: int
    ) -> Shown: ...
    def html(self) -> str: ...
    def svg(self, page: PageRequest, is_opened: bool) -> str: ...
    title: str
    view: str

class Settings:
    topology: Optional[str]
    passes: Optional[str]
    network: Optional[str]
    setup_timeout: float
    arena_bytes: int
    no_single_copy: bool
    least_proof: int
    strict_transfers: bool

class Communicator:
    @staticmethod
    def local(ranks: int, settings: Settings) -> list[Communicator]: ...
    @staticmethod
    def of_bootstrap(
        rank: int, size: int, allgather: Callable[[bytes], bytes], settings: Settings
    ) -> Communicator: ...
    @staticmethod
    def launched(settings: Settings) -> Communicator: ...
    rank: int
    size: int
    closed: bool
    def progress(self) -> None: ...
    def interrupt(self) -> None: ...
    def close(self) -> None: ...

class Library:
    def __init__(self, content: bytes) -> None: ...

class Graph:
    def __init__(
        self,
        comm: Communicator,
        destinations: list[int],
        sources: list[int],
        out_keys: Optional[list[int]],
        in_keys: Optional[list[int]],
    ) -> None: ...
    rounds: int

class Memory:
    def __init__(self, array: Any, buffer: str, is_written: bool) -> None: ...
    type: str
    elements: int
    bytes: int

class Plan:
    def __init__(
        self, comm: Communicator, library: Optional[Library], collective: str
    ) -> None: ...
    def set_type(self, type: str) -> None: ...
    def set_in_place(self) -> None: ...
    def set_device_only(self) -> None: ...
    def set_device_messages(self, from_bytes: int) -> None: ...
    def set_op(self, parameter: str, op: str) -> None: ...
    def set_int(self, parameter: str, value: int) -> None: ...
    def set_list(self, parameter: str, values: list[int]) -> None: ...
    def set_graph(self, parameter: str, graph: Graph) -> None: ...
    def set_passes(self, passes: str) -> None: ...
    def set_count(self, n: int) -> None: ...
    def bind(self, buffer: str, memory: Memory) -> None: ...
    def set_blocks(
        self, buffer: str, counts: list[int], displacements: Optional[list[int]]
    ) -> None: ...
    def blocks(self, buffer: str, count: int) -> list[int]: ...
    def commit(self) -> None: ...
    def info(self) -> dict[str, Any]: ...
    def start(self) -> None: ...
    def start_on_stream(self, stream: int) -> None: ...
    def wait_on_stream(self, stream: int) -> None: ...
    def test(self) -> bool: ...
    def wait(self, timeout: float) -> None: ...
    def cancel(self) -> None: ...
    def interrupt(self) -> None: ...
    def close(self) -> None: ...
    closed: bool
