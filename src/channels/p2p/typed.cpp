// SPDX-License-Identifier: BSD-3-Clause
// The typed channel (zero copy; Träff 2016, section 3.3): each message is one derived datatype over
// the blocks where they lie, in the send, the receive or the scratch buffer, made once at init.
// Blocks that follow each other in memory become one piece.
#include <algorithm>
#include <map>
#include <tuple>

#include "channels/p2p/program.hpp"
#include "mpi/large_type.hpp"
#include "mpi/quirks.hpp"

namespace tonari {
namespace {

constexpr Bytes most_per_piece = Bytes{1} << 30;  // block lengths are ints

struct Pieces : MessagePieces {
  void add_bytes(const std::byte* address, Bytes bytes, SpaceId space) {
    const auto at = reinterpret_cast<MPI_Aint>(address);
    if (!types.empty() && types.back() == MPI_BYTE && spaces.back() == space &&
        addresses.back() + counts.back() == at && counts.back() + bytes <= most_per_piece) {
      counts.back() += static_cast<int>(bytes);
      return;
    }
    for (Bytes done = 0; done < bytes; done += most_per_piece)
      add_typed(at + static_cast<MPI_Aint>(done),
                static_cast<int>(std::min(most_per_piece, bytes - done)), MPI_BYTE, space);
  }
  void add_typed(MPI_Aint address, int count, MPI_Datatype type, SpaceId space) {
    counts.push_back(count);
    addresses.push_back(address);
    types.push_back(type);
    spaces.push_back(space);
  }
  bool in_one_space() const {
    return std::ranges::all_of(spaces, [&](SpaceId space) { return space == spaces[0]; });
  }
};

class Typer {
 public:
  Typer(const Plan& plan, const Binding& binding, const Arguments& arguments)
      : plan_(plan), binding_(binding), arguments_(arguments) {}

  P2pProgram program() {
    p_.steps.resize(plan_.size());
    place_scratch();
    for (OpId op = 0; op < plan_.size(); ++op)
      if (plan_[op].kind == Kind::copy)
        copy(op);
      else
        message(op);
    return std::move(p_);
  }

 private:
  Bytes bytes(Slice s) const { return binding_.bytes(s, plan_.scratch_like()); }

  void place_scratch() {
    std::size_t size = 0;
    const std::size_t count = plan_.scratch_like().size();
    std::vector<std::size_t> offsets(count);
    for (std::uint32_t k = 0; k < count; ++k) {
      offsets[k] = size;
      size = checked_add<std::size_t>(size, round_up(bytes({Buffer::scratch, k}), 16),
                                      "memory for blocks on their way");
    }
    p_.memory = Memory(size);
    for (std::size_t offset : offsets) scratch_.push_back(p_.memory.data() + offset);
  }

  Block block(Slice s) const {
    if (s.buffer == Buffer::send) return binding_.send[s.block];
    if (s.buffer == Buffer::recv) return binding_.recv[s.block];
    return {scratch_[s.block], nullptr, bytes(s)};
  }

  void add(Pieces& pieces, Slice s) {
    const Block b = block(s);
    if (b.bytes == 0) return;
    if (!b.layout) return pieces.add_bytes(b.address, b.bytes, b.space);
    if (!quirks().bytes_only || arguments_.types_of_bytes) return add_as_described(pieces, s);
    for (const Run& run : b.layout->runs()) {
      const std::byte* const first = b.address + run.offset;
      if (run.count == 1)
        pieces.add_bytes(first, run.length, b.space);
      else if (std::max(run.length, run.count) <= most_per_piece)
        pieces.add_typed(reinterpret_cast<MPI_Aint>(first), 1, strided(run), b.space);
      else
        for (std::size_t k = 0; k < run.count; ++k)
          pieces.add_bytes(first + static_cast<std::ptrdiff_t>(k) * run.stride, run.length,
                           b.space);
    }
  }

  void add_as_described(Pieces& pieces, Slice s) {
    const bool sent = s.buffer == Buffer::send;
    const TypedBlock& typed = (sent ? arguments_.send : arguments_.recv)[s.block];
    const void* buffer = sent ? arguments_.sendbuf : arguments_.recvbuf;
    const CountedType counted = with_int_count(typed.count, typed.type, p_.types);
    pieces.add_typed(reinterpret_cast<MPI_Aint>(buffer) + typed.displacement, counted.count,
                     counted.type, typed.space);
  }

  MPI_Datatype strided(const Run& run) {
    MPI_Datatype& type =
        strided_.try_emplace({run.length, run.count, run.stride}, MPI_DATATYPE_NULL).first->second;
    if (type != MPI_DATATYPE_NULL) return type;
    OwnedType& made = p_.types.emplace_back();
    check_mpi(MPI_Type_create_hvector(static_cast<int>(run.count), static_cast<int>(run.length),
                                      run.stride, MPI_BYTE, made.place()),
              "MPI_Type_create_hvector");
    return type = made.get();
  }

  void message(OpId op) {
    Pieces pieces;
    for (Slice s : plan_.slices(op)) {
      add(pieces, s);
      if (plan_[op].kind == Kind::send) p_.bytes_sent += bytes(s);
    }
    const auto begin = static_cast<std::uint32_t>(p_.transfers.size());
    if (!pieces.counts.empty()) p_.transfers.push_back(transfer(plan_[op], std::move(pieces)));
    p_.steps[op].transfers = {begin, static_cast<std::uint32_t>(p_.transfers.size())};
  }

  // Pieces in one space are described from the first of them on: they can move together.
  Transfer transfer(const Operation& o, Pieces pieces) {
    Transfer made{MPI_BOTTOM, 1, MPI_BYTE, o.peer, o.tag, o.kind == Kind::send};
    if (pieces.in_one_space()) {
      const MPI_Aint first = pieces.addresses[0];
      made.buffer = reinterpret_cast<void*>(first);
      made.space = pieces.spaces[0];
      for (MPI_Aint& address : pieces.addresses) address -= first;
    }
    if (pieces.in_one_space() && pieces.counts.size() == 1 && pieces.types[0] == MPI_BYTE) {
      made.count = pieces.counts[0];
      return made;
    }
    MPI_Datatype* const type = p_.types.emplace_back().place();
    pieces.describe({}, type);
    made.type = *type;
    if (!pieces.in_one_space()) made.scattered = keep(std::move(pieces));
    return made;
  }

  // To be described again; the program may have freed its types by then.
  std::int32_t keep(Pieces pieces) {
    for (MPI_Datatype& type : pieces.types)
      if (type != MPI_BYTE) type = duplicate(type);
    p_.scattered.push_back(std::move(pieces));
    return static_cast<std::int32_t>(p_.scattered.size()) - 1;
  }

  MPI_Datatype duplicate(MPI_Datatype type) {
    MPI_Datatype& copy = duplicates_.try_emplace(type, MPI_DATATYPE_NULL).first->second;
    if (copy != MPI_DATATYPE_NULL) return copy;
    OwnedType& made = p_.types.emplace_back();
    check_mpi(MPI_Type_dup(type, made.place()), "MPI_Type_dup");
    return copy = made.get();
  }

  void copy(OpId op) {
    const std::size_t begin = p_.moves.size();
    const auto from = plan_.copy_sources(plan_[op]), to = plan_.copy_targets(plan_[op]);
    for (std::size_t k = 0; k < from.size(); ++k)
      append_moves(p_, begin, block(to[k]), block(from[k]));
    p_.steps[op].before.fill(close_moves(p_, begin));
  }

  const Plan& plan_;
  const Binding& binding_;
  const Arguments& arguments_;
  P2pProgram p_;
  std::vector<std::byte*> scratch_;
  std::map<std::tuple<std::size_t, std::size_t, std::ptrdiff_t>, MPI_Datatype> strided_;
  std::map<MPI_Datatype, MPI_Datatype> duplicates_;
};

}  // namespace

P2pProgram compile_typed(const Plan& plan, const Binding& binding, const Arguments& arguments) {
  require_messages(plan);
  return Typer(plan, binding, arguments).program();
}

}  // namespace tonari
