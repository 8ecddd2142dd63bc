// SPDX-License-Identifier: BSD-3-Clause
// A machine as text: in the cache exact to the last bit, in a user's file with a sentence for each
// mistake.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>

#include "base/error.hpp"
#include "select/cache.hpp"
#include "support/contains.hpp"
#include "support/temporary_directory.hpp"

namespace tonari {
namespace {

TEST(MachineText, RoundTripIsExact) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> exponent(-12, 0.9);
  for (int k = 0; k < 200; ++k) {
    const auto time = [&] { return std::pow(10.0, exponent(random)); };
    LogGP m;
    for (double* const each : {&m.L, &m.o, &m.g, &m.G, &m.copy_block, &m.copy_byte, &m.typed_block})
      *each = time();
    m.eager = 1 + random() % (1u << 30), m.rendezvous = k % 2 ? time() : 0;
    const auto back = loggp_from_text(to_text(m));
    ASSERT_TRUE(back) << to_text(m);
    EXPECT_EQ(to_text(*back), to_text(m));
    EXPECT_EQ(back->L, m.L);
    EXPECT_EQ(back->G, m.G);
    EXPECT_EQ(back->typed_block, m.typed_block);
    EXPECT_EQ(back->rendezvous, m.rendezvous);
    EXPECT_EQ(back->eager, m.eager);
  }
}

TEST(MachineText, BoundsHold) {
  const double infinite = std::numeric_limits<double>::infinity();
  for (double bad : {0.0, -1e-6, 10.0, 1e300, infinite, -infinite, std::nan("")}) {
    LogGP m;
    m.G = bad;
    EXPECT_EQ(loggp_from_text(to_text(m)), std::nullopt) << bad;
  }
  LogGP m;
  m.rendezvous = 0;
  EXPECT_TRUE(loggp_from_text(to_text(m)));
  m.rendezvous = -1;
  EXPECT_FALSE(loggp_from_text(to_text(m)));
  for (std::size_t bad : {std::size_t{0}, (std::size_t{1} << 30) + 1}) {
    LogGP e;
    e.eager = bad;
    EXPECT_EQ(loggp_from_text(to_text(e)), std::nullopt) << bad;
  }
  const std::string good = to_text({});
  EXPECT_EQ(loggp_from_text(good + " L=1e-6"), std::nullopt) << "twice";
  EXPECT_EQ(loggp_from_text(good.substr(good.find(' '))), std::nullopt) << "one is missing";
  EXPECT_EQ(loggp_from_text(""), std::nullopt);
}

// What is not known of messages on a node is left out, and what is known comes back.
TEST(MachineText, KeepsMessagesOnANode) {
  LogGP m;
  EXPECT_EQ(to_text(m).find("node_"), std::string::npos);
  EXPECT_LT(loggp_from_text(to_text(m))->node_latency, 0);
  m.node_latency = 2e-7, m.node_overhead = 1e-7, m.node_gap = 9e-8, m.node_byte = 3e-11;
  m.node_eager = 4000, m.node_rendezvous = 0, m.core_switch = 5e-6, m.ranks_per_core = 4;
  const LogGP back = loggp_from_text(to_text(m)).value();
  EXPECT_EQ(back.node_latency, m.node_latency);
  EXPECT_EQ(back.node_overhead, m.node_overhead);
  EXPECT_EQ(back.node_gap, m.node_gap);
  EXPECT_EQ(back.node_byte, m.node_byte);
  EXPECT_EQ(back.node_eager, m.node_eager);
  EXPECT_EQ(back.node_rendezvous, 0);
  EXPECT_EQ(back.core_switch, m.core_switch);
  EXPECT_EQ(back.ranks_per_core, m.ranks_per_core);
}

// The same of what is known of caches.
TEST(MachineText, KeepsWhatIsKnownOfCaches) {
  LogGP m;
  for (const char* name : {"shared_byte", "cache", "start"})
    EXPECT_EQ(to_text(m).find(name), std::string::npos) << name;
  m.shared_byte = 0, m.copy_beyond = 3e-10, m.cache = 2 << 20, m.start = 5e-7;
  const LogGP back = loggp_from_text(to_text(m)).value();
  EXPECT_EQ(back.shared_byte, 0);
  EXPECT_EQ(back.copy_beyond, 3e-10);
  EXPECT_EQ(back.cache, std::size_t{2 << 20});
  EXPECT_EQ(back.start, 5e-7);
}

using MachineFile = test::TemporaryDirectory;

TEST_F(MachineFile, ReadsWhatAUserWrites) {
  write("m",
        "# our cluster\nL = 1.5e-6 # measured\no=4e-7\r\n\ng =1e-7\nG= 1e-10\ncopy_block=1e-8 "
        "copy_byte=1e-10\n"
        "typed_block=2e-8\neager=8192\nrendezvous=0");
  const LogGP m = read_machine_file(path("m"));
  EXPECT_EQ(m.L, 1.5e-6);
  EXPECT_EQ(m.copy_byte, 1e-10);
  EXPECT_EQ(m.eager, 8192u);
  EXPECT_EQ(m.rendezvous, 0);
}

TEST_F(MachineFile, TakesWhatIsMissingFromTheGenericMachineIfToldTo) {
  write("m", "L=1.5e-6 eager=8192\notherwise = generic");
  const LogGP m = read_machine_file(path("m"));
  EXPECT_EQ(m.L, 1.5e-6);
  EXPECT_EQ(m.eager, 8192u);
  EXPECT_EQ(m.o, LogGP{}.o);
  EXPECT_EQ(m.rendezvous, LogGP{}.rendezvous);
}

TEST_F(MachineFile, SaysWhatIsWrong) {
  const std::string good = to_text({});
  const auto complaint = [&](const std::string& content) -> std::string {
    write("m", content);
    try {
      read_machine_file(path("m"));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::file);
      return error.what();
    }
    return "nothing";
  };
  EXPECT_CONTAINS(complaint(good + " speed=3"), "'speed' is no machine parameter");
  EXPECT_CONTAINS(complaint("L=fast"), "L is 'fast'; it must be a time in seconds");
  EXPECT_CONTAINS(complaint("eager=1.5"), "eager is '1.5'; it must be a whole number of bytes");
  EXPECT_CONTAINS(complaint(good + " g=1e-7"), "g is given twice");
  EXPECT_CONTAINS(complaint(good + " node_latency=0"), "node_latency is '0'; it must be a time");
  EXPECT_CONTAINS(complaint(good + " node_rendezvous=-1"), "in seconds, at least 0 and below 10");
  EXPECT_CONTAINS(complaint(good + " node_eager=0"),
                  "node_eager is '0'; it must be a whole number of bytes from 1 to 1073741824");
  EXPECT_CONTAINS(complaint(good + " ranks_per_core=0"),
                  "ranks_per_core is '0'; it must be a whole number from 1 to 1048576");
  EXPECT_CONTAINS(complaint(good + " copy_beyond=0"), "copy_beyond is '0'; it must be a time");
  EXPECT_CONTAINS(complaint(good + " shared_byte=-1"), "in seconds, at least 0 and below 10");
  EXPECT_CONTAINS(complaint(good + " cache=half"),
                  "cache is 'half'; it must be a whole number of bytes from 1 to 1099511627776");
  EXPECT_CONTAINS(complaint(good + " core_switch=inf"), "core_switch is 'inf'; it must be a time");
  EXPECT_CONTAINS(complaint(good + " self_speed=1"), "node_rendezvous, core_switch");
  EXPECT_CONTAINS(complaint("L=1e-6"), "o is missing");
  EXPECT_CONTAINS(complaint("L=1e-6"), "otherwise=generic");
  EXPECT_CONTAINS(complaint("L=1e-6 otherwise=mine"), "otherwise is 'mine'; it must be generic");
  EXPECT_CONTAINS(complaint(good.substr(0, good.find(" eager"))), "eager is missing");
  EXPECT_CONTAINS(complaint(good + " L"), "'L' has no value");
  EXPECT_CONTAINS(complaint(std::string(1 << 20, 'x')), "cannot be read");
  EXPECT_CONTAINS(complaint("L\x1b[2J=1"), "'L?[2J'") << "no escape sequences to the terminal";
  EXPECT_THROW(read_machine_file(path("missing")), Error);
  EXPECT_THROW(read_machine_file(directory_), Error);
}

}  // namespace
}  // namespace tonari
