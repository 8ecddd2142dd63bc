// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/form.hpp"
#include "fortran/handles.hpp"

using namespace tonari;

namespace {

tonari_vector_field field_of(const tonari_fortran_field& given) {
  tonari_vector_field field{};
  field.values.type = type_of(given.type);
  field.values.components = given.components, field.values.vectors = given.vectors;
  field.values.owned_stride = given.owned_stride, field.values.ghost_stride = given.ghost_stride;
  field.owned = given.owned, field.ghosts = given.ghosts;
  return field;
}

int completed(int direction, tonari_vector vector, std::span<const tonari_vector_field> all,
              MPI_Op op) {
  const int fields = static_cast<int>(all.size());
  if (direction == 0) return tonari_vector_forward_fields(vector, fields, all.data());
  if (direction == 1) return tonari_vector_reverse_fields(vector, fields, all.data(), op);
  return tonari_vector_combine_fields(vector, fields, all.data(), op);
}

int persistent(int direction, tonari_vector vector, std::span<const tonari_vector_field> all,
               MPI_Op op, MPI_Info info, tonari_request* request) {
  const int n = static_cast<int>(all.size());
  const tonari_vector_field* const fields = all.data();
  if (direction == 0) return tonari_vector_forward_fields_init(vector, n, fields, info, request);
  if (direction == 1)
    return tonari_vector_reverse_fields_init(vector, n, fields, op, info, request);
  return tonari_vector_combine_fields_init(vector, n, fields, op, info, request);
}

}  // namespace

extern "C" int tonari_fortran_vector_create(int comm, int64_t first, int64_t owned, int64_t needed,
                                            const int64_t indices[], int info,
                                            tonari_vector* vector) {
  const MPI_Comm on = comm_of(comm);
  return tonari_vector_create(on, first, owned, needed, indices, info_of(info), vector);
}

extern "C" int tonari_fortran_vector_create_from_neighbors(
    int comm, int64_t owned, int sends, const int destinations[], const int sendcounts[],
    const int send_indices[], int receives, const int sources[], const int recvcounts[],
    const int recv_places[], int info, tonari_vector* vector) {
  const MPI_Comm on = comm_of(comm);
  return tonari_vector_create_from_neighbors(on, owned, sends, destinations, sendcounts,
                                             send_indices, receives, sources, recvcounts,
                                             recv_places, info_of(info), vector);
}

extern "C" int tonari_fortran_vector_create_from_ids(
    int comm, int64_t owned, const int64_t owned_ids[], const int owned_places[], int64_t needed,
    const int64_t needed_ids[], const int ghost_places[], int info, tonari_vector* vector) {
  const MPI_Comm on = comm_of(comm);
  return tonari_vector_create_from_ids(on, owned, owned_ids, owned_places, needed, needed_ids,
                                       ghost_places, info_of(info), vector);
}

extern "C" int tonari_fortran_vector_create_shared(int comm, int64_t count, const int64_t ids[],
                                                   const int places[], int info,
                                                   tonari_vector* vector) {
  const MPI_Comm on = comm_of(comm);
  return tonari_vector_create_shared(on, count, ids, places, info_of(info), vector);
}

extern "C" int tonari_fortran_vector_create_box_nodes(int cart, const int cells[], int info,
                                                      tonari_vector* vector) {
  const MPI_Comm on = comm_of(cart);
  return tonari_vector_create_box_nodes(on, cells, info_of(info), vector);
}

extern "C" int tonari_fortran_vector_create_box_cells(int cart, const int cells[], int width,
                                                      int along, int info, tonari_vector* vector) {
  const MPI_Comm on = comm_of(cart);
  return tonari_vector_create_box_cells(on, cells, width, along, info_of(info), vector);
}

extern "C" int tonari_fortran_vector_exchange(int form, int direction, tonari_vector vector,
                                              int fields, const tonari_fortran_field field[],
                                              int op, int info, tonari_request* request) {
  return run([&] {
    std::vector<tonari_vector_field> all;
    for (int f = 0; f < fields; ++f) all.push_back(field_of(field[f]));
    if (all.empty()) return tonari_vector_forward_fields(vector, fields, nullptr);  // refuses it
    return in_form(
        form, [&] { return completed(direction, vector, all, op_of(op)); },
        [&] { return persistent(direction, vector, all, op_of(op), info_of(info), request); });
  });
}
