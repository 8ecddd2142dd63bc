// SPDX-License-Identifier: BSD-3-Clause
// All collective calls of the library, each as something that can be done again and again.
#pragma once

#include <tonari/grid.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>

#include "engine/comm/calibrate.hpp"
#include "engine/comm/read_topology.hpp"
#include "engine/sparse_calls.hpp"
#include "engine/vector_calls.hpp"
#include "engine/wait/agree.hpp"
#include "support/connect_after.hpp"
#include "support/graph_exchange.hpp"
#include "support/schedule_files.hpp"

namespace tonari::test {

inline MPI_Comm cart_of_all() {
  static const MPI_Comm cart = make_cart(torus_of_all(1));  // until the end
  return cart;
}

inline Topology offsets_of_all() {
  Topology t = torus_of_all(1);
  t.offsets = box(1, -2, 2);
  return t;
}

inline Graph graph_of_all() {
  Edges edges = all_pairs(world_size());
  for (int r = 0; r < world_size(); ++r) edges.emplace_back(r, r), edges.emplace_back(r, 0);
  return make_graph(world_size(), edges);
}

inline tonari_neighborhood make_near(bool graph) {
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  const Topology t = offsets_of_all();
  const int code =
      graph ? create_adjacent(MPI_COMM_WORLD, graph_of_all().of[world_rank()], MPI_INFO_NULL, &near)
            : tonari_neighborhood_create_cart(cart_of_all(), t.count(), t.offsets.data(),
                                              MPI_INFO_NULL, &near);
  EXPECT_OK(code);
  return near;
}

struct MakeNear : Call {
  const bool graph;
  const Info info;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  const Topology t = offsets_of_all();
  const Lists lists = graph_of_all().of[world_rank()];
  const std::vector<int> bytes_in = std::vector<int>(lists.sources.size(), 8),
                         bytes_out = std::vector<int>(lists.targets.size(), 8);
  MakeNear(bool as_graph, bool promises)
      : graph(as_graph),
        info{{"cdag_exact_byte_communications", promises ? "true" : "false"},
             {"tonari_tune", "model"}} {}
  int make() override {
    if (!graph)
      return tonari_neighborhood_create_cart(cart_of_all(), t.count(), t.offsets.data(),
                                             MPI_INFO_NULL, &near);
    return tonari_neighborhood_create_adjacent(
        MPI_COMM_WORLD, static_cast<int>(lists.sources.size()), lists.sources.data(),
        bytes_in.data(), static_cast<int>(lists.targets.size()), lists.targets.data(),
        bytes_out.data(), info, &near);
  }
  void drop() override { EXPECT_OK(tonari_neighborhood_free(&near)); }
};

// On a neighborhood that is new each time, so that everything has to be found out.
struct Init : Requesting {
  const bool graph;
  const Info info;
  Buffers buffers;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  Init(bool as_graph, Operation op, std::initializer_list<std::pair<const char*, std::string>> keys)
      : graph(as_graph), info(keys) {
    Random random(4);
    if (graph) {
      buffers =
          make_buffers(random, graph_of_all(), world_rank(), op, {4, 9, gathers(op), true, 5});
    } else {
      const int blocks = offsets_of_all().count();
      buffers.op = op;
      buffers.out = regular_side(random, Style::vector, gathers(op) ? 1 : blocks, 28),
      buffers.in = regular_side(random, Style::resized, blocks, 28);
    }
    buffers.prepare(world_rank(), 1);
  }
  void set_up() override { near = make_near(graph); }
  int make() override { return init(buffers.op, buffers.out, buffers.in, near, info, &request); }
  void use() override {
    buffers.prepare(world_rank(), 2);
    Requesting::use();
    EXPECT_EQ(graph ? buffers.wrong(graph_of_all(), world_rank(), 2)
                    : buffers.wrong(offsets_of_all(), world_rank(), 2),
              "");
  }
  void tear_down() override { EXPECT_OK(tonari_neighborhood_free(&near)); }
};

// Each block goes over the next rank.
inline std::string schedule_of_all(ScheduleFolder& folder) {
  const auto matrix = matrix_of(graph_of_all());
  return folder.write(matrix, over_the_next_rank(matrix));
}

struct MakeFollowing : Call {
  ScheduleFolder folder;
  const Info info{{"tonari_schedule", schedule_of_all(folder)}};
  const Lists lists = graph_of_all().of[world_rank()];
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  int make() override {  // without memory of its own
    return tonari_neighborhood_create_adjacent(
        MPI_COMM_WORLD, static_cast<int>(lists.sources.size()), lists.sources.data(),
        MPI_UNWEIGHTED, static_cast<int>(lists.targets.size()), lists.targets.data(),
        MPI_UNWEIGHTED, info, &near);
  }
  void drop() override { EXPECT_OK(tonari_neighborhood_free(&near)); }
};

// An exchange that follows a schedule.
struct InitFollowing : Init {
  MakeFollowing following;
  explicit InitFollowing(Operation op) : Init(true, op, {{"tonari_tune", "off"}}) {}
  void set_up() override {
    EXPECT_OK(following.make());
    near = following.near;
  }
};

struct Once : Init {
  using Init::Init;
  int attempts(int usual) const override { return 6 * usual; }  // nearly all: they are short
  int make() override {
    Side &out = buffers.out, &in = buffers.in;
    if (graph)
      return tonari_alltoallv(out.buffer(), out.counts.data(), out.displacements.data(),
                              out.types[0], in.buffer(), in.counts.data(), in.displacements.data(),
                              in.types[0], near);
    return tonari_ialltoall(out.buffer(), out.counts[0], out.types[0], in.buffer(), in.counts[0],
                            in.types[0], near, &request);
  }
  void use() override {
    if (graph) return;
    EXPECT_OK(tonari_wait(request));
  }
  void drop() override {
    tonari_wait(request);
    Init::drop();
  }
};

// Its ranks connect later.
struct FirstOnce : Once {
  using Once::Once;
  void set_up() override {
    const ConnectAfter calls("8");
    Once::set_up();
  }
};

// A shape that is new to a neighborhood whose ranks are connected.
struct OnceMore : Once {
  using Once::Once;
  void set_up() override {
    Once::set_up();
    EXPECT_OK(tonari_alltoall(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, near));
  }
  // The error of a neighbor comes at completion.
  int make() override {
    int code = Once::make();
    if (code == TONARI_SUCCESS) code = tonari_wait(request);
    if (code != TONARI_SUCCESS) {
      EXPECT_OK(tonari_request_free(&request));
    }
    return code;
  }
  // Only neighbors hear of it (tonari_alltoall): here those at a distance of up to two in a ring,
  // or all in the graph.
  bool hears_of(int other) const override {
    const int distance = std::abs(world_rank() - other);
    return graph || std::min(distance, world_size() - distance) <= 2;
  }
};

struct InPlaceCall : Requesting {
  const bool general;
  const Info info;
  std::vector<double> values = std::vector<double>(static_cast<std::size_t>(world_size()) * 40);
  std::vector<int> counts = std::vector<int>(static_cast<std::size_t>(world_size()), 40);
  std::vector<MPI_Aint> places;
  MPI_Comm comm = MPI_COMM_NULL;
  InPlaceCall(bool generally, const char* channel, const char* tune = "off",
              const char* memory = "1048576")
      : general(generally),
        info{
            {"tonari_channel", channel}, {"tonari_tune", tune}, {"tonari_inplace_memory", memory}} {
    for (int r = 0; r < world_size(); ++r) places.push_back(40 * r);
    std::iota(values.begin(), values.end(), 1e6 * world_rank());
  }
  void set_up() override { MPI_Comm_dup(MPI_COMM_WORLD, &comm); }  // what it keeps is made anew
  int make() override {
    if (!general)
      return tonari_alltoall_inplace_init(values.data(), 40, MPI_DOUBLE, comm, info, &request);
    return tonari_alltoallv_inplace_general_init(values.data(), counts.data(), places.data(),
                                                 counts.data(), places.data(), MPI_DOUBLE, comm,
                                                 info, &request);
  }
  // Twice, so that all is where it was, as it is after init, also where that had no memory.
  void use() override {
    for (int twice = 0; twice < 2; ++twice) Requesting::use();
  }
  void tear_down() override {
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < values.size(); ++k)
      wrong += values[k] != 1e6 * world_rank() + static_cast<double>(k);
    EXPECT_EQ(wrong, 0u);
    MPI_Comm_free(&comm);
  }
};

// Another one was kept.
struct InPlaceOnce : InPlaceCall {
  InPlaceOnce() : InPlaceCall(false, "auto") {}
  void set_up() override {
    InPlaceCall::set_up();
    std::vector<int> few(static_cast<std::size_t>(world_size()));
    EXPECT_OK(tonari_alltoall_inplace(few.data(), 1, MPI_INT, comm, info));
  }
  int make() override { return tonari_alltoall_inplace(values.data(), 40, MPI_DOUBLE, comm, info); }
  void use() override { EXPECT_OK(make()); }  // back to where it was
  void drop() override {}
};

inline tonari_grid_shape small_shape(int storage, bool mapped_ghosts) {
  tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
  shape.dims = 1, shape.cells[0] = 32 * world_size(), shape.lower[0] = shape.upper[0] = 8;
  shape.type = MPI_DOUBLE, shape.storage = storage, shape.copies = mapped_ghosts ? 2 : 1,
  shape.mapped_ghosts = mapped_ghosts;
  if (storage != TONARI_STORAGE_ARRAY) shape.brick[0] = 8;
  return shape;
}

struct MakeGrid : Call {
  const tonari_grid_shape shape;
  tonari_grid grid = TONARI_GRID_NULL;
  MakeGrid(int storage, bool mapped_ghosts) : shape(small_shape(storage, mapped_ghosts)) {}
  int make() override {
    return tonari_grid_create(cart_of_all(), &shape, nullptr, MPI_INFO_NULL, &grid);
  }
  void drop() override { EXPECT_OK(tonari_grid_free(&grid)); }
};

struct HaloInit : Requesting {
  const tonari_grid_shape shape;
  const Info info;
  tonari_grid grid = TONARI_GRID_NULL;
  bool used = false;
  HaloInit(int storage, bool mapped_ghosts, const char* tune)
      : shape(small_shape(storage, mapped_ghosts)), info{{"tonari_tune", tune}} {}
  void set_up() override {
    used = false;
    EXPECT_OK(tonari_grid_create(cart_of_all(), &shape, nullptr, MPI_INFO_NULL, &grid));
  }
  void use() override {
    if (!used || !shape.mapped_ghosts) Requesting::use();  // mapped copies are exchanged in turn
    used = true;
  }
  int make() override { return tonari_grid_exchange_init(grid, 0, info, &request); }
  void tear_down() override { EXPECT_OK(tonari_grid_free(&grid)); }
};

// What the cost model asks of the machine, if nothing is remembered of it.
struct Measure : Call {
  const std::shared_ptr<const tonari::Node> node =
      tonari::read_node(MPI_COMM_WORLD,
                        tonari::emulated_node(MPI_COMM_WORLD, tonari::nodes_in_environment()),
                        [] { tonari::stay_together(MPI_COMM_WORLD); })
          .node;
  int make() override {
    const auto error = tonari::error_of([&] {
      tonari::run_collectively(MPI_COMM_WORLD, [&] {
        bool complete = false;
        tonari::measure_machine(MPI_COMM_WORLD, node, complete);
      });
    });
    return error ? static_cast<int>(error->code()) : TONARI_SUCCESS;
  }
  int attempts(int usual) const override { return usual / 4; }  // each takes milliseconds
};

struct Named {
  const char* name;
  std::function<std::unique_ptr<Call>()> make;
};
inline void PrintTo(const Named& call, std::ostream* out) { *out << call.name; }

template <class C, class... Arguments>
Named named(const char* name, Arguments... arguments) {
  return {name, [=] { return std::make_unique<C>(arguments...); }};
}

inline Named init_call(const char* name, bool graph, Operation op, const std::string& tune,
                       const std::string& channel = "auto", const std::string& algorithm = "auto") {
  return {
      name, [=] {
        return std::unique_ptr<Call>(new Init(
            graph, op,
            {{"tonari_tune", tune}, {"tonari_channel", channel}, {"tonari_algorithm", algorithm}}));
      }};
}

template <class C>
Named once_call(const char* name, bool graph, Operation op) {
  return {name, [=] { return std::unique_ptr<Call>(new C(graph, op, {})); }};
}

inline const Named calls[] = {
    init_call("AlltoallOff", false, Operation::alltoall, "off"),
    init_call("AlltoallModel", false, Operation::alltoall, "model"),
    init_call("AlltoallMeasure", false, Operation::alltoall, "measure"),
    init_call("AlltoallOnline", false, Operation::alltoall, "online"),
    init_call("AllgatherMeasure", false, Operation::allgather, "measure"),
    init_call("AlltoallShared", false, Operation::alltoall, "off", "shared", "torus"),
    init_call("AlltoallOnesided", false, Operation::alltoall, "off", "onesided"),
    init_call("AlltoallNative", false, Operation::alltoall, "off", "auto", "native"),
    init_call("GraphAlltoallvOff", true, Operation::alltoallv, "off"),
    init_call("GraphAlltoallwModel", true, Operation::alltoallw, "model"),
    init_call("GraphAlltoallvMeasure", true, Operation::alltoallv, "measure"),
    init_call("GraphAlltoallvOnline", true, Operation::alltoallv, "online"),
    init_call("GraphAllgatherMeasure", true, Operation::allgather, "measure"),
    init_call("GraphOnesided", true, Operation::alltoallv, "off", "shared+onesided"),
    once_call<Once>("AlltoallOnce", false, Operation::alltoall),
    once_call<Once>("GraphAlltoallvOnce", true, Operation::alltoallv),
    once_call<FirstOnce>("AlltoallFirst", false, Operation::alltoall),
    once_call<FirstOnce>("GraphAlltoallvFirst", true, Operation::alltoallv),
    once_call<OnceMore>("AlltoallNewShape", false, Operation::alltoall),
    once_call<OnceMore>("GraphAlltoallvNewShape", true, Operation::alltoallv),
    named<Measure>("MeasureMachine"),
    named<MakeNear>("MakeCart", false, false),
    named<MakeNear>("MakeAdjacent", true, false),
    named<MakeNear>("MakePromised", true, true),
    named<MakeFollowing>("MakeFollowing"),
    named<InitFollowing>("FollowingAlltoallv", Operation::alltoallv),
    named<InitFollowing>("FollowingAllgather", Operation::allgather),
    named<NearFromDestinations>("MakeFromDestinations"),
    named<SparseCall>("SparsePairwise", "pairwise", false),
    named<SparseCall>("SparsePairwiseLong", "pairwise", true),
    named<SparseCall>("SparseNbx", "nbx", false),
    named<SparseCall>("SparseNbxLong", "nbx", true),
    named<SparseCall>("SparsePersonalized", "personalized", true),
    named<SparseInFlightCall>("SparseInFlight", "pairwise", true),
    named<SparseInFlightCall>("SparseInFlightNbx", "nbx", true),
    named<SparseCall>("SparseForwarded", "store-and-forward/1", true),
    named<InPlaceCall>("InPlaceShared", false, "shared"),
    named<InPlaceCall>("InPlacePacked", false, "p2p-packed"),
    named<InPlaceCall>("InPlaceMeasure", false, "auto", "measure"),
    named<InPlaceCall>("InPlaceMeasureItself", false, "auto", "measure", "500"),
    named<InPlaceCall>("InPlaceGeneral", true, "p2p-packed"),
    named<InPlaceOnce>("InPlaceOnce"),
    named<MakeVector>("VectorDirect", "direct"),
    named<MakeVector>("VectorAuto", "auto"),
    named<MakeVector>("VectorBalanced", "balanced"),
    named<MakeVector>("VectorMessageSharing", "message-sharing"),
    named<VectorInit>("VectorForwardOff", false, "off"),
    named<VectorInit>("VectorReverseMeasure", true, "measure"),
    named<VectorOnce>("VectorOnce"),
    named<VectorOnceMore>("VectorNewKind"),
    named<MakeVectorOfLists>("VectorFromNeighbors", false),
    named<MakeVectorOfLists>("VectorFromIds", true),
    named<VectorFieldsInit>("VectorFields"),
    named<MakeGrid>("GridArray", TONARI_STORAGE_ARRAY, false),
    named<MakeGrid>("GridMapped", TONARI_STORAGE_MAPPED, false),
    named<MakeGrid>("GridMappedGhosts", TONARI_STORAGE_MAPPED, true),
    named<HaloInit>("HaloOff", TONARI_STORAGE_BRICK, false, "off"),
    named<HaloInit>("HaloMeasure", TONARI_STORAGE_ARRAY, false, "measure"),
    named<HaloInit>("HaloMapped", TONARI_STORAGE_MAPPED, true, "measure"),
};

}  // namespace tonari::test
