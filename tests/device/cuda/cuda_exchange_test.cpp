// SPDX-License-Identifier: BSD-3-Clause
// Packed exchanges through the library's device for CUDA, over the driver that the tests play: what
// orders them in simulated streams, the driver is told of.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "device/cuda/on_fake.hpp"
#include "device/program.hpp"
#include "packing/exchange_world.hpp"
#include "support/random_cases.hpp"

namespace tonari::test {
namespace {

std::unique_ptr<Device> cuda_over(SimulatedDevice& simulated) {
  fake_driver().drive(simulated);
  fake_driver().most = 1 << 16;  // there are hundreds of worlds
  return std::make_unique<CudaDevice>();
}

std::vector<WorldShape> shapes() {
  return {own_neighbors(), two_neighbors(), one_way(), passing_around()};
}

std::string played(const WorldShape& shape, std::uint64_t first, std::uint64_t cases,
                   const Mutant& mutant = {}, std::vector<OrderingCall>* calls = nullptr) {
  std::uint64_t seed = first;
  try {
    ExchangeWorld world(shape, alone(), seed, mutant, 0, -1, cuda_over);
    world.connect(world.offers());
    for (; seed < first + cases - 1 && world.wrong() == 0; ++seed) world.run(seed);
    if (world.wrong() == 0) world.finish(seed);
    if (calls) *calls = world.calls();
    return world.wrong() ? text(world.wrong(), " wrong words until seed ", seed) : "";
  } catch (const std::exception& error) {
    return text(error.what(), " (seed ", seed, ", ", fake_driver().said, ")");
  }
}

TEST(CudaExchange, EveryReaderSeesWhatWasSentWhateverTheOrder) {
  for (const WorldShape& shape : shapes())
    for (std::uint64_t seed = 0; seed < random_cases(400u); seed += 100)
      ASSERT_EQ(played(shape, seed, 100), "") << shape.name;
}

// An exchange that ends before a peer has read what it got. Here the peer is in the same process,
// where CUDA's memory has one address: it lives until both have freed it.
bool frees_too_early(const Mutant& mutant) {
  return mutant.function == "finish" && mutant.name.find("wait_flags") != std::string::npos;
}

bool caught(const WorldShape& shape, const Mutant& mutant) {
  constexpr std::uint64_t worlds = 20, cases = 5;
  for (std::uint64_t world = 0; world < worlds; ++world)
    if (!played(shape, cases * world, cases, mutant).empty()) return true;
  return false;
}

// With one event, flag or wait left out: the mutants that are caught on the simulated device.
TEST(CudaExchange, AllThatOrdersReachesTheDriver) {
  std::set<std::string> found, missed, others;
  for (const WorldShape& shape : shapes()) {
    std::vector<OrderingCall> calls;
    ASSERT_EQ(played(shape, 0, 10, {}, &calls), "");
    for (const Mutant& mutant : mutants_of(calls))
      if (frees_too_early(mutant))
        others.insert(mutant.name);
      else if (!found.contains(mutant.name))
        (caught(shape, mutant) ? found : missed).insert(mutant.name);
  }
  for (const std::string& name : found) missed.erase(name);
  EXPECT_EQ(missed, std::set<std::string>{});
  EXPECT_EQ(found.size(), 29u);
  EXPECT_EQ(others.size(), 4u);
}

}  // namespace
}  // namespace tonari::test
