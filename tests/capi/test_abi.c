/* The C ABI from strict C99, through the shared library alone. */
#include "host.h"

int main(void) {
  check(evc_abi_version() == EVC_ABI_VERSION, "the library speaks the ABI of the header");
  check(evc_abi_version() >> 16 == 1u, "the major version is 1");
  check(strcmp(evc_version_string(), EXPECTED_VERSION) == 0, "the version is the project's");
  check(evc_version_string() == evc_version_string(), "the version string is in static storage");
  return verdict();
}
