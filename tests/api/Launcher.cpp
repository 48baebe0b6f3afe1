#include "tests/api/Launcher.h"

#include <algorithm>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace colldsl::test {
namespace {

constexpr size_t kMaxBytes = 1 << 12;
constexpr size_t kMaxText = 400;
constexpr uint32_t kMaxProcesses = 16;

struct Page {
  pthread_barrier_t barrier;
  char gathered[kMaxProcesses][kMaxBytes];
  char complaint[kMaxProcesses][kMaxText];
};

/// Shared with processes forked later; zero at first.
class SharedPage {
public:
  SharedPage()
      : page_(static_cast<Page *>(mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~SharedPage() { munmap(page_, sizeof(Page)); }
  Page *operator->() const { return page_; }
  Page *get() const { return page_; }

private:
  Page *page_;
};

struct Process {
  Page *page;
  uint32_t rank, size;
};

int barrier(void *user) {
  pthread_barrier_wait(&static_cast<Process *>(user)->page->barrier);
  return 0;
}

int allgather(const void *mine, void *all, size_t bytes, void *user) {
  auto &self = *static_cast<Process *>(user);
  if (bytes > kMaxBytes)
    return 1;
  std::memcpy(self.page->gathered[self.rank], mine, bytes);
  barrier(user);
  for (uint32_t r = 0; r < self.size; ++r)
    std::memcpy(static_cast<char *>(all) + r * bytes, self.page->gathered[r], bytes);
  return barrier(user);
}

void complain(Page &page, uint32_t rank, const std::string &text) {
  std::strncpy(page.complaint[rank], text.c_str(), kMaxText - 1);
}

std::string complaints(const Page &page, uint32_t processes) {
  std::string all;
  for (uint32_t r = 0; r < processes; ++r)
    if (page.complaint[r][0])
      all += "rank " + std::to_string(r) + ": " + page.complaint[r] + "\n";
  return all;
}

} // namespace

std::string launch(uint32_t processes,
                   const std::function<std::string(const colldsl_bootstrap &)> &body) {
  SharedPage page;
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&page->barrier, &attributes, processes);
  std::vector<pid_t> children;
  for (uint32_t r = 0; r < processes; ++r) {
    pid_t child = fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    Process self{page.get(), r, processes};
    complain(*page.get(), r, body({r, processes, allgather, barrier, &self}));
    _exit(0);
  }
  for (uint32_t r = 0; r < processes; ++r) {
    int status = 0;
    waitpid(children[r], &status, 0);
    if (WIFSIGNALED(status))
      complain(*page.get(), r, "killed by signal " + std::to_string(WTERMSIG(status)));
  }
  return complaints(*page.get(), processes);
}

std::string runRanks(uint32_t ranks, const std::function<std::string(coll::Communicator &)> &body,
                     const colldsl_options &options) {
  SharedPage page;
  std::string outcome;
  try {
    coll::Context context(options);
    context.fork(ranks, [&](coll::Communicator &comm) {
      std::string complaint;
      try {
        complaint = body(comm);
      } catch (const std::exception &e) {
        complaint = e.what();
      }
      complain(*page.get(), comm.rank(), complaint);
    });
  } catch (const coll::Error &e) {
    outcome = e.what();
  }
  return outcome + complaints(*page.get(), ranks);
}

} // namespace colldsl::test
