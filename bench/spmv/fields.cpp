// SPDX-License-Identifier: BSD-3-Clause
// Four vectors at once, each with arrays of its own: the owners' values to all that need them, with
// one message from rank to rank for all of them, or one for each.
#include <tonari/group.h>

#include <array>
#include <limits>

#include "keys.hpp"
#include "spmv/mover.hpp"
#include "spmv/vector_exchange.hpp"

namespace bench::spmv {

namespace {

constexpr std::size_t field_count = 4;

// Of one field. One number more than needed: addresses are never null.
struct Arrays {
  std::vector<double> owned, ghosts;
};
using Fields = std::array<Arrays, field_count>;

double value_of(std::int64_t index, std::size_t field, int generation) {
  return static_cast<double>(index + 1) + 0.25 * (generation % 4) +
         1e9 * static_cast<double>(field);
}

// Blocks that hold all fields, one behind the other.
Blocks of_all_fields(const Blocks& one) {
  Blocks all;
  for (int i = 0; i < one.size(); ++i)
    all.add(one.ranks[static_cast<std::size_t>(i)],
            one.counts[static_cast<std::size_t>(i)] * static_cast<int>(field_count));
  return all;
}

// use(number in a buffer of all fields, field, number among the values of one field).
template <class Use>
void for_values(const Blocks& blocks, const Use& use) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < blocks.ranks.size(); ++i)
    for (std::size_t f = 0; f < field_count; ++f)
      for (int k = 0; k < blocks.counts[i]; ++k)
        use(at++, f, static_cast<std::size_t>(blocks.displs[i] + k));
}

// By a vector: one request of several fields (a route's name), a request for each field, or a group
// of these.
class Requests : public Way {
 public:
  Requests(const std::string& name, const Share& share, const std::string& tune, Fields& fields)
      : keys_{{"tonari_route", route_of(name).empty() ? "direct" : route_of(name)},
              {"tonari_tune", tune}},
        exchange_keys_{{"tonari_tune", tune}} {
    check(tonari_vector_create(share.comm, share.first, share.owned,
                               static_cast<std::int64_t>(share.ghosts.size()), share.ghosts.data(),
                               keys_.get(), &vector_));
    if (name == "group")
      make_group(share.comm, fields);
    else if (name == "requests")
      make_each(fields);
    else
      make_one(fields);
  }
  ~Requests() override {
    for (tonari_request& request : requests_) tonari_request_free(&request);
    tonari_vector_free(&vector_);
  }
  void run() override {
    const int n = static_cast<int>(requests_.size());
    check(tonari_startall(n, requests_.data()));
    check(tonari_waitall(n, requests_.data()));
  }
  bool ours() const override { return true; }
  std::string chosen() const override {
    tonari_vector_facts facts;
    check(tonari_vector_get_facts(vector_, &facts));
    tonari_request_info info;
    check(tonari_request_get_info(requests_.front(), &info));
    return std::string(facts.route) + "/" + info.algorithm + "/" + info.channel;
  }

 private:
  void make_one(Fields& fields) {
    std::array<tonari_vector_field, field_count> given{};
    for (std::size_t f = 0; f < field_count; ++f)
      given[f].owned = fields[f].owned.data(), given[f].ghosts = fields[f].ghosts.data();
    check(tonari_vector_forward_fields_init(vector_, static_cast<int>(field_count), given.data(),
                                            keys_.get(), &requests_.emplace_back()));
  }
  void make_each(Fields& fields) {
    for (Arrays& field : fields)
      check(tonari_vector_forward_init(vector_, nullptr, field.owned.data(), field.ghosts.data(),
                                       keys_.get(), &requests_.emplace_back()));
  }
  void make_group(MPI_Comm comm, Fields& fields) {
    check(tonari_group_start(comm));
    for (Arrays& field : fields)
      check(tonari_vector_forward_init(vector_, nullptr, field.owned.data(), field.ghosts.data(),
                                       MPI_INFO_NULL, nullptr));
    check(tonari_group_end(exchange_keys_.get(), &requests_.emplace_back()));
  }

  Keys keys_, exchange_keys_;
  tonari_vector vector_ = TONARI_VECTOR_NULL;
  std::vector<tonari_request> requests_;
};

class OfFields : public Contest {
 public:
  OfFields(const Share& share, const std::string& tune)
      : share_(share),
        tune_(tune),
        targets_(of_all_fields(share.targets)),
        sources_(of_all_fields(share.sources)),
        packed_(static_cast<std::size_t>(targets_.values()) + 1),
        arrived_(static_cast<std::size_t>(sources_.values()) + 1) {
    for (Arrays& field : fields_)
      field.owned.resize(static_cast<std::size_t>(share.owned) + 1),
          field.ghosts.resize(share.ghosts.size() + 1);
  }
  const std::vector<std::string>& names() const override { return all_candidates(); }
  std::unique_ptr<Way> make(const std::string& name) override {
    const std::string route = route_of(name);
    if (!route.empty() && !route_applies(route, share_)) return nullptr;
    if (!route.empty() || name == "group" || name == "requests")
      return std::make_unique<Requests>(name, share_, tune_, fields_);
    auto mover =
        make_mover(name, tune_, {share_.comm, targets_, packed_.data(), sources_, arrived_.data()});
    return moved(std::move(mover), [this](Mover& inner) { exchange_packed(inner); });
  }
  void prepare(int generation) override {
    for (std::size_t f = 0; f < field_count; ++f) {
      for (std::int64_t i = 0; i < share_.owned; ++i)
        fields_[f].owned[static_cast<std::size_t>(i)] = value_of(share_.first + i, f, generation);
      clear(fields_[f].ghosts);
    }
    clear(packed_), clear(arrived_);
  }
  bool correct(int generation) const override {
    bool good = true;
    for (std::size_t f = 0; f < field_count; ++f)
      for (std::size_t k = 0; k < share_.ghosts.size(); ++k)
        good = good && fields_[f].ghosts[k] == value_of(share_.ghosts[k], f, generation);
    return good;
  }

 private:
  static void clear(std::vector<double>& buffer) {
    buffer.assign(buffer.size(), std::numeric_limits<double>::quiet_NaN());
  }
  // As programs do it.
  void exchange_packed(Mover& mover) {
    for_values(share_.targets, [&](std::size_t at, std::size_t f, std::size_t k) {
      packed_[at] = fields_[f].owned[static_cast<std::size_t>(share_.wanted[k])];
    });
    mover.run();
    for_values(share_.sources, [&](std::size_t at, std::size_t f, std::size_t k) {
      fields_[f].ghosts[k] = arrived_[at];
    });
  }

  const Share& share_;
  const std::string tune_;
  const Blocks targets_, sources_;
  Fields fields_;
  std::vector<double> packed_, arrived_;
};

}  // namespace

std::unique_ptr<Contest> make_fields(const Share& share, const std::string& tune) {
  return std::make_unique<OfFields>(share, tune);
}

}  // namespace bench::spmv
