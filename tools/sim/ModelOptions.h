/// The options that say what is simulated: the machine, and what disturbs it.
#pragma once

#include "simulator/Simulate.h"
#include "tools/options/Options.h"

namespace colldsl::tools {

/// "1500", "1500ns", "2us", "3ms", "1s".
Result<uint64_t> parseTimeNs(llvm::StringRef text);

class ModelOptions {
public:
  /// This object outlives the parse.
  void addTo(Options &options);

  /// What the options say together. An error names the option, or the file.
  Result<sim::SimulateOptions> make() const;

private:
  template <typename T, typename Parse>
  void addParameter(Options &options, llvm::StringRef name, llvm::StringRef value,
                    llvm::StringRef help, T LogGop::*member, Parse parse);

  std::string modelFile_;
  LogGop flat_;
  std::string firstFlat_; ///< the first of -L -o -g -G -O -S that was given
  std::string noise_;
  std::string network_;
  uint64_t skewNs_ = 0;
  uint32_t receiveSlots_ = 0;
  uint64_t seed_ = 0;
};

} // namespace colldsl::tools
