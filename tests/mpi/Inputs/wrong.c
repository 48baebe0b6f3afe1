// An MPI that is wrong, for what is to see it: changes a bit of what MPI_Neighbor_alltoall and
// MPI_Scan deliver.
#include <mpi.h>

static void changeBit(void *buffer, int count, MPI_Datatype type) {
  MPI_Aint lowest, extent;
  PMPI_Type_get_true_extent(type, &lowest, &extent);
  if (buffer && count > 0 && extent > 0)
    ((char *)buffer)[lowest] ^= 1;
}

int MPI_Neighbor_alltoall(const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, int rcount,
                          MPI_Datatype rtype, MPI_Comm comm) {
  int code = PMPI_Neighbor_alltoall(sbuf, scount, stype, rbuf, rcount, rtype, comm);
  changeBit(rbuf, rcount, rtype);
  return code;
}

int MPI_Scan(const void *sbuf, void *rbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int code = PMPI_Scan(sbuf, rbuf, count, type, op, comm);
  changeBit(rbuf, count, type);
  return code;
}
