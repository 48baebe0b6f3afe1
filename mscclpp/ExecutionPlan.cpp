#include "mscclpp/ExecutionPlan.h"

namespace colldsl::mscclpp {

std::string_view spelling(OpKind kind) {
  switch (kind) {
#define COLLDSL_MSCCLPP_OP(Name, spelling, usesPackets)                                            \
  case OpKind::Name:                                                                               \
    return spelling;
#include "mscclpp/Ops.def"
  }
  return {};
}

bool usesPackets(OpKind kind) {
  switch (kind) {
#define COLLDSL_MSCCLPP_OP(Name, spelling, usesPackets)                                            \
  case OpKind::Name:                                                                               \
    return usesPackets;
#include "mscclpp/Ops.def"
  }
  return false;
}

std::string_view spelling(Buffer buffer) {
  switch (buffer) {
  case Buffer::Input:
    return "input";
  case Buffer::Output:
    return "output";
  case Buffer::Scratch:
    return "scratch";
  }
  return {};
}

std::string_view spelling(ChannelKind kind) {
  switch (kind) {
  case ChannelKind::None:
    return "no";
  case ChannelKind::Memory:
    return "memory";
  case ChannelKind::Port:
    return "port";
  case ChannelKind::Switch:
    return "switch";
  }
  return {};
}

uint32_t Plan::chunks(uint32_t gpu, Buffer buffer) const {
  const Gpu &g = gpus[gpu];
  switch (buffer) {
  case Buffer::Input:
    return g.inputChunks;
  case Buffer::Output:
    return g.outputChunks;
  case Buffer::Scratch:
    return g.scratchChunks;
  }
  return 0;
}

} // namespace colldsl::mscclpp
