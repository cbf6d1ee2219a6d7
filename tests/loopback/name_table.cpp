#include "loopback/name_table.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

namespace {

struct table {
  std::mutex guard;
  std::map<std::string, std::vector<std::string>> names;
  int lookups = 0;
  std::chrono::milliseconds span{0};
};

table& held() {
  static table one;
  return one;
}

struct entry {
  addrinfo info;
  sockaddr_in address;
};

}  // namespace

namespace evalcore::test {

void set_addresses(const std::string& name, std::vector<std::string> addresses) {
  const std::lock_guard lock(held().guard);
  held().names[name] = std::move(addresses);
}

void set_lookup_time(std::chrono::milliseconds span) {
  const std::lock_guard lock(held().guard);
  held().span = span;
}

int lookups() {
  const std::lock_guard lock(held().guard);
  return held().lookups;
}

}  // namespace evalcore::test

extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** found) {
  std::unique_lock lock(held().guard);
  ++held().lookups;
  const auto span = held().span;
  lock.unlock();
  std::this_thread::sleep_for(span);
  lock.lock();
  const auto known = held().names.find(name == nullptr ? "" : name);
  if (known == held().names.end()) return EAI_NONAME;
  addrinfo* list = nullptr;
  for (auto text = known->second.rbegin(); text != known->second.rend(); ++text) {
    auto* one = new entry{};
    one->address.sin_family = AF_INET;
    one->address.sin_port = htons(static_cast<in_port_t>(std::atoi(service)));
    ::inet_pton(AF_INET, text->c_str(), &one->address.sin_addr);
    one->info.ai_family = AF_INET;
    one->info.ai_socktype = hints == nullptr ? SOCK_STREAM : hints->ai_socktype;
    one->info.ai_addrlen = sizeof(one->address);
    one->info.ai_addr = reinterpret_cast<sockaddr*>(&one->address);
    one->info.ai_next = list;
    list = &one->info;
  }
  *found = list;
  return 0;
}

extern "C" void freeaddrinfo(addrinfo* list) {
  while (list != nullptr) {
    addrinfo* next = list->ai_next;
    delete reinterpret_cast<entry*>(list);
    list = next;
  }
}
