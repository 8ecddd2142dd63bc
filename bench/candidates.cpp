#include "base/error.hpp"
#include "tonari_requests.hpp"

namespace bench {
using tonari::Errc;

namespace {

const std::vector<std::string> usual{
    "auto",   "native", "native-nonblocking", "native-persistent", "irecv",
    "linear", "torus",  "torus-direct",       "additive-basis",    "floor"};
const std::vector<std::string> usual_on_graphs{"auto",
                                               "native",
                                               "native-nonblocking",
                                               "native-persistent",
                                               "irecv",
                                               "linear",
                                               "coloring",
                                               "tree",
                                               "node-aware",
                                               "common-neighborhood",
                                               "store-and-forward",
                                               "message-sharing",
                                               "balanced",
                                               "floor"};
const std::vector<std::string> all{"auto",
                                   "native",
                                   "native-nonblocking",
                                   "native-persistent",
                                   "irecv",
                                   "irecv-persistent",
                                   "tonari-native",
                                   "tonari-irecv",
                                   "linear/p2p-packed",
                                   "linear/p2p-typed",
                                   "linear/shared",
                                   "linear/shared/view",
                                   "linear/onesided",
                                   "torus/p2p-packed",
                                   "torus/p2p-typed",
                                   "torus/shared",
                                   "torus/onesided",
                                   "torus-direct/p2p-packed",
                                   "torus-direct/p2p-typed",
                                   "additive-basis/p2p-packed",
                                   "additive-basis/p2p-typed",
                                   "joint-basis/p2p-packed",
                                   "joint-basis/p2p-typed",
                                   "floor"};

}  // namespace

struct Candidates::Shared {
  MPI_Comm graph;
  tonari_neighborhood near;
  std::string tune;
};

Candidates::Candidates(const Place& place, const Options& options)
    : shared_(new Shared{distributed_graph(existing(place.sources), existing(place.targets)),
                         make_neighborhood(place), options.tune}),
      names_(options.algorithms),
      by_name_(true) {
  if (names_.empty() || names_ == std::vector<std::string>{"all"}) {
    by_name_ = false;
    names_ = !place.graph.empty() ? usual_on_graphs : names_.empty() ? usual : all;
  }
}

Candidates::~Candidates() {
  tonari_neighborhood_free(&shared_->near);
  MPI_Comm_free(&shared_->graph);
}

std::unique_ptr<Candidate> Candidates::make(const std::string& name, const Workload& work) {
  if (is_irecv(name)) return make_irecv(name, work);
  if (is_floor(name)) {
    auto candidate = make_floor(work);
    if (!candidate && by_name_)
      tonari::fail(
          Errc::algorithm,
          "the floor is of ranks on one node that may share memory, and these do not: leave out ",
          name);
    return candidate;
  }
  if (is_native(name)) {
    auto candidate = make_native(name, work, shared_->graph);
    if (!candidate && by_name_)
      tonari::fail(Errc::algorithm,
                   "this MPI has no persistent neighborhood collectives: leave out ", name);
    return candidate;
  }
  try {
    return make_tonari(name, work, shared_->near, shared_->tune);
  } catch (const tonari::Error& error) {
    if (error.code() != Errc::algorithm || by_name_) throw;
    return nullptr;
  }
}

}  // namespace bench
