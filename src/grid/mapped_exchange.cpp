// SPDX-License-Identifier: BSD-3-Clause
#include "grid/mapped_exchange.hpp"

namespace tonari {

MappedExchange::MappedExchange(GhostMaps& maps, int copy, std::shared_ptr<Exchange> messages,
                               std::shared_ptr<const OwnedComm> comm, WaitPolicy wait)
    : PolledExchange(std::move(comm), wait, std::move(messages)), maps_(maps), copy_(copy) {}

void MappedExchange::start() {
  finished_ = false;
  maps_.turns().publish(copy_);
  inner().start();
  messages_done_ = inner().test();
}

// Messages first: what they bring must be there, and what they take away must have left, before
// anybody goes on.
bool MappedExchange::advance() {
  messages_done_ = messages_done_ || inner().test();
  if (!messages_done_ || !maps_.turns().complete(copy_)) return false;
  maps_.turns().finish(copy_);
  return finished_ = true;
}

void MappedExchange::give_up() {
  maps_.turns().give_up();
  inner().give_up();
}

void MappedExchange::awaits(Awaited& awaited) const {
  if (!messages_done_) inner().awaits(awaited);
  maps_.awaits(copy_, awaited);
}

}  // namespace tonari
