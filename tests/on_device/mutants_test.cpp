// SPDX-License-Identifier: BSD-3-Clause
// Requests and one-shot calls with one event, one wait or one synchronization taken out: each is
// needed. The calls are counted, and the code has no switch for it (device/mutated_device.hpp).
// Exchanges by handles between ranks, pieces and plans have their own (tests/packing).
#include <functional>
#include <set>

#include "device/mutated_device.hpp"
#include "on_device/mpi_takes_devices.hpp"
#include "on_device/one_shot_program.hpp"
#include "on_device/pieces_program.hpp"
#include "on_device/stencil_program.hpp"
#include "on_device/stream_program.hpp"
#include "request/mpi_on_device.hpp"

namespace {

using namespace tonari::test;
using tonari::SimulatedDevice;

constexpr int rounds = 10;

// A device that forgets one call, and what programs on it find wrong.
struct World {
  SimulatedDevice& device;
  MutatedDevice& mutated;
  std::uint64_t seed;
  const Mutant& mutant;

  std::function<void(const char*)> enters() const {
    return [this](const char* function) { mutated.enter(function); };
  }
  // The program's rounds. The device may throw in any of them.
  template <class Made>
  std::string run(Made& program, const std::function<void(int)>& exchange) const {
    const auto failed = tonari::error_of([&] {
      for (int round = 0; round < rounds; ++round) exchange(round);
      program.complete();
    });
    std::string wrong;
    if (failed) wrong = failed->what();
    if (program.wrong()) wrong += tonari::text(program.wrong(), " are wrong");
    if (!wrong.empty()) device.reset(0);
    return wrong;
  }
};
using Play = std::function<std::string(const World&)>;

class Mutants : public testing::Test {
 protected:
  static tonari_neighborhood alone_near() {
    const int self = 0;
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    EXPECT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_SELF, 1, &self, MPI_UNWEIGHTED, 1, &self,
                                                  MPI_UNWEIGHTED, MPI_INFO_NULL, &near));
    return near;
  }

  static std::string in_a_world(const Play& play, std::uint64_t seed, const Mutant& mutant,
                                std::vector<OrderingCall>* calls) {
    SimulatedDevice device({}, seed);
    MutatedDevice mutated(device, 0);
    tonari::use_device(std::shared_ptr<tonari::Device>(&mutated, [](tonari::Device*) {}));
    mutated.enter("init");
    const std::string wrong = play({device, mutated, seed, mutant});
    end_exchanges();
    if (calls) *calls = mutated.calls();
    tonari::use_device(nullptr);
    return wrong;
  }

  // Of calls that programs make again and again. `count`: so many there are; `needless`: these
  // order nothing here; `elsewhere`: other tests have the mutants of these functions.
  static void expect_each_is_needed(const Play& play, std::size_t count,
                                    const std::set<std::string>& needless = {},
                                    std::set<std::string> elsewhere = {}) {
    elsewhere.insert({"init", "free"});
    std::set<std::string> all, missed;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      std::vector<OrderingCall> calls;
      ASSERT_EQ(in_a_world(play, seed, {}, &calls), "") << "seed " << seed;
      for (const OrderingCall& call : calls) {
        if (elsewhere.contains(call.function) || orders_nothing(call)) continue;
        const Mutant mutant{call.function,
                            call.number,
                            Mutant::Change::left_out,
                            0,
                            tonari::text(call.function, " ", call.number, " ", call.call),
                            call.call};
        if (!all.insert(mutant.name).second) continue;
        bool caught = false;
        const std::uint64_t worlds = needless.contains(mutant.name) ? 20 : 500;
        for (std::uint64_t world = 0; world < worlds && !caught; ++world)
          caught = !in_a_world(play, world, mutant, nullptr).empty();
        if (!caught) missed.insert(mutant.name);
      }
    }
    EXPECT_EQ(missed, needless);
    EXPECT_EQ(all.size(), count);
  }

 private:
  // A rank that is its only neighbor has no flags.
  static bool orders_nothing(const OrderingCall& call) {
    return call.flags == 0 && (call.call == "write_flags" || call.call == "wait_flags");
  }
};

// A request that is started and waited for in streams.
Play request_by(const std::string& channel, tonari_neighborhood near) {
  return [=](const World& world) {
    MemoryOnDevice out(world.device, 64), in(world.device, 64);
    out.values<int>()[1] = in.values<int>()[1] = 0;  // does not move
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(tonari_alltoall_init(out.at(), 1, MPI_INT, in.at(), 1, MPI_INT, near,
                                   Info{{"tonari_tune", "off"}, {"tonari_channel", channel}},
                                   &request));
    world.mutated.mutate(world.mutant);
    std::string wrong;
    {
      Program program(world.device, request, out, in, static_cast<std::uint32_t>(world.seed),
                      world.enters());
      wrong = world.run(program, [&](int round) {
        program.exchange(round, [](int r, int i, int = 0) { return i == 0 ? r : 0; }, 0, 0);
      });
    }
    world.mutated.mutate({});
    world.mutated.enter("free");
    if (!wrong.empty()) (void)tonari_wait(request);
    EXPECT_OK(tonari_request_free(&request));
    return wrong;
  };
}

// Some are seen by the clocks of the simulated device alone: where nobody reads what has come, data
// is seldom wrong in time.
TEST_F(Mutants, OfRequestsThatStage) {
  tonari_neighborhood near = alone_near();
  expect_each_is_needed(request_by("p2p-packed", near), 35);
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// Among them what orders the stream of a wait behind an unpacking that a test has begun. That one
// unpacking follows another matters with two exchanges in flight, which no request has
// (packing/packed_orders_test.cpp).
TEST_F(Mutants, OfRequestsByHandles) {
  tonari_neighborhood near = alone_near();
  expect_each_is_needed(request_by("device-handles", near), 17,
                        {"test 1 wait_event", "wait 1 wait_event", "wait_on 1 wait_event"});
  EXPECT_OK(tonari_neighborhood_free(&near));
}

TEST_F(Mutants, OfOneShotCalls) {
  expect_each_is_needed(
      [](const World& world) {
        tonari_neighborhood near = alone_near();
        std::string wrong;
        {
          OneShotProgram program(world.device, near, static_cast<std::uint32_t>(world.seed),
                                 world.enters());
          world.mutated.mutate(world.mutant);
          wrong = world.run(program, [&](int round) { program.exchange(round); });
          world.mutated.mutate({});
          world.mutated.enter("free");
        }
        EXPECT_OK(tonari_neighborhood_free(&near));
        return wrong;
      },
      14);
}

TEST_F(Mutants, OfMessagesOfAGridToItself) {
  expect_each_is_needed(
      [](const World& world) {
        DeviceGrid t(alone(1, 2), world.device, true);
        t.fill(0, 0);
        tonari_request request = TONARI_REQUEST_NULL;
        must(tonari_grid_exchange_init(t.grid, 0, Info{{"tonari_tune", "off"}}, &request));
        world.mutated.mutate(world.mutant);
        std::string wrong;
        {
          Stencil stencil(world.device, t, request, static_cast<std::uint32_t>(world.seed),
                          world.enters());
          wrong = world.run(stencil, [&](int round) { stencil.exchange(round); });
        }
        world.mutated.mutate({});
        world.mutated.enter("free");
        if (!wrong.empty()) (void)tonari_wait(request);
        must(tonari_request_free(&request));
        return wrong;
      },
      9);
}

// A grid whose memory tonari allocates: kernels and the host see at once what the other has put
// there.
class Cells {
 public:
  Cells(SimulatedDevice& device, std::function<void(const char*)> enters)
      : device_(device), enters_(std::move(enters)), stream_(device.make_stream(0)) {
    tonari_grid_shape shape = g_.shape_of(world_rank());
    shape.memory = TONARI_MEMORY_DEVICE;
    MPI_Comm cart = g_.make_cart(MPI_COMM_SELF);
    note("create",
         [&] { return tonari_grid_create(cart, &shape, nullptr, MPI_INFO_NULL, &grid_); });
    MPI_Comm_free(&cart);
    if (grid_) must(tonari_grid_data(grid_, 0, 0, 0, &base_));
  }
  ~Cells() {
    enters_("free");
    must(tonari_grid_free(&grid_));
    device_.end_stream(stream_);
  }

  void exchange(int round) {
    if (!grid_) return;
    if (round == 0) read(std::vector<Byte>(bytes_));
    const std::vector<Byte> all(bytes_, static_cast<Byte>(round + 1));
    note("import", [&] { return tonari_grid_import(grid_, 0, 0, 0, &whole_, all.data()); });
    read(all);
    std::vector<Byte> back(bytes_);
    note("export", [&] { return tonari_grid_export(grid_, 0, 0, 0, &whole_, back.data()); });
    wrong_ += back != all;
  }
  void complete() { device_.synchronize(stream_); }
  int wrong() const { return wrong_; }

 private:
  template <class Call>
  void note(const char* function, const Call& call) {
    enters_(function);
    wrong_ += call() != TONARI_SUCCESS;
  }
  void read(const std::vector<Byte>& all) {
    const SimulatedDevice::Touched cells{static_cast<const std::byte*>(base_), bytes_};
    const std::byte* const at = device_.on_device(cells.address);
    device_.launch(stream_, {&cells, 1}, {},
                   [this, at, all] { wrong_ += std::memcmp(at, all.data(), all.size()) != 0; });
    device_.synchronize(stream_);
  }

  SimulatedDevice& device_;
  std::function<void(const char*)> enters_;
  const Geometry g_ = alone(1, 2);
  const tonari_box whole_ = g_.whole(world_rank(), 0);
  const std::size_t bytes_ = static_cast<std::size_t>(cells_in(whole_, g_.dims)) * g_.element_bytes;
  tonari::DeviceStream stream_;
  tonari_grid grid_ = TONARI_GRID_NULL;
  void* base_ = nullptr;
  int wrong_ = 0;
};

TEST_F(Mutants, OfCellsThatComeAndGo) {
  expect_each_is_needed(
      [](const World& world) {
        world.mutated.mutate(world.mutant);
        Cells cells(world.device, world.enters());
        const std::string wrong = world.run(cells, [&](int round) { cells.exchange(round); });
        world.mutated.mutate({});
        return wrong;
      },
      5);
}

// What orders the pieces themselves is left out in packing/pieced_copies_test.cpp.
TEST_F(Mutants, OfWaitsInStreamsForPieces) {
  tonari_neighborhood near = alone_near();
  expect_each_is_needed(
      [=](const World& world) {
        std::string wrong;
        {
          PiecesProgram program(world.device, near, static_cast<std::uint32_t>(world.seed),
                                world.enters());
          world.mutated.mutate(world.mutant);
          wrong = world.run(program, [&](int round) { program.exchange(round); });
          world.mutated.mutate({});
          world.mutated.enter("free");
        }
        return wrong;
      },
      2, {}, {"start", "test", "wait", "rest"});
  EXPECT_OK(tonari_neighborhood_free(&near));
}

// Two messages, each of which is brought and fetched.
TEST_F(Mutants, OfTheTrialOfTheMpi) {
  expect_each_is_needed(
      [](const World& world) {
        const MpiTakesDevices mpi(world.device);
        world.mutated.mutate(world.mutant);
        world.mutated.enter("trial");
        const auto failed = tonari::error_of(
            [&] { tonari::try_mpi_on_device(*tonari::present_device(""), 0, MPI_COMM_SELF, 0); });
        world.mutated.mutate({});
        world.mutated.enter("free");
        if (failed) world.device.reset(0);
        return std::string(failed ? failed->what() : "");
      },
      4);
}

}  // namespace
