// SPDX-License-Identifier: BSD-3-Clause
// Requests that stage with one event, one wait or one synchronization taken out: each is
// needed. The calls are counted, and the code has no switch for it (device/mutated_device.hpp).
// Exchanges by handles, pieces and plans have their own (tests/packing).
#include <set>

#include "device/mutated_device.hpp"
#include "on_device/stream_program.hpp"

namespace {

using namespace tonari::test;
using tonari::SimulatedDevice;

class Mutants : public testing::Test {
 protected:
  void SetUp() override {
    const int self = 0;
    ASSERT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_SELF, 1, &self, MPI_UNWEIGHTED, 1, &self,
                                                  MPI_UNWEIGHTED, MPI_INFO_NULL, &near_));
  }
  void TearDown() override { EXPECT_OK(tonari_neighborhood_free(&near_)); }

  // One world: a device, and a request that is started and waited for in its streams.
  static std::string play(const std::string& channel, std::uint64_t seed, const Mutant& mutant,
                          std::vector<OrderingCall>* calls) {
    SimulatedDevice device({}, seed);
    MutatedDevice mutated(device, 0);
    tonari::use_device(std::shared_ptr<tonari::Device>(&mutated, [](tonari::Device*) {}));
    std::string wrong;
    {
      MemoryOnDevice out(device, 64), in(device, 64);
      out.values<int>()[1] = in.values<int>()[1] = 0;  // does not move
      tonari_request request = TONARI_REQUEST_NULL;
      mutated.enter("init");
      EXPECT_OK(tonari_alltoall_init(out.at(), 1, MPI_INT, in.at(), 1, MPI_INT, near_,
                                     Info{{"tonari_tune", "off"}, {"tonari_channel", channel}},
                                     &request));
      mutated.mutate(mutant);
      {
        Program program(device, request, out, in, static_cast<std::uint32_t>(seed),
                        [&](const char* function) { mutated.enter(function); });
        const auto failed = tonari::error_of([&] {
          for (int round = 0; round < 10; ++round)
            program.exchange(round, [](int r, int i, int = 0) { return i == 0 ? r : 0; }, 0, 0);
          program.complete();
        });
        if (failed) wrong = failed->what();
        if (program.wrong()) wrong += tonari::text(program.wrong(), " are wrong");
        if (!wrong.empty()) device.reset(0);
      }
      mutated.mutate({});
      mutated.enter("free");
      EXPECT_OK(tonari_request_free(&request));
      end_exchanges();
      if (calls) *calls = mutated.calls();
    }
    tonari::use_device(nullptr);
    return wrong;
  }

  // Of calls that programs make again and again. `count`: so many there are.
  static void expect_each_is_needed(const std::string& channel, std::size_t count) {
    std::set<std::string> all, missed;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      std::vector<OrderingCall> calls;
      ASSERT_EQ(play(channel, seed, {}, &calls), "") << "seed " << seed;
      for (const OrderingCall& call : calls) {
        if (call.function == "init" || call.function == "free") continue;
        const Mutant mutant{call.function,
                            call.number,
                            Mutant::Change::left_out,
                            0,
                            tonari::text(call.function, " ", call.number, " ", call.call),
                            call.call};
        if (!all.insert(mutant.name).second) continue;
        bool caught = false;
        for (std::uint64_t world = 0; world < 500 && !caught; ++world)
          caught = !play(channel, world, mutant, nullptr).empty();
        if (!caught) missed.insert(mutant.name);
      }
    }
    EXPECT_EQ(missed, std::set<std::string>{});
    EXPECT_EQ(all.size(), count);
  }

 private:
  static tonari_neighborhood near_;
};

tonari_neighborhood Mutants::near_ = TONARI_NEIGHBORHOOD_NULL;

// Some are seen by the clocks of the simulated device alone: where nobody reads what has come, data
// is seldom wrong in time.
TEST_F(Mutants, OfRequestsThatStage) { expect_each_is_needed("p2p-packed", 24); }

}  // namespace
