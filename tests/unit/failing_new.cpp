// In a file of its own, so that no compiler sees both sides of a call and wonders.
#include "unit/failing_new.hpp"

#include <cstdlib>
#include <new>

void* operator new(std::size_t size) {
  if (evalcore::test::failing_new::strikes()) throw std::bad_alloc();
  if (void* made = std::malloc(size == 0 ? 1 : size)) return made;
  throw std::bad_alloc();
}
void operator delete(void* gone) noexcept { std::free(gone); }
void operator delete(void* gone, std::size_t /*size*/) noexcept { std::free(gone); }
