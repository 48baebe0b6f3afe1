/// The one schedule of a target that `run` and `opt` make: so many ranks, one size, one
/// set of parameters.
#pragma once

#include "tools/input/MakeSchedule.h"

namespace colldsl::tools {

inline constexpr uint64_t kUsualBytes = 64 << 10; ///< default of --bytes

struct SingleOptions {
  ScheduleOptions schedule;
  std::optional<uint32_t> ranks; ///< -n
  std::optional<uint64_t> bytes; ///< --bytes
  bool tryValues = false;        ///< as in Variety; the first of several values
  bool takesImages = false;      ///< uses a library's image if one serves the call and no pass runs

  /// This object and the text outlive the parse.
  void addTo(Options &options, llvm::StringRef topologyHelp);
  void addCall(Options &options, llvm::StringRef topologyHelp); ///< without those of `schedule`
};

/// Reads the operands of `options`, as files of the kind in `form` if it has one, and chooses the
/// one target that they and --name leave. Returns nothing, or reports mistakes and returns the exit
/// code.
std::optional<Exit> chooseSingle(const Options &options, const SingleOptions &single,
                                 const InputForm &form, std::unique_ptr<Source> &source,
                                 Source::Target &target);

/// Variant of chooseSingle() for a source that was read before.
std::optional<Exit> chooseOne(const Options &options, const SingleOptions &single, Source &source,
                              Source::Target &target);

/// The schedule to make of a target.
struct SinglePlan {
  Shape shape;
  std::unique_ptr<Topology> topology; ///< the shape's
  Call call;
  uint64_t bytes = 0; ///< n times the size of T
};

/// An error is reported as Source::render() shows it.
Result<SinglePlan> planSingle(Source &source, const Source::Target &target,
                              const SingleOptions &options);

/// The image of the library that serves the call; null: none does. The source is a library.
Result<const LibraryImage *> imageFor(const Source &source, const Source::Target &target,
                                      const SingleOptions &options, const SinglePlan &plan);

struct SingleSchedule {
  std::shared_ptr<const Schedule> schedule;
  const LibraryImage *image = nullptr; ///< the source of the schedule; null: none
  uint64_t elements = 0;               ///< n
  uint64_t bytes = 0;                  ///< n times the size of T
};

/// An error is reported as Source::render() shows it.
Result<SingleSchedule> makeSingle(Source &source, const Source::Target &target,
                                  const SingleOptions &options);

} // namespace colldsl::tools
