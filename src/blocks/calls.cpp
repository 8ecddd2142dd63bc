// SPDX-License-Identifier: BSD-3-Clause
// The blocks family as C functions.
#include <algorithm>

#include "blocks/request.hpp"
#include "request/free_handle.hpp"

using namespace tonari;

namespace {

SharedBlocks& blocks_of(tonari_blocks blocks) {
  require(blocks, "blocks");
  return *blocks;
}

int init(tonari_blocks blocks, const BlocksCall& call, MPI_Info info, tonari_request* request) {
  return init_or_collect(
      request, [&](Output output) { return prepare_blocks(blocks_of(blocks), call, info, output); },
      [&] {
        require_no_keys(info);
        return group_blocks(blocks_of(blocks), call);
      });
}

int run(tonari_blocks blocks, const BlocksCall& call) {
  return guarded([&] { run_blocks(blocks_of(blocks), call); });
}

}  // namespace

extern "C" int tonari_blocks_create(MPI_Comm comm, const tonari_blocks_shape* shape, MPI_Info info,
                                    tonari_blocks* blocks) {
  return guarded([&] {
    require_comm(comm, "comm");
    *blocks = make_blocks(comm, shape, info, {blocks, "blocks"}).release();
  });
}

extern "C" int tonari_blocks_free(tonari_blocks* blocks) {
  return free_handle(blocks, "blocks",
                     [](tonari_blocks_s& freed) -> Context& { return freed.context(); });
}

extern "C" int tonari_blocks_get_own(tonari_blocks blocks, int64_t* count, int64_t numbers[]) {
  return guarded([&] {
    const std::vector<std::size_t>& own = blocks_of(blocks).own();
    require(count, "count");
    const auto there = static_cast<std::int64_t>(own.size());
    if (numbers && *count < there)
      fail(Errc::argument, "there is room for ", *count, " blocks, but there are ", there);
    if (numbers) std::ranges::copy(own, numbers);
    *count = there;
  });
}

extern "C" int tonari_blocks_get_array(tonari_blocks blocks, int64_t block, tonari_array* array) {
  return guarded([&] {
    const SharedBlocks& b = blocks_of(blocks);
    require(array, "array");
    if (block < 0 || block >= static_cast<std::int64_t>(b.blocks().size()))
      fail(Errc::argument, "block ", block, " does not exist; there are ", b.blocks().size());
    const GridBox box = b.blocks().box(static_cast<std::size_t>(block));
    *array = {box.dims, {}, {}, {}, {}, {}};
    std::ranges::copy(box.lower, array->lower);
    std::ranges::copy(box.own, array->own);
    std::ranges::copy(box.upper, array->upper);
    std::ranges::copy(strides(box, b.shape().order), array->stride);
  });
}

extern "C" int tonari_blocks_forward_init(tonari_blocks blocks, void* const arrays[],
                                          const tonari_ghosts* ghosts, MPI_Info info,
                                          tonari_request* request) {
  return init(blocks, {Direction::forward, arrays, ghosts, MPI_OP_NULL}, info, request);
}

extern "C" int tonari_blocks_reverse_init(tonari_blocks blocks, void* const arrays[],
                                          const tonari_ghosts* ghosts, MPI_Op op, MPI_Info info,
                                          tonari_request* request) {
  return init(blocks, {Direction::reverse, arrays, ghosts, op}, info, request);
}

extern "C" int tonari_blocks_start_with(tonari_request request, void* const arrays[]) {
  return guarded([&] { start_with(request, "blocks_start_with", arrays); });
}

extern "C" int tonari_blocks_forward(tonari_blocks blocks, void* const arrays[],
                                     const tonari_ghosts* ghosts) {
  return run(blocks, {Direction::forward, arrays, ghosts, MPI_OP_NULL});
}

extern "C" int tonari_blocks_reverse(tonari_blocks blocks, void* const arrays[],
                                     const tonari_ghosts* ghosts, MPI_Op op) {
  return run(blocks, {Direction::reverse, arrays, ghosts, op});
}
