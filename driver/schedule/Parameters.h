/// The values of a collective's parameters: given with --set and --op, else defaults or trial
/// values.
#pragma once

#include "driver/requests/Variety.h"
#include "driver/source/Source.h"

#include "llvm/ADT/StringMap.h"

namespace colldsl::driver {

/// One way to call a collective.
struct Call {
  std::vector<ExprId> arguments;                       ///< as in InstantiateRequest
  std::vector<ArgumentValue> values;                   ///< likewise
  std::vector<std::pair<std::string, uint64_t>> sizes; ///< likewise
  /// Names and values of parameters that are not at their default, in the language's words:
  /// root, 3.
  std::vector<std::pair<std::string, std::string>> chosen;
  std::shared_ptr<const LeaderOrder> leaders; ///< null: the lowest ranks lead

  /// Sets the value in `chosen`; replaces the one before, if there is one.
  void choose(const std::string &name, const std::string &value);
  /// "root=3, op=matmul"
  std::string words() const;
};

/// All ranks if there are up to 8; else 0, 1, P/2 and P - 1. Ascending.
std::vector<uint32_t> eachRank(uint32_t ranks);

class Parameters {
public:
  Parameters(Source &source, const ScheduleRequest &request, const Variety &variety)
      : source_(source), request_(request), variety_(variety) {}

  /// All ways to call the collective on so many ranks with n == elements. An error names
  /// the option that is wrong.
  Result<std::vector<Call>> calls(const Source::Target &target, uint32_t ranks, uint64_t elements);

private:
  std::vector<std::string> rootTexts(const Param &param, uint32_t ranks) const;
  std::vector<std::string> texts(const Param &param, uint32_t ranks, const std::string &root) const;
  const ScheduleRequest::Setting *setting(const std::string &name) const;
  Status addSizes(const Decl &decl, uint64_t elements, Call &call) const;
  std::vector<Call> withoutElements(const Call &base) const;
  Status addCalls(DeclId id, uint32_t ranks, const std::string &root, bool varies, const Call &base,
                  std::vector<Call> &calls);
  /// A value for a parameter, also in words.
  struct Choice {
    ExprId value; ///< kNoExpr: its default
    std::string words;
  };
  Status addVariations(DeclId id, uint32_t ranks, std::vector<Call> &calls);
  Result<std::vector<Choice>> valuesOf(DeclId id, const Param &param, uint32_t ranks,
                                       const std::string &root);
  Result<std::vector<Choice>> variationsOf(DeclId id, const Param &param, uint32_t ranks);
  Result<ExprId> argument(DeclId id, const Param &param, const std::string &text);

  Source &source_;
  const ScheduleRequest &request_;
  const Variety &variety_;
  llvm::StringMap<ExprId> known_; ///< arguments that were checked already
};

/// True if some target uses every --set; else reports the mistake.
bool usedAllSettings(const Source &source, const std::vector<Source::Target> &targets,
                     const ScheduleRequest &request);

} // namespace colldsl::driver
