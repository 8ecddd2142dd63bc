#include "engine/in_place.hpp"

#include <algorithm>
#include <limits>

#include "channels/mpi_error.hpp"
#include "channels/p2p/swap.hpp"
#include "channels/shared/connect.hpp"
#include "channels/shared/swap.hpp"
#include "engine/agree.hpp"
#include "engine/swap_exchange.hpp"
#include "engine/wiring.hpp"
#include "planners/in_place/plan.hpp"

namespace tonari {
namespace {

constexpr std::size_t largest_chunk = 128 * 1024;
// of one swap by MPI: enough to hide the way of one behind the copy of another
constexpr std::size_t chunks_at_once = 4;
constexpr Bytes worthwhile_part = 4 * 4096 - Cell::alignment;
constexpr std::size_t page = 4096;  // only to count with: the smallest that is in use
constexpr std::size_t cell_overhead = Cell::alignment;

// Small blocks need no larger chunks: more of them fit.
std::size_t chunk_for(Bytes least_memory, Bytes largest_block) {
  return static_cast<std::size_t>(std::clamp<Bytes>(
      std::min(least_memory / (2 * chunks_at_once), largest_block), 1, largest_chunk));
}

// Collective: each word becomes the least of all ranks. Exchanges in flight go on meanwhile.
void least_of_all(MPI_Comm comm, std::span<std::int64_t> words) {
  stay_together(comm);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(MPI_IN_PLACE, words.data(), static_cast<int>(words.size()), MPI_INT64_T,
                           MPI_MIN, comm, &request),
            "MPI_Iallreduce");
  complete_while_driving(request);
}

class Maker {
 public:
  Maker(Context& context, const std::vector<SwapBlock>& blocks, const SwapSettings& settings)
      : context_(context),
        blocks_(blocks),
        settings_(settings),
        memory_(std::max<Bytes>(settings.memory, 1)),
        least_(std::max<Bytes>(settings.least_memory, 1)) {}

  InPlace make() {
    const bool both = settings_.shared && context_.shares_memory() && context_.several_nodes();
    // the larger half: at least a byte
    if (both) memory_ = memory_ - memory_ / 2, least_ = least_ - least_ / 2;
    made_.chunk = chunk_for(least_, settings_.largest_block);
    if (settings_.shared && context_.shares_memory()) connect();
    if (both && !link_) memory_ = std::max<Bytes>(settings_.memory, 1);
    run_collectively(context_.comm(), [&] { assemble(); });
    return std::move(made_);
  }

 private:
  bool shared(std::int32_t peer) const { return link_ && context_.node()->here(peer); }
  bool swaps(std::int32_t peer) const { return peer != context_.rank() && blocks_[peer].bytes > 0; }

  // Rings for the ranks of this node, if they fit on all nodes.
  void connect() {
    std::vector<EdgeMessage> messages;
    std::vector<Bytes> sizes;
    for (std::int32_t peer : context_.node()->ranks()) {
      if (!swaps(peer)) continue;
      messages.push_back({peer, 0, blocks_[peer].bytes});
      sizes.push_back(blocks_[peer].bytes);
      neighbors_.push_back(peer);
    }
    SharedLimits limits{.canary = 0, .whole = 0, .single_copy = 0, .ring = true};
    // Several cells let both ends work at a time; where many ranks share the memory, one cell of
    // some size is better than several small ones.
    for (limits.cells = Lane::pipeline_cells; limits.cells > 0; limits.cells /= 2)
      if ((limits.chunk = ring_part(sizes, limits.cells, least_)) >= worthwhile_part ||
          limits.cells == 1)
        break;
    agree_on_rings(limits, sizes.empty());
    if (limits.chunk > 0)
      link_ = connect_segments(connect_group(context_), messages, messages, limits, made_.refusal);
    else
      made_.refusal = text("cells for the ranks of a node do not fit into tonari_inplace_memory (",
                           settings_.memory, " bytes on this rank)");
  }

  // The smallest of all ranks: the rings in which a rank sends are those of others, and count for
  // it, too. 0: they do not fit everywhere.
  void agree_on_rings(SharedLimits& limits, bool abstains) const {
    std::int64_t words[] = {limits.cells, static_cast<std::int64_t>(limits.chunk)};
    if (abstains) words[0] = Lane::pipeline_cells, words[1] = largest_chunk;
    least_of_all(context_.comm(), words);
    limits.cells = static_cast<std::uint32_t>(words[0]);
    limits.chunk = static_cast<Bytes>(words[1]);
  }

  // Chunks with which a swap by MPI runs at full speed; data that is spread out needs two for each
  // on its way.
  std::size_t chunks(const SwapBlock& block) const {
    const std::size_t parts =
        static_cast<std::size_t>((block.bytes + made_.chunk - 1) / made_.chunk);
    return std::min(parts, chunks_at_once) * (!block.contiguous() && made_.chunk > 1 ? 2 : 1);
  }

  void assemble() {
    std::vector<SwapNeed> needs(blocks_.size());
    for (std::int32_t peer = 0; peer < context_.ranks(); ++peer)
      if (swaps(peer))
        needs[peer] = {blocks_[peer].bytes, shared(peer) ? 0 : chunks(blocks_[peer]) * made_.chunk};
    const Bytes pool_bytes = std::max<Bytes>(memory_ / made_.chunk, 1) * made_.chunk;
    const std::vector<std::int32_t> order =
        partners(settings_.order, context_.rank(), context_.ranks(), context_.shared().node_of());
    const Plan plan = plan_inplace(context_.rank(), order, needs, pool_bytes);

    SwapExchange::Parts parts;
    const std::shared_ptr<ChunkPool> pool = make_pool(needs, pool_bytes);
    Bytes straight = 0;
    for (const Operation& op : plan.operations()) {
      const SwapBlock& block = blocks_[op.peer];
      parts.swaps.push_back(shared(op.peer) ? shared_swap(op.peer)
                                            : p2p_swap(op.peer, needs[op.peer], pool));
      if (!shared(op.peer)) straight += (block.bytes + made_.chunk - 1) / made_.chunk;
      parts.bytes += block.bytes;
    }
    parts.link = link_;
    parts.comm = context_.shared_comm();
    // a look at all swaps takes as long as giving the core away
    parts.wait = {context_.node()->crowded(), settings_.timeout, 1};
    parts.memory = (pool ? pool->chunk() * pool->count() : 0) + (link_ ? link_->bytes() : 0);
    parts.messages = static_cast<int>(std::min<Bytes>(straight + (link_ ? link_->messages() : 0),
                                                      std::numeric_limits<int>::max()));
    if (link_ && link_->messages() > 0)
      parts.channel_mix = text(link_->messages(), " shared",
                               straight > 0 ? text(", ", straight, " p2p-packed") : "");
    made_.channel = !link_                     ? "p2p-packed"
                    : context_.several_nodes() ? "shared+p2p-packed"
                                               : "shared";
    made_.exchange = std::make_unique<SwapExchange>(plan, std::move(parts));
  }

  // As large as memory allows, but no larger than all swaps together could use.
  std::shared_ptr<ChunkPool> make_pool(const std::vector<SwapNeed>& needs, Bytes most) const {
    Bytes wanted = 0;
    for (const SwapNeed& need : needs) wanted += need.memory;
    if (wanted == 0) return nullptr;
    return std::make_shared<ChunkPool>(
        made_.chunk, static_cast<std::size_t>(std::min(wanted, most) / made_.chunk));
  }

  std::unique_ptr<Swap> p2p_swap(std::int32_t peer, const SwapNeed& need,
                                 const std::shared_ptr<ChunkPool>& pool) const {
    const auto chunks =
        static_cast<std::size_t>(granted(need, pool->chunk() * pool->count()) / made_.chunk);
    return make_p2p_swap(blocks_[peer], pool, chunks, context_.shared_comm(), context_.first_tag());
  }

  std::unique_ptr<Swap> shared_swap(std::int32_t peer) const {
    const auto k =
        static_cast<std::size_t>(std::ranges::find(neighbors_, peer) - neighbors_.begin());
    return make_shared_swap(blocks_[peer], link_, link_->out(k), link_->in(k));
  }

  Context& context_;
  const std::vector<SwapBlock>& blocks_;
  const SwapSettings& settings_;
  Bytes memory_, least_;
  // ranks of the node that this one swaps with, in the order of the link's edges
  std::vector<std::int32_t> neighbors_;
  std::shared_ptr<SharedLink> link_;
  InPlace made_;
};

}  // namespace

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

InPlace make_symmetric(Context& context, const std::vector<SwapBlock>& blocks,
                       const SwapSettings& settings) {
  context.reserve_tags(1);
  InPlace made = Maker(context, blocks, settings).make();
  context.take_tags(1);
  return made;
}

void compare_pairs(Context& context, const std::vector<Bytes>& given,
                   const std::vector<Bytes>& expected) {
  std::vector<Bytes> theirs(given.size());
  stay_together(context.comm());
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ialltoall(given.data(), sizeof(Bytes), MPI_BYTE, theirs.data(), sizeof(Bytes),
                          MPI_BYTE, context.comm(), &request),
            "MPI_Ialltoall");
  complete_while_driving(request);
  run_collectively(context.comm(), [&] {
    for (std::size_t peer = 0; peer < theirs.size(); ++peer)
      if (theirs[peer] != expected[peer])
        fail(Errc::mismatch, "rank ", peer, " sends ", theirs[peer], " bytes to rank ",
             context.rank(), ", which expects ", expected[peer],
             " bytes from it; counts and types must match pairwise");
  });
}

void agree_on_limits(MPI_Comm comm, SwapSettings& settings) {
  constexpr Bytes limit = std::numeric_limits<std::int64_t>::max();
  std::int64_t words[] = {static_cast<std::int64_t>(std::min(settings.memory, limit)),
                          -static_cast<std::int64_t>(std::min(settings.largest_block, limit))};
  least_of_all(comm, words);
  settings.least_memory = static_cast<Bytes>(words[0]);
  settings.largest_block = static_cast<Bytes>(-words[1]);
}

}  // namespace tonari
