#include "table_engine.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evalcore/base/limits.hpp>
#include <evalcore/base/utf8.hpp>
#include <evalcore/wire/dialect.hpp>
#include <evalcore/wire/openai_chat.hpp>

#include "error.hpp"
#include "step.hpp"

namespace evalcore::capi {
namespace {

using engine::token;

std::optional<std::uint64_t> known(std::uint64_t bytes) {
  return bytes == EVC_UNKNOWN ? std::nullopt : std::optional(bytes);
}

evc_tokens view(const std::vector<token>& tokens) { return {tokens.data(), tokens.size()}; }

class table_snapshot final : public engine::snapshot {
 public:
  table_snapshot(const evc_step_engine_table& table, void* context, void* held, std::uint64_t bytes)
      : table_(table), context_(context), held_(held), bytes_(bytes) {}
  ~table_snapshot() override { table_.free_snapshot(context_, held_); }
  table_snapshot(const table_snapshot&) = delete;
  table_snapshot& operator=(const table_snapshot&) = delete;

  [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_; }
  [[nodiscard]] void* held() const noexcept { return held_; }

 private:
  const evc_step_engine_table& table_;
  void* context_;
  void* held_;
  std::uint64_t bytes_;
};

class table_engine final : public engine::step_engine {
 public:
  table_engine(const evc_step_engine_table& table, void* context) : table_(table), context_(context) {}
  ~table_engine() override {
    if (table_.destroy != nullptr) table_.destroy(context_);
  }
  table_engine(const table_engine&) = delete;
  table_engine& operator=(const table_engine&) = delete;

  result<void> start();

  [[nodiscard]] const engine::traits& about() const override { return traits_; }
  [[nodiscard]] result<engine::rendered> render(const chat::request& request) override;
  [[nodiscard]] result<std::vector<token>> tokenize(std::string_view text, bool special) override;
  [[nodiscard]] result<engine::row_id> open(engine::row_request request) override;
  [[nodiscard]] result<void> step(std::uint32_t max_width, engine::step_output& out) override;
  [[nodiscard]] bool remove(engine::row_id row) override;
  void interrupt() noexcept override {
    if (table_.interrupt != nullptr) table_.interrupt(context_);
  }
  [[nodiscard]] std::optional<std::uint64_t> snapshot_bytes(std::uint32_t tokens) const override;
  [[nodiscard]] result<std::shared_ptr<const engine::snapshot>> take_snapshot(engine::row_id row) override;
  [[nodiscard]] engine::memory_report memory() const override;

 private:
  [[nodiscard]] error failed(evc_status status, std::string_view doing) const;
  [[nodiscard]] error fault(const std::string& what) const;
  [[nodiscard]] error lacks(std::string_view what) const;

  evc_step_engine_table table_;
  void* context_;
  engine::traits traits_;
  evc_step telling_;
};

error table_engine::failed(evc_status status, std::string_view doing) const {
  const errc code = code_of(status);
  error failure = fail(code, stage::body,
                       "the engine " + traits_.name + " could not " + std::string(doing) + ": " +
                           std::string(evalcore::name(code)));
  if (table_.last_words != nullptr) {
    failure.backend_words =
        replace_invalid_utf8(capi::view(table_.last_words(context_)).substr(0, limits::backend_words_bytes));
  }
  return failure;
}

error table_engine::fault(const std::string& what) const {
  return fail(errc::backend_fault, stage::body,
              "the engine " + traits_.name + " broke its contract: " + what);
}

error table_engine::lacks(std::string_view what) const {
  return fail(errc::unsupported, stage::body, "the engine " + traits_.name + " has no " + std::string(what));
}

result<void> table_engine::start() {
  traits_.name = "table";
  if (table_.start != nullptr) {
    if (const evc_status status = table_.start(context_); status != EVC_OK) return failed(status, "start");
  }
  evc_traits told{};
  told.struct_size = sizeof told;
  told.name = capi::view(traits_.name);
  told.max_rows = 1;
  told.prefix_grid = 1;
  if (const evc_status status = table_.about(context_, &told); status != EVC_OK) {
    return failed(status, "say what it is");
  }
  // They go into reports as text.
  const auto text = [](evc_str given) { return replace_invalid_utf8(capi::view(given)); };
  traits_.name = text(told.name);
  traits_.model = text(told.model);
  for (std::size_t i = 0; i < told.identity_size; ++i) {
    traits_.identity[text(told.identity[i].name)] = text(told.identity[i].value);
  }
  if (told.max_rows == 0 || told.context_tokens == 0 || told.prefix_grid == 0) {
    return fail(errc::invalid_argument, stage::start,
                "the engine " + traits_.name + " says max_rows " + std::to_string(told.max_rows) +
                    ", context_tokens " + std::to_string(told.context_tokens) + " and prefix_grid " +
                    std::to_string(told.prefix_grid) + ": each must be at least 1");
  }
  const auto can = [&](std::uint32_t what) { return (told.can & what) != 0; };
  traits_.max_rows = told.max_rows;
  traits_.context_tokens = told.context_tokens;
  traits_.prefix_grid = told.prefix_grid;
  traits_.per_row_sampling = can(EVC_CAN_SAMPLE_PER_ROW);
  traits_.snapshots = can(EVC_CAN_SNAPSHOT);
  traits_.scoring = can(EVC_CAN_SCORE);
  traits_.media = can(EVC_CAN_MEDIA);
  traits_.recurrent = can(EVC_IS_RECURRENT);
  traits_.exact = can(EVC_IS_EXACT);
  if (traits_.snapshots && (table_.take_snapshot == nullptr || table_.free_snapshot == nullptr)) {
    return fail(errc::invalid_argument, stage::start,
                "the engine " + traits_.name +
                    " says EVC_CAN_SNAPSHOT, but its table has no take_snapshot or no free_snapshot");
  }
  return {};
}

result<engine::rendered> table_engine::render(const chat::request& request) {
  if (table_.render == nullptr) return lacks("chat template");
  auto body = wire::encode_openai_chat(request, *wire::find_dialect("generic"), false);
  if (!body) return std::move(body).error();
  evc_rendered out{};
  out.struct_size = sizeof out;
  if (const evc_status status = table_.render(context_, capi::view(body->body), &out); status != EVC_OK) {
    return failed(status, "render a prompt");
  }
  return engine::rendered{std::string(capi::view(out.text)),
                          replace_invalid_utf8(capi::view(out.template_name)),
                          replace_invalid_utf8(capi::view(out.warning))};
}

result<std::vector<token>> table_engine::tokenize(std::string_view text, bool special) {
  evc_tokens out{};
  if (const evc_status status = table_.tokenize(context_, capi::view(text), special ? 1 : 0, &out);
      status != EVC_OK) {
    return failed(status, "tokenize a text");
  }
  return std::vector<token>(out.data, out.data + out.size);
}

result<engine::row_id> table_engine::open(engine::row_request request) {
  std::vector<evc_bias> bias;
  for (const auto& [id, value] : request.how.logit_bias) bias.push_back({id, value});
  std::vector<evc_tokens> continuations;
  for (const auto& one : request.continuations) continuations.push_back(view(one));
  std::vector<evc_image> images;
  for (const auto& one : request.media) images.push_back({one.index, capi::view(one.bytes)});

  evc_row row{};
  row.struct_size = sizeof row;
  row.max_tokens = request.max_tokens;
  row.prompt = view(request.prompt);
  if (request.from) {
    row.from = static_cast<const table_snapshot&>(*request.from).held();
    row.restored = request.restored;
  }
  row.has_seed = request.how.seed ? 1 : 0;
  row.seed = request.how.seed.value_or(0);
  row.cuts = request.cuts.data();
  row.cuts_size = request.cuts.size();
  row.temperature = request.how.temperature;
  row.top_p = request.how.top_p;
  row.min_p = request.how.min_p;
  row.repetition_penalty = request.how.repetition_penalty;
  row.presence_penalty = request.how.presence_penalty;
  row.frequency_penalty = request.how.frequency_penalty;
  row.bias = bias.data();
  row.bias_size = bias.size();
  row.top_k = request.how.top_k;
  row.logprobs = request.logprobs ? 1 : 0;
  row.top_logprobs = request.top_logprobs;
  row.continuations = continuations.data();
  row.continuations_size = continuations.size();
  row.images = images.data();
  row.images_size = images.size();

  telling_.open.reserve(telling_.open.size() + 1);
  std::unordered_set<engine::row_id> node{0};  // Once the row is there nothing may fail.
  auto known = node.extract(node.begin());
  std::uint64_t id = 0;
  if (const evc_status status = table_.open(context_, &row, &id); status != EVC_OK) {
    return failed(status, "open a row");
  }
  known.value() = id;
  if (!telling_.open.insert(std::move(known)).inserted) {
    return fault("a new row has the id of one that is open, " + std::to_string(id));
  }
  return id;
}

result<void> table_engine::step(std::uint32_t max_width, engine::step_output& out) {
  telling_.begin(out);
  const evc_status status = table_.step(context_, max_width, &telling_);
  telling_.finish();
  if (status != EVC_OK) return failed(status, "step");
  if (telling_.no_memory) return fail(errc::no_memory, stage::body, "no memory for what a step told");
  if (!telling_.fault.empty()) return fault(telling_.fault);
  return {};
}

bool table_engine::remove(engine::row_id row) {
  if (table_.remove(context_, row) == 0) return false;
  telling_.open.erase(row);
  return true;
}

std::optional<std::uint64_t> table_engine::snapshot_bytes(std::uint32_t tokens) const {
  return table_.snapshot_bytes == nullptr ? std::nullopt : known(table_.snapshot_bytes(context_, tokens));
}

result<std::shared_ptr<const engine::snapshot>> table_engine::take_snapshot(engine::row_id row) {
  if (!traits_.snapshots) return lacks("snapshots");
  void* held = nullptr;
  std::uint64_t bytes = 0;
  if (const evc_status status = table_.take_snapshot(context_, row, &held, &bytes); status != EVC_OK) {
    return failed(status, "take a snapshot");
  }
  if (held == nullptr) return fault("a snapshot is NULL");
  try {
    return std::shared_ptr<const engine::snapshot>(
        std::make_shared<table_snapshot>(table_, context_, held, bytes));
  } catch (...) {
    table_.free_snapshot(context_, held);  // Nobody else knows of it.
    throw;
  }
}

engine::memory_report table_engine::memory() const {
  if (table_.memory == nullptr) return {};
  evc_memory told{sizeof told, 0, EVC_UNKNOWN, EVC_UNKNOWN, EVC_UNKNOWN};
  table_.memory(context_, &told);
  return {known(told.working_set), known(told.active), known(told.free_ram)};
}

}  // namespace

result<evc_step_engine_table> read_table(const evc_step_engine_table* given) {
  if (given == nullptr || given->struct_size < sizeof(evc_step_engine_table)) {
    return fail(errc::invalid_argument, stage::config,
                "the table of an engine must say its size: struct_size = sizeof(evc_step_engine_table)");
  }
  const evc_step_engine_table table = *given;
  const std::array<std::pair<bool, const char*>, 5> needed{{
      {table.about != nullptr, "about"},
      {table.tokenize != nullptr, "tokenize"},
      {table.open != nullptr, "open"},
      {table.step != nullptr, "step"},
      {table.remove != nullptr, "remove"},
  }};
  for (const auto& [there, name] : needed) {
    if (!there) {
      return fail(errc::invalid_argument, stage::config,
                  "the table of an engine lacks the function " + std::string(name));
    }
  }
  return table;
}

result<std::unique_ptr<engine::step_engine>> start_table_engine(const evc_step_engine_table& table,
                                                                void* context) {
  std::unique_ptr<table_engine> made;
  try {
    made = std::make_unique<table_engine>(table, context);
  } catch (...) {
    if (table.destroy != nullptr) table.destroy(context);
    throw;
  }
  if (auto started = made->start(); !started) return std::move(started).error();
  return std::unique_ptr<engine::step_engine>(std::move(made));
}

}  // namespace evalcore::capi
