// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/pairings.hpp"

#include <algorithm>
#include <utility>

namespace tonari {
namespace {

constexpr std::size_t most_friends = 64;
constexpr int most_rounds = 256;
constexpr int most_failures = 4;
constexpr Word busy = 3;  // quarters

void apply(SendSet& self, const std::vector<SendSet::DelegatedBlocks>& given,
           const std::vector<SendSet::DelegatedBlocks>& taken) {
  for (const SendSet::DelegatedBlocks& delegation : given)
    self.give(delegation.target, delegation.to);
  for (const SendSet::DelegatedBlocks& delegation : taken)
    if (delegation.to == self.rank()) self.join(delegation.target, delegation.more);
}

}  // namespace

bool Pairings::Partner::looks() const { return failures < most_failures && !friends.empty(); }

// Its best friend has somebody else in this round: the next three have their turn first.
void Pairings::Partner::turn_to_others() {
  std::rotate(
      friends.begin(), friends.begin() + 1,
      friends.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(friends.size(), 4)));
}

Pairings::Pairings(BspComm& bsp, Work work, const std::vector<Ranks>& targets,
                   std::span<const Word> fixed)
    : bsp_(bsp), work_(work) {
  std::vector<Ranks> friends = find_friends(bsp, targets, most_friends);
  for (std::size_t k = 0; k < targets.size(); ++k)
    partners_.push_back(
        {SendSet(bsp.here()[k], targets[k], fixed[k], work), std::move(friends[k])});
}

bool Pairings::run() {
  bool shared = false;
  for (int round = 0; round < most_rounds; ++round) {
    Word most = 0;
    for (const Partner& p : partners_)
      if (p.looks()) most = std::max(most, p.sending.load());
    most = bsp_.max(most);
    if (most == 0) break;
    propose(most * busy / 4);
    accept();
    shared = agree() || shared;
    hear();
  }
  return bsp_.max(Word{shared}) != 0;
}

void Pairings::propose(Word least) {
  for (std::size_t k = 0; k < partners_.size(); ++k) {
    Partner& p = partners_[k];
    p.asked = p.accepted = nobody;
    if (!p.looks() || p.sending.load() < least) continue;
    p.asked = p.friends.front();
    bsp_.send(k, p.asked, {p.sending.load()});
  }
  bsp_.exchange();
}

// Everyone accepts the busiest that asks it, with all that it sends, unless it is busier and asks
// itself. So the busiest of all is always accepted.
void Pairings::accept() {
  for (std::size_t k : bsp_.receivers()) {
    Partner& p = partners_[k];
    std::pair<Word, std::int32_t> best{-1, 0};
    if (p.asked != nobody) best = {p.sending.load(), -bsp_.here()[k]};
    for (const BspMessage& message : bsp_.inbox(k))
      if (const std::pair<Word, std::int32_t> one{message.words[0], -message.from}; one > best)
        best = one, p.accepted = message.from;
    if (p.accepted != nobody) bsp_.send(k, p.accepted, p.sending.words());
  }
  bsp_.exchange();
}

// Who asked and was accepted works out the pairing, for both; not who has accepted another one,
// which then waits for this.
bool Pairings::agree() {
  bool shared = false;
  for (std::size_t k = 0; k < partners_.size(); ++k) {
    Partner& p = partners_[k];
    if (p.asked == nobody || p.accepted != nobody) continue;
    if (const std::span<const BspMessage> inbox = bsp_.inbox(k); inbox.empty())
      p.turn_to_others();
    else
      shared = pair(k, inbox.front()) || shared;
  }
  bsp_.exchange();
  return shared;
}

bool Pairings::pair(std::size_t k, const BspMessage& message) {
  Partner& p = partners_[k];
  const Agreement agreement = share(p.sending, SendSet(message.from, message.words, work_));
  p.forget(message.from);
  std::vector<Word> words;
  p.failures = agreement.helps ? 0 : p.failures + 1;
  if (agreement.helps) {
    apply(p.sending, agreement.most, agreement.other);
    words.push_back(static_cast<Word>(agreement.most.size()));
    for (const auto* delegations : {&agreement.most, &agreement.other})
      for (const SendSet::DelegatedBlocks& delegation : *delegations)
        words.insert(words.end(), {delegation.target, delegation.to, delegation.more});
  }
  bsp_.send(k, message.from, words);
  return agreement.helps;
}

void Pairings::hear() {
  for (std::size_t k : bsp_.receivers()) {
    const BspMessage& message = bsp_.inbox(k).front();
    Partner& p = partners_[k];
    p.forget(message.from);
    if (message.words.empty()) continue;
    std::vector<SendSet::DelegatedBlocks> delegations;
    for (std::size_t w = 1; w < message.words.size(); w += 3)
      delegations.push_back({static_cast<std::int32_t>(message.words[w]),
                             static_cast<std::int32_t>(message.words[w + 1]),
                             message.words[w + 2]});
    const auto most = delegations.begin() + message.words[0];
    apply(p.sending, {most, delegations.end()}, {delegations.begin(), most});
  }
}

}  // namespace tonari
