#include "faults/cases.hpp"

namespace evalcore::faults {
namespace {

constexpr std::array all{
    fault{"F01", "429 with Retry-After", retry_after},
    fault{"F02", "statuses that pass", passing_statuses},
    fault{"F03", "statuses that stay", final_statuses},
    fault{"F04", "outage, then back", outage},
    fault{"F05", "disconnects and resets", disconnects},
    fault{"F06", "refused; black hole", no_connection},
    fault{"F07", "20 % packet loss", packet_loss},
    fault{"F08", "64 kbit/s link", slow_link},
    fault{"F09", "delay, jitter, reorder", jitter},
    fault{"F10", "stall within an answer", stalls},
    fault{"F11", "slow first token", slow_first_token},
    fault{"F12", "clean truncation", clean_truncation},
    fault{"F13", "malformed chunk", malformed_chunks},
    fault{"F14", "error object in a 200", errors_within_answers},
    fault{"F15", "SSE framing, every split", stream_framing, true},
    fault{"F16", "UTF-8 split or broken", broken_utf8},
    fault{"F17", "lengths and chunks", http_framing},
    fault{"F18", "header flood", header_floods, true},
    fault{"F19", "gzip bomb", gzip_bombs, true},
    fault{"F20", "endless answer", endless_answers, true},
    fault{"F21", "redirects", redirects},
    fault{"F22", "TLS refused or cut", bad_certificates},
    fault{"F23", "names: none, slow, half dead", names},
    fault{"F24", "JSON edges", json_edges},
};

}  // namespace

std::span<const fault> faults() { return all; }

}  // namespace evalcore::faults
