/// URIs of files.
#pragma once

#include <string>
#include <string_view>

namespace colldsl::lsp {

/// The path of a URI: `/a b.coll` for `file:///a%20b.coll`. Other schemes have no path; their URI
/// stands for it.
std::string pathOf(std::string_view uri);

/// `path` is absolute.
std::string uriOf(std::string_view path);

} // namespace colldsl::lsp
