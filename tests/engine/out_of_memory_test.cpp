// One rank runs out of memory in the middle of a collective call, at its k-th allocation for many k:
// nobody waits for it for ever, all ranks return the same code, nothing is left behind, and the same
// call succeeds right afterwards.
#include <tonari/grid.h>
#include <tonari/vector.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <thread>

#include "engine/agree.hpp"
#include "engine/calibrate.hpp"
#include "engine/read_topology.hpp"
#include "support/counting.hpp"
#include "support/graph_exchange.hpp"

namespace {

using namespace tonari::test;

// Ends the program, and says where, if ranks wait for each other for too long.
class Watchdog {
 public:
  Watchdog() : thread_([this] { watch(); }) {}
  ~Watchdog() {
    over_ = true;
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  void look_at(const std::string& call, int victim, long k, bool once) {
    std::snprintf(says_, sizeof says_, "%s: rank %d has no memory at its allocation %ld%s",
                  call.c_str(), victim, k, once ? "" : " and later");
    ++beat_;
  }

 private:
  void watch() {
    long seen = beat_;
    auto since = std::chrono::steady_clock::now();
    for (; !over_; std::this_thread::sleep_for(std::chrono::milliseconds(50))) {
      if (const long now = beat_; now != seen) seen = now, since = std::chrono::steady_clock::now();
      if (std::chrono::steady_clock::now() - since < std::chrono::seconds(limit)) continue;
      std::fprintf(stderr, "rank %d still waits after %d seconds: %s\n", world_rank(), limit, says_);
      std::abort();
    }
  }
  static constexpr int limit = 20;
  std::atomic<bool> over_{false};
  std::atomic<long> beat_{0};
  char says_[200] = "";
  std::thread thread_;
};

// A collective call, again and again.
struct Call {
  virtual ~Call() = default;
  virtual void set_up() {}     // before each attempt
  virtual int make() = 0;      // where memory is short
  virtual void use() {}        // what it made
  virtual void drop() {}       // what it made, if it did
  virtual void tear_down() {}  // after each attempt
  virtual int attempts(int usual) const { return usual; }
};

// A request or nothing.
struct Requesting : Call {
  tonari_request request = TONARI_REQUEST_NULL;
  void use() override {
    EXPECT_EQ(tonari_start(request), TONARI_SUCCESS) << tonari_last_error();
    EXPECT_EQ(tonari_wait(request), TONARI_SUCCESS) << tonari_last_error();
  }
  void drop() override { EXPECT_EQ(tonari_request_free(&request), TONARI_SUCCESS); }
};

MPI_Comm cart_of_all() {
  static const MPI_Comm cart = make_cart(torus_of_all(1));  // until the end
  return cart;
}

Topology offsets_of_all() {
  Topology t = torus_of_all(1);
  t.offsets = box(1, -2, 2);
  return t;
}

Graph graph_of_all() {
  Edges edges = all_pairs(world_size());
  for (int r = 0; r < world_size(); ++r) edges.emplace_back(r, r), edges.emplace_back(r, 0);
  return make_graph(world_size(), edges);
}

tonari_neighborhood make_near(bool graph) {
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  const Topology t = offsets_of_all();
  const int code =
      graph ? create_adjacent(MPI_COMM_WORLD, graph_of_all().of[world_rank()], MPI_INFO_NULL, &near)
            : tonari_neighborhood_create_cart(cart_of_all(), t.count(), t.offsets.data(), MPI_INFO_NULL,
                                              &near);
  EXPECT_EQ(code, TONARI_SUCCESS) << tonari_last_error();
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
      return tonari_neighborhood_create_cart(cart_of_all(), t.count(), t.offsets.data(), MPI_INFO_NULL,
                                             &near);
    return tonari_neighborhood_create_adjacent(
        MPI_COMM_WORLD, static_cast<int>(lists.sources.size()), lists.sources.data(), bytes_in.data(),
        static_cast<int>(lists.targets.size()), lists.targets.data(), bytes_out.data(), info, &near);
  }
  void drop() override { EXPECT_EQ(tonari_neighborhood_free(&near), TONARI_SUCCESS); }
};

// On a neighbourhood that is new each time, so that everything has to be found out.
struct Init : Requesting {
  const bool graph;
  const Info info;
  Buffers buffers;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  Init(bool as_graph, Operation op, std::initializer_list<std::pair<const char*, std::string>> keys)
      : graph(as_graph), info(keys) {
    Random random(4);
    if (graph) {
      buffers = make_buffers(random, graph_of_all(), world_rank(), op, {4, 9, gathers(op), true, 5});
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
  void tear_down() override { EXPECT_EQ(tonari_neighborhood_free(&near), TONARI_SUCCESS); }
};

struct Once : Init {
  using Init::Init;
  int make() override {
    Side &out = buffers.out, &in = buffers.in;
    if (graph)
      return tonari_alltoallv(out.buffer(), out.counts.data(), out.displacements.data(), out.types[0],
                              in.buffer(), in.counts.data(), in.displacements.data(), in.types[0],
                              near);
    return tonari_ialltoall(out.buffer(), out.counts[0], out.types[0], in.buffer(), in.counts[0],
                            in.types[0], near, &request);
  }
  void use() override {
    if (graph) return;
    EXPECT_EQ(tonari_wait(request), TONARI_SUCCESS) << tonari_last_error();
  }
  void drop() override {
    tonari_wait(request);
    Init::drop();
  }
};

struct InPlaceCall : Requesting {
  const bool general;
  const Info info;
  std::vector<double> values = std::vector<double>(static_cast<std::size_t>(world_size()) * 40);
  std::vector<int> counts = std::vector<int>(static_cast<std::size_t>(world_size()), 40);
  std::vector<MPI_Aint> places;
  MPI_Comm comm = MPI_COMM_NULL;
  InPlaceCall(bool generally, const char* channel)
      : general(generally), info{{"tonari_channel", channel}} {
    for (int r = 0; r < world_size(); ++r) places.push_back(40 * r);
  }
  void set_up() override {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  }  // what communicators keep is made anew
  int make() override {
    if (!general)
      return tonari_alltoall_inplace_init(values.data(), 40, MPI_DOUBLE, comm, info, &request);
    return tonari_alltoallv_inplace_general_init(values.data(), counts.data(), places.data(),
                                                 counts.data(), places.data(), MPI_DOUBLE, comm, info,
                                                 &request);
  }
  void tear_down() override { MPI_Comm_free(&comm); }
};

// Everybody owns ten values and needs all values of the others.
struct VectorData {
  std::vector<std::int64_t> needs;
  std::vector<double> owned = std::vector<double>(10, 1.5), ghosts;
  VectorData() {
    for (int i = 0; i < 10 * world_size(); ++i)
      if (i / 10 != world_rank()) needs.push_back(i);
    ghosts.resize(needs.size());
  }
  int create(MPI_Info info, tonari_vector* vector) const {
    return tonari_vector_create(MPI_COMM_WORLD, 10 * world_rank(), 10,
                                static_cast<std::int64_t>(needs.size()), needs.data(), info, vector);
  }
};

struct MakeVector : Call {
  const Info info;
  const VectorData data;
  tonari_vector vector = TONARI_VECTOR_NULL;
  explicit MakeVector(const char* route) : info{{"tonari_route", route}} {}
  int make() override { return data.create(info, &vector); }
  void drop() override { EXPECT_EQ(tonari_vector_free(&vector), TONARI_SUCCESS); }
};

struct VectorInit : Requesting {
  const bool reverse;
  const Info info;
  VectorData data;
  tonari_vector vector = TONARI_VECTOR_NULL;
  VectorInit(bool backwards, const char* tune) : reverse(backwards), info{{"tonari_tune", tune}} {}
  void set_up() override {
    EXPECT_EQ(data.create(MPI_INFO_NULL, &vector), TONARI_SUCCESS) << tonari_last_error();
  }
  int make() override {
    tonari_vector_values values{};
    values.type = MPI_DOUBLE;
    return reverse ? tonari_vector_reverse_init(vector, &values, MPI_SUM, data.ghosts.data(),
                                                data.owned.data(), info, &request)
                   : tonari_vector_forward_init(vector, &values, data.owned.data(), data.ghosts.data(),
                                                info, &request);
  }
  void tear_down() override { EXPECT_EQ(tonari_vector_free(&vector), TONARI_SUCCESS); }
};

struct VectorOnce : VectorInit {
  VectorOnce() : VectorInit(false, "auto") {}
  int make() override {
    return tonari_vector_forward(vector, nullptr, data.owned.data(), data.ghosts.data());
  }
  void use() override {}
  void drop() override {}
};

tonari_grid_shape small_shape(int storage, bool mapped_ghosts) {
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
  void drop() override { EXPECT_EQ(tonari_grid_free(&grid), TONARI_SUCCESS); }
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
    EXPECT_EQ(tonari_grid_create(cart_of_all(), &shape, nullptr, MPI_INFO_NULL, &grid), TONARI_SUCCESS)
        << tonari_last_error();
  }
  void use() override {
    if (!used || !shape.mapped_ghosts) Requesting::use();  // mapped copies are exchanged in turn
    used = true;
  }
  int make() override { return tonari_grid_exchange_init(grid, 0, info, &request); }
  void tear_down() override { EXPECT_EQ(tonari_grid_free(&grid), TONARI_SUCCESS); }
};

// What the cost model asks of the machine, if nothing is remembered of it.
struct Measure : Call {
  const std::shared_ptr<const tonari::Node> node = tonari::read_node(MPI_COMM_WORLD).node;
  int make() override {
    const auto error = tonari::caught([&] {
      tonari::together(MPI_COMM_WORLD, [&] { tonari::measure_machine(MPI_COMM_WORLD, node); });
    });
    return error ? static_cast<int>(error->code()) : TONARI_SUCCESS;
  }
  int attempts(int usual) const override { return usual / 4; }  // each takes half a second
};

struct Named {
  const char* name;
  std::function<std::unique_ptr<Call>()> make;
};
void PrintTo(const Named& call, std::ostream* out) { *out << call.name; }

template <class C, class... Arguments>
Named named(const char* name, Arguments... arguments) {
  return {name, [=] { return std::make_unique<C>(arguments...); }};
}

Named init_call(const char* name, bool graph, Operation op, const std::string& tune,
                const std::string& channel = "auto", const std::string& algorithm = "auto") {
  return {name, [=] {
            return std::unique_ptr<Call>(new Init(
                graph, op,
                {{"tonari_tune", tune}, {"tonari_channel", channel}, {"tonari_algorithm", algorithm}}));
          }};
}

Named once_call(const char* name, bool graph, Operation op) {
  return {name, [=] { return std::unique_ptr<Call>(new Once(graph, op, {})); }};
}

const Named calls[] = {
    init_call("AlltoallOff", false, Operation::alltoall, "off"),
    init_call("AlltoallModel", false, Operation::alltoall, "model"),
    init_call("AlltoallMeasure", false, Operation::alltoall, "measure"),
    init_call("AllgatherMeasure", false, Operation::allgather, "measure"),
    init_call("AlltoallShared", false, Operation::alltoall, "off", "shared", "torus"),
    init_call("AlltoallOnesided", false, Operation::alltoall, "off", "onesided"),
    init_call("AlltoallNative", false, Operation::alltoall, "off", "auto", "native"),
    init_call("GraphAlltoallvOff", true, Operation::alltoallv, "off"),
    init_call("GraphAlltoallwModel", true, Operation::alltoallw, "model"),
    init_call("GraphAlltoallvMeasure", true, Operation::alltoallv, "measure"),
    init_call("GraphAllgatherMeasure", true, Operation::allgather, "measure"),
    init_call("GraphOnesided", true, Operation::alltoallv, "off", "shared+onesided"),
    once_call("AlltoallOnce", false, Operation::alltoall),
    once_call("GraphAlltoallvOnce", true, Operation::alltoallv),
    named<Measure>("MeasureMachine"),
    named<MakeNear>("MakeCart", false, false),
    named<MakeNear>("MakeAdjacent", true, false),
    named<MakeNear>("MakePromised", true, true),
    named<InPlaceCall>("InPlaceShared", false, "shared"),
    named<InPlaceCall>("InPlacePacked", false, "p2p-packed"),
    named<InPlaceCall>("InPlaceGeneral", true, "p2p-packed"),
    named<MakeVector>("VectorDirect", "direct"),
    named<MakeVector>("VectorAuto", "auto"),
    named<VectorInit>("VectorForwardOff", false, "off"),
    named<VectorInit>("VectorReverseMeasure", true, "measure"),
    named<VectorOnce>("VectorOnce"),
    named<MakeGrid>("GridArray", TONARI_STORAGE_ARRAY, false),
    named<MakeGrid>("GridMapped", TONARI_STORAGE_MAPPED, false),
    named<MakeGrid>("GridMappedGhosts", TONARI_STORAGE_MAPPED, true),
    named<HaloInit>("HaloOff", TONARI_STORAGE_BRICK, false, "off"),
    named<HaloInit>("HaloMeasure", TONARI_STORAGE_ARRAY, false, "measure"),
    named<HaloInit>("HaloMapped", TONARI_STORAGE_MAPPED, true, "measure"),
};

class ShortOfMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (!counts_allocations()) GTEST_SKIP() << "this program's memory is not ours to give";
    if (world_size() == 1) GTEST_SKIP() << "nobody waits";
    setenv("TONARI_TUNE_SECONDS", "0.002", 1);  // contests of a few rounds
  }
  void TearDown() override { unsetenv("TONARI_TUNE_SECONDS"); }

  // One attempt in which nothing fails, and how many allocations it takes here.
  static long allocations_of(Call& call) {
    call.set_up();
    fail_allocation(0);
    EXPECT_EQ(call.make(), TONARI_SUCCESS) << tonari_last_error();
    const long taken = allocations();
    call.use();
    call.drop();
    call.tear_down();
    return taken;
  }

  // Rank `victim` has no memory at its k-th allocation of the call. Whether it came so far.
  static bool attempt(Call& call, int victim, long k, bool once) {
    call.set_up();
    fail_allocation(world_rank() == victim ? k : 0, once);
    const int code = call.make();
    const bool reached = allocations() >= k;
    fail_allocation(0);
    const std::string sentence = code == TONARI_SUCCESS ? "" : tonari_last_error();
    std::vector<int> codes(static_cast<std::size_t>(world_size()));
    MPI_Allgather(&code, 1, MPI_INT, codes.data(), 1, MPI_INT, MPI_COMM_WORLD);
    for (const int other : codes) EXPECT_EQ(other, code) << sentence;
    EXPECT_TRUE(code == TONARI_SUCCESS || code == TONARI_ERR_MEMORY) << sentence;
    if (code == TONARI_SUCCESS) {
      call.use();
      call.drop();
    }
    EXPECT_EQ(call.make(), TONARI_SUCCESS) << tonari_last_error();
    call.use();
    call.drop();
    call.tear_down();
    return reached;
  }

  static long most_allocations_of(Call& call) {
    long most = allocations_of(call);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    return most;
  }

  // Some of the first n numbers: the first ones, others evenly spread, and random ones.
  static std::set<long> some_of(long n, int wanted, Random& random) {
    std::set<long> some;
    for (long k = 1; k <= std::min<long>(n, wanted / 4); ++k) some.insert(k);
    for (long k = 0; k < wanted / 2; ++k) some.insert(1 + k * n / (wanted / 2));
    for (int k = 0; k < wanted / 4; ++k)
      some.insert(1 + static_cast<long>(random() % static_cast<unsigned long>(n)));
    return some;
  }
};

class OutOfMemory : public ShortOfMemory, public testing::WithParamInterface<Named> {};

TEST_P(OutOfMemory, IsTheSameOnAllRanksAndDoesNotLast) {
  const std::unique_ptr<Call> call = GetParam().make();
  Watchdog watchdog;
  const auto try_cleanly = [&] {
    watchdog.look_at(GetParam().name, 0, 0, true);
    allocations_of(*call);
  };
  for (int warm = 0; warm < 3; ++warm) try_cleanly();
  const long most = most_allocations_of(*call);
  const int wanted = call->attempts(world_size() == 2 ? 60 : mpi_spins() ? 8 : 24);
  const char* const given = std::getenv("TONARI_TEST_SEED");
  unsigned seed = given ? static_cast<unsigned>(std::atoi(given)) : std::random_device()();
  MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  SCOPED_TRACE("TONARI_TEST_SEED=" + std::to_string(seed));
  Random random(seed);
  constexpr int clean = 4;  // attempts that tell what the counters do not see, such as what goes with a
                            // communicator of the program
  const Live start = live();
  for (int k = 0; k < clean; ++k) try_cleanly();
  const Live before = live();
  int number = 0, reached = 0;
  for (const long k : some_of(most, wanted, random)) {
    const int victim = number % world_size();
    const bool once = number / world_size() % 2 == 0;
    ++number;
    SCOPED_TRACE("rank " + std::to_string(victim) + ", allocation " + std::to_string(k) + " of " +
                 std::to_string(most) + (once ? "" : " and later"));
    watchdog.look_at(GetParam().name, victim, k, once);
    reached += attempt(*call, victim, k, once);
    if (!everywhere(!HasFailure())) break;
  }
  const Live after = live();
  EXPECT_GT(reached, 0);
  const auto unseen = [&](long Live::*kind) { return (before.*kind - start.*kind) * number / clean; };
  for (long Live::*kind : {&Live::datatypes, &Live::requests, &Live::communicators})
    EXPECT_EQ(after.*kind, before.*kind + unseen(kind));
  EXPECT_LT(after.pieces, before.pieces + unseen(&Live::pieces) + number / 2 + 10)
      << "pieces of memory after " << number << " attempts";
}

INSTANTIATE_TEST_SUITE_P(Calls, OutOfMemory, testing::ValuesIn(calls),
                         [](const auto& info) { return std::string(info.param.name); });

// A rank without memory for the contest, which needs a second copy of all buffers, may have enough for
// the exchange.
TEST_F(ShortOfMemory, TheModelDecidesWhereAContestCannotTakePlace) {
  Init call(false, Operation::alltoall, {{"tonari_tune", "measure"}});
  Watchdog watchdog;
  watchdog.look_at("contest", 0, 0, true);
  for (int warm = 0; warm < 3; ++warm) allocations_of(call);
  const long most = most_allocations_of(call), step = std::max(1L, most / 40);
  int by_model = 0;
  for (long k = 1; k <= most; k += step) {
    const int victim = static_cast<int>(k % world_size());
    watchdog.look_at("contest", victim, k, true);
    call.set_up();
    fail_allocation(world_rank() == victim ? k : 0);
    const int code = call.make();
    fail_allocation(0);
    if (everywhere(code == TONARI_SUCCESS)) {
      tonari_request_info info;
      EXPECT_EQ(tonari_request_get_info(call.request, &info), TONARI_SUCCESS);
      const bool model = std::string(info.reason) == "model";
      const bool says = std::string(tonari_request_describe(call.request))
                            .find("nothing was measured: out of memory") != std::string::npos;
      EXPECT_EQ(model, says) << info.reason << "\n" << tonari_request_describe(call.request);
      EXPECT_TRUE(everywhere(model) || everywhere(!model));
      by_model += model;
      call.use();
    }
    call.drop();
    call.tear_down();
  }
  EXPECT_GT(by_model, 0);
}

}  // namespace
