#include "tools/tune/TimedCall.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace colldsl::tools {
namespace {

constexpr std::align_val_t kPage{4096};
constexpr uint64_t kCacheLine = 64;

std::shared_ptr<std::byte> allocate(uint64_t bytes) {
  void *memory = ::operator new(std::max<uint64_t>(bytes, 1), kPage, std::nothrow);
  if (!memory)
    return nullptr;
  std::memset(memory, 0, bytes);
  return {static_cast<std::byte *>(memory),
          [](std::byte *data) { ::operator delete(data, kPage); }};
}

} // namespace

Result<CallMemory> CallMemory::make(const Program &program, const Decl &model, Rank rank,
                                    uint32_t ranks, uint64_t bytes) {
  CallMemory memory;
  memory.type_ = timedElementBytes(model) > 1 ? ElementType::F64 : ElementType::U8;
  memory.elements_ = bytes / timedElementBytes(model);
  memory.ranks_ = ranks;
  for (const Param &param : model.params) {
    if (!param.isBuffer) {
      if (param.type == ValueType::IntList && param.defaultValue == kNoExpr)
        memory.counts_.push_back(program.nameOf(param));
      continue;
    }
    Area area;
    area.name = program.nameOf(param);
    area.role = param.role;
    area.isSignificant = param.significantAt == kNoExpr || rank == Rank{0}; // the root
    bool isList = param.buffer.dims == 2;
    area.bytes = bytes * (isList ? ranks : 1);
    if (param.buffer.dim[param.buffer.dims - 1].kind == DimKind::CallTime)
      area.blocks = isList ? ranks : 1;
    if (area.isSignificant && !(area.data = allocate(area.bytes)))
      return Status::error("there is not enough memory for the buffers");
    memory.areas_.push_back(std::move(area));
  }
  return memory;
}

Status CallMemory::describe(CollectivePlan &plan) const {
  Status s = plan.setType(type_);
  if (s)
    s = plan.setElements(elements_);
  for (const std::string &name : counts_)
    if (s)
      s = plan.setValue(name, std::vector<int64_t>(ranks_, static_cast<int64_t>(elements_)));
  for (const Area &area : areas_) {
    if (s && area.isSignificant)
      s = plan.bind(area.name, {area.data.get(), area.bytes});
    if (!s || !area.isSignificant || area.blocks == 0)
      continue;
    BlockTable table;
    for (uint64_t i = 0; i < area.blocks; ++i) {
      table.offset.push_back(i * elements_);
      table.length.push_back(elements_);
    }
    s = plan.setBlocks(area.name, table);
  }
  return s;
}

void CallMemory::write() {
  turn_ = (turn_ + 1) % 32;
  for (Area &area : areas_)
    if (area.isSignificant && area.role != BufferRole::Out) // small positive doubles
      std::memset(area.data.get(), 0x20 + turn_ % 16, area.bytes);
}

void CallMemory::read() {
  for (const Area &area : areas_)
    if (area.isSignificant && area.role != BufferRole::In)
      for (uint64_t at = 0; at < area.bytes; at += kCacheLine)
        sum_ += static_cast<uint8_t>(reinterpret_cast<volatile std::byte *>(area.data.get())[at]);
}

Status TimedCall::commit(const CallMemory &memory,
                         const std::vector<TunedCollective::Value> &values) {
  Status s = memory.describe(plan_);
  for (const TunedCollective::Value &given : values)
    if (s)
      s = plan_.setValue(given.parameter, given.value);
  return s ? plan_.commit() : s;
}

Status TimedCall::run() {
  if (Status s = plan_.start(); !s)
    return s;
  return plan_.plan().wait(kCallTimeout);
}

} // namespace colldsl::tools
