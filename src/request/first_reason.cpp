// SPDX-License-Identifier: BSD-3-Clause
#include "request/first_reason.hpp"

#include <array>
#include <vector>

#include "engine/wait/agree.hpp"

namespace tonari {

std::optional<Error> first_reason(MPI_Comm comm, const std::optional<Error>& mine,
                                  std::uint64_t& number) {
  const std::array<Ballot, 2> ballots{static_cast<std::uint64_t>(mine.has_value()), number};
  std::vector<std::uint64_t> said;
  agree(comm, std::nullopt, ballots, &said);
  number = said[1];
  if (said[0] == 0) return std::nullopt;
  const std::optional<Error> reason = error_of([&] { agree(comm, mine); });
  if (reason->code() == Errc::peer) throw *reason;
  return reason;
}

}  // namespace tonari
