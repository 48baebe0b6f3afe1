/**
 * colldsl from C: collectives of a schedule library, run by the ranks of a job.
 *
 *   context        settings
 *   communicator   the ranks, as seen by one of them
 *   library        collectives, made by `colldsl compile`; the standard library is built in
 *   graph          the ranks that this rank sends to and receives from
 *   plan           a collective bound to buffers: started any number of times
 *
 * Example, on every rank (examples/ has whole programs):
 *
 *   colldsl_plan *sum;
 *   colldsl_plan_create(comm, NULL, "allreduce", &sum);
 *   colldsl_plan_set_type(sum, COLLDSL_F64);
 *   colldsl_plan_set_count(sum, 1000);
 *   colldsl_plan_bind_const(sum, "x", x, 1000 * sizeof(double));
 *   colldsl_plan_bind(sum, "y", y, 1000 * sizeof(double));
 *   if (colldsl_plan_commit(sum) || colldsl_plan_start(sum) || colldsl_plan_wait(sum, 10))
 *     fprintf(stderr, "%s\n", colldsl_last_error());
 *   colldsl_plan_destroy(sum);
 *
 * Errors: every function that can fail returns a status; COLLDSL_OK is 0. colldsl_last_error() has
 * the message of the error. Functions print nothing, and never end the process. They store results
 * through pointer arguments only on success, unless said otherwise. A null handle is an error if a
 * handle is needed; destroying null does nothing.
 *
 * Threads: functions may be called from any thread. One object is used by one thread at a
 * time, but for colldsl_progress(), colldsl_plan_test(), colldsl_plan_test_for(),
 * colldsl_plan_wait() and colldsl_plan_cancel(), which any number of threads may call at once.
 * Functions marked "collective" are called by all ranks of the communicator, in the same order.
 *
 * Ownership: the caller owns the objects that _create and _open functions make, and passes them to
 * the matching _destroy or _close. Strings and handles passed in are not kept, unless said so.
 *
 * Processes: a child of fork() has copies of handles that share memory with the parent. It uses no
 * communicator, plan or colldsl_alloc() memory of the parent; destroying and freeing them there
 * does nothing.
 *
 * Units: memory in bytes; counts and displacements in elements; time in seconds.
 */
#ifndef COLLDSL_COLLDSL_H
#define COLLDSL_COLLDSL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define COLLDSL_API __attribute__((visibility("default")))
#else
#define COLLDSL_API
#endif

#define COLLDSL_VERSION_MAJOR 0
#define COLLDSL_VERSION_MINOR 2
#define COLLDSL_VERSION_PATCH 0

typedef enum colldsl_status {
  COLLDSL_OK = 0,
  COLLDSL_ERROR_ARGUMENT,  /**< a null pointer, an unknown number, a wrong name */
  COLLDSL_ERROR_STATE,     /**< wrong state: the plan runs, is committed, or is not */
  COLLDSL_ERROR_LIBRARY,   /**< a library cannot be read, or is damaged */
  COLLDSL_ERROR_SETUP,     /**< ranks could not be started or connected */
  COLLDSL_ERROR_PLAN,      /**< a plan cannot be made from what was given */
  COLLDSL_ERROR_RUN,       /**< a run failed: a rank died, failed or left; ranks disagree */
  COLLDSL_ERROR_TIMEOUT,   /**< a run did not end in time */
  COLLDSL_ERROR_CANCELLED, /**< colldsl_plan_cancel() cancelled the run, and it is over */
  COLLDSL_ERROR_RANK,      /**< a body of colldsl_fork() failed */
  COLLDSL_ERROR_MEMORY     /**< there is not enough memory */
} colldsl_status;

/** The kind of error, in a few words. Never null; static. */
COLLDSL_API const char *colldsl_status_string(colldsl_status status);

/** The error of the last call that failed in this thread: names the place and both sides. Never
 * null; valid until the next call that fails in this thread. */
COLLDSL_API const char *colldsl_last_error(void);

/** The version of the loaded library, "0.2.0", which may be newer than this header. */
COLLDSL_API const char *colldsl_version(void);

/** The type of elements. Numbers of less than 32 bits are combined in f32, and each result is
 * rounded to the nearest, ties to even. */
typedef enum colldsl_type {
  /* types: made by scripts/index-language of ir/Vocabulary.def */
  COLLDSL_I8 = 0, /**< signed integer */
  COLLDSL_U8,     /**< unsigned integer */
  COLLDSL_I16,    /**< signed integer */
  COLLDSL_U16,    /**< unsigned integer */
  COLLDSL_I32,    /**< signed integer */
  COLLDSL_U32,    /**< unsigned integer */
  COLLDSL_I64,    /**< signed integer */
  COLLDSL_U64,    /**< unsigned integer */
  COLLDSL_F32,    /**< IEEE 754 binary32 */
  COLLDSL_F64,    /**< IEEE 754 binary64 */
  COLLDSL_F16,    /**< IEEE 754 binary16 */
  COLLDSL_BF16,   /**< the upper half of f32 */
  COLLDSL_F8E4M3, /**< OCP's E4M3, without infinities */
  COLLDSL_F8E5M2, /**< OCP's E5M2 */
  COLLDSL_C64,    /**< real and imaginary part, f32 each */
  COLLDSL_C128    /**< real and imaginary part, f64 each */
  /* end of types */
} colldsl_type;

/** Operators of reductions. Logical ones take zero for false, and give 0 or 1. */
typedef enum colldsl_op {
  /* operators: made by scripts/index-language of ir/Vocabulary.def */
  COLLDSL_SUM = 0, /**< all types */
  COLLDSL_PROD,    /**< all types */
  COLLDSL_MIN,     /**< integers and real numbers */
  COLLDSL_MAX,     /**< integers and real numbers */
  COLLDSL_LAND,    /**< integers and real numbers */
  COLLDSL_LOR,     /**< integers and real numbers */
  COLLDSL_LXOR,    /**< integers and real numbers */
  COLLDSL_BAND,    /**< integers */
  COLLDSL_BOR,     /**< integers */
  COLLDSL_BXOR     /**< integers */
  /* end of operators */
} colldsl_op;

/** The extent to which a schedule is proved: messages meet, without deadlock or race, and the data
 * is as the collective promises. The weakest comes first. The proofs of a library are claims of its
 * file. */
typedef enum colldsl_proof {
  COLLDSL_PROOF_NONE = 0,      /**< not at all, as far as this library knows */
  COLLDSL_PROOF_SMALLER_RANKS, /**< the collective is proved for some numbers of ranks, which are
                                * fewer than the plan has, or at some counts and arguments */
  COLLDSL_PROOF_EXACT,         /**< when it was stored, or when the plan was committed: for these
                                * ranks, arguments and passes, for the counts that the plan may
                                * have, and all lengths of blocks */
  COLLDSL_PROOF_ALL_RANKS      /**< the text is proved for every number of ranks, all arguments,
                                * counts and lengths of blocks, and the schedule is as written:
                                * passes changed no message. `proved_for` has the promises that
                                * the proof leaves out */
} colldsl_proof;

/* ---- context ---------------------------------------------------------------------------- */

typedef struct colldsl_context colldsl_context;

/** Settings. Fill with COLLDSL_OPTIONS_INIT, then change single fields. */
typedef struct colldsl_options {
  size_t size; /**< sizeof(colldsl_options), so that newer libraries know older programs */
  /** The places of ranks, as `colldsl topo` takes them ("node:2 core:4"). Null: as they are bound
   * to their machines. Alike on all ranks. Not kept. */
  const char *topology;
  /** Address space for messages, per rank, in bytes: a multiple of 4,096, alike on all ranks.
   * A rank needs 81 KiB for each rank that it sends to, and about 1 KiB for 32 long messages that
   * are under way there, however many plans do so. Memory is used when it is touched. 0: 256 MiB.
   */
  uint64_t arena_bytes;
  /** The time that a rank waits for another one while a communicator is made or a plan committed,
   * in seconds. A rank that does not come in time fails all ranks for good, so this is no means of
   * trying. 0: 60. */
  double setup_timeout;
  /** Nonzero: ranks do not read each other's memory; long messages go through buffers. */
  int no_single_copy;
  /** Nonzero: colldsl_fork() binds rank r to the r-th core that the process may use. */
  int bind_to_cores;
  /** Called at most once per rank for each feature that does not work as requested, from any thread
   * that makes progress. Null: no warnings. */
  void (*warn)(const char *message, void *user);
  void *user; /**< for warn and interrupted */
  /** Nonzero: disables the search for rounds of graphs, see colldsl_graph_create(). Alike on all
   * ranks. */
  int no_graph_order;
  /** A graph of at most so many edges is gathered on all ranks to find its rounds. Alike on all
   * ranks. 0: 1,048,576. */
  uint64_t max_gathered_edges;
  /** Plans with less proof are refused when they are committed (colldsl_plan_info()), and rules
   * choose no collective with less. With COLLDSL_PROOF_EXACT every rank proves a schedule that no
   * proved image serves, unless all promises of its text are proved for every number of ranks; that
   * takes as long as `colldsl verify` does. COLLDSL_PROOF_NONE: the environment's COLLDSL_PROOF,
   * which is "report" (no least proof), "require" (COLLDSL_PROOF_EXACT) or "all-ranks"
   * (COLLDSL_PROOF_ALL_RANKS); without it none. Alike on all ranks. */
  colldsl_proof least_proof;
  /** Passes that make schedules faster if no image serves them, as `colldsl opt --passes` takes
   * them: "default", "tune,edge-coloring". Program passes choose tuning parameters for the places
   * of the ranks. For passes on DAGs every rank instantiates the schedules of all ranks when a plan
   * is committed, and proves the result. "": schedules run as they are written. Null:
   * "tune{most-ops=4096}", which takes some milliseconds at most if a collective leaves a tuning
   * parameter open. Alike on all ranks. Not kept. */
  const char *passes;
  /** Nonzero: a plan is refused when it is committed if its schedule gives messages an attribute,
   * such as a canary, that the transport does not execute (colldsl_plan_info()). Alike on all
   * ranks. */
  int strict_transfers;
  /** Called repeatedly by a thread that waits for other ranks of its machine while a communicator
   * is made or a plan committed. Nonzero ends the wait, and fails all ranks for good, as a rank
   * does that does not come in time. Null: nothing ends the wait early. */
  int (*interrupted)(void *user);
  /** The network that carries messages between nodes: "ofi" (libfabric), "verbs" (an RDMA device),
   * "datagram" (UDP) or "tcp", with options as in "ofi{provider=tcp,bind=10.0.0.0/24}". An option
   * that is not given is that of the environment, COLLDSL_OFI_PROVIDER for example (docs/c-api.md
   * lists them). Null: the environment's COLLDSL_NETWORK, else "ofi". Ranks with other networks,
   * providers of libfabric or settings of multicast than rank 0 fail colldsl_comm_create() on all
   * ranks; so does a network that a rank does not have. Ranks of one node do not use it. Not kept.
   */
  const char *network;
} colldsl_options;

#define COLLDSL_OPTIONS_INIT                                                                       \
  {                                                                                                \
    sizeof(colldsl_options), NULL, 0, 0.0, 0, 0, NULL, NULL, 0, 0, COLLDSL_PROOF_NONE, NULL, 0,    \
        NULL, NULL                                                                                 \
  }

/** `options` null: as COLLDSL_OPTIONS_INIT. The context outlives all objects that are made with it.
 */
COLLDSL_API colldsl_status colldsl_context_create(const colldsl_options *options,
                                                  colldsl_context **context);
COLLDSL_API void colldsl_context_destroy(colldsl_context *context);

/* ---- communicator ----------------------------------------------------------------------- */

typedef struct colldsl_comm colldsl_comm;

/** The work of a rank; returns 0 if it succeeded. colldsl_fork() owns the communicator and destroys
 * it when the body has returned. */
typedef int (*colldsl_body)(colldsl_comm *comm, void *user);

/** Forks `ranks` processes, runs the body in each and waits until all have ended. Each has its own
 * memory, as after fork(), and its output is flushed. Fails with COLLDSL_ERROR_RANK, naming the
 * rank, if a body did not return 0, a rank was killed or it took longer than `timeout` seconds
 * (negative: no limit); then no rank is left. The process should have one thread only. */
COLLDSL_API colldsl_status colldsl_fork(colldsl_context *context, uint32_t ranks, colldsl_body body,
                                        void *user, double timeout);

/** The services of a launcher for the processes of a job. */
typedef struct colldsl_bootstrap {
  uint32_t rank;
  uint32_t size; /**< number of ranks */
  /** Collective: gathers `bytes` bytes of each rank in `all`, in the order of the ranks. Returns 0
   * on success. */
  int (*allgather)(const void *mine, void *all, size_t bytes, void *user);
  /** Collective. Returns 0 on success. May be null. */
  int (*barrier)(void *user);
  void *user; /**< for both */
} colldsl_bootstrap;

/** Collective over the launcher's processes, which need not be related. The bootstrap is used
 * during the call only. Null: the launcher that started this process, over PMIx (mpirun of Open
 * MPI, PRRTE, Slurm) or PMI (mpirun of MPICH); without one, or if it started one process, a
 * communicator of this process alone. Ranks of one machine share its memory, others send over the
 * network of the options. Programs that use MPI take
 * colldsl/mpi.h instead. */
COLLDSL_API colldsl_status colldsl_comm_create(colldsl_context *context,
                                               const colldsl_bootstrap *bootstrap,
                                               colldsl_comm **comm);

/** Local: other ranks may continue work that does not need this one. The caller destroys plans and
 * frees memory of colldsl_alloc() before; neither may be used afterwards. Work of other ranks that
 * still needs this one fails there. Does nothing to the communicator that colldsl_fork() gave a
 * body, nor in a child that this process forked. */
COLLDSL_API void colldsl_comm_destroy(colldsl_comm *comm);

COLLDSL_API uint32_t colldsl_comm_rank(const colldsl_comm *comm); /**< 0 for null */
COLLDSL_API uint32_t colldsl_comm_size(const colldsl_comm *comm); /**< 0 for null */

/** Memory for buffers, in whole cache lines, which the ranks of this machine share if they can:
 * messages between two such buffers are copied once and without a call of the kernel, and static
 * ones are put into it. It is taken from this rank's colldsl_options.arena_bytes, and is freed
 * before the communicator is destroyed. If ranks share none, or none is left, it is ordinary
 * memory. */
COLLDSL_API colldsl_status colldsl_alloc(colldsl_comm *comm, uint64_t bytes, void **memory);
/** Null: does nothing. */
COLLDSL_API void colldsl_free(colldsl_comm *comm, void *memory);

/** Moves all running plans of this rank as far as possible without waiting. A test or wait of a
 * plan reports its errors. */
COLLDSL_API colldsl_status colldsl_progress(colldsl_comm *comm);

/* ---- library ---------------------------------------------------------------------------- */

typedef struct colldsl_library colldsl_library;

/** Maps a file that `colldsl compile` wrote. Null: the standard library, built in. Parts are
 * read when they are first needed. May be shared by threads. */
COLLDSL_API colldsl_status colldsl_library_open(colldsl_context *context, const char *path,
                                                colldsl_library **library);
COLLDSL_API void colldsl_library_close(colldsl_library *library);

/** The name of collective `i`, counted from 0, that the library is for; null: there are no
 * more, or the library is damaged. Valid as long as the library. */
COLLDSL_API const char *colldsl_library_collective(colldsl_library *library, size_t i);

/* ---- neighbourhood graph ---------------------------------------------------------------- */

typedef struct colldsl_graph colldsl_graph;

/** The edges of this rank, in the order of their slots: to destinations[0..outdegree), from
 * sources[0..indegree). A peer of -1 leads nowhere, but keeps its slot. Keys tell apart edges
 * between the same two ranks: the k-th out-edge from a to b with a key is the k-th in-edge of b
 * from a with that key; null: all keys are 0. That both ends agree is checked when a plan is
 * committed. Arrays are copied.
 *
 * Collective, unless the context's options say no_graph_order: finds rounds in which all ranks send
 * along the graph, such that no rank sends twice in one round and none receives twice. They are the
 * same on all ranks, and as few as the busiest rank sends or receives. For a graph with more edges
 * than max_gathered_edges, which is not gathered, they are less than twice as many. Plans in which
 * all messages go along the graph send in the order of the rounds: a send starts when the one
 * before it has started. The search changes no other plans, and no graphs whose slots are rounds
 * already, such as those of a torus. If the arguments of one rank are wrong, it fails on all of
 * them, for that reason. */
COLLDSL_API colldsl_status colldsl_graph_create(colldsl_comm *comm, uint32_t outdegree,
                                                const int32_t *destinations,
                                                const int64_t *out_keys, uint32_t indegree,
                                                const int32_t *sources, const int64_t *in_keys,
                                                colldsl_graph **graph);

/** The number of rounds in which all ranks send along the graph; 0 if there was no search, or for
 * null. */
COLLDSL_API uint32_t colldsl_graph_rounds(const colldsl_graph *graph);

/** Plans that use the graph keep the data that they need. */
COLLDSL_API void colldsl_graph_destroy(colldsl_graph *graph);

/* ---- plan ------------------------------------------------------------------------------- */

typedef struct colldsl_plan colldsl_plan;

/** Begins the description of a plan. Local. `library` null: the standard library. `name`: a
 * collective ("allreduce_ring"), or a function for which the library has rules ("allreduce"),
 * which choose by number of ranks and nodes, bytes, type and operator. The communicator and the
 * library outlive the plan. */
COLLDSL_API colldsl_status colldsl_plan_create(colldsl_comm *comm, colldsl_library *library,
                                               const char *name, colldsl_plan **plan);

/** A running plan is abandoned: it fails on the other ranks. See colldsl_plan_cancel(). If the plan
 * is idle, other ranks may still end runs that this one has ended. */
COLLDSL_API void colldsl_plan_destroy(colldsl_plan *plan);

/* Before colldsl_plan_commit(). Names are those of the collective's text; wrong ones are found
 * when the plan is committed. Alike on all ranks, but for graphs. */

/** Sets T, the type of all buffers that have no type of their own. There is no default: if the
 * collective has such a buffer, the commit is refused until T is set. If all buffers have a type, a
 * type that no buffer has is refused. */
COLLDSL_API colldsl_status colldsl_plan_set_type(colldsl_plan *plan, colldsl_type type);

/** Nonzero: all ranks bind all their buffers in device memory, by colldsl_plan_bind_device().
 * Messages between ranks of one machine then go from device to device, from 16 KiB on: by CUDA IPC
 * between processes. The driver must be able to export the memory of the buffers, as that of
 * cuMemAlloc() is; else the commit fails. A rank without elements of its own through which messages
 * pass binds device memory of no bytes. Devices that cannot reach each other's memory are found in
 * the first run, which then fails. */
COLLDSL_API colldsl_status colldsl_plan_set_device_only(colldsl_plan *plan, int device_only);

/** Replaces these 16 KiB by another number of bytes. Shorter messages are faster by the host, but a
 * plan that is part of a CUDA graph has none of them: 0 lets all messages go from device to device.
 */
COLLDSL_API colldsl_status colldsl_plan_set_device_messages(colldsl_plan *plan,
                                                            uint64_t from_bytes);

/** Nonzero: the collective's form in place (`x aliases y[rank]`): x is not bound. */
COLLDSL_API colldsl_status colldsl_plan_set_in_place(colldsl_plan *plan, int in_place);

/** Sets the operator parameter, mostly called "op"; for a parameter of another kind the commit is
 * refused. Default: that of the collective. */
COLLDSL_API colldsl_status colldsl_plan_set_op(colldsl_plan *plan, const char *parameter,
                                               colldsl_op op);

/** Sets an int, a rank, a number of bytes, a time in nanoseconds, a bool, or a further size; for an
 * operator the commit is refused. */
COLLDSL_API colldsl_status colldsl_plan_set_int(colldsl_plan *plan, const char *parameter,
                                                int64_t value);

/** Sets a list of ints, such as counts that all ranks know, or the dimensions of a torus. Up to
 * 2^32 - 1. Copied. */
COLLDSL_API colldsl_status colldsl_plan_set_list(colldsl_plan *plan, const char *parameter,
                                                 size_t length, const int64_t *values);

COLLDSL_API colldsl_status colldsl_plan_set_graph(colldsl_plan *plan, const char *parameter,
                                                  const colldsl_graph *graph);

/** Forgets all that was set or bound under this name. */
COLLDSL_API colldsl_status colldsl_plan_forget(colldsl_plan *plan, const char *name);

/* Before colldsl_plan_commit(), and between runs. */

/** Sets n, the number of elements, which the first length of a buffer in the collective's text
 * refers to; less than 2^63. Default: 0. Between runs: another n of the same validity range, on all
 * ranks; n = 0 is a class of its own. */
COLLDSL_API colldsl_status colldsl_plan_set_count(colldsl_plan *plan, uint64_t n);

/** Binds the memory of a buffer. It belongs to the caller, and to the plan while it runs. `bytes`:
 * the size of the elements that the collective's text gives the buffer, for T, n and the values
 * that are set. The commit, or the start of a run, refuses more or fewer bytes, as they indicate
 * another type or number of elements: after a change of n, memory is bound anew. For a buffer
 * `T[k][*]`: at least up to the end of its last block. Buffers that are not significant on this
 * rank, or that have no elements, need not be bound. Buffers do not overlap. */
COLLDSL_API colldsl_status colldsl_plan_bind(colldsl_plan *plan, const char *buffer, void *data,
                                             uint64_t bytes);

/** As colldsl_plan_bind(), for a buffer that the collective declares `in`, which is never written.
 */
COLLDSL_API colldsl_status colldsl_plan_bind_const(colldsl_plan *plan, const char *buffer,
                                                   const void *data, uint64_t bytes);

/** As colldsl_plan_bind(), for memory of a device of CUDA; the other buffers may be of the host,
 * but all device memory of a plan belongs to one context. The first call opens `libcuda.so.1`;
 * without it, or if the address is not of device memory or the allocation has fewer bytes, it fails
 * with COLLDSL_ERROR_ARGUMENT. Memory that cuMemAllocAsync() took from a pool is refused. Work of
 * the caller on the memory has ended when a run starts, but for colldsl_plan_start_on_stream().
 * The plan keeps page-locked memory of the host as long, by which its messages travel: what they
 * need is copied from the device in segments of 512 KiB, and what they bring to it. Where the
 * network reaches device memory, long messages between machines go straight from and to it; the
 * allocation then stays registered until the plan is bound anew or destroyed, also if it is freed:
 * registered by a dma-buf it keeps its bytes as long. Memory that is allocated at the same address
 * afterwards has to be bound anew.
 * Copies and reductions run on the device if their operands are there. An `in` buffer is never
 * written. */
COLLDSL_API colldsl_status colldsl_plan_bind_device(colldsl_plan *plan, const char *buffer,
                                                    void *memory, uint64_t bytes);

/** Sets the blocks of a buffer. For `T[k][*]`, where each rank knows only its own lengths: the
 * lengths and places of its blocks, in elements; `displacements` null: the blocks are contiguous.
 * For an `in` or `inout` buffer `T[k][<= m]`: the number of elements that each block holds at the
 * start of a run; if not set, all are full. Such blocks lie m elements apart, and other
 * displacements are refused, as are lengths of `out` blocks, which are empty then. In place, a
 * block in which an `in` parameter lies has the length of that one. Blocks that are written do not
 * overlap: else the commit, or the start of the run, is refused. Copied. */
COLLDSL_API colldsl_status colldsl_plan_set_blocks(colldsl_plan *plan, const char *buffer,
                                                   size_t blocks, const uint64_t *counts,
                                                   const uint64_t *displacements);

/** Replaces colldsl_options.passes, for this plan. Alike on all ranks. Not kept. */
COLLDSL_API colldsl_status colldsl_plan_set_passes(colldsl_plan *plan, const char *passes);

/** Collective: chooses the collective, makes this rank's schedule, connects the ranks that exchange
 * messages. Other plans make progress meanwhile. If one rank fails, or two that exchange messages
 * disagree, it fails on all of them, for one reason, which names the one of collective, type,
 * sizes, values, library or passes that differs, and both sides. All ranks may then correct the
 * settings and commit the plan again. If ranks sit on several machines the call waits only for
 * those of its own machine. If a rank of another one could not commit, or two that exchange
 * messages disagree, then the first run of the ranks that receive from them fails, and this run or
 * a later one of the others. */
COLLDSL_API colldsl_status colldsl_plan_commit(colldsl_plan *plan);

/** The collective that was chosen; null before the plan is committed. Valid as long as the plan is
 * committed. */
COLLDSL_API const char *colldsl_plan_collective(const colldsl_plan *plan);

/** Describes a committed plan. Strings are valid as long as the plan, and until it is committed
 * anew; none is null. Set `size` to sizeof(colldsl_plan_description) before the call. */
typedef struct colldsl_plan_description {
  size_t size;
  const char *collective; /**< as colldsl_plan_collective() */
  const char *reason;     /**< why this one: "named", or the rule: "rule 3 for allreduce", or by
                           * which decision of the machine profile */
  const char *schedule;   /**< "image": stored in the library; "program": instantiated just now */
  const char *arguments;  /**< "root=3, segment=32768": those not at their defaults, if they are
                           * known; trees and graphs have no value here: "t=..." */
  const char *passes;     /**< that made the schedule: "tune,choose"; empty: none */
  colldsl_proof proof;
  /** The values of n that the plan may have, if the chunks of its schedule divide them. */
  uint64_t min_count, max_count;
  const char *remarks; /**< of the passes, where they ran when the plan was committed: "tune: 25247
                        * ns, then 7644 ns; segment = 8KiB; t = chain" */
  /** "via static 4 of 4, canary 0 of 4": for each attribute that the schedule gives to messages
   * which this rank receives, the number that its transport executes; the other messages travel the
   * transport's own way. Empty: the schedule has none. As of the last commit. */
  const char *transfers;
  /** The domain of the proof: "all P, for operators that commute", "these 8 ranks", "1 to 64 ranks
   * only, at the values tried". Empty: not proved. */
  const char *proved_for;
  /** The largest number of ranks that the proof covers; 0: not proved, UINT32_MAX: all. */
  uint32_t proved_ranks;
} colldsl_plan_description;

/** Fills in the fields of the description that the caller's `size` contains. */
COLLDSL_API colldsl_status colldsl_plan_info(const colldsl_plan *plan,
                                             colldsl_plan_description *description);

/** Begins a run: the k-th run here meets the k-th run of every other rank. Returns at once;
 * allocates nothing unless a buffer was bound anew. */
COLLDSL_API colldsl_status colldsl_plan_start(colldsl_plan *plan);

/** Variant of colldsl_plan_start(), in the order of a stream of CUDA (a CUstream; null is the
 * default stream of the current context): the run begins once the work that the stream holds now
 * has finished. Until then it is under way, and the plan owns its buffers as soon as the stream
 * comes so far. Returns at once. If that work fails, the run does. As for all runs, progress is
 * made by threads that call colldsl_plan_test(), colldsl_plan_wait(), or colldsl_progress(), and by
 * nobody else. All streams of a run belong to one context.
 *
 * If the stream captures, the work of a run becomes part of its CUDA graph, and what the stream
 * captures next is behind it. A launch of the graph is a run of all ranks in which no host takes
 * part: no run is under way for the other functions. All ranks capture the plan after the same run,
 * as the graph has its order, and launch their graphs equally often, one launch after the other;
 * between two of them runs may be started. Refused, with the op and the reason, if some op needs
 * the host: the plan is to be device-only, on one machine, with all messages from device to device
 * (colldsl_plan_set_device_messages()), without operators of the caller's and lengths of call time.
 * The capture goes on then, and if one rank is refused, none launches the graph. A graph is of use
 * until some rank binds or destroys the plan; its launches have ended before. If the plan fails, as
 * it does when a rank dies, colldsl_plan_test(), colldsl_plan_wait() and colldsl_progress() notice
 * it, and only they: launches then come to their ends with results of no meaning, for which the
 * first two return the error. */
COLLDSL_API colldsl_status colldsl_plan_start_on_stream(colldsl_plan *plan, void *stream);

/** Lets a stream wait for the run under way, however it was started: work that is added to the
 * stream from now on begins when the run is over and its bytes are in the buffers, or when it has
 * failed, which colldsl_plan_wait() tells. Returns at once; does nothing if no run is under way.
 * Until the run is over, calls that wait for the stream or the whole device, as
 * cuStreamSynchronize() does, or cuMemFree(), or commits, bindings and destructions of plans with
 * device memory, may return only if another thread makes progress. Needs a driver of CUDA 11.7 or
 * later. A stream that captures follows the plan that was started in the same capture; an error
 * if it was started last in another one, or was bound since. */
COLLDSL_API colldsl_status colldsl_plan_wait_on_stream(colldsl_plan *plan, void *stream);

/** Makes progress, also of the communicator's other plans. *done: nonzero if no run is under way;
 * set also when the run failed. Returns the status of the last run. */
COLLDSL_API colldsl_status colldsl_plan_test(colldsl_plan *plan, int *done);

/** As colldsl_plan_test(), after a wait for the end of the run of up to `timeout` seconds. A run
 * that takes longer goes on, so that the caller may do other work and wait again. */
COLLDSL_API colldsl_status colldsl_plan_test_for(colldsl_plan *plan, double timeout, int *done);

/** Waits until the run is over, moving the communicator's other plans too. `timeout` in seconds,
 * negative: no limit. A run that takes longer fails here, and with it the plan: on the other ranks
 * the run fails unless it has ended there, or else the next one. A plan that failed can only be
 * destroyed. */
COLLDSL_API colldsl_status colldsl_plan_wait(colldsl_plan *plan, double timeout);

/** Cancels the run under way: its result is lost. Its messages are owed to other ranks, so it is
 * drained, not torn down: it goes on as progress is made, and no other rank notices. Once it is
 * over, colldsl_plan_test() and colldsl_plan_wait() return COLLDSL_ERROR_CANCELLED, the buffers
 * belong to the caller again, with undefined content, and the plan may be started again. To bound
 * the time of the drain, wait with a timeout. Without a run under way it does nothing. */
COLLDSL_API colldsl_status colldsl_plan_cancel(colldsl_plan *plan);

/** After a run: the number of elements that each block of a buffer `T[k][<= m]` holds. `blocks`:
 * room in counts. */
COLLDSL_API colldsl_status colldsl_plan_get_blocks(const colldsl_plan *plan, const char *buffer,
                                                   size_t blocks, uint64_t *counts);

#ifdef __cplusplus
}
#endif

#endif
