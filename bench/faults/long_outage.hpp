#pragma once

namespace evalcore::faults {

/// Attempts for each of 1,000 items when the server is away for 10 s with 64 requests in flight, with the
/// product's own delays: the larger of two such outages, side by side, in which nobody listens, and in which
/// every request is answered with 503. An item that is not answered makes it infinite.
[[nodiscard]] double requests_per_item_over_outage();

}  // namespace evalcore::faults
