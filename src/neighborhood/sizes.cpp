// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/sizes.hpp"

#include <algorithm>
#include <bit>
#include <memory>
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

// The bytes that this rank sends or receives, whichever are more.
Bytes load_of(const Vertex& vertex, Collective collective, const Binding& binding) {
  Bytes out = 0, in = 0;
  for (std::size_t i = 0; i < vertex.targets.size(); ++i)
    if (vertex.targets[i] >= 0) out += sent(collective, binding, i).bytes;
  for (std::size_t j = 0; j < vertex.sources.size(); ++j)
    if (vertex.sources[j] >= 0) in += binding.recv[j].bytes;
  return std::max(out, in);
}

// The largest and the smallest size among blocks that have to be equal, over all ranks, and the
// load of the rank that has most to move.
class Bounds {
 public:
  Bounds(std::size_t count, Bytes load) : count_(count), words_(2 * count + 1, 0) {
    checked_cast<int>(words_.size(), "number of blocks");
    words_.back() = load;
  }
  void add(std::size_t i, Bytes bytes) {
    words_[i] = std::max<std::uint64_t>(words_[i], bytes);
    // for the minimum
    words_[count_ + i] = std::max<std::uint64_t>(words_[count_ + i], largest_ballot - bytes);
  }
  // Collective, right after an agreement.
  void reduce(MPI_Comm comm) {
    reduce_all(words_.data(), static_cast<int>(words_.size()), MPI_UINT64_T, MPI_MAX, comm);
  }
  // The sizes; empty if some size is not the same everywhere. A block that no rank has is empty.
  std::vector<Bytes> common() const {
    for (std::size_t i = 0; i < count_; ++i)
      if (words_[count_ + i] != 0 && words_[i] + words_[count_ + i] != largest_ballot) return {};
    return {words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(count_)};
  }
  Bytes heaviest() const { return words_.back(); }

 private:
  std::size_t count_;
  std::vector<std::uint64_t> words_;
};

Sizes of_all(std::vector<Bytes> bytes) {
  const double sum = std::accumulate(bytes.begin(), bytes.end(), 0.0);
  return {bytes, bytes.empty() ? 0 : sum / static_cast<double>(bytes.size())};
}

Bounds bounds_of(const Context& context, Collective collective, const Binding& binding) {
  const bool each = numbered(context.topology(), collective);
  Bounds bounds(each ? binding.recv.size() : 1, load_of(context.vertex(), collective, binding));
  for (const auto& [number, bytes] : blocks_on_edges(context.vertex(), collective, binding))
    bounds.add(each ? number : 0, bytes);
  return bounds;
}

// Collective, right after an agreement. Of blocks whose two ends agree.
Sizes common_sizes(const Context& context, Bounds& bounds) {
  bounds.reduce(context.comm());
  std::vector<Bytes> common = bounds.common();
  if (!common.empty()) return of_all(std::move(common));
  return {
      {},
      static_cast<double>(bounds.heaviest()) / static_cast<double>(context.topology().neighbors)};
}

void compare_ends(const Context& context, const Binding& binding,
                  const std::vector<std::uint64_t>& theirs) {
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const int source = context.vertex().sources[i];
    if (source >= 0 && theirs[i] != binding.recv[i].bytes)
      fail(Errc::mismatch, "block ", given_number(context.topology(), Buffer::recv, i),
           " from rank ", source, " to rank ", context.rank(), " has ", theirs[i],
           " bytes at the sender and ", binding.recv[i].bytes,
           " at the receiver; both must be the same");
  }
}

Sizes agreed_sizes(Context& context, Collective collective, const Binding& binding,
                   const SizePrint& print, const ComparedSizes& compared) {
  // there is no block, so none of unknown size
  if (context.topology().neighbors == 0) return of_all({0});
  if (auto told = print.sizes(compared)) return of_all(*std::move(told));
  const std::vector<std::uint64_t> theirs = exchange_sizes(context, collective, binding);
  std::optional<Bounds> bounds;
  run_collectively(context.comm(), [&] {
    compare_ends(context, binding, theirs);
    bounds = bounds_of(context, collective, binding);
  });
  return common_sizes(context, *bounds);
}

}  // namespace

std::vector<Bytes> agree_on_sizes(Context& context, Collective collective, const Binding& binding,
                                  const SizePrint& print, const ComparedSizes& compared) {
  return agreed_sizes(context, collective, binding, print, compared).bytes;
}

Sizes sizes_of_call(Context& context, Collective collective, const Binding& binding,
                    const SizePrint& print, const ComparedSizes& compared) {
  if (ExactSizes* exact = context.exact_sizes()) return exact->of(collective).sizes;
  Sizes found = agreed_sizes(context, collective, binding, print, compared);
  if (found.bytes.empty())
    found.edges = std::make_shared<const EdgeSizes>(
        EdgeSizes{&context.vertex(), sizes(binding.send), sizes(binding.recv)});
  return found;
}

Sizes sizes_of_equal_ends(Context& context, Collective collective, const Binding& binding) {
  if (context.topology().neighbors == 0) return of_all({0});
  Bounds bounds = bounds_of(context, collective, binding);
  stay_together(context.comm());
  return common_sizes(context, bounds);
}

// Prices are not negative, so their bits have their order; the lowest one makes room for the sign.
void raise_to_heaviest(MPI_Comm comm, std::span<double> prices) {
  if (prices.size() > Vote::ballots_at_once) {
    stay_together(comm);
    reduce_all(prices.data(), static_cast<int>(prices.size()), MPI_DOUBLE, MPI_MAX, comm);
    return;
  }
  std::vector<Ballot> ballots;
  for (const double price : prices) ballots.emplace_back(std::bit_cast<std::uint64_t>(price) >> 1);
  std::vector<std::uint64_t> said;
  agree(comm, std::nullopt, ballots, &said);
  for (std::size_t k = 0; k < prices.size(); ++k) prices[k] = std::bit_cast<double>(said[k] << 1);
}

}  // namespace tonari
