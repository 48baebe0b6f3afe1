"""Arrays in device memory: libcuda.so.1 is the fake device of the tests."""
import ctypes
import math

import numpy as np
import pytest

import colldsl
from colldsl import Communicator

cuda = ctypes.CDLL("libcuda.so.1")
cuda.fakeCudaMemory.restype, cuda.fakeCudaMemory.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
cuda.fakeCudaMisuse.restype = ctypes.c_char_p
for name in ("fakeCudaCopies", "fakeCudaBytesToHost"):
    getattr(cuda, name).restype = ctypes.c_uint64


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
