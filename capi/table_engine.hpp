#pragma once

#include <memory>

#include <evalcore/base/result.hpp>
#include <evalcore/c/step_engine.h>
#include <evalcore/engine/step_engine.hpp>

namespace evalcore::capi {

/// A copy of the host's table, as long as this version knows it. Errors: invalid_argument for a table that is
/// shorter than the first version's or lacks a function that it must have.
[[nodiscard]] result<evc_step_engine_table> read_table(const evc_step_engine_table* given);

/// Starts the host's engine, on the thread that will call it. `destroy` is called in any case: with the
/// engine, or before an error returns. Errors: what start or about returned; invalid_argument for traits that
/// are out of range.
[[nodiscard]] result<std::unique_ptr<engine::step_engine>> start_table_engine(
    const evc_step_engine_table& table, void* context);

}  // namespace evalcore::capi
