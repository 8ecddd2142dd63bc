// SPDX-License-Identifier: BSD-3-Clause
// Several exchanges of several kinds as one.
#include <tonari/group.h>

#include "fuzz/exchange.hpp"

namespace tonari::fuzz {
namespace {

class Group final : public Exchange {
 public:
  explicit Group(Draws& draws) : place_(draws.place) {
    static constexpr std::unique_ptr<Exchange> (*makers[])(Draws&) = {
        make_operation, make_operation, make_vector, make_grid, make_blocks};
    label = "group of";
    for (int n = pick(draws.common, 1, 4); n > 0; --n) {
      parts_.push_back(makers[pick(draws.common, 0, 4)](draws));
      label += " [" + parts_.back()->label + "]";
    }
  }
  bool offers(Form) const override { return true; }
  bool may_be_freed_early() const override { return false; }
  Keys keys(Random& common, Form) const override { return neighbor_keys(common); }
  int init(MPI_Info info, tonari_request* request) override {
    collect();
    return tonari_group_end(info, request);
  }
  int begin(MPI_Info info, tonari_request* request) override {
    collect();
    return tonari_group_irun(info, request);
  }
  int call(MPI_Info info) override {
    collect();
    return tonari_group_run(info);
  }
  void prepare(int round) override {
    for (const auto& part : parts_) part->prepare(round);
  }
  std::string wrong(int round, tonari_request) override {
    for (const auto& part : parts_)
      if (std::string said = part->wrong(round, TONARI_REQUEST_NULL); !said.empty())
        return part->label + ": " + said;
    return "";
  }
  void free() override {
    for (const auto& part : parts_) part->free();
  }

 private:
  void collect() {
    must(tonari_group_start(place_.comm), "tonari_group_start");
    for (const auto& part : parts_)
      must(part->init(MPI_INFO_NULL, nullptr), "an init within a group");
  }

  const Place& place_;
  std::vector<std::unique_ptr<Exchange>> parts_;
};

}  // namespace

std::unique_ptr<Exchange> make_group(Draws& draws) { return std::make_unique<Group>(draws); }

}  // namespace tonari::fuzz
