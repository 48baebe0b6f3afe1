// Operations on files that go on after the call that starts them.
//
// OMPIO keeps their requests in a list that has no lock: in Open MPI 4.1 and 5.0 a thread that
// progresses the MPI ends the process while another one starts or completes such a request
// (ompi/mca/common/ompio/common_ompio_request.c). So where a thread of ours progresses Open MPI,
// the call performs the whole operation. What all ranks do together each does by itself, as OMPIO
// does where such a call does not wait for the others.
#include "mpi/entries/EntryParameters.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

using namespace colldsl::mpi;

namespace {

bool performsAtOnce() { return Job::current() && Job::current()->progressesOpenMpiInThread(); }

/// Results of operations that were begun and not ended: at most one of each file.
class Begun {
public:
  void add(MPI_File file, const MPI_Status &result) {
    std::lock_guard lock(mutex_);
    results_.emplace_back(file, result);
  }

  /// False: none was begun on that file.
  bool take(MPI_File file, MPI_Status *status) {
    std::lock_guard lock(mutex_);
    auto at = std::find_if(results_.begin(), results_.end(),
                           [&](const auto &result) { return result.first == file; });
    if (at == results_.end())
      return false;
    if (status != MPI_STATUS_IGNORE)
      *status = at->second;
    results_.erase(at);
    return true;
  }

private:
  std::mutex mutex_;
  std::vector<std::pair<MPI_File, MPI_Status>> results_;
};

Begun &begun() {
  static Begun all;
  return all;
}

int writeResult(void *result, MPI_Status *status) {
  *status = *static_cast<MPI_Status *>(result);
  return MPI_SUCCESS;
}

int freeResult(void *result) {
  delete static_cast<MPI_Status *>(result);
  return MPI_SUCCESS;
}

int cancelNothing(void *, int) { return MPI_SUCCESS; }

/// `operate(status)` is the blocking call. The request is complete.
template <typename Operate> int perform(MPI_Request *request, Operate operate) {
  auto result = std::make_unique<MPI_Status>();
  int code = operate(result.get());
  if (code == MPI_SUCCESS)
    code = real::Grequest_start(writeResult, freeResult, cancelNothing, result.get(), request);
  if (code != MPI_SUCCESS)
    return code;
  result.release();
  return real::Grequest_complete(*request);
}

template <typename Operate> int begin(MPI_File file, Operate operate) {
  MPI_Status result = {};
  int code = operate(&result);
  if (code == MPI_SUCCESS)
    begun().add(file, result);
  return code;
}

template <typename... Parameters, typename... Passed>
int passOn(int (*function)(Parameters...), Passed... passed) {
  return function(passed...);
}

} // namespace

#define STARTS(starts, blocks, n)                                                                  \
  COLLDSL_ENTRY(starts, (PARAMETERS_##n(starts), MPI_Request * request)) {                         \
    if (!performsAtOnce())                                                                         \
      return passOn(real::starts PASSED_##n, request);                                             \
    return perform(                                                                                \
        request, [&](MPI_Status *result) { return callBelow(real::blocks PASSED_##n, result); });  \
  }
#define BEGINS(begins, blocks, n)                                                                  \
  COLLDSL_ENTRY(begins, (PARAMETERS_##n(begins))) {                                                \
    if (!performsAtOnce())                                                                         \
      return callBelow(real::begins PASSED_##n);                                                   \
    return begin(p0,                                                                               \
                 [&](MPI_Status *result) { return callBelow(real::blocks PASSED_##n, result); });  \
  }
#define ENDS(name)                                                                                 \
  COLLDSL_ENTRY(name, (PARAMETERS_3(name))) {                                                      \
    return begun().take(p0, p2) ? MPI_SUCCESS : callBelow(real::name PASSED_3);                    \
  }

// A call that starts what all ranks do together must not wait for them.
#define ALL_FORMS(suffix)                                                                          \
  STARTS(File_iread##suffix, File_read##suffix, 4)                                                 \
  STARTS(File_iread_at##suffix, File_read_at##suffix, 5)                                           \
  STARTS(File_iread_all##suffix, File_read##suffix, 4)                                             \
  STARTS(File_iread_at_all##suffix, File_read_at##suffix, 5)                                       \
  STARTS(File_iread_shared##suffix, File_read_shared##suffix, 4)                                   \
  STARTS(File_iwrite##suffix, File_write##suffix, 4)                                               \
  STARTS(File_iwrite_at##suffix, File_write_at##suffix, 5)                                         \
  STARTS(File_iwrite_all##suffix, File_write##suffix, 4)                                           \
  STARTS(File_iwrite_at_all##suffix, File_write_at##suffix, 5)                                     \
  STARTS(File_iwrite_shared##suffix, File_write_shared##suffix, 4)                                 \
  BEGINS(File_read_all_begin##suffix, File_read##suffix, 4)                                        \
  BEGINS(File_read_at_all_begin##suffix, File_read_at##suffix, 5)                                  \
  BEGINS(File_read_ordered_begin##suffix, File_read_ordered##suffix, 4)                            \
  BEGINS(File_write_all_begin##suffix, File_write##suffix, 4)                                      \
  BEGINS(File_write_at_all_begin##suffix, File_write_at##suffix, 5)                                \
  BEGINS(File_write_ordered_begin##suffix, File_write_ordered##suffix, 4)

ALL_FORMS()
#ifdef COLLDSL_MPI_LARGE_COUNTS
ALL_FORMS(_c)
#endif
ENDS(File_read_all_end)
ENDS(File_read_at_all_end)
ENDS(File_read_ordered_end)
ENDS(File_write_all_end)
ENDS(File_write_at_all_end)
ENDS(File_write_ordered_end)
