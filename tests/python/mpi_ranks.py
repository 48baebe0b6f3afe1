"""Every rank of a job of mpi4py: communicators of its communicators, and errors on all ranks."""
import numpy as np
from mpi4py import MPI

import colldsl

world = MPI.COMM_WORLD


def allreduce(mpi):
    with colldsl.Communicator.from_mpi4py(mpi) as comm:
        assert (comm.rank, comm.size) == (mpi.Get_rank(), mpi.Get_size())
        x = np.full(1000, comm.rank + 1, dtype=np.int64)
        y, expected = np.zeros_like(x), np.zeros_like(x)
        comm.plan("allreduce", x, y).run(30)
        mpi.Allreduce(x, expected)
        assert (y == expected).all()


allreduce(world)
allreduce(world.Split(world.Get_rank() % 2, -world.Get_rank()))

with colldsl.Communicator.from_mpi4py(world) as comm:
    try:
        comm.plan("bcast", np.zeros(3), root=world.Get_size()).commit()
    except colldsl.PlanError as error:
        text = str(error)
    else:
        raise AssertionError("a root that does not exist was taken")
    size = world.Get_size()
    assert f"'root' is rank {size}, but there are only {size} ranks" in text, text

if world.Get_rank() == 0:
    print("passed on", world.Get_size(), "ranks")
