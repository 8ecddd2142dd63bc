// SPDX-License-Identifier: BSD-3-Clause
// Who takes part in a race on a program's own exchanges: candidates that are made up, by their
// predictions.
#include "select/contenders.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "select/race.hpp"

namespace tonari {
namespace {

using Labels = std::vector<std::string>;

class Named final : public Variant {
 public:
  Named(const std::string& name, const std::string& variant) : Variant(name, variant) {}
  std::size_t rounds() const override { return 1; }
  std::size_t messages() const override { return 1; }
  std::size_t hops() const override { return 1; }
  std::size_t tags() const override { return 1; }
  std::uint64_t dedup_key() const override { return 0; }
  Plan plan(int /*rank*/, EmitOptions /*options*/) const override {
    fail(Errc::internal, "nothing is planned before it is chosen");
  }
};

double priced(const Offer&, const std::string&) { return 1; }
std::string loud(const std::string& detail) { return detail.empty() ? "loud" : ""; }
constexpr Channel mail{
    .name = "mail", .help = "", .carries = Carries::plan, .finalist = loud, .price = priced};
constexpr Channel shout{
    .name = "shout", .help = "", .carries = Carries::node_messages, .price = priced};
constexpr Channel pigeon{
    .name = "pigeon", .help = "", .carries = Carries::messages, .price = priced};
constexpr Channel envoy{
    .name = "envoy", .help = "", .carries = Carries::messages, .expensive = true, .price = priced};

Candidate by(const std::string& algorithm, const Channel& channel, double predicted,
             const std::string& variant = "") {
  ChannelChoice choice{{&mail}, {}};
  if (&channel != &mail) choice.edges.push_back({&channel});
  return {std::make_shared<Named>(algorithm, variant), std::move(choice), predicted};
}

Labels chosen(const std::vector<Candidate>& candidates) {
  Labels all;
  for (const Candidate& c : contenders_of(candidates).now) all.push_back(c.label());
  return all;
}

// Where the model puts a way last, its trial shows what it is worth.
TEST(Contenders, OneOfEachCheapWayTakesPartWhateverIsPredicted) {
  EXPECT_EQ(
      chosen({by("a", shout, 1), by("b", pigeon, 900), by("a", mail, 1000), by("c", pigeon, 2000)}),
      (Labels{"a/shout", "b/pigeon", "a/mail", "a/mail/loud"}));
  std::vector<Candidate> all{by("a", shout, 1), by("a", pigeon, 10), by("a", mail, 100)};
  std::ranges::sort(all, {}, &Candidate::label);
  do {
    double price = 1;
    for (Candidate& c : all) c.predicted = price *= 10;
    Labels labels = chosen(all);
    std::ranges::sort(labels);
    EXPECT_EQ(labels, (Labels{"a/mail", "a/mail/loud", "a/pigeon", "a/shout"}));
  } while (std::ranges::next_permutation(all, {}, &Candidate::label).found);
}

// A detail is another way: long messages are copied once or twice.
TEST(Contenders, EachDetailOfAWayIsOne) {
  Candidate once = by("a", shout, 70);
  once.channel.edges[0].detail = "once";
  EXPECT_EQ(chosen({by("a", pigeon, 1), by("a", shout, 60), once, by("b", shout, 80)}),
            (Labels{"a/pigeon", "a/shout", "a/shout/once"}));
}

// What a rank sends to another one may be faster in one message or in several, over each channel.
TEST(Contenders, BlocksApartAreAWayOfTheirOwn) {
  const auto apart = [](const Channel& channel, double predicted) {
    return by("a", channel, predicted, uncombined);
  };
  const std::string of = "a/a message per block/";
  // each beside the same channel's way that is predicted to be the best, however fast others are
  EXPECT_EQ(chosen({by("b", pigeon, 0.2), by("b", shout, 1), by("a", mail, 2), apart(pigeon, 0.7),
                    apart(shout, 3), apart(mail, 8.1)}),
            (Labels{"b/pigeon", "b/shout", "a/mail", of + "shout", of + "pigeon", "a/mail/loud"}));
  // those of the node first, and no way twice
  EXPECT_EQ(
      chosen({apart(pigeon, 1), by("a", shout, 1.1), apart(mail, 1.2), by("a", pigeon, 1.3),
              apart(shout, 3)}),
      (Labels{of + "pigeon", "a/shout", of + "mail", of + "shout", of + "mail/loud", "a/pigeon"}));
}

// Connecting would cost more than it may win.
TEST(Contenders, AnExpensiveWayTakesPartWhereItIsPredictedToDoWell) {
  EXPECT_EQ(chosen({by("a", shout, 1), by("a", envoy, 4), by("b", envoy, 4.1)}),
            (Labels{"a/shout", "a/envoy"}));
  EXPECT_EQ(chosen({by("a", shout, 1), by("a", pigeon, 2), by("a", envoy, 4.1)}),
            (Labels{"a/shout", "a/pigeon"}));
  EXPECT_EQ(chosen({by("a", envoy, 1), by("b", envoy, 9), by("a", shout, 10)}),
            (Labels{"a/envoy", "a/shout"}));
}

// The best candidate of each such way, unless one of that way takes part already.
TEST(Contenders, AnExpensiveWayIsLeftForLaterRequests) {
  constexpr Channel own{
      .name = "own", .help = "", .carries = Carries::exchange, .expensive = true, .price = priced};
  Candidate mixed = by("a", shout, 8);
  mixed.channel.edges.push_back({&envoy});
  // the first alone is a contender
  const auto left = [&](const Candidate& first) {
    const Candidate native{nullptr, {{&own}}, 9};
    return contenders_of(std::vector{first, by("b", envoy, 5), by("a", envoy, 6), mixed, native}, 1)
        .later;
  };
  EXPECT_EQ(left(by("a", shout, 1)), (Labels{"b/envoy", "a/shout+envoy", "native"}));
  EXPECT_EQ(left(by("a", envoy, 1)), (Labels{"a/shout+envoy", "native"}));
}

TEST(Contenders, AreOfSeveralChannelsAndAlgorithms) {
  // at most two of one channel, before the rest fills up
  EXPECT_EQ(
      chosen({by("a", shout, 1), by("b", shout, 1.1), by("c", shout, 1.2), by("a", mail, 1.3),
              by("a", pigeon, 1.4), by("b", pigeon, 1.5)}),
      (Labels{"a/shout", "a/mail", "a/pigeon", "b/shout", "b/pigeon", "a/mail/loud", "c/shout"}));
  // at most three of one algorithm
  EXPECT_EQ(chosen({by("a", shout, 1), by("a", pigeon, 1.1), by("a", mail, 1.2),
                    by("a", shout, 1.3), by("b", pigeon, 1.5)}),
            (Labels{"a/shout", "a/pigeon", "a/mail", "b/pigeon", "a/mail/loud", "a/shout"}));
}

TEST(Contenders, AreNotTooMany) {
  std::vector<Candidate> all;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"})
    all.push_back(by(name, shout, 1));
  EXPECT_EQ(chosen(all).size(), Race::most_candidates);
}

// Trying those would cost more than they may win.
TEST(Contenders, OfAWayThatTakesPartAreNotPredictedToBeFourTimesSlower) {
  EXPECT_EQ(
      chosen({by("a", shout, 1), by("b", pigeon, 4), by("c", pigeon, 4), by("c", shout, 4.1)}),
      (Labels{"a/shout", "b/pigeon", "c/pigeon"}));
  // but for the second: one alone is no race
  EXPECT_EQ(chosen({by("a", shout, 1), by("b", shout, 9), by("c", shout, 10)}),
            (Labels{"a/shout", "b/shout"}));
}

TEST(Contenders, OneAloneHasNoRival) { EXPECT_EQ(chosen({by("a", mail, 1)}), Labels{"a/mail"}); }

}  // namespace
}  // namespace tonari
