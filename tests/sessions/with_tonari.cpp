// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of every kind on a communicator of a session. Values tell who sent them to whom.
#include <tonari/grid.h>
#include <tonari/iso.h>
#include <tonari/sparse.h>
#include <tonari/tonari.h>

#include <cstdio>
#include <string>
#include <vector>

#include "sessions/exchanges.hpp"
#include "sessions/session.hpp"

namespace sessions {
namespace {

void must(int code) {
  if (code != TONARI_SUCCESS) require(false, tonari_last_error());
}

struct Place {
  explicit Place(MPI_Comm comm) { MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &ranks); }
  int beside(int step) const { return (rank + step + ranks) % ranks; }
  int rank = 0, ranks = 0;
};

// What `from` sends to `to` in this round.
int word(int from, int to, int round) { return 10000 * round + 100 * from + to; }

// A ring: blocks to the rank before and to the one after.
class Ring {
 public:
  explicit Ring(MPI_Comm comm) : place_(comm) {
    MPI_Comm cart = MPI_COMM_NULL;
    const int periodic = 1, offsets[] = {-1, 1};
    MPI_Cart_create(comm, 1, &place_.ranks, &periodic, 0, &cart);
    must(tonari_neighborhood_create_cart(cart, 2, offsets, MPI_INFO_NULL, &near_));
    MPI_Comm_free(&cart);
  }
  ~Ring() { must(tonari_neighborhood_free(&near_)); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  void exchanges_at_once() {
    fill();
    must(tonari_alltoall(out_, 1, MPI_INT, in_, 1, MPI_INT, near_));
    check("a blocking exchange");
    fill();
    tonari_request begun = TONARI_REQUEST_NULL;
    must(tonari_ialltoall(out_, 1, MPI_INT, in_, 1, MPI_INT, near_, &begun));
    must(tonari_wait(begun));
    must(tonari_request_free(&begun));
    check("an exchange that was begun");
  }

  // Returns what came of the wish for a channel.
  std::string exchanges_through(const char* channel) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "tonari_channel", channel);
    tonari_request request = TONARI_REQUEST_NULL;
    must(tonari_alltoall_init(out_, 1, MPI_INT, in_, 1, MPI_INT, near_, info, &request));
    MPI_Info_free(&info);
    for (int k = 0; k < 5; ++k) {
      fill();
      must(tonari_start(request)), must(tonari_wait(request));
      check(channel);
    }
    tonari_request_info about;
    must(tonari_request_get_info(request, &about));
    std::string used = about.channel;
    must(tonari_request_free(&request));
    return used;
  }

  // A pair with a gap: its layout is found by packing.
  void exchanges_pairs() {
    struct Pair {
      double value;
      int place;
    };
    const Pair out[] = {{place_.rank + .5, 1}, {place_.rank + .25, 2}};
    Pair in[2] = {};
    must(tonari_alltoall(out, 1, MPI_DOUBLE_INT, in, 1, MPI_DOUBLE_INT, near_));
    require(in[0].value == place_.beside(1) + .5 && in[0].place == 1 &&
                in[1].value == place_.beside(-1) + .25 && in[1].place == 2,
            "pairs are wrong");
  }

 private:
  void fill() {
    ++round_;
    in_[0] = in_[1] = -1;
    out_[0] = 2 * word(place_.rank, place_.beside(-1), round_);
    out_[1] = 2 * word(place_.rank, place_.beside(1), round_) + 1;
  }
  void check(const char* what) const {  // the block that went down comes from above
    require(in_[0] == 2 * word(place_.beside(1), place_.rank, round_) &&
                in_[1] == 2 * word(place_.beside(-1), place_.rank, round_) + 1,
            what);
  }

  Place place_;
  tonari_neighborhood near_ = TONARI_NEIGHBORHOOD_NULL;
  int out_[2] = {}, in_[2] = {}, round_ = 0;
};

void exchange_in_place(MPI_Comm comm) {
  const Place here(comm);
  std::vector<int> blocks;
  for (int k = 0; k < here.ranks; ++k) blocks.push_back(word(here.rank, k, 1));
  must(tonari_alltoall_inplace(blocks.data(), 1, MPI_INT, comm, MPI_INFO_NULL));
  for (int k = 0; k < here.ranks; ++k)
    require(blocks[static_cast<std::size_t>(k)] == word(k, here.rank, 1), "in place is wrong");
}

void exchange_sparsely(MPI_Comm comm) {
  const Place here(comm);
  const int to = here.beside(1), sent = word(here.rank, to, 2);
  const MPI_Count count = 1;
  const MPI_Aint displacement = 0;
  tonari_messages came = nullptr;
  must(tonari_sparse_alltoallv(1, &to, &count, &displacement, MPI_INT, &sent, comm, MPI_INFO_NULL,
                               &came));
  require(came->count == 1 && came->sources[0] == here.beside(-1) &&
              *static_cast<const int*>(came->data) == word(here.beside(-1), here.rank, 2),
          "a sparse exchange is wrong");
  must(tonari_messages_free(&came));
}

void exchange_ghosts(MPI_Comm comm) {
  const Place here(comm);
  const int periodic = 1;
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(comm, 1, &here.ranks, &periodic, 0, &cart);
  double cells[] = {-1, here.rank + .5, here.rank + .75, -1};
  void* const arrays[] = {cells};
  tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
  shape.dims = 1, shape.cells[0] = 2 * here.ranks;
  shape.lower[0] = shape.upper[0] = 1;
  shape.type = MPI_DOUBLE;
  tonari_grid grid = nullptr;
  must(tonari_grid_create(cart, &shape, arrays, MPI_INFO_NULL, &grid));
  must(tonari_grid_forward(grid, 0, nullptr));
  require(cells[0] == here.beside(-1) + .75 && cells[3] == here.beside(1) + .5, "ghosts are wrong");
  must(tonari_grid_free(&grid));
  MPI_Comm_free(&cart);
}

// Intel MPI says in sessions that MPI_Init was called.
bool a_world_seems_to_run() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  return initialized != 0;
}

// By the interface of Träff 2016, which has attributes and codes of errors of its own.
void exchange_by_iso(MPI_Comm comm) {
  const Place here(comm);
  const int periodic = 1;
  int offsets[] = {1};
  MPI_Comm cart = MPI_COMM_NULL, near = MPI_COMM_NULL;
  MPI_Cart_create(comm, 1, &here.ranks, &periodic, 0, &cart);
  require(Iso_neighborhood_create(cart, 1, offsets, &near) == MPI_SUCCESS, tonari_last_error());
  int out = here.rank, in = -1;
  Iso_request request = TONARI_REQUEST_NULL;
  require(Iso_neighbor_alltoall_init(&out, 1, MPI_INT, &in, 1, MPI_INT, near, &request) ==
                  MPI_SUCCESS &&
              Iso_start(&request) == MPI_SUCCESS,
          tonari_last_error());
  require(in == here.beside(-1), "an isomorphic exchange is wrong");
  // the handler of a world that seems to run would end the job
  require(a_world_seems_to_run() || Iso_wait(nullptr) == TONARI_ERR_ARGUMENT,
          "a null request is not refused");
  Iso_request_free(&request);
  MPI_Comm_free(&near);
  MPI_Comm_free(&cart);
}

}  // namespace

void with_tonari(MPI_Comm comm) {
  {
    Ring ring(comm);
    ring.exchanges_at_once();
    ring.exchanges_pairs();
    std::string used;
    for (const char* channel : {"p2p-packed", "p2p-typed", "shared", "onesided", "auto"})
      used += ' ' + ring.exchanges_through(channel);
    if (Place(comm).rank == 0) std::printf("channels:%s\n", used.c_str());
  }
  exchange_in_place(comm);
  exchange_sparsely(comm);
  exchange_ghosts(comm);
  exchange_by_iso(comm);
}

bool refuses_without_mpi() {
  if (a_world_seems_to_run()) return true;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  const auto refused = [&](MPI_Comm comm) {
    return tonari_neighborhood_create_from_comm(comm, MPI_INFO_NULL, &near) == TONARI_ERR_MPI &&
           std::string(tonari_last_error()).find("not initialized") != std::string::npos;
  };
  return refused(MPI_COMM_WORLD) && refused(MPI_COMM_SELF);
}

}  // namespace sessions
