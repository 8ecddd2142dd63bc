// SPDX-License-Identifier: BSD-3-Clause
// The comparators inside MPI: blocking, non-blocking and persistent neighborhood collectives on a
// distributed graph.
#include <algorithm>

#include "candidate.hpp"
#include "persistent.hpp"

namespace bench {
using tonari::Collective;

namespace {

// MPI's regular alltoall and allgather take no MPI_PROC_NULL on a graph: on a mesh the v form
// leaves out the blocks that do not exist.
struct Call {
  const Workload& w;
  MPI_Comm graph;
  Arguments send, recv;
  Form form;
  bool allgather;

  Call(const Workload& work, MPI_Comm comm)
      : w(work),
        graph(comm),
        send(work.operation.collective == Collective::allgather
                 ? work.send_arguments()
                 : existing(work.send_arguments(), work.place.targets)),
        recv(existing(work.recv_arguments(), work.place.sources)),
        form(work.operation.form == Form::regular && !work.place.everywhere()
                 ? Form::v
                 : work.operation.form),
        allgather(work.operation.collective == Collective::allgather) {}

  static Arguments existing(const Arguments& all, const std::vector<int>& ranks) {
    Arguments some;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (ranks[i] == MPI_PROC_NULL) continue;
      some.counts.push_back(all.counts[i]);
      some.displs.push_back(all.displs[i]);
      some.offsets.push_back(all.offsets[i]);
      some.types.push_back(all.types[i]);
    }
    // addresses of empty lists must still be valid
    if (some.counts.empty()) some = {{0}, {0}, {0}, {MPI_BYTE}};
    return some;
  }
};

// MPI has no Neighbor_allgatherw: alltoallw with the same send block for all is how a program
// writes it.
Arguments repeated(const Arguments& one, std::size_t times) {
  return {std::vector<int>(times, one.counts[0]), std::vector<int>(times, one.displs[0]),
          std::vector<MPI_Aint>(times, one.offsets[0]),
          std::vector<MPI_Datatype>(times, one.types[0])};
}

// The same five calls in three forms; `name` differs by a prefix or suffix, and the arguments by
// what stands at the end.
#define BENCH_NEIGHBOR_CALLS(ALLTOALL, ALLTOALLV, ALLTOALLW, ALLGATHER, ALLGATHERV, ...)           \
  const int count = static_cast<int>(c.w.bytes);                                                   \
  const Arguments &s = c.send, &r = c.recv;                                                        \
  if (c.form == Form::w)                                                                           \
    ALLTOALLW(c.w.send(), s.counts.data(), s.offsets.data(), s.types.data(), c.w.recv(),           \
              r.counts.data(), r.offsets.data(), r.types.data(), c.graph __VA_ARGS__);             \
  else if (c.allgather && c.form == Form::v)                                                       \
    ALLGATHERV(c.w.send(), s.counts[0], MPI_BYTE, c.w.recv(), r.counts.data(), r.displs.data(),    \
               MPI_BYTE, c.graph __VA_ARGS__);                                                     \
  else if (c.allgather)                                                                            \
    ALLGATHER(c.w.send(), count, MPI_BYTE, c.w.recv(), count, MPI_BYTE, c.graph __VA_ARGS__);      \
  else if (c.form == Form::v)                                                                      \
    ALLTOALLV(c.w.send(), s.counts.data(), s.displs.data(), MPI_BYTE, c.w.recv(), r.counts.data(), \
              r.displs.data(), MPI_BYTE, c.graph __VA_ARGS__);                                     \
  else                                                                                             \
    ALLTOALL(c.w.send(), count, MPI_BYTE, c.w.recv(), count, MPI_BYTE, c.graph __VA_ARGS__)

#define BENCH_COMMA ,

void blocking(const Call& c) {
  BENCH_NEIGHBOR_CALLS(MPI_Neighbor_alltoall, MPI_Neighbor_alltoallv, MPI_Neighbor_alltoallw,
                       MPI_Neighbor_allgather, MPI_Neighbor_allgatherv);
}

MPI_Request nonblocking(const Call& c) {
  MPI_Request request = MPI_REQUEST_NULL;
  BENCH_NEIGHBOR_CALLS(MPI_Ineighbor_alltoall, MPI_Ineighbor_alltoallv, MPI_Ineighbor_alltoallw,
                       MPI_Ineighbor_allgather, MPI_Ineighbor_allgatherv, BENCH_COMMA & request);
  return request;
}

#ifdef BENCH_PERSISTENT
MPI_Request persistent(const Call& c) {
  MPI_Request request = MPI_REQUEST_NULL;
  BENCH_NEIGHBOR_CALLS(
      BENCH_PERSISTENT(Neighbor_alltoall_init), BENCH_PERSISTENT(Neighbor_alltoallv_init),
      BENCH_PERSISTENT(Neighbor_alltoallw_init), BENCH_PERSISTENT(Neighbor_allgather_init),
      BENCH_PERSISTENT(Neighbor_allgatherv_init), BENCH_COMMA MPI_INFO_NULL BENCH_COMMA & request);
  return request;
}
#endif

class Native : public Candidate {
 public:
  Native(const Workload& work, MPI_Comm graph) : call_(work, graph) {
    if (call_.allgather && call_.form == Form::w)
      // never empty: its address must be valid
      call_.send =
          repeated(call_.send, std::max<std::size_t>(1, existing(work.place.targets).size()));
  }
  void run() override { blocking(call_); }
  bool inside_mpi() const override { return true; }

 protected:
  Call call_;
};

class NativeNonblocking : public Native {
 public:
  using Native::Native;
  void run() override {
    MPI_Request request = nonblocking(call_);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
};

#ifdef BENCH_PERSISTENT
class NativePersistent : public Native {
 public:
  NativePersistent(const Workload& work, MPI_Comm graph)
      : Native(work, graph), request_(persistent(call_)) {}
  ~NativePersistent() override { MPI_Request_free(&request_); }
  void run() override {
    MPI_Start(&request_);
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }

 private:
  MPI_Request request_;
};
#endif

}  // namespace

bool is_native(const std::string& name) {
  return name == "native" || name == "native-nonblocking" || name == "native-persistent";
}

std::unique_ptr<Candidate> make_native(const std::string& name, const Workload& work,
                                       MPI_Comm graph) {
  if (name == "native") return std::make_unique<Native>(work, graph);
  if (name == "native-nonblocking") return std::make_unique<NativeNonblocking>(work, graph);
#ifdef BENCH_PERSISTENT
  return std::make_unique<NativePersistent>(work, graph);
#else
  return nullptr;
#endif
}

}  // namespace bench
