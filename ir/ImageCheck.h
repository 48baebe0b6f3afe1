/// The check of one rank's records. Internal to ir; Image::load() uses it.
#pragma once

#include "ir/Concat.h"
#include "ir/Image.h"

namespace colldsl {

/// Checks ranks of an image whose frame (header, sections, strings, each rank's
/// parts) is known to be sound. First the buffers of every rank, then the rest,
/// because a promise names buffers of other ranks.
class RankChecker {
public:
  RankChecker(const Image &image, uint64_t nameCount, uint64_t fileCount)
      : image_(image), nameCount_(nameCount), fileCount_(fileCount) {}

  Status checkBuffers(Rank r);
  Status checkRest(Rank r);

private:
  Status checkBuffer(const Buffer &buffer) const;
  Status checkAlias(const Buffer &buffer) const;
  Status checkSlices() const;
  Status checkOps();
  Status checkOp(uint32_t i);
  Status checkMeaning(const ImageOp &op) const;
  Status checkOpSlices(const ImageOp &op) const;
  Status checkSuccessors(uint32_t i);
  Status checkList(uint32_t i, std::span<const uint32_t> list);
  Status checkContract();
  Status checkEnsure(const Ensure &ensure) const;
  Status checkOperand(const EntryValue &operand);
  Status checkTypes(const Ensure &ensure) const;
  Status checkLoc(uint64_t line, uint64_t column, uint64_t file) const;

  uint64_t n() const { return image_.sizeClass().elements; }
  template <typename... Parts> static Status fail(const Parts &...parts) {
    return Status::error(concat(parts...));
  }
  /// Puts rank and record in front of the error of one record.
  Status failAt(const char *what, size_t i, const Status &status) const {
    return fail("image: rank ", index(rank_.rank), ": ", what, " ", i, ": ", status.message());
  }

  const Image &image_;
  uint64_t nameCount_;
  uint64_t fileCount_;
  RankView rank_ = {};               ///< the one being checked
  uint64_t successorEnd_ = 0;        ///< of the ops checked so far
  std::vector<uint32_t> releasedBy_; ///< per op: how many lists name it
  std::vector<ElementType> operandTypes_;
};

} // namespace colldsl
