// SPDX-License-Identifier: BSD-3-Clause
// tonari's requests as programs with several arrays use them. They stand beside those of one array,
// but move more memory: they are to be compared with each other.
#include <tonari/group.h>

#include <array>

#include "halo/exchange.hpp"
#include "keys.hpp"

namespace bench::halo {

namespace {

tonari_request request_of(const Field& field, int copy) {
  tonari_request request = TONARI_REQUEST_NULL;
  check(tonari_grid_exchange_init(field.grid(), copy, MPI_INFO_NULL, &request));
  return request;
}

class WithRequests : public Exchange {
 public:
  ~WithRequests() override { free_requests(); }
  std::string description() const override { return tonari_request_describe(requests_.front()); }
  std::string chosen() const override {
    const std::string variant = info().variant;
    return info().algorithm + (variant.empty() ? "" : ": " + variant);
  }
  std::optional<long long> declared_bytes() const override {
    long long sum = 0;
    for (std::size_t k = 0; k < requests_.size(); ++k) sum += info(k).bytes;
    return sum;
  }
  bool inside_mpi() const override { return std::string(info().variant).starts_with("native"); }
  bool ours() const override { return true; }

 protected:
  void free_requests() {
    for (tonari_request& request : requests_) tonari_request_free(&request);
  }
  tonari_request_info info(std::size_t request = 0) const {
    tonari_request_info info;
    check(tonari_request_get_info(requests_[request], &info));
    return info;
  }
  // start() and wait() of what is exchanged, with the time that each takes.
  template <class Start, class Wait>
  void timed(const Start& start, const Wait& wait) {
    const double begin = now();
    start();
    const double started = now();
    wait();
    phases_ = {0, started - begin, now() - started};
  }

  std::vector<tonari_request> requests_;
};

// Both copies of a grid in turn.
class InTurn : public WithRequests {
 public:
  InTurn(const Field& field, Use use) : field_(field) {
    requests_.push_back(request_of(field, 0));
    if (use == Use::two_requests) requests_.push_back(request_of(field, 1));
  }
  void run() override {
    const bool by_one = requests_.size() == 1;
    const tonari_request request = requests_[by_one ? 0 : static_cast<std::size_t>(next_)];
    void* const arrays[] = {field_.base(next_)};
    timed([&] { check(by_one ? tonari_grid_start_with(request, arrays) : tonari_start(request)); },
          [&] { check(tonari_wait(request)); });
    next_ = 1 - next_;
  }
  int copy() const override { return next_; }
  bool copies_alternate() const override { return true; }
  bool verify(int generation) override { return verify_field(*this, field_, generation); }
  std::optional<long long> declared_bytes() const override { return info().bytes; }

 private:
  const Field& field_;
  int next_ = 0;
};

// Both copies of two grids at once.
class AtOnce : public WithRequests {
 public:
  AtOnce(const Field& field, Use use, const Options& options)
      : other_(field.torus(), field.cube(), field.storage(), options),
        fields_{&field, &field, &other_, &other_} {
    if (use == Use::group)
      collect();
    else
      for (std::size_t k = 0; k < fields_.size(); ++k)
        requests_.push_back(request_of(*fields_[k], copy_of(k)));
  }
  ~AtOnce() override { free_requests(); }  // before the grid
  void run() override {
    const int n = static_cast<int>(requests_.size());
    timed([&] { check(tonari_startall(n, requests_.data())); },
          [&] { check(tonari_waitall(n, requests_.data())); });
  }
  // Each grid and copy has cells of its own.
  bool verify(int generation) override {
    const auto of = [&](std::size_t k) { return 4 * generation + static_cast<int>(k); };
    for (std::size_t k = 0; k < fields_.size(); ++k) {
      fields_[k]->fill(copy_of(k), of(k));
      fields_[k]->poison_ghosts(copy_of(k));
    }
    run();
    bool good = true;
    for (std::size_t k = 0; k < fields_.size(); ++k)
      good = fields_[k]->delivered(copy_of(k), of(k)) && good;
    MPI_Barrier(other_.torus().comm());
    return good;
  }

 private:
  static int copy_of(std::size_t k) { return static_cast<int>(k % 2); }
  void collect() {
    check(tonari_group_start(other_.torus().comm()));
    for (std::size_t k = 0; k < fields_.size(); ++k)
      check(tonari_grid_exchange_init(fields_[k]->grid(), copy_of(k), MPI_INFO_NULL, nullptr));
    check(tonari_group_end(MPI_INFO_NULL, &requests_.emplace_back()));
  }

  Field other_;
  std::array<const Field*, 4> fields_;
};

}  // namespace

std::unique_ptr<Exchange> make_tonari_use(const Field& field, Use use, const Options& options) {
  if (use == Use::start_with || use == Use::two_requests)
    return std::make_unique<InTurn>(field, use);
  return std::make_unique<AtOnce>(field, use, options);
}

}  // namespace bench::halo
