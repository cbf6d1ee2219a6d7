#pragma once

namespace evalcore::test {

/// By how much a bound on processor seconds may be passed: not at all in what is shipped. Without
/// optimisation, or with a sanitizer, the same takes several times as long.
#if defined(NDEBUG)
inline constexpr double slower = 1;
#else
inline constexpr double slower = 5;
#endif

}  // namespace evalcore::test
