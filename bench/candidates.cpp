// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "base/error.hpp"
#include "base/nearest_name.hpp"
#include "collect.hpp"
#include "planners/registry.hpp"
#include "tonari_requests.hpp"

namespace bench {
using tonari::Errc;

namespace {

using Names = std::vector<std::string>;

void append(Names& names, const Names& more) {
  names.insert(names.end(), more.begin(), more.end());
}

// The protocols of Hoefler 2012, section II-C, one by one.
const Names protocols{"linear/shared/no-canary", "linear/onesided/no-canary",
                      "linear/onesided/ready-each", "linear/onesided/ready-tree-2",
                      "linear/onesided/ready-tree-4"};

// What everything is compared with, then the algorithms, then what none can leave out.
Names usual(tonari::AppliesTo pattern) {
  Names names{
      "auto",     "auto/start-with", "auto/two-requests",  "auto/group",        "auto/requests",
      "one-shot", "native",          "native-nonblocking", "native-persistent", "irecv"};
  append(names, tonari::algorithm_names(pattern));
  std::erase(names, "joint-basis");  // on usual patterns it is additive-basis
  names.emplace_back("floor");
  return names;
}

// By name also what `usual` leaves out, and the channels.
Names all() {
  Names names{"auto",        "auto/start-with",    "auto/two-requests",
              "auto/group",  "auto/requests",      "one-shot",
              "native",      "native-nonblocking", "native-persistent",
              "irecv",       "irecv-persistent",   "tonari-native",
              "tonari-irecv"};
  for (const std::string& name : tonari::algorithm_names(tonari::AppliesTo::offsets))
    append(names, {name + "/p2p-packed", name + "/p2p-typed"});
  append(names, {"linear/shared", "linear/shared/view", "linear/onesided", "torus/shared",
                 "torus/onesided"});
  append(names, protocols);
  names.emplace_back("floor");
  return names;
}

// Each optimization of Hoefler 2012 with and without, and all other algorithms.
Names all_on_graphs() {
  Names names{"auto", "one-shot", "native", "native-nonblocking", "native-persistent", "irecv"};
  for (const std::string& name : tonari::algorithm_names(tonari::AppliesTo::graphs))
    if (name == "coloring")
      append(names, {"coloring/rounds", "coloring/order"});
    else if (name == "tree")
      append(names, {"tree/paper", "tree/balanced"});
    else
      names.push_back(name);
  append(names, {"linear/shared", "linear/onesided"});
  append(names, protocols);
  names.emplace_back("floor");
  return names;
}

// [collective] Some node has several ranks.
bool share_nodes(MPI_Comm comm) {
  MPI_Comm node;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int ranks;
  MPI_Comm_size(node, &ranks);
  MPI_Comm_free(&node);
  return most(ranks, comm) > 1;
}

// [collective] The default with what it may choose from: every algorithm over every channel that is
// cheap to connect, one by one, the other ways of the library, and MPI's own.
Names forced(tonari::AppliesTo pattern, MPI_Comm comm) {
  Names channels{"/p2p-packed", "/p2p-typed"};
  if (share_nodes(comm)) channels.emplace_back("/shared");
  Names names{"auto", "one-shot", "native", "tonari-irecv"};
  for (const std::string& name : tonari::algorithm_names(pattern))
    for (const std::string& channel : channels) names.push_back(name + channel);
  return names;
}

// The library knows the names of its algorithms, and this program the others.
void refuse_misspelled(const std::string& name) {
  static const Names own{"one-shot",
                         "native-nonblocking",
                         "native-persistent",
                         "irecv-persistent",
                         "tonari-native",
                         "tonari-irecv",
                         "floor"};
  const std::string meant = tonari::did_you_mean(name, own);
  if (!meant.empty() && std::ranges::count(own, name) == 0)
    tonari::fail(Errc::argument, "there is no candidate '", name, "'", meant);
}

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
  const std::string list = names_.size() > 1 ? "" : names_.empty() ? "usual" : names_.front();
  const bool graph = !place.graph.empty();
  const auto kind = graph ? tonari::AppliesTo::graphs : tonari::AppliesTo::offsets;
  by_name_ = list != "usual" && list != "all" && list != "forced";
  if (list == "usual") names_ = usual(kind);
  if (list == "all") names_ = graph ? all_on_graphs() : all();
  if (list == "forced") names_ = forced(kind, place.cart);
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
  refuse_misspelled(name);
  try {
    return make_tonari(name, work, shared_->near, shared_->tune);
  } catch (const tonari::Error& error) {
    if (error.code() != Errc::algorithm || by_name_) throw;
    return nullptr;
  }
}

}  // namespace bench
