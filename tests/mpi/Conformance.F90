! A few collectives, of neighbours and of all, through one of the three ways into an MPI from Fortran: BINDING_MPI_F08,
! BINDING_USE_MPI or BINDING_MPIF_H. On a ring without an end each rank gets what its neighbours sent:
! a rank's two blocks are 10 * rank + 1 for the one before and 10 * rank + 2 for the one behind.
#ifdef BINDING_MPI_F08
#define HANDLE(kind) type(kind)
#else
#define HANDLE(kind) integer
#endif

program conformance
#if defined(BINDING_MPI_F08)
  use mpi_f08
  implicit none
#elif defined(BINDING_USE_MPI)
  use mpi
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  HANDLE(MPI_Comm) :: ring
  HANDLE(MPI_Request) :: request
  HANDLE(MPI_Datatype) :: types(2)
  HANDLE(MPI_Op) :: last
  integer :: rank, ranks, before, behind, error, wrong, any_wrong, start
  integer :: sent(2), got(2), edges(2), counts(2), places(2)
  integer(kind=MPI_ADDRESS_KIND) :: bytes(2)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  before = mod(rank + ranks - 1, ranks)
  behind = mod(rank + 1, ranks)
  wrong = 0
  counts = 1
  places = [0, 1]
  bytes = [0, 4]
  types = [MPI_INTEGER, MPI_INTEGER]
  ! Sources are listed behind first, so that an edge to a rank meets that from its other side.
  edges = [before, behind]
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, [behind, before], MPI_UNWEIGHTED, &
                                      2, edges, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring, error)

  call prepare()
  call MPI_Neighbor_allgather(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, error)
  call check_gathered('allgather')
  call prepare()
  call MPI_Neighbor_allgatherv(sent, 1, MPI_INTEGER, got, counts, places, MPI_INTEGER, ring, error)
  call check_gathered('allgatherv')
  call prepare()
  call MPI_Neighbor_alltoallv(sent, counts, places, MPI_INTEGER, got, counts, places, MPI_INTEGER, &
                              ring, error)
  call check_exchanged('alltoallv')

  call prepare()
  call MPI_Ineighbor_allgather(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call check_gathered('nonblocking allgather')
  call prepare()
  call MPI_Ineighbor_allgatherv(sent, 1, MPI_INTEGER, got, counts, places, MPI_INTEGER, ring, &
                                request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call check_gathered('nonblocking allgatherv')
  call prepare()
  call MPI_Ineighbor_alltoallv(sent, counts, places, MPI_INTEGER, got, counts, places, &
                               MPI_INTEGER, ring, request, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call check_exchanged('nonblocking alltoallv')
  call with_one_count()
#ifdef HAS_PERSISTENT
  call with_starts()
#endif

  call of_all()

  call MPI_Comm_free(ring, error)
  call MPI_Allreduce(wrong, any_wrong, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
  if (any_wrong /= 0) stop 1

contains

  subroutine prepare()
    sent = 10 * rank + [1, 2]
    got = -1
  end subroutine

  subroutine check(call_name, expected)
    character(*), intent(in) :: call_name
    integer, intent(in) :: expected(2)
    if (all(got == expected)) return
    wrong = 1
    print '(3a,i0,a,2(1x,i0),a,2(1x,i0))', 'mismatch: ', call_name, ', rank ', rank, &
      ': expected', expected, ', got', got
  end subroutine

  subroutine check_gathered(call_name)
    character(*), intent(in) :: call_name
    call check(call_name, 10 * [behind, before] + 1)
  end subroutine

  subroutine check_exchanged(call_name)
    character(*), intent(in) :: call_name
    call check(call_name, [10 * behind + 1, 10 * before + 2])
  end subroutine

  ! All with one count, or with a type for each block.
  subroutine with_one_count()
    call prepare()
    call MPI_Neighbor_alltoall(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, error)
    call check_exchanged('alltoall')
    call prepare()
    call MPI_Neighbor_alltoallw(sent, counts, bytes, types, got, counts, bytes, types, ring, error)
    call check_exchanged('alltoallw')
    call prepare()
    call MPI_Ineighbor_alltoall(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call check_exchanged('nonblocking alltoall')
    call prepare()
    call MPI_Ineighbor_alltoallw(sent, counts, bytes, types, got, counts, bytes, types, ring, &
                                 request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call check_exchanged('nonblocking alltoallw')
  end subroutine

  ! Not of neighbours: what rank r gives is 10 * r + 1 and 10 * r + 2.
  subroutine of_all()
    integer :: sums(2), all_sent(2 * ranks), all_got(2 * ranks), i
    sums = 5 * ranks * (ranks - 1) + [1, 2] * ranks
    call prepare()
    call MPI_Allreduce(sent, got, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call check('allreduce', sums)
    call prepare()
    got = sent
    call MPI_Bcast(got, 2, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, error)
    call check('bcast', 10 * (ranks - 1) + [1, 2])

    call prepare()
    got = sent
    if (rank == 0) then
      call MPI_Reduce(MPI_IN_PLACE, got, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
      call check('reduce in place', sums)
    else
      call MPI_Reduce(sent, got, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
      call check('reduce to another', 10 * rank + [1, 2])
    end if

    call MPI_Op_create(take_last, .false., last, error)
    call prepare()
    call MPI_Reduce(sent, got, 2, MPI_INTEGER, last, 0, MPI_COMM_WORLD, error)
    if (rank == 0) call check('reduce by a function', 10 * (ranks - 1) + [1, 2])
    call MPI_Op_free(last, error)

    all_sent = [(100 * rank + i, i = 1, 2 * ranks)]
    all_got = -1
    call MPI_Ialltoall(all_sent, 2, MPI_INTEGER, all_got, 2, MPI_INTEGER, MPI_COMM_WORLD, &
                       request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    do i = 1, ranks
      got = all_got(2 * i - 1:2 * i)
      call check('nonblocking alltoall of all', 100 * (i - 1) + 2 * rank + [1, 2])
    end do
  end subroutine

#ifdef HAS_PERSISTENT
  subroutine with_starts()
    call MPI_Neighbor_alltoall_init(sent, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, &
                                    MPI_INFO_NULL, request, error)
    do start = 1, 3
      call prepare()
      call MPI_Start(request, error)
      call MPI_Wait(request, MPI_STATUS_IGNORE, error)
      call check_exchanged('persistent alltoall')
    end do
    call MPI_Request_free(request, error)
  end subroutine
#endif

  ! Of two ranks' numbers those of the one behind: not commutative.
#ifdef BINDING_MPI_F08
  subroutine take_last(in, inout, length, datatype)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: in, inout
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: kept(:)
    call c_f_pointer(inout, kept, [length])
    if (any(kept < 0)) wrong = 1
  end subroutine
#else
  subroutine take_last(in, inout, length, datatype)
    integer :: length, datatype
    integer :: in(length), inout(length)
    if (any(inout < 0)) wrong = 1
  end subroutine
#endif
end program
