/// Letters and bytes through the MPI below: its own messages, on a communicator of their own.
///
/// Letters go into memory that is always posted; bytes under a tag that their receiver picked, from
/// buffer to buffer, whatever their number and pieces. Below MPI_THREAD_MULTIPLE only those threads
/// may poll that may call the MPI.
#pragma once

#include "mpi/Courier.h"
#include "mpi/Mpi.h"

#include <memory>
#include <vector>

namespace colldsl::mpi {

class MpiCourier final : public Courier {
public:
  /// Collective over `world`.
  explicit MpiCourier(MPI_Comm world);
  ~MpiCourier() override;

  std::string name() const override { return "the MPI below"; }
  bool isOfMpi() const override { return true; }
  uint32_t letterBytes() const override { return kLetterBytes; }
  void write(Rank to, std::span<const std::byte> header, const Payload &payload,
             Message *message) override;
  std::optional<Place> expect(Rank from, Message &message) override;
  void expectNoMore(Rank from, const Place &place) override;
  void give(Rank to, Message &message, const Place &place) override;
  bool poll() override;
  std::optional<protocol::Wakeup> wakeup() override { return protocol::Wakeup{-1, kNap}; }
  void forget(const protocol::CompletionCounter &tally) override;

private:
  /// Nothing that comes ends a sleep.
  static constexpr std::chrono::nanoseconds kNap = std::chrono::microseconds(50);
  /// Short for any MPI.
  static constexpr uint32_t kLetterBytes = 4000;

  struct Sheet {
    std::byte bytes[kLetterBytes];
  };

  /// A call of the MPI below that is under way.
  struct Flight {
    enum class Kind : uint8_t { Letter, BytesOut, BytesIn } kind;
    Message *message; ///< null: nobody waits
    uint32_t number;  ///< of the sheet; the tag
    Rank peer;
    std::unique_ptr<std::byte[]> memory = {}; ///< for bytes that nobody wants any more
  };

  bool isBusy() const override;
  void listen(uint32_t ear);
  bool hear();
  void fly(MPI_Request request, Flight flight);
  bool land();
  void landed(const Flight &flight);
  void divert(size_t at);

  uint32_t numTags_ = 0, usedTags_ = 0;
  std::vector<std::unique_ptr<Sheet>> ears_; ///< letters to come, the next one at ear_
  std::vector<MPI_Request> heard_;           ///< by ear
  uint32_t ear_ = 0;
  std::vector<std::unique_ptr<Sheet>> sheets_;
  std::vector<uint32_t> freeSheets_, freeTags_;
  std::vector<MPI_Request> requests_; ///< parallel to flights_
  std::vector<Flight> flights_;
  std::vector<int> places_;
};

} // namespace colldsl::mpi
