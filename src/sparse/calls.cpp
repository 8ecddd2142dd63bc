// SPDX-License-Identifier: BSD-3-Clause
// Sparse exchanges with unknown receivers as C functions.
#include "engine/comm/call_record.hpp"
#include "engine/comm/read_topology.hpp"
#include "neighborhood/request.hpp"
#include "sparse/sparse_call.hpp"

using namespace tonari;

namespace {

// All ranks know whether that is so.
std::shared_ptr<SharedComm> shared_of(MPI_Comm comm) {
  require_comm(comm, "comm");
  require_intracommunicator(comm);
  return SharedComm::of(comm);
}

constexpr const char* sparse_operation = "sparse exchange";

// Calls that block, for the report.
struct SparseCalls final : FamilyObject {
  explicit SparseCalls(const ReportRow& calls) : record(calls) {}
  bool stays() const override { return false; }
  CallRecord record;
};

// null: nothing records them.
CallRecord* record_of(SharedComm& shared) noexcept {
  if (!shared.records()) return nullptr;
  SparseCalls* calls = shared.families().find<SparseCalls>();
  if (!calls)
    (void)error_of([&] {
      ReportRow row;
      row.ranks = shared.ranks();
      row.operation = sparse_operation, row.what = sparse_operation;
      calls = &shared.families().add(std::make_unique<SparseCalls>(row));
    });
  return calls ? &calls->record : nullptr;
}

// All ranks hear of the error of this one.
[[noreturn]] void refuse(const std::shared_ptr<SharedComm>& shared, const Error& error) {
  SparseCall call(shared, {}, MPI_INFO_NULL, SparseCall::Kind::blocking, nullptr, error);
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
    auto exchange =
        std::make_unique<SparseCall>(shared, given, info, SparseCall::Kind::in_flight, messages);
    prepared->chosen.algorithm = exchange->algorithm();
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
    SparseCall call(shared, {sends, destinations, sendcounts, senddispls, type, sendbuf}, info,
                    SparseCall::Kind::blocking, messages);
    const auto run = [&] {
      call.start();
      call.wait();
      return std::pair{static_cast<std::uint64_t>(call.messages()), call.bytes()};
    };
    if (CallRecord* const record = record_of(*shared))
      record->chose(call.algorithm()), record->run(run);
    else
      run();
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
