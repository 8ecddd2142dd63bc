// SPDX-License-Identifier: BSD-3-Clause
// What tests of bad exchanges in place share: every kind of call behind one function, and that all
// ranks get the same error while the buffer stays as it was.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/graph_exchange.hpp"
#include "support/same_error.hpp"

namespace tonari::test {

enum class Form { regular, v, w, general };
using Forms = std::vector<Form>;
inline const Forms all_forms{Form::regular, Form::v, Form::w, Form::general},
    symmetric_forms{Form::regular, Form::v, Form::w};
enum class Way { persistent, started, blocking };
constexpr Way all_ways[] = {Way::persistent, Way::started, Way::blocking};

// One call; in the general form counts and displs are those of what is received.
struct Call {
  Form form = Form::regular;
  void* buf = nullptr;
  int count = 0;
  const int *counts = nullptr, *sendcounts = nullptr;
  const MPI_Aint *displs = nullptr, *senddispls = nullptr;
  MPI_Datatype type = MPI_INT;
  const MPI_Datatype* types = nullptr;
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Info info = MPI_INFO_NULL;
};

inline int make(const Call& c, Way way, tonari_request* request) {
  const auto choose = [&](auto persistent, auto started, auto blocking, auto... arguments) {
    if (way == Way::persistent) return persistent(arguments..., c.comm, c.info, request);
    if (way == Way::started) return started(arguments..., c.comm, c.info, request);
    return blocking(arguments..., c.comm, c.info);
  };
  switch (c.form) {
    case Form::regular:
      return choose(tonari_alltoall_inplace_init, tonari_ialltoall_inplace, tonari_alltoall_inplace,
                    c.buf, c.count, c.type);
    case Form::v:
      return choose(tonari_alltoallv_inplace_init, tonari_ialltoallv_inplace,
                    tonari_alltoallv_inplace, c.buf, c.counts, c.displs, c.type);
    case Form::w:
      return choose(tonari_alltoallw_inplace_init, tonari_ialltoallw_inplace,
                    tonari_alltoallw_inplace, c.buf, c.counts, c.displs, c.types);
    case Form::general:
      break;
  }
  return choose(tonari_alltoallv_inplace_general_init, tonari_ialltoallv_inplace_general,
                tonari_alltoallv_inplace_general, c.buf, c.sendcounts, c.senddispls, c.counts,
                c.displs, c.type);
}

class InPlaceErrors : public testing::Test {
 protected:
  void SetUp() override {
    const auto n = static_cast<std::size_t>(ranks);
    data.resize(room * n + 64);
    for (std::size_t k = 0; k < data.size(); ++k) data[k] = 1'000'000 * rank + static_cast<int>(k);
    before = data;
    counts.assign(n, 2);
    types.assign(n, MPI_INT);
    for (int j = 0; j < ranks; ++j)
      at.push_back(3 * j), back.push_back(3 * (ranks - 1 - j)), bytes_at.push_back(12 * j);
  }

  // A correct one: two integers for every rank.
  Call good(Form form) {
    Call c;
    c.form = form;
    c.buf = data.data();
    c.count = 2;
    c.counts = c.sendcounts = counts.data();
    c.displs = form == Form::w ? bytes_at.data() : at.data();
    c.senddispls = back.data();
    c.types = types.data();
    return c;
  }

  // `bad` on the last rank only, `call` on the others.
  void expect_refused(const Call& call, const Call& bad, int code,
                      std::initializer_list<std::string> words) {
    SCOPED_TRACE("form " + std::to_string(static_cast<int>(call.form)));
    const auto unchanged = reinterpret_cast<tonari_request>(static_cast<std::uintptr_t>(0x40));
    ++turn;
    for (Way way : all_ways) {
      // by turns: each call takes several collective steps
      if (slow() && (turn + static_cast<int>(way)) % 3 != 0) continue;
      tonari_request request = unchanged;
      expect_everywhere(make(rank == last ? bad : call, way, &request), code, words);
      EXPECT_EQ(request, unchanged) << "output is written on success only";
    }
    EXPECT_TRUE(data == before) << "the buffer was changed";
  }

  // The same wrong thing in each of the forms.
  template <class Change>
  void refuse_in(const Forms& forms, int code, std::initializer_list<std::string> words,
                 Change change) {
    for (Form form : forms) {
      Call bad = good(form);
      change(bad);
      expect_refused(good(form), bad, code, words);
    }
    expect_usable();
  }

  // By another buffer, so that data stays as it is.
  void expect_usable(MPI_Comm comm = MPI_COMM_WORLD) {
    std::vector<int> mine(static_cast<std::size_t>(ranks));
    for (int j = 0; j < ranks; ++j) mine[j] = 1000 * rank + j;
    EXPECT_OK(tonari_alltoall_inplace(mine.data(), 1, MPI_INT, comm, MPI_INFO_NULL));
    for (int j = 0; j < ranks; ++j) EXPECT_EQ(mine[j], 1000 * j + rank);
  }

  // Runs it on all ranks; undone by running it once more, since a swap is its own inverse.
  void expect_works(const Call& call) {
    for (int twice = 0; twice < 2; ++twice) EXPECT_OK(make(call, Way::blocking, nullptr));
    EXPECT_TRUE(data == before);
  }

  static bool slow() { return mpi_spins() && ranks_are_slow(); }

  static constexpr int room = 16;  // integers per rank
  int rank = world_rank(), ranks = world_size(), last = ranks - 1;
  std::string who = "rank " + std::to_string(last);
  int turn = 0;
  std::vector<int> data, before, counts;
  std::vector<MPI_Aint> at, back, bytes_at;
  std::vector<MPI_Datatype> types;
};

}  // namespace tonari::test
