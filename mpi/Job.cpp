#include "mpi/Job.h"

#include "mpi/Mover.h"
#include "mpi/Operation.h"
#include "mpi/Real.h"
#include "mpi/Settings.h"
#include "stdlib/StandardLibrary.h"

#include <algorithm>
#include <cstdio>

namespace colldsl::mpi {
namespace {

// Address space per rank; memory is used when it is touched.
constexpr uint64_t kArenaBytes = uint64_t{16} << 30;
// The MPI below has news of its own, which end no sleep of ours.
constexpr std::chrono::nanoseconds kLongestSleep = std::chrono::microseconds(100);

OutOfBand launcherOf(MPI_Comm comm) {
  OutOfBand launcher;
  int rank = 0, ranks = 1;
  real::Comm_rank(comm, &rank);
  real::Comm_size(comm, &ranks);
  launcher.rank = static_cast<uint32_t>(rank);
  launcher.numRanks = static_cast<uint32_t>(ranks);
  launcher.allgather = [comm](const void *mine, void *all, size_t bytes) {
    auto count = static_cast<int>(bytes);
    return mpiStatus(real::Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, comm),
                     "MPI_Allgather");
  };
  return launcher;
}

bool allSay(MPI_Comm comm, bool word) {
  int mine = word, all = 0;
  real::Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
  return all != 0;
}

} // namespace

Job *Job::current_ = nullptr;

Job::Job() : mover_(std::make_unique<Mover>(*this)) {}
Job::~Job() = default;

void Job::begin(int threadLevel) {
  MPI_Comm machine = MPI_COMM_NULL;
  int worldRank = 0, worldRanks = 1;
  real::Comm_rank(MPI_COMM_WORLD, &worldRank);
  real::Comm_size(MPI_COMM_WORLD, &worldRanks);
  real::Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, worldRank, MPI_INFO_NULL, &machine);
  auto job = std::make_unique<Job>();
  job->isThreaded_ = threadLevel == MPI_THREAD_MULTIPLE;
  job->worldRank_ = static_cast<uint32_t>(worldRank);
  real::Comm_dup(MPI_COMM_SELF, &job->own_);
  real::Comm_group(MPI_COMM_WORLD, &job->worldGroup_);
  shm::Options memory;
  memory.arenaBytes = kArenaBytes;
  OutOfBand launcher = launcherOf(machine);
  Result<WiredUp> wired = shareMemory(launcher, memory);
  Result<std::unique_ptr<Library>> library = Library::view(standardLibraryBytes());
  bool isFine = allSay(MPI_COMM_WORLD, wired.ok() && library.ok());
  if (isFine) {
    lanes::Options options;
    options.longestSleep = kLongestSleep;
    options.bystander = job.get();
    if (Result<Topology> machine = Topology::onThisMachine(wired->pus))
      job->machine_ = machine.take();
    else
      job->machine_ = Topology::flat(launcher.numRanks);
    job->library_ = library.take();
    job->world_ = std::move(wired->world);
    job->lanes_ = std::make_unique<lanes::Lanes>(*job->world_, Rank{launcher.rank}, options);
    std::vector<int> here(launcher.numRanks);
    real::Allgather(&worldRank, 1, MPI_INT, here.data(), 1, MPI_INT, machine);
    job->onMachine_.assign(static_cast<size_t>(worldRanks), kNoRank);
    for (uint32_t r = 0; r < here.size(); ++r)
      job->onMachine_[static_cast<size_t>(here[r])] = Rank{r};
  }
  real::Comm_free(&machine);
  if (Settings::all().isVerbose() && worldRank == 0)
    std::fprintf(stderr, "colldsl: %d ranks, %u of them on the machine of rank 0: %s\n", worldRanks,
                 launcher.numRanks, isFine ? "they share memory" : "nothing is served");
  if (!wired.ok() && Settings::all().isVerbose())
    std::fprintf(stderr, "colldsl: rank %d: %s\n", worldRank, wired.message().c_str());
  if (isFine)
    current_ = job.release();
}

void Job::end() {
  std::unique_ptr<Job> job(std::exchange(current_, nullptr));
  if (!job)
    return;
  for (MPI_Op op : job->kept_)
    real::Op_free(&op);
  job->typesInUse_.freeAll();
  for (const auto &asked : job->asked_)
    asked->wait();
  real::Comm_free(&job->own_);
  real::Group_free(&job->worldGroup_);
}

void Job::beginMovingBesides() {
  ++moving_;
  mover_->begin();
}

void Job::endMovingBesides() {
  mover_->end();
  --moving_;
}

bool Job::poll() {
  bool moved = lanes_->poll();
  for (Operation *operation : moved_)
    moved |= operation->progress();
  return moved;
}

Status Job::waitFor(Operation &operation) {
  return lanes_->waitUntil([&] { return operation.isDone(); },
                           [&] {
                             bool moved = operation.progress();
                             return moved_.empty() ? moved : poll() || moved;
                           });
}

// What the MPI below has under way moves while somebody looks at it.
void Job::look() {
  int isThere = 0;
  real::Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, own_, &isThere, MPI_STATUS_IGNORE);
}

// Other threads want to do something, too.
void Job::leave() {
  if (isThreaded())
    mutex_.unlock();
}

void Job::comeBack() {
  if (isThreaded())
    mutex_.lock();
}

// First fit: what could be had in one piece can be had for lanes piece by piece.
void *Job::lend(uint64_t bytes) {
  void *memory = lanes_->allocate(bytes);
  if (!memory)
    return nullptr;
  void *rest = lanes_->allocate(lanes_->numRanks() * lanes::laneBytes(lanes::Options().ringBytes));
  lanes_->release(rest ? rest : memory);
  return rest ? memory : nullptr;
}

// The first rank owns the context; two threads may make two communicators at once.
Job::Context Job::agree(MPI_Comm comm, Offer &offer) {
  dropBuried();
  int rank = 0;
  real::Comm_rank(comm, &rank);
  uint32_t mine[5] = {0, 0, !offer.neighbors, !offer.all, ~offer.promises.bits()}, all[5] = {};
  if (rank == 0) {
    mine[0] = worldRank_;
    mine[1] = nextContext_.fetch_add(kContextsEach);
  }
  real::Allreduce(mine, all, 5, MPI_UINT32_T, MPI_BOR, comm);
  offer = {all[2] == 0, all[3] == 0, InfoPromises(~all[4])};
  return {all[0], all[1]};
}

void Job::keep(std::shared_ptr<PromisesAsked> asked) {
  std::erase_if(asked_, [](const auto &before) { return before->isAnswered(); });
  asked_.push_back(std::move(asked));
}

// Not dropped at once: the MPI may hold a lock of its own, which whoever holds ours may want.
void Job::bury(std::shared_ptr<void> thing) {
  std::lock_guard lock(graves_);
  buried_.push_back(std::move(thing));
}

void Job::dropBuried() {
  std::vector<std::shared_ptr<void>> gone;
  Guard guard(*this);
  {
    std::lock_guard lock(graves_);
    gone.swap(buried_);
  }
  gone.clear();
}

} // namespace colldsl::mpi
