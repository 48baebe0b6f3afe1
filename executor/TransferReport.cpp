#include "executor/TransferReport.h"

#include "ir/Concat.h"

#include <algorithm>

namespace colldsl {
namespace {

constexpr std::string_view kSpellings[kAttributes] = {
    "via eager", "via rendezvous", "via static", "mover reader", "mover writer",
    "canary",    "announced",      "streamed",   "multicast"};

bool has(const Transfer &transfer, Attribute attribute) {
  switch (attribute) {
  case Attribute::Eager:
    return transfer.protocol == Protocol::Eager;
  case Attribute::Rendezvous:
    return transfer.protocol == Protocol::Rendezvous;
  case Attribute::Static:
    return transfer.protocol == Protocol::Static;
  case Attribute::Reader:
    return transfer.mover == Mover::Reader;
  case Attribute::Writer:
    return transfer.mover == Mover::Writer;
  case Attribute::Canary:
    return transfer.canary;
  case Attribute::Announced:
    return transfer.announced;
  case Attribute::Streamed:
    return transfer.streamed;
  case Attribute::Multicast:
    return transfer.multicast;
  }
  __builtin_unreachable();
}

} // namespace

std::string_view spelling(Attribute attribute) {
  return kSpellings[static_cast<size_t>(attribute)];
}

void TransferReport::add(const Transfer &asked, const Transfer &executed) {
  for (size_t a = 0; a < kAttributes; ++a) {
    auto attribute = static_cast<Attribute>(a);
    counts[a].asked += has(asked, attribute);
    counts[a].executed += has(asked, attribute) && has(executed, attribute);
  }
}

void TransferReport::add(const TransferReport &other) {
  for (size_t a = 0; a < kAttributes; ++a) {
    counts[a].asked += other.counts[a].asked;
    counts[a].executed += other.counts[a].executed;
  }
}

bool TransferReport::isExecuted() const {
  return std::all_of(counts.begin(), counts.end(),
                     [](const Count &count) { return count.executed == count.asked; });
}

std::string TransferReport::inWords() const {
  std::string words;
  for (size_t a = 0; a < kAttributes; ++a)
    if (counts[a].asked != 0)
      words += concat(words.empty() ? "" : ", ", kSpellings[a], " ", counts[a].executed, " of ",
                      counts[a].asked);
  return words;
}

TransferReport reportTransfers(const RankView &view, const Steps &steps,
                               CombiningReceives &combining, const Endpoint &endpoint) {
  TransferReport report;
  for (uint32_t i = 0; i < view.ops.size(); ++i) {
    const ImageOp &op = view.ops[i];
    const Step &step = steps[OpId{i}];
    if (step.kind != Step::Kind::Recv || op.transfer() == Transfer() || op.peer == endpoint.rank())
      continue;
    TransferSite site{.bytes = step.payload.bytes,
                      .isShared = endpoint.isShared(step.payload),
                      .isCombined = combining.of(OpId{i}) != nullptr};
    report.add(op.transfer(), executedOf(op.transfer(), endpoint.transferCaps(op.peer), site));
  }
  return report;
}

} // namespace colldsl
