#include "grid/halo_program.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/checked.hpp"
#include "channels/mpi_error.hpp"

namespace tonari {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30;  // of one message: MPI counts in int

std::byte* first_byte(const Layout& contiguous) {
  return reinterpret_cast<std::byte*>(contiguous.runs().front().offset);
}

// Messages between two ranks get tags in the order of their links, which is the same at both ends.
class Compiler {
 public:
  Compiler(const HaloGrid& grid, const HaloRequest& request) : grid_(grid), request_(request) {}

  HaloProgram compile() {
    const std::vector<HaloEnds> steps = halo_ends(grid_, request_, program_.views);
    if (packs()) program_.memory = Memory(packed_bytes(steps));
    for (const HaloEnds& ends : steps) add_step(ends);
    for (const auto& [peer, tags] : sent_) program_.tags = std::max(program_.tags, tags);
    for (const auto& [peer, tags] : received_) program_.tags = std::max(program_.tags, tags);
    return std::move(program_);
  }

 private:
  bool packs() const { return request_.kind == HaloKind::pack; }
  bool typed() const { return !grid_.shape().bricked() && !packs(); }

  std::size_t packed_bytes(const std::vector<HaloEnds>& steps) const {
    std::size_t bytes = 0;
    for (const HaloEnds& ends : steps)
      for (const std::vector<HaloEnd>* side : {&ends.send, &ends.receive})
        for (const HaloEnd& end : *side)
          if (end.link.peer != grid_.rank()) bytes += round_up(end.bytes.bytes());
    return bytes;
  }

  void add_step(const HaloEnds& ends) {
    HaloStep& step = program_.steps.emplace_back();
    for (const HaloEnd& end : ends.receive)
      if (end.link.peer != grid_.rank()) add_message(step, end, false);
    for (const HaloEnd& end : ends.send)
      if (end.link.peer != grid_.rank()) add_message(step, end, true);
    add_local(step, ends);
  }

  void add_transfer(HaloStep& step, const HaloLink& link, void* buffer, int count,
                    MPI_Datatype type, bool send) {
    int& tag = (send ? sent_ : received_)[link.peer];
    step.transfers.push_back({buffer, count, type, link.peer, tag++, send});
    program_.messages += send;
  }

  void add_contiguous(HaloStep& step, const HaloLink& link, std::byte* at, std::size_t bytes,
                      bool send) {
    for (std::size_t done = 0; done < bytes; done += most_bytes)
      add_transfer(step, link, at + done, static_cast<int>(std::min(most_bytes, bytes - done)),
                   MPI_BYTE, send);
  }

  void add_message(HaloStep& step, const HaloEnd& end, bool send) {
    if (send) program_.bytes += end.bytes.bytes();
    if (end.bytes.bytes() == 0) return;
    if (packs()) return add_packed(step, end, send);
    if (typed()) {
      program_.types.push_back(type_of(grid_, request_, end));
      return add_transfer(step, end.link, MPI_BOTTOM, 1, program_.types.back().get(), send);
    }
    if (end.parts.empty())
      return add_contiguous(step, end.link, first_byte(end.bytes), end.bytes.bytes(), send);
    Bytes at = 0;  // pieces that touch at this end may not do so at the other one
    for (const Bytes length : end.parts)
      add_contiguous(step, end.link,
                     first_byte(end.bytes.part(std::exchange(at, at + length), length)), length,
                     send);
  }

  void add_packed(HaloStep& step, const HaloEnd& end, bool send) {
    std::byte* const at = program_.memory.data() + used_;
    used_ += round_up(end.bytes.bytes());
    Layout contiguous;
    contiguous.add(0, end.bytes.bytes());
    if (send)
      make_moves(step.pack, at, contiguous, nullptr, end.bytes);
    else
      make_moves(step.unpack, nullptr, end.bytes, at, contiguous);
    add_contiguous(step, end.link, at, end.bytes.bytes(), send);
  }

  // Between subdomains of this rank, or from one side of a subdomain to the other. Both lists are
  // in the order of their keys.
  void add_local(HaloStep& step, const HaloEnds& ends) {
    for (const HaloEnd& to : ends.receive) {
      if (to.link.peer != grid_.rank()) continue;
      const auto from = std::ranges::lower_bound(ends.send, to.link.key, {},
                                                 [](const HaloEnd& end) { return end.link.key; });
      make_moves(step.local, nullptr, to.bytes, nullptr, from->bytes);
    }
  }

  const HaloGrid& grid_;
  const HaloRequest request_;
  HaloProgram program_;
  std::map<int, int> sent_, received_;  // tags used so far, by peer
  std::size_t used_ = 0;
};

}  // namespace

const char* name(HaloKind kind) {
  static const char* const names[] = {"pack",  "datatypes", "shift",  "plan",
                                      "basic", "layout",    "memmap", "zero-byte"};
  return names[static_cast<int>(kind)];
}

std::vector<HaloKind> kinds_of(const GridShape& shape) {
  using enum HaloKind;
  if (shape.mapped_ghosts) return {zero_byte};
  if (shape.storage == GridStorage::array) return {plan, pack, datatypes, shift};
  if (shape.storage == GridStorage::brick) return {layout, plan, basic};
  return {memmap, shift, plan, layout};
}

HaloProgram compile_halo(const HaloGrid& grid, const HaloRequest& request) {
  return Compiler(grid, request).compile();
}

}  // namespace tonari
