// SPDX-License-Identifier: BSD-3-Clause
// Plain point to point, MPI's neighborhood collectives, tonari's alltoallv with each of its
// algorithms.
#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "keys.hpp"
#include "persistent.hpp"
#include "plain_messages.hpp"
#include "planners/registry.hpp"
#include "spmv/mover.hpp"

namespace bench::spmv {

namespace {

std::vector<PlainMessage> messages(const Blocks& blocks, const double* buffer) {
  constexpr int tag = 7;
  std::vector<PlainMessage> all;
  for (int i = 0; i < blocks.size(); ++i)
    all.push_back({buffer + blocks.displs[i], blocks.counts[i], MPI_DOUBLE, blocks.ranks[i], tag});
  return all;
}

class Irecv : public Mover {
 public:
  Irecv(const Move& move, bool persistent)
      : messages_(move.comm, messages(move.in, move.recv), messages(move.out, move.send),
                  persistent) {}
  void start() override { messages_.start(); }
  void wait() override { messages_.wait(); }

 private:
  PlainMessages messages_;
};

// The address of a list that may be empty: MPI wants a valid one.
const int* address(const std::vector<int>& list) {
  static const int nothing = 0;
  return list.empty() ? &nothing : list.data();
}

class Native : public Mover {
 public:
  explicit Native(const Move& move) : move_(move) {
    MPI_Dist_graph_create_adjacent(move.comm, move.in.size(), address(move.in.ranks),
                                   MPI_UNWEIGHTED, move.out.size(), address(move.out.ranks),
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph_);
  }
  ~Native() override { MPI_Comm_free(&graph_); }
  void start() override {
    const Blocks &in = move_.in, &out = move_.out;
    MPI_Neighbor_alltoallv(move_.send, address(out.counts), address(out.displs), MPI_DOUBLE,
                           move_.recv, address(in.counts), address(in.displs), MPI_DOUBLE, graph_);
  }
  void wait() override {}
  bool inside_mpi() const override { return true; }

 protected:
  Move move_;
  MPI_Comm graph_ = MPI_COMM_NULL;
};

class NativeNonblocking : public Native {
 public:
  using Native::Native;
  void start() override {
    const Blocks &in = move_.in, &out = move_.out;
    MPI_Ineighbor_alltoallv(move_.send, address(out.counts), address(out.displs), MPI_DOUBLE,
                            move_.recv, address(in.counts), address(in.displs), MPI_DOUBLE, graph_,
                            &request_);
  }
  void wait() override { MPI_Wait(&request_, MPI_STATUS_IGNORE); }

 protected:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

#ifdef BENCH_PERSISTENT
class NativePersistent : public NativeNonblocking {
 public:
  explicit NativePersistent(const Move& move) : NativeNonblocking(move) {
    const Blocks &in = move_.in, &out = move_.out;
    BENCH_PERSISTENT(Neighbor_alltoallv_init)
    (move_.send, address(out.counts), address(out.displs), MPI_DOUBLE, move_.recv,
     address(in.counts), address(in.displs), MPI_DOUBLE, graph_, MPI_INFO_NULL, &request_);
  }
  ~NativePersistent() override { MPI_Request_free(&request_); }
  void start() override { MPI_Start(&request_); }
};
#endif

class Alltoallv : public Mover {
 public:
  Alltoallv(const std::string& algorithm, const std::string& tune, const Move& move) {
    const Blocks &in = move.in, &out = move.out;
    const Keys keys{{"tonari_algorithm", algorithm}, {"tonari_tune", tune}};
    const std::vector<MPI_Aint> from(out.displs.begin(), out.displs.end()),
        to(in.displs.begin(), in.displs.end());
    check(tonari_neighborhood_create_adjacent(move.comm, in.size(), in.ranks.data(), MPI_UNWEIGHTED,
                                              out.size(), out.ranks.data(), MPI_UNWEIGHTED,
                                              MPI_INFO_NULL, &near_));
    try {
      check(tonari_alltoallv_init(move.send, out.counts.data(), from.data(), MPI_DOUBLE, move.recv,
                                  in.counts.data(), to.data(), MPI_DOUBLE, near_, keys.get(),
                                  &request_));
    } catch (...) {
      tonari_neighborhood_free(&near_);
      throw;
    }
  }
  ~Alltoallv() override {
    tonari_request_free(&request_);
    tonari_neighborhood_free(&near_);
  }
  void start() override { check(tonari_start(request_)); }
  void wait() override { check(tonari_wait(request_)); }
  bool ours() const override { return true; }
  bool inside_mpi() const override { return std::strcmp(info().channel, "mpi") == 0; }
  std::string chosen() const override {
    const tonari_request_info now = info();
    return std::string(now.algorithm) + (*now.variant ? std::string("/") + now.variant : "") + "/" +
           now.channel;
  }

 private:
  tonari_request_info info() const {
    tonari_request_info now;
    check(tonari_request_get_info(request_, &now));
    return now;
  }

  tonari_neighborhood near_ = TONARI_NEIGHBORHOOD_NULL;
  tonari_request request_ = TONARI_REQUEST_NULL;
};

bool among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

const std::vector<std::string>& irecv_names() {
  static const std::vector<std::string> names{"irecv", "irecv-persistent"};
  return names;
}

const std::vector<std::string>& native_names() {
  static const std::vector<std::string> names{"native", "native-nonblocking", "native-persistent"};
  return names;
}

const std::vector<std::string>& algorithm_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"auto"};
    for (std::string& name : tonari::algorithm_names(tonari::AppliesTo::graphs))
      all.push_back(std::move(name));
    return all;
  }();
  return names;
}

std::unique_ptr<Mover> make_mover(const std::string& name, const std::string& tune,
                                  const Move& move) {
  if (among(irecv_names(), name)) return std::make_unique<Irecv>(move, name != "irecv");
  if (name == "native") return std::make_unique<Native>(move);
  if (name == "native-nonblocking") return std::make_unique<NativeNonblocking>(move);
#ifdef BENCH_PERSISTENT
  if (name == "native-persistent") return std::make_unique<NativePersistent>(move);
#endif
  if (!among(algorithm_names(), name)) return nullptr;
  try {
    return std::make_unique<Alltoallv>(name, tune, move);
  } catch (const tonari::Error& error) {
    if (error.code() != tonari::Errc::algorithm) throw;
    return nullptr;
  }
}

}  // namespace bench::spmv
