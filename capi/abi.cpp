#include <evalcore/c/abi.h>

#include <evalcore/base/version.hpp>

static_assert(EVC_ABI_MAJOR == EVALCORE_ABI_MAJOR && EVC_ABI_MINOR == EVALCORE_ABI_MINOR,
              "c/abi.h and CMakeLists.txt disagree about the version of the ABI");

uint32_t evc_abi_version(void) EVC_NOEXCEPT { return EVC_ABI_VERSION; }

const char* evc_version_string(void) EVC_NOEXCEPT { return EVALCORE_VERSION; }
