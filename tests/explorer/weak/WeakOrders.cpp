#include "tests/explorer/weak/WeakOrders.h"

#include <fstream>
#include <regex>

namespace colldsl::test::weak {
namespace {

const char *const kSources[] = {
    "transports/Rendezvous.h",
    "transports/CooperativeCopy.h",
    "transports/shm/FailureDetector.cpp",
    "transports/shm/FifoReceiver.cpp",
    "transports/shm/FifoReceiver.h",
    "transports/shm/FifoSender.cpp",
    "transports/shm/FifoSender.h",
    "transports/shm/OpenPlans.h",
    "transports/shm/ShmBootstrap.cpp",
    "transports/shm/Sleep.cpp",
    "transports/shm/StaticRtr.h",
    "transports/shm/WakeupPipes.cpp",
    "transports/shm/World.cpp",
    "transports/shm/World.h",
    "protocol/local/LocalWorker.cpp",
    "protocol/local/RunProgress.cpp",
    "protocol/local/RunProgress.h",
};

struct Reason {
  const char *file, *text; ///< a part of the lines
  Order to;                ///< this one; Relaxed: all
  bool isWalked;
  const char *why;
};

// Where a weaker order would do, and where the orders are not walked.
const Reason kReasons[] = {
#include "tests/explorer/weak/WeakReasons.def"
};

const char *nameOf(Order order) {
  constexpr const char *kNames[] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};
  return kNames[static_cast<size_t>(order)];
}

std::vector<std::string> linesOf(const std::string &path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line.substr(0, line.find("//")));
  return lines;
}

// The lines of a statement begin behind those of the one before.
bool endsStatement(const std::string &line) {
  size_t last = line.find_last_not_of(' ');
  return last == std::string::npos || std::string(";{}:").find(line[last]) != std::string::npos;
}

std::vector<Order> weakerThan(Order order, bool isFence) {
  switch (order) {
  case Order::Relaxed:
    return {};
  case Order::Acquire:
  case Order::Release:
    return {Order::Relaxed};
  case Order::AcqRel:
    return {Order::Acquire, Order::Release};
  case Order::SeqCst:
    return isFence ? std::vector{Order::Relaxed} : std::vector{Order::Acquire, Order::Release};
  }
  return {};
}

Order orderNamed(std::string name) {
  for (char &c : name)
    c = static_cast<char>(std::tolower(c));
  for (Order order : {Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst})
    if (name == nameOf(order))
      return order;
  return Order::Relaxed;
}

bool fits(const Reason &reason, const WeakOrder &order) {
  return order.weakening.file == reason.file && order.text.find(reason.text) != std::string::npos &&
         (reason.to == Order::Relaxed || reason.to == order.weakening.to);
}

// The orders of one statement, lines [begin, end).
void addOrders(std::vector<WeakOrder> &found, const std::string &file,
               const std::vector<std::string> &lines, size_t begin, size_t end) {
  static const std::regex kOrder("(?:memory_order_|__ATOMIC_)([a-z_]+|[A-Z_]+)|SYS_membarrier, "
                                 "MEMBARRIER_CMD_GLOBAL_EXPEDITED");
  WeakOrder one;
  one.weakening.file = file;
  for (size_t i = begin; i < end; ++i) {
    one.weakening.lines.insert(static_cast<uint32_t>(i + 1));
    one.text += lines[i].substr(std::min(lines[i].size(), lines[i].find_first_not_of(' '))) + " ";
  }
  bool isFence = one.text.find("fence(") != std::string::npos ||
                 one.text.find("SYS_membarrier") != std::string::npos;
  std::set<Order> orders;
  for (std::sregex_iterator i(one.text.begin(), one.text.end(), kOrder), none; i != none; ++i)
    orders.insert((*i)[1].matched ? orderNamed((*i)[1]) : Order::SeqCst);
  for (Order from : orders)
    for (Order to : weakerThan(from, isFence)) {
      WeakOrder made = one;
      made.weakening.from = from;
      made.weakening.to = to;
      made.weakening.isDropped = isFence;
      made.name = file + ":" + std::to_string(begin + 1) + " " + nameOf(from) + " -> " +
                  (isFence ? "nothing" : nameOf(to));
      for (const Reason &reason : kReasons)
        if (fits(reason, made)) {
          made.why = reason.why;
          made.isWalked = reason.isWalked;
        }
      found.push_back(std::move(made));
    }
}

} // namespace

std::vector<std::string> filesOfWeakOrders() { return {std::begin(kSources), std::end(kSources)}; }

std::vector<WeakOrder> weakOrdersOf(const std::string &tree, const std::string &file) {
  std::vector<WeakOrder> found;
  std::vector<std::string> lines = linesOf(tree + "/" + file);
  for (size_t begin = 0, i = 0; i < lines.size(); ++i)
    if (endsStatement(lines[i])) {
      addOrders(found, file, lines, begin, i + 1);
      begin = i + 1;
    }
  return found;
}

std::vector<std::string> unusedReasons(const std::string &tree) {
  std::vector<std::string> unused;
  for (const Reason &reason : kReasons) {
    std::vector<WeakOrder> all = weakOrdersOf(tree, reason.file);
    if (std::none_of(all.begin(), all.end(),
                     [&](const WeakOrder &one) { return fits(reason, one); }))
      unused.push_back(std::string(reason.file) + ": " + reason.text);
  }
  return unused;
}

} // namespace colldsl::test::weak
