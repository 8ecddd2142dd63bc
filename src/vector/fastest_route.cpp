// Routes are timed on what they would do: a forward exchange of one vector of doubles.
#include <algorithm>

#include "channels/mpi_error.hpp"
#include "engine/agree.hpp"
#include "vector/request.hpp"

namespace tonari {
namespace {

constexpr double budget = 0.05;  // seconds, but at least three rounds
constexpr int most_rounds = 200;

struct Runner {
  std::vector<double> owned, ghosts;
  std::shared_ptr<Prepared> prepared;

  // Algorithms and channels are measured, too, as for any request: a route is as fast as they are,
  // and what is measured is remembered for the requests to come.
  explicit Runner(SharedVector& vector)
      : owned(static_cast<std::size_t>(vector.pattern().owned)),
        ghosts(vector.pattern().needs.size()) {
    const VectorCall call{Direction::forward, nullptr, MPI_OP_NULL, owned.data(), ghosts.data()};
    prepared = prepare_vector(vector, call, MPI_INFO_NULL, true);
  }
  // Collective.
  double run(MPI_Comm comm) {
    MPI_Request barrier = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibarrier(comm, &barrier), "MPI_Ibarrier");
    complete_while_driving(barrier);
    const double begin = MPI_Wtime();
    prepared->start();
    prepared->wait();
    return MPI_Wtime() - begin;
  }
};

}  // namespace

std::size_t fastest_route(std::span<const std::unique_ptr<SharedVector>> candidates) {
  const MPI_Comm comm = candidates[0]->context().comm();
  std::vector<Runner> runners;
  for (const auto& candidate : candidates) runners.emplace_back(*candidate);
  double first = 0;
  stay_together(comm);
  for (Runner& runner : runners) first += runner.run(comm);
  int rounds = std::clamp(static_cast<int>(budget / std::max(first, 1e-6)), 3, most_rounds);
  check_mpi(MPI_Bcast(&rounds, 1, MPI_INT, 0, comm), "MPI_Bcast");
  std::vector<double> times;  // in turns, so that a disturbance meets all
  times.reserve(static_cast<std::size_t>(rounds) * runners.size());
  stay_together(comm);  // nothing fails while others run
  for (int r = 0; r < rounds; ++r)
    for (Runner& runner : runners) times.push_back(runner.run(comm));
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, times.data(), static_cast<int>(times.size()), MPI_DOUBLE,
                          MPI_MAX, comm),
            "MPI_Allreduce");
  std::vector<double> medians;
  for (std::size_t c = 0; c < runners.size(); ++c) {
    std::vector<double> mine;
    for (std::size_t at = c; at < times.size(); at += runners.size()) mine.push_back(times[at]);
    std::ranges::nth_element(mine, mine.begin() + static_cast<std::ptrdiff_t>(mine.size() / 2));
    medians.push_back(mine[mine.size() / 2]);
  }
  return static_cast<std::size_t>(std::ranges::min_element(medians) - medians.begin());
}

}  // namespace tonari
