// SPDX-License-Identifier: BSD-3-Clause
// What of PETSc stands on star forests: scatters of vectors, grids, matrices and solvers.
#include <gtest/gtest.h>
#include <petscdmda.h>
#include <petscksp.h>
#include <tonari/petsc.h>

#include <algorithm>
#include <vector>

#include "petsc/forest.hpp"

namespace tonari::test {
namespace {

// What is made while it lives has star forests of this type.
class Type {
 public:
  explicit Type(const char* name) {
    PetscOptionsSetValue(nullptr, "-sf_type", name);
    PetscOptionsSetValue(nullptr, "-sf_tonari_race", "0");
  }
  ~Type() {
    PetscOptionsClearValue(nullptr, "-sf_type");
    PetscOptionsClearValue(nullptr, "-sf_tonari_race");
  }
};

std::vector<PetscScalar> values_of(Vec vector) {
  PetscInt size = 0;
  const PetscScalar* array = nullptr;
  VecGetLocalSize(vector, &size);
  VecGetArrayRead(vector, &array);
  std::vector<PetscScalar> values(array, array + size);
  VecRestoreArrayRead(vector, &array);
  return values;
}

// The values of a rank.
PetscScalar filled(PetscInt at, int rank, int what) {
  return static_cast<PetscReal>((at * 5 + rank * 17 + what * 3) % 89);
}

void fill(Vec vector, int what) {
  PetscInt size = 0;
  PetscScalar* array = nullptr;
  VecGetLocalSize(vector, &size);
  VecGetArray(vector, &array);
  for (PetscInt k = 0; k < size; ++k) array[k] = filled(k, world_rank(), what);
  VecRestoreArray(vector, &array);
}

struct GridCase {
  PetscInt width, dof;
  DMBoundaryType boundary;
};

// Local vectors as global-to-local, local-to-local (in one vector, and in two) and local-to-global
// exchanges leave them.
std::vector<PetscScalar> by_grid(const GridCase& c, const char* type) {
  const Type with(type);
  DM dm = nullptr;
  std::vector<PetscScalar> all;
  const auto keep = [&all](Vec vector) {
    const std::vector<PetscScalar> values = values_of(vector);
    all.insert(all.end(), values.begin(), values.end());
  };
  DMDACreate3d(PETSC_COMM_WORLD, c.boundary, c.boundary, c.boundary, DMDA_STENCIL_BOX, 9, 8, 10,
               PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, c.dof, c.width, nullptr, nullptr, nullptr,
               &dm);
  DMSetFromOptions(dm);
  DMSetUp(dm);
  Vec global = nullptr, local = nullptr, other = nullptr;
  DMCreateGlobalVector(dm, &global);
  DMCreateLocalVector(dm, &local);
  VecDuplicate(local, &other);
  for (int use = 0; use < 5; ++use) {
    fill(global, use);
    VecSet(local, -1);
    VecSet(other, -2);
    DMGlobalToLocalBegin(dm, global, INSERT_VALUES, local);
    DMGlobalToLocalEnd(dm, global, INSERT_VALUES, local);
    keep(local);
    VecScale(local, 2);
    DMLocalToLocalBegin(dm, local, INSERT_VALUES, other);
    DMLocalToLocalEnd(dm, local, INSERT_VALUES, other);
    keep(other);
    VecShift(local, 1);
    DMLocalToLocalBegin(dm, local, INSERT_VALUES, local);
    DMLocalToLocalEnd(dm, local, INSERT_VALUES, local);
    keep(local);
    DMLocalToGlobalBegin(dm, local, ADD_VALUES, global);
    DMLocalToGlobalEnd(dm, local, ADD_VALUES, global);
    keep(global);
  }
  VecDestroy(&other), VecDestroy(&local), VecDestroy(&global);
  DMDestroy(&dm);
  return all;
}

TEST(Scatters, GridsOfDmda) {
  for (const GridCase& c :
       {GridCase{1, 1, DM_BOUNDARY_NONE}, GridCase{2, 3, DM_BOUNDARY_NONE},
        GridCase{1, 2, DM_BOUNDARY_PERIODIC}, GridCase{2, 1, DM_BOUNDARY_GHOSTED}}) {
    const std::int64_t before = tonari_petsc_exchanges();
    const std::vector<PetscScalar> wanted = by_grid(c, "basic");
    EXPECT_EQ(tonari_petsc_exchanges(), before);
    EXPECT_EQ(by_grid(c, "tonari"), wanted) << "width " << c.width << ", dof " << c.dof;
    // of global to local, local to local, and local to global
    const int least = world_size() == 1 ? 0 : 3 + 8 + 3;
    EXPECT_GE(tonari_petsc_exchanges() - before, least);
  }
}

struct Solution {
  std::vector<PetscReal> residuals;
  PetscReal norm = 0;
};

PetscErrorCode note(KSP, PetscInt, PetscReal norm, void* solution) {
  static_cast<Solution*>(solution)->residuals.push_back(norm);
  return static_cast<PetscErrorCode>(0);
}

// A matrix of five diagonals, not symmetric, solved by GMRES and a preconditioner.
Solution solve(const char* type, const char* preconditioner) {
  const Type with(type);
  constexpr PetscInt side = 24;
  Solution solution;
  Mat matrix = nullptr;
  Vec right = nullptr, x = nullptr;
  KSP solver = nullptr;
  PC pc = nullptr;
  PetscInt first = 0, end = 0;
  MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, side * side, side * side, 5, nullptr,
               4, nullptr, &matrix);
  MatGetOwnershipRange(matrix, &first, &end);
  for (PetscInt row = first; row < end; ++row) {
    MatSetValue(matrix, row, row, 4.0, INSERT_VALUES);
    for (const PetscInt step : {-side, PetscInt{-1}, PetscInt{1}, side})
      if (row + step >= 0 && row + step < side * side)
        MatSetValue(matrix, row, row + step, step > 0 ? -1.1 : -0.8, INSERT_VALUES);
  }
  MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY);
  MatCreateVecs(matrix, &x, &right);
  VecSet(right, 1);
  KSPCreate(PETSC_COMM_WORLD, &solver);
  KSPSetOperators(solver, matrix, matrix);
  KSPSetType(solver, KSPGMRES);
  KSPGetPC(solver, &pc);
  PCSetType(pc, preconditioner);
  KSPSetTolerances(solver, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 80);
  KSPMonitorSet(solver, note, &solution, nullptr);
  KSPSolve(solver, right, x);
  for (int use = 0; use < 5; ++use) MatMultTranspose(matrix, x, right);
  VecNorm(right, NORM_2, &solution.norm);
  KSPDestroy(&solver), VecDestroy(&x), VecDestroy(&right), MatDestroy(&matrix);
  return solution;
}

TEST(Scatters, SolversHaveTheSameResiduals) {
  for (const char* preconditioner : {PCNONE, PCJACOBI, PCBJACOBI, PCASM, PCGAMG}) {
    const Solution wanted = solve("basic", preconditioner);
    const std::int64_t before = tonari_petsc_exchanges();
    const Solution found = solve("tonari", preconditioner);
    ASSERT_GT(wanted.residuals.size(), 5U);
    ASSERT_EQ(found.residuals.size(), wanted.residuals.size()) << preconditioner;
    for (std::size_t k = 0; k < wanted.residuals.size(); ++k)
      EXPECT_NEAR(found.residuals[k], wanted.residuals[k], 1e-9 * wanted.residuals[0])
          << preconditioner << ", iteration " << k;
    EXPECT_NEAR(found.norm, wanted.norm, 1e-9 * wanted.norm) << preconditioner;
    EXPECT_GE(tonari_petsc_exchanges() - before, world_size() == 1 ? 0 : 5) << preconditioner;
  }
}

// Scatters as programs make them, from and to strided places, in blocks, in both directions.
std::vector<PetscScalar> by_scatter(PetscInt block, const char* type) {
  const Type with(type);
  Vec x = nullptr, y = nullptr;
  IS from = nullptr, to = nullptr;
  VecScatter scatter = nullptr;
  std::vector<PetscScalar> all;
  constexpr PetscInt count = 30;
  VecCreateMPI(PETSC_COMM_WORLD, 60 * block, PETSC_DETERMINE, &x);
  VecCreateSeq(PETSC_COMM_SELF, 60 * block, &y);
  std::vector<PetscInt> blocks(count), places(count);
  for (PetscInt k = 0; k < count; ++k) {
    blocks[static_cast<std::size_t>(k)] = (world_rank() * 60 + 37 * k + 5) % (60 * world_size());
    places[static_cast<std::size_t>(k)] = 2 * k;
  }
  ISCreateBlock(PETSC_COMM_WORLD, block, count, blocks.data(), PETSC_COPY_VALUES, &from);
  ISCreateBlock(PETSC_COMM_SELF, block, count, places.data(), PETSC_COPY_VALUES, &to);
  VecScatterCreate(x, from, y, to, &scatter);
  for (int use = 0; use < 5; ++use) {
    for (const InsertMode mode : {INSERT_VALUES, ADD_VALUES}) {
      fill(x, use);
      fill(y, use + 40);
      VecScatterBegin(scatter, x, y, mode, SCATTER_FORWARD);
      VecScatterEnd(scatter, x, y, mode, SCATTER_FORWARD);
      const std::vector<PetscScalar> values = values_of(y);
      all.insert(all.end(), values.begin(), values.end());
    }
    VecScatterBegin(scatter, y, x, ADD_VALUES, SCATTER_REVERSE);
    VecScatterEnd(scatter, y, x, ADD_VALUES, SCATTER_REVERSE);
    const std::vector<PetscScalar> values = values_of(x);
    all.insert(all.end(), values.begin(), values.end());
  }
  VecScatterDestroy(&scatter), ISDestroy(&to), ISDestroy(&from), VecDestroy(&y), VecDestroy(&x);
  return all;
}

// A rotation of values, some of which go to the next rank, whose places to read are changed three
// times. apart: neighbors are read from places that lie apart.
class Rotation {
 public:
  explicit Rotation(bool apart) : step_(apart ? 7 : 1) {
    VecCreateMPI(PETSC_COMM_WORLD, count, PETSC_DETERMINE, &x_);
    VecDuplicate(x_, &y_);
    std::vector<PetscInt> places(count);
    for (PetscInt k = 0; k < count; ++k)
      places[static_cast<std::size_t>(k)] = (world_rank() * count + k + shift) % all();
    IS from = nullptr, to = nullptr;
    ISCreateStride(PETSC_COMM_WORLD, count, world_rank() * count, 1, &from);
    ISCreateGeneral(PETSC_COMM_WORLD, count, places.data(), PETSC_COPY_VALUES, &to);
    VecScatterCreate(x_, from, y_, to, &scatter_);
    ISDestroy(&to), ISDestroy(&from);
  }
  ~Rotation() { VecScatterDestroy(&scatter_), VecDestroy(&y_), VecDestroy(&x_); }

  // What was read from a place comes from another one from now on.
  void remap() {
    std::vector<PetscInt> map(count);
    for (PetscInt k = 0; k < count; ++k)
      map[static_cast<std::size_t>(k)] = (step_ * k + shift) % count;
    VecScatterRemap(scatter_, map.data(), nullptr);
    ++remaps_;
  }

  void check(int use) {
    fill(x_, use);
    VecScatterBegin(scatter_, x_, y_, INSERT_VALUES, SCATTER_FORWARD);
    VecScatterEnd(scatter_, x_, y_, INSERT_VALUES, SCATTER_FORWARD);
    std::vector<PetscScalar> wanted;
    for (PetscInt k = 0; k < count; ++k) {
      const PetscInt from = (world_rank() * count + k - shift + all()) % all();
      PetscInt at = from % count;
      for (int r = 0; r < remaps_; ++r) at = (step_ * at + shift) % count;
      wanted.push_back(filled(at, static_cast<int>(from / count), use));
    }
    EXPECT_EQ(values_of(y_), wanted) << "use " << use << " after " << remaps_ << " remaps";
  }

 private:
  static constexpr PetscInt count = 24, shift = 10;
  static PetscInt all() { return count * world_size(); }

  PetscInt step_;
  int remaps_ = 0;
  Vec x_ = nullptr, y_ = nullptr;
  VecScatter scatter_ = nullptr;
};

// Where a message is one piece of the program's array, basic sends from the place of before: it
// keeps requests of the MPI. So there ranks connect before the first remap of what was used.
TEST(Scatters, RemappedBeforeTheFirstUseAndLater) {
  if (world_size() == 1) GTEST_SKIP() << "VecScatterRemap on one rank is for other scatters";
  for (const bool apart : {false, true}) {
    const Type with("tonari");
    const std::int64_t before = tonari_petsc_exchanges();
    Rotation rotation(apart);
    for (int use = 0; use < 15; ++use) {
      if (use % 5 == 0) rotation.remap();
      rotation.check(use);
    }
    EXPECT_EQ(tonari_petsc_exchanges() - before, 15 - 2);
  }
}

TEST(Scatters, BlocksInBothDirections) {
  for (const PetscInt block : {1, 3, 5})
    EXPECT_EQ(by_scatter(block, "tonari"), by_scatter(block, "basic")) << "blocks of " << block;
}

}  // namespace
}  // namespace tonari::test
