// SPDX-License-Identifier: BSD-3-Clause
// One small verified exchange of every kind of request, between ranks of one node.
#pragma once

#include <gtest/gtest.h>
#include <tonari/grid.h>
#include <tonari/vector.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/oracle.hpp"

namespace tonari::test {

// Each rank has a word for every other one; in a grid for the next one alone.
class RingExchange {
 public:
  enum class Kind {
    shared,
    driven,
    once,
    in_place,
    general,
    native,
    onesided,
    vector,
    mapped,
    planned
  };
  static constexpr Kind kinds[] = {
      Kind::shared, Kind::driven,   Kind::once,   Kind::in_place, Kind::general,
      Kind::native, Kind::onesided, Kind::vector, Kind::mapped,   Kind::planned,
  };
  static const char* name(Kind kind) {
    constexpr const char* names[] = {
        "shared memory", "driven by a thread", "one-shot", "in place",      "in place, general",
        "the MPI's own", "one-sided",          "vector",   "mapped ghosts", "ghosts by a plan",
    };
    return names[static_cast<int>(kind)];
  }

  // timeout: seconds of waiting after which a rank looks whether the others are there.
  RingExchange(Kind kind, const char* timeout) : kind_(kind), timeout_(timeout) {
    for (int r = 0; r < size_; ++r)
      if (r != rank_) peers_.push_back(r);
    out_.resize(static_cast<std::size_t>(size_)), in_ = out_;
    ones_.assign(out_.size(), 1);
    for (int r = 0; r < size_; ++r) places_.push_back(r);
    if (kind == Kind::mapped || kind == Kind::planned)
      make_grid();
    else if (kind == Kind::vector)
      make_vector();
    else if (in_place())
      make_in_place();
    else
      make_neighborhood();
  }
  // As owners in C++ do it: what is active is waited for.
  ~RingExchange() {
    for (tonari_request& request : requests_)
      tonari_wait(request), codes_ |= tonari_request_free(&request);
    codes_ |= tonari_vector_free(&vector_) | tonari_grid_free(&grid_);
    codes_ |= tonari_neighborhood_free(&near_);
    if (codes_note_) *codes_note_ = codes_;
  }
  RingExchange(const RingExchange&) = delete;
  RingExchange& operator=(const RingExchange&) = delete;
  void tell_end(int* codes) { codes_note_ = codes; }  // what freeing all of it returned

  tonari_request& request(int round) {
    return requests_[static_cast<std::size_t>(round) % requests_.size()];
  }

  int start(int round) {
    fill(round);
    if (kind_ != Kind::once) return tonari_start(request(round));
    if (const int code = tonari_request_free(&request(round))) return code;
    return tonari_ialltoall(out_.data(), 1, MPI_UINT64_T, in_.data(), 1, MPI_UINT64_T, near_,
                            &request(round));
  }
  int run(int round) {
    const int code = start(round);
    return code ? code : tonari_wait(request(round));
  }
  // Words of a complete exchange that are not what they should be.
  int wrong(int round) {
    int found = 0;
    if (grid_) return *ghost(round) != word((rank_ + size_ - 1) % size_, rank_, round);
    for (std::size_t k = 0; k < peers_.size(); ++k) {
      const auto place = static_cast<std::size_t>(peers_[k]);
      const std::uint64_t is = in_place() ? out_[place] : in_[k];
      found += is != word(peers_[k], vector_ ? 0 : rank_, round);
    }
    return found;
  }

 private:
  static constexpr std::int64_t width = 4096 / sizeof(std::uint64_t);  // cells of a grid

  bool in_place() const { return kind_ == Kind::in_place || kind_ == Kind::general; }
  static std::uint64_t word(int from, int to, int round) {
    const auto who = static_cast<std::uint64_t>(from << 16 | to);
    return static_cast<std::uint64_t>(round) << 32 | who;
  }
  Info info() const {
    const bool native = kind_ == Kind::native;
    const char* const channel = kind_ == Kind::onesided ? "onesided" : native ? "auto" : "shared";
    return Info{{"tonari_algorithm", in_place() ? "auto"
                                     : native   ? "native"
                                                : "linear"},
                {"tonari_channel", channel},
                {"tonari_timeout", timeout_},
                {"tonari_tune", "off"},
                {"tonari_progress", kind_ == Kind::driven ? "thread" : "calls"}};
  }
  static void check(int code) { ASSERT_OK(code); }

  void make_neighborhood() {
    const int n = static_cast<int>(peers_.size());
    const int* const peers = peers_.data();
    check(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, n, peers, MPI_UNWEIGHTED, n, peers,
                                              MPI_UNWEIGHTED, info(), &near_));
    if (kind_ == Kind::once) return;
    check(tonari_alltoall_init(out_.data(), 1, MPI_UINT64_T, in_.data(), 1, MPI_UINT64_T, near_,
                               info(), &requests_[0]));
  }
  void make_in_place() {
    const MPI_Comm all = MPI_COMM_WORLD;
    if (kind_ == Kind::in_place)
      check(tonari_alltoall_inplace_init(out_.data(), 1, MPI_UINT64_T, all, info(), &requests_[0]));
    else
      check(tonari_alltoallv_inplace_general_init(
          out_.data(), ones_.data(), places_.data(), ones_.data(), places_.data(), MPI_UINT64_T,
          all, Info{{"tonari_timeout", timeout_}}, &requests_[0]));
  }
  void make_vector() {
    const std::vector<std::int64_t> needs(peers_.begin(), peers_.end());
    check(tonari_vector_create(MPI_COMM_WORLD, rank_, 1, size_ - 1, needs.data(), MPI_INFO_NULL,
                               &vector_));
    tonari_vector_values values{};
    values.type = MPI_UINT64_T;
    check(tonari_vector_forward_init(vector_, &values, out_.data(), in_.data(), info(),
                                     &requests_[0]));
  }
  void make_grid() {
    const int periodic = 1;
    MPI_Comm ring = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size_, &periodic, 0, &ring);
    tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
    shape.dims = 1, shape.type = MPI_UINT64_T, shape.copies = 2;
    const bool mapped = kind_ == Kind::mapped;
    shape.storage = mapped ? TONARI_STORAGE_MAPPED : TONARI_STORAGE_ARRAY;
    shape.mapped_ghosts = mapped, shape.brick[0] = mapped ? width : 0;
    shape.lower[0] = width, shape.cells[0] = width * size_;
    check(tonari_grid_create(ring, &shape, nullptr, MPI_INFO_NULL, &grid_));
    MPI_Comm_free(&ring);
    requests_.resize(2, TONARI_REQUEST_NULL);
    const Info keys{{"tonari_halo", mapped ? "zero-byte" : "plan"},
                    {"tonari_channel", "shared"},
                    {"tonari_timeout", timeout_},
                    {"tonari_tune", "off"}};
    for (int c = 0; c < 2; ++c) check(tonari_grid_exchange_init(grid_, c, keys, &request(c)));
  }

  std::uint64_t* cell(int round, std::int64_t x) const {
    void* at = nullptr;
    check(tonari_grid_at(grid_, 0, round % 2, 0, &x, &at));
    return static_cast<std::uint64_t*>(at);
  }
  std::uint64_t* ghost(int round) const { return cell(round, -1); }
  void fill(int round) {
    if (grid_)
      *cell(round, width - 1) = word(rank_, (rank_ + 1) % size_, round);
    else if (vector_)
      out_[0] = word(rank_, 0, round);
    else if (in_place())
      for (const int peer : peers_) out_[static_cast<std::size_t>(peer)] = word(rank_, peer, round);
    else
      for (std::size_t k = 0; k < peers_.size(); ++k) out_[k] = word(rank_, peers_[k], round);
  }

  Kind kind_;
  std::string timeout_;
  int rank_ = world_rank(), size_ = world_size(), codes_ = 0;
  int* codes_note_ = nullptr;
  std::vector<int> peers_, ones_;
  std::vector<MPI_Aint> places_;
  std::vector<std::uint64_t> out_, in_;
  tonari_neighborhood near_ = TONARI_NEIGHBORHOOD_NULL;
  tonari_vector vector_ = TONARI_VECTOR_NULL;
  tonari_grid grid_ = TONARI_GRID_NULL;
  std::vector<tonari_request> requests_{TONARI_REQUEST_NULL};
};

}  // namespace tonari::test
