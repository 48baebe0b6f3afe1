/// Algorithms of MSCCL, as its XML has them (the dialect of microsoft/msccl): per GPU
/// some threadblocks, each a sequence of steps that move chunks. The format, and what is
/// made of it, is in docs/formats.md.
#pragma once

#include "ir/Schedule.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace colldsl::msccl {

enum class StepKind : uint8_t {
#define COLLDSL_MSCCL_STEP(Name, spelling, receives, reduces, writes, sends) Name,
#include "formats/Msccl.def"
};

enum class Collective : uint8_t {
#define COLLDSL_MSCCL_COLLECTIVE(Name, spelling) Name,
#include "formats/Msccl.def"
};

/// The buffers of a GPU, `i`, `o` and `s` in the file.
enum class Memory : uint8_t { Input, Output, Scratch };

/// In any case, with or without the `_`: compilers spell `reduce_scatter`, `ReduceScatter`,
/// `reducescatter`.
std::optional<Collective> parseCollective(std::string_view word);

std::string_view spelling(StepKind kind);
std::string_view spelling(Collective collective);
std::string_view spelling(Memory memory);
bool receives(StepKind kind);
bool reduces(StepKind kind);
bool writes(StepKind kind);
bool sends(StepKind kind);

inline constexpr uint32_t kMaxSteps = 256;        ///< of a threadblock
inline constexpr uint32_t kMaxCount = 71;         ///< chunks of a step
inline constexpr uint32_t kMaxChannels = 32;      ///< numbered from 0; of MSCCL, in what is written
inline constexpr uint32_t kMaxReadChannels = 128; ///< of RCCL
inline constexpr uint32_t kMaxPeers = 32;         ///< of one channel of one GPU, each way
inline constexpr uint32_t kMaxBlocks = 128;   ///< threadblocks of a GPU that others can wait for
inline constexpr uint32_t kMaxOffset = 32767; ///< in chunks

struct Place {
  Memory memory = Memory::Input;
  int32_t offset = -1; ///< in chunks
};

struct Step {
  StepKind kind = StepKind::Nop;
  Place source{Memory::Input, -1};
  Place target{Memory::Output, -1};
  uint32_t count = 0; ///< chunks
  int32_t waitBlock = -1;
  int32_t waitStep = -1;
  bool isAwaited = false;
  SourceLoc loc; ///< in the file, or of the op that it came from
};

struct Threadblock {
  int32_t sendPeer = -1;
  int32_t recvPeer = -1;
  uint32_t channel = 0;
  std::vector<Step> steps;
  SourceLoc loc;
};

/// A chunk of the input that is copied to the output before a gpu's steps.
struct InitialCopy {
  int32_t source = 0; ///< in chunks
  int32_t target = 0;
  SourceLoc loc;
};

struct Gpu {
  uint32_t inputChunks = 0;
  uint32_t outputChunks = 0;
  uint32_t scratchChunks = 0;
  std::vector<InitialCopy> copies; ///< only read, `export` writes steps
  std::vector<Threadblock> blocks; ///< index == id
  SourceLoc loc;
};

struct Algorithm {
  std::string name;
  std::string protocol = "Simple"; ///< or LL, LL128
  Collective collective = Collective::Custom;
  uint32_t channels = 1;
  uint32_t chunksPerLoop = 0; ///< of the larger of input and output
  bool inPlace = false;
  bool outOfPlace = true; ///< both: it serves calls in place and others
  int32_t root = -1;      ///< of a broadcast, a reduce; -1: none. MSCCL passes over it
  std::vector<Gpu> gpus;  ///< index == id == rank
  SourceLoc loc;
};

/// The algorithm as XML that the runtimes of MSCCL and RCCL read, for all sizes. Ends with a
/// newline.
std::string print(const Algorithm &algorithm);

struct ReadOptions {
  uint64_t maxBytes = uint64_t{256} << 20; ///< of the file
  uint32_t maxGpus = 1u << 16;
  std::optional<Collective> collective = {}; ///< whatever `coll` says; else it has to say one
};

/// Reads XML. An error has its line in file 0. Memory grows with the file alone: a
/// document type, without which there are no entities, is refused before anything is
/// read, and so is what is nested deeper than steps are. What is checked: the elements
/// and their attributes, that ids are complete, that kinds and peers fit together, that
/// no number is beyond the limits above. Not: what offsets and dependencies refer to. Files
/// of 2021 and before need no `ngpus` (so many as there are), `inplace` (0), `proto` (Simple) and
/// `nchunksperloop` (the most chunks of a gpu's input or output), and their steps may be <op>s,
/// with one place; those of MSCCL need no `outofplace` (not in place), which RCCL has. Where
/// colldsl was built without libxml2, that is the error.
Result<Algorithm> read(std::string_view xml, ReadOptions options = {});

} // namespace colldsl::msccl
