// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/send_set.hpp"

#include <algorithm>
#include <utility>

namespace tonari {

SendSet::SendSet(std::int32_t rank, std::span<const std::int32_t> targets, Word fixed, Work work)
    : rank_(rank), work_(work), load_(fixed + static_cast<Word>(targets.size()) * work.message) {
  for (std::int32_t target : targets) lines_.push_back({target, rank, false});
}

SendSet::SendSet(std::int32_t rank, std::span<const Word> words, Work work)
    : rank_(rank), work_(work), load_(words[0]) {
  const auto helpers = words.subspan(2, static_cast<std::size_t>(words[1])),
             lines = words.subspan(2 + helpers.size());
  helpers_.assign(helpers.begin(), helpers.end());
  for (std::size_t w = 0; w < lines.size(); w += 2)
    lines_.push_back({static_cast<std::int32_t>(lines[w]),
                      static_cast<std::int32_t>(lines[w + 1] >> 1), (lines[w + 1] & 1) != 0});
}

std::vector<Word> SendSet::words() const {
  std::vector<Word> words{load_, static_cast<Word>(helpers_.size())};
  words.insert(words.end(), helpers_.begin(), helpers_.end());
  for (const Line& line : lines_)
    words.insert(words.end(), {line.target, Word{line.sender} << 1 | line.joined});
  return words;
}

bool SendSet::helps(std::int32_t rank) const {
  return std::binary_search(helpers_.begin(), helpers_.end(), rank);
}

const SendSet::Line* SendSet::find(std::int32_t target) const {
  const auto line = std::lower_bound(lines_.begin(), lines_.end(), target,
                                     [](const Line& l, std::int32_t t) { return l.target < t; });
  return line != lines_.end() && line->target == target ? &*line : nullptr;
}

SendSet::Line* SendSet::find(std::int32_t target) {
  return const_cast<Line*>(std::as_const(*this).find(target));
}

Word SendSet::cost(std::int32_t helper) const {
  if (helps(helper)) return 0;
  const Line* line = find(helper);
  return !(line && alone(*line));
}

Word SendSet::give(Line& line, std::int32_t to) {
  line.sender = to;
  const Word more = cost(to);
  load_ += (more - 1) * work_.message;
  const auto place = std::lower_bound(helpers_.begin(), helpers_.end(), to);
  if (place == helpers_.end() || *place != to) helpers_.insert(place, to);
  return more;
}

void SendSet::join(Line& line, Word more) {
  line.joined = true;
  load_ += more * work_.helped + work_.passed;
}

bool SendSet::writes(std::int32_t target) const {
  const Line* line = find(target);
  return line && sends(*line);
}

void SendSet::adopt(std::int32_t target) {
  auto line = std::lower_bound(lines_.begin(), lines_.end(), target,
                               [](const Line& l, std::int32_t t) { return l.target < t; });
  if (line == lines_.end() || line->target != target)
    line = lines_.insert(line, {target, rank_, true}), load_ += work_.message;
  else if (!sends(*line))
    load_ += work_.message;
  line->joined = true;
  load_ += work_.passed;
}

std::vector<SendSet::DelegatedBlocks> SendSet::delegated_blocks() {
  std::vector<DelegatedBlocks> delegations;
  for (Line& line : lines_) {
    if (line.sender == rank_) continue;
    if (helps(line.target))
      line.sender = rank_;
    else
      delegations.push_back({line.target, line.sender});
  }
  std::sort(delegations.begin(), delegations.end(),
            [](const DelegatedBlocks& a, const DelegatedBlocks& b) {
              return std::pair(a.to, a.target) < std::pair(b.to, b.target);
            });
  return delegations;
}

class Pairing {
 public:
  Pairing(SendSet& most, SendSet& other) : most_(most), other_(other) {
    auto b = other.lines_.begin();
    for (Line& a : most.lines_) {
      while (b != other.lines_.end() && b->target < a.target) ++b;
      if (b != other.lines_.end() && b->target == a.target) common_.push_back({&a, &*b});
    }
  }

  Agreement run() {
    const Word before = most_.load(), other_before = other_.load();
    // else a third rank would have more work and nobody would have asked it
    if (most_.work_.helped + most_.work_.passed == 0) {
      use_group_of(other_, &Common::other, most_, &Common::most, agreement_.most);
      use_group_of(most_, &Common::most, other_, &Common::other, agreement_.other);
    }
    share_equally();
    agreement_.helps = most_.load() < before && other_.load() < std::max(before, other_before + 1);
    return std::move(agreement_);
  }

 private:
  using Line = SendSet::Line;
  struct Common {
    Line *most, *other;
  };
  using Side = Line* Common::*;
  using Delegations = std::vector<SendSet::DelegatedBlocks>;

  // Cases 2 to 4: what `giver` still sends itself, while the block of `member` for the same target
  // goes by way of someone else, goes that way too, if that is a message anyway or carries two at
  // least. Whoever that is, it sends to the target for `member` already, and cannot give that away
  // any more.
  void use_group_of(const SendSet& member, Side theirs, SendSet& giver, Side own,
                    Delegations& delegations) {
    std::vector<std::pair<std::int32_t, Line*>> found;
    for (const Common& c : common_) {
      const std::int32_t group = (c.*theirs)->sender;
      if (giver.alone(*(c.*own)) && group != member.rank() && group != giver.rank() &&
          group != (c.*own)->target)
        found.emplace_back(group, c.*own);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto begin = found.begin(); begin != found.end();) {
      const auto end = std::find_if(begin, found.end(), [&](const auto& delegation) {
        return delegation.first != begin->first;
      });
      if (end - begin > 1 || giver.cost(begin->first) == 0)
        for (auto delegation = begin; delegation != end; ++delegation)
          // the group may have become a helper that is this target
          if (giver.alone(*delegation->second))
            give(giver, *delegation->second, delegation->first, delegations);
      begin = end;
    }
  }

  // Case 1, and the last step of the others, (4.1): alpha messages go one way, the rest the other
  // way.
  void share_equally() {
    std::vector<Common> both;
    for (const Common& c : common_)
      if (own(most_, *c.most) && own(other_, *c.other) &&
          (most_.alone(*c.most) || other_.alone(*c.other)))
        both.push_back(c);
    const Work& work = most_.work_;
    const Word size = static_cast<Word>(both.size()), extra = most_.cost(other_.rank());
    const Word difference = most_.load() - other_.load() + extra * (work.message - work.helped);
    const Word alpha =
        std::clamp<Word>((size + difference / (work.message + work.passed)) / 2, 0, size);
    Word given = 0;
    for (const Common& c : both)
      if (given < alpha && most_.alone(*c.most) && other_.sends(*c.other)) {
        other_.join(*c.other, give(most_, *c.most, other_.rank(), agreement_.most));
        ++given;
      }
    if (other_.cost(most_.rank()) > 0 && size - given < 2) return;
    Word back = size - alpha;
    for (const Common& c : both)
      if (back > 0 && other_.alone(*c.other) && own(most_, *c.most) && most_.sends(*c.most)) {
        most_.join(*c.most, give(other_, *c.other, most_.rank(), agreement_.other));
        --back;
      }
  }

  static bool own(const SendSet& sending, const Line& line) {
    return line.sender == sending.rank() && sending.sends(line);
  }
  static Word give(SendSet& giver, Line& line, std::int32_t to, Delegations& delegations) {
    const Word more = giver.give(line, to);
    delegations.push_back({line.target, to, more});
    return more;
  }

  SendSet &most_, &other_;
  std::vector<Common> common_;
  Agreement agreement_;
};

Agreement share(SendSet most, SendSet other) { return Pairing(most, other).run(); }

}  // namespace tonari
