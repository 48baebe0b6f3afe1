// The file passes by once, element by element; libxml2 builds no tree of it.

#include "formats/Msccl.h"

#include "ir/Concat.h"
#include "ir/Numbers.h"

#include <libxml/parser.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace colldsl::msccl {
namespace {

constexpr int kMaxAttributes = 64;
constexpr size_t kPieceBytes = 64 << 10;
constexpr std::string_view kLevels[] = {"algo", "gpu", "tb", "step"};
constexpr size_t kBlockLevel = 2, kStepLevel = 3;
constexpr std::string_view kOpName = "op"; ///< a step of 2021

std::string_view text(const xmlChar *begin) {
  return begin ? reinterpret_cast<const char *>(begin) : std::string_view();
}

/// One element with its attributes. The attributes live as long as libxml2's call.
class Element {
public:
  Element(std::string_view name, const xmlChar **attributes, int count, SourceLoc loc)
      : name_(name), attributes_(attributes), count_(count), loc_(loc) {}

  std::optional<std::string_view> find(std::string_view name) const {
    for (int i = 0; i < count_; ++i) {
      const xmlChar **attribute = attributes_ + size_t{5} * i; // name, prefix, URI, begin, end
      if (text(attribute[0]) == name)
        return std::string_view(reinterpret_cast<const char *>(attribute[3]),
                                static_cast<size_t>(attribute[4] - attribute[3]));
    }
    return std::nullopt;
  }

  Status readText(std::string_view name, std::string &into) const {
    std::optional<std::string_view> value = find(name);
    if (!value)
      return fail("<", name_, "> has no attribute '", name, "'");
    into = std::string(*value);
    return {};
  }

  template <typename T>
  Status readNumber(std::string_view name, int64_t min, int64_t max, T &into) const {
    std::optional<std::string_view> value = find(name);
    if (!value)
      return fail("<", name_, "> has no attribute '", name, "'");
    std::optional<int64_t> number = parseWhole<int64_t>(*value);
    if (!number)
      return fail("<", name_, "> has ", name, "=\"", shortened(*value), "\", not a number");
    if (*number < min || *number > max)
      return fail("<", name_, "> has ", name, "=\"", *number, "\", it lies between ", min, " and ",
                  max);
    into = static_cast<T>(*number);
    return {};
  }

  template <typename Enum, size_t kWords>
  Status readWord(std::string_view name, const std::string_view (&words)[kWords],
                  Enum &into) const {
    std::optional<std::string_view> value = find(name);
    auto word = value ? std::find(std::begin(words), std::end(words), *value) : std::end(words);
    if (word == std::end(words))
      return failWord(name, value, words);
    into = static_cast<Enum>(word - std::begin(words));
    return {};
  }

  template <size_t kWords>
  Status failWord(std::string_view name, std::optional<std::string_view> value,
                  const std::string_view (&words)[kWords], std::string_view hint = "") const {
    std::string message = value ? concat("<", name_, "> has ", name, "=\"", shortened(*value),
                                         "\", there are", list(words))
                                : concat("<", name_, "> has no attribute '", name, "'");
    return Diagnostic::error(loc_, std::move(message), std::string(hint));
  }

  template <typename... Parts> Status fail(const Parts &...parts) const {
    return Status::error(loc_, concat(parts...));
  }
  /// Variant of readNumber() for an attribute that may be missing: `into` stays as it is.
  template <typename T>
  Status readIfThere(std::string_view name, int64_t min, int64_t max, T &into) const {
    return find(name) ? readNumber(name, min, max, into) : Status();
  }
  SourceLoc loc() const { return loc_; }
  std::string_view name() const { return name_; }

private:
  static std::string shortened(std::string_view value) {
    return value.size() <= 40 ? std::string(value) : std::string(value.substr(0, 40)) + "...";
  }
  template <size_t kWords> static std::string list(const std::string_view (&words)[kWords]) {
    std::string text;
    for (std::string_view word : words)
      text += concat(" ", word);
    return text;
  }

  std::string_view name_;
  const xmlChar **attributes_;
  int count_;
  SourceLoc loc_;
};

constexpr std::string_view kStepWords[] = {
#define COLLDSL_MSCCL_STEP(Name, spelling, receives, reduces, writes, sends) spelling,
#include "formats/Msccl.def"
};
constexpr std::string_view kCollectiveWords[] = {
#define COLLDSL_MSCCL_COLLECTIVE(Name, spelling) spelling,
#include "formats/Msccl.def"
};
constexpr std::string_view kAsHint =
    "`colldsl import --as COLLECTIVE` takes the algorithm for one, whatever its file says";
constexpr std::string_view kMemoryWords[] = {"i", "o", "s"};
constexpr std::string_view kProtocolWords[] = {"Simple", "LL", "LL128"};

/// Returns the first of several errors that one element may have.
#define COLLDSL_TRY(expression)                                                                    \
  do                                                                                               \
    if (Status status = (expression); !status)                                                     \
      return status;                                                                               \
  while (false)

/// Puts elements together. Ids may come in any order.
class Builder {
public:
  explicit Builder(const ReadOptions &options) : options_(options) {}

  Status open(const Element &element, size_t level);
  Status close(size_t level);
  /// <copy> stands in a <gpu> and holds nothing.
  Status addCopy(const Element &element);
  Algorithm take() { return std::move(algorithm_); }

private:
  Status openAlgorithm(const Element &element);
  Status readCollective(const Element &element);
  Status openGpu(const Element &element);
  Status openBlock(const Element &element);
  Status addStep(const Element &element);
  Status readStep(const Element &element, Step &step) const;
  Status readOp(const Element &element, Step &step) const;
  Status checkStep(const Element &element, const Step &step) const;
  Status closeGpu();
  Status closeAlgorithm();
  Status checkPeers() const;

  const ReadOptions &options_;
  Algorithm algorithm_;
  std::optional<uint32_t> statedGpus_;
  uint32_t maxGpus_ = 0; ///< as many as are stated
  uint32_t gpuId_ = 0;
  uint32_t blockId_ = 0;
  std::vector<std::pair<uint32_t, Gpu>> gpus_;
  Gpu gpu_;
  std::vector<std::pair<uint32_t, Threadblock>> blocks_;
  Threadblock block_;
};

Status Builder::openAlgorithm(const Element &element) {
  algorithm_.loc = element.loc();
  size_t protocol = 0;
  COLLDSL_TRY(element.readText("name", algorithm_.name));
  if (element.find("proto"))
    COLLDSL_TRY(element.readWord("proto", kProtocolWords, protocol));
  COLLDSL_TRY(element.readNumber("nchannels", 1, kMaxReadChannels, algorithm_.channels));
  COLLDSL_TRY(element.readIfThere("nchunksperloop", 1, kMaxOffset, algorithm_.chunksPerLoop));
  maxGpus_ = options_.maxGpus;
  if (element.find("ngpus")) {
    COLLDSL_TRY(element.readNumber("ngpus", 1, options_.maxGpus, maxGpus_));
    statedGpus_ = maxGpus_;
  }
  COLLDSL_TRY(readCollective(element));
  COLLDSL_TRY(element.readIfThere("inplace", 0, 1, algorithm_.inPlace));
  algorithm_.outOfPlace = !algorithm_.inPlace;
  COLLDSL_TRY(element.readIfThere("outofplace", 0, 1, algorithm_.outOfPlace));
  COLLDSL_TRY(element.readIfThere("root", -1, int64_t{maxGpus_} - 1, algorithm_.root));
  algorithm_.protocol = kProtocolWords[protocol];
  return {};
}

Status Builder::readCollective(const Element &element) {
  std::optional<std::string_view> word = element.find("coll");
  std::optional<Collective> found = options_.collective;
  if (!found && word)
    found = parseCollective(*word);
  if (found)
    algorithm_.collective = *found;
  return found ? Status() : element.failWord("coll", word, kCollectiveWords, kAsHint);
}

Status Builder::openGpu(const Element &element) {
  gpu_ = Gpu();
  blocks_.clear();
  gpu_.loc = element.loc();
  COLLDSL_TRY(element.readNumber("id", 0, int64_t{maxGpus_} - 1, gpuId_));
  COLLDSL_TRY(element.readNumber("i_chunks", 0, kMaxOffset, gpu_.inputChunks));
  COLLDSL_TRY(element.readNumber("o_chunks", 0, kMaxOffset, gpu_.outputChunks));
  COLLDSL_TRY(element.readNumber("s_chunks", 0, kMaxOffset, gpu_.scratchChunks));
  return {};
}

Status Builder::openBlock(const Element &element) {
  block_ = Threadblock();
  block_.loc = element.loc();
  int64_t lastPeer = int64_t{maxGpus_} - 1;
  COLLDSL_TRY(element.readNumber("id", 0, kMaxBlocks - 1, blockId_));
  COLLDSL_TRY(element.readNumber("send", -1, lastPeer, block_.sendPeer));
  COLLDSL_TRY(element.readNumber("recv", -1, lastPeer, block_.recvPeer));
  COLLDSL_TRY(element.readNumber("chan", 0, int64_t{algorithm_.channels} - 1, block_.channel));
  auto gpu = static_cast<int32_t>(gpuId_);
  if (block_.sendPeer == gpu || block_.recvPeer == gpu)
    return element.fail("gpu ", gpuId_, ", tb ", blockId_, ": a gpu is no peer of its own");
  return {};
}

Status Builder::checkStep(const Element &element, const Step &step) const {
  auto place = [&] {
    return concat("gpu ", gpuId_, ", tb ", blockId_, ", step ", block_.steps.size(), ": ");
  };
  if (sends(step.kind) && block_.sendPeer < 0)
    return element.fail(place(), spelling(step.kind), " sends, its tb has send=\"-1\"");
  if (receives(step.kind) && block_.recvPeer < 0)
    return element.fail(place(), spelling(step.kind), " receives, its tb has recv=\"-1\"");
  if (step.kind != StepKind::Nop && step.count == 0)
    return element.fail(place(), spelling(step.kind), " moves no chunk");
  if ((step.waitBlock < 0) != (step.waitStep < 0))
    return element.fail(place(), "depid is ", step.waitBlock, " and deps is ", step.waitStep,
                        ", both or neither name a step");
  return {};
}

Status Builder::readStep(const Element &element, Step &step) const {
  COLLDSL_TRY(element.readWord("srcbuf", kMemoryWords, step.source.memory));
  COLLDSL_TRY(element.readNumber("srcoff", -1, kMaxOffset, step.source.offset));
  COLLDSL_TRY(element.readWord("dstbuf", kMemoryWords, step.target.memory));
  COLLDSL_TRY(element.readNumber("dstoff", -1, kMaxOffset, step.target.offset));
  COLLDSL_TRY(element.readNumber("cnt", 0, kMaxCount, step.count));
  COLLDSL_TRY(element.readNumber("depid", -1, kMaxBlocks - 1, step.waitBlock));
  COLLDSL_TRY(element.readNumber("deps", -1, kMaxSteps - 1, step.waitStep));
  return element.readNumber("hasdep", 0, 1, step.isAwaited);
}

// An <op> of 2021 names one place, where its chunks are sent from, received into, or both summed
// and kept. It leaves out what is usual.
Status Builder::readOp(const Element &element, Step &step) const {
  bool isNop = step.kind == StepKind::Nop;
  if (!isNop && step.kind != StepKind::Send && step.kind != StepKind::Recv &&
      step.kind != StepKind::RecvReduceCopy)
    return element.fail("an <op> of type ", spelling(step.kind),
                        " has two places, there are s r rrc nop");
  if (!isNop) {
    COLLDSL_TRY(element.readWord("buf", kMemoryWords, step.source.memory));
    COLLDSL_TRY(element.readNumber("off", 0, kMaxOffset, step.source.offset));
    step.target = step.source;
  }
  step.count = isNop ? 0 : 1;
  COLLDSL_TRY(element.readIfThere("cnt", 0, kMaxCount, step.count));
  COLLDSL_TRY(element.readIfThere("depid", -1, kMaxBlocks - 1, step.waitBlock));
  COLLDSL_TRY(element.readIfThere("deps", -1, kMaxSteps - 1, step.waitStep));
  return element.readIfThere("hasdep", 0, 1, step.isAwaited);
}

Status Builder::addStep(const Element &element) {
  Step step;
  step.loc = element.loc();
  bool isOp = element.name() == kOpName;
  uint32_t s = 0;
  COLLDSL_TRY(element.readNumber(isOp ? "step" : "s", 0, kMaxSteps - 1, s));
  if (s != block_.steps.size())
    return element.fail("gpu ", gpuId_, ", tb ", blockId_, ": step ", s, " stands here, step ",
                        block_.steps.size(), " must come next");
  COLLDSL_TRY(element.readWord("type", kStepWords, step.kind));
  COLLDSL_TRY(isOp ? readOp(element, step) : readStep(element, step));
  COLLDSL_TRY(checkStep(element, step));
  block_.steps.push_back(step);
  return {};
}

Status Builder::addCopy(const Element &element) {
  InitialCopy copy;
  copy.loc = element.loc();
  COLLDSL_TRY(element.readNumber("i_off", 0, kMaxOffset, copy.source));
  COLLDSL_TRY(element.readNumber("o_off", 0, kMaxOffset, copy.target));
  gpu_.copies.push_back(copy);
  return {};
}

Status Builder::open(const Element &element, size_t level) {
  switch (level) {
  case 0:
    return openAlgorithm(element);
  case 1:
    return openGpu(element);
  case 2:
    return openBlock(element);
  default:
    return addStep(element);
  }
}

/// Sorts by id; an error if one is there twice or missing below the largest.
template <typename T>
Status takeInOrder(std::vector<std::pair<uint32_t, T>> &found, std::string_view what,
                   std::vector<T> &into) {
  std::stable_sort(found.begin(), found.end(),
                   [](const auto &a, const auto &b) { return a.first < b.first; });
  for (auto &[id, item] : found) {
    if (id != into.size())
      return Status::error(item.loc, id < into.size() ? concat(what, " ", id, " is there twice")
                                                      : concat(what, " ", into.size(),
                                                               " is missing, there is ", id));
    into.push_back(std::move(item));
  }
  found.clear();
  return {};
}

Status Builder::closeGpu() {
  COLLDSL_TRY(takeInOrder(blocks_, concat("gpu ", gpuId_, ": tb"), gpu_.blocks));
  gpus_.emplace_back(gpuId_, std::move(gpu_));
  return {};
}

Status Builder::closeAlgorithm() {
  COLLDSL_TRY(takeInOrder(gpus_, "gpu", algorithm_.gpus));
  if (statedGpus_ && algorithm_.gpus.size() != *statedGpus_)
    return Status::error(algorithm_.loc,
                         concat("ngpus is ", *statedGpus_, ", there are ", algorithm_.gpus.size()));
  if (algorithm_.gpus.empty())
    return Status::error(algorithm_.loc, "there is no gpu");
  if (algorithm_.chunksPerLoop == 0)
    for (const Gpu &gpu : algorithm_.gpus)
      algorithm_.chunksPerLoop =
          std::max({algorithm_.chunksPerLoop, gpu.inputChunks, gpu.outputChunks});
  if (algorithm_.chunksPerLoop == 0)
    return Status::error(algorithm_.loc, "no gpu has a chunk");
  return checkPeers();
}

Status Builder::checkPeers() const {
  auto count = static_cast<int64_t>(algorithm_.gpus.size());
  if (algorithm_.root >= count)
    return Status::error(algorithm_.loc,
                         concat("root is ", algorithm_.root, ", there are ", count, " gpus"));
  for (size_t g = 0; g < algorithm_.gpus.size(); ++g)
    for (const Threadblock &block : algorithm_.gpus[g].blocks)
      if (int32_t peer = std::max(block.sendPeer, block.recvPeer); peer >= count)
        return Status::error(
            block.loc, concat("gpu ", g, " has the peer ", peer, ", there are ", count, " gpus"));
  return {};
}

Status Builder::close(size_t level) {
  switch (level) {
  case 0:
    return closeAlgorithm();
  case 1:
    return closeGpu();
  case 2:
    blocks_.emplace_back(blockId_, std::move(block_));
    return {};
  default:
    return {};
  }
}

#undef COLLDSL_TRY

/// Lines and columns of the text, looked up in ascending order.
class Lines {
public:
  explicit Lines(std::string_view text) : text_(text) {}

  /// The line, at its first character that is not blank.
  SourceLoc at(uint64_t line) {
    while (line_ < line && begin_ < text_.size()) {
      size_t end = text_.find('\n', begin_);
      begin_ = end == text_.npos ? text_.size() : end + 1;
      ++line_;
    }
    size_t first = std::min(text_.find_first_not_of(" \t", begin_), text_.size());
    uint64_t column = std::min<uint64_t>(first - begin_ + 1, UINT16_MAX);
    return {static_cast<uint32_t>(std::min<uint64_t>(line, UINT32_MAX)),
            static_cast<uint16_t>(column), 0};
  }

private:
  std::string_view text_;
  uint64_t line_ = 1;
  size_t begin_ = 0;
};

/// Feeds libxml2, and takes its events until the first error.
class Reader {
public:
  Reader(std::string_view xml, const ReadOptions &options)
      : xml_(xml), builder_(options), lines_(xml) {}
  Result<Algorithm> run();

private:
  static void onStart(void *self, const xmlChar *name, const xmlChar *, const xmlChar *, int,
                      const xmlChar **, int count, int, const xmlChar **attributes) {
    static_cast<Reader *>(self)->start(text(name), attributes, count);
  }
  static void onEnd(void *self, const xmlChar *, const xmlChar *, const xmlChar *) {
    static_cast<Reader *>(self)->end();
  }
  /// `Error` is constant from libxml2 2.12 on.
  template <typename Error> static void onError(void *self, Error *error) {
    static_cast<Reader *>(self)->error(*error);
  }

  void start(std::string_view name, const xmlChar **attributes, int count);
  void end();
  void error(const xmlError &error);
  void note(Status status) {
    if (!status && status_) {
      status_ = std::move(status);
      xmlStopParser(parser_);
    }
  }
  SourceLoc here() { return lines_.at(parser_->input ? parser_->input->line : 1); }

  std::string_view xml_;
  Builder builder_;
  Lines lines_;
  xmlParserCtxtPtr parser_ = nullptr;
  size_t depth_ = 0;
  bool isInCopy_ = false;
  bool isClosed_ = false; ///< the one <algo> is complete
  Status status_;
};

void Reader::start(std::string_view name, const xmlChar **attributes, int count) {
  if (!status_)
    return;
  SourceLoc loc = here();
  bool isLeaf = isInCopy_ || depth_ == std::size(kLevels);
  bool isCopy = depth_ == kBlockLevel && name == "copy";
  bool isOp = depth_ == kStepLevel && name == kOpName;
  if (isLeaf || (name != kLevels[depth_] && !isCopy && !isOp)) {
    std::string parent = isInCopy_     ? "<copy>"
                         : depth_ == 0 ? "the file"
                                       : concat("<", kLevels[depth_ - 1], ">");
    std::string_view child = isLeaf                  ? "nothing"
                             : depth_ == kBlockLevel ? "tb and copy"
                                                     : kLevels[depth_];
    return note(Status::error(
        loc, concat("<", name.substr(0, 40), "> stands in ", parent, ", which holds ", child)));
  }
  if (count > kMaxAttributes)
    return note(Status::error(
        loc, concat("<", name, "> has ", count, " attributes, the limit is ", kMaxAttributes)));
  Element element(name, attributes, count, loc);
  note(isCopy ? builder_.addCopy(element) : builder_.open(element, depth_));
  isInCopy_ = isCopy;
  ++depth_;
}

void Reader::end() {
  if (!status_)
    return;
  --depth_;
  if (!std::exchange(isInCopy_, false))
    note(builder_.close(depth_));
  isClosed_ = depth_ == 0;
}

void Reader::error(const xmlError &error) {
  if (error.level < XML_ERR_ERROR)
    return;
  std::string message = error.message ? error.message : "it is no XML";
  message.erase(message.find_last_not_of("\n ") + 1);
  message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  note(Status::error(lines_.at(error.line > 0 ? static_cast<uint64_t>(error.line) : 1),
                     "XML: " + message));
}

Result<Algorithm> Reader::run() {
  xmlSAXHandler handler = {};
  handler.initialized = XML_SAX2_MAGIC;
  handler.startElementNs = onStart;
  handler.endElementNs = onEnd;
  handler.serror = onError;
  std::unique_ptr<xmlParserCtxt, decltype(&xmlFreeParserCtxt)> parser(
      xmlCreatePushParserCtxt(&handler, this, nullptr, 0, nullptr), xmlFreeParserCtxt);
  if (!parser)
    return Status::error("libxml2 has no memory for a parser");
  parser_ = parser.get();
  // The only entities are those of XML itself, &amp; and the like.
  xmlCtxtUseOptions(parser_, XML_PARSE_NONET | XML_PARSE_IGNORE_ENC | XML_PARSE_NOENT);
  for (size_t at = 0; at < xml_.size() && status_; at += kPieceBytes) {
    std::string_view piece = xml_.substr(at, kPieceBytes);
    xmlParseChunk(parser_, piece.data(), static_cast<int>(piece.size()), 0);
  }
  if (status_)
    xmlParseChunk(parser_, nullptr, 0, 1);
  if (!status_)
    return status_;
  if (!isClosed_)
    return Status::error("the file has no complete <algo>");
  return builder_.take();
}

// Entities make small files large. They are declared in a document type, which shows in the bytes
// of a UTF-8 file: one without zeros, and with '<' as the first sign.
Status refuseHostile(std::string_view xml, uint64_t maxBytes) {
  if (xml.size() > maxBytes)
    return Status::error(
        concat("the file has ", xml.size(), " bytes, the limit for MSCCL XML is ", maxBytes));
  std::string_view text = xml.starts_with("\xEF\xBB\xBF") ? xml.substr(3) : xml;
  size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos || text[first] != '<' || text.find('\0') != text.npos)
    return Status::error("the file is no XML in UTF-8, which begins with '<'");
  if (xml.find("<!DOCTYPE") != xml.npos || xml.find("<!ENTITY") != xml.npos)
    return Status::error("the file has a document type: MSCCL XML has none, and needs no entities");
  return {};
}

} // namespace

Result<Algorithm> read(std::string_view xml, ReadOptions options) {
  if (Status s = refuseHostile(xml, options.maxBytes); !s)
    return s;
  return Reader(xml, options).run();
}

} // namespace colldsl::msccl
