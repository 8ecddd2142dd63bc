// SPDX-License-Identifier: BSD-3-Clause
// tonari's exchanges of some ghosts only, in reverse, and of blocks. They stand beside those that
// fill all ghosts of a grid, so that it is seen what they cost.
#include <tonari/blocks.h>

#include "halo/exchange.hpp"
#include "keys.hpp"

namespace bench::halo {

namespace {

// The same cubes as blocks: one for each rank.
class Cubes {
 public:
  explicit Cubes(const Field& field) {
    const Torus& torus = field.torus();
    const Cube& cube = field.cube();
    std::vector<tonari_box> boxes;
    std::vector<int> owners;
    tonari_blocks_shape shape = TONARI_BLOCKS_SHAPE_INIT;
    shape.dims = 3, shape.type = MPI_DOUBLE;
    for (int k = 0; k < 3; ++k) {
      const auto at = static_cast<std::size_t>(k);
      shape.domain.end[k] = cube.size * torus.dims()[at], shape.periodic[k] = 1;
      shape.lower[k] = shape.upper[k] = cube.ghost;
    }
    for (int rank = 0; rank < torus.ranks(); ++rank) {
      tonari_box& box = boxes.emplace_back();
      int rest = rank;
      for (int k = 2; k >= 0; --k) {
        const int extent = torus.dims()[static_cast<std::size_t>(k)];
        box.first[k] = rest % extent * cube.size, box.end[k] = box.first[k] + cube.size;
        rest /= extent;
      }
      owners.push_back(rank);
    }
    shape.count = torus.ranks(), shape.boxes = boxes.data(), shape.owners = owners.data();
    check(tonari_blocks_create(torus.comm(), &shape, MPI_INFO_NULL, &blocks_));
  }
  ~Cubes() { tonari_blocks_free(&blocks_); }
  Cubes(const Cubes&) = delete;
  Cubes& operator=(const Cubes&) = delete;
  tonari_blocks get() const { return blocks_; }

 private:
  tonari_blocks blocks_ = TONARI_BLOCKS_NULL;
};

class Other : public Exchange {
 public:
  Other(const Field& field, const Kind& kind) : field_(field), kind_(kind) {
    kind.blocks ? init_blocks() : init_grid();
    check(tonari_request_get_info(request_, &info_));
  }
  ~Other() override { tonari_request_free(&request_); }

  void run() override {
    const double start = now();
    check(tonari_start(request_));
    const double started = now();
    check(tonari_wait(request_));
    phases_ = {0, started - start, now() - started};
  }
  bool verify(int generation) override {
    if (kind_.task == Task::reverse) return verify_reverse(*this, field_, generation);
    return kind_.task == Task::faces ? verify_faces(*this, field_, generation)
                                     : verify_field(*this, field_, generation);
  }
  std::string description() const override { return tonari_request_describe(request_); }
  std::string chosen() const override {
    return std::string(info_.algorithm) + (*info_.variant ? std::string(": ") + info_.variant : "");
  }
  std::optional<long long> declared_bytes() const override { return info_.bytes; }
  bool inside_mpi() const override { return std::string(info_.variant).starts_with("native"); }
  bool ours() const override { return true; }

 private:
  void init_grid() {
    tonari_ghosts ghosts = TONARI_GHOSTS_INIT;
    if (kind_.task == Task::faces) ghosts.along = 1;
    const Keys keys{{"tonari_halo", kind_.halo}};
    check(kind_.task == Task::reverse
              ? tonari_grid_reverse_init(field_.grid(), 0, &ghosts, MPI_SUM, keys.get(), &request_)
              : tonari_grid_forward_init(field_.grid(), 0, &ghosts, keys.get(), &request_));
  }
  void init_blocks() {
    const Cubes cubes(field_);  // requests outlive it
    void* const arrays[] = {field_.base(0)};
    const Keys keys{{"tonari_tune", "auto"}};  // as grids: no timed exchange still chooses
    check(kind_.task == Task::reverse
              ? tonari_blocks_reverse_init(cubes.get(), arrays, nullptr, MPI_SUM, keys.get(),
                                           &request_)
              : tonari_blocks_forward_init(cubes.get(), arrays, nullptr, keys.get(), &request_));
  }

  const Field& field_;
  Kind kind_;
  tonari_request request_ = TONARI_REQUEST_NULL;
  tonari_request_info info_{};
};

}  // namespace

std::unique_ptr<Exchange> make_tonari_other(const Field& field, const Kind& kind) {
  return std::make_unique<Other>(field, kind);
}

}  // namespace bench::halo
