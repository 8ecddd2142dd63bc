// SPDX-License-Identifier: BSD-3-Clause
#include "trial.hpp"

#include <memory>
#include <optional>

#include "watch.hpp"

namespace conformance {
namespace {

constexpr int variants = 2, starts = 3;

std::string error_of(const char* function, int rc, int rank) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(rc, text, &length);
  const std::string said = text;
  return "rank " + std::to_string(rank) + " gets an error from " + function + ": " +
         said.substr(0, said.find('\n'));
}

// The buffers, types and request of one call.
class Exchanging {
 public:
  Exchanging(const Call& call, Data data, const Edges& edges, int variant)
      : exchange_{call, data, &edges, variant}, receive_(exchange_, true, types_) {
    if (data != Data::in_place) send_.emplace(exchange_, false, types_);
  }

  Verdict run(MPI_Comm comm, int patience) {
    if (exchange_.call.start == Start::persistent) return persistent(comm, patience);
    const int round = exchange_.variant;
    fill(round);
    int rc = begin(comm);
    if (rc != MPI_SUCCESS) return error(exchange_.call.name().c_str(), rc);
    if (exchange_.call.start == Start::nonblocking)
      if (const Verdict ended = wait(patience); !ended.wrong.empty()) return ended;
    return {wrong(round), false};
  }

 private:
  int begin(MPI_Comm comm) {
    const Arguments none = in_place();
    return make(exchange_.call, send_ ? send_->arguments : none, receive_.arguments, comm,
                request_);
  }

  Verdict persistent(MPI_Comm comm, int patience) {
    if (const int rc = begin(comm); rc != MPI_SUCCESS)
      return error(exchange_.call.name().c_str(), rc);
    Verdict found;
    for (int round = 0; round < starts && found.wrong.empty(); ++round) {
      fill(round);
      if (const int rc = MPI_Start(&request_); rc != MPI_SUCCESS) return error("MPI_Start", rc);
      found = wait(patience);
      if (found.wrong.empty()) found.wrong = wrong(round);
    }
    if (!found.pending) MPI_Request_free(&request_);
    return found;
  }

  Verdict wait(int patience) {
    int rc = MPI_SUCCESS;
    if (!completes(request_, patience, rc))
      return {"rank " + std::to_string(rank()) + " waits for " + exchange_.call.name() +
                  " and it does not end",
              true};
    return rc == MPI_SUCCESS ? Verdict{} : error("MPI_Test", rc);
  }

  int rank() const { return exchange_.edges->rank; }
  // What the MPI still does with the buffers nobody knows.
  Verdict error(const char* function, int rc) const {
    return {error_of(function, rc, rank()), true};
  }
  void fill(int round) {
    receive_.fill(round);
    if (send_) send_->fill(round);
  }
  std::string wrong(int round) const {
    const std::string received = receive_.wrong(round);
    return received.empty() && send_ ? send_->wrong(round) : received;
  }

  Types types_;
  Exchange exchange_;
  Side receive_;
  std::optional<Side> send_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

Verdict try_call(const Call& call, Data data, const Edges& edges, MPI_Comm comm, int patience) {
  for (int variant = 0; variant < variants; ++variant) {
    auto trial = std::make_unique<Exchanging>(call, data, edges, variant);
    Verdict verdict = trial->run(comm, patience);
    if (verdict.pending) (void)trial.release();  // the MPI may still write there
    if (!verdict.wrong.empty()) return verdict;
  }
  return {};
}

}  // namespace conformance
