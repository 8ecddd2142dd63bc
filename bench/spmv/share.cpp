// SPDX-License-Identifier: BSD-3-Clause
#include "spmv/share.hpp"

#include <algorithm>
#include <climits>

#include "base/error.hpp"
#include "spmv/npy.hpp"

namespace bench::spmv {
using tonari::Errc;

Share::Share(const std::string& folder, MPI_Comm communicator) : comm(communicator) {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  read(folder);
  for (int owner = 0, from = 0; owner < ranks; ++owner) {
    const auto end = std::lower_bound(ghosts.begin(), ghosts.end(),
                                      ranges_[static_cast<std::size_t>(owner) + 1]) -
                     ghosts.begin();
    if (end > from) sources.add(owner, static_cast<int>(end) - from);
    from = static_cast<int>(end);
  }
  find_targets();
}

void Share::read(const std::string& folder) {
  Npy ranges(folder + "/ranges.npy", 'i'), begins(folder + "/row_begin.npy", 'i'),
      entries(folder + "/columns.npy", 'i'), numbers(folder + "/values.npy", 'f');
  if (ranges.size() != ranks + 1)
    tonari::fail(Errc::argument, folder, " is a matrix for ", ranges.size() - 1,
                 " ranks, but there are ", ranks,
                 "; start as many, or run `tonari partition` again");
  ranges_ = ranges.read<std::int64_t>(0, ranks + 1);
  size = ranges_.back(), first = ranges_[static_cast<std::size_t>(rank)],
  owned = ranges_[static_cast<std::size_t>(rank) + 1] - first;
  nonzeros = entries.size();
  if (size > INT_MAX)
    tonari::fail(Errc::overflow, folder, " is a matrix of ", size, " rows; ", INT_MAX,
                 " are the most here");
  begin = begins.read<std::int64_t>(first, owned + 1);
  const std::int64_t before = begin.front(), count = begin.back() - before;
  for (std::int64_t& each : begin) each -= before;
  columns = entries.read<std::int64_t>(before, count);
  values = numbers.read<double>(before, count);
  for (const std::int64_t column : columns)
    if (column < first || column >= first + owned) ghosts.push_back(column);
  std::sort(ghosts.begin(), ghosts.end());
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
}

// By an all-to-all over all ranks: what is measured must not be what says who sends what.
void Share::find_targets() {
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<int> need(n), give(n), need_at(n), give_at(n);
  for (int i = 0; i < sources.size(); ++i) {
    const auto owner = static_cast<std::size_t>(sources.ranks[static_cast<std::size_t>(i)]);
    need[owner] = sources.counts[static_cast<std::size_t>(i)],
    need_at[owner] = sources.displs[static_cast<std::size_t>(i)];
  }
  MPI_Alltoall(need.data(), 1, MPI_INT, give.data(), 1, MPI_INT, comm);
  for (std::size_t r = 0; r < n; ++r) {
    give_at[r] = targets.values();
    if (give[r]) targets.add(static_cast<int>(r), give[r]);
  }
  std::vector<std::int64_t> indices(static_cast<std::size_t>(targets.values()));
  MPI_Alltoallv(ghosts.data(), need.data(), need_at.data(), MPI_INT64_T, indices.data(),
                give.data(), give_at.data(), MPI_INT64_T, comm);
  for (const std::int64_t index : indices)
    wanted.push_back(static_cast<std::int32_t>(index - first));
}

}  // namespace bench::spmv
