// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/error_broadcast.hpp"

#include <algorithm>
#include <string_view>

#include "mpi/mpi_error.hpp"

namespace tonari {

void ErrorBroadcast::start(MPI_Comm comm, int from, const Error* mine) {
  if (mine) {
    const std::string_view sentence = mine->what();
    message_.code = static_cast<std::int32_t>(mine->code());
    message_.length = static_cast<std::uint32_t>(
        sentence.copy(message_.sentence.data(), message_.sentence.size()));
  }
  check_mpi(MPI_Ibcast(&message_, sizeof message_, MPI_BYTE, from, comm, &request_), "MPI_Ibcast");
}

bool ErrorBroadcast::test() {
  int complete = 0;
  call_mpi("MPI_Test", [&] { return MPI_Test(&request_, &complete, MPI_STATUS_IGNORE); });
  return complete != 0;
}

Error ErrorBroadcast::error() const {
  return Error(static_cast<Errc>(message_.code),
               {message_.sentence.data(),
                std::min<std::size_t>(message_.length, message_.sentence.size())})
      .now_on_all_ranks();
}

}  // namespace tonari
