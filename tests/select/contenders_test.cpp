// SPDX-License-Identifier: BSD-3-Clause
// Who takes part in a race on a program's own exchanges: candidates that are made up, by their
// predictions.
#include "select/contenders.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace tonari {
namespace {

using Labels = std::vector<std::string>;

class Named final : public Variant {
 public:
  explicit Named(const std::string& name) : Variant(name, "") {}
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

Candidate by(const std::string& algorithm, const Channel& channel, double predicted) {
  ChannelChoice choice{{&mail}, {}};
  if (&channel != &mail) choice.edges.push_back({&channel});
  return {std::make_shared<Named>(algorithm), std::move(choice), predicted};
}

Labels chosen(const std::vector<Candidate>& candidates) {
  Labels all;
  for (const Candidate& c : contenders_of(candidates)) all.push_back(c.label());
  return all;
}

TEST(Contenders, AreTheBestPredictedOfSeveralChannelsAndAlgorithms) {
  // at most two of one channel
  EXPECT_EQ(chosen({by("a", shout, 1), by("b", shout, 1.1), by("c", shout, 1.2), by("a", mail, 1.3),
                    by("a", pigeon, 1.4), by("b", pigeon, 1.5)}),
            (Labels{"a/shout", "b/shout", "a/mail", "a/pigeon"}));
  // at most three of one algorithm
  EXPECT_EQ(chosen({by("a", shout, 1), by("a", pigeon, 1.1), by("a", mail, 1.2),
                    by("a", shout, 1.3), by("a", pigeon, 1.4), by("b", pigeon, 1.5)}),
            (Labels{"a/shout", "a/pigeon", "a/mail", "b/pigeon"}));
}

TEST(Contenders, WhereTheyAreFewFinalistFormsFollowThenTheRest) {
  EXPECT_EQ(chosen({by("a", shout, 1), by("b", mail, 2)}),
            (Labels{"a/shout", "b/mail", "b/mail/loud"}));
  EXPECT_EQ(chosen({by("a", mail, 1), by("b", mail, 2)}),
            (Labels{"a/mail", "b/mail", "a/mail/loud", "b/mail/loud"}));
  EXPECT_EQ(chosen({by("a", shout, 1), by("b", shout, 2), by("c", shout, 3), by("d", shout, 3.5),
                    by("e", shout, 3.6)}),
            (Labels{"a/shout", "b/shout", "c/shout", "d/shout"}));
}

// Trying those would cost more than they may win.
TEST(Contenders, AreNotPredictedToBeFourTimesSlower) {
  EXPECT_EQ(chosen({by("a", shout, 1), by("b", pigeon, 4), by("c", mail, 4.1), by("d", mail, 5)}),
            (Labels{"a/shout", "b/pigeon"}));
  EXPECT_EQ(chosen({by("a", shout, 1), by("b", pigeon, 2), by("c", mail, 4), by("d", mail, 4.1)}),
            (Labels{"a/shout", "b/pigeon", "c/mail", "c/mail/loud"}));
  // but for the second: one alone is no race
  EXPECT_EQ(chosen({by("a", shout, 1), by("b", pigeon, 9), by("c", pigeon, 10)}),
            (Labels{"a/shout", "b/pigeon"}));
}

TEST(Contenders, OneAloneHasNoRival) { EXPECT_EQ(chosen({by("a", mail, 1)}), Labels{"a/mail"}); }

}  // namespace
}  // namespace tonari
