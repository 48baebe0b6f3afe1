"""Arrays in device memory: libcuda.so.1 is the fake device of the tests."""
import ctypes
import math
import threading

import numpy as np
import pytest

import colldsl
from colldsl import Communicator

cuda = ctypes.CDLL("libcuda.so.1")
cuda.fakeCudaMemory.restype, cuda.fakeCudaMemory.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
cuda.fakeCudaMisuse.restype = ctypes.c_char_p
for name in ("fakeCudaCopies", "fakeCudaBytesToHost"):
    getattr(cuda, name).restype = ctypes.c_uint64
cuda.cuStreamCreate.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint]
cuda.cuMemcpyDtoDAsync_v2.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p]
cuda.fakeCudaSynchronize.argtypes = [ctypes.c_void_p]
cuda.cuStreamBeginCapture_v2.argtypes = [ctypes.c_void_p, ctypes.c_int]
cuda.cuStreamEndCapture.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)]
cuda.cuGraphInstantiateWithFlags.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_ulonglong]
cuda.cuGraphLaunch.argtypes = [ctypes.c_void_p, ctypes.c_void_p]


class DeviceArray:
    """Memory of the fake device, which the test reads and writes between runs."""

    def __init__(self, shape, dtype="f8", **other):
        self.dtype = np.dtype(dtype)
        size = math.prod(shape) * self.dtype.itemsize
        address = cuda.fakeCudaMemory(size) if size > 0 else 0
        self.host = np.zeros(shape, self.dtype)
        if size > 0:
            bytes_ = (ctypes.c_byte * size).from_address(address)
            self.host = np.frombuffer(bytes_, dtype=self.dtype).reshape(shape)
        self.__cuda_array_interface__ = {
            "shape": tuple(shape), "typestr": self.dtype.str, "data": (address, False),
            "version": 3, **other,
        }


class DeviceTensor(DeviceArray):
    """As DeviceArray, by DLPack."""

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, stream=None):
        return self.host.__dlpack__()


@pytest.mark.parametrize("kind", [DeviceArray, DeviceTensor])
@pytest.mark.parametrize("dtype", ["f8", "i4", "c8", "u1", "f2"])
@pytest.mark.parametrize("device_only", [False, True])
def test_sums(kind, dtype, device_only):
    def body(comm):
        x, y = kind((5, 4), dtype), kind((5, 4), dtype)
        x.host[:] = comm.rank + 1
        comm.plan("allreduce", x, y, device_only=device_only).run(20)
        return y.host.tolist()

    with Communicator.local(3) as ranks:
        before = cuda.fakeCudaCopies()
        assert ranks.run(body) == [[[6] * 4] * 5] * 3
        assert cuda.fakeCudaCopies() > before
    assert cuda.fakeCudaMisuse() == b""


def test_arrays_without_elements():
    with Communicator.local(2) as ranks:
        assert ranks.run(lambda comm: comm.plan("allreduce", DeviceArray((3, 0)), DeviceArray((3, 0))).run(20) or 1) == [1, 1]


def test_long_messages_stay_on_devices():
    def body(comm):
        x, y = DeviceArray((10000,)), DeviceArray((4, 10000))
        x.host[:] = comm.rank
        comm.plan("allgather_ring", x, y, device_only=True).run(20)
        return [float(part.min() + part.max()) for part in y.host]

    with Communicator.local(4) as ranks:
        before = cuda.fakeCudaBytesToHost()
        assert ranks.run(body) == [[0.0, 2.0, 4.0, 6.0]] * 4
        assert cuda.fakeCudaBytesToHost() == before


def broken(**fields):
    """An array with these fields of the interface, or without those that are None."""
    array = DeviceArray((6,))
    for name, value in fields.items():
        if value is None:
            del array.__cuda_array_interface__[name]
        else:
            array.__cuda_array_interface__[name] = value
    return array


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"shape": None}, "is not complete"),
        ({"data": None}, "is not complete"),
        ({"data": 5}, "values of other types"),
        ({"typestr": 8}, "values of other types"),
        ({"typestr": "<f16"}, "no type of elements stands for the typestr '<f16'"),
        ({"typestr": ">f8"}, "no type of elements stands for the typestr '>f8'"),
        ({"typestr": "|b1"}, "no type of elements"),
        ({"typestr": "<f" + "9" * 30}, "no type of elements"),
        ({"strides": (16,)}, "the array is not contiguous"),
        ({"strides": (8, 8)}, "the array is not contiguous"),
        ({"shape": (-1,)}, "the shape of the array"),
        ({"shape": (2**62, 2**62)}, "the shape of the array"),
        ({"mask": 1}, "the array has a mask"),
        ({"data": (4096, False)}, "is not of device memory"),
        ({"shape": (7,)}, "ends after 48 bytes, before the 56 bytes"),
    ],
)
def test_arrays_that_are_refused(fields, message):
    with Communicator.local(1) as ranks:
        with pytest.raises(colldsl.Error, match=message):
            ranks[0].plan("allreduce", broken(**fields), DeviceArray((7,) if fields.get("shape") == (7,) else (6,))).run(20)


def test_read_only_arrays():
    with Communicator.local(1) as ranks:
        x, y = DeviceArray((6,)), DeviceArray((6,))
        x.host[:] = 3
        x.__cuda_array_interface__["data"] = (x.__cuda_array_interface__["data"][0], True)
        ranks[0].plan("allreduce", x, y).run(20)
        assert y.host.tolist() == [3.0] * 6
        with pytest.raises(colldsl.ArgumentError, match="buffer 'y': the array is read-only"):
            ranks[0].plan("allreduce", y, x)


def test_memory_of_the_host_in_a_plan_of_devices_is_refused():
    with Communicator.local(1) as ranks:
        with pytest.raises(colldsl.Error, match="'y' is memory of the host"):
            ranks[0].plan("allreduce", DeviceArray((6,)), np.zeros(6), device_only=True).run(20)


class Stream:
    """A stream of the fake device, whose first context becomes current in this thread."""

    def __init__(self):
        cuda.fakeCudaContext()
        handle = ctypes.c_void_p()
        assert cuda.cuStreamCreate(ctypes.byref(handle), 0) == 0
        self.handle = handle.value

    def copy(self, to, from_):
        """Adds a copy."""
        address = [array.__cuda_array_interface__["data"][0] for array in (to, from_)]
        assert cuda.cuMemcpyDtoDAsync_v2(*address, to.host.nbytes, self.handle) == 0

    def ends(self):
        """Runs its work: does it come to its end?"""
        return cuda.fakeCudaSynchronize(self.handle) == 0


def test_graphs_of_a_plan():
    launched = threading.Barrier(3)

    def body(comm):
        stream = Stream()
        x, y = DeviceArray((5,)), DeviceArray((5,))
        plan = comm.plan("allreduce", x, y, device_only=True, device_messages=0)
        plan.run(20)
        graph, exec_ = ctypes.c_void_p(), ctypes.c_void_p()
        assert cuda.cuStreamBeginCapture_v2(stream.handle, 0) == 0
        plan.start_on_stream(stream.handle).wait_on_stream(stream.handle)
        assert cuda.cuStreamEndCapture(stream.handle, ctypes.byref(graph)) == 0
        assert cuda.cuGraphInstantiateWithFlags(ctypes.byref(exec_), graph, 0) == 0
        sums = []
        for launch in range(3):
            x.host[:] = comm.rank + launch
            assert cuda.cuGraphLaunch(exec_, stream.handle) == 0
            launched.wait(20)
            assert stream.ends()
            launched.wait(20)
            plan.wait(20)
            sums.append(y.host.tolist())
        return sums

    before = cuda.fakeCudaBytesToHost()
    with Communicator.local(3) as ranks:
        assert ranks.run(body) == [[[3.0 + 3 * launch] * 5 for launch in range(3)]] * 3
    assert cuda.fakeCudaBytesToHost() == before
    assert cuda.fakeCudaMisuse() == b""


class OfCudaCore:
    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        return (0, self.handle)


class OfPyTorch:
    def __init__(self, handle):
        self.cuda_stream = handle


class OfCuPy:
    def __init__(self, handle):
        self.ptr = handle


@pytest.mark.parametrize("kind", [int, np.uint64, OfCudaCore, OfPyTorch, OfCuPy])
def test_runs_and_streams_follow_each_other(kind):
    def body(comm):
        stream = Stream()
        x, y, given, result = (DeviceArray((5,)) for _ in range(4))
        plan = comm.plan("allreduce", x, y)
        sums = []
        for run in range(3):
            given.host[:] = comm.rank + run
            stream.copy(x, given)
            plan.start_on_stream(kind(stream.handle)).wait_on_stream(kind(stream.handle))
            stream.copy(result, y)
            plan.wait(20)
            assert stream.ends()
            sums.append(result.host.tolist())
        return sums

    with Communicator.local(3) as ranks:
        assert ranks.run(body) == [[[3.0 + 3 * run] * 5 for run in range(3)]] * 3
    assert cuda.fakeCudaMisuse() == b""


def test_a_stream_waits_for_the_run():
    has_looked = threading.Event()

    def body(comm):
        stream = Stream()
        with comm.plan("allreduce", DeviceArray((5,)), DeviceArray((5,))) as plan:
            waits = True
            if comm.rank == 0:
                plan.start().wait_on_stream(stream.handle)
                waits = not stream.ends()
                has_looked.set()
            else:
                assert has_looked.wait(20)
                plan.start()
            plan.wait(20)
            return waits and stream.ends()

    with Communicator.local(2) as ranks:
        assert ranks.run(body) == [True, True]
    assert cuda.fakeCudaMisuse() == b""


class WithProtocol:
    def __init__(self, answer):
        self.answer = answer

    def __cuda_stream__(self):
        return self.answer


@pytest.mark.parametrize(
    "stream, message",
    [
        (None, "not a 'NoneType'"),
        (object(), "__cuda_stream__\\(\\), cuda_stream or ptr, not a 'object'"),
        (-1, "stream: -1 is less than 0"),
        (2**64, "is more than"),
        (OfPyTorch("1"), "cuda_stream of the stream: '1' is no int"),
        (OfCuPy(0.5), "ptr of the stream: 0.5 is no int"),
        (WithProtocol((1, 5)), "has version 1, not 0"),
        (WithProtocol(5), "gives 5, no pair"),
        (WithProtocol((0, None)), "None is no int"),
    ],
)
def test_streams_that_are_refused(stream, message):
    with Communicator.local(1) as ranks:
        plan = ranks[0].plan("allreduce", DeviceArray((6,)), DeviceArray((6,)))
        for call in (plan.start_on_stream, plan.wait_on_stream):
            with pytest.raises(colldsl.ArgumentError, match=message):
                call(stream)


def test_a_handle_of_no_stream_is_an_error():
    with Communicator.local(1) as ranks:
        plan = ranks[0].plan("allreduce", DeviceArray((6,)), DeviceArray((6,)))
        with pytest.raises(colldsl.Error, match="cuStreamGetCaptureInfo failed"):
            plan.start_on_stream(12345)
