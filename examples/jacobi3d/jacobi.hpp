// SPDX-License-Identifier: BSD-3-Clause
// Jacobi's iteration with 7 points on a periodic box, on a grid with any storage.
#pragma once

#include <tonari/grid.hpp>

#include <array>
#include <string>
#include <vector>

// How a grid is stored and exchanged: array, brick, mapped (one view per neighbor), mapped-shift
// (two per dimension), zero-byte (ghosts are the neighbors' pages).
struct Storage {
  std::string name;
  int storage;
  const char* halo;
  bool mapped_ghosts;
};
const std::vector<Storage>& storages();
const Storage& storage(const std::string& name);  // throws UsageError

struct Settings {
  std::array<std::int64_t, 3> cells{}, own{};  // of the whole grid, and of this rank
  int halo = 8, steps = 20;
  int every = 1;  // steps from one exchange to the next
  bool overlap = false;
};

// What one step computes while the halo travels, and after it has arrived: cells of arrays, or of
// bricks those inside a box.
struct Cells {
  std::vector<tonari_box> boxes;
  std::vector<std::int32_t> bricks;
  tonari_box clip{};
};

// Seconds per step of a rank, means over all steps.
struct Times {
  double compute = 0, exchange = 0;
};

class Jacobi {
 public:
  Jacobi(MPI_Comm cart, const Storage& storage, const Settings& settings);

  // Sets the cells to the initial waves, and ghosts to NaN where they are this rank's own memory:
  // one that is not exchanged cannot go unnoticed.
  void initialize();
  Times iterate(int steps);

  std::vector<double> state() const { return grid_.export_own<double>(0, last()); }
  void save(const std::string& file) const { grid_.save(file, last()); }
  double error() const;  // the largest on this rank, against the exact decay of the waves
  int messages() const { return halo_[0].info().messages; }
  std::string exchange() const;
  int every() const { return every_; }

 private:
  int last() const { return settings_.steps % 2; }
  void plan_step(int s);
  void compute(const Cells& cells, int old, int now);

  Settings settings_;
  bool arrays_;
  bool own_ghosts_;  // ghosts are memory of this rank
  int every_;
  tonari::Grid grid_;
  std::array<tonari::Request, 2> halo_;  // of each copy; after the grid, since it goes first
  std::vector<Cells> during_, after_;    // by step since an exchange
};
