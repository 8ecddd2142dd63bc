// SPDX-License-Identifier: BSD-3-Clause
// Messages that nobody expects.
#include <tonari/sparse.h>

#include <algorithm>

#include "fuzz/exchange.hpp"
#include "support/zu.hpp"

namespace tonari::fuzz {
namespace {

using namespace tonari::test;

struct Message {
  int to;  // -1: nobody
  int count;
};

class Sparse final : public Exchange {
 public:
  explicit Sparse(Draws& draws) : place_(draws.place), by_rank_(zu(place_.ranks)) {
    static const int units[] = {1, 4, 8, 12, 40};
    unit_ = units[draws.common() % std::size(units)];
    static const int most[] = {0, 3, 3, 50, 50, 5000};
    for (std::vector<Message>& list : by_rank_)
      for (int k = pick(draws.common, 0, 5); k > 0; --k)
        list.push_back({pick(draws.common, -1, place_.ranks - 1),
                        pick(draws.common, 0, most[draws.common() % std::size(most)])});
    int room = 1;
    for (const Message& message : by_rank_[zu(place_.rank)]) room += message.count + 3;
    element_ = make_element(draws.own, static_cast<Style>(pick(draws.own, 0, styles)), unit_, room);
    lie_anywhere(draws.own);
    label = "sparse_alltoallv of elements of " + std::to_string(unit_) + " bytes";
  }
  ~Sparse() override {
    tonari_messages_free(&came_);
    if (element_.ours) MPI_Type_free(&element_.type);
  }

  bool offers(Form form) const override { return form != Form::request; }
  bool may_be_freed_early() const override { return false; }
  Keys keys(Random& common, Form form) const override {
    static const char* const names[] = {"auto", "pairwise", "nbx", "personalized",
                                        "store-and-forward/2"};
    std::string name = word(common, names);
    const bool hops = form == Form::blocking && place_.ranks > 3;
    if (name == "store-and-forward/2" && !hops) name = "nbx";
    return {{"tonari_algorithm", name}};
  }
  int init(MPI_Info, tonari_request*) override { return TONARI_ERR_INTERNAL; }
  int begin(MPI_Info info, tonari_request* request) override {
    must(tonari_messages_free(&came_), "tonari_messages_free");
    return tonari_sparse_ialltoallv(static_cast<int>(to_.size()), to_.data(), counts_.data(),
                                    at_.data(), element_.type, memory_.data() + base_, place_.comm,
                                    info, &came_, request);
  }
  int call(MPI_Info info) override {
    must(tonari_messages_free(&came_), "tonari_messages_free");
    return tonari_sparse_alltoallv(static_cast<int>(to_.size()), to_.data(), counts_.data(),
                                   at_.data(), element_.type, memory_.data() + base_, place_.comm,
                                   info, &came_);
  }

  void prepare(int round) override {
    std::ranges::fill(memory_, unsent);
    for (std::size_t m = 0; m < to_.size(); ++m)
      write_block(memory_, pieces(m), place_.rank, static_cast<int>(m), round);
    sent_ = memory_;
  }
  std::string wrong(int round, tonari_request) override {
    if (memory_ != sent_) return "the send buffer was changed";
    if (!came_) return "nothing was returned";
    int number = 0;
    MPI_Count total = 0;
    for (int from = 0; from < place_.ranks; ++from)
      for (std::size_t m = 0; m < by_rank_[zu(from)].size(); ++m) {
        const Message& message = by_rank_[zu(from)][m];
        if (message.to != place_.rank) continue;
        if (number >= came_->count) return "there are too few messages";
        if (std::string said =
                wrong_message(number, from, static_cast<int>(m), message.count, total, round);
            !said.empty())
          return "message " + std::to_string(number) + " (from " + std::to_string(from) + ") " +
                 said;
        ++number, total += message.count;
      }
    if (number != came_->count) return "there are too many messages";
    return total == came_->total ? "" : "the number of all elements is wrong";
  }
  void free() override {}

 private:
  void lie_anywhere(Random& own) {
    MPI_Aint next = 0;
    for (const Message& message : by_rank_[zu(place_.rank)]) {
      to_.push_back(message.to < 0 ? MPI_PROC_NULL : message.to);
      counts_.push_back(message.count);
      next += pick(own, 0, 3);
      at_.push_back(next);
      next += message.count;
    }
    base_ = 16 + element_.below();
    std::ptrdiff_t end = base_;
    for (std::size_t m = 0; m < to_.size(); ++m)
      for (const Piece& p : pieces(m))
        end = std::max(end, p.at + static_cast<std::ptrdiff_t>(p.length));
    memory_.resize(zu(end) + 40);
  }
  std::vector<Piece> pieces(std::size_t m) const {
    std::vector<Piece> all;
    for (MPI_Count k = 0; k < counts_[m]; ++k)
      add_pieces(all, element_, base_ + (at_[m] + k) * element_.extent);
    return all;
  }
  std::string wrong_message(int number, int from, int m, int count, MPI_Count before,
                            int round) const {
    if (came_->sources[number] != from)
      return "has source " + std::to_string(came_->sources[number]);
    if (came_->counts[number] != count)
      return "has " + std::to_string(came_->counts[number]) + " elements for " +
             std::to_string(count);
    if (came_->displs[number] != before) return "lies elsewhere";
    const auto* const data = static_cast<const Byte*>(came_->data) + before * unit_;
    for (std::size_t k = 0; k < zu(count * unit_); ++k)
      if (data[k] != payload(from, m, k, round)) return "is wrong at byte " + std::to_string(k);
    return "";
  }

  const Place& place_;
  std::vector<std::vector<Message>> by_rank_;
  int unit_ = 1;
  Element element_;
  std::vector<int> to_;
  std::vector<MPI_Count> counts_;
  std::vector<MPI_Aint> at_;
  std::ptrdiff_t base_ = 0;
  std::vector<Byte> memory_, sent_;
  tonari_messages came_ = TONARI_MESSAGES_NULL;
};

}  // namespace

std::unique_ptr<Exchange> make_sparse(Draws& draws) { return std::make_unique<Sparse>(draws); }

}  // namespace tonari::fuzz
