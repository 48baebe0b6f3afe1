"""Streams of CUDA, as other packages have them."""
from __future__ import annotations

from typing import Any, Protocol, SupportsIndex, Union

from ._words import integer, is_integer
from .errors import ArgumentError

_MOST_HANDLE = 2**64 - 1


class HasCudaStream(Protocol):
    """The protocol of cuda.core."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """Its version, which is 0, and the handle."""
        ...


Stream = Union[SupportsIndex, HasCudaStream, Any]


def handle_of(stream: Stream) -> int:
    """The handle of a stream: an int itself, or what the stream says by __cuda_stream__(), or its
    attribute `cuda_stream` (PyTorch) or `ptr` (CuPy). 0 is the default stream."""
    if is_integer(stream):
        return integer(stream, "stream", 0, _MOST_HANDLE)
    if hasattr(stream, "__cuda_stream__"):
        return _of_protocol(stream.__cuda_stream__())
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return integer(getattr(stream, name), f"{name} of the stream", 0, _MOST_HANDLE)
    raise ArgumentError(
        "a stream is an int, or an object with __cuda_stream__(), cuda_stream or ptr, not a "
        f"'{type(stream).__name__}'"
    )


def _of_protocol(answer: Any) -> int:
    try:
        version, handle = answer
    except (TypeError, ValueError):
        raise ArgumentError(f"__cuda_stream__() of the stream gives {answer!r}, no pair") from None
    if version != 0:
        raise ArgumentError(f"__cuda_stream__() of the stream has version {version!r}, not 0")
    return integer(handle, "__cuda_stream__() of the stream", 0, _MOST_HANDLE)
