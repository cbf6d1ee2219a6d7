/* The layout of the structs that cross the boundary, on a 64-bit machine. Members are only ever added at the
   end, and only to structs with a struct_size. */
#include <stddef.h>

#include <evalcore/evalcore.h>

#define PINNED(name, holds) typedef char pinned_##name[(holds) ? 1 : -1]

#if UINTPTR_MAX == UINT64_MAX
PINNED(str, sizeof(evc_str) == 16 && offsetof(evc_str, size) == 8);
PINNED(tokens, sizeof(evc_tokens) == 16 && offsetof(evc_tokens, size) == 8);
PINNED(pair, sizeof(evc_pair) == 32 && offsetof(evc_pair, value) == 16);
PINNED(bias, sizeof(evc_bias) == 16 && offsetof(evc_bias, bias) == 8);
PINNED(image, sizeof(evc_image) == 24 && offsetof(evc_image, bytes) == 8);
PINNED(traits, sizeof(evc_traits) == 72);
PINNED(traits_can, offsetof(evc_traits, can) == 4);
PINNED(traits_name, offsetof(evc_traits, name) == 8);
PINNED(traits_model, offsetof(evc_traits, model) == 24);
PINNED(traits_identity, offsetof(evc_traits, identity) == 40);
PINNED(traits_max_rows, offsetof(evc_traits, max_rows) == 56);
PINNED(traits_prefix_grid, offsetof(evc_traits, prefix_grid) == 64);
PINNED(row, sizeof(evc_row) == 176);
PINNED(row_prompt, offsetof(evc_row, prompt) == 8);
PINNED(row_from, offsetof(evc_row, from) == 24);
PINNED(row_seed, offsetof(evc_row, seed) == 40);
PINNED(row_cuts, offsetof(evc_row, cuts) == 48);
PINNED(row_temperature, offsetof(evc_row, temperature) == 64);
PINNED(row_bias, offsetof(evc_row, bias) == 112);
PINNED(row_top_k, offsetof(evc_row, top_k) == 128);
PINNED(row_continuations, offsetof(evc_row, continuations) == 144);
PINNED(row_images, offsetof(evc_row, images) == 160);
PINNED(rendered, sizeof(evc_rendered) == 56 && offsetof(evc_rendered, text) == 8);
PINNED(rendered_warning, offsetof(evc_rendered, warning) == 40);
PINNED(memory, sizeof(evc_memory) == 32 && offsetof(evc_memory, working_set) == 8);
PINNED(memory_free_ram, offsetof(evc_memory, free_ram) == 24);
PINNED(table, sizeof(evc_step_engine_table) == 120);
PINNED(table_start, offsetof(evc_step_engine_table, start) == 8);
PINNED(table_open, offsetof(evc_step_engine_table, open) == 40);
PINNED(table_interrupt, offsetof(evc_step_engine_table, interrupt) == 64);
PINNED(table_memory, offsetof(evc_step_engine_table, memory) == 96);
PINNED(table_destroy, offsetof(evc_step_engine_table, destroy) == 112);
#endif
