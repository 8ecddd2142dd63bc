#include "engine/segments.hpp"

#include <map>
#include <set>

#include "channels/control_tags.hpp"
#include "channels/mpi_error.hpp"
#include "engine/agree.hpp"

namespace tonari {
namespace {

// Whether all ranks have come so far. Memory that cannot be had is a reason to do without; anything
// else is an error.
bool all_well(Context& context, const std::optional<Error>& mine, std::string& refusal) {
  try {
    agree(context.comm(), mine);
    return true;
  } catch (const Error& error) {
    if (error.code() != Errc::memory) throw;
    refusal = error.what();
    return false;
  }
}

// Tells every sender where its messages go, and learns the same from every receiver. Empty names:
// that rank made no inbox.
class NameSwap {
 public:
  NameSwap(const std::vector<EdgeMessage>& in, const std::vector<EdgeMessage>& out) {
    for (const EdgeMessage& m : out) theirs_[m.peer] = {};
    for (const EdgeMessage& m : in) senders_.insert(m.peer);
    requests_.reserve(theirs_.size() + senders_.size());
  }
  // Needs no memory.
  const std::map<std::int32_t, SegmentName>& run(const Context& context, const SegmentName& mine) {
    constexpr int bytes = sizeof(SegmentName);
    for (auto& [rank, name] : theirs_)
      check_mpi(MPI_Irecv(&name, bytes, MPI_BYTE, rank, segment_names, context.comm(),
                          &requests_.emplace_back()),
                "MPI_Irecv");
    for (std::int32_t rank : senders_)
      check_mpi(MPI_Isend(&mine, bytes, MPI_BYTE, rank, segment_names, context.comm(),
                          &requests_.emplace_back()),
                "MPI_Isend");
    check_mpi(
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
    return theirs_;
  }

 private:
  std::map<std::int32_t, SegmentName> theirs_;
  std::set<std::int32_t> senders_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::shared_ptr<SharedLink> connect_segments(Context& context, const std::vector<EdgeMessage>& in,
                                             const std::vector<EdgeMessage>& out,
                                             const SharedLimits& limits, std::string& refusal) {
  std::shared_ptr<SharedLink> link;
  std::optional<Error> error = caught([&] {
    link = std::make_shared<SharedLink>(context.node(), context.rank(), in, out, limits);
  });
  NameSwap swap(in, out);
  stay_together(context.comm());
  const std::map<std::int32_t, SegmentName>& names =
      swap.run(context, link ? link->segment() : SegmentName{});
  // Who finds that a receiver has made nothing leaves it to that rank to say why.
  bool attached = false;
  if (!error) error = caught([&] { attached = link->attach(names); });
  if (!all_well(context, error, refusal)) return nullptr;
  link->close_door();
  return attached ? link : nullptr;
}

}  // namespace tonari
