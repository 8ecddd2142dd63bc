// SPDX-License-Identifier: BSD-3-Clause
#include "vector/agree_on_call.hpp"

#include <array>

#include "request/settings.hpp"

namespace tonari {

AgreedValues agree_on_values(const SharedVector& vector, const VectorCall& call, MPI_Info info,
                             Output output, KeptCalls* kept) {
  AgreedValues agreed;
  std::uint64_t settings = 0;
  const auto things = [&] {
    const auto [direction, fields, widths, vectors, reductions] =
        alike(call.direction, agreed.values);
    const std::array all{direction, fields,     widths,
                         vectors,   reductions, Alike{settings, other_settings}};
    agreed.number = number_of(all);
    return with_votes(all, votes_for({agreed.number}, kept));
  };
  const Compared compared = agree_on_arguments(
      vector.context().comm(), info, output,
      [&] {
        vector.check_direction(call.direction);
        agreed.values = read_values(vector.pattern(), call);
        const Settings read = read_settings(info);
        settings = fingerprint(read);
        agreed.by_thread = read.progress_thread;
      },
      things);
  if (kept) agreed.kept = kept->take(compared);
  return agreed;
}

}  // namespace tonari
