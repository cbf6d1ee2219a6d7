#include <doctest/doctest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string_view>
#include <vector>

#include <evalcore/prefix/dispatch.hpp>
#include <evalcore/prefix/plan.hpp>

using namespace evalcore;

namespace {

std::atomic<std::size_t> held = 0;  ///< Bytes, of this whole program.

void* counted(std::size_t bytes) {
  void* const out = std::malloc(bytes);
  if (out == nullptr) throw std::bad_alloc();
  held += malloc_usable_size(out);
  return out;
}
void give_back(void* what) noexcept {
  held -= malloc_usable_size(what);
  std::free(what);
}

constexpr std::uint32_t requests = 200'000;

/// A prompt of 120 tokens, 100 of them shared by as many requests in a row as `together` says.
std::string_view prompt_at(std::uint32_t at, std::uint32_t together) {
  static std::vector<prefix::unit> tokens;
  tokens.assign(100, static_cast<prefix::unit>(at / together) + 1);
  tokens.insert(tokens.end(), 20, -1 - static_cast<prefix::unit>(at));
  return {reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(prefix::unit)};
}

prefix::plan plan_of(std::uint32_t together) {
  prefix::planner making(prefix::planner::units::tokens, {},
                         [&](std::uint32_t at) { return prompt_at(at, together); });
  for (std::uint32_t at = 0; at < requests; ++at) making.add(prompt_at(at, together));
  return making.finish();
}

/// The most that plan and dispatcher hold while so many requests are answered one after the other.
double bytes_a_request(std::uint32_t together, const prefix::cache_model& cache, std::uint32_t answered) {
  static_cast<void>(prompt_at(0, 1));
  const std::size_t before = held;
  prefix::dispatcher machine(plan_of(together), cache);
  std::size_t most = held;
  for (std::uint32_t sent = 0; sent < answered; ++sent) {
    const auto what = machine.next({});
    REQUIRE(std::holds_alternative<prefix::send>(what));
    const auto item = std::get<prefix::send>(what).item;
    machine.on_first_token(item, {});
    machine.on_end(item, {});
    most = std::max<std::size_t>(most, held);
  }
  return static_cast<double>(most - before) / requests;
}

}  // namespace

// NOLINTBEGIN(misc-new-delete-overloads)
void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t& /*how*/) noexcept { return counted(bytes); }
void operator delete(void* what) noexcept { give_back(what); }
void operator delete(void* what, std::size_t /*bytes*/) noexcept { give_back(what); }
// NOLINTEND(misc-new-delete-overloads)

TEST_CASE("plan and dispatcher keep at most 32 bytes a request, whatever is shared") {
  for (const std::uint32_t together : {1U, 2U, 3U, 100U, requests}) {
    INFO(together, " requests share a prefix");
    const auto one_cache = bytes_a_request(together, {}, requests);
    CHECK(one_cache <= 32);
    CHECK(one_cache > 16);  // What the plan alone takes.
    CHECK(bytes_a_request(together, {.slots = 4}, 1'000) <= 32);
  }
}
