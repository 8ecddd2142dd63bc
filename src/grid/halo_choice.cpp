// SPDX-License-Identifier: BSD-3-Clause
#include "grid/halo_choice.hpp"

#include <algorithm>
#include <utility>

#include "base/hash.hpp"
#include "copy/walk.hpp"
#include "engine/tune/candidate_race.hpp"
#include "engine/tune/contest.hpp"
#include "engine/wait/agree.hpp"

namespace tonari {
namespace {

// The question of a contest: what the fastest kind depends on.
std::string question(const HaloTask& task) {
  const GridShape& shape = task.grid->shape();
  const HaloRequest& request = task.request;
  const Decomposition& parts = shape.parts;
  Hash hash;
  for (int k = 0; k < shape.dims(); ++k) {
    const auto d = static_cast<std::size_t>(k);
    hash.word(parts.ranks.size(k)).word(parts.ranks.periodic(k)).word(parts.per_rank[d]);
    hash.word(parts.lower[d]).word(parts.upper[d]).word(shape.brick[d]);
    for (const std::int64_t cells : parts.cuts[d]) hash.word(cells);
  }
  hash.word(shape.element_bytes).word(shape.fields).word(shape.interleaved);
  hash.word(shape.page).word(shape.huge);
  if (shape.order != ArrayOrder::c) hash.bytes("fortran");
  if (request.reach != Reach{request.reach.along})
    for (int k = 0; k < shape.dims(); ++k)
      hash.word(request.reach.lower[k]).word(request.reach.upper[k]);
  const int along = std::min(request.reach.along, shape.dims());
  return text(request.reverse ? "reverse halo|" : "halo|", name(shape.storage), "|", shape.dims(),
              "|", std::hex, hash.value(), std::dec, "|",
              along == shape.dims() ? "all"
              : along == 1          ? "faces"
                                    : text(along),
              choice_key(task.settings));
}

// Between two exchanges programs sweep over the grid: what the surface's cells cost then depends on
// how much else they touched. Writes what is there.
void sweep(const HaloGrid& grid, int copy) {
  for (int s = 0; s < grid.subdomains(); ++s) {
    CellBox own;
    for (int k = 0; k < grid.shape().dims(); ++k) own.end[k] = grid.box(s).own[k];
    for (int f = 0; f < grid.shape().fields; ++f)
      grid.for_each_piece(s, copy, f, own, [](std::byte* at, std::size_t bytes) {
        for (std::size_t k = 0; k < bytes; k += cache_line) {
          volatile std::byte& line = at[k];
          line = line;
        }
      });
  }
}

// The cells that a reverse exchange changes, as they are before it is timed.
class SavedCells {
 public:
  SavedCells(const HaloGrid& grid, HaloRequest request) {
    request.kind = grid.shape().bricked() ? HaloKind::layout : HaloKind::pack;
    Views none;
    const std::vector<HaloEnds> steps = halo_ends(grid, request);
    for (const HaloEnd& end : steps.front().receive)
      cells_.add(bytes_of(grid, request, end, true, none), 0);
    saved_ = Memory(cells_.bytes());
    Walk(nullptr, cells_).gather(saved_.data(), cells_.bytes());
  }
  ~SavedCells() { Walk(nullptr, cells_).scatter(saved_.data(), cells_.bytes()); }
  SavedCells(const SavedCells&) = delete;
  SavedCells& operator=(const SavedCells&) = delete;

 private:
  Layout cells_;
  Memory saved_;
};

// The kinds that apply, and what was made of them.
class Chooser {
 public:
  explicit Chooser(const HaloTask& task)
      : task_(task),
        kinds_(wanted_kinds(task.settings.halo, *task.grid, task.request)),
        made_(kinds_.size()),
        mark_(std::make_shared<GridMark>(task.grid)) {}

  HaloChoice run() {
    std::optional<SavedCells> saved;
    if (task_.request.reverse && kinds_.size() > 1 && measures(tune()))
      run_collectively(context().comm(), [&] { saved.emplace(*task_.grid, task_.request); });
    Decision decision = decide(context(), tune(), alternatives());
    if (forced()) decision.reason = "forced";
    std::vector<Entrant> entrants = entrants_of(decision);
    return entrants.size() > 1 ? race(std::move(decision), std::move(entrants))
                               : choose(std::move(decision));
  }

 private:
  // The number of an exchange among those of its kind that were made.
  struct Entrant {
    std::size_t kind, number;
  };

  Context& context() const { return *task_.grid->context(); }
  bool forced() const { return task_.settings.halo != "auto"; }
  Tune tune() const { return task_.settings.tune; }

  // A race has room for all kinds, and for so many exchanges of the one that has several.
  std::size_t room() const { return Race::most_candidates - (kinds_.size() - 1); }

  Alternatives alternatives() {
    Alternatives kinds;
    for (const HaloKind kind : kinds_) kinds.names.emplace_back(name(kind));
    kinds.make = [&](std::size_t k) {
      made_[k] = build_exchanges(task_, kinds_[k], room(), mark_);
      if (tune() != Tune::online) return;
      context().take_tags(
          std::exchange(made_[k].tags, 0));  // all are kept until starts have chosen
    };
    kinds.timed = [&](std::size_t k) -> Exchange& { return *made_[k].all.front()->exchange; };
    kinds.question = question(task_);
    kinds.between = [&] { sweep(*task_.grid, task_.request.copy); };
    return kinds;
  }

  std::vector<Entrant> entrants_of(const Decision& decision) const {
    std::vector<Entrant> all;
    for (const std::size_t kind : decision.made)
      for (std::size_t k = 0; k < made_[kind].all.size(); ++k) all.push_back({kind, k});
    if (tune() != Tune::online) all.resize(1);
    return all;
  }

  HaloChoice choose(Decision decision) {
    HaloExchanges& chosen = made_[decision.winner];
    chosen.all.front()->chosen.follow(decision);
    return {chosen.all.front(), chosen.tags, std::move(decision.details) + chosen.details,
            chosen.by_starts};
  }

  HaloChoice race(Decision decision, std::vector<Entrant> entrants) {
    std::vector<OnlineExchange::Contender> contenders;
    std::vector<std::shared_ptr<Prepared>> exchanges;
    for (const auto& [kind, number] : entrants) {
      const std::shared_ptr<Prepared>& one = exchanges.emplace_back(made_[kind].all[number]);
      one->chosen.reason = forced() ? "forced" : "online";  // wisdom left more than one
      contenders.push_back({one->recording.label, std::move(one->exchange)});
    }
    context().reserve_tags(1);
    auto race = make_race(context(), std::move(contenders), context().first_tag(),
                          task_.settings.timeout, remembering(decision, std::move(entrants)));
    HaloChoice choice{std::make_shared<Prepared>(task_.grid->context()), 1, {}, true};
    choice.prepared->tell_of([race = race.get(), exchanges = std::move(exchanges),
                              details = std::move(decision.details)](ChoiceReport& all) {
      all = exchanges[race->leader()]->chosen;
      all.follow(*race);
      return details + race->report();
    });
    choice.prepared->exchange = std::move(race);
    return choice;
  }

  // The kind, where all took part, and which of its exchanges.
  OnlineExchange::Remember remembering(const Decision& decision, std::vector<Entrant> entrants) {
    std::vector<std::string> names;
    std::vector<OnlineExchange::Remember> inner;
    for (std::size_t k = 0; k < kinds_.size(); ++k)
      names.emplace_back(name(kinds_[k])), inner.push_back(std::move(made_[k].remember));
    OnlineExchange::Remember kind;
    if (!decision.question.empty())
      kind = remember_by_starts(context(), decision.question, std::move(names));
    return [kind = std::move(kind), inner = std::move(inner),
            entrants = std::move(entrants)](const OnlineExchange::Result& result) {
      const Entrant& winner = entrants[result.winner];
      if (kind) kind({winner.kind, result.seconds, result.steady});
      if (const auto& remember = inner[winner.kind])
        remember({winner.number, result.seconds, result.steady});
    };
  }

  const HaloTask& task_;
  std::vector<HaloKind> kinds_;
  std::vector<HaloExchanges> made_;
  std::shared_ptr<const GridMark> mark_;
};

}  // namespace

HaloChoice choose_halo(const HaloTask& task) { return Chooser(task).run(); }

}  // namespace tonari
