// SPDX-License-Identifier: BSD-3-Clause
#include "watch/patterns.hpp"

#include <execinfo.h>

#include <algorithm>
#include <set>
#include <utility>

namespace tonari::watch {
namespace {

void add_time(Pattern& pattern, Ticks inside, Ticks step) {
  const std::size_t at = pattern.timed++ % kept_times;
  pattern.exchange[at] = static_cast<float>(inside), pattern.step[at] = static_cast<float>(step);
}

std::vector<Message> messages_of(const Epoch& epoch) {
  return {epoch.messages.begin(),
          epoch.messages.begin() + static_cast<std::ptrdiff_t>(epoch.count)};
}

void keep(Pattern& pattern, const Epoch& epoch) {
  pattern =
      Pattern{.signature = epoch.signature,
              .partners = epoch.partners,
              .now = epoch.signature,
              .first = epoch.begin,
              .messages = messages_of(epoch),
              .sizes = {},
              .callers = epoch.waited_at ? epoch.callers : callers_above(epoch.messages[0].site)};
}

// Where sizes change, exchanges with the same partners take turns: that is next which came least
// lately. Sizes tell it, too, unless they are new.
Pattern* varying_pattern(const Loop& loop, const Epoch& epoch) {
  Pattern* next = nullptr;
  Pattern* same = nullptr;
  for (const auto& pattern : loop.patterns) {
    if (!pattern->varies || pattern->partners != epoch.partners) continue;
    if (!next || pattern->last < next->last) next = pattern.get();
    if (pattern->now == epoch.signature) same = pattern.get();
  }
  return same && next->now != epoch.signature ? same : next;
}

// The loop's patterns with these partners, in the order in which they came.
std::vector<Pattern*> with_partners(const Loop& loop, std::uint64_t partners) {
  std::vector<Pattern*> found;
  for (const auto& pattern : loop.patterns)
    if (pattern->partners == partners) found.push_back(pattern.get());
  std::ranges::sort(found, {}, &Pattern::first);
  return found;
}

// Of these patterns, in the order in which they came, those that one exchange may have been: each
// began when the one before had ended. Swaps of a step take turns, so there are as many chains as
// swaps:
//
//     A B A B A B   C D C D C D   E F ...      A C E ... and B D F ...
using Chain = std::vector<Pattern*>;
std::vector<Chain> chains_of(const std::vector<Pattern*>& patterns) {
  std::vector<Chain> chains;
  for (Pattern* const one : patterns) {
    const auto ended = [](const Chain& chain) { return chain.back()->last; };
    const auto longest_ago = std::ranges::min_element(chains, {}, ended);
    if (longest_ago == chains.end() || ended(*longest_ago) >= one->first)
      chains.push_back({one});
    else
      longest_ago->push_back(one);
  }
  return chains;
}

// How many patterns with these partners have sizes that change, but for this one.
auto varying_before(const Loop& loop, const Pattern& pattern) {
  return std::ranges::count_if(loop.patterns, [&](const auto& one) {
    return one->varies && one->partners == pattern.partners && one.get() != &pattern;
  });
}

// They become one, whose sizes change; its callers are those of most epochs.
void joined(Loop& loop, const Chain& patterns) {
  Pattern& into = *patterns.front();
  if (!into.varies) into.sizes.came_next(into.messages);
  into.varies = true;
  into.signature = into.partners + static_cast<std::uint64_t>(varying_before(loop, into));
  std::uint64_t most = into.epochs;
  for (Pattern* const other : patterns) {
    if (other == &into) continue;
    into.sizes.came_next(other->messages);
    if (other->first > into.last) add_time(into, into.last_inside, other->first - into.last);
    if (other->epochs > most) most = other->epochs, into.callers = other->callers;
    if (other->last > into.last) into.last_inside = other->last_inside, into.now = other->now;
    add(into, *other);
    std::erase_if(loop.patterns, [&](const auto& one) { return one.get() == other; });
  }
}

void append(std::vector<Message>& all, const std::vector<Message>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// The sizes that its parts had at a time.
void bring_sizes(Pattern& together, const std::vector<const Pattern*>& parts) {
  std::size_t sets = kept_sizes;
  for (const Pattern* const one : parts)
    if (one->varies) sets = std::min(sets, one->sizes.kept.size());
  together.sizes.kept.resize(sets);
  for (const Pattern* const one : parts) {
    for (std::size_t k = 0; k < sets; ++k)
      append(together.sizes.kept[k], one->varies ? one->sizes.kept[k] : one->messages);
    append(together.sizes.largest, one->varies ? one->sizes.largest : one->messages);
    together.stretches = std::max(together.stretches, one->stretches);
  }
}

constexpr std::size_t fewest_sizes = 3;  // to say that they change

// Whether that made room.
bool join_partners(Loop& loop, std::uint64_t partners) {
  const std::vector<Pattern*> same = with_partners(loop, partners);
  if (same.size() < fewest_sizes || std::ranges::all_of(same, &Pattern::varies)) return false;
  const std::vector<Chain> chains = chains_of(same);
  if (chains.size() == same.size()) return joined(loop, same), true;
  for (const Chain& chain : chains) joined(loop, chain);
  return true;
}

// Room for one more pattern: partners with many sizes become patterns whose sizes change, or one
// that came once gives its place away. Null: all of the patterns came again.
Pattern* make_room(Loop& loop, const Epoch& epoch) {
  if (join_partners(loop, epoch.partners)) return varying_pattern(loop, epoch);
  const auto joins = [&](const auto& one) { return join_partners(loop, one->partners); };
  if (std::ranges::any_of(loop.patterns, joins)) {
    loop.patterns.push_back(std::make_unique<Pattern>());
    keep(*loop.patterns.back(), epoch);
    return loop.patterns.back().get();
  }
  const auto once = std::ranges::find(loop.patterns, 1U, &Pattern::epochs);
  if (once == loop.patterns.end()) return nullptr;
  ++loop.others;
  keep(**once, epoch);
  return once->get();
}

}  // namespace

bool is_full(const Epoch& epoch) { return epoch.count > most_messages; }

Callers callers_above(const void* site) {
  std::array<void*, 32> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  const auto end = frames.begin() + count;
  auto next = std::find(frames.begin(), end, site);
  Callers callers{};
  for (std::size_t k = 0; k < callers.size() && next != end && ++next != end; ++k)
    callers[k] = *next;
  return callers;
}

void add(Pattern& pattern, const Pattern& other) {
  pattern.epochs += other.epochs, pattern.inside += other.inside;
  pattern.stretches += other.stretches;
  pattern.first = std::min(pattern.first, other.first);
  pattern.last = std::max(pattern.last, other.last);
  for (std::size_t k = 0; k < std::min<std::uint64_t>(other.timed, kept_times); ++k) {
    const std::size_t at = pattern.timed++ % kept_times;
    pattern.exchange[at] = other.exchange[k], pattern.step[at] = other.step[k];
  }
}

Pattern* known_pattern(const Loop& loop, const Epoch& epoch) {
  for (const auto& pattern : loop.patterns)
    if (!pattern->varies && pattern->signature == epoch.signature) return pattern.get();
  return varying_pattern(loop, epoch);
}

Pattern* pattern_of(Loop& loop, const Epoch& epoch) {
  if (Pattern* const known = known_pattern(loop, epoch)) return known;
  ++loop.distinct;
  if (is_full(epoch)) return nullptr;
  if (loop.patterns.size() == most_patterns) return make_room(loop, epoch);
  loop.patterns.push_back(std::make_unique<Pattern>());
  keep(*loop.patterns.back(), epoch);
  return loop.patterns.back().get();
}

void count(Pattern& pattern, const Epoch& epoch) {
  const bool changed = std::exchange(pattern.now, epoch.signature) != epoch.signature;
  pattern.stretches += changed || !pattern.epochs;
  if (pattern.varies && changed && !is_full(epoch)) pattern.sizes.came_next(messages_of(epoch));
  if (pattern.epochs == 1 && epoch.waited_at) pattern.callers = epoch.callers;
  if (pattern.epochs) add_time(pattern, pattern.last_inside, epoch.begin - pattern.last);
  pattern.last = epoch.begin;
  pattern.last_inside = epoch.inside;
  pattern.inside += epoch.inside;
  ++pattern.epochs;
}

namespace {
// Whether one of them came so often that the others were its beginning, as a setup is.
bool has_main_one(const Chain& chain) {
  std::uint64_t all = 0, most = 0;
  for (const Pattern* const one : chain) {
    if (one->varies) return false;
    all += one->epochs, most = std::max(most, one->epochs);
  }
  return 2 * most > all;
}
}  // namespace

void join_sizes(Loop& loop) {
  std::set<std::uint64_t> partners;
  for (const auto& pattern : loop.patterns) partners.insert(pattern->partners);
  for (const std::uint64_t each : partners)
    for (const Chain& chain : chains_of(with_partners(loop, each)))
      if (chain.size() >= fewest_sizes && !has_main_one(chain)) joined(loop, chain);
}

void bring_together(Loop& loop) {
  std::uint64_t most = 0;
  for (const auto& pattern : loop.patterns) most = std::max(most, pattern->epochs);
  std::vector<const Pattern*> in_turn;
  for (const auto& pattern : loop.patterns)
    if (most - pattern->epochs <= most / 10) in_turn.push_back(pattern.get());
  std::ranges::sort(in_turn, {}, &Pattern::first);
  loop.together = std::make_unique<Pattern>();
  loop.parts = in_turn.size();
  loop.together->epochs = most;
  for (const Pattern* const one : in_turn) {
    loop.together->inside += one->inside;
    loop.together->varies |= one->varies;
    append(loop.together->messages, one->messages);
  }
  if (loop.together->varies) bring_sizes(*loop.together, in_turn);
}

void ChangingSizes::came_next(std::vector<Message> messages) {
  std::ranges::stable_sort(messages, {},
                           [](const Message& m) { return std::pair(m.peer, m.sent); });
  if (came == 0) largest = messages;
  for (std::size_t k = 0; k < messages.size(); ++k)
    largest[k].bytes = std::max(largest[k].bytes, messages[k].bytes);
  if (came++ % every) return;
  if (kept.size() == kept_sizes) {
    for (std::size_t k = 0; k < kept_sizes / 2; ++k) kept[k] = std::move(kept[2 * k]);
    kept.resize(kept_sizes / 2);
    every *= 2;
  }
  kept.push_back(std::move(messages));
}

}  // namespace tonari::watch
