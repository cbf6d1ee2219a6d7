#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "unit/chat_bytes.hpp"

using namespace evalcore;
using namespace evalcore::test;

// Each case is a habit of some server in the field, reduced to the bytes that matter.

TEST_CASE("streamed calls are put together however they are addressed") {
  SUBCASE("by the book: two calls, interleaved") {
    CHECK(calls_of({R"({"index":0,"id":"a","function":{"name":"f","arguments":""}})",
                    R"({"index":1,"id":"b","function":{"name":"g","arguments":"{\"y\""}})",
                    R"({"index":0,"function":{"arguments":"{\"x\":1}"}})",
                    R"({"index":1,"function":{"arguments":":2}"}})"}) ==
          call_list{{"a", "f", R"({"x":1})"}, {"b", "g", R"({"y":2})"}});
  }
  SUBCASE("whole calls without index and id") {
    CHECK(calls_of({R"({"type":"function","function":{"name":"f","arguments":"{}"}})",
                    R"({"type":"function","function":{"name":"f","arguments":"{\"x\":1}"}})"}) ==
          call_list{{"", "f", "{}"}, {"", "f", R"({"x":1})"}});
  }
  SUBCASE("fragments without index and id follow the last call") {
    CHECK(calls_of({R"({"id":"a","function":{"name":"f","arguments":"{\"x\""}})",
                    R"({"function":{"arguments":":1}"}})"}) == call_list{{"a", "f", R"({"x":1})"}});
  }
  SUBCASE("fragments addressed by id alone") {
    CHECK(calls_of({R"({"id":"a","function":{"name":"f","arguments":"{"}})",
                    R"({"id":"b","function":{"name":"g","arguments":"{"}})",
                    R"({"id":"a","function":{"arguments":"}"}})",
                    R"({"id":"b","function":{"arguments":"}"}})"}) ==
          call_list{{"a", "f", "{}"}, {"b", "g", "{}"}});
  }
  SUBCASE("parallel calls that all say index 0") {
    CHECK(calls_of({R"({"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}})",
                    R"({"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":2}"}})"}) ==
          call_list{{"a", "f", R"({"x":1})"}, {"b", "f", R"({"x":2})"}});
    CHECK(calls_of({R"({"index":0,"function":{"name":"f","arguments":"{\"x\":1}"}})",
                    R"({"index":0,"function":{"name":"f","arguments":"{\"x\":2}"}})"}) ==
          call_list{{"", "f", R"({"x":1})"}, {"", "f", R"({"x":2})"}});
  }
  SUBCASE("explicit nulls and empty names in what follows") {
    CHECK(calls_of({R"({"index":0,"id":"a","type":"function","function":{"name":"f","arguments":null}})",
                    R"({"index":0,"id":null,"type":null,"function":{"name":null,"arguments":"{\"c"}})",
                    R"({"index":0,"id":"","function":{"name":"","arguments":"\":1}"}})"}) ==
          call_list{{"a", "f", R"({"c":1})"}});
  }
  SUBCASE("a new id with each fragment") {
    CHECK(calls_of({R"({"index":0,"id":"a1","function":{"name":"f","arguments":"{\"c"}})",
                    R"({"index":0,"id":"a2","function":{"name":null,"arguments":"\":1}"}})"}) ==
          call_list{{"a1", "f", R"({"c":1})"}});
  }
  SUBCASE("the name comes again with each fragment") {
    CHECK(calls_of({R"({"index":0,"id":"a","function":{"name":"f","arguments":"{\"c"}})",
                    R"({"index":0,"id":"a","function":{"name":"f","arguments":"\":1}"}})"}) ==
          call_list{{"a", "f", R"({"c":1})"}});
  }
  SUBCASE("the id comes late") {
    CHECK(calls_of({R"({"index":0,"function":{"name":"f"}})",
                    R"({"index":0,"id":"a","function":{"arguments":"{}"}})"}) == call_list{{"a", "f", "{}"}});
  }
  SUBCASE("the name alone, without arguments") {
    CHECK(calls_of({R"({"index":0,"id":"a","function":{"name":"f"}})"}) == call_list{{"a", "f", ""}});
  }
  SUBCASE("arguments as an object keep their order") {
    CHECK(calls_of(
              {R"({"index":0,"id":"a","function":{"name":"f","arguments":{"z": 1, "a": [2.5, null]}}})"}) ==
          call_list{{"a", "f", R"({"z":1,"a":[2.5,null]})"}});
  }
  SUBCASE("indices far apart cost nothing") {
    CHECK(calls_of({R"({"index":9007199254740991,"id":"a","function":{"name":"f","arguments":"{}"}})",
                    R"({"index":-1,"id":"b","function":{"name":"g","arguments":"{}"}})"}) ==
          call_list{{"a", "f", "{}"}, {"b", "g", "{}"}});
  }
}

TEST_CASE("whole calls: an empty id, arguments as an object, none at all") {
  const auto got = whole(
      R"({"choices":[{"message":{"content":null,"tool_calls":[)"
      R"({"id":"","function":{"name":"f","arguments":{"b":1,"a":2}}},{"id":null,"function":{"name":"g"}}]},)"
      R"("finish_reason":"tool_call"}]})");
  REQUIRE(got);
  REQUIRE(got->calls.size() == 2);
  CHECK(got->calls[0].arguments == R"({"b":1,"a":2})");
  CHECK(got->calls[1].name == "g");
  CHECK(got->calls[1].arguments.empty());
  CHECK(got->finish == chat::finish_reason::tool_calls);
  CHECK(got->finish_raw == "tool_call");
  CHECK(got->text.empty());
}

TEST_CASE("the end of a stream needs proof") {
  const std::string text = chunk(R"({"content":"a"})");
  CHECK(code_of(read_stream(text)) == errc::truncated);
  CHECK(code_of(read_stream(text + chunk("{}", R"("")"))) == errc::truncated);
  CHECK(code_of(read_stream("")) == errc::truncated);
  CHECK(code_of(read_stream(": keepalive 1/1\n\n")) == errc::truncated);
  CHECK(read_stream(text + chunk("{}", R"("stop")")));
  CHECK(read_stream(text + "data: [DONE]"));
  CHECK(read_stream(text + std::string(done))->text == "a");
  // llama.cpp always gives a reason; without one its [DONE] proves nothing.
  CHECK(code_of(read_stream(text + std::string(done), "llama-server")) == errc::truncated);
  // Cut inside the last event, before and after the proof.
  CHECK(code_of(read_stream(text + R"(data: {"choices":[{"index":0,"del)")) == errc::truncated);
  CHECK(read_stream(text + chunk("{}", R"("length")") + R"(data: {"choices":[],"usage":{"prom)"));
}

TEST_CASE("a stream that ends well without an answer is no empty answer") {
  CHECK(code_of(read_stream(done)) == errc::bad_reply);
  CHECK(code_of(read_stream(event(R"({"choices":[],"usage":{"prompt_tokens":1}})") + std::string(done))) ==
        errc::bad_reply);
}

TEST_CASE("the first reason to finish counts, and failure is none") {
  const std::string text = chunk(R"({"content":"a"})");
  CHECK(read_stream(text + chunk("{}", R"("tool_calls")") + chunk("{}", R"("stop")"))->finish ==
        chat::finish_reason::tool_calls);
  CHECK(read_stream(text + chunk("{}", R"("content_filter")"))->finish ==
        chat::finish_reason::content_filter);
  const auto other = read_stream(text + chunk("{}", R"("eos")"));
  CHECK(other->finish == chat::finish_reason::other);
  CHECK(other->finish_raw == "eos");
  CHECK(code_of(read_stream(text + chunk("{}", R"("error")") + std::string(done))) == errc::backend_fault);
  CHECK(code_of(whole(R"({"choices":[{"message":{"content":"a"},"finish_reason":"abort"}]})")) ==
        errc::backend_fault);
}

TEST_CASE("error events end the stream with their class, and stay") {
  wire::openai_chat_stream decoder(generic());
  REQUIRE(decoder.feed(chunk(R"({"content":"a"})")));
  auto made =
      decoder.feed(event(R"({"error":{"message":"out","type":"overloaded_error"}})") + std::string(done));
  REQUIRE_FALSE(made);
  CHECK(made.error().code == errc::overloaded);
  CHECK(decoder.feed(done).error().code == errc::overloaded);
  CHECK(code_of(decoder.take()) == errc::overloaded);

  CHECK(code_of(read_stream(event(R"({"error":"text"})"))) == errc::backend_fault);
  CHECK(code_of(read_stream("event: error\ndata: {\"code\":500,\"message\":\"x\"}\n\n")) ==
        errc::backend_fault);
  CHECK(code_of(read_stream("error: {\"code\":400,\"message\":\"x\"}\n\n" + std::string(done))) ==
        errc::invalid_request);
  // Without its blank line, at the very end.
  CHECK(code_of(read_stream(chunk("{}", R"("stop")") + R"(data: {"error":{"message":"x","code":503}})")) ==
        errc::overloaded);
  CHECK(read_stream(event(R"({"error":null,"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]})")));
}

TEST_CASE("usage may come never, with a choice, alone, or more than once") {
  const std::string end = chunk(R"({"content":"a"})", R"("stop")");
  const auto never = read_stream(end + std::string(done));
  CHECK_FALSE(never->usage.prompt_tokens);
  CHECK_FALSE(never->usage.cached_tokens);
  CHECK_FALSE(read_stream(end + event(R"({"choices":[],"usage":null})"))->usage.prompt_tokens);

  const auto twice = read_stream(
      event(
          R"({"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}})") +
      event(
          R"({"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,)"
          R"("prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":1}}})"));
  CHECK(twice->usage.prompt_tokens == 9);
  CHECK(twice->usage.completion_tokens == 2);
  CHECK(twice->usage.cached_tokens == 4);
  CHECK(twice->usage.reasoning_tokens == 1);
}

TEST_CASE("cached tokens stand in three places, and null is not 0") {
  const auto cached = [](std::string_view usage) {
    const auto got = whole(R"({"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":)" +
                           std::string(usage) + "}");
    REQUIRE(got);
    return got->usage.cached_tokens;
  };
  CHECK(cached(R"({"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":0}})") == 0);
  CHECK(cached(R"({"prompt_tokens":9,"cached_tokens":3})") == 3);
  CHECK(cached(R"({"prompt_tokens":9,"prompt_cache_hit_tokens":5})") == 5);
  CHECK(cached(R"({"prompt_tokens":9,"cached_tokens":null})") == std::nullopt);
  CHECK(cached(R"({"prompt_tokens":9,"prompt_tokens_details":null})") == std::nullopt);
  CHECK(cached(R"({"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":-1}})") == std::nullopt);
}

TEST_CASE("what carries no token is no first token") {
  wire::openai_chat_stream decoder(generic());
  for (const std::string& quiet :
       {chunk(R"({"role":"assistant","content":""})"), chunk(R"({"role":null,"content":null})"),
        event(R"({"model":"keepalive","choices":[{"index":0,"delta":{"content":"x"}}]})"),
        event(R"({"choices":[{"index":0,"delta":{},"tool_call_generating":true}]})"),
        event(R"({"choices":[{"index":1,"delta":{"content":"another choice"}}]})"),
        event(R"({"choices":[],"usage":{"prompt_tokens":1}})"), std::string(": ping\n\n")}) {
    const auto made = decoder.feed(quiet);
    REQUIRE(made);
    CHECK_FALSE(made->content);
    CHECK(made->text.empty());
  }
  CHECK(decoder.feed(chunk(R"({"reasoning":"hm"})"))->content);
  CHECK(decoder.feed(chunk(R"({"tool_calls":[{"index":0,"function":{"name":"f"}}]})"))->content);
  const auto made = decoder.feed(chunk(R"({"content":"a"})") + chunk(R"({"content":"b"})"));
  CHECK(made->content);
  CHECK(made->text == "ab");
}

TEST_CASE("reasoning has two names, and empty content beside it is an empty answer") {
  const auto one =
      whole(R"({"choices":[{"message":{"content":"","reasoning_content":"r"},"finish_reason":"stop"}]})");
  CHECK(one->text.empty());
  CHECK(one->reasoning == "r");
  const auto both = whole(
      R"({"choices":[{"message":{"content":"a","reasoning_content":"r","reasoning":"r"},"finish_reason":null}]})");
  CHECK(both->reasoning == "r");
  CHECK(both->finish == chat::finish_reason::other);
}

TEST_CASE("a body kept alive with blanks is read, an empty one is not an answer") {
  CHECK(whole("   \n{\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}")->text ==
        "a");
  CHECK(code_of(whole("")) == errc::bad_reply);
  CHECK(code_of(whole("    ")) == errc::bad_reply);
}

TEST_CASE("what is not a chat completion is no answer") {
  for (const char* body :
       {"Not Found", "[]", "{}", R"({"choices":[]})", R"({"choices":null})", R"({"choices":[{}]})",
        R"({"choices":[{"text":"legacy"}]})", R"({"choices":[{"index":1,"message":{"content":"a"}}]})",
        R"({"choices":[{"message":{"content":[1]}}]})", R"({"choices":[{"message":{"content":"a"}}]} x)",
        R"({"choices":[{"message":{"content":"a","tool_calls":[{"function":{"name":"f","arguments":5}}]}}]})",
        R"({"choices":[{"message":{"content":"a","tool_calls":"f"}}]})"}) {
    CAPTURE(body);
    CHECK(code_of(whole(body)) == errc::bad_reply);
  }
  CHECK(code_of(read_stream("data: not json\n\n")) == errc::bad_reply);
  CHECK(code_of(read_stream(chunk(R"({"content":[1]})"))) == errc::bad_reply);
  CHECK(code_of(read_stream(chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":true}}]})"))) ==
        errc::bad_reply);
}

TEST_CASE("a nest of brackets is refused, not followed") {
  CHECK(code_of(whole(std::string(100'000, '['))) == errc::bad_reply);
  CHECK(code_of(whole(R"({"choices":[{"message":{"content":"a"},"x":)" + std::string(200, '[') +
                      std::string(200, ']') + "}]}")) == errc::bad_reply);
}

TEST_CASE("a call that is none, or that never gets a name, is no answer") {
  const std::string end = chunk("{}", R"("tool_calls")");
  for (const std::string call :
       {"5", "null", R"("x")", "[]", "{}", R"({"index":0,"id":"a"})",
        R"({"index":0,"id":"a","function":{"name":"","arguments":"{}"}})", R"({"function":{"name":5}})"}) {
    CAPTURE(call);
    CHECK(code_of(read_stream(chunk("{\"tool_calls\":[" + call + "]}") + end)) == errc::bad_reply);
    CHECK(code_of(whole(R"({"choices":[{"message":{"tool_calls":[)" + call +
                        R"(]},"finish_reason":"tool_calls"}]})")) == errc::bad_reply);
  }
  const std::string begun = R"({"index":0,"id":"a","function":{"name":"f","arguments":"{"}})";
  CHECK(code_of(read_stream(chunk("{\"tool_calls\":[" + begun + ",5]}") + end)) == errc::bad_reply);
  // Null after a call says nothing new about it; a name may come late.
  CHECK(calls_of({begun, "null", R"({"index":0,"function":{"arguments":"}"}})"}) ==
        call_list{{"a", "f", "{}"}});
  CHECK(calls_of({R"({"index":0,"id":"a"})", R"({"index":0,"function":{"name":"f","arguments":"{}"}})"}) ==
        call_list{{"a", "f", "{}"}});
}

TEST_CASE("an error beside the finish reason wins over it") {
  const std::string failed = R"("error":{"message":"slow","code":429},"finish_reason":"stop"}]})";
  const auto streamed = read_stream(chunk(R"({"content":"a"})") +
                                    event(R"({"choices":[{"index":0,"delta":{"content":""},)" + failed));
  CHECK(code_of(streamed) == errc::rate_limited);
  CHECK(streamed.error().backend_words == "slow");
  const auto once = whole(R"({"choices":[{"index":0,"message":{"content":"a"},)" + failed);
  CHECK(code_of(once) == errc::rate_limited);
  CHECK(once.error().backend_words == "slow");
  CHECK(whole(R"({"choices":[{"message":{"content":"a"},"error":null,"finish_reason":"stop"}]})"));
}
