#include "driver/library/ProvedImage.h"

#include "verifier/ProvedSizes.h"

namespace colldsl::driver {

ImageProof narrowToProved(Schedule &image, const VerifyOptions &options) {
  std::optional<ProvedDomain> domain = provedSizes(image, options, kManyOps);
  if (!domain)
    return ImageProof::None;
  image.sizeClass = domain->sizes;
  return domain->lengthsUndecided.empty() ? ImageProof::Full : ImageProof::SomeLengths;
}

} // namespace colldsl::driver
