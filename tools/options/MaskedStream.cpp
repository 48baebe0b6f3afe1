#include "tools/options/MaskedStream.h"

namespace colldsl::tools {

void MaskedStream::write_impl(const char *begin, size_t size) {
  std::string_view text(begin, size);
  std::string joined;
  if (!begun_.empty())
    text = joined = begun_.append(text);
  std::string printed;
  size_t left = appendPrintable(printed, text, masking_, /*mayGoOn=*/true);
  begun_ = text.substr(text.size() - left);
  to_ << printed;
}

} // namespace colldsl::tools
