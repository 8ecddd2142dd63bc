// SPDX-License-Identifier: BSD-3-Clause
// An exchange ready to be started, what tonari_request_get_info reports about it, and the handle of
// a program's request that starts it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "engine/comm/context.hpp"
#include "engine/comm/recorded.hpp"
#include "engine/tune/online_exchange.hpp"
#include "engine/wait/exchange.hpp"
#include "engine/wait/in_flight.hpp"
#include "request/arrivals.hpp"
#include "request/start_buffers.hpp"
#include "select/evidence.hpp"
#include "tonari/tonari.h"

namespace tonari {
struct Prepared;
class StreamOrdered;
}  // namespace tonari

struct tonari_request_s {
  std::shared_ptr<tonari::Prepared> prepared;
  bool active = false;
  bool one_shot = false;  // from a non-blocking call: it cannot be started again
  bool may_go = false;    // completed together with one that failed: it may be freed
};

namespace tonari {

// Starts a request with other buffers. Local. function: of the C interface, which the program has
// called; it takes the buffers of some kinds of requests only. Throws what that says.
void start_with(tonari_request request, const char* function, const void* const buffers[]);

// What is run, and how that was found out, as far as it is reported.
struct ChoiceReport : Evidence {
  std::string algorithm, variant, channel, channel_detail;
  double predicted = 0, lost = 0;  // seconds
  int rounds = 0;
  bool undecided = false;  // starts may have found out more than was told

  void name(const Candidate& candidate);  // it is run
  using Evidence::follow;
  void follow(const OnlineExchange& race);  // what starts have found out so far
  void add(const ChoiceReport& next);       // which runs after this one
};

// A request's handle shares this with the neighborhood, which keeps it for the next call.
struct Prepared {
  explicit Prepared(std::shared_ptr<Context> for_context);
  ~Prepared();
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  // Requests and one-shot calls use these. An exchange that failed stays so, and can only be
  // destroyed. Every further test and wait throws the same again, and the other ranks are told that
  // this one stops.
  void start();
  // returns whether it is complete; `waiter` then drives the other exchanges in flight
  bool test(Waiter& waiter);
  void rebind(Shifts shifts);      // before a start
  void wait();                     // drives the others in flight, too
  void give_up(const Error& why);  // makes it fail like this; it was started and is not complete

  // Call this last: it stores the text for tonari_request_describe, and the time since `start`.
  void describe(double start, const std::string& what, const std::string& chosen,
                const std::string& details);
  // The same for a request that is made of others. `report` takes over what they report, and
  // returns the lines that describe them.
  using Report = std::function<std::string(ChoiceReport&)>;
  void tell_of(Report report) { report_ = std::move(report); }
  void describe(double start, const std::string& what);
  // After that: further lines, about what was compared with it.
  void tell_also(const std::string& details);
  // The same when it is asked for: one-shot calls share the exchange, and have no init.
  void describe_later(const char* what);
  // Another exchange consists of this one and others, and tells when its init has paid.
  void be_part() { pays_back_ = false; }
  // What a start is to run: from the decision of a race on, its winner. While nothing runs.
  Exchange& to_start();
  // Makes the text and what else is reported, if it is not made or starts have found out more.
  const std::string& describe_now();
  // The description, and while it runs what it waits for.
  const std::string& described();
  const std::string& description() const { return description_; }
  double init() const { return init_; }  // seconds
  // The same words at an address that stays as long as this lives, whatever is chosen later.
  const char* lasting(const std::string& words) { return told_.insert(words).first->c_str(); }
  void drive_by_thread();  // call this before describe

  bool running() const { return running_; }    // stays true if it fails
  bool complete() const { return complete_; }  // the last one that was started is
  const std::optional<Error>& broken() const { return broken_; }  // what it failed with

  std::shared_ptr<Context> context;  // outlives the neighborhood's handle
  std::unique_ptr<Exchange> exchange;
  ChoiceReport chosen;
  std::vector<Arrival> arrivals;  // by the program's numbers
  StartBuffers buffers{"exchanges in place keep their buffer"};
  // For starts and waits in the order of a stream. In `exchange`; null: no block lies on a device.
  StreamOrdered* by_stream = nullptr;
  bool host_sends = true;  // the host may have blocks to read for a start
  // What starts choose from, and the exchange above, which does it until it has decided. From then
  // on the winner is the exchange, and `race` keeps what there is to report.
  struct Tuning {
    OnlineExchange* online;
    std::vector<Candidate> candidates;
    std::unique_ptr<Exchange> race = nullptr;
  };
  std::optional<Tuning> tuning;
  std::unique_ptr<tonari_request_s> spare;  // a handle for the next non-blocking call
  // For the report: what this is (the same words on all ranks; by default the description's first
  // line), and what is recorded of it.
  struct Recording {
    std::string operation, label;
    std::unique_ptr<Recorded> record;
    bool done = false;           // there, or with others
    bool staged = false;         // this rank's blocks go through pinned memory
    std::string no_faster = {};  // as ReportRow has it
  } recording;

 private:
  template <typename Work>
  void or_broken(Work work);
  void finish();
  void end_race();
  void write_description();
  void tell_what_starts_found();

  bool running_ = false, complete_ = false;
  std::optional<Error> broken_;
  double init_ = 0;
  Report report_;
  const char* later_ = nullptr;  // what it is, where it is described when it is asked for
  bool pays_back_ = true;        // its init, some time
  std::string description_;
  std::set<std::string> told_;           // to programs, which may still look at it
  std::string what_, chosen_, details_;  // that the description is made of
  std::string described_;                // with what it waits for
};

}  // namespace tonari
