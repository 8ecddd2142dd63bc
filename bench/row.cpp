// SPDX-License-Identifier: BSD-3-Clause
#include "runs.hpp"

namespace bench {

Row row_of(const Place& place, const Options& options, std::size_t bytes) {
  std::string dims;
  for (const int extent : place.dims) dims += (dims.empty() ? "" : "x") + std::to_string(extent);
  Row row;
  row.text("pattern", options.pattern)
      .text("op", name(options.operation))
      .text("layout", name(options.layout))
      .whole("ranks", place.ranks);
  row.mpi().text("dims", dims).flag("mesh", options.mesh);
  return std::move(row.whole("neighbors", static_cast<long long>(place.neighbors))
                       .whole("bytes", static_cast<long long>(bytes)));
}

}  // namespace bench
