/// Messages between device memory and ranks of other machines that the network moves by itself,
/// past the stages. Each end decides alone, when the plan is bound: the other one may have memory
/// of the host.
///
/// A message may turn out to need the host. A send whose receiver wants fragments is held until its
/// bytes are on the host, and goes by the stage from the next run on. A receive of what its sender
/// copies gets the bytes on the host. Not thread safe.
#pragma once

#include "device/RdmaMemory.h"
#include "executor/DeviceAreas.h"
#include "executor/Steps.h"

namespace colldsl {

class DirectMessages {
public:
  /// `view` is of data that outlives it.
  explicit DirectMessages(const RankView &view) : view_(view) {}

  /// Called once memory and steps were bound: finds the messages that may travel so. The endpoint
  /// outlives what is found.
  void find(Endpoint &endpoint, const DeviceAreas &areas, const Steps &steps);
  /// True if the op is such a message, of an area that was not excluded.
  bool mayTravel(OpId op) const {
    return !ofOps_.empty() && ofOps_[index(op)] && !isExcluded(*ofOps_[index(op)]);
  }
  /// Messages of the area travel by the host.
  void exclude(const DeviceAreas::Area &area) { excluded_.push_back(&area); }
  /// Registers the memory of a message that may travel so. False: it cannot be registered, and the
  /// area is excluded.
  bool registerMemory(OpId op, DeviceAreas &areas);
  /// Called once those that are to travel so, by op, have registered memory.
  void makePayloads(const std::vector<bool> &areChosen, const DeviceAreas &areas,
                    const Steps &steps);
  bool any() const { return !states_.empty(); }

  /// Called at the beginning of a run.
  void begin();
  /// True if the message travels so in this run, as far as is known.
  bool travels(OpId op) const { return any() && states_[index(op)].way == Way::Device; }
  /// True if it was to travel so, and needs the host.
  bool isOnHost(OpId op) const { return any() && states_[index(op)].way == Way::Host; }
  DevicePayload &payloadOf(OpId op) { return states_[index(op)].payload; }

  /// Holds a send until its bytes are on the host.
  void hold(OpId op) {
    states_[index(op)].way = Way::Host;
    states_[index(op)].isHeld = true;
  }
  bool isHeld(OpId op) const { return any() && states_[index(op)].isHeld; }
  void release(OpId op) { states_[index(op)].isHeld = false; }

  /// Called when a receive is done. Work of the device then sees what came there.
  Status receive(OpId op, const DeviceAreas &areas);

private:
  enum class Way : uint8_t { None, Device, Host };
  struct State {
    Way way = Way::None;
    bool isHeld = false;
    std::vector<iovec> pieces;
    DevicePayload payload;
  };

  bool isExcluded(const DeviceAreas::Area &area) const;
  bool isEligible(const ImageOp &op, const Step &step, const Endpoint &endpoint) const;
  static const DeviceAreas::Area *onlyArea(const Payload &payload, const DeviceAreas &areas);

  RankView view_;
  Endpoint *endpoint_ = nullptr;
  device::RemoteWrites writes_ = device::RemoteWrites::Unknown;
  std::vector<const DeviceAreas::Area *> ofOps_; ///< null: no such message; empty: there are none
  std::vector<const DeviceAreas::Area *> excluded_;
  std::vector<State> states_; ///< by op; empty: no message travels so
};

} // namespace colldsl
