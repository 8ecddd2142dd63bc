// SPDX-License-Identifier: BSD-3-Clause
#include "spmv/contest.hpp"

#include "spmv/mover.hpp"
#include "spmv/vector_exchange.hpp"

namespace bench::spmv {

const std::vector<std::string>& all_kinds() {
  static const std::vector<std::string> kinds{"forward", "fields", "reverse", "rows", "columns"};
  return kinds;
}

const std::vector<std::string>& all_candidates() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    static const std::vector<std::string> of_fields{"requests", "group"};
    for (const auto* some : {&irecv_names(), &native_names(), &algorithm_names(), &of_fields})
      all.insert(all.end(), some->begin(), some->end());
    for (const char* name : {one_shot_calls, start_with, two_requests}) all.emplace_back(name);
    all.insert(all.end(), route_names().begin(), route_names().end());
    return all;
  }();
  return names;
}

std::unique_ptr<Contest> make_contest(const std::string& kind, const Share& share,
                                      const std::string& tune) {
  if (kind == "forward") return make_forward(share, tune);
  if (kind == "fields") return make_fields(share, tune);
  if (kind == "reverse") return make_reverse(share, tune);
  return kind == "rows" ? make_rows(share, tune) : make_columns(share, tune);
}

}  // namespace bench::spmv
