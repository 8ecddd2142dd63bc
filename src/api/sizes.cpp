#include "api/sizes.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "channels/mpi_error.hpp"
#include "engine/agree.hpp"
#include "engine/selector.hpp"

namespace tonari {
namespace {

std::vector<Bytes> sizes(const std::vector<Block>& blocks) {
  std::vector<Bytes> all;
  for (const Block& b : blocks) all.push_back(b.bytes);
  return all;
}

const Block& sent(Collective collective, const Binding& binding, std::size_t i) {
  return binding.send[collective == Collective::alltoall ? i : 0];
}

// Every block's size travels to its receiver, by the linear plan on blocks of eight bytes.
std::vector<std::uint64_t> exchange_sizes(Context& context, Collective collective, const Binding& binding) {
  const std::vector<Bytes> mine = sizes(binding.send);
  std::vector<std::uint64_t> theirs(binding.recv.size(), 0);
  Arguments arguments{collective, Form::regular, mine.data(), theirs.data(), {}, {}};
  for (std::size_t k = 0; k < mine.size(); ++k) arguments.send.push_back({static_cast<MPI_Aint>(8 * k), 1, MPI_UINT64_T});
  for (std::size_t k = 0; k < theirs.size(); ++k) arguments.recv.push_back({static_cast<MPI_Aint>(8 * k), 1, MPI_UINT64_T});
  const Schedule linear = find_algorithm("linear").schedules(context.near(), collective).front();
  std::unique_ptr<Exchange> exchange;
  context.reserve_tags(linear.rounds());
  together(context.comm(), [&] {
    exchange = build(context, {std::make_shared<const Schedule>(linear), {}, 0}, {}, arguments, bind(arguments), context.first_tag());
  });
  exchange->start();
  exchange->wait();
  check_mpi(MPI_Barrier(context.comm()), "MPI_Barrier");  // the tags are free again
  return theirs;
}

void check_ends(Context& context, Collective collective, const Binding& binding) {
  const std::vector<std::uint64_t> theirs = exchange_sizes(context, collective, binding);
  together(context.comm(), [&] {
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      const int source = context.near()->source(context.rank(), i);
      if (source >= 0 && theirs[i] != binding.recv[i].bytes)
        fail(Errc::mismatch, "block ", i, " from rank ", source, " to rank ", context.rank(), " has ", theirs[i], " bytes at the sender and ", binding.recv[i].bytes,
             " at the receiver; both must be the same");
    }
  });
}

// The largest and the smallest size of block i among the ranks that send or receive it.
std::vector<Bytes> common_sizes(Context& context, Collective collective, const Binding& binding) {
  const std::size_t s = binding.recv.size();
  std::vector<std::uint64_t> bounds(2 * s, 0);  // maximum of v, and of ~v: the complement of the minimum
  const auto add = [&](std::size_t i, Bytes bytes) {
    bounds[i] = std::max<std::uint64_t>(bounds[i], bytes);
    bounds[s + i] = std::max<std::uint64_t>(bounds[s + i], ~bytes);
  };
  for (std::size_t i = 0; i < s; ++i) {
    if (context.near()->target(context.rank(), i) >= 0) add(i, sent(collective, binding, i).bytes);
    if (context.near()->source(context.rank(), i) >= 0) add(i, binding.recv[i].bytes);
  }
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, bounds.data(), checked_cast<int>(bounds.size(), "number of blocks"), MPI_UINT64_T, MPI_MAX, context.comm()), "MPI_Allreduce");
  for (std::size_t i = 0; i < s; ++i)
    if (bounds[s + i] != 0 && bounds[i] != ~bounds[s + i]) return {};
  if (collective == Collective::alltoall) {
    bounds.resize(s);
    return bounds;
  }
  // Allgather: one size for all blocks that some rank has, those of no bytes included.
  const Bytes only = s == 0 ? 0 : *std::max_element(bounds.begin(), bounds.begin() + static_cast<std::ptrdiff_t>(s));
  for (std::size_t i = 0; i < s; ++i)
    if (bounds[s + i] != 0 && bounds[i] != only) return {};
  return {only};
}

}  // namespace

SizePrint size_print(Collective collective, const Binding& binding) {
  Hash hash;
  bool match = true;
  for (const Block& b : binding.send) hash.word(b.bytes);
  for (std::size_t i = 0; i < binding.recv.size(); ++i) {
    hash.word(binding.recv[i].bytes);
    match = match && binding.recv[i].bytes == sent(collective, binding, i).bytes;
  }
  return {hash.word(match).value(), match};
}

std::vector<Bytes> agree_on_sizes(Context& context, Collective collective, const Binding& binding, bool quick) {
  if (context.near()->offsets.empty()) return {0};  // no block, so none of unknown size
  if (quick) return sizes(binding.send);
  check_ends(context, collective, binding);
  return common_sizes(context, collective, binding);
}

}  // namespace tonari
