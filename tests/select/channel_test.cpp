// SPDX-License-Identifier: BSD-3-Clause
// Channels as the core sees them: rows that somebody else made.
#include "select/channel.hpp"

#include <gtest/gtest.h>

#include "select/candidates.hpp"
#include "select/offset_planner_registry.hpp"
#include "support/choice_names.hpp"
#include "support/grids.hpp"

namespace tonari {
namespace {

double priced(const Offer& offer, const std::string& detail) {
  return price(*offer.variant, offer.problem.sizes, offer.machine, {}) + detail.size();
}
bool is_loud(const std::string& word) { return word == "loud"; }
bool is_slow(const std::string& word) { return number_after(word, "slow by ") > 0; }
std::string loud(const std::string& detail) { return detail.empty() ? "loud" : ""; }
std::vector<std::string> slow(const Offer&, bool mixed) {
  return {mixed ? "slow by 2" : "slow by 3"};
}
std::string two_nodes(const Problem& problem, const Settings& settings) {
  return problem.several_nodes || asks_for(settings, "pigeon") ? "" : "pigeons fly between nodes";
}

constexpr Channel mail{.name = "mail",
                       .help = "messages",
                       .carries = Carries::plan,
                       .understands = is_loud,
                       .finalist = loud,
                       .price = priced,
                       .scratch = [](const Variant&, const Problem&) { return 5.0; }};
constexpr Channel shout{.name = "shout",
                        .help = "across the room",
                        .carries = Carries::node_messages,
                        .understands = is_loud,
                        .price = priced};
constexpr Channel pigeon{.name = "pigeon",
                         .help = "birds",
                         .carries = Carries::messages,
                         .applicable = two_nodes,
                         .details = slow,
                         .understands = is_slow,
                         .price = priced,
                         .scratch = [](const Variant&, const Problem&) { return 7.0; }};
constexpr const Channel* table[] = {&mail, &shout, &pigeon};

class ChannelRows : public testing::Test {
 protected:
  Problem problem() {
    return {planners, 1,    4,     Collective::alltoall, {std::vector<Bytes>(4, 8), 8},
            true,     true, false, several_nodes,        table};
  }
  std::vector<std::string> labels() {
    std::vector<std::string> all;
    for (const Candidate& c : enumerate(problem(), settings, {})) all.push_back(c.label());
    std::sort(all.begin(), all.end());
    return all;
  }
  OffsetPlannerRegistry planners{std::make_shared<const Neighborhood>(
      Neighborhood{test::torus({5, 5}), {Vec{0, 1}, Vec{1, 0}, Vec{0, -1}, Vec{-1, 0}}})};
  ChannelRows() { settings.algorithm = "linear"; }
  Settings settings;
  bool several_nodes = false;
};

TEST_F(ChannelRows, AreNamedAloneAndInPairs) {
  EXPECT_EQ(test::choice_names(table),
            (std::vector<std::string>{"mail", "shout", "pigeon", "shout+pigeon"}));
  EXPECT_EQ(find_choice(table, "pigeon+shout").base.row, nullptr);
  EXPECT_EQ(find_choice(table, "auto").base.row, nullptr);
  EXPECT_EQ(find_choice(table, "shout").base.row, &mail) << "carries what is left";
}

TEST_F(ChannelRows, UnderstandTheirOwnWords) {
  const std::vector<std::string> words{"loud", "slow by 4"}, unknown{"quiet"};
  const ChannelChoice mix = find_choice(table, "shout+pigeon", words);
  EXPECT_EQ(mix.base.detail, "loud") << "the first that understands it";
  EXPECT_EQ(mix.edges[1].detail, "slow by 4");
  EXPECT_EQ(mix.detail(), "loud/slow by 4");
  EXPECT_EQ(find_choice(table, "mail", unknown).base.row, nullptr);
  EXPECT_EQ(find_choice(table, "mail", words).base.row, nullptr) << "not all are its own";
}

TEST_F(ChannelRows, AreTriedWhereTheyAreApplicable) {
  EXPECT_EQ(labels(), (std::vector<std::string>{"linear/mail", "linear/shout"}));
  EXPECT_EQ(not_applicable(find_choice(table, "shout+pigeon"), problem(), settings),
            "pigeons fly between nodes");
  several_nodes = true;
  EXPECT_EQ(labels(), (std::vector<std::string>{
                          "linear/mail", "linear/pigeon", "linear/pigeon/slow by 3", "linear/shout",
                          "linear/shout+pigeon", "linear/shout+pigeon/slow by 2"}));
}

TEST_F(ChannelRows, AreTriedWhereTheyAreAskedFor) {
  settings.channel = "pigeon";
  EXPECT_EQ(labels(), (std::vector<std::string>{"linear/pigeon", "linear/pigeon/slow by 3"}));
  settings.channel = "shout+pigeon";
  EXPECT_EQ(labels(),
            (std::vector<std::string>{"linear/shout+pigeon", "linear/shout+pigeon/slow by 2"}));
}

TEST_F(ChannelRows, AreFoundByTheLabelsOfTheirCandidates) {
  several_nodes = true;
  for (const std::string& label : labels()) {
    const auto found = find_candidate(label, problem(), settings);
    ASSERT_TRUE(found) << label;
    EXPECT_EQ(found->label(), label);
  }
  for (const char* label : {"linear", "linear/", "linear/crow", "linear/mail/quiet",
                            "linear/shout/", "quantum/mail", "linear/pigeon/slow by x", "/mail"})
    EXPECT_FALSE(find_candidate(label, problem(), settings)) << label;
}

TEST_F(ChannelRows, SayWhatTheyHoldAndWhatElseToTry) {
  settings.channel = "mail";
  const Candidate plain = enumerate(problem(), settings, {}).front();
  EXPECT_EQ(plain.scratch, 5);
  const auto other = finalist_form(plain);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->label(), "linear/mail/loud");
  EXPECT_FALSE(finalist_form(*other));
  settings.channel = "pigeon";
  const Candidate far = enumerate(problem(), settings, {}).front();
  EXPECT_EQ(far.scratch, 7);
  EXPECT_FALSE(finalist_form(far));
}

}  // namespace
}  // namespace tonari
