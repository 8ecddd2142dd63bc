// SPDX-License-Identifier: BSD-3-Clause
// The way of requests from a rank that needs a value to its owner, and of the value back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/comm/context.hpp"
#include "topology/virtual_topology.hpp"

namespace tonari {

// Where a value comes to a rank: in which stage of a forward exchange, and from whom.
struct ValueArrival {
  std::int32_t stage, from;
};

// What the values of a planned route are on this rank if each of its blocks went by itself, and no
// value for two ranks were one.
struct SeparateValues {
  std::int64_t sent = 0, received = 0;  // in a forward exchange
};

// A request takes at most one hop per stage, and where it goes depends on nothing but where it is
// and which value it asks for. So requests for one value that meet go on as one, and a rank asks
// for a value at most once:
//   topology  dimension by dimension of a virtual mesh (topology/virtual_topology.hpp): asked in
//             stage k, a rank has the owner's coordinates up to k;
//   node      from the requester to a rank of its node, the same one for all values of an owner,
//             and from there to the owner;
//   planned   back along the messages of an algorithm for graphs (vector/planned_route.hpp).
class VectorRoute {
 public:
  static VectorRoute direct() { return VectorRoute("direct"); }
  static VectorRoute topology(int ranks, int dimensions);  // throws Errc::argument
  static VectorRoute node(const Context& context);         // of a context without neighborhood
  // arrivals: of all values that come to this rank, by index.
  static VectorRoute planned(std::string name, int stages,
                             std::unordered_map<std::int64_t, ValueArrival> arrivals,
                             SeparateValues separate);
  // As in tonari_route, by its name of today; neither auto nor planned. Throws Errc::argument.
  static VectorRoute named(const std::string& name, const Context& context);

  int stages() const;
  // The next rank from this one, which is `at`; `at` itself if the request stays.
  std::int32_t next(std::int32_t at, std::int32_t owner, std::int64_t index, int stage) const;
  const std::optional<SeparateValues>& separate() const { return separate_; }

 private:
  explicit VectorRoute(std::string name) : name_(std::move(name)) {}

  std::string name_;
  std::optional<VirtualTopology> mesh_;
  std::vector<std::int32_t> node_of_;  // of every rank a number for its node; empty if there is one
  std::vector<std::int32_t> here_;     // the ranks of this one's node
  int planned_stages_ = 0;             // these only if planned
  std::unordered_map<std::int64_t, ValueArrival> arrivals_;
  std::optional<SeparateValues> separate_;
};

// Today's name for a value of tonari_route. Throws Errc::argument unless it is one of the words
// that are accepted.
std::string read_route_name(const std::string& name);

}  // namespace tonari
