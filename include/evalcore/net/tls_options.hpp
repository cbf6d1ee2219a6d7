#pragma once

#include <string>

namespace evalcore::net {

/// How an https server proves who it is. TLS 1.2 or newer, always.
struct tls_options {
  /// A PEM file of the only authorities to trust, intermediate ones and single servers' certificates
  /// included; empty: the system's.
  std::string ca_file;
  /// False lets anybody in between read and change everything. Who sets it records it with the results.
  bool verify = true;
  /// The name that is sent to the server (SNI) and that its certificate must hold, or an IP address, which
  /// is only checked; empty: the URL's host. A dot at its end has no meaning here. A certificate's wildcard
  /// stands for one label, without underscores.
  std::string server_name;
};

}  // namespace evalcore::net
