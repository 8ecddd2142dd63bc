// SPDX-License-Identifier: BSD-3-Clause
#include "vector/agree_on_call.hpp"

#include <array>

#include "request/settings.hpp"

namespace tonari {

AgreedValues agree_on_values(const SharedVector& vector, const VectorCall& call, MPI_Info info,
                             Output output, KeptCalls* kept) {
  AgreedValues agreed;
  std::uint64_t settings = 0;
  const std::optional<Error> wrong = wrong_argument(output, [&] {
    vector.check_direction(call.direction);
    agreed.values = read_values(vector.pattern(), call);
    const Settings read = read_settings(info);
    settings = fingerprint(read);
    agreed.by_thread = read.progress_thread;
  });
  const auto [direction, fields, widths, vectors, reductions] =
      alike(call.direction, agreed.values);
  const std::array things{direction, fields,     widths,
                          vectors,   reductions, Alike{settings, other_settings}};
  agreed.number = number_of(things);
  const Compared compared = agree_on_arguments(
      vector.context().comm(), info, wrong, with_votes(things, votes_for({agreed.number}, kept)));
  if (kept) agreed.kept = kept->take(compared);
  return agreed;
}

}  // namespace tonari
