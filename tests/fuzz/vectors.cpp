// SPDX-License-Identifier: BSD-3-Clause
// Distributed vectors of all kinds: values go to all that need them, come back combined, or both.
#include <tonari/vector.h>

#include <map>
#include <set>

#include "fuzz/exchange.hpp"
#include "fuzz/numbers.hpp"
#include "support/zu.hpp"

namespace tonari::fuzz {
namespace {

// A value that a rank has, and its place in `owned` or in `ghosts`.
struct Held {
  std::int64_t id;
  int place;
};

struct Lists {
  std::vector<Held> owned, needed;
  int owned_length = 0, ghost_length = 0;  // values that the arrays have room for
};

std::vector<int> shuffled(int number, Random& common) {
  std::vector<int> order(zu(number));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), common);
  return order;
}

// So many of the places of an array with some room between them, in any order.
std::vector<int> places(std::size_t number, int& length, Random& common) {
  length = static_cast<int>(number) + pick(common, 0, 5);
  std::vector<int> all = shuffled(length, common);
  all.resize(number);
  return all;
}

void need_at_random(std::vector<Lists>& ranks, const std::vector<std::int64_t>& ids,
                    Random& common) {
  for (Lists& rank : ranks)
    for (int k = ids.empty() ? 0 : pick(common, 0, 14); k > 0; --k)
      rank.needed.push_back({ids[common() % ids.size()], static_cast<int>(rank.needed.size())});
  for (Lists& rank : ranks) rank.ghost_length = static_cast<int>(rank.needed.size());
}

// How a vector is made, and what all ranks hold of it.
struct Model {
  std::vector<Lists> ranks;
  bool one_array = false;  // owned and ghosts
  tonari_vector vector = TONARI_VECTOR_NULL;
  std::string name;
};

// Keeps the info until the vector is made.
struct Making {
  const Place& place;
  Random& common;
  MPI_Info info;
  Lists& mine(Model& m) const { return m.ranks[zu(place.rank)]; }
};

void make_ranges(Model& m, const Making& with) {
  const int all = pick(with.common, 0, 40);
  std::vector<int> cuts{0, all};
  for (int k = 1; k < with.place.ranks; ++k) cuts.push_back(pick(with.common, 0, all));
  std::sort(cuts.begin(), cuts.end());
  const std::vector<int> order = shuffled(with.place.ranks, with.common);
  std::vector<int> first(order.size());
  std::vector<std::int64_t> ids;
  for (std::size_t k = 0; k < order.size(); ++k) {
    Lists& rank = m.ranks[zu(order[k])];
    first[zu(order[k])] = cuts[k];
    rank.owned_length = cuts[k + 1] - cuts[k];
    for (int i = 0; i < rank.owned_length; ++i)
      rank.owned.push_back({cuts[k] + i, i}), ids.push_back(cuts[k] + i);
  }
  need_at_random(m.ranks, ids, with.common);
  std::vector<std::int64_t> indices;
  for (const Held& held : with.mine(m).needed) indices.push_back(held.id);
  must(tonari_vector_create(with.place.comm, first[zu(with.place.rank)], with.mine(m).owned_length,
                            static_cast<std::int64_t>(indices.size()), indices.data(), with.info,
                            &m.vector),
       "tonari_vector_create");
}

std::vector<std::int64_t> random_ids(int number, Random& common) {
  std::set<std::int64_t> ids;
  while (static_cast<int>(ids.size()) < number) {
    const auto high = static_cast<std::int64_t>(common()) << 32;
    ids.insert(pick(common, 0, 2) ? pick(common, -100, 100) : high + common());
  }
  std::vector<std::int64_t> list(ids.begin(), ids.end());
  std::shuffle(list.begin(), list.end(), common);
  return list;
}

struct IdsAndPlaces {
  std::vector<std::int64_t> ids;
  std::vector<int> places;
  explicit IdsAndPlaces(const std::vector<Held>& list) {
    for (const Held& held : list) ids.push_back(held.id), places.push_back(held.place);
  }
  std::int64_t count() const { return static_cast<std::int64_t>(ids.size()); }
};

void make_from_ids(Model& m, const Making& with) {
  const std::vector<std::int64_t> ids = random_ids(pick(with.common, 0, 40), with.common);
  for (const std::int64_t id : ids)
    m.ranks[with.common() % m.ranks.size()].owned.push_back({id, 0});
  need_at_random(m.ranks, ids, with.common);
  const bool own_places = pick(with.common, 0, 1), ghost_places = pick(with.common, 0, 1);
  for (Lists& rank : m.ranks) {
    const std::vector<int> at = places(rank.owned.size(), rank.owned_length, with.common);
    for (std::size_t k = 0; k < at.size(); ++k)
      rank.owned[k].place = own_places ? at[k] : static_cast<int>(k);
    if (!ghost_places) continue;
    const std::vector<int> ghosts = places(rank.needed.size(), rank.ghost_length, with.common);
    for (std::size_t k = 0; k < ghosts.size(); ++k) rank.needed[k].place = ghosts[k];
  }
  const IdsAndPlaces owned(with.mine(m).owned), needed(with.mine(m).needed);
  must(tonari_vector_create_from_ids(
           with.place.comm, owned.count(), owned.ids.data(),
           own_places ? owned.places.data() : nullptr, needed.count(), needed.ids.data(),
           ghost_places ? needed.places.data() : nullptr, with.info, &m.vector),
       "tonari_vector_create_from_ids");
}

void make_shared(Model& m, const Making& with) {
  const std::vector<std::int64_t> ids = random_ids(pick(with.common, 1, 20), with.common);
  const bool have_places = pick(with.common, 0, 1);
  std::set<std::int64_t> owned;
  IdsAndPlaces mine({});
  for (int r = 0; r < with.place.ranks; ++r) {
    Lists& rank = m.ranks[zu(r)];
    std::vector<std::int64_t> list;
    for (const std::int64_t id : ids)
      if (pick(with.common, 0, 2)) list.push_back(id);
    std::shuffle(list.begin(), list.end(), with.common);
    std::vector<int> at = places(list.size(), rank.owned_length, with.common);
    for (std::size_t k = 0; k < list.size(); ++k) {
      if (!have_places) at[k] = static_cast<int>(k);
      (owned.insert(list[k]).second ? rank.owned : rank.needed).push_back({list[k], at[k]});
    }
    rank.ghost_length = rank.owned_length;
    if (r == with.place.rank) mine.ids = list, mine.places = at;
  }
  m.one_array = true;
  must(
      tonari_vector_create_shared(with.place.comm, mine.count(), mine.ids.data(),
                                  have_places ? mine.places.data() : nullptr, with.info, &m.vector),
      "tonari_vector_create_shared");
}

// One side's lists of its neighbors: of each pair one or two.
struct Side {
  std::vector<int> ranks, counts, places;
  void add(int rank, const std::vector<int>& list) {
    ranks.push_back(rank);
    counts.push_back(static_cast<int>(list.size()));
    places.insert(places.end(), list.begin(), list.end());
  }
  int lists() const { return static_cast<int>(ranks.size()); }
};

void make_from_neighbors(Model& m, const Making& with) {
  const int ranks = with.place.ranks;
  constexpr std::int64_t apart = 1'000'000;  // ids: rank and place
  for (Lists& rank : m.ranks) rank.owned_length = pick(with.common, 1, 12);
  std::map<std::pair<int, int>, std::vector<int>> sent;
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to)
      for (int k = std::max(0, pick(with.common, -4, 8)); k > 0; --k)
        sent[{from, to}].push_back(pick(with.common, 0, m.ranks[zu(from)].owned_length - 1));
  Side out, in;
  for (int r = 0; r < ranks; ++r) {
    Lists& rank = m.ranks[zu(r)];
    std::set<int> places_sent;
    for (const int to : shuffled(ranks, with.common))
      if (const auto list = sent.find({r, to}); list != sent.end()) {
        places_sent.insert(list->second.begin(), list->second.end());
        if (r == with.place.rank) out.add(to, list->second);
      }
    for (const int place : places_sent) rank.owned.push_back({r * apart + place, place});
    for (const int from : shuffled(ranks, with.common))
      if (const auto list = sent.find({from, r}); list != sent.end()) {
        std::vector<int> at;
        for (const int place : list->second) {
          at.push_back(static_cast<int>(rank.needed.size()));
          rank.needed.push_back({from * apart + place, at.back()});
        }
        if (r == with.place.rank) in.add(from, at);
      }
    const std::vector<int> at = places(rank.needed.size(), rank.ghost_length, with.common);
    for (std::size_t k = 0; k < at.size(); ++k) rank.needed[k].place = at[k];
    if (r == with.place.rank) in.places = at;
  }
  must(tonari_vector_create_from_neighbors(with.place.comm, with.mine(m).owned_length, out.lists(),
                                           out.ranks.data(), out.counts.data(), out.places.data(),
                                           in.lists(), in.ranks.data(), in.counts.data(),
                                           in.places.data(), with.info, &m.vector),
       "tonari_vector_create_from_neighbors");
}

Model make_model(Draws& draws) {
  static const char* const routes[] = {"direct",
                                       "direct",
                                       "store-and-forward/2",
                                       "node",
                                       "store-and-forward/1",
                                       "balanced",
                                       "balanced/3 stages",
                                       "message-sharing"};
  std::string route = word(draws.common, routes);
  if (draws.place.ranks < 4 && route == "store-and-forward/2") route = "direct";
  if (draws.place.ranks < 2 && route == "store-and-forward/1") route = "direct";
  const test::Info info{{"tonari_route", route}};
  Model m;
  m.ranks.resize(zu(draws.place.ranks));
  static constexpr void (*makers[])(Model&, const Making&) = {make_ranges, make_from_ids,
                                                              make_shared, make_from_neighbors};
  static const char* const names[] = {"ranges", "ids", "shared values", "neighbors"};
  const auto kind = zu(pick(draws.common, 0, 3));
  makers[kind](m, {draws.place, draws.common, info});
  m.name = std::string("vector of ") + names[kind] + ", " + route;
  return m;
}

// One of the two arrays of a rank: `vectors` vectors of values of some components.
struct Layout {
  int length = 0, components = 1, vectors = 1;
  std::int64_t stride = 0;
  std::size_t at(int vector, int place, int component) const {
    return zu(vector * stride + place * components + component);
  }
  std::size_t elements() const { return zu(vectors * stride); }
};

class VectorExchange final : public Exchange {
 public:
  explicit VectorExchange(Draws& draws) : place_(draws.place), model_(make_model(draws)) {
    Random& common = draws.common;
    number_ = Number::random(common);
    direction_ = pick(common, 0, 2);
    how_ = direction_ == 0 ? Combining::none : random_combining(common);
    values_.type = number_.type;
    values_.components = pick(common, 1, 3), values_.vectors = pick(common, 1, 2);
    const Lists& mine = model_.ranks[zu(place_.rank)];
    const int wider = pick(draws.own, 0, 2);
    own_ = layout(mine.owned_length, wider);
    ghosts_ = layout(mine.ghost_length, model_.one_array ? wider : pick(draws.own, 0, 2));
    values_.owned_stride = own_.stride, values_.ghost_stride = ghosts_.stride;
    memory_.resize(number_.bytes * (own_.elements() + ghosts_.elements()) + 3 * gap);
    static const char* const directions[] = {"forward", "reverse", "combine"};
    label = model_.name + ", " + directions[direction_] +
            (direction_ ? std::string(" ") + name_of(how_) : "") + ", " +
            std::to_string(values_.vectors) + " vectors of " + std::to_string(values_.components);
  }

  bool offers(Form form) const override { return form != Form::started; }
  bool fits_into_groups() const override { return true; }
  Keys keys(Random& common, Form) const override { return neighbor_keys(common); }
  int init(MPI_Info info, tonari_request* request) override {
    if (direction_ == 0)
      return tonari_vector_forward_init(model_.vector, &values_, owned(), ghosts(), info, request);
    const MPI_Op op = op_of(how_);
    if (direction_ == 1)
      return tonari_vector_reverse_init(model_.vector, &values_, op, ghosts(), owned(), info,
                                        request);
    return tonari_vector_combine_init(model_.vector, &values_, op, owned(), ghosts(), info,
                                      request);
  }
  int call(MPI_Info) override {
    if (direction_ == 0) return tonari_vector_forward(model_.vector, &values_, owned(), ghosts());
    const MPI_Op op = op_of(how_);
    if (direction_ == 1)
      return tonari_vector_reverse(model_.vector, &values_, op, ghosts(), owned());
    return tonari_vector_combine(model_.vector, &values_, op, owned(), ghosts());
  }

  void prepare(int round) override { write(memory_, all_before(round)); }
  std::string wrong(int round, tonari_request) override {
    std::vector<test::Byte> want(memory_.size());
    write(want, all_after(round));
    if (want == memory_) return "";
    const auto at = zu(std::ranges::mismatch(want, memory_).in1 - want.begin());
    const std::size_t begin = at < ghosts_begin() ? gap : ghosts_begin();
    return "element " + std::to_string((at - begin) / number_.bytes) + " of " +
           (begin == gap ? "owned" : "ghosts") + " is wrong";
  }
  void free() override { must(tonari_vector_free(&model_.vector), "tonari_vector_free"); }

 private:
  static constexpr std::size_t gap = 24;
  // What places of both arrays hold, of this rank: [owned or ghosts][vector][place][component].
  // What is not there is padding.
  struct Contents {
    std::map<std::tuple<bool, int, int, int>, std::int64_t> of;
  };

  Layout layout(int length, int wider) const {
    Layout l{length, values_.components, values_.vectors, 0};
    l.stride = std::int64_t{length} * l.components + wider;
    if (l.stride == 0) l.stride = 1;
    return l;
  }
  std::size_t ghosts_begin() const { return 2 * gap + number_.bytes * own_.elements(); }
  void* owned() { return memory_.data() + gap; }
  void* ghosts() { return model_.one_array ? owned() : memory_.data() + ghosts_begin(); }

  // What a place of a rank holds at first, unless nobody reads it.
  std::int64_t at_first(int rank, bool ghost, int vector, int place, int component,
                        int round) const {
    return small_number(2 * rank + (ghost && !model_.one_array), place, 16 * vector + component,
                        round);
  }
  template <class Use>
  void each_component(Use use) const {
    for (int v = 0; v < values_.vectors; ++v)
      for (int c = 0; c < values_.components; ++c) use(v, c);
  }
  Contents all_before(int round) const {
    Contents all;
    const Lists& mine = model_.ranks[zu(place_.rank)];
    each_component([&](int v, int c) {
      for (int p = 0; p < mine.owned_length; ++p)
        all.of[{false, v, p, c}] = at_first(place_.rank, false, v, p, c, round);
      for (int p = 0; p < mine.ghost_length && !model_.one_array; ++p)
        all.of[{true, v, p, c}] = at_first(place_.rank, true, v, p, c, round);
    });
    return all;
  }
  // Of one vector and component: what owners have of each id in the end.
  std::map<std::int64_t, std::int64_t> at_owners(int v, int c, int round) const {
    std::map<std::int64_t, std::int64_t> of;
    for (int r = 0; r < place_.ranks; ++r)
      for (const Held& held : model_.ranks[zu(r)].owned)
        of[held.id] = at_first(r, false, v, held.place, c, round);
    if (direction_ > 0)
      for (int r = 0; r < place_.ranks; ++r)
        for (const Held& held : model_.ranks[zu(r)].needed) {
          std::int64_t& value = of.at(held.id);
          value = combined(how_, value, at_first(r, true, v, held.place, c, round));
        }
    return of;
  }
  Contents all_after(int round) const {
    Contents all = all_before(round);
    const Lists& mine = model_.ranks[zu(place_.rank)];
    each_component([&](int v, int c) {
      const auto of = at_owners(v, c, round);
      if (direction_ > 0)
        for (const Held& held : mine.owned) all.of[{false, v, held.place, c}] = of.at(held.id);
      if (direction_ != 1)
        for (const Held& held : mine.needed)
          all.of[{!model_.one_array, v, held.place, c}] = of.at(held.id);
    });
    return all;
  }
  void write(std::vector<test::Byte>& memory, const Contents& all) const {
    std::ranges::fill(memory, test::Byte{0xA5});
    for (const auto& [key, value] : all.of) {
      const auto& [ghost, vector, place, component] = key;
      const std::size_t begin = ghost ? ghosts_begin() : gap;
      const std::size_t element = (ghost ? ghosts_ : own_).at(vector, place, component);
      number_.store(memory.data() + begin + number_.bytes * element, value);
    }
  }

  const Place& place_;
  Model model_;
  Number number_;
  int direction_ = 0;
  Combining how_ = Combining::none;
  tonari_vector_values values_{};
  Layout own_, ghosts_;
  std::vector<test::Byte> memory_;
};

}  // namespace

std::unique_ptr<Exchange> make_vector(Draws& draws) {
  return std::make_unique<VectorExchange>(draws);
}

}  // namespace tonari::fuzz
