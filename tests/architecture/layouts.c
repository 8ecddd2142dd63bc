/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the members of public structures lie, and the values of public constants, on systems whose
 * pointers have 64 bits. Programs were compiled with them: what is here stays as it is while the
 * SONAME does (docs/versioning.md). A member that is new takes the place of reserved ones.
 *
 * layouts.py compiles this file, and finds what is missing in it. */
#include <assert.h>
#include <stddef.h>
#include <tonari/blocks.h>
#include <tonari/fortran.h>
#include <tonari/grid.h>
#include <tonari/grid_layout.h>
#include <tonari/sparse.h>
#include <tonari/tonari.h>
#include <tonari/vector.h>

#if TONARI_VERSION_MAJOR != 0 || TONARI_VERSION_MINOR != 1
#error "This is the ABI of 0.1. Make it that of the new version, which has another SONAME."
#endif

/* The offset and the size of a member, in bytes. */
#define AT(type, member, offset, bytes)                                                      \
  static_assert(offsetof(type, member) == (offset) && sizeof(((type*)0)->member) == (bytes), \
                #type "." #member " has moved, or has another size")
#define SIZE(type, bytes) static_assert(sizeof(type) == (bytes), #type " has another size")
#define VALUE(name, number) static_assert((name) == (number), #name " has another value")
/* MPI's handles are pointers in Open MPI and in MPI's own ABI, ints in MPICH. */
#define HANDLE(pointer, number) (sizeof(MPI_Datatype) == sizeof(void*) ? (pointer) : (number))

static_assert(sizeof(void*) == 8 && sizeof(MPI_Count) == 8 && sizeof(MPI_Aint) == 8, "no LP64");

AT(tonari_box, first, 0, 40);
AT(tonari_box, end, 40, 40);
SIZE(tonari_box, 80);

AT(tonari_ghosts, lower, 0, 40);
AT(tonari_ghosts, upper, 40, 40);
AT(tonari_ghosts, along, 80, 4);
AT(tonari_ghosts, reserved, 84, 28);
SIZE(tonari_ghosts, 112);

AT(tonari_bricks, dims, 0, 4);
AT(tonari_bricks, brick, 8, 40);
AT(tonari_bricks, lower, 48, 40);
AT(tonari_bricks, own, 88, 40);
AT(tonari_bricks, upper, 128, 40);
AT(tonari_bricks, count, 168, 8);
AT(tonari_bricks, own_count, 176, 8);
AT(tonari_bricks, interior_count, 184, 8);
AT(tonari_bricks, number, 192, 8);
AT(tonari_bricks, position, 200, 8);
AT(tonari_bricks, neighbors, 208, 8);
AT(tonari_bricks, neighbours, 208, 8); /* its earlier name */
AT(tonari_bricks, place, 216, 8);
AT(tonari_bricks, reserved, 224, 64);
SIZE(tonari_bricks, 288);

AT(tonari_array, dims, 0, 4);
AT(tonari_array, lower, 8, 40);
AT(tonari_array, own, 48, 40);
AT(tonari_array, upper, 88, 40);
AT(tonari_array, stride, 128, 40);
AT(tonari_array, reserved, 168, 64);
SIZE(tonari_array, 232);

AT(tonari_request_info, algorithm, 0, 8);
AT(tonari_request_info, variant, 8, 8);
AT(tonari_request_info, channel, 16, 8);
AT(tonari_request_info, channel_detail, 24, 8);
AT(tonari_request_info, reason, 32, 8);
AT(tonari_request_info, predicted_seconds, 40, 8);
AT(tonari_request_info, init_seconds, 48, 8);
AT(tonari_request_info, measured_seconds, 56, 8);
AT(tonari_request_info, messages, 64, 4);
AT(tonari_request_info, rounds, 68, 4);
AT(tonari_request_info, bytes, 72, 8);
AT(tonari_request_info, scratch_bytes, 80, 8);
AT(tonari_request_info, lost_seconds, 88, 8);
AT(tonari_request_info, ranks_per_core, 96, 8);
AT(tonari_request_info, reserved, 104, 56);
SIZE(tonari_request_info, 160);

AT(tonari_grid_shape, dims, 0, 4);
AT(tonari_grid_shape, cells, 8, 40);
AT(tonari_grid_shape, local, 48, 4);
AT(tonari_grid_shape, lower, 56, 40);
AT(tonari_grid_shape, upper, 96, 40);
AT(tonari_grid_shape, subdomains, 136, 20);
AT(tonari_grid_shape, fields, 156, 4);
AT(tonari_grid_shape, interleaved, 160, 4);
AT(tonari_grid_shape, copies, 164, 4);
AT(tonari_grid_shape, type, 168, HANDLE(8, 4));
AT(tonari_grid_shape, storage, HANDLE(176, 172), 4);
AT(tonari_grid_shape, brick, HANDLE(184, 176), 40);
AT(tonari_grid_shape, page, HANDLE(224, 216), 8);
AT(tonari_grid_shape, huge_pages, HANDLE(232, 224), 4);
AT(tonari_grid_shape, mapped_ghosts, HANDLE(236, 228), 4);
AT(tonari_grid_shape, order, HANDLE(240, 232), 4);
AT(tonari_grid_shape, memory, HANDLE(244, 236), 4);
AT(tonari_grid_shape, device, HANDLE(248, 240), 4);
AT(tonari_grid_shape, reserved, HANDLE(252, 244), 20);
SIZE(tonari_grid_shape, HANDLE(272, 264));

AT(tonari_grid_info, dims, 0, 4);
AT(tonari_grid_info, subdomains, 4, 4);
AT(tonari_grid_info, fields, 8, 4);
AT(tonari_grid_info, copies, 12, 4);
AT(tonari_grid_info, global, 16, 40);
AT(tonari_grid_info, element_bytes, 56, 8);
AT(tonari_grid_info, page, 64, 8);
AT(tonari_grid_info, padding_percent, 72, 8);
AT(tonari_grid_info, mappings, 80, 8);
AT(tonari_grid_info, bytes, 88, 8);
AT(tonari_grid_info, reserved, 96, 64);
SIZE(tonari_grid_info, 160);

AT(tonari_blocks_shape, dims, 0, 4);
AT(tonari_blocks_shape, count, 8, 8);
AT(tonari_blocks_shape, boxes, 16, 8);
AT(tonari_blocks_shape, owners, 24, 8);
AT(tonari_blocks_shape, domain, 32, 80);
AT(tonari_blocks_shape, periodic, 112, 20);
AT(tonari_blocks_shape, lower, 136, 40);
AT(tonari_blocks_shape, upper, 176, 40);
AT(tonari_blocks_shape, type, 216, HANDLE(8, 4));
AT(tonari_blocks_shape, fields, HANDLE(224, 220), 4);
AT(tonari_blocks_shape, order, HANDLE(228, 224), 4);
AT(tonari_blocks_shape, reserved, HANDLE(232, 228), 32);
SIZE(tonari_blocks_shape, 264);

AT(tonari_vector_values, type, 0, HANDLE(8, 4));
AT(tonari_vector_values, components, HANDLE(8, 4), 4);
AT(tonari_vector_values, vectors, HANDLE(12, 8), 4);
AT(tonari_vector_values, owned_stride, 16, 8);
AT(tonari_vector_values, ghost_stride, 24, 8);
AT(tonari_vector_values, reserved, 32, 64);
SIZE(tonari_vector_values, 96);

AT(tonari_vector_field, values, 0, 96);
AT(tonari_vector_field, owned, 96, 8);
AT(tonari_vector_field, ghosts, 104, 8);
AT(tonari_vector_field, reserved, 112, 32);
SIZE(tonari_vector_field, 144);

AT(tonari_vector_facts, ghosts, 0, 8);
AT(tonari_vector_facts, sources, 8, 4);
AT(tonari_vector_facts, targets, 12, 4);
AT(tonari_vector_facts, stages, 16, 4);
AT(tonari_vector_facts, values_sent, 24, 8);
AT(tonari_vector_facts, values_received, 32, 8);
AT(tonari_vector_facts, route, 40, 24);
AT(tonari_vector_facts, owned_length, 64, 8);
AT(tonari_vector_facts, ghost_length, 72, 8);
AT(tonari_vector_facts, reserved, 80, 48);
SIZE(tonari_vector_facts, 128);

AT(struct tonari_messages_s, count, 0, 4);
AT(struct tonari_messages_s, sources, 8, 8);
AT(struct tonari_messages_s, counts, 16, 8);
AT(struct tonari_messages_s, displs, 24, 8);
AT(struct tonari_messages_s, data, 32, 8);
AT(struct tonari_messages_s, total, 40, 8);
AT(struct tonari_messages_s, algorithm, 48, 8);
SIZE(struct tonari_messages_s, 56);

AT(tonari_fortran_field, type, 0, 4);
AT(tonari_fortran_field, components, 4, 4);
AT(tonari_fortran_field, vectors, 8, 4);
AT(tonari_fortran_field, owned_stride, 16, 8);
AT(tonari_fortran_field, ghost_stride, 24, 8);
AT(tonari_fortran_field, owned, 32, 8);
AT(tonari_fortran_field, ghosts, 40, 8);
SIZE(tonari_fortran_field, 48);

VALUE(TONARI_SUCCESS, 0);
VALUE(TONARI_ERR_ARGUMENT, 1);
VALUE(TONARI_ERR_TOPOLOGY, 2);
VALUE(TONARI_ERR_MISMATCH, 3);
VALUE(TONARI_ERR_OVERFLOW, 4);
VALUE(TONARI_ERR_BUFFERS, 5);
VALUE(TONARI_ERR_ACTIVE, 6);
VALUE(TONARI_ERR_ALGORITHM, 7);
VALUE(TONARI_ERR_MEMORY, 8);
VALUE(TONARI_ERR_MPI, 9);
VALUE(TONARI_ERR_INTERNAL, 10);
VALUE(TONARI_ERR_FILE, 11);
VALUE(TONARI_ERR_PROMISE, 12);
VALUE(TONARI_ERR_PEER, 13);

VALUE(TONARI_ORDER_C, 0);
VALUE(TONARI_ORDER_FORTRAN, 1);
VALUE(TONARI_GHOSTS_NONE, -1);

VALUE(TONARI_STORAGE_ARRAY, 0);
VALUE(TONARI_STORAGE_BRICK, 1);
VALUE(TONARI_STORAGE_MAPPED, 2);
VALUE(TONARI_MEMORY_HOST, 0);
VALUE(TONARI_MEMORY_DEVICE, 1);
VALUE(TONARI_FORTRAN_ONCE, 0);
VALUE(TONARI_FORTRAN_STARTED, 1);
VALUE(TONARI_FORTRAN_PERSISTENT, 2);
VALUE(TONARI_PART_INTERIOR, 0);
VALUE(TONARI_PART_SURFACE, 1);
VALUE(TONARI_PART_GHOSTS, 2);
VALUE(TONARI_PART_OWN, 3);
