// F22: what a server shows of itself.
#include "faults/cases.hpp"
#include "faults/tls_server.hpp"

namespace evalcore::faults {

void bad_certificates(const form& how, judge& verdict) {
  const auto bad = static_cast<greeting>(1 + how.number / 4 % 4);
  const bool cut = bad == greeting::hangs_up;
  tls_server server(cut ? std::vector{greeting::good, bad, greeting::good} : std::vector{greeting::good, bad},
                    how);
  setup asks;
  asks.url = server.url();
  asks.how = how;
  asks.tls.ca_file = server.ca_file();
  client host(asks);
  verdict.must(!host.refused(), "the good certificate was refused");
  if (host.refused()) return;
  const auto seen = host.run();
  if (cut) return verdict.answered_after(seen, {errc::transport});
  verdict.failed(seen, {errc::transport}, 1);
  verdict.must(server.requests() == 1, "the prompt went to a server that did not prove itself");
}

}  // namespace evalcore::faults
