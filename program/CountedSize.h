/// The counted size of a collective, n: the size symbol that --bytes and the count of a plan give,
/// and that schedules keep as a symbol. All others are numbers when a schedule is made.
#pragma once

#include "program/Program.h"

#include <string>

namespace colldsl {

/// Its slot: the first symbol that is a length of a buffer, or room for one (T[<= m]), and no
/// number of blocks. kNoSlot: no buffer has one.
inline uint32_t countedSlot(const Decl &decl) {
  for (const Param &param : decl.params) {
    if (!param.isBuffer)
      continue;
    const Dim &length = param.buffer.dim[param.buffer.dims - 1];
    if (length.slot != kNoSlot)
      return length.slot;
  }
  return kNoSlot;
}

/// Its name; empty: there is none.
inline std::string countedSize(const Program &program, const Decl &decl) {
  uint32_t slot = countedSlot(decl);
  return slot == kNoSlot ? "" : program.strings[decl.sizeNames[slot]];
}

} // namespace colldsl
