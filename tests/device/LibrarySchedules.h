/// Schedules of the collectives of the standard library, with numbers of 32 bits.
#pragma once

#include "instantiate/Instantiate.h"
#include "program/library/Library.h"

#include <memory>
#include <optional>

namespace colldsl::test {

class LibrarySchedules {
public:
  LibrarySchedules()
      : library_(Library::open(COLLDSL_STANDARD_LIBRARY).take()), program_(*library_->program()) {}

  const Program &program() const { return *program_; }

  /// None: the collective takes a graph or blocks that only a caller has, or does not serve so many
  /// ranks.
  std::optional<Schedule> make(DeclId id, uint32_t ranks, uint64_t elements, bool inPlace) const {
    const Decl &decl = program_->decl(id);
    if (inPlace && decl.aliases.empty())
      return {};
    InstantiateRequest request;
    request.collective = id;
    request.ranks = ranks;
    request.elements = elements;
    request.inPlace = inPlace;
    for (const Param &param : decl.params) {
      bool isList = !param.isBuffer && program_->nameOf(param) == "counts";
      std::vector<int64_t> counts;
      for (uint32_t r = 0; r < ranks; ++r)
        counts.push_back(3 + r % 2 * 4);
      request.values.push_back(isList ? ArgumentValue(counts) : ArgumentValue());
    }
    Result<Schedule> made = instantiateAll(*program_, request);
    if (!made)
      return {};
    for (const Dag &dag : made->ranks)
      for (const Buffer &buffer : dag.buffers)
        if (buffer.layout == Layout::CallTime)
          return {};
    return made.take();
  }

private:
  std::unique_ptr<Library> library_;
  const Program *program_;
};

} // namespace colldsl::test
