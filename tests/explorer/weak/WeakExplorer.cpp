#include "tests/explorer/weak/WeakExplorer.h"

#include <llvm/DebugInfo/Symbolize/Symbolize.h>
#include <llvm/Support/FormatVariadic.h>

extern "C" char __executable_start;

namespace colldsl::test::weak {
namespace {

// The innermost function of the project that the call is in; those of the standard library are
// inlined.
constexpr const char *kFolders[] = {"transports/", "protocol/", "executor/"};

std::string inTree(const std::string &file) {
  for (const char *folder : kFolders)
    if (size_t at = file.rfind(std::string("/") + folder); at != std::string::npos)
      return file.substr(at + 1);
  return "";
}

} // namespace

struct WeakExplorer::Site {
  std::string file; ///< empty: not of the tree
  uint32_t line = 0;
};

const WeakExplorer::Site &WeakExplorer::siteOf(const void *caller) {
  static std::unordered_map<const void *, Site> known;
  auto [at, isNew] = known.try_emplace(caller);
  if (isNew) {
    static llvm::symbolize::LLVMSymbolizer symbolizer;
    auto offset =
        static_cast<uint64_t>(static_cast<const char *>(caller) - &__executable_start) - 1;
    llvm::Expected<llvm::DIInliningInfo> frames = symbolizer.symbolizeInlinedCode(
        "/proc/self/exe", {offset, llvm::object::SectionedAddress::UndefSection});
    if (!frames)
      consumeError(frames.takeError());
    for (uint32_t f = 0; frames && f < frames->getNumberOfFrames() && at->second.file.empty(); ++f)
      at->second = {inTree(frames->getFrame(f).FileName), frames->getFrame(f).Line};
  }
  return at->second;
}

WeakExplorer::WeakExplorer(MakeScenario make, Weakening weakening)
    : make_(std::move(make)), weakening_(std::move(weakening)),
      memory_([this](uint32_t count) { return choose(count); }) {
  current_ = this;
}

WeakExplorer::~WeakExplorer() { current_ = nullptr; }

Exploration WeakExplorer::run(uint64_t mostStates) {
  do
    replay();
  while (found_.wrong.empty() && seen_.size() < mostStates && advance());
  found_.states = seen_.size();
  found_.isComplete = path_.empty() || !found_.wrong.empty();
  if (!found_.wrong.empty()) {
    isTraced_ = true;
    replay();
  }
  return found_;
}

std::set<std::string> WeakExplorer::met() const {
  std::set<std::string> met;
  for (const Site *site : met_)
    if (!site->file.empty())
      met.insert(site->file + ":" + std::to_string(site->line));
  return met;
}

bool WeakExplorer::advance() {
  while (!path_.empty() && ++path_.back().taken == path_.back().count)
    path_.pop_back();
  return !path_.empty();
}

uint32_t WeakExplorer::choose(uint32_t count) {
  if (count < 2)
    return 0;
  if (next_ == path_.size())
    path_.push_back({count, 0});
  return path_[next_++].taken;
}

void WeakExplorer::begin() {
  next_ = 0;
  isBusy_ = true;
  memory_.unshareAll();
  scenario_ = make_();
  memory_.restart(scenario_->threads());
  threads_.clear();
  threads_.resize(scenario_->threads());
  for (running_ = 0; running_ < threads_.size(); ++running_) {
    Thread &thread = threads_[running_];
    thread.fiber = std::make_unique<Fiber>();
    isBusy_ = false;
    thread.fiber->begin([this, &thread] {
      scenario_->run(running_);
      thread.doing = Doing::Over;
    });
    isBusy_ = true;
  }
}

void WeakExplorer::end() {
  for (Thread &thread : threads_)
    if (thread.fiber->isUnderWay())
      thread.fiber->abandon();
  threads_.clear();
  scenario_.reset();
}

std::vector<uint32_t> WeakExplorer::runnable() {
  std::vector<uint32_t> found;
  for (uint32_t t = 0; t < threads_.size(); ++t)
    if (threads_[t].doing == Doing::Runs ||
        (threads_[t].doing == Doing::Awaits && memory_.hasNews(t)))
      found.push_back(t);
  return found;
}

uint64_t WeakExplorer::digest() {
  uint64_t digest = memory_.digest();
  for (const Thread &thread : threads_)
    digest = mix(digest, static_cast<uint64_t>(thread.doing));
  return digest;
}

void WeakExplorer::replay() {
  for (begin();;) {
    if (!memory_.wrong().empty()) {
      blame(memory_.wrong());
      break;
    }
    if (memory_.isVoid())
      break;
    if (next_ == path_.size() && !isTraced_ && !seen_.insert(digest()).second)
      break;
    std::vector<uint32_t> ready = runnable();
    if (ready.empty()) {
      ++found_.ends;
      for (const Thread &thread : threads_)
        if (thread.doing != Doing::Over) {
          blame("a thread waits for good");
          break;
        }
      break;
    }
    running_ = ready[choose(static_cast<uint32_t>(ready.size()))];
    threads_[running_].doing = Doing::Runs;
    threads_[running_].fiber->resume();
    isBusy_ = true;
  }
  end();
}

void WeakExplorer::blame(const std::string &wrong) {
  found_.wrong = wrong;
  for (const std::string &line : trace_)
    found_.wrong += "\n  " + line;
}

void WeakExplorer::leave() {
  isBusy_ = true;
  Fiber::current()->leave();
  isBusy_ = false;
}

void WeakExplorer::step(const char *what, uintptr_t at, const void *caller) {
  isBusy_ = true;
  const Site &site = siteOf(caller);
  met_.insert(&site);
  leave();
  memory_.advance(running_);
  if (isTraced_)
    trace_.push_back(llvm::formatv("thread {0}: {1} {2:x-} in {3}:{4}", running_, what,
                                   at & 0xfffff, site.file, site.line));
}

void WeakExplorer::note(uint64_t value) {
  if (isTraced_ && !trace_.empty())
    trace_.back() += llvm::formatv(" = {0}", value).str();
}

Order WeakExplorer::orderOf(Order given, const void *caller) {
  if (weakening_.file.empty() || weakening_.isDropped || given != weakening_.from)
    return given;
  const Site &site = siteOf(caller);
  return site.file == weakening_.file && weakening_.lines.count(site.line) ? weakening_.to : given;
}

bool WeakExplorer::isDropped(const void *caller) {
  if (!weakening_.isDropped)
    return false;
  const Site &site = siteOf(caller);
  return site.file == weakening_.file && weakening_.lines.count(site.line);
}

void WeakExplorer::awaitNews() {
  isBusy_ = true;
  if (memory_.endRoundInVain(running_))
    threads_[running_].doing = Doing::Awaits;
  leave();
}

void WeakExplorer::sleepOn(uintptr_t word) {
  threads_[running_].doing = Doing::Sleeps;
  threads_[running_].word = word;
  leave();
}

void WeakExplorer::wakeAll(uintptr_t word) {
  for (Thread &thread : threads_)
    if (thread.doing == Doing::Sleeps && thread.word == word)
      thread.doing = Doing::Runs;
}

void share(const void *begin, size_t bytes) {
  WeakExplorer::current()->memory().share(begin, bytes);
}

void expect(bool isTrue, const char *what) {
  if (!isTrue)
    WeakExplorer::current()->memory().blame(what);
}

} // namespace colldsl::test::weak
