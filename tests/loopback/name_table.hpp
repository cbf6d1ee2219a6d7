#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace evalcore::test {

/// In a program that this is linked into, the system's resolver knows `name` by these IPv4 addresses, in
/// this order, and no other name: getaddrinfo() itself is replaced. Not for numeric hosts, which are never
/// looked up.
void set_addresses(const std::string& name, std::vector<std::string> addresses);

/// How long each lookup takes from now on.
void set_lookup_time(std::chrono::milliseconds span);

/// How often a name was looked up.
[[nodiscard]] int lookups();

}  // namespace evalcore::test
