/// From the checked program to an image of all ranks, without ever holding all of them.
#pragma once

#include "instantiate/Instantiate.h"
#include "ir/ImageWriter.h"

namespace colldsl {

/// Hands the image of all ranks to `sink` piece by piece, in order; calls do not overlap,
/// but may come from different threads. Checks what instantiateAll() checks. The image
/// differs from that of its schedule in two things: messages keep their hashes (see
/// MessageId), because tags need both ends at hand; and there is a contract only if the
/// request asks for it. The bytes do not depend on the number of threads.
///
/// Memory: a few ranks per thread, and 32 bytes for each rank of the job.
Status streamImage(const Program &program, const InstantiateRequest &request, const ImageSink &sink,
                   unsigned threads = 1);

} // namespace colldsl
