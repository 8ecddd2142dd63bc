// SPDX-License-Identifier: BSD-3-Clause
// The one-shot calls of a neighborhood, by streams: no call asks the other ranks anything (ADR 20).
// What a call's arguments mean is read once and remembered; a call that comes again compares them,
// and then only moves data.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "base/most_recent.hpp"
#include "engine/comm/call_record.hpp"
#include "engine/comm/recorded_exchange.hpp"
#include "neighborhood/one_shot_call.hpp"
#include "one_shot/direct_exchange.hpp"
#include "one_shot/hop_exchange.hpp"
#include "request/agree_on_arguments.hpp"
#include "request/prepared.hpp"

namespace tonari {

class OneShots {
 public:
  // hops: made with the streams.
  OneShots(std::shared_ptr<Context> context, std::shared_ptr<Streams> streams, HopTable hops,
           WaitPolicy wait);

  // Reads what a call needs, so that it fails on no rank alone.
  void expect(const Call& call, bool for_request);
  // Takes over the records of the calls before, and what they were told.
  void go_on_from(OneShots& before) {
    records_ = std::move(before.records_);
    blocking_.hear_notices(*before.streams_);
  }
  Streams& streams() { return *streams_; }

  // Throw what is wrong here, or at a neighbor, once the exchange is over.
  void run(const Call& call);
  // To be started, for a request.
  std::shared_ptr<Prepared> prepare(const Call& call, Output output);

 private:
  struct Started {
    std::shared_ptr<Prepared> prepared;
    DirectExchange* direct = nullptr;  // the exchange is this, or the next
    HopExchange* hops = nullptr;
    RecordedExchange* recorded = nullptr;  // around it, with a report
  };
  struct Pool {
    std::vector<Started> all;  // their requests are used again
    std::size_t next = 0;
  };
  using Records = std::array<std::shared_ptr<CallRecord>, operations>;

  OneShotCall& known(const Call& call);
  [[gnu::noinline]] OneShotCall& read(const Call& call);
  OneShotCall& known_and_idle(const Call& call);
  std::shared_ptr<Prepared> staged(const std::shared_ptr<Prepared>& moves,
                                   const std::shared_ptr<StagedCall>& call_of,
                                   const Call& call) const;
  const HopTable::Row* row_of(const Call& call) const;
  const HopTable::Row* row_unread(const Call& call) const;
  void refuse(const Call& call, const Error& why);
  Started& idle(const HopTable::Row* row);
  Started made(const HopTable::Row* row);
  void run_recorded(const Call& call);
  std::shared_ptr<CallRecord> record_of(const Call& call) noexcept;

  std::shared_ptr<Context> context_;
  std::shared_ptr<Streams> streams_;
  WaitPolicy wait_;
  SelfEdges self_;
  MostRecent<std::shared_ptr<OneShotCall>, 16> known_;
  HopTable hops_;
  DirectExchange blocking_;
  HopExchange combining_;
  // By operation, of the last call whose count or type could be read.
  std::array<const HopTable::Row*, operations> last_rows_{};
  std::unique_ptr<Records> records_;  // null: there is no report
  std::array<Pool, 3> started_;       // those that go straight, and by operation that combine
};

// The first one-shot calls of a neighborhood, which go by plain messages (ADR 60).
struct FirstOneShots {
  std::unique_ptr<OneShots> calls;
  WaitPolicy wait;
  Tune tune = Tune::online;
  // Calls until ranks connect, the same on all ranks; -1: they tried, and it failed.
  int left = 0;
};

}  // namespace tonari
