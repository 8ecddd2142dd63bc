// SPDX-License-Identifier: BSD-3-Clause
// Settings that are wrong, or differ between ranks, in info keys and in environment variables.
#include <cstdlib>

#include "api/errors.hpp"
#include "support/tune_seconds.hpp"

namespace {

using namespace tonari::test;

class SettingsErrors : public Errors {
 protected:
  // The same wrong value as info key and as environment variable, on one rank only.
  void expect_refused(const char* key, const char* variable, const char* value, int code,
                      std::initializer_list<std::string> words) {
    const Info bad{{key, value},
                   {"tonari_tune", std::string(key) == "tonari_tune" ? value : "off"}};
    expect_everywhere(alltoall(rank == last ? bad : quick), code, words);
    if (rank == last) setenv(variable, value, 1);
    const int result = alltoall(quick);
    unsetenv(variable);
    expect_everywhere(result, code, words);
  }
};

TEST_F(SettingsErrors, UnknownValuesNameTheKnownOnes) {
  const std::initializer_list<std::string> names = {
      "tonari_algorithm", "TONARI_ALGORITHM", "quantum",     "auto",   "linear", "torus",
      "torus-direct",     "additive-basis",   "joint-basis", "native", "irecv"};
  expect_refused("tonari_algorithm", "TONARI_ALGORITHM", "quantum", TONARI_ERR_ALGORITHM, names);
  expect_refused(
      "tonari_channel", "TONARI_CHANNEL", "pigeon", TONARI_ERR_ARGUMENT,
      {"tonari_channel", "TONARI_CHANNEL", "pigeon", "auto", "p2p-typed", "p2p-packed", "shared"});
  expect_refused(
      "tonari_tune", "TONARI_TUNE", "loud", TONARI_ERR_ARGUMENT,
      {"tonari_tune", "TONARI_TUNE", "loud", "auto", "online", "off", "model", "measure"});
  expect_usable();
}

TEST_F(SettingsErrors, PortsMustBeANumber) {
  for (const char* value : {"-1", "two", "1x", " 1", "99999999999"})
    expect_refused("tonari_ports", "TONARI_PORTS", value, TONARI_ERR_ARGUMENT,
                   {"tonari_ports", "TONARI_PORTS", std::string("'") + value + "'"});
  expect_usable();
}

TEST_F(SettingsErrors, WordsOfProtocols) {
  for (const char* value : {"tree", "tree/", "tree/1", "tree/65", "tree/2x", "tree/02", "4", "all"})
    expect_refused("tonari_ready", "TONARI_READY", value, TONARI_ERR_ARGUMENT,
                   {"tonari_ready", "TONARI_READY", std::string("'") + value + "'", "tree/4"});
  for (const char* value : {"-1", "none", "1KB"})
    expect_refused("tonari_canary", "TONARI_CANARY", value, TONARI_ERR_ARGUMENT,
                   {"tonari_canary", "TONARI_CANARY", std::string("'") + value + "'"});
  expect_usable();
}

TEST_F(SettingsErrors, DifferentOnDifferentRanks) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  const Info torus{{"tonari_algorithm", "torus"}, {"tonari_tune", "off"}},
      linear{{"tonari_algorithm", "linear"}, {"tonari_tune", "off"}};
  const std::string where = " on rank " + std::to_string(last);
  expect_everywhere(alltoall(rank == last ? torus : linear), TONARI_ERR_MISMATCH,
                    {"tonari_algorithm (TONARI_ALGORITHM)", "'linear' on rank 0", "'torus'" + where,
                     "must be the same"});
  const Info model{{"tonari_tune", "model"}},
      channel{{"tonari_tune", "off"}, {"tonari_channel", "p2p-packed"}};
  expect_everywhere(alltoall(rank == 0 ? model : quick), TONARI_ERR_MISMATCH,
                    {"tonari_tune (TONARI_TUNE)", "'model' on rank 0", "'off' on rank 1"});
  expect_everywhere(
      alltoall(rank == last ? channel : quick), TONARI_ERR_MISMATCH,
      {"tonari_channel (TONARI_CHANNEL)", "not set on rank 0", "'p2p-packed'" + where});
  for (const auto& [key, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{"tonari_ports", "3"},
                                                                  {"tonari_recv_view", "yes"},
                                                                  {"tonari_start_with", "yes"},
                                                                  {"tonari_ready", "each"},
                                                                  {"tonari_canary", "64"}}) {
    const Info other{{"tonari_tune", "off"}, {key, value}};
    expect_everywhere(alltoall(rank == last ? other : quick), TONARI_ERR_MISMATCH,
                      {key, "not set on rank 0", std::string("'") + value + "'" + where});
  }
  const Info slow{{"tonari_tune", "off"}, {"tonari_timeout", "11"}};
  ASSERT_OK(alltoall(rank == last ? slow : quick));
  EXPECT_OK(tonari_request_free(&request));
  expect_usable();
}

TEST_F(SettingsErrors, KeysThatDoNotExist) {
  const Info misspelled{{"tonari_algoritm", "torus"}, {"tonari_tune", "off"}},
      foreign{{"cb_nodes", "2"}, {"tonari_tune", "off"}, {"tonari_halo", "pack"}};
  expect_everywhere(alltoall(rank == last ? misspelled : quick), TONARI_ERR_ARGUMENT,
                    {"no info key tonari_algoritm", "did you mean tonari_algorithm?"});
  expect_everywhere(alltoall(foreign), TONARI_SUCCESS, {});
  expect_usable();
}

TEST_F(SettingsErrors, AlgorithmThatDoesNotApply) {
  const Info tree{{"tonari_algorithm", "tree"}, {"tonari_tune", "off"}};
  expect_everywhere(alltoall(tree), TONARI_ERR_ALGORITHM, {"'tree'", "kind of neighborhood"});
  const Info sideways{{"tonari_algorithm", "linear/sideways"}, {"tonari_tune", "off"}},
      native{{"tonari_algorithm", "native/sideways"}, {"tonari_tune", "off"}};
  expect_everywhere(alltoall(sideways), TONARI_ERR_ALGORITHM, {"linear", "no variant 'sideways'"});
  expect_everywhere(alltoall(native), TONARI_ERR_ALGORITHM, {"native/sideways", "no variants"});
  const Info slash{{"tonari_algorithm", "torus/"}, {"tonari_tune", "off"}};
  expect_everywhere(alltoall(slash), TONARI_ERR_ALGORITHM, {"'torus/'", "variant after the slash"});
  expect_usable();
}

TEST_F(SettingsErrors, DifferentTimeForMeasuringDoesNotHang) {
  const TuneSeconds time(rank == 0 ? "0.004" : "0.1");
  const Info measure{{"tonari_tune", "measure"}};
  if (!ranks_are_slow()) {
    EXPECT_OK(alltoall(measure));
    EXPECT_OK(tonari_request_free(&request));
  }
  expect_usable();
}

TEST_F(SettingsErrors, TimeForMeasuringThatIsNone) {
  for (const char* wrong : {"nonsense", "0", "-1", "1s"}) {
    const TuneSeconds time(rank == last ? wrong : "1");
    expect_everywhere(
        alltoall(quick), TONARI_ERR_ARGUMENT,
        {"TONARI_TUNE_SECONDS is '", wrong, "it must be a positive number of seconds"});
  }
  expect_usable();
}

}  // namespace
