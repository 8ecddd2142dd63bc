// SPDX-License-Identifier: BSD-3-Clause
// Sparse exchanges with unknown receivers as C functions.
#include "engine/comm/call_record.hpp"
#include "engine/comm/comm_context.hpp"
#include "engine/comm/read_topology.hpp"
#include "neighborhood/request.hpp"
#include "sparse/sparse_call.hpp"

using namespace tonari;

namespace {

// All ranks know whether that is so.
std::shared_ptr<SharedComm> shared_of(MPI_Comm comm) {
  require_comm(comm, "comm");
  require_one_group(comm);
  return SharedComm::of(comm);
}

// What a request holds.
class SparseInFlight final : public LeafExchange {
 public:
  SparseInFlight(const std::shared_ptr<SharedComm>& shared, const SparseArguments& given,
                 MPI_Info info, tonari_messages* place)
      : call_(shared, given, info, SparseCall::Kind::in_flight), place_(place) {}

  const SparseCall& call() const { return call_; }
  void start() override { call_.start(); }
  bool test() override {
    while (!call_.over() && call_.step()) {
    }
    return arrived();
  }
  void wait() override {
    call_.wait();
    arrived();
  }
  Pause pause() const override { return call_.pause(); }
  void give_up() override { call_.give_up(); }
  int messages() const override { return static_cast<int>(call_.messages()); }
  Bytes bytes() const override { return call_.bytes(); }
  std::size_t scratch_bytes() const override { return 0; }

 private:
  bool arrived() {
    if (call_.over() && place_) *std::exchange(place_, nullptr) = call_.take();
    return call_.over();
  }

  SparseCall call_;
  tonari_messages* place_;
};

constexpr const char* sparse_operation = "sparse exchange";

// Of calls that block, if there is a report; null: nothing records them.
CallRecord* record_of(SharedComm& shared) noexcept {
  if (!shared.records() || shared.sparse_record) return shared.sparse_record.get();
  (void)error_of([&] {
    ReportRow calls;
    calls.ranks = shared.ranks();
    calls.operation = sparse_operation, calls.what = sparse_operation;
    shared.sparse_record = std::make_unique<CallRecord>(calls);
  });
  return shared.sparse_record.get();
}

// All ranks hear of the error of this one.
[[noreturn]] void refuse(const std::shared_ptr<SharedComm>& shared, const Error& error) {
  SparseCall call(shared, error);
  call.start();
  call.wait();
  throw error;
}

std::shared_ptr<Prepared> prepare(const SparseArguments& given, MPI_Comm comm, MPI_Info info,
                                  tonari_messages* messages, Output request) {
  const std::shared_ptr<SharedComm> shared = shared_of(comm);
  SparseCall::connect(*shared, SparseCall::Kind::in_flight);
  std::shared_ptr<Prepared> prepared;
  const std::optional<Error> error = error_of([&] {
    require(messages, "messages"), require(request.address, request.name);
    *messages = TONARI_MESSAGES_NULL;
    prepared = std::make_shared<Prepared>(context_on(shared));
    auto exchange = std::make_unique<SparseInFlight>(shared, given, info, messages);
    prepared->chosen.algorithm = exchange->call().algorithm();
    prepared->recording.operation = sparse_operation;
    prepared->exchange = std::move(exchange);
  });
  if (error) refuse(shared, *error);
  return prepared;
}

}  // namespace

extern "C" int tonari_sparse_alltoallv(int sends, const int destinations[],
                                       const MPI_Count sendcounts[], const MPI_Aint senddispls[],
                                       MPI_Datatype type, const void* sendbuf, MPI_Comm comm,
                                       MPI_Info info, tonari_messages* messages) {
  return guarded([&] {
    const std::shared_ptr<SharedComm> shared = shared_of(comm);
    SparseCall::connect(*shared, SparseCall::Kind::blocking);
    if (!messages) refuse(shared, {Errc::argument, "`messages` is NULL"});
    SparseCall call(shared, {sends, destinations, sendcounts, senddispls, type, sendbuf}, info,
                    SparseCall::Kind::blocking);
    const auto run = [&] {
      call.start();
      call.wait();
      return std::pair{static_cast<std::uint64_t>(call.messages()), call.bytes()};
    };
    if (CallRecord* const record = record_of(*shared))
      record->chose(call.algorithm()), record->run(run);
    else
      run();
    *messages = call.take();
  });
}

extern "C" int tonari_sparse_ialltoallv(int sends, const int destinations[],
                                        const MPI_Count sendcounts[], const MPI_Aint senddispls[],
                                        MPI_Datatype type, const void* sendbuf, MPI_Comm comm,
                                        MPI_Info info, tonari_messages* messages,
                                        tonari_request* request) {
  return start_one_shot(request, [&](Output output) {
    return prepare({sends, destinations, sendcounts, senddispls, type, sendbuf}, comm, info,
                   messages, output);
  });
}

extern "C" int tonari_messages_free(tonari_messages* messages) {
  return guarded([&] {
    require(messages, "messages");
    free_messages(*messages);
    *messages = TONARI_MESSAGES_NULL;
  });
}
