#include "engine/agree.hpp"

#include <limits>
#include <new>

#include "channels/mpi_error.hpp"
#include "engine/in_flight.hpp"

namespace tonari {

namespace {

void maximum(MPI_Comm comm, std::vector<std::uint64_t>& values) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_UINT64_T, MPI_MAX, comm, &request), "MPI_Iallreduce");
  complete_while_driving(request);
}

}  // namespace

void complete_while_driving(MPI_Request& request) {
  Waiter waiter;
  for (int done = !any_in_flight(); !done;) {
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (!done) waiter.pass(Pause::yield);
  }
  check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
}

std::vector<bool> agree(MPI_Comm comm, const std::optional<Error>& local, std::span<const Ballot> ballots,
                        std::vector<std::uint64_t>* said) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  // The maximum of v and that of largest - v add up to largest only if v is the same everywhere. The first word finds the lowest failing rank.
  std::vector<std::uint64_t> values{local ? static_cast<std::uint64_t>(size - rank) : 0};
  for (const Ballot& b : ballots) {
    const std::uint64_t value = b.value & largest_ballot;
    values.push_back(b.abstains ? 0 : value);
    values.push_back(b.abstains ? 0 : largest_ballot - value);
  }
  maximum(comm, values);
  if (values[0] > 0) {
    const int failed = size - static_cast<int>(values[0]);
    int code = local ? static_cast<int>(local->code()) : 0;
    check_mpi(MPI_Bcast(&code, 1, MPI_INT, failed, comm), "MPI_Bcast");
    std::string sentence = local ? local->what() : "";
    int length = static_cast<int>(sentence.size());
    check_mpi(MPI_Bcast(&length, 1, MPI_INT, failed, comm), "MPI_Bcast");
    sentence.resize(length);
    check_mpi(MPI_Bcast(sentence.data(), length, MPI_CHAR, failed, comm), "MPI_Bcast");
    throw Error(static_cast<Errc>(code), sentence);
  }
  std::vector<bool> same;
  for (std::size_t k = 0; k < ballots.size(); ++k) {
    same.push_back(values[1 + 2 * k] + values[2 + 2 * k] == largest_ballot);
    if (said) said->push_back(values[1 + 2 * k]);
  }
  return same;
}

std::optional<Error> caught(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(Errc::memory, "out of memory; use smaller blocks or fewer requests at a time");
  } catch (const std::exception& other) {
    return Error(Errc::internal, text("unexpected: ", other.what()));
  }
  return std::nullopt;
}

void together(MPI_Comm comm, const std::function<void()>& work) { agree(comm, caught(work)); }

std::string broadcast(MPI_Comm comm, std::string text) {
  struct {
    std::uint32_t length;
    char start[508];
  } head{static_cast<std::uint32_t>(text.size()), {}};
  text.copy(head.start, sizeof head.start);
  check_mpi(MPI_Bcast(&head, sizeof head, MPI_BYTE, 0, comm), "MPI_Bcast");  // most texts are short: one message
  if (head.length <= sizeof head.start) return std::string(head.start, head.length);
  text.resize(head.length);
  check_mpi(MPI_Bcast(text.data(), static_cast<int>(head.length), MPI_CHAR, 0, comm), "MPI_Bcast");
  return text;
}

}  // namespace tonari
