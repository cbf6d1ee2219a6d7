#ifndef EVALCORE_C_ABI_H
#define EVALCORE_C_ABI_H

#include <stdint.h>

#if defined(__GNUC__)
#define EVC_API __attribute__((visibility("default")))
#else
#define EVC_API
#endif

#ifdef __cplusplus
#define EVC_NOEXCEPT noexcept
extern "C" {
#else
#define EVC_NOEXCEPT
#endif

/** The ABI that this header describes. A new major comes with a new SONAME; a new minor only adds symbols. */
#define EVC_ABI_MAJOR 1u
#define EVC_ABI_MINOR 0u
#define EVC_ABI_VERSION ((EVC_ABI_MAJOR << 16) | EVC_ABI_MINOR)

/**
 * The ABI of the library that was loaded: major << 16 | minor.
 *
 * A program that loads the library at run time checks that the major equals the one it was built against
 * and that the minor is not smaller.
 *
 * Thread-safe. Never fails.
 */
EVC_API uint32_t evc_abi_version(void) EVC_NOEXCEPT;

/**
 * The version of the library, such as "0.1.0". Static storage: valid for the life of the process, never
 * freed.
 *
 * Thread-safe. Never fails.
 */
EVC_API const char* evc_version_string(void) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
