// The typed channel (zero copy; Träff 2016, section 3.3): each message is one derived datatype over
// the blocks where they lie, in the send, the receive or the scratch buffer, made once at init.
// Blocks that follow each other in memory become one piece.
#include <algorithm>
#include <map>
#include <tuple>

#include "channels/p2p/program.hpp"
#include "channels/quirks.hpp"

namespace tonari {
namespace {

constexpr Bytes most_per_piece = Bytes{1} << 30;  // block lengths are ints

struct Pieces {
  std::vector<int> counts;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;

  void add_bytes(const std::byte* address, Bytes bytes) {
    const auto at = reinterpret_cast<MPI_Aint>(address);
    if (!types.empty() && types.back() == MPI_BYTE && addresses.back() + counts.back() == at &&
        counts.back() + bytes <= most_per_piece) {
      counts.back() += static_cast<int>(bytes);
      return;
    }
    for (Bytes done = 0; done < bytes; done += most_per_piece) {
      counts.push_back(static_cast<int>(std::min(most_per_piece, bytes - done)));
      addresses.push_back(at + static_cast<MPI_Aint>(done));
      types.push_back(MPI_BYTE);
    }
  }
  void add_typed(MPI_Aint address, int count, MPI_Datatype type) {
    counts.push_back(count);
    addresses.push_back(address);
    types.push_back(type);
  }
  bool plain() const {
    return std::all_of(types.begin(), types.end(),
                       [](MPI_Datatype type) { return type == MPI_BYTE; });
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
    if (!b.layout) return pieces.add_bytes(b.address, b.bytes);
    if (!TONARI_QUIRK_BYTES_ONLY || arguments_.types_of_bytes) return add_as_described(pieces, s);
    for (const Run& run : b.layout->runs()) {
      const std::byte* const first = b.address + run.offset;
      if (run.count == 1)
        pieces.add_bytes(first, run.length);
      else if (std::max(run.length, run.count) <= most_per_piece)
        pieces.add_typed(reinterpret_cast<MPI_Aint>(first), 1, strided(run));
      else
        for (std::size_t k = 0; k < run.count; ++k)
          pieces.add_bytes(first + static_cast<std::ptrdiff_t>(k) * run.stride, run.length);
    }
  }

  void add_as_described(Pieces& pieces, Slice s) const {
    const bool sent = s.buffer == Buffer::send;
    const TypedBlock& typed = (sent ? arguments_.send : arguments_.recv)[s.block];
    const void* buffer = sent ? arguments_.sendbuf : arguments_.recvbuf;
    pieces.add_typed(reinterpret_cast<MPI_Aint>(buffer) + typed.displacement, typed.count,
                     typed.type);
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
    const Operation& o = plan_[op];
    if (pieces.counts.size() == 1 && pieces.plain())
      p_.transfers.push_back({reinterpret_cast<void*>(pieces.addresses[0]), pieces.counts[0],
                              MPI_BYTE, o.peer, o.tag, o.kind == Kind::send});
    else if (!pieces.counts.empty())
      p_.transfers.push_back(
          {MPI_BOTTOM, 1, describe(pieces), o.peer, o.tag, o.kind == Kind::send});
    p_.steps[op].transfers = {begin, static_cast<std::uint32_t>(p_.transfers.size())};
  }

  MPI_Datatype describe(const Pieces& pieces) {
    MPI_Datatype* const type = p_.types.emplace_back().place();
    const int count = checked_cast<int>(pieces.counts.size(), "pieces in a message");
    if (pieces.plain())
      check_mpi(MPI_Type_create_hindexed(count, pieces.counts.data(), pieces.addresses.data(),
                                         MPI_BYTE, type),
                "MPI_Type_create_hindexed");
    else
      check_mpi(MPI_Type_create_struct(count, pieces.counts.data(), pieces.addresses.data(),
                                       pieces.types.data(), type),
                "MPI_Type_create_struct");
    check_mpi(MPI_Type_commit(type), "MPI_Type_commit");
    return *type;
  }

  void copy(OpId op) {
    const std::size_t begin = p_.moves.size();
    const auto from = plan_.copy_sources(plan_[op]), to = plan_.copy_targets(plan_[op]);
    for (std::size_t k = 0; k < from.size(); ++k)
      append_moves(p_.moves, begin, block(to[k]), block(from[k]));
    p_.steps[op].before.fill(close_moves(p_.moves, begin));
  }

  const Plan& plan_;
  const Binding& binding_;
  const Arguments& arguments_;
  P2pProgram p_;
  std::vector<std::byte*> scratch_;
  std::map<std::tuple<std::size_t, std::size_t, std::ptrdiff_t>, MPI_Datatype> strided_;
};

}  // namespace

P2pProgram compile_typed(const Plan& plan, const Binding& binding, const Arguments& arguments) {
  require_messages(plan);
  return Typer(plan, binding, arguments).program();
}

}  // namespace tonari
