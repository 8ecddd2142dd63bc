#include "vector/id_lists.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "base/error.hpp"
#include "base/hash.hpp"

namespace tonari {
namespace {

constexpr Word nobody = -1;
enum Kind : Word { claim, query };

// The ranks share a directory that says of each id the index of its value. The rank that keeps an
// id follows from the id, so nobody needs a table of all ids (as in Zoltan and Tpetra).
class Directory {
 public:
  Directory(RankGroup& group, const OwnedRanges& ranges) : group_(group), ranges_(ranges) {}

  void claim_id(std::int64_t id, std::int64_t index) {
    std::vector<Word>& message = claims_.try_emplace(keeper(id), 1, claim).first->second;
    message.push_back(id);
    message.push_back(index);
  }
  void ask(std::int64_t id, std::size_t position) {
    Question& question = questions_[keeper(id)];
    if (question.message.empty()) question.message.push_back(query);
    question.message.push_back(id);
    question.positions.push_back(position);
  }

  // Collective: the index of each id that was asked for, by position.
  std::vector<std::int64_t> answers(std::size_t positions) {
    for (const auto& [rank, message] : claims_) group_.send(0, rank, message);
    for (const auto& [rank, question] : questions_) group_.send(0, rank, question.message);
    group_.exchange();
    keep();
    answer();
    group_.exchange();
    return read(positions);
  }

 private:
  struct Question {
    std::vector<Word> message;
    std::vector<std::size_t> positions;
  };

  std::int32_t keeper(std::int64_t id) const {
    return static_cast<std::int32_t>(Hash().word(static_cast<std::uint64_t>(id)).value() %
                                     static_cast<std::uint64_t>(group_.ranks()));
  }

  void keep() {
    for (const GroupMessage& m : group_.inbox(0)) {
      if (m.words[0] != claim) continue;
      for (std::size_t k = 1; k < m.words.size(); k += 2) {
        const auto [at, first] = index_of_.try_emplace(m.words[k], m.words[k + 1]);
        if (first) continue;
        const std::int32_t other = ranges_.part_of(at->second).rank;
        fail(Errc::argument, "id ", m.words[k],
             other == m.from ? text(" is twice in `owned_ids` of rank ", other)
                             : text(" has two owners: rank ", other, " and rank ", m.from));
      }
    }
  }

  void answer() {
    std::vector<Word> message;
    for (const GroupMessage& m : group_.inbox(0)) {
      if (m.words[0] != query) continue;
      message.clear();
      for (const Word id : m.words.subspan(1)) {
        const auto found = index_of_.find(id);
        message.push_back(found == index_of_.end() ? nobody : found->second);
      }
      group_.send(0, m.from, message);
    }
  }

  std::vector<std::int64_t> read(std::size_t positions) const {
    std::vector<std::int64_t> indices(positions);
    for (const GroupMessage& m : group_.inbox(0)) {
      const std::vector<std::size_t>& asked = questions_.at(m.from).positions;
      for (std::size_t k = 0; k < asked.size(); ++k) indices[asked[k]] = m.words[k];
    }
    return indices;
  }

  RankGroup& group_;
  const OwnedRanges& ranges_;
  std::map<std::int32_t, std::vector<Word>> claims_;
  std::map<std::int32_t, Question> questions_;
  std::unordered_map<std::int64_t, std::int64_t> index_of_;  // of ids that this rank keeps
};

std::int64_t place_of(const IdList& list, std::int64_t k) {
  return list.places ? list.places[k] : k;
}

constexpr std::int64_t any_place = std::numeric_limits<std::int64_t>::max();

}  // namespace

void IdLists::check(int /*ranks*/) const {
  check_list(owned_.count, "owned", owned_.ids, "owned_ids");
  check_list(needed_.count, "needed", needed_.ids, "needed_ids");
  if (needed_.places)
    check_places(needed_.places, needed_.count, any_place, "ghost_places",
                 "it must not be negative");
  if (!owned_.places) return;
  check_places(owned_.places, owned_.count, any_place, "owned_places", "it must not be negative");
  if (const auto repeat = find_repeat({owned_.places, owned_.places + owned_.count}))
    fail(Errc::argument, "`owned_places` has place ", repeat->place, " twice (positions ",
         repeat->first, " and ", repeat->second, "); each id needs a place of its own");
}

std::int64_t IdLists::owned() const {
  return owned_.places ? length_of(owned_.places, owned_.count) : owned_.count;
}

std::vector<std::int64_t> IdLists::needs(RankGroup& group, const OwnedRanges& ranges,
                                         OwnedRange own) const {
  Directory directory(group, ranges);
  for (std::int64_t k = 0; k < owned_.count; ++k)
    directory.claim_id(owned_.ids[k], own.first + place_of(owned_, k));
  for (std::int64_t k = 0; k < needed_.count; ++k)
    directory.ask(needed_.ids[k], static_cast<std::size_t>(k));
  std::vector<std::int64_t> indices = directory.answers(static_cast<std::size_t>(needed_.count));
  if (const auto at = std::ranges::find(indices, nobody); at != indices.end())
    fail(Errc::argument, "rank ", group.here()[0], " needs id ", needed_.ids[at - indices.begin()],
         " (position ", at - indices.begin(), " of its list), but nobody owns it");
  return indices;
}

std::vector<std::int64_t> IdLists::ghost_places() const {
  if (!needed_.places) return {};
  return {needed_.places, needed_.places + needed_.count};
}

}  // namespace tonari
