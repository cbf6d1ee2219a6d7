#pragma once

#include <chrono>
#include <string>

#include <evalcore/run/store.hpp>

namespace evalcore::test {

inline run::run_record sample_run(const std::string& run_id) {
  run::run_record run;
  run.run_id = run_id;
  run.suite_path = "suite.jsonl";
  run.suite_hash = "5017e";
  run.identity = {{"build", "b1234"}, {"selector", "scripted"}};
  run.options_json = "{}";
  run.started_unix_ms = 1'786'190'400'000;
  return run;
}

inline run::item_record sample_item(const std::string& id, const std::string& model = "tiny") {
  return {run::item_key("5017e", id, 0, "exact"), run::cache_key({}, model, "{\"of\":\"" + id + "\"}", 0), id,
          0};
}

inline chat::reply sample_reply(const std::string& text) {
  chat::reply reply;
  reply.text = text;
  reply.finish = chat::finish_reason::stop;
  return reply;
}

inline score::verdict right() { return {true, 1, "2", ""}; }

inline run::attempt_record attempt() {
  run::attempt_record out;
  out.started_unix_ms = 1'786'190'400'123;
  return out;
}

}  // namespace evalcore::test
