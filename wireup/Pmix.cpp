// PMIx, the standard 4 (pmix.github.io). The library is loaded when a launcher has set PMIX_RANK:
// processes without a launcher need not have it.
#include "wireup/Launcher.h"

#include "ir/Concat.h"
#include "wireup/Environment.h"

#include <cstring>
#include <dlfcn.h>
#include <future>
#include <pmix.h>

namespace colldsl {
namespace {

struct Functions {
  decltype(&PMIx_Init) init = nullptr;
  decltype(&PMIx_Finalize) finalize = nullptr;
  decltype(&PMIx_Put) put = nullptr;
  decltype(&PMIx_Commit) commit = nullptr;
  decltype(&PMIx_Fence_nb) fence = nullptr;
  decltype(&PMIx_Get) get = nullptr;
  decltype(&PMIx_Register_event_handler) registerHandler = nullptr;
  decltype(&PMIx_Error_string) nameOf = nullptr;

  // The library stays until the process ends: it has threads.
  Status load() {
    void *library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return Status::error(concat("started by a launcher with PMIx, but ", dlerror()));
    bool hasAll = find(library, "PMIx_Init", init) && find(library, "PMIx_Finalize", finalize) &&
                  find(library, "PMIx_Put", put) && find(library, "PMIx_Commit", commit) &&
                  find(library, "PMIx_Fence_nb", fence) && find(library, "PMIx_Get", get) &&
                  find(library, "PMIx_Register_event_handler", registerHandler) &&
                  find(library, "PMIx_Error_string", nameOf);
    return hasAll ? Status() : Status::error("libpmix.so.2 lacks functions of PMIx 4");
  }

private:
  template <typename F> static bool find(void *library, const char *name, F &function) {
    function = reinterpret_cast<F>(dlsym(library, name));
    return function != nullptr;
  }
};

/// Owned by both the thread that waits and the library's callback: the later one frees it.
using Completion = std::shared_ptr<std::promise<pmix_status_t>>;

void complete(pmix_status_t code, void *completion) {
  std::unique_ptr<Completion> owned(static_cast<Completion *>(completion));
  (*owned)->set_value(code);
}

// No thread is left that could receive the reason.
void end(size_t, pmix_status_t, const pmix_proc_t *, pmix_info_t *, size_t, pmix_info_t *, size_t,
         pmix_event_notification_cbfunc_fn_t, void *) {
  std::_Exit(EXIT_FAILURE);
}

class Pmix : public Launcher {
public:
  explicit Pmix(Limit limit) : Launcher(limit) {}
  ~Pmix() override {
    if (isOpen_)
      pmix_.finalize(nullptr, 0);
  }

  Status open() {
    if (Status s = pmix_.load(); !s)
      return s;
    if (Status s = outcome(pmix_.init(&self_, nullptr, 0), "PMIx_Init"); !s)
      return s;
    isOpen_ = true;
    rank_ = self_.rank;
    pmix_proc_t job = self_;
    job.rank = PMIX_RANK_WILDCARD;
    pmix_value_t *size = nullptr;
    if (Status s = outcome(pmix_.get(&job, PMIX_JOB_SIZE, nullptr, 0, &size), "PMIx_Get"); !s)
      return s;
    numRanks_ = size->data.uint32;
    std::free(size);
    return {};
  }

  // Open MPI's mpirun that is killed leaves its ranks alive; without a callback this one waits.
  Status endWithIt() override {
    pmix_status_t gone = PMIX_ERR_LOST_CONNECTION;
    pmix_status_t id = pmix_.registerHandler(&gone, 1, nullptr, 0, end, nullptr, nullptr);
    return id >= 0 ? Status() : outcome(id, "PMIx_Register_event_handler");
  }

protected:
  size_t longestValue() const override { return 64 << 10; }

  Status put(const std::string &key, std::span<const std::byte> value) override {
    pmix_value_t given = {};
    given.type = PMIX_BYTE_OBJECT;
    given.data.bo.bytes = const_cast<char *>(reinterpret_cast<const char *>(value.data()));
    given.data.bo.size = value.size();
    if (Status s = outcome(pmix_.put(PMIX_GLOBAL, key.c_str(), &given), "PMIx_Put"); !s)
      return s;
    return outcome(pmix_.commit(), "PMIx_Commit");
  }

  Status fence() override {
    pmix_info_t collect = {};
    std::strncpy(collect.key, PMIX_COLLECT_DATA, PMIX_MAX_KEYLEN);
    collect.value.type = PMIX_BOOL;
    collect.value.data.flag = true;
    auto completion = std::make_shared<std::promise<pmix_status_t>>();
    std::future<pmix_status_t> code = completion->get_future();
    auto *owned = new Completion(completion);
    pmix_status_t begun = pmix_.fence(nullptr, 0, &collect, 1, complete, owned);
    if (begun != PMIX_SUCCESS) { // no callback will come
      delete owned;
      return begun == PMIX_OPERATION_SUCCEEDED ? Status() : outcome(begun, "PMIx_Fence_nb");
    }
    if (limit_ && code.wait_for(*limit_) == std::future_status::timeout)
      return notAllCame();
    return outcome(code.get(), "PMIx_Fence_nb");
  }

  Status get(uint32_t rank, const std::string &key, std::span<std::byte> value) override {
    pmix_proc_t peer = self_;
    peer.rank = rank;
    pmix_value_t *found = nullptr;
    if (Status s = outcome(pmix_.get(&peer, key.c_str(), nullptr, 0, &found), "PMIx_Get"); !s)
      return s;
    bool isRight = found->type == PMIX_BYTE_OBJECT && found->data.bo.size == value.size();
    if (isRight)
      std::memcpy(value.data(), found->data.bo.bytes, value.size());
    if (found->type == PMIX_BYTE_OBJECT)
      std::free(found->data.bo.bytes);
    std::free(found);
    return isRight ? Status()
                   : Status::error(concat("rank ", rank, " put something else than ", value.size(),
                                          " bytes over PMIx"));
  }

private:
  Status outcome(pmix_status_t code, const char *call) const {
    return code == PMIX_SUCCESS ? Status()
                                : Status::error(concat(call, " failed: ", pmix_.nameOf(code)));
  }

  Functions pmix_;
  pmix_proc_t self_ = {};
  bool isOpen_ = false;
};

} // namespace

Result<std::unique_ptr<Launcher>> findPmix(Launcher::Limit limit) {
  if (!setting("PMIX_RANK"))
    return std::unique_ptr<Launcher>();
  auto pmix = std::make_unique<Pmix>(limit);
  if (Status s = pmix->open(); !s)
    return s;
  return std::unique_ptr<Launcher>(std::move(pmix));
}

} // namespace colldsl
