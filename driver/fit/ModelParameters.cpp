#include "driver/fit/ModelParameters.h"

#include <algorithm>
#include <cmath>

namespace colldsl::driver {
namespace {

using sim::CostId;
using What = CostId::What;

/// Calls use() with the member, either a whole number of ns or a rate. `Model` may be const.
template <typename Model, typename Use> void withMember(Model &model, const CostId &id, Use use) {
  auto costs = [&]() -> auto & {
    return id.size == 0 ? model.distances[id.distance]
                        : model.longer[id.distance][id.size - 1u].costs;
  };
  auto rate = [&](auto &memory) -> auto & {
    return id.size == 0 ? memory.shortest : memory.longer[id.size - 1u].costs;
  };
  switch (id.what) {
  case What::L:
    return use(costs().L);
  case What::o:
    return use(costs().o);
  case What::g:
    return use(costs().g);
  case What::G:
    return use(costs().G);
  case What::O:
    return use(costs().O);
  case What::CopyLatency:
    return use(rate(model.copy).latencyNs);
  case What::CopyPerByte:
    return use(rate(model.copy).perByte);
  case What::CombineLatency:
    return use(rate(model.combine).latencyNs);
  case What::CombinePerByte:
    return use(rate(model.combine).perByte);
  case What::NodeG:
    return use(model.node.G);
  case What::Other:
    return;
  }
}

struct Read {
  double &into;
  void operator()(const uint64_t &ns) const { into = static_cast<double>(ns); }
  void operator()(const PerByte &rate) const { into = rate.ns(); }
};
struct Write {
  double value;
  void operator()(uint64_t &ns) const { ns = static_cast<uint64_t>(std::llround(value)); }
  void operator()(PerByte &rate) const {
    rate = PerByte::fromNs(std::min(value, static_cast<double>(PerByte::kMaxNs)));
  }
};

} // namespace

double valueOf(const MachineModel &model, const CostId &id) {
  double value = 0;
  withMember(model, id, Read{value});
  return value;
}

void setValue(MachineModel &model, const CostId &id, double value) {
  withMember(model, id, Write{value});
}

ModelParameters::ModelParameters(const MachineModel &model) {
  auto add = [&](const std::vector<CostId> &ids) {
    if (valueOf(model, ids.front()) > 0)
      parameters_.push_back(ids);
  };
  for (unsigned first = 0, last = 0; first <= kMaxDistance; first = last + 1) {
    last = first;
    while (last < kMaxDistance && model.distances[last + 1] == model.distances[first] &&
           model.longer[last + 1] == model.longer[first])
      ++last;
    for (size_t size = 0; size <= model.longer[first].size(); ++size)
      for (What what : {What::L, What::o, What::g, What::G, What::O}) {
        std::vector<CostId> ids;
        for (unsigned d = first; d <= last; ++d)
          ids.push_back({what, static_cast<uint8_t>(d), static_cast<uint8_t>(size)});
        add(ids);
      }
  }
  auto addMemory = [&](const MemoryCosts &costs, What latency, What perByte) {
    for (size_t size = 0; size <= costs.longer.size(); ++size) {
      add({{latency, 0, static_cast<uint8_t>(size)}});
      add({{perByte, 0, static_cast<uint8_t>(size)}});
    }
  };
  addMemory(model.copy, What::CopyLatency, What::CopyPerByte);
  addMemory(model.combine, What::CombineLatency, What::CombinePerByte);
  add({{What::NodeG, 0, 0}});
}

std::optional<size_t> ModelParameters::numberOf(const CostId &id) const {
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (std::find(parameters_[i].begin(), parameters_[i].end(), id) != parameters_[i].end())
      return i;
  return std::nullopt;
}

void ModelParameters::set(MachineModel &model, size_t parameter, double value) const {
  for (const CostId &id : parameters_[parameter])
    setValue(model, id, value);
}

} // namespace colldsl::driver
