#include "driver/library/ProvedImage.h"

#include "verifier/ProvedSizes.h"

namespace colldsl::driver {

ImageProof narrowToProved(Schedule &image, const proof::VerifyOptions &options) {
  std::optional<proof::ProvedDomain> domain = proof::provedSizes(image, options, proof::kManyOps);
  if (!domain)
    return ImageProof::None;
  image.sizeClass = domain->sizes;
  return domain->lengthsUndecided.empty() ? ImageProof::Full : ImageProof::SomeLengths;
}

} // namespace colldsl::driver
