"""Neighbourhood collectives of mpi4py on a grid and a graph: objects, buffers, requests."""
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
before, behind = (rank - 1) % ranks, (rank + 1) % ranks
ring = world.Create_dist_graph_adjacent([before, behind], [behind, before])
assert ring.neighbor_alltoall([(rank, 0), (rank, 1)]) == [(before, 0), (behind, 1)]
assert ring.neighbor_allgather(rank) == [before, behind]

for comm in (ring, world.Create_cart([ranks], [False])):
    sent, got = array("i", [2 * rank, 2 * rank + 1]), array("i", [-1, -1])
    comm.Neighbor_alltoall([sent, MPI.INT], [got, MPI.INT])
    blocking = list(got)
    got[:] = array("i", [-1, -1])
    comm.Ineighbor_alltoall([sent, MPI.INT], [got, MPI.INT]).Wait()
    assert list(got) == blocking
    told = world.gather(blocking)
    if rank == 0:
        print(told)
