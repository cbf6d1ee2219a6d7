#ifndef EVALCORE_C_TEXT_H
#define EVALCORE_C_TEXT_H

#include <evalcore/c/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A text that evalcore made for the caller, such as a summary. Any thread, but for evc_text_free. */
typedef struct evc_text evc_text;

/** What it says, in UTF-8. Borrowed until the text is freed. Of NULL: an empty text. */
EVC_API evc_str evc_text_view(const evc_text* text) EVC_NOEXCEPT;
/** NULL is fine. */
EVC_API void evc_text_free(evc_text* text) EVC_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
