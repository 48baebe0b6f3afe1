#include "transports/verbs/Receives.h"

#include "transports/verbs/Parts.h"

namespace colldsl::verbs {

bool Receives::open(uint32_t count) {
  places_.resize(count);
  waiting_.reserve(count);
  for (; count_ < count; ++count_) {
    places_[count_].frame = pool_.take();
    if (!places_[count_].frame)
      return false;
    waiting_.push_back(count_);
  }
  return true;
}

void Receives::close() {
  for (Place &place : places_)
    if (place.frame)
      pool_.give(*place.frame);
  places_.clear();
  waiting_.clear();
  count_ = 0;
  ++generation_;
}

network::Frame *Receives::take(uint64_t id) {
  size_t place = placeOf(id);
  if (id != idOf(place) || place >= places_.size() || !places_[place].isPosted)
    return nullptr;
  places_[place].isPosted = false;
  return places_[place].frame;
}

void Receives::giveBack(uint64_t id) {
  if (id == idOf(placeOf(id)))
    waiting_.push_back(placeOf(id));
}

void Receives::drop(uint64_t id) {
  pool_.give(*std::exchange(places_[placeOf(id)].frame, nullptr));
  --count_;
}

int Receives::post(Calls &calls, Queue queue) {
  while (!waiting_.empty()) {
    if (int error = post(calls, queue, waiting_.back()); error != 0)
      return error;
    waiting_.pop_back();
  }
  return 0;
}

int Receives::post(Calls &calls, Queue queue, size_t place) {
  network::Frame &frame = *places_[place].frame;
  ibv_sge memory = {reinterpret_cast<uint64_t>(frame.data), pool_.frameBytes(),
                    localKey(frame.descriptor)};
  ibv_recv_wr request = {};
  request.wr_id = idOf(place);
  request.sg_list = &memory;
  request.num_sge = 1;
  int error = std::visit([&](auto *to) { return calls.postReceive(to, &request); }, queue);
  places_[place].isPosted = error == 0;
  return error;
}

} // namespace colldsl::verbs
