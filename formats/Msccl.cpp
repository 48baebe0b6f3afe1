#include "formats/Msccl.h"

#include "ir/Concat.h"

#include <array>

namespace colldsl::msccl {
namespace {

struct StepTraits {
  std::string_view spelling;
  bool receives, reduces, writes, sends;
};

constexpr StepTraits kSteps[] = {
#define COLLDSL_MSCCL_STEP(Name, spelling, receives, reduces, writes, sends)                       \
  {spelling, receives, reduces, writes, sends},
#include "formats/Msccl.def"
};

constexpr std::string_view kCollectives[] = {
#define COLLDSL_MSCCL_COLLECTIVE(Name, spelling) spelling,
#include "formats/Msccl.def"
};

const StepTraits &traits(StepKind kind) { return kSteps[static_cast<size_t>(kind)]; }

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text)
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  return out + "\"";
}

/// Without separators.
std::string lowerLetters(std::string_view word) {
  std::string plain;
  for (char c : word)
    if (c != '_' && c != '-')
      plain += 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return plain;
}

/// Calls of MSCCL without `maxBytes` have 128 MiB at most, of RCCL with 0 any number.
constexpr uint64_t kLargestCall = uint64_t{1} << 40;

class Printer {
public:
  std::string run(const Algorithm &algorithm);

private:
  void printGpu(const Gpu &gpu, size_t id);
  void printBlock(const Threadblock &block, size_t id);
  void printStep(const Step &step, size_t s);
  template <typename T> Printer &attribute(std::string_view name, const T &value) {
    return *this << " " << name << "=" << quoted(concat(value));
  }
  Printer &operator<<(std::string_view text) {
    out_ += text;
    return *this;
  }

  std::string out_;
};

void Printer::printStep(const Step &step, size_t s) {
  *this << "      <step";
  attribute("s", s).attribute("type", spelling(step.kind));
  attribute("srcbuf", spelling(step.source.memory)).attribute("srcoff", step.source.offset);
  attribute("dstbuf", spelling(step.target.memory)).attribute("dstoff", step.target.offset);
  attribute("cnt", step.count).attribute("depid", step.waitBlock).attribute("deps", step.waitStep);
  attribute("hasdep", step.isAwaited ? 1 : 0);
  *this << "/>\n";
}

void Printer::printBlock(const Threadblock &block, size_t id) {
  *this << "    <tb";
  attribute("id", id).attribute("send", block.sendPeer).attribute("recv", block.recvPeer);
  attribute("chan", block.channel);
  *this << ">\n";
  for (size_t s = 0; s < block.steps.size(); ++s)
    printStep(block.steps[s], s);
  *this << "    </tb>\n";
}

void Printer::printGpu(const Gpu &gpu, size_t id) {
  *this << "  <gpu";
  attribute("id", id).attribute("i_chunks", gpu.inputChunks);
  attribute("o_chunks", gpu.outputChunks).attribute("s_chunks", gpu.scratchChunks);
  *this << ">\n";
  for (size_t i = 0; i < gpu.blocks.size(); ++i)
    printBlock(gpu.blocks[i], i);
  *this << "  </gpu>\n";
}

std::string Printer::run(const Algorithm &algorithm) {
  *this << "<algo";
  attribute("name", algorithm.name).attribute("proto", algorithm.protocol);
  attribute("nchannels", algorithm.channels).attribute("nchunksperloop", algorithm.chunksPerLoop);
  attribute("ngpus", algorithm.gpus.size()).attribute("coll", spelling(algorithm.collective));
  attribute("inplace", algorithm.inPlace ? 1 : 0);
  attribute("outofplace", algorithm.outOfPlace ? 1 : 0);
  attribute("minBytes", 0).attribute("maxBytes", kLargestCall);
  if (algorithm.root >= 0)
    attribute("root", algorithm.root);
  *this << ">\n";
  for (size_t i = 0; i < algorithm.gpus.size(); ++i)
    printGpu(algorithm.gpus[i], i);
  *this << "</algo>\n";
  return std::move(out_);
}

} // namespace

std::string_view spelling(StepKind kind) { return traits(kind).spelling; }
std::optional<Collective> parseCollective(std::string_view word) {
  std::string plain = lowerLetters(word);
  for (size_t i = 0; i < std::size(kCollectives); ++i)
    if (lowerLetters(kCollectives[i]) == plain)
      return static_cast<Collective>(i);
  return std::nullopt;
}

std::string_view spelling(Collective collective) {
  return kCollectives[static_cast<size_t>(collective)];
}
std::string_view spelling(Memory memory) {
  constexpr std::array<std::string_view, 3> words = {"i", "o", "s"};
  return words[static_cast<size_t>(memory)];
}
bool receives(StepKind kind) { return traits(kind).receives; }
bool reduces(StepKind kind) { return traits(kind).reduces; }
bool writes(StepKind kind) { return traits(kind).writes; }
bool sends(StepKind kind) { return traits(kind).sends; }

std::string print(const Algorithm &algorithm) { return Printer().run(algorithm); }

} // namespace colldsl::msccl
