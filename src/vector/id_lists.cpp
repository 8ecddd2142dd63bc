// SPDX-License-Identifier: BSD-3-Clause
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
  // Of an id that several ranks claim: an error, or the lowest of them owns it.
  enum class Claims : bool { one, several };
  Directory(BspComm& bsp, const OwnedRanges& ranges, Claims claims)
      : bsp_(bsp), ranges_(ranges), claims_allowed_(claims) {}

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
    for (const auto& [rank, message] : claims_) bsp_.send(0, rank, message);
    for (const auto& [rank, question] : questions_) bsp_.send(0, rank, question.message);
    bsp_.exchange();
    keep();
    answer();
    bsp_.exchange();
    return read(positions);
  }

 private:
  struct Question {
    std::vector<Word> message;
    std::vector<std::size_t> positions;
  };

  std::int32_t keeper(std::int64_t id) const {
    return static_cast<std::int32_t>(Hash().word(static_cast<std::uint64_t>(id)).value() %
                                     static_cast<std::uint64_t>(bsp_.ranks()));
  }

  void keep() {
    for (const BspMessage& m : bsp_.inbox(0)) {
      if (m.words[0] != claim) continue;
      for (std::size_t k = 1; k < m.words.size(); k += 2) {
        const auto [at, first] = index_of_.try_emplace(m.words[k], m.words[k + 1]);
        if (first) continue;
        if (claims_allowed_ == Claims::several) {
          at->second = std::min(at->second, m.words[k + 1]);  // ranks are numbered one by one
          continue;
        }
        const std::int32_t other = ranges_.part_of(at->second).rank;
        fail(Errc::argument, "id ", m.words[k],
             other == m.from ? text(" is twice in `owned_ids` of rank ", other)
                             : text(" has two owners: rank ", other, " and rank ", m.from));
      }
    }
  }

  void answer() {
    std::vector<Word> message;
    for (const BspMessage& m : bsp_.inbox(0)) {
      if (m.words[0] != query) continue;
      message.clear();
      for (const Word id : m.words.subspan(1)) {
        const auto found = index_of_.find(id);
        message.push_back(found == index_of_.end() ? nobody : found->second);
      }
      bsp_.send(0, m.from, message);
    }
  }

  std::vector<std::int64_t> read(std::size_t positions) const {
    std::vector<std::int64_t> indices(positions);
    for (const BspMessage& m : bsp_.inbox(0)) {
      const std::vector<std::size_t>& asked = questions_.at(m.from).positions;
      for (std::size_t k = 0; k < asked.size(); ++k) indices[asked[k]] = m.words[k];
    }
    return indices;
  }

  BspComm& bsp_;
  const OwnedRanges& ranges_;
  const Claims claims_allowed_;
  std::map<std::int32_t, std::vector<Word>> claims_;
  std::map<std::int32_t, Question> questions_;
  std::unordered_map<std::int64_t, std::int64_t> index_of_;  // of ids that this rank keeps
};

std::int64_t place_of(const IdList& list, std::int64_t k) {
  return list.places ? list.places[static_cast<std::size_t>(k)] : k;
}

std::int64_t length_of(const IdList& list) {
  return list.places ? tonari::length_of(list.places, list.count) : list.count;
}

constexpr std::int64_t any_place = std::numeric_limits<std::int64_t>::max();

// The names are those of the arguments.
void check_own_places(const IdList& list, const char* count, const char* ids, const char* places) {
  check_list(list.count, count, list.ids, ids);
  if (!list.places) return;
  check_places(list.places, list.count, any_place, places, "it must not be negative");
  if (const auto repeat = find_repeat(list.places.copy(static_cast<std::size_t>(list.count))))
    fail(Errc::argument, "`", places, "` has place ", repeat->place, " twice (positions ",
         repeat->first, " and ", repeat->second, "); each id needs a place of its own");
}

}  // namespace

void IdLists::check(int /*ranks*/) const {
  check_own_places(owned_, "owned", "owned_ids", "owned_places");
  check_list(needed_.count, "needed", needed_.ids, "needed_ids");
  if (needed_.places)
    check_places(needed_.places, needed_.count, any_place, "ghost_places",
                 "it must not be negative");
}

std::int64_t IdLists::owned() const { return length_of(owned_); }

ListedNeeds IdLists::needs(BspComm& bsp, const OwnedRanges& ranges, OwnedRange own) const {
  Directory directory(bsp, ranges, Directory::Claims::one);
  for (std::int64_t k = 0; k < owned_.count; ++k)
    directory.claim_id(owned_.ids[k], own.first + place_of(owned_, k));
  for (std::int64_t k = 0; k < needed_.count; ++k)
    directory.ask(needed_.ids[k], static_cast<std::size_t>(k));
  ListedNeeds needs{directory.answers(static_cast<std::size_t>(needed_.count))};
  if (const auto at = std::ranges::find(needs.indices, nobody); at != needs.indices.end()) {
    const auto k = at - needs.indices.begin();
    fail(Errc::argument, "rank ", bsp.here()[0], " needs id ", needed_.ids[k], " (position ", k,
         " of its list), but nobody owns it");
  }
  if (needed_.places) needs.places = needed_.places.copy(static_cast<std::size_t>(needed_.count));
  return needs;
}

void SharedIdLists::check(int /*ranks*/) const {
  check_own_places(values_, "count", "ids", "places");
  if (const auto repeat = find_repeat({values_.ids, values_.ids + values_.count}))
    fail(Errc::argument, "`ids` has id ", repeat->place, " twice (positions ", repeat->first,
         " and ", repeat->second, "); a rank lists a value once");
}

std::int64_t SharedIdLists::owned() const { return length_of(values_); }

ListedNeeds SharedIdLists::needs(BspComm& bsp, const OwnedRanges& ranges, OwnedRange own) const {
  Directory directory(bsp, ranges, Directory::Claims::several);
  for (std::int64_t k = 0; k < values_.count; ++k) {
    directory.claim_id(values_.ids[k], own.first + place_of(values_, k));
    directory.ask(values_.ids[k], static_cast<std::size_t>(k));
  }
  ListedNeeds needs;
  const std::vector<std::int64_t> owners =
      directory.answers(static_cast<std::size_t>(values_.count));
  for (std::size_t k = 0; k < owners.size(); ++k) {
    const std::int64_t place = place_of(values_, static_cast<std::int64_t>(k));
    if (owners[k] == own.first + place) continue;
    needs.indices.push_back(owners[k]);
    needs.places.push_back(place);
  }
  return needs;
}

}  // namespace tonari
