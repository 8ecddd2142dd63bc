// SPDX-License-Identifier: BSD-3-Clause
#include "request/pieced_exchange.hpp"

#include <algorithm>
#include <utility>

#include "channels/abandon.hpp"
#include "engine/wait/awaited.hpp"
#include "mpi/mpi_usable.hpp"

namespace tonari {
namespace {

std::string side(const char* name, const PiecedCopies::Pieces& pieces) {
  if (pieces.empty()) return "";
  return text(name, " blocks on device ", pieces.front()->number(), " in ", pieces.size(),
              pieces.size() == 1 ? " piece" : " pieces");
}

}  // namespace

PiecedExchange::PiecedExchange(std::shared_ptr<const OwnedComm> comm,
                               std::shared_ptr<const Node> node, double timeout,
                               std::unique_ptr<PiecedCopies> copies, PiecesByMpi messages)
    : PolledExchange(std::move(comm), {true, timeout}),
      node_(std::move(node)),
      copies_(std::move(copies)),
      messages_(std::move(messages)) {}

PiecedExchange::~PiecedExchange() {
  if (!under_way_ || !mpi_usable()) return;
  std::vector<MPI_Request> requests;
  std::vector<bool> sends;
  for (auto* side : {&messages_.out, &messages_.in})
    for (PersistentMessages& piece : *side) piece.give(requests, sends);
  if (abandon(requests, [&](std::size_t k) { return sends[k]; })) leak(std::move(copies_));
}

std::string PiecedExchange::describe(const std::string& why) const {
  if (nothing()) return "";
  const std::string out = side("send", copies_->out()), in = side("receive", copies_->in());
  return text(out, !out.empty() && !in.empty() ? " and " : "", in, " are staged through ",
              copies_->bytes(), " bytes of pinned host memory, because ", why, "\n");
}

// ---- in the order of streams

void PiecedExchange::pack_on(DeviceStream stream) {
  if (nothing()) return;
  copies_->any().check_stream(stream);
  packs_on_ = stream;
}

void PiecedExchange::unpack_on(DeviceStream stream) {
  if (nothing()) return;
  copies_->any().check_stream(stream);
  unpacks_on_ = stream;
  by_stream_ = true;
}

// A test may have unpacked before it was said where.
void PiecedExchange::finish_on(DeviceStream stream) {
  if (!nothing()) copies_->order_behind(stream);
}

void PiecedExchange::check_reach(Shifts shifts) const {
  if (!nothing()) copies_->check_reach(shifts);
}

// ---- exchanging

void PiecedExchange::rebind(Shifts shifts) {
  if (!nothing()) copies_->move_to(shifts);
}

void PiecedExchange::start() {
  const std::optional<DeviceStream> stream = std::exchange(packs_on_, std::nullopt);
  by_stream_ = false;
  done_ = nothing();
  if (done_) return;
  copies_->start_on(stream);
  under_way_ = true;
  (void)advance();
}

bool PiecedExchange::advance() {
  const bool by_stream = by_stream_;
  bool some = copies_->send_packed(messages_);
  some |= copies_->receive_all(messages_);
  some |= copies_->unpack_received(messages_, by_stream ? unpacks_on_ : copies_->unpacks_on());
  under_way_ = under_way_ && !copies_->put(messages_);
  done_ = !under_way_ && (by_stream || copies_->unpacked());
  return some || done_;
}

template <class Use>
void PiecedExchange::for_open_messages(Use use) const {
  for (std::size_t k = 0; k < messages_.out.size(); ++k)
    if (copies_->sends(k)) std::ranges::for_each(messages_.out[k].all(), use);
  for (std::size_t k = 0; k < messages_.in.size(); ++k)
    if (copies_->receives(k)) std::ranges::for_each(messages_.in[k].all(), use);
}

void PiecedExchange::check_peers() const {
  for_open_messages([this](const MpiMessage& m) { check_alive(node_.get(), m.peer); });
}

// ---- what it is

int PiecedExchange::messages() const {
  std::size_t all = 0;
  for (const PersistentMessages& piece : messages_.out) all += piece.all().size();
  return static_cast<int>(all);
}

Bytes PiecedExchange::bytes() const {
  Bytes all = 0;
  for (const PersistentMessages& piece : messages_.out)
    for (const MpiMessage& m : piece.all()) all += static_cast<Bytes>(m.bytes);
  return all;
}

void PiecedExchange::awaits(Awaited& awaited) const {
  awaited.in(call_);
  if (done_) return;
  if (!under_way_) return awaited.note("for its device to copy what has come");
  for_open_messages([&](const MpiMessage& m) {
    awaited.add(m.send ? Awaited::What::taking : Awaited::What::message, node_.get(), m.peer, 0,
                static_cast<Bytes>(m.bytes));
  });
}

}  // namespace tonari
