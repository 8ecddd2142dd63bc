// SPDX-License-Identifier: BSD-3-Clause
// Grids and blocks, whose arrays have Fortran's order.
#include <algorithm>

#include "fortran/form.hpp"
#include "fortran/handles.hpp"

using namespace tonari;

namespace {

// Of the shapes of both.
template <class Shape>
Shape shape_of(int dims, const int64_t lower[], const int64_t upper[], int fields, int type) {
  Shape shape{};
  shape.dims = dims;
  std::copy_n(lower, TONARI_GRID_MAX_DIMS, shape.lower);
  std::copy_n(upper, TONARI_GRID_MAX_DIMS, shape.upper);
  shape.fields = fields;
  shape.type = type_of(type);
  shape.order = TONARI_ORDER_FORTRAN;
  return shape;
}

}  // namespace

extern "C" int tonari_fortran_grid_create(int cart, int dims, const int64_t cells[], int local,
                                          const int64_t lower[], const int64_t upper[],
                                          const int subdomains[], int fields, int copies,
                                          int memory, int device, int type, void* const arrays[],
                                          int info, tonari_grid* grid) {
  const MPI_Comm on = comm_of(cart);
  auto shape = shape_of<tonari_grid_shape>(dims, lower, upper, fields, type);
  std::copy_n(cells, TONARI_GRID_MAX_DIMS, shape.cells);
  std::copy_n(subdomains, TONARI_GRID_MAX_DIMS, shape.subdomains);
  shape.local = local, shape.copies = copies;
  shape.memory = memory, shape.device = device;
  return tonari_grid_create(on, &shape, arrays, info_of(info), grid);
}

extern "C" int tonari_fortran_grid_exchange(int form, int reverse, tonari_grid grid, int copy,
                                            const tonari_ghosts* ghosts, int op, int info,
                                            tonari_request* request) {
  return in_form(
      form,
      [&] {
        return reverse ? tonari_grid_reverse(grid, copy, ghosts, op_of(op))
                       : tonari_grid_forward(grid, copy, ghosts);
      },
      [&] {
        return reverse
                   ? tonari_grid_reverse_init(grid, copy, ghosts, op_of(op), info_of(info), request)
                   : tonari_grid_forward_init(grid, copy, ghosts, info_of(info), request);
      });
}

extern "C" int tonari_fortran_blocks_create(int comm, int dims, int64_t count,
                                            const tonari_box boxes[], int64_t owned,
                                            const int owners[], const tonari_box* domain,
                                            const int periodic[], const int64_t lower[],
                                            const int64_t upper[], int fields, int type, int info,
                                            tonari_blocks* blocks) {
  const MPI_Comm on = comm_of(comm);
  auto shape = shape_of<tonari_blocks_shape>(dims, lower, upper, fields, type);
  shape.count = count, shape.boxes = boxes, shape.owners = owners, shape.domain = *domain;
  std::copy_n(periodic, TONARI_GRID_MAX_DIMS, shape.periodic);
  const std::optional<Error> wrong = error_of([&] {
    if (owned != count)
      fail(Errc::argument, "`owners` has ", owned, " ranks for ", count,
           " boxes; each box has one owner");
  });
  if (wrong) tonari_refuse(static_cast<int>(wrong->code()), wrong->what());
  return tonari_blocks_create(on, &shape, info_of(info), blocks);
}

extern "C" int tonari_fortran_blocks_exchange(int form, int reverse, tonari_blocks blocks,
                                              void* const arrays[], const tonari_ghosts* ghosts,
                                              int op, int info, tonari_request* request) {
  return in_form(
      form,
      [&] {
        return reverse ? tonari_blocks_reverse(blocks, arrays, ghosts, op_of(op))
                       : tonari_blocks_forward(blocks, arrays, ghosts);
      },
      [&] {
        return reverse ? tonari_blocks_reverse_init(blocks, arrays, ghosts, op_of(op),
                                                    info_of(info), request)
                       : tonari_blocks_forward_init(blocks, arrays, ghosts, info_of(info), request);
      });
}
