#include <stdio.h>

#include <evalcore/evalcore.h>

int main(void) {
  printf("%s\n", evc_version_string());
  return evc_abi_version() == EVC_ABI_VERSION ? 0 : 1;
}
