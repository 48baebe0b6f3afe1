/// URIs of files.
#pragma once

#include <string>
#include <string_view>

namespace colldsl::lsp {

/// `file:///a%20b.coll` is `/a b.coll`. Other schemes have no path: the URI itself stands for it.
std::string pathOf(std::string_view uri);

/// `path` is absolute.
std::string uriOf(std::string_view path);

} // namespace colldsl::lsp
