/// Wide enough for products of two 64-bit numbers.
#pragma once

namespace colldsl {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

} // namespace colldsl
