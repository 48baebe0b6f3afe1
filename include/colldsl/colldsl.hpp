/// The C API with C++ lifetimes: objects free the handles that they own, errors are exceptions,
/// memory has its size. All classes are thin layers over colldsl.h, which documents units, threads
/// and the meaning of each call.
///
///   coll::Context context;
///   context.fork(4, [](coll::Communicator &comm) {
///     std::vector<double> x(1000, comm.rank()), y(1000);
///     coll::Plan sum(comm, "allreduce");
///     sum.type<double>().count(x.size()).input("x", x).bind("y", y).commit();
///     sum.run();
///   });
///
/// Needs C++20, for std::span; colldsl.h needs C11 or any C++.
#ifndef COLLDSL_COLLDSL_HPP
#define COLLDSL_COLLDSL_HPP

#if __cplusplus < 202002L
#error                                                                                             \
    "colldsl.hpp needs C++20: -std=c++20, or in CMake target_compile_features(app PRIVATE cxx_std_20)"
#endif

#include "colldsl/colldsl.h"

#include <complex>
#include <concepts>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#if __has_include(<stdfloat>)
#include <stdfloat>
#endif

namespace coll {

/// A call that failed: what() has the message, status() the kind of error.
class Error : public std::runtime_error {
public:
  Error(colldsl_status status, const std::string &message)
      : std::runtime_error(message), status_(status) {}
  colldsl_status status() const { return status_; }

private:
  colldsl_status status_;
};

inline void check(colldsl_status status) {
  if (status != COLLDSL_OK)
    throw Error(status, colldsl_last_error());
}

/// The type of elements that are objects of the C++ type T. Specialise it for a type that has such
/// a format under a name of its own:
///   template <> inline constexpr colldsl_type coll::elementType<__nv_bfloat16> = COLLDSL_BF16;
template <typename T> inline constexpr auto elementType = nullptr; // it has none

template <typename T>
concept Integer = std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8;
template <Integer T>
inline constexpr colldsl_type
    elementType<T> = sizeof(T) == 1   ? (std::is_signed_v<T> ? COLLDSL_I8 : COLLDSL_U8)
                     : sizeof(T) == 2 ? (std::is_signed_v<T> ? COLLDSL_I16 : COLLDSL_U16)
                     : sizeof(T) == 4 ? (std::is_signed_v<T> ? COLLDSL_I32 : COLLDSL_U32)
                                      : (std::is_signed_v<T> ? COLLDSL_I64 : COLLDSL_U64);

template <> inline constexpr colldsl_type elementType<float> = COLLDSL_F32;
template <> inline constexpr colldsl_type elementType<double> = COLLDSL_F64;
template <> inline constexpr colldsl_type elementType<std::complex<float>> = COLLDSL_C64;
template <> inline constexpr colldsl_type elementType<std::complex<double>> = COLLDSL_C128;
#ifdef __FLT16_MAX__ // std::float16_t may be the same type
namespace detail {
__extension__ typedef _Float16 Float16;
}
template <> inline constexpr colldsl_type elementType<detail::Float16> = COLLDSL_F16;
#elif defined(__STDCPP_FLOAT16_T__)
template <> inline constexpr colldsl_type elementType<std::float16_t> = COLLDSL_F16;
#endif
#ifdef __STDCPP_BFLOAT16_T__
template <> inline constexpr colldsl_type elementType<std::bfloat16_t> = COLLDSL_BF16;
#endif
#ifdef __STDCPP_FLOAT32_T__
template <> inline constexpr colldsl_type elementType<std::float32_t> = COLLDSL_F32;
#endif
#ifdef __STDCPP_FLOAT64_T__
template <> inline constexpr colldsl_type elementType<std::float64_t> = COLLDSL_F64;
#endif

template <typename T>
concept Element = std::same_as<decltype(elementType<std::remove_cvref_t<T>>), const colldsl_type>;

/// The element type of T; a T that has none does not compile.
template <typename T> constexpr colldsl_type typeOf() {
  static_assert(Element<T>, "not a type of elements: see coll::elementType");
  return elementType<std::remove_cvref_t<T>>;
}

/// Contiguous numbers that the caller owns: not a temporary container, which would be destroyed
/// before a plan runs.
template <typename Memory>
concept Elements = std::ranges::contiguous_range<Memory> && std::ranges::borrowed_range<Memory> &&
    Element<std::ranges::range_value_t<Memory>>;

/// Marks memory of a buffer that has a type of its own in the collective's text, such as `f64[n]`.
struct OwnType {};
inline constexpr OwnType ownType;

/// Owns a handle; may be moved, not copied.
template <typename T, void (*Destroy)(T *)> class Handle {
public:
  T *get() const { return handle_.get(); }

protected:
  Handle() = default;
  void adopt(T *handle) { handle_.reset(handle); }

private:
  struct Free {
    void operator()(T *handle) const { Destroy(handle); }
  };
  std::unique_ptr<T, Free> handle_;
};

/// The ranks, as seen by one of them. Made by Context.
class Communicator {
public:
  explicit Communicator(colldsl_comm *comm) : comm_(comm) {}
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;
  uint32_t rank() const { return colldsl_comm_rank(comm_); }
  uint32_t size() const { return colldsl_comm_size(comm_); }
  void progress() const { check(colldsl_progress(comm_)); }
  /// Memory that the ranks of the machine share; of a type that needs no constructor.
  template <typename T> std::span<T> allocate(size_t count) const {
    void *memory = nullptr;
    check(colldsl_alloc(comm_, count * sizeof(T), &memory));
    return {static_cast<T *>(memory), count};
  }
  void free(void *memory) const { colldsl_free(comm_, memory); }
  colldsl_comm *get() const { return comm_; }

private:
  colldsl_comm *comm_; // not owned
};

class Context : public Handle<colldsl_context, colldsl_context_destroy> {
public:
  explicit Context(const colldsl_options &options = COLLDSL_OPTIONS_INIT) {
    colldsl_context *context = nullptr;
    check(colldsl_context_create(&options, &context));
    adopt(context);
  }

  /// Runs body(Communicator &) in so many forked processes. An exception in one of them ends it and
  /// is printed on its standard error; here it is an Error that names the rank. `timeout` in
  /// seconds, negative: no limit.
  template <typename Body> void fork(uint32_t ranks, Body body, double timeout = -1) {
    auto call = [](colldsl_comm *comm, void *user) -> int {
      Communicator communicator(comm);
      try {
        (*static_cast<Body *>(user))(communicator);
        std::cout.flush();
        return 0;
      } catch (const std::exception &e) {
        std::fprintf(stderr, "rank %u: %s\n", communicator.rank(), e.what());
      } catch (...) {
        std::fprintf(stderr, "rank %u: unknown exception\n", communicator.rank());
      }
      return 1;
    };
    check(colldsl_fork(get(), ranks, call, &body, timeout));
  }
};

/// A communicator of processes that a launcher started: the launcher of this process, or one that a
/// bootstrap describes.
class LaunchedCommunicator : public Handle<colldsl_comm, colldsl_comm_destroy>,
                             public Communicator {
public:
  explicit LaunchedCommunicator(Context &context) : Communicator(make(context, nullptr)) {
    adopt(Communicator::get());
  }
  LaunchedCommunicator(Context &context, const colldsl_bootstrap &bootstrap)
      : Communicator(make(context, &bootstrap)) {
    adopt(Communicator::get());
  }
  using Communicator::get;

private:
  static colldsl_comm *make(Context &context, const colldsl_bootstrap *bootstrap) {
    colldsl_comm *comm = nullptr;
    check(colldsl_comm_create(context.get(), bootstrap, &comm));
    return comm;
  }
};

class Library : public Handle<colldsl_library, colldsl_library_close> {
public:
  /// Null: the standard library.
  explicit Library(Context &context, const char *path = nullptr) {
    colldsl_library *library = nullptr;
    check(colldsl_library_open(context.get(), path, &library));
    adopt(library);
  }

  std::vector<std::string> collectives() const {
    std::vector<std::string> names;
    while (const char *name = colldsl_library_collective(get(), names.size()))
      names.push_back(name);
    return names;
  }
};

/// The ranks that this rank sends to and receives from, in the order of the slots. Made by all
/// ranks.
class Graph : public Handle<colldsl_graph, colldsl_graph_destroy> {
public:
  Graph(const Communicator &comm, std::span<const int32_t> destinations,
        std::span<const int32_t> sources) {
    colldsl_graph *graph = nullptr;
    check(colldsl_graph_create(comm.get(), size(destinations), destinations.data(), nullptr,
                               size(sources), sources.data(), nullptr, &graph));
    adopt(graph);
  }
  /// With a key per edge.
  Graph(const Communicator &comm, std::span<const int32_t> destinations,
        std::span<const int64_t> outKeys, std::span<const int32_t> sources,
        std::span<const int64_t> inKeys) {
    if (outKeys.size() != destinations.size() || inKeys.size() != sources.size())
      throw Error(COLLDSL_ERROR_ARGUMENT, "a graph needs a key for each edge");
    colldsl_graph *graph = nullptr;
    check(colldsl_graph_create(comm.get(), size(destinations), destinations.data(), outKeys.data(),
                               size(sources), sources.data(), inKeys.data(), &graph));
    adopt(graph);
  }
  uint32_t rounds() const { return colldsl_graph_rounds(get()); }

private:
  static uint32_t size(std::span<const int32_t> peers) {
    return static_cast<uint32_t>(peers.size());
  }
};

/// A collective bound to buffers. Describe it, commit() it on all ranks, then run() it.
class Plan : public Handle<colldsl_plan, colldsl_plan_destroy> {
public:
  Plan(const Communicator &comm, const char *name) { create(comm, nullptr, name); }
  Plan(const Communicator &comm, const Library &library, const char *name) {
    create(comm, library.get(), name);
  }

  /// Sets T. If not called: the type of the memory that is bound first.
  template <typename T> Plan &type() {
    if (type_ && !bound_.empty() && *type_ != typeOf<T>())
      throw Error(COLLDSL_ERROR_ARGUMENT, "buffer '" + bound_ + "' has elements of another type");
    type_ = typeOf<T>();
    return does(colldsl_plan_set_type(get(), *type_));
  }
  Plan &inPlace() { return does(colldsl_plan_set_in_place(get(), 1)); }
  Plan &op(colldsl_op op, const char *parameter = "op") {
    return does(colldsl_plan_set_op(get(), parameter, op));
  }
  Plan &set(const char *parameter, std::integral auto value) {
    return does(colldsl_plan_set_int(get(), parameter, static_cast<int64_t>(value)));
  }
  Plan &set(const char *parameter, std::span<const int64_t> values) {
    return does(colldsl_plan_set_list(get(), parameter, values.size(), values.data()));
  }
  Plan &set(const char *parameter, const Graph &graph) {
    return does(colldsl_plan_set_graph(get(), parameter, graph.get()));
  }

  /// "default", "tune", "": replaces the passes of the context's options.
  Plan &passes(const char *list) { return does(colldsl_plan_set_passes(get(), list)); }

  Plan &count(uint64_t n) { return does(colldsl_plan_set_count(get(), n)); }
  /// Binds memory that stays where it is: a container or an array by name, or a span. Its elements
  /// are of the type T.
  template <Elements Memory> Plan &bind(const char *buffer, Memory &&memory) {
    takeType<Memory>(buffer);
    return bind(buffer, memory, ownType);
  }
  template <Elements Memory> Plan &bind(const char *buffer, Memory &&memory, OwnType) {
    auto bytes = std::as_writable_bytes(std::span(memory));
    return does(colldsl_plan_bind(get(), buffer, bytes.data(), bytes.size()));
  }
  /// Binds a buffer that the collective declares `in`.
  template <Elements Memory> Plan &input(const char *buffer, Memory &&memory) {
    takeType<Memory>(buffer);
    return input(buffer, memory, ownType);
  }
  template <Elements Memory> Plan &input(const char *buffer, Memory &&memory, OwnType) {
    auto bytes = std::as_bytes(std::span(memory));
    return does(colldsl_plan_bind_const(get(), buffer, bytes.data(), bytes.size()));
  }
  /// Binds device memory, see colldsl_plan_bind_device(). Its elements are of the type T.
  template <typename T> Plan &bindDevice(const char *buffer, T *memory, size_t elements) {
    takeType<std::span<T>>(buffer);
    return bindDevice(buffer, memory, elements, ownType);
  }
  template <typename T> Plan &bindDevice(const char *buffer, T *memory, size_t elements, OwnType) {
    return does(colldsl_plan_bind_device(get(), buffer, memory, elements * sizeof(T)));
  }
  /// See colldsl_plan_set_device_only().
  Plan &deviceOnly(bool isDeviceOnly = true) {
    return does(colldsl_plan_set_device_only(get(), isDeviceOnly));
  }
  /// See colldsl_plan_set_device_messages().
  Plan &deviceMessages(uint64_t fromBytes) {
    return does(colldsl_plan_set_device_messages(get(), fromBytes));
  }
  /// Contiguous blocks of these lengths.
  Plan &blocks(const char *buffer, std::span<const uint64_t> counts) {
    return does(colldsl_plan_set_blocks(get(), buffer, counts.size(), counts.data(), nullptr));
  }
  Plan &blocks(const char *buffer, std::span<const uint64_t> counts,
               std::span<const uint64_t> displacements) {
    if (counts.size() != displacements.size())
      throw Error(COLLDSL_ERROR_ARGUMENT, "blocks need a displacement for each count");
    return does(
        colldsl_plan_set_blocks(get(), buffer, counts.size(), counts.data(), displacements.data()));
  }

  /// Lengths of the blocks of a `T[k][<= m]` buffer after a run; `count`: k.
  std::vector<uint64_t> blocks(const char *buffer, size_t count) const {
    std::vector<uint64_t> lengths(count);
    check(colldsl_plan_get_blocks(get(), buffer, count, lengths.data()));
    return lengths;
  }
  /// Forgets all that was set or bound under this name.
  Plan &forget(const char *name) {
    if (bound_ == name)
      bound_.clear();
    return does(colldsl_plan_forget(get(), name));
  }

  Plan &commit() { return does(colldsl_plan_commit(get())); }
  std::string collective() const {
    const char *name = colldsl_plan_collective(get());
    return name ? name : "";
  }
  /// Describes a committed plan. Strings are valid until the plan is destroyed or committed anew.
  colldsl_plan_description info() const {
    colldsl_plan_description description{};
    description.size = sizeof description;
    check(colldsl_plan_info(get(), &description));
    return description;
  }

  void start() { check(colldsl_plan_start(get())); }
  /// Starts a run behind the work of a stream, or captures the plan, see
  /// colldsl_plan_start_on_stream().
  void startOnStream(void *stream) { check(colldsl_plan_start_on_stream(get(), stream)); }
  /// Lets a stream wait for the run, see colldsl_plan_wait_on_stream().
  void waitOnStream(void *stream) { check(colldsl_plan_wait_on_stream(get(), stream)); }
  bool test() {
    int done = 0;
    check(colldsl_plan_test(get(), &done));
    return done != 0;
  }
  /// Waits up to so many seconds. False: the run goes on.
  bool testFor(double timeout) {
    int done = 0;
    check(colldsl_plan_test_for(get(), timeout, &done));
    return done != 0;
  }
  void wait(double timeout = -1) { check(colldsl_plan_wait(get(), timeout)); }
  void run(double timeout = -1) {
    start();
    wait(timeout);
  }
  void cancel() { check(colldsl_plan_cancel(get())); }

private:
  void create(const Communicator &comm, colldsl_library *library, const char *name) {
    colldsl_plan *plan = nullptr;
    check(colldsl_plan_create(comm.get(), library, name, &plan));
    adopt(plan);
  }
  Plan &does(colldsl_status status) {
    check(status);
    return *this;
  }
  template <typename Memory> void takeType(const char *buffer) {
    constexpr colldsl_type own =
        typeOf<std::remove_reference_t<std::ranges::range_value_t<Memory>>>();
    if (!type_)
      check(colldsl_plan_set_type(get(), own));
    else if (*type_ != own)
      throw Error(COLLDSL_ERROR_ARGUMENT, "buffer '" + std::string(buffer) +
                                              "' has elements of another type than the plan: " +
                                              "type<T>() sets that, ownType is for buffers with " +
                                              "a type of their own");
    type_ = own;
    bound_ = buffer;
  }

  std::optional<colldsl_type> type_; ///< once set
  std::string bound_;                ///< the buffer that was bound last, with elements of that type
};

} // namespace coll

#endif
