#pragma once

#include <string>

namespace evalcore::faults {

/// Gives this process, which must have one thread, a network of its own: nothing but a loopback device, gone
/// with the process. Needs root or user namespaces. False: this machine does not allow it.
[[nodiscard]] bool enter_own_network();

/// Packet rules of nftables for what arrives at that loopback device, such as "tcp dport 80 drop". False: it
/// could not be done.
[[nodiscard]] bool filter_packets(const std::string& rules);

/// Runs a program of iproute2 (tc, ip) with its arguments. False: it failed.
[[nodiscard]] bool run_tool(const std::string& command);

}  // namespace evalcore::faults
