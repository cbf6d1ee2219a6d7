#include <evalcore/pool/goodput_window.hpp>

namespace evalcore::pool {

void goodput_window::add(const goodput_sample& one) {
  ends_ += 1;
  tokens_ += one.tokens;
  life_ += one.life;
  load_ += one.load;
  if (!one.first_token) return;
  first_tokens_ += 1;
  first_token_sum_ += *one.first_token;
}

void goodput_window::fade(double factor) {
  for (double* sum : {&ends_, &tokens_, &life_, &load_, &first_tokens_, &first_token_sum_}) *sum *= factor;
}

void goodput_window::add(const goodput_window& other) {
  ends_ += other.ends_;
  tokens_ += other.tokens_;
  life_ += other.life_;
  load_ += other.load_;
  first_tokens_ += other.first_tokens_;
  first_token_sum_ += other.first_token_sum_;
}

double goodput_window::speed() const noexcept { return life_ > 0 ? tokens_ / life_ : 0; }

double goodput_window::in_flight() const noexcept { return life_ > 0 ? load_ / life_ : 0; }

std::optional<double> goodput_window::first_token() const noexcept {
  if (first_tokens_ <= 0) return std::nullopt;
  return first_token_sum_ / first_tokens_;
}

}  // namespace evalcore::pool
