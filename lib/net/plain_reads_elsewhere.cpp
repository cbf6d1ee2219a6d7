#include "net/plain_reads.hpp"

namespace evalcore::net {

std::unique_ptr<plain_reads> make_plain_reads(boost::asio::io_context& /*context*/) { return nullptr; }

}  // namespace evalcore::net
