// SPDX-License-Identifier: BSD-3-Clause
#include "in_place/methods.hpp"

#include <algorithm>
#include <limits>

#include "channels/shared/connect.hpp"
#include "channels/shared/single_copy_swap.hpp"
#include "channels/shared/swap.hpp"
#include "engine/run/wiring.hpp"
#include "engine/wait/agree.hpp"
#include "in_place/swap_exchange.hpp"
#include "mpi/collective.hpp"

namespace tonari {
namespace {

constexpr std::size_t largest_chunk = 128 * 1024;
// of one swap by MPI: enough to hide the way of one behind the copy of another
constexpr std::size_t chunks_at_once = 4;
constexpr Bytes worthwhile_part = 4 * 4096 - Cell::alignment;
constexpr std::size_t page = 4096;  // only to count with: the smallest that is in use
constexpr std::size_t cell_overhead = Cell::alignment;
// From here on two system calls cost less than the copy that they save.
constexpr Bytes worth_swapping_once = 64 * 1024;
// Chunks of them: long enough for two system calls, short enough for a core's own cache.
constexpr Bytes least_single_copy = 64 * 1024, largest_single_copy = 256 * 1024;

// In the plan, and in what an exchange keeps of it: with the predecessors and places in lists.
constexpr std::size_t book_bytes_of_an_operation = sizeof(Operation) + 64;

// Small blocks need no larger chunks: more of them fit.
std::size_t chunk_for(Bytes least_memory, Bytes largest_block) {
  return static_cast<std::size_t>(std::clamp<Bytes>(
      std::min(least_memory / (2 * chunks_at_once), largest_block), 1, largest_chunk));
}

}  // namespace

Swapper::Swapper(Context& context, const std::vector<SwapBlock>& blocks,
                 const SwapSettings& settings)
    : context_(context),
      settings_(settings),
      node_of_(context.shared().node_of()),
      memory_(std::max<Bytes>(settings.memory, 1)),
      least_(std::max<Bytes>(settings.least_memory, 1)) {
  settings_.shared = settings.shared && context.shares_memory();
  settings_.single_copy = settings.single_copy && settings_.shared && context.reads_memory() &&
                          settings.largest_block >= worth_swapping_once;
  const bool both = settings_.shared && context.several_nodes();
  // the larger half: at least a byte
  if (both) memory_ = memory_ - memory_ / 2, least_ = least_ - least_ / 2;
  settings_.single_copy = settings_.single_copy && least_ / 2 >= least_single_copy;
  chunk_ = chunk_for(least_, settings.largest_block);
  if (settings_.shared) connect(blocks);
  if (both && !link_) memory_ = std::max<Bytes>(settings.memory, 1);
  channel_ = !link_ ? "p2p-packed" : context.several_nodes() ? "shared+p2p-packed" : "shared";
  pool_bytes_ = std::max<Bytes>(memory_ / chunk_, 1) * chunk_;
  needs_.resize(blocks.size());
  for (const SwapBlock& block : blocks)
    if (swaps(block))
      needs_[block.peer] = {block.bytes, shares(block.peer) ? 0 : chunks(block) * chunk_};
  make_pool();
}

bool Swapper::shares(std::int32_t peer) const { return link_ && context_.node()->here(peer); }
bool Swapper::swaps(const SwapBlock& block) const {
  return block.peer != context_.rank() && block.bytes > 0;
}
// The same at both ends.
bool Swapper::copies_once(Bytes bytes) const {
  return settings_.single_copy && bytes >= worth_swapping_once;
}

// Rings for the ranks of this node, if they fit on all nodes.
void Swapper::connect(const std::vector<SwapBlock>& blocks) {
  std::vector<EdgeMessage> messages;
  std::vector<Bytes> sizes;
  for (std::int32_t peer : context_.node()->ranks()) {
    if (!swaps(blocks[peer])) continue;
    const bool once = copies_once(blocks[peer].bytes);
    if (once) single_copy_ = std::max(single_copy_, blocks[peer].bytes);
    sizes.push_back(once ? sizeof(SwapAddress) : blocks[peer].bytes);
    messages.push_back({peer, 0, sizes.back()});
    neighbors_.push_back(peer);
  }
  single_copy_ = std::min({single_copy_, largest_single_copy, least_ / 2});
  SharedLimits limits{.canary = 0, .whole = 0, .single_copy = 0, .ring = true};
  // Several cells let both ends work at a time; where many ranks share the memory, one cell of
  // some size is better than several small ones.
  for (limits.cells = Lane::pipeline_cells; limits.cells > 0; limits.cells /= 2)
    if ((limits.chunk = ring_part(sizes, limits.cells, least_ - single_copy_)) >= worthwhile_part ||
        limits.cells == 1)
      break;
  agree_on_rings(limits, sizes.empty());
  SharedMessages rings{messages, messages, limits};
  if (limits.chunk > 0 && connect_segments(connect_comm(context_), {&rings, 1}, refusal_))
    link_ = rings.link;
  else if (limits.chunk == 0)
    refusal_ = text("cells for the ranks of a node do not fit into tonari_inplace_memory (",
                    settings_.memory, " bytes on this rank)");
}

// The smallest of all ranks: the rings in which a rank sends are those of others, and count for
// it, too. 0: they do not fit everywhere.
void Swapper::agree_on_rings(SharedLimits& limits, bool abstains) const {
  std::int64_t words[] = {limits.cells, static_cast<std::int64_t>(limits.chunk)};
  if (abstains) words[0] = Lane::pipeline_cells, words[1] = largest_chunk;
  least_of_all(context_.comm(), words);
  limits.cells = static_cast<std::uint32_t>(words[0]);
  limits.chunk = static_cast<Bytes>(words[1]);
}

// Chunks with which a swap by MPI runs at full speed; data that is spread out needs two for each
// on its way.
std::size_t Swapper::chunks(const SwapBlock& block) const {
  return std::min(parts(block), chunks_at_once) * (!block.contiguous() && chunk_ > 1 ? 2 : 1);
}
std::size_t Swapper::parts(const SwapBlock& block) const {
  return static_cast<std::size_t>((block.bytes + chunk_ - 1) / chunk_);
}

// As large as memory allows, but no larger than all swaps together could use.
void Swapper::make_pool() {
  if (link_ && single_copy_ > 0) single_copies_ = std::make_shared<Memory>(single_copy_);
  Bytes wanted = 0;
  for (const SwapNeed& need : needs_) wanted += need.memory;
  if (wanted > 0)
    pool_ = std::make_shared<ChunkPool>(
        chunk_, static_cast<std::size_t>(std::min(wanted, pool_bytes_) / chunk_));
}

std::unique_ptr<Exchange> Swapper::make(SwapOrder order,
                                        const std::vector<SwapBlock>& blocks) const {
  const std::vector<std::int32_t> with =
      partners(order, context_.rank(), context_.ranks(), node_of_);
  const Plan plan = plan_inplace(context_.rank(), with, needs_, pool_bytes_);
  SwapExchange::Parts made;
  Bytes straight = 0;
  for (const Operation& op : plan.operations()) {
    const SwapBlock& block = blocks[op.peer];
    made.swaps.push_back(shares(op.peer) ? shared_swap(block) : p2p_swap(block));
    if (!shares(op.peer)) straight += parts(block);
    made.books += made.swaps.back()->book_bytes() + book_bytes_of_an_operation;
    made.bytes += block.bytes;
  }
  made.link = link_;
  made.comm = context_.shared_comm();
  made.node = context_.node();
  // a look at all swaps takes as long as giving the core away
  made.wait = {context_.node()->crowded(), settings_.timeout, 1};
  made.memory = (pool_ ? pool_->chunk() * pool_->count() : 0) + (link_ ? link_->bytes() : 0) +
                (single_copies_ ? single_copies_->bytes() : 0);
  made.books += sizeof(SwapExchange) + needs_.size() * sizeof(SwapNeed) +
                (pool_ ? pool_->count() * sizeof(std::byte*) : 0);
  made.messages = static_cast<int>(
      std::min<Bytes>(straight + (link_ ? link_->messages() : 0), std::numeric_limits<int>::max()));
  if (link_ && link_->messages() > 0)
    made.channel_mix =
        text(link_->messages(), " shared", straight > 0 ? text(", ", straight, " p2p-packed") : "");
  return std::make_unique<SwapExchange>(plan, std::move(made));
}

std::unique_ptr<Swap> Swapper::p2p_swap(const SwapBlock& block) const {
  const auto granted_chunks = static_cast<std::size_t>(
      granted(needs_[block.peer], pool_->chunk() * pool_->count()) / chunk_);
  return make_p2p_swap(block, pool_, granted_chunks, context_.shared_comm(), context_.first_tag());
}

std::unique_ptr<Swap> Swapper::shared_swap(const SwapBlock& block) const {
  const auto k =
      static_cast<std::size_t>(std::ranges::find(neighbors_, block.peer) - neighbors_.begin());
  if (copies_once(block.bytes)) return single_copy_swap(block, k);
  return make_shared_swap(block, link_, link_->out(k), link_->in(k));
}

std::unique_ptr<Swap> Swapper::single_copy_swap(const SwapBlock& block, std::size_t k) const {
  return make_single_copy_swap(block,
                               {.node = context_.node(),
                                .link = link_,
                                .out = &link_->out(k),
                                .in = &link_->in(k),
                                .first_half = context_.rank() < block.peer},
                               single_copies_);
}

Bytes ring_part(std::span<const Bytes> messages, std::uint32_t cells, Bytes memory) {
  const auto fits = [&](Bytes part) {
    Bytes all = 0;
    for (Bytes bytes : messages) all += 2 * (cells * Cell::bytes_for(std::min(part, bytes)) + page);
    return all <= memory;
  };
  for (Bytes part = largest_chunk; part >= page; part -= page)
    if (fits(part - cell_overhead)) return part - cell_overhead;
  return 0;
}

void compare_pairs(Context& context, const std::vector<Bytes>& given,
                   const std::vector<Bytes>& expected) {
  std::vector<Bytes> theirs(given.size());
  stay_together(context.comm());
  swap_all(given.data(), sizeof(Bytes), MPI_BYTE, theirs.data(), context.comm());
  run_collectively(context.comm(), [&] {
    for (std::size_t peer = 0; peer < theirs.size(); ++peer)
      if (theirs[peer] != expected[peer])
        fail(Errc::mismatch, "rank ", peer, " sends ", theirs[peer], " bytes to rank ",
             context.rank(), ", which expects ", expected[peer],
             " bytes from it; counts and types must match pairwise");
  });
}

void least_of_all(MPI_Comm comm, std::span<std::int64_t> words) {
  stay_together(comm);
  reduce_all(words.data(), static_cast<int>(words.size()), MPI_INT64_T, MPI_MIN, comm);
}

}  // namespace tonari
