/// The attributes of a message (ir/Transfer.h) that a wire executes. If a wire does not execute an
/// attribute, the message travels the wire's own way, with the same bytes.
#pragma once

#include "ir/Transfer.h"

#include <cstdint>

namespace colldsl {

/// The capabilities of a wire for messages to and from one peer. Lengths in bytes; kNever: no
/// length.
struct TransferCaps {
  static constexpr uint64_t kNever = UINT64_MAX;

  uint64_t eagerUpTo = UINT64_MAX;    ///< `via eager`
  uint64_t rendezvousFrom = kNever;   ///< `via rendezvous`
  uint64_t staticFrom = kNever;       ///< `via static`: put into a buffer that was named before
  uint64_t sharedStaticFrom = kNever; ///< the same, into a buffer that both processes have mapped
  uint64_t announcedStaticFrom = kNever; ///< `via static` of announced messages, besides
  bool staticReader = false;             ///< `via static` with `mover reader`
  uint64_t canaryStaticFrom = kNever;    ///< `via static` of messages that have a canary
  uint64_t readerFrom = kNever;          ///< `mover reader`, of a message that is not eager
  uint64_t writerFrom = kNever;          ///< `mover writer`, of a message that is not eager
  uint64_t sharedWriterFrom = kNever; ///< the same, into a buffer that both processes have mapped
  uint64_t defaultEagerUpTo = 0;      ///< messages without `via`: eager up to here
  uint64_t sharedCanaryFrom = kNever; ///< `canary`, in a buffer that both processes have mapped
  uint64_t canaryUpTo = 0;            ///< `canary`, in any buffer
  bool announced = false;             ///< no RTR of its own for a static message
  uint64_t streamedFrom = kNever;     ///< `streamed`, where a combine reads the payload
  bool multicast = false;

  // Messages straight from and to device memory that Endpoint::registerDevice() has registered.
  uint64_t deviceFrom = kNever;     ///< their lengths; kNever: there are none
  uint64_t deviceUpTo = 0;          ///< the longest
  uint32_t deviceSendPieces = 0;    ///< of memory, of one that is sent
  uint32_t deviceReceivePieces = 0; ///< of one that is received
};

/// A message as its receiver knows it. The sender's memory is assumed to be like the receiver's.
struct TransferSite {
  uint64_t bytes = 0;
  bool isShared = false;   ///< both processes have mapped the receiver's buffer, in one piece
  bool isCombined = false; ///< one combine reads all of the payload, and nothing else does
};

/// The attributes of `asked` that the wire executes.
inline Transfer executedOf(const Transfer &asked, const TransferCaps &caps,
                           const TransferSite &site) {
  auto reaches = [&](uint64_t from, uint64_t sharedFrom) {
    return site.bytes >= from || (site.isShared && site.bytes >= sharedFrom);
  };
  Transfer does;
  bool isLong = site.bytes > caps.defaultEagerUpTo;
  switch (asked.protocol) {
  case Protocol::Any:
    break;
  case Protocol::Eager:
    isLong = site.bytes > caps.eagerUpTo;
    does.protocol = isLong ? Protocol::Any : Protocol::Eager;
    break;
  case Protocol::Rendezvous:
    isLong = site.bytes >= caps.rendezvousFrom;
    does.protocol = isLong ? Protocol::Rendezvous : Protocol::Any;
    break;
  case Protocol::Static:
    if ((asked.mover != Mover::Reader || caps.staticReader) &&
        (reaches(asked.canary && asked.mover == Mover::Either ? caps.canaryStaticFrom
                                                              : caps.staticFrom,
                 caps.sharedStaticFrom) ||
         (asked.announced && site.bytes >= caps.announcedStaticFrom)))
      does.protocol = Protocol::Static;
    break;
  }
  bool isStatic = does.protocol == Protocol::Static;
  if (asked.mover == Mover::Reader && (isStatic || (isLong && site.bytes >= caps.readerFrom)))
    does.mover = Mover::Reader;
  if (asked.mover == Mover::Writer &&
      (isStatic || (isLong && reaches(caps.writerFrom, caps.sharedWriterFrom))))
    does.mover = Mover::Writer;
  does.canary =
      asked.canary && isStatic && asked.mover != Mover::Reader &&
      ((site.isShared && site.bytes >= caps.sharedCanaryFrom) || site.bytes <= caps.canaryUpTo);
  does.announced = asked.announced && isStatic && caps.announced;
  does.streamed = asked.streamed && site.isCombined && site.bytes >= caps.streamedFrom;
  does.multicast = asked.multicast && caps.multicast;
  return does;
}

} // namespace colldsl
