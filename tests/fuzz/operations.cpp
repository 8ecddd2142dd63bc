// SPDX-License-Identifier: BSD-3-Clause
// The six operations, on graphs, grids of ranks and meshes, with any types.
#include <map>

#include "fuzz/exchange.hpp"
#include "support/one_shot.hpp"

namespace tonari::fuzz {
namespace {

using namespace tonari::test;

// A neighborhood that several exchanges of a case share, and what it is.
struct Near {
  Graph graph;
  tonari_neighborhood handle = TONARI_NEIGHBORHOOD_NULL;
  const Place* place = nullptr;
  int users = 0;
};

Topology random_grid(Random& common, int ranks) {
  Topology grid;
  const int d = pick(common, 1, 3);
  grid.dims.assign(static_cast<std::size_t>(d), 0);
  MPI_Dims_create(ranks, d, grid.dims.data());
  for (int k = 0; k < d; ++k) grid.periods.push_back(pick(common, 0, 1));
  return grid;
}

MPI_Comm make_cart(const Place& place, const Topology& grid) {
  MPI_Comm cart = MPI_COMM_NULL;
  MPI_Cart_create(place.comm, grid.dimensions(), grid.dims.data(), grid.periods.data(), 0, &cart);
  return cart;
}

// The same offsets everywhere, as a graph.
Graph graph_of(const Topology& grid, int ranks) {
  Graph graph{std::vector<Lists>(static_cast<std::size_t>(ranks)), "offsets"};
  for (int rank = 0; rank < ranks; ++rank)
    for (int i = 0; i < grid.count(); ++i) {
      Lists& lists = graph.of[static_cast<std::size_t>(rank)];
      lists.targets.push_back(grid.target(rank, i));
      lists.sources.push_back(grid.source(rank, i));
      lists.origins.push_back(i);
    }
  return graph;
}

// Sources ascending, each as often as it lists this rank.
void find_sources(Graph& graph) {
  for (Lists& lists : graph.of) lists.sources.clear();
  for (std::size_t from = 0; from < graph.of.size(); ++from)
    for (const int to : graph.of[from].targets)
      if (to >= 0) graph.of[static_cast<std::size_t>(to)].sources.push_back(static_cast<int>(from));
  find_origins(graph);
}

void make_offsets(Near& near, Random& common, MPI_Info info) {
  Topology grid = random_grid(common, near.place->ranks);
  const int s = pick(common, 0, 7);
  for (int k = 0; k < s * grid.dimensions(); ++k) grid.offsets.push_back(pick(common, -2, 2));
  near.graph = graph_of(grid, near.place->ranks);
  MPI_Comm cart = make_cart(*near.place, grid);
  must(tonari_neighborhood_create_cart(cart, s, grid.offsets.data(), info, &near.handle),
       "tonari_neighborhood_create_cart");
  MPI_Comm_free(&cart);
}

void make_from_grid(Near& near, Random& common, MPI_Info info) {
  const Topology grid = random_grid(common, near.place->ranks);
  near.graph = cartesian_graph(grid, near.place->ranks);
  MPI_Comm cart = make_cart(*near.place, grid);
  must(tonari_neighborhood_create_from_comm(cart, info, &near.handle),
       "tonari_neighborhood_create_from_comm");
  MPI_Comm_free(&cart);
}

void make_graph_of_lists(Near& near, Random& common, MPI_Info info, bool find) {
  near.graph = random_graph(common, near.place->ranks);
  if (find) find_sources(near.graph);
  const Lists& mine = near.graph.of[static_cast<std::size_t>(near.place->rank)];
  if (!find) {
    must(create_adjacent(near.place->comm, mine, info, &near.handle),
         "tonari_neighborhood_create_adjacent");
    return;
  }
  const std::vector<int> targets = as_mpi(mine.targets);
  must(tonari_neighborhood_create_from_destinations(
           near.place->comm, static_cast<int>(targets.size()), targets.data(), info, &near.handle),
       "tonari_neighborhood_create_from_destinations");
}

std::shared_ptr<Near> make_near(Draws& draws) {
  auto near = std::make_shared<Near>();
  near->place = &draws.place;
  const Info strict{{"cdag_strict_communication", "true"}};
  const MPI_Info info = pick(draws.common, 0, 5) == 0 ? MPI_Info(strict) : MPI_INFO_NULL;
  switch (pick(draws.common, 0, 5)) {
    case 0:
    case 1:
      make_offsets(*near, draws.common, info);
      break;
    case 2:
      make_from_grid(*near, draws.common, info);
      break;
    case 3:
      make_graph_of_lists(*near, draws.common, info, true);
      break;
    default:
      make_graph_of_lists(*near, draws.common, info, false);
  }
  return near;
}

class OperationExchange final : public Exchange {
 public:
  explicit OperationExchange(Draws& draws) : place_(draws.place) {
    near_ = shared_near(draws);
    ++near_->users;
    Random& common = draws.common;
    op_ = all_operations[pick(common, 0, 5)];
    sizes_ = random_sizes(common, op_, true);
    with_other_buffers_ = pick(common, 0, 3) == 0;
    const int width = pick(common, 0, 3);
    for (Buffers& b : both_) {
      Random twice = draws.own;  // the same displacements
      b = buffers(twice, width == 0);
    }
    draws.own.discard(1000);
    label = std::string(name(op_)) + " on " + near_->graph.name + ", blocks of " +
            std::to_string(sizes_.quantum) + " * " + std::to_string(sizes_.most) +
            (with_other_buffers_ ? ", other buffers" : "");
  }

  bool offers(Form) const override { return true; }
  bool fits_into_groups() const override { return true; }
  Keys keys(Random& common, Form) const override {
    static const char* const graphs[] = {"auto",
                                         "linear",
                                         "irecv",
                                         "coloring",
                                         "tree",
                                         "node-aware",
                                         "balanced",
                                         "native",
                                         "message-sharing",
                                         "store-and-forward",
                                         "common-neighborhood"};
    static const char* const offsets[] = {"auto",   "linear",       "irecv",
                                          "torus",  "torus-direct", "additive-basis",
                                          "native", "joint-basis"};
    Keys keys = neighbor_keys(common);
    std::string algorithm =
        near_->graph.name == "offsets" ? word(common, offsets) : word(common, graphs);
    // MPICH 4 loses bytes there, and blocks (mpi/quirks.hpp).
    if (algorithm == "native" && mpi_spins()) algorithm = "linear";
    keys.emplace_back("tonari_algorithm", algorithm);
    if (pick(common, 0, 3) == 0)
      keys.emplace_back("tonari_ports", std::to_string(pick(common, 1, 2)));
    if (!with_other_buffers_ && pick(common, 0, 3) == 0)
      keys.emplace_back("tonari_recv_view", "yes");
    return keys;
  }

  int init(MPI_Info info, tonari_request* request) override {
    return test::init(op_, both_[0].out, both_[0].in, near_->handle, info, request);
  }
  int start(tonari_request request) override {
    if (!with_other_buffers_) return tonari_start(request);
    turn_ = other_turn_;
    return tonari_start_with(request, now().out.buffer(), now().in.buffer());
  }
  int begin(MPI_Info, tonari_request* request) override {
    turn_ = other_turn_;
    return test::icall(op_, now().out, now().in, near_->handle, request);
  }
  int call(MPI_Info) override {
    turn_ = other_turn_;
    return test::call(op_, now().out, now().in, near_->handle);
  }

  void prepare(int round) override {
    other_turn_ = with_other_buffers_ ? static_cast<std::size_t>(round & 1) : 0;
    turn_ = 0;
    for (Buffers& b : both_) b.prepare(place_.rank, round);
  }
  std::string wrong(int round, tonari_request request) override {
    if (std::string said = read_views(request); !said.empty()) return said;
    if (std::string said = now().wrong(near_->graph, place_.rank, round); !said.empty())
      return said;
    const Buffers& other = both_[1 - turn_];
    const bool untouched = std::ranges::all_of(other.in.memory, [](Byte b) { return b == poison; });
    return untouched && other.out.memory == other.sent
               ? ""
               : "buffers were touched that were not passed";
  }
  void free() override {
    if (--near_->users == 0)
      must(tonari_neighborhood_free(&near_->handle), "tonari_neighborhood_free");
  }

 private:
  // Half of the time that of an earlier exchange on the same communicator.
  std::shared_ptr<Near> shared_near(Draws& draws) {
    const bool again = pick(draws.common, 0, 1);
    for (const auto& exchange : draws.earlier)
      if (auto* const other = dynamic_cast<OperationExchange*>(exchange.get());
          again && other && other->near_ && &other->place_ == &draws.place)
        return other->near_;
    return make_near(draws);
  }

  Buffers buffers(Random& own, bool large_counts) {
    Buffers b = make_buffers(own, near_->graph, place_.rank, op_, sizes_);
    b.out.large_counts = large_counts;
    for (Side* side : {&b.out, &b.in}) {
      const bool sends = side == &b.out;
      if (form(op_) == 0 || (gathers(op_) && sends)) continue;
      spoil_empty_blocks(*side, own);
      move_base(*side, own);
    }
    return b;
  }
  // What has no elements may lie anywhere.
  static void spoil_empty_blocks(Side& side, Random& own) {
    for (std::size_t i = 0; i < side.counts.size(); ++i)
      if (side.counts[i] == 0) side.displacements[i] = pick(own, -100000, 100000);
  }
  // The buffer that is passed may lie anywhere: displacements are negative then.
  void move_base(Side& side, Random& own) const {
    MPI_Aint low = 0, unit = 1;
    if (form(op_) == 1 && !side.types.empty()) MPI_Type_get_extent(side.types[0], &low, &unit);
    const std::ptrdiff_t room = static_cast<std::ptrdiff_t>(side.memory.size()) - side.base;
    const std::ptrdiff_t by = unit > 0 ? pick(own, 0, static_cast<int>(room / unit)) : 0;
    for (MPI_Aint& d : side.displacements) d -= by;
    side.base += by * unit;
  }

  // Blocks that stayed where they arrived are copied to where they would have come.
  std::string read_views(tonari_request request) {
    Buffers& b = now();
    const Lists& lists = near_->graph.of[static_cast<std::size_t>(place_.rank)];
    for (std::size_t j = 0; request && j < b.in.blocks.size(); ++j) {
      const std::vector<Piece>& block = b.in.blocks[j];
      const void* address = nullptr;
      MPI_Count bytes = 0;
      if (lists.sources[j] < 0 || block.empty() || !contiguous(block)) continue;
      must(tonari_request_recv_view(request, static_cast<int>(j), &address, &bytes),
           "tonari_request_recv_view");
      const auto* const from = static_cast<const Byte*>(address);
      Byte* const to = b.in.memory.data() + block[0].at;
      if (bytes != length_of(block)) return "the view of a block has another length";
      if (from >= b.in.memory.data() && from < b.in.memory.data() + b.in.memory.size()) {
        if (from != to) return "the view of a block lies elsewhere in the receive buffer";
        continue;
      }
      if (std::any_of(to, to + bytes, [](Byte byte) { return byte != poison; }))
        return "a block was written that has a view elsewhere";
      std::copy_n(from, bytes, to);
    }
    return "";
  }
  static bool contiguous(const std::vector<Piece>& block) {
    for (std::size_t k = 1; k < block.size(); ++k)
      if (block[k].at != block[k - 1].at + static_cast<std::ptrdiff_t>(block[k - 1].length))
        return false;
    return true;
  }
  static MPI_Count length_of(const std::vector<Piece>& block) {
    MPI_Count bytes = 0;
    for (const Piece& p : block) bytes += static_cast<MPI_Count>(p.length);
    return bytes;
  }

  Buffers& now() { return both_[turn_]; }

  const Place& place_;
  std::shared_ptr<Near> near_;
  Operation op_ = Operation::alltoall;
  Sizes sizes_{};
  Buffers both_[2] = {{op_, {}, {}, {}}, {op_, {}, {}, {}}};
  bool with_other_buffers_ = false;
  std::size_t turn_ = 0, other_turn_ = 0;  // whose buffers are used, and may be
};

}  // namespace

std::unique_ptr<Exchange> make_operation(Draws& draws) {
  return std::make_unique<OperationExchange>(draws);
}

}  // namespace tonari::fuzz
