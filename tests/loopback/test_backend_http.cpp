#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include <evalcore/backend/http_backend.hpp>
#include <evalcore/backend/process.hpp>
#include <evalcore/base/json.hpp>

#include "loopback/fault_server.hpp"
#include "unit/backend_probe.hpp"

using namespace evalcore;
using namespace std::chrono_literals;

namespace {

/// The bytes that a real server sent; they announce a close, which then follows.
test::script recorded(const std::string& file) {
  std::ifstream in(EVALCORE_TEST_DATA "/" + file + ".txt", std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  const std::string text = all.str();
  const std::string mark = "===== RESPONSE =====\n";
  const auto begin = text.find(mark);
  REQUIRE_MESSAGE(begin != std::string::npos, file);
  const auto end = text.rfind("\n===== END =====");
  return {test::send(text.substr(begin + mark.size(), end - begin - mark.size())), test::close()};
}

test::script answer(const std::string& head, const std::string& body) {
  return {test::send("HTTP/1.1 " + head + "\r\nContent-Type: application/json\r\nContent-Length: " +
                     std::to_string(body.size()) + "\r\n\r\n" + body)};
}

/// What a llama.cpp server is asked when it is connected to, and then `rest`.
std::vector<test::script> llama(std::vector<test::script> rest) {
  std::vector<test::script> all{recorded("backend/llama_health"), recorded("backend/llama_models"),
                                recorded("backend/llama_props")};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

std::vector<test::script> generic(std::vector<test::script> rest) {
  std::vector<test::script> all{answer("200 OK", R"({"object":"list","data":[{"id":"m"}]})")};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

/// A key in the environment for as long as it lives.
struct key_in_environment {
  static constexpr auto name = "EVALCORE_TEST_HTTP_KEY";
  key_in_environment() { ::setenv(name, "sk-very-secret", 1); }
  ~key_in_environment() { ::unsetenv(name); }
};

/// How to connect to `server` with that key.
backend::http_options with_key(const test::fault_server& server) {
  backend::http_options how;
  how.base_url = server.url();
  how.opens.key_env = key_in_environment::name;
  return how;
}

test::script comments_then_silence() {
  return {test::send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                     ": keepalive 1/2\n\n: keepalive 2/2\n\n"),
          test::stall()};
}

result<std::unique_ptr<backend::backend>> try_connect(net::loop& loop, const test::fault_server& server,
                                                      const char* dialect, std::string model = {}) {
  backend::http_options how;
  how.base_url = server.url() + "/v1";
  how.model = std::move(model);
  how.ways = wire::find_dialect(dialect);
  return backend::connect_openai_url(loop, how);
}

std::unique_ptr<backend::backend> connect(net::loop& loop, const test::fault_server& server,
                                          const char* dialect, std::string model = {}) {
  auto made = try_connect(loop, server, dialect, std::move(model));
  REQUIRE_MESSAGE(made, (made ? std::string() : made.error().message));
  return *std::move(made);
}

json::value body_of(const std::string& request) {
  auto body = json::parse(request.substr(request.find("\r\n\r\n") + 4));
  REQUIRE(body);
  return *std::move(body);
}

std::string first_line(const std::string& request) { return request.substr(0, request.find("\r\n")); }

result<bool> check_tools(net::loop& loop, backend::backend& to) {
  return test::ask<bool>(loop, [&](auto done) {
    to.check_tools({{.name = "get_weather", .description = "Weather of a city", .parameters = "{}"}},
                   std::move(done));
  });
}

std::string completion_with(const std::string& usage) {
  return R"({"choices":[{"index":0,"finish_reason":"length","message":{"role":"assistant","content":"x"}}],"model":"m")" +
         usage + "}";
}

}  // namespace

TEST_CASE("a running llama.cpp server is described") {
  net::loop loop;
  test::fault_server server(llama({}));
  const auto made = connect(loop, server, "llama-server");
  const auto& about = made->about();
  CHECK(about.selector == "openai-url");
  CHECK(about.model == "smol");
  CHECK(about.sent_model == "smol");
  CHECK(about.slots == 4U);
  CHECK(about.context_per_slot == 2048U);
  // Python's hashlib on the template in the recording.
  CHECK(about.identity.at("chat_template") ==
        "872be49dbb638044ad01b60388f48d469ff2980e5f0dccdc22ec907db54d0788");
  CHECK(about.identity.contains("build"));
  CHECK(about.identity.at("model") == "smol");
  const auto can = made->can();
  CHECK(can.tokenize == backend::ability::yes);
  CHECK(can.slot_pinning == backend::ability::yes);
  CHECK(can.share_prefix == backend::ability::unknown);
  CHECK(can.cached_tokens == backend::ability::yes);
  const auto requests = server.requests();
  REQUIRE(requests.size() == 3);
  CHECK(first_line(requests[0]) == "GET /health HTTP/1.1");
  CHECK(first_line(requests[1]) == "GET /v1/models HTTP/1.1");
  CHECK(first_line(requests[2]) == "GET /props HTTP/1.1");
}

TEST_CASE("a streamed answer is assembled and timed") {
  net::loop loop;
  test::fault_server server(llama({recorded("captures/llama_chat_stream_usage")}));
  const auto made = connect(loop, server, "llama-server");
  const auto one = test::start(loop, *made, test::user_says("Say hi in one word."));
  const auto reply = one.sink->wait();
  REQUIRE(reply);
  CHECK(reply->text == "I'm sorry for");
  CHECK(one.sink->text == "I'm sorry for");
  CHECK(one.sink->first_tokens == 1);
  CHECK(reply->finish == chat::finish_reason::length);
  CHECK(reply->usage.prompt_tokens == 36U);
  CHECK(reply->usage.cached_tokens == 35U);
  CHECK(reply->usage.completion_tokens == 4U);
  REQUIRE(reply->timing.first_token);
  CHECK(*reply->timing.first_token <= *reply->timing.total);
  const auto sent = body_of(server.requests().back());
  CHECK(*sent.find("stream")->if_bool());
  CHECK(*sent.find("model")->if_string() == "smol");
}

TEST_CASE("a server that ignores stream is read as a whole") {
  net::loop loop;
  test::fault_server server(llama({recorded("captures/llama_chat")}));
  const auto made = connect(loop, server, "llama-server");
  const auto one = test::start(loop, *made, test::user_says("Say hi in one word."));
  const auto reply = one.sink->wait();
  REQUIRE(reply);
  CHECK_FALSE(reply->text.empty());
  CHECK_FALSE(reply->timing.first_token);
  CHECK(reply->timing.total);
  CHECK(one.sink->first_tokens == 0);
}

TEST_CASE("a whole answer that repeats the turn which the request began has the text of the stream") {
  net::loop loop;
  auto request = test::user_says("Count from one to twenty in words.");
  request.messages.push_back(test::turn(chat::role::assistant, "One, two,"));
  // What llama.cpp's server answers to this, at temperature 0 and with 12 tokens.
  const auto saying = [](const std::string& text) {
    return R"({"choices":[{"finish_reason":"length","message":{"role":"assistant","content":")" + text +
           "\"}}]}";
  };
  const auto repeats = saying("One, two, three, four, five, six, seven, eight,");
  const auto text = [&](const char* dialect, const std::string& body) {
    auto script = std::string_view(dialect) == "llama-server" ? llama({answer("200 OK", body)})
                                                              : generic({answer("200 OK", body)});
    test::fault_server server(std::move(script));
    const auto made = connect(loop, server, dialect);
    const auto reply = test::start(loop, *made, request).sink->wait();
    REQUIRE(reply);
    return reply->text;
  };
  CHECK(text("llama-server", repeats) == " three, four, five, six, seven, eight,");
  CHECK(text("llama-server", saying(" three, four")) == " three, four");
  CHECK(text("generic", repeats) == "One, two, three, four, five, six, seven, eight,");
  request.messages.pop_back();
  CHECK(text("llama-server", repeats) == "One, two, three, four, five, six, seven, eight,");
}

TEST_CASE("refusals keep their class, status, words and the time to wait") {
  net::loop loop;
  test::fault_server server(llama(
      {recorded("captures/llama_err_ctx_chat_stream"),
       answer("429 Too Many Requests\r\nRetry-After: 7",
              R"({"error":{"message":"slow down","type":"rate_limit"}})"),
       answer("200 OK", R"({"error":{"message":"Loading model","type":"unavailable_error","code":503}})")}));
  const auto made = connect(loop, server, "llama-server");
  const auto overflow = test::start(loop, *made, test::user_says("long")).sink->wait();
  REQUIRE_FALSE(overflow);
  CHECK(overflow.error().code == errc::context_overflow);
  CHECK(overflow.error().http_status == 400);
  CHECK(overflow.error().backend_words.starts_with("request (731 tokens) exceeds"));
  const auto limited = test::start(loop, *made, test::user_says("hi")).sink->wait();
  CHECK(limited.error().code == errc::rate_limited);
  CHECK(limited.error().retry_after == 7s);
  const auto inside = test::start(loop, *made, test::user_says("hi")).sink->wait();
  CHECK(inside.error().code == errc::overloaded);
}

TEST_CASE("a stream that breaks off is no answer") {
  net::loop loop;
  const std::string begun =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3e\r\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n\r\n";
  const std::string unfinished =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n";
  test::fault_server server(
      generic({{test::send(begun), test::close()},
               {test::send(unfinished), test::close()},
               {test::send(begun), test::reset()},
               {test::send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {]\n\n"),
                test::stall()}}));
  const auto made = connect(loop, server, "generic");
  CHECK(test::start(loop, *made, test::user_says("hi")).sink->wait().error().code == errc::truncated);
  CHECK(test::start(loop, *made, test::user_says("hi")).sink->wait().error().code == errc::truncated);
  CHECK(test::start(loop, *made, test::user_says("hi")).sink->wait().error().code == errc::transport);
  // Not the protocol: given up at once, though the server would go on.
  CHECK(test::start(loop, *made, test::user_says("hi")).sink->wait().error().code == errc::bad_reply);
}

TEST_CASE("a server that lists its model but never answers a chat is a timeout") {
  net::loop loop;
  test::fault_server server(generic({{test::stall()}, comments_then_silence()}));
  backend::http_options how;
  how.base_url = server.url();
  how.deadlines.first_byte = 150ms;
  how.deadlines.idle = 150ms;
  const auto made = backend::connect_openai_url(loop, how);
  REQUIRE(made);
  const auto mute = test::start(loop, **made, test::user_says("hi")).sink->wait();
  CHECK(mute.error().code == errc::timeout);
  CHECK(mute.error().at == stage::first_byte);
  // Comments first, then silence.
  const auto fell_silent = test::start(loop, **made, test::user_says("hi")).sink->wait();
  CHECK(fell_silent.error().code == errc::timeout);
  CHECK(fell_silent.error().at == stage::body);
}

TEST_CASE(
    "a server that is silent for five seconds is a timeout after one, streamed or not, waited for or not") {
  net::loop loop;
  const auto after_one_second = [](const auto& ask) {
    const auto began = std::chrono::steady_clock::now();
    const auto outcome = ask();
    const double took = seconds(std::chrono::steady_clock::now() - began);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == errc::timeout);
    CHECK(took > 0.8);
    CHECK(took < 1.2);
  };
  backend::http_options how;
  how.deadlines.first_byte = 1s;
  for (const bool stream : {true, false}) {
    how.stream = stream;
    test::fault_server server(generic({{test::pause(5s)}}));
    how.base_url = server.url();
    const auto made = backend::connect_openai_url(loop, how);
    REQUIRE(made);
    after_one_second([&] { return test::start(loop, **made, test::user_says("hi")).sink->wait(); });
  }
  test::fault_server mute({{test::pause(5s)}});
  how.base_url = mute.url();
  after_one_second([&] { return backend::connect_openai_url(loop, how); });
}

TEST_CASE("a server that hangs up instead of answering is a transport error") {
  net::loop loop;
  test::fault_server server(generic({{test::close()}}));
  const auto made = connect(loop, server, "generic");
  const auto outcome = test::start(loop, *made, test::user_says("hi")).sink->wait();
  CHECK(outcome.error().code == errc::transport);
  CHECK(outcome.error().message.find("without an answer") != std::string::npos);
}

TEST_CASE("cancelling closes the socket, says nothing more and ends once") {
  net::loop loop;
  test::fault_server server(
      generic({{test::send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                           "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n"),
                test::stall()}}));
  const auto made = connect(loop, server, "generic");
  const auto one = test::start(loop, *made, test::user_says("hi"));
  one.sink->wait_for_first_token();
  loop.run_and_wait([&] {
    made->cancel(one.ticket);
    made->cancel(one.ticket);
    CHECK(one.sink->ends == 0);
  });
  CHECK(one.sink->wait().error().code == errc::cancelled);
  for (int turn = 0; turn < 500 && server.closed_by_client() == 0; ++turn) std::this_thread::sleep_for(10ms);
  CHECK(server.closed_by_client() == 1);
  loop.run_and_wait([] {});
  CHECK(one.sink->ends == 1);
}

TEST_CASE("closing the backend ends what is open") {
  net::loop loop;
  test::fault_server server(generic({{test::stall()}}));
  auto made = connect(loop, server, "generic");
  const auto one = test::start(loop, *made, test::user_says("hi"));
  made.reset();
  CHECK(one.sink->wait().error().code == errc::closed);
  CHECK(one.sink->ends == 1);
}

TEST_CASE("the text of a prompt comes from the server's template") {
  net::loop loop;
  test::fault_server server(llama({recorded("backend/llama_template_plain")}));
  const auto made = connect(loop, server, "llama-server");
  const auto text =
      test::ask<std::string>(loop, [&](auto done) { made->render(test::user_says("hi"), std::move(done)); });
  REQUIRE(text);
  CHECK(*text ==
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
}

TEST_CASE("tokenize sends the chat request through the template") {
  net::loop loop;
  test::fault_server server(
      llama({recorded("backend/llama_template_plain"), recorded("backend/llama_tokenize_ids")}));
  const auto made = connect(loop, server, "llama-server");
  const auto tokens = test::ask<std::vector<backend::token>>(
      loop, [&](auto done) { made->tokenize(test::user_says("hi"), std::move(done)); });
  REQUIRE(tokens);
  CHECK(*tokens == std::vector<backend::token>{1, 4093, 198, 6004, 2, 198});
  const auto requests = server.requests();
  REQUIRE(requests.size() == 5);
  CHECK(first_line(requests[3]) == "POST /apply-template HTTP/1.1");
  CHECK(json::to_text(*body_of(requests[3]).find("messages")) == R"([{"role":"user","content":"hi"}])");
  CHECK(first_line(requests[4]) == "POST /tokenize HTTP/1.1");
  const auto asked = body_of(requests[4]);
  CHECK(*asked.find("content")->if_string() ==
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
  CHECK(*asked.find("add_special")->if_bool());
  CHECK(*asked.find("parse_special")->if_bool());
}

TEST_CASE("sharing saves one slot and restores it into each of the others") {
  net::loop loop;
  test::fault_server server(
      llama({recorded("backend/llama_tools_slot_save"), recorded("backend/llama_tools_slot_restore"),
             recorded("backend/llama_tools_slot_restore"),
             answer("501 Not Implemented", R"({"error":{"code":501,"message":"no","type":"x"}})")}));
  const auto made = connect(loop, server, "llama-server");
  const auto share = [&] {
    return test::ask<void>(loop, [&](auto done) { made->share_prefix(2, {0, 3}, std::move(done)); });
  };
  CHECK(share());
  const auto requests = server.requests();
  REQUIRE(requests.size() == 6);
  CHECK(first_line(requests[3]) == "POST /slots/2?action=save HTTP/1.1");
  CHECK(first_line(requests[4]) == "POST /slots/0?action=restore HTTP/1.1");
  CHECK(first_line(requests[5]) == "POST /slots/3?action=restore HTTP/1.1");
  const auto body = body_of(requests[3]);
  const auto file = *body.find("filename")->if_string();
  CHECK(file.find('/') == std::string::npos);
  CHECK(file.size() > 16);
  CHECK(body_of(requests[4]) == body);
  CHECK(body_of(requests[5]) == body);
  CHECK(share().error().code == errc::unsupported);
}

TEST_CASE("tools that the template drops are noticed") {
  net::loop loop;
  test::fault_server dropping(
      llama({recorded("backend/llama_template_plain"), recorded("backend/llama_template_tools_dropped")}));
  const auto silent = connect(loop, dropping, "llama-server");
  const auto dropped = check_tools(loop, *silent);
  REQUIRE(dropped);
  CHECK_FALSE(*dropped);
  CHECK(body_of(dropping.requests().back()).find("tools")->if_array()->size() == 1);

  test::fault_server keeping(
      llama({recorded("backend/llama_template_plain"), recorded("backend/llama_template_tools_kept")}));
  const auto honest = connect(loop, keeping, "llama-server");
  const auto kept = check_tools(loop, *honest);
  REQUIRE(kept);
  CHECK(*kept);
}

TEST_CASE("where nothing renders, prompt tokens tell whether tools arrive") {
  net::loop loop;
  const auto usage = [](int tokens) {
    return answer("200 OK", completion_with(R"(,"usage":{"prompt_tokens":)" + std::to_string(tokens) +
                                            R"(,"completion_tokens":1,"total_tokens":1})"));
  };
  test::fault_server server(
      generic({usage(10), usage(90), usage(10), usage(10), answer("200 OK", completion_with(""))}));
  const auto made = connect(loop, server, "generic");
  CHECK(check_tools(loop, *made).value_or(false));
  CHECK_FALSE(check_tools(loop, *made).value_or(true));
  CHECK(check_tools(loop, *made).error().code == errc::unsupported);
  const auto asked = body_of(server.requests().at(1));
  CHECK(*asked.find("max_tokens")->if_int() == 1);
}

TEST_CASE("what the dialect lacks is unsupported and not tried") {
  net::loop loop;
  test::fault_server server(generic({}));
  const auto made = connect(loop, server, "generic");
  const auto tokens = test::ask<std::vector<backend::token>>(
      loop, [&](auto done) { made->tokenize(test::user_says("hi"), std::move(done)); });
  CHECK(tokens.error().code == errc::unsupported);
  const auto shared = test::ask<void>(loop, [&](auto done) { made->share_prefix(0, {1}, std::move(done)); });
  CHECK(shared.error().code == errc::unsupported);
  CHECK(made->can().slot_pinning == backend::ability::no);
  CHECK(made->can().cached_tokens == backend::ability::unknown);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("a URL that refuses is named with the mend") {
  net::loop loop;
  const auto port = backend::free_port();
  REQUIRE(port);
  backend::http_options how;
  how.base_url = "http://127.0.0.1:" + std::to_string(*port) + "/v1";
  const auto made = backend::connect_openai_url(loop, how);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == errc::transport);
  CHECK(made.error().message == "cannot reach http://127.0.0.1:" + std::to_string(*port) +
                                    ": connection refused; is the server running?");
}

TEST_CASE("a server that is loading, wants a key or is none of OpenAI's kind says so") {
  net::loop loop;
  test::fault_server loading({recorded("backend/llama_loading_health_503")});
  const auto busy = try_connect(loop, loading, "llama-server");
  CHECK(busy.error().code == errc::overloaded);
  CHECK(busy.error().message ==
        loading.url() + " answers HTTP 503: it is busy or still loading; try again when it is ready");
  test::fault_server locked({recorded("backend/llama_tools_unauth_models")});
  const auto shut = try_connect(loop, locked, "generic");
  CHECK(shut.error().code == errc::auth);
  CHECK(shut.error().message == locked.url() + " answers HTTP 401; it wants an API key");
  test::fault_server other({answer("404 Not Found", "<html>")});
  CHECK(try_connect(loop, other, "generic").error().message ==
        other.url() + " answers HTTP 404 to GET /v1/models; is it a server of this API?");
}

TEST_CASE("a model is taken from a list of one and asked for otherwise") {
  net::loop loop;
  test::fault_server none({answer("200 OK", R"({"data":[]})")});
  CHECK(try_connect(loop, none, "generic").error().message ==
        none.url() + " lists no model; name one with --model");
  test::fault_server two({answer("200 OK", R"({"data":[{"id":"a"},{"id":"b"}]})")});
  const auto unclear = try_connect(loop, two, "generic");
  CHECK(unclear.error().code == errc::invalid_argument);
  CHECK(unclear.error().message == two.url() + " lists 2 models (a, b); name one with --model");
  CHECK(connect(loop, two, "generic", "b")->about().model == "b");
}

TEST_CASE("what is asked before a run is asked again as long as the caller has patience") {
  net::loop loop;
  test::fault_server server({answer("429 Too Many Requests\r\nRetry-After: 7", "{}"),
                             answer("503 Service Unavailable", "{}"),
                             answer("200 OK", R"({"object":"list","data":[{"id":"m"}]})")});
  backend::http_options how;
  how.base_url = server.url();
  std::vector<error> heard;
  std::vector<std::uint32_t> counted;
  how.again = [&](error& why, std::uint32_t failures, duration since) -> std::optional<duration> {
    heard.push_back(why);
    counted.push_back(failures);
    CHECK(since >= 50ms * (failures - 1));
    return 50ms;
  };
  const auto made = backend::connect_openai_url(loop, how);
  REQUIRE(made);
  CHECK((*made)->about().model == "m");
  REQUIRE(heard.size() == 2);
  CHECK(heard[0].code == errc::rate_limited);
  CHECK(heard[0].retry_after == 7s);
  CHECK(heard[0].message == server.url() + " answers HTTP 429: it has had too many requests");
  CHECK(heard[1].code == errc::overloaded);
  CHECK(counted == std::vector<std::uint32_t>{1, 2});
  CHECK(server.requests().size() == 3);
}

TEST_CASE("patience that ends says why; a wait before a run can be interrupted") {
  net::loop loop;
  test::fault_server server({answer("503 Service Unavailable", "{}")});
  backend::http_options how;
  how.base_url = server.url();
  how.again = [](error& why, std::uint32_t failures, duration) -> std::optional<duration> {
    if (failures < 3) return 1ms;
    why.message += "; enough";
    return std::nullopt;
  };
  const auto ended = backend::connect_openai_url(loop, how);
  REQUIRE_FALSE(ended);
  CHECK(ended.error().code == errc::overloaded);
  CHECK(ended.error().message.ends_with("; enough"));
  CHECK(server.requests().size() == 3);

  std::stop_source stop;
  how.again = [&](error&, std::uint32_t, duration) -> std::optional<duration> {
    stop.request_stop();
    return 1h;
  };
  CHECK(backend::connect_openai_url(loop, how, stop.get_token()).error().code == errc::cancelled);
  CHECK(server.requests().size() == 4);
}

TEST_CASE("the key goes into each request and into no message") {
  net::loop loop;
  const key_in_environment set;
  test::fault_server server(generic(
      {answer("401 Unauthorized", R"({"error":{"message":"Incorrect API key provided: sk-very-secret"}})")}));
  const auto made = backend::connect_openai_url(loop, with_key(server));
  REQUIRE(made);
  const auto refused = test::start(loop, **made, test::user_says("hi")).sink->wait();
  CHECK(refused.error().code == errc::auth);
  CHECK(refused.error().backend_words == "Incorrect API key provided: [hidden]");
  CHECK(refused.error().message.find("secret") == std::string::npos);
  for (const auto& request : server.requests()) {
    CHECK(request.find("Authorization: Bearer sk-very-secret\r\n") != std::string::npos);
  }
  for (const auto& [key, value] : (*made)->about().identity) CHECK(value.find("secret") == std::string::npos);
}

TEST_CASE("a server that says a key is its model is left, and tells it to nobody") {
  net::loop loop;
  const key_in_environment set;
  for (const char* list :
       {R"({"data":[{"id":"sk-very-secret"}]})", R"({"data":[{"id":"sk-very-secret"},{"id":"b"}]})"}) {
    const test::fault_server server({answer("200 OK", list)});
    const auto made = backend::connect_openai_url(loop, with_key(server));
    REQUIRE_FALSE(made);
    CHECK(made.error().message.find("sk-very-secret") == std::string::npos);
  }
}

TEST_CASE("a key in what a reply says of itself is hidden") {
  net::loop loop;
  const key_in_environment set;
  const test::fault_server server(generic({answer(
      "200 OK",
      R"({"model":"sk-very-secret","choices":[{"index":0,"finish_reason":"stop","message":{"content":"hi"}}]})")}));
  const auto made = backend::connect_openai_url(loop, with_key(server));
  REQUIRE(made);
  const auto reply = test::start(loop, **made, test::user_says("hi")).sink->wait();
  REQUIRE(reply);
  CHECK(reply->model == "[hidden]");
  CHECK(reply->text == "hi");
}

TEST_CASE("a web page is named for what it is; an answer that calls itself one is still an answer") {
  net::loop loop;
  const auto as_html = [](const std::string& body) {
    return test::script{
        test::send("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: " +
                   std::to_string(body.size()) + "\r\n\r\n" + body)};
  };
  const test::fault_server server(generic({
      as_html("\n<!doctype html><title>Sign in</title>"),
      as_html(
          "data: {\"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"delta\":{\"content\":\"hi\"}}]}\n\n"
          "data: [DONE]\n\n"),
  }));
  const auto made = connect(loop, server, "generic");
  const auto page = test::start(loop, *made, test::user_says("hi")).sink->wait();
  REQUIRE_FALSE(page);
  CHECK(page.error().code == errc::bad_reply);
  CHECK(page.error().message.find("a web page (text/html)") != std::string::npos);
  const auto reply = test::start(loop, *made, test::user_says("hi")).sink->wait();
  REQUIRE(reply);
  CHECK(reply->text == "hi");
}

TEST_CASE("connecting can be interrupted") {
  net::loop loop;
  test::fault_server server({{test::stall()}});
  backend::http_options how;
  how.base_url = server.url();
  std::stop_source stop;
  std::jthread interrupt([&] {
    while (server.requests().empty()) std::this_thread::sleep_for(5ms);
    stop.request_stop();
  });
  const auto made = backend::connect_openai_url(loop, how, stop.get_token());
  CHECK(made.error().code == errc::cancelled);
}

TEST_CASE("Anthropic's messages are spoken with the key and the version in their headers") {
  net::loop loop;
  const key_in_environment set;
  const auto connect_with = [&](const test::fault_server& server, const char* dialect, auto version) {
    auto how = with_key(server);
    how.model = "m";
    how.ways = wire::find_dialect(dialect);
    how.version = version;
    return backend::connect_anthropic_url(loop, how);
  };
  const auto list = answer("200 OK", R"({"data":[{"id":"m"}]})");
  const auto refusal = answer(
      "529 Overloaded", R"({"type":"error","error":{"type":"overloaded_error","message":"sk-very-secret"}})");
  test::fault_server server({list, refusal});
  const auto made = connect_with(server, "anthropic", wire::anthropic_version::v2023_06_01);
  REQUIRE(made);
  CHECK((*made)->about().selector == "anthropic-url");
  const auto refused = test::start(loop, **made, test::user_says("hi")).sink->wait();
  CHECK(refused.error().code == errc::overloaded);
  CHECK(refused.error().backend_words == "[hidden]");
  REQUIRE(server.requests().size() == 2);
  CHECK(server.requests()[0].starts_with("GET /v1/models HTTP/1.1\r\n"));
  CHECK(server.requests()[1].starts_with("POST /v1/messages HTTP/1.1\r\n"));
  for (const auto& request : server.requests()) {
    CHECK(request.find("x-api-key: sk-very-secret\r\n") != std::string::npos);
    CHECK(request.find("anthropic-version: 2023-06-01\r\n") != std::string::npos);
    CHECK(request.find("Authorization") == std::string::npos);
  }
  test::fault_server newer({list, refusal});
  const auto late = connect_with(newer, "anthropic", wire::anthropic_version::v2026_10_21);
  REQUIRE(late);
  CHECK_FALSE(test::start(loop, **late, test::user_says("hi")).sink->wait());
  CHECK(newer.requests()[1].find("anthropic-version: 2026-10-21\r\n") != std::string::npos);
  CHECK(newer.requests()[1].find("temperature") == std::string::npos);
}

TEST_CASE("a real server's stream of Anthropic events becomes a reply") {
  net::loop loop;
  auto scripts = llama({recorded("captures/llama_messages_stream")});
  scripts.erase(scripts.begin() + 1);  // The model is named.
  test::fault_server server(scripts);
  backend::http_options how;
  how.base_url = server.url();
  how.model = "m";
  how.ways = wire::find_dialect("llama-server");
  const auto made = backend::connect_anthropic_url(loop, how);
  REQUIRE_MESSAGE(made, (made ? std::string() : made.error().message));
  CHECK((*made)->can().slot_pinning == backend::ability::no);
  const auto one = test::start(loop, **made, test::user_says("hi"));
  const auto reply = one.sink->wait();
  REQUIRE_MESSAGE(reply, (reply ? std::string() : reply.error().message));
  CHECK(one.sink->text == reply->text);
  CHECK(one.sink->first_tokens == 1);
  CHECK(reply->finish_raw == "max_tokens");
  CHECK(reply->text.starts_with("Hello there"));
}

TEST_CASE("a server that answers before its model is there is not ready") {
  net::loop loop;
  test::fault_server server({answer("200 OK", R"({"status":"healthy","model_loaded":false})")});
  const auto early = try_connect(loop, server, "vllm-mlx", "m");
  CHECK(early.error().code == errc::overloaded);
  CHECK(early.error().message ==
        server.url() + " answers HTTP 200: it is busy or still loading; try again when it is ready");
}

TEST_CASE("a server that ignores tools is not asked, and a request that needs them is refused unsent") {
  net::loop loop;
  test::fault_server server(generic({}));
  const auto made = connect(loop, server, "posttrainllm");
  const std::size_t asked = server.requests().size();
  CHECK_FALSE(check_tools(loop, *made).value_or(true));
  auto request = test::user_says("hi");
  CHECK(made->check(request));
  request.tools = {{.name = "f", .description = "", .parameters = "{}"}};
  const auto outcome = test::start(loop, *made, request).sink->wait();
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == errc::unsupported);
  const auto foreseen = made->check(request);
  REQUIRE_FALSE(foreseen);
  CHECK(foreseen.error().code == errc::unsupported);
  CHECK(foreseen.error().message == outcome.error().message);
  CHECK(server.requests().size() == asked);
}

TEST_CASE("the reply lists what the server does not honour") {
  net::loop loop;
  test::fault_server server(generic({answer("200 OK", completion_with(""))}));
  const auto made = connect(loop, server, "posttrainllm");
  auto request = test::user_says("hi");
  request.params.seed = 7;
  const auto outcome = test::start(loop, *made, request).sink->wait();
  REQUIRE(outcome);
  CHECK(outcome->dropped == std::vector<std::string>{"seed"});
  CHECK(body_of(server.requests().back()).find("seed") == nullptr);
}
