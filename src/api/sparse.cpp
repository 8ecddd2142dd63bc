// Sparse exchanges with unknown receivers as C functions.
#include <array>
#include <atomic>
#include <limits>
#include <memory>

#include "api/agree_on_arguments.hpp"
#include "api/settings.hpp"
#include "base/hash.hpp"
#include "channels/datatype.hpp"
#include "channels/mpi_error.hpp"
#include "copy/walk.hpp"
#include "engine/read_topology.hpp"
#include "engine/shared_comm.hpp"
#include "engine/sparse_exchange.hpp"
#include "planners/registry.hpp"
#include "tonari/sparse.h"
#include "topology/virtual_topology.hpp"

using namespace tonari;

namespace {

// What the program reads, and what it points to.
struct OwnedMessages : tonari_messages_s {
  SparseResult result;
  std::string name;
};

// What the program frees serves a later call, if it is small: the library frees it never.
std::atomic<OwnedMessages*> spare = nullptr;

std::unique_ptr<OwnedMessages> take_messages() {
  std::unique_ptr<OwnedMessages> messages(spare.exchange(nullptr));
  if (!messages) return std::make_unique<OwnedMessages>();
  messages->result.clear();
  static_cast<tonari_messages_s&>(*messages) = {};
  return messages;
}

void put_away(std::unique_ptr<OwnedMessages> messages) {
  constexpr Bytes most = 64 << 10;
  if (messages && messages->result.held() <= most)
    messages.reset(spare.exchange(messages.release()));
}

struct Given {
  int sends;
  const int* destinations;
  const MPI_Count* counts;
  const MPI_Aint* displacements;
  MPI_Datatype type;
  const void* buffer;
};

// The messages of one call as bytes.
class Outgoing {
 public:
  Outgoing(const Given& given, int ranks, int rank) : given_(given), ranks_(ranks), rank_(rank) {}

  Bytes element_bytes() const { return element_.bytes(); }
  std::span<const SparseMessage> messages() const { return messages_; }

  void read() {
    if (given_.sends < 0) fail(Errc::argument, "`sends` is ", given_.sends, on_rank());
    if (given_.type == MPI_DATATYPE_NULL)
      fail(Errc::argument, "`type` is MPI_DATATYPE_NULL", on_rank());
    MPI_Aint low = 0;
    check_mpi(MPI_Type_get_extent(given_.type, &low, &extent_), "MPI_Type_get_extent");
    element_ = flatten(1, given_.type);
    if (given_.sends == 0) return;
    if (!given_.destinations || !given_.counts)
      fail(Errc::argument, given_.destinations ? "`sendcounts`" : "`destinations`",
           " is NULL, but `sends` is ", given_.sends, on_rank());
    messages_.reserve(static_cast<std::size_t>(given_.sends));
    for (int i = 0; i < given_.sends; ++i) read_message(i);
    if (!dense()) pack();
  }

 private:
  std::string on_rank() const { return text(" on rank ", rank_); }
  // Elements follow each other without gaps.
  bool dense() const {
    return element_.contiguous() && static_cast<MPI_Aint>(element_.bytes()) == extent_;
  }

  void read_message(int i) {
    const int to = given_.destinations[i];
    const MPI_Count count = given_.counts[i];
    if (to != MPI_PROC_NULL && (to < 0 || to >= ranks_))
      fail(Errc::argument, "`destinations[", i, "]` is ", to, on_rank(), "; ranks go from 0 to ",
           ranks_ - 1, ", and MPI_PROC_NULL stands for none");
    if (count < 0)
      fail(Errc::argument, "`sendcounts[", i, "]` is ", count, on_rank(),
           "; counts must not be negative");
    const MPI_Aint first = given_.displacements ? given_.displacements[i] : next_;
    next_ = checked_add<MPI_Aint>(first, count, "displacement");
    if (to == MPI_PROC_NULL) return;
    const MPI_Aint offset = checked_multiply(first, extent_, "displacement");
    checked_multiply(next_, extent_, "displacement");
    const Bytes bytes =
        checked_multiply(static_cast<Bytes>(count), element_.bytes(), "bytes of a message");
    if (bytes > most_bytes) fail(Errc::overflow, "a message of ", bytes, " bytes");
    if (bytes > 0 && !given_.buffer && offset == 0)
      fail(Errc::argument, "`sendbuf` is NULL", on_rank(), ", but message ", i, " has ", count,
           " elements");
    const std::ptrdiff_t begin = dense() && bytes > 0 ? element_.runs()[0].offset : 0;
    const auto base = reinterpret_cast<std::uintptr_t>(given_.buffer);
    messages_.push_back(
        {to, reinterpret_cast<const std::byte*>(base + static_cast<std::uintptr_t>(offset + begin)),
         bytes});
  }

  // What does not lie in one piece is gathered before it travels.
  void pack() {
    Bytes all = 0;
    for (const SparseMessage& m : messages_) all = checked_add(all, m.bytes, "bytes to send");
    packed_ = std::make_unique_for_overwrite<std::byte[]>(all);
    std::byte* to = packed_.get();
    for (SparseMessage& m : messages_) {
      Walk(const_cast<std::byte*>(m.address), element_, extent_).gather(to, m.bytes);
      m.address = to;
      to += m.bytes;
    }
  }

  static constexpr Bytes most_bytes = std::numeric_limits<std::ptrdiff_t>::max() / 2;
  const Given given_;
  const int ranks_, rank_;
  Layout element_;
  MPI_Aint extent_ = 0, next_ = 0;
  std::vector<SparseMessage> messages_;
  std::unique_ptr<std::byte[]> packed_;
};

SparseMethod read_method(MPI_Info info, int ranks) {
  using Kind = SparseMethod::Kind;
  check_keys(info);
  const std::optional<std::string> given = lookup(info, SettingId::sparse_algorithm);
  if (!given || *given == "auto") return {Kind::automatic};
  const std::string name = current_name(*given);
  for (const Kind kind : {Kind::nbx, Kind::personalized})
    if (name == SparseMethod{kind}.name()) return {kind};
  const Setting& row = setting(SettingId::sparse_algorithm);
  if (name == "pairwise") {
    if (ranks <= SparseExchange::most_pairwise) return {Kind::pairwise};
    fail(Errc::algorithm, name_of(row), " is pairwise, which is for up to ",
         SparseExchange::most_pairwise, " ranks, but there are ", ranks);
  }
  const int dimensions = mesh_dimensions(name);
  if (dimensions == 0)
    fail(Errc::algorithm, name_of(row), " is '", name, "'; it must be ", row.values);
  if (dimensions > most_dimensions(ranks))
    fail(Errc::algorithm, name_of(row), " is ", name, ", but ", ranks,
         ranks == 1 ? " rank has" : " ranks have", " virtual topologies of 1 to ",
         most_dimensions(ranks), " dimensions only");
  return {Kind::store_and_forward, dimensions};
}

// Sizes and places in elements, as the program has them.
void show(OwnedMessages& messages, Bytes element) {
  SparseResult& result = messages.result;
  const auto unit = static_cast<MPI_Count>(std::max<Bytes>(element, 1));
  messages.count = static_cast<int>(result.sources.size());
  for (MPI_Count& size : result.sizes) messages.total += size /= unit;
  for (MPI_Aint& place : result.places) place /= static_cast<MPI_Aint>(unit);
  messages.sources = result.sources.data();
  messages.counts = result.sizes.data();
  messages.displs = result.places.data();
  messages.data = messages.total > 0 ? result.data.get() : nullptr;
  messages.algorithm = messages.name.c_str();
}

// Collective.
std::unique_ptr<OwnedMessages> exchange(const Given& given, MPI_Comm comm, MPI_Info info,
                                        const void* output) {
  require_one_group(comm);  // all ranks know
  const std::shared_ptr<SharedComm> shared = SharedComm::of(comm);
  SparseExchange& exchange = shared->sparse();
  std::unique_ptr<OwnedMessages> made;
  Outgoing outgoing(given, shared->ranks(), shared->rank());
  SparseExchange::Call call;
  call.error = error_of([&] {
    require(output, "messages");
    made = take_messages();
    outgoing.read();
    call.messages = outgoing.messages();
    call.method = read_method(info, shared->ranks());
    call.alike = {Hash().bytes(call.method.name()).value(), outgoing.element_bytes()};
    if (call.method.kind == SparseMethod::Kind::automatic) call.method = exchange.fastest();
    made->name = call.method.name();
  });
  SparseResult none;  // where there is an error
  SparseResult& result = made ? made->result : none;
  const std::array<bool, 2> same = exchange.open(call, result);
  if (!same[0]) fail_on_different_settings(shared->comm(), info);
  if (!same[1])
    fail(Errc::mismatch, "an element of `type` has not equally many bytes on all ranks");
  RankGroup* group = nullptr;
  if (call.method.kind == SparseMethod::Kind::store_and_forward)
    run_collectively(shared->comm(), [&] { group = &shared->group(); });
  exchange.complete(call, group, result);
  show(*made, outgoing.element_bytes());
  return made;
}

}  // namespace

extern "C" int tonari_sparse_alltoallv(int sends, const int destinations[],
                                       const MPI_Count sendcounts[], const MPI_Aint senddispls[],
                                       MPI_Datatype type, const void* sendbuf, MPI_Comm comm,
                                       MPI_Info info, tonari_messages* messages) {
  return guarded([&] {
    require_comm(comm, "comm");
    *messages =
        exchange({sends, destinations, sendcounts, senddispls, type, sendbuf}, comm, info, messages)
            .release();
  });
}

extern "C" int tonari_messages_free(tonari_messages* messages) {
  return guarded([&] {
    require(messages, "messages");
    put_away(std::unique_ptr<OwnedMessages>(
        const_cast<OwnedMessages*>(static_cast<const OwnedMessages*>(*messages))));
    *messages = TONARI_MESSAGES_NULL;
  });
}
