#include "tests/mpi/Flight.h"

namespace conformance {

void Flight::add(MPI_Request request, bool persistent,
                 std::function<void(const MPI_Status *)> landed) {
  entries_.push_back({request, persistent, std::move(landed)});
  ++left_;
}

void Flight::finish() {
  while (left_ > 0)
    step();
  entries_.clear();
}

namespace {

enum Method { Wait, Test, GetStatus, Waitall, Waitany, Waitsome, Testany, Testsome, Testall };

// Either an array of statuses, or none at all.
class Statuses {
public:
  Statuses(size_t count, bool ignore) : statuses_(ignore ? 0 : count) {}
  MPI_Status *all() { return statuses_.empty() ? MPI_STATUSES_IGNORE : statuses_.data(); }
  MPI_Status *one() { return statuses_.empty() ? MPI_STATUS_IGNORE : statuses_.data(); }
  const MPI_Status *at(size_t i) const { return statuses_.empty() ? nullptr : &statuses_[i]; }

private:
  std::vector<MPI_Status> statuses_;
};

} // namespace

// Some that are not done, in any order, and perhaps some that are.
std::vector<size_t> Flight::draw() {
  std::vector<size_t> drawn;
  uint32_t thinning = random_.between(1, 3);
  size_t certain = random_.below(left_);
  for (size_t i = 0, open = 0; i < entries_.size(); ++i) {
    bool mustBe = !entries_[i].done && open++ == certain;
    if (mustBe || (entries_[i].done ? random_.oneIn(4) : random_.oneIn(thinning)))
      drawn.push_back(i);
  }
  random_.shuffle(drawn);
  return drawn;
}

void Flight::step() {
  int method = static_cast<int>(random_.below(withTestall_ ? Testall + 1 : Testall));
  std::vector<size_t> drawn = draw();
  if (method >= Waitall)
    return completeMany(drawn, method);
  for (size_t entry : drawn)
    if (!entries_[entry].done)
      return completeOne(entry, method);
}

void Flight::land(size_t i, MPI_Request request, const MPI_Status *status) {
  Entry &entry = entries_[i];
  bool alreadyDone = std::exchange(entry.done, true);
  entry.request = request;
  if (alreadyDone)
    return;
  --left_;
  report_.expect(entry.persistent == (request != MPI_REQUEST_NULL), "completion of a request",
                 "its handle is not what it must be");
  entry.landed(status);
}

void Flight::completeOne(size_t i, int method) {
  Statuses status(1, random_.oneIn(2));
  MPI_Request request = entries_[i].request;
  int flag = 1, code;
  if (method == Test)
    code = MPI_Test(&request, &flag, status.one());
  else if (method == GetStatus)
    code = MPI_Request_get_status(request, &flag, status.one());
  else
    code = MPI_Wait(&request, status.one());
  report_.expectSuccess(code, "completion of one request");
  // MPICH 4.2 then has no status of a persistent message any more.
  if (method == GetStatus && flag)
    report_.expectSuccess(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait of a complete request");
  if (flag)
    land(i, request, status.at(0));
}

void Flight::completeMany(const std::vector<size_t> &drawn, int method) {
  int count = static_cast<int>(drawn.size());
  std::vector<MPI_Request> requests;
  for (size_t entry : drawn)
    requests.push_back(entries_[entry].request);
  Statuses statuses(drawn.size(), random_.oneIn(2));
  std::vector<int> indices(drawn.size(), -1);
  int flag = 1, done = count, code = MPI_SUCCESS;
  bool some = method == Waitsome || method == Testsome,
       any = method == Waitany || method == Testany;
  if (method == Waitall)
    code = MPI_Waitall(count, requests.data(), statuses.all());
  else if (method == Testall)
    code = MPI_Testall(count, requests.data(), &flag, statuses.all());
  else if (method == Waitany)
    code = MPI_Waitany(count, requests.data(), indices.data(), statuses.one());
  else if (method == Testany)
    code = MPI_Testany(count, requests.data(), indices.data(), &flag, statuses.one());
  else if (method == Waitsome)
    code = MPI_Waitsome(count, requests.data(), &done, indices.data(), statuses.all());
  else
    code = MPI_Testsome(count, requests.data(), &done, indices.data(), statuses.all());
  report_.expectSuccess(code, "completion of several requests");
  if (any)
    done = 1;
  for (int i = 0; flag && i < done; ++i) {
    int at = some || any ? indices[i] : i;
    bool known = at >= 0 && at < count;
    report_.expect(known, "completion of several requests", "no index of a request");
    if (known)
      land(drawn[at], requests[at], statuses.at(i));
  }
}

} // namespace conformance
