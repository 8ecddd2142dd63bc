// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/sizes.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "channels/table.hpp"
#include "engine/run/build.hpp"
#include "mpi/collective.hpp"

namespace tonari {
namespace {

std::vector<Bytes> sizes(const std::vector<Block>& blocks) {
  std::vector<Bytes> all;
  for (const Block& b : blocks) all.push_back(b.bytes);
  return all;
}

// Every block's size travels to its receiver, by the linear plan on blocks of eight bytes.
std::vector<std::uint64_t> exchange_sizes(Context& context, Collective collective,
                                          const Binding& binding) {
  const std::vector<Bytes> mine = sizes(binding.send);
  std::vector<std::uint64_t> theirs(binding.recv.size(), 0);
  Arguments arguments{collective, Form::regular, mine.data(), theirs.data()};
  for (std::size_t k = 0; k < mine.size(); ++k)
    arguments.send.push_back({static_cast<MPI_Aint>(8 * k), 1, MPI_UINT64_T});
  for (std::size_t k = 0; k < theirs.size(); ++k)
    arguments.recv.push_back({static_cast<MPI_Aint>(8 * k), 1, MPI_UINT64_T});
  std::string reason;
  const VariantPtr linear =
      context.planners().variants("linear", collective, 8, std::nullopt, reason).front();
  std::unique_ptr<Exchange> exchange;
  context.reserve_tags(linear->tags());
  run_collectively(context.comm(), [&] {
    arguments.bind();
    const Candidate candidate{linear, {{all_channels().front()}}};
    exchange = build(context, candidate, {}, arguments, context.first_tag(),
                     wire(context, candidate, {}, arguments.binding, Purpose::request));
  });
  exchange->start();
  exchange->wait();
  stay_together(context.comm());  // the tags are free again
  return theirs;
}

void check_ends(Context& context, Collective collective, const Binding& binding) {
  const std::vector<std::uint64_t> theirs = exchange_sizes(context, collective, binding);
  run_collectively(context.comm(), [&] {
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      const int source = context.vertex().sources[i];
      if (source >= 0 && theirs[i] != binding.recv[i].bytes)
        fail(Errc::mismatch, "block ", given_number(context.topology(), Buffer::recv, i),
             " from rank ", source, " to rank ", context.rank(), " has ", theirs[i],
             " bytes at the sender and ", binding.recv[i].bytes,
             " at the receiver; both must be the same");
    }
  });
}

// The largest and the smallest size among blocks that have to be equal, over all ranks.
class Bounds {
 public:
  explicit Bounds(std::size_t count) : count_(count), words_(2 * count, 0) {}
  void add(std::size_t i, Bytes bytes) {
    words_[i] = std::max<std::uint64_t>(words_[i], bytes);
    // for the minimum
    words_[count_ + i] = std::max<std::uint64_t>(words_[count_ + i], largest_ballot - bytes);
  }
  void reduce(MPI_Comm comm) {
    const int count = checked_cast<int>(words_.size(), "number of blocks");
    stay_together(comm);
    reduce_all(words_.data(), count, MPI_UINT64_T, MPI_MAX, comm);
  }
  // The sizes; empty if some size is not the same everywhere. A block that no rank has is empty.
  std::vector<Bytes> common() const {
    for (std::size_t i = 0; i < count_; ++i)
      if (words_[count_ + i] != 0 && words_[i] + words_[count_ + i] != largest_ballot) return {};
    return {words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(count_)};
  }

 private:
  std::size_t count_;
  std::vector<std::uint64_t> words_;
};

// Collective. Of blocks whose two ends agree.
std::vector<Bytes> common_sizes(Context& context, Collective collective, const Binding& binding) {
  if (context.topology().neighbors == 0) return {0};  // there is no block, so none of unknown size
  const bool each = numbered(context.topology(), collective);
  Bounds bounds(each ? binding.recv.size() : 1);
  for (const auto& [number, bytes] : blocks_on_edges(context.vertex(), collective, binding))
    bounds.add(each ? number : 0, bytes);
  bounds.reduce(context.comm());
  return bounds.common();
}

// Collective where sizes are not common.
Sizes with_average(Context& context, std::vector<Bytes> common, const Binding& binding) {
  const std::vector<Bytes> bytes = common.empty() ? sizes(binding.send) : common;
  double average = bytes.empty() ? 0
                                 : std::accumulate(bytes.begin(), bytes.end(), 0.0) /
                                       static_cast<double>(bytes.size());
  if (common.empty()) {
    stay_together(context.comm());
    reduce_all(&average, 1, MPI_DOUBLE, MPI_MAX, context.comm());
  }
  return {std::move(common), average};
}

}  // namespace

std::vector<Bytes> agree_on_sizes(Context& context, Collective collective, const Binding& binding,
                                  const SizePrint& print, const ComparedSizes& compared) {
  if (context.topology().neighbors > 0) {
    if (auto told = print.sizes(compared)) return *std::move(told);
    check_ends(context, collective, binding);
  }
  return common_sizes(context, collective, binding);
}

Sizes sizes_of_call(Context& context, Collective collective, const Binding& binding,
                    const SizePrint& print, const ComparedSizes& compared) {
  if (ExactSizes* exact = context.exact_sizes()) return exact->of(collective).sizes;
  return with_average(context, agree_on_sizes(context, collective, binding, print, compared),
                      binding);
}

Sizes sizes_of_equal_ends(Context& context, Collective collective, const Binding& binding) {
  return with_average(context, common_sizes(context, collective, binding), binding);
}

}  // namespace tonari
