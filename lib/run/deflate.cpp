#include "run/deflate.hpp"

#include <zlib.h>

#include <new>

namespace evalcore::run {

std::string deflated(std::string_view bytes) {
  auto size = ::compressBound(static_cast<uLong>(bytes.size()));
  std::string out(size, '\0');
  const int code =
      ::compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                  static_cast<uLong>(bytes.size()), Z_DEFAULT_COMPRESSION);
  if (code != Z_OK) throw std::bad_alloc();  // There is room, so that is all that can go wrong.
  out.resize(size);
  return out;
}

}  // namespace evalcore::run
