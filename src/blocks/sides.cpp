// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/sides.hpp"

#include <algorithm>

namespace tonari {
namespace {

struct Piece {
  Layout bytes;
  SpaceId space;
};

void check_apart(const SharedBlocks& blocks, const BlocksRequest& request) {
  struct Array {
    std::uintptr_t begin, end;
    std::size_t number;
  };
  std::vector<Array> all;
  for (const std::size_t block : blocks.own())
    for (int f = 0; f < blocks.shape().fields; ++f) {
      const auto begin = reinterpret_cast<std::uintptr_t>(request.arrays[all.size()]);
      all.push_back({begin, begin + blocks.array_bytes(block), all.size()});
    }
  std::ranges::sort(all, {}, &Array::begin);
  for (std::size_t k = 1; k < all.size(); ++k)
    if (all[k].begin < all[k - 1].end) {
      const auto [one, other] = std::minmax(all[k - 1].number, all[k].number);
      fail(Errc::buffers, "`arrays` ", one, " and ", other, " overlap; they must share no byte");
    }
}

class Collector {
 public:
  Collector(const SharedBlocks& blocks, const BlocksRequest& request, Pieces pieces)
      : blocks_(blocks), request_(request), pieces_(pieces) {}

  BlocksSides make() {
    BlockMessages messages = block_messages(blocks_.blocks(), blocks_.finder(),
                                            blocks_.context().rank(), request_.reach);
    note_touched(messages);
    if (request_.reverse) {
      add_arrivals(messages);
      add(messages.receive, false, sides_.send);
    } else {
      add(messages.receive, false, sides_.receive);
      add(messages.send, true, sides_.send);
    }
    return std::move(sides_);
  }

 private:
  Layout cells(const BlockLink& link, bool own, int field) const {
    const BlocksShape& shape = blocks_.shape();
    const std::size_t block = own ? link.from : link.to;
    const std::byte* const array = request_.arrays[blocks_.array_of(block, field)];
    return bytes_of_cells(shape.blocks.box(block), shape.order, own ? link.own : link.ghosts,
                          shape.cell.bytes, reinterpret_cast<std::ptrdiff_t>(array));
  }

  // use(link, field): link by link, field by field, as cells travel.
  template <class Use>
  void for_cells(const BlockMessage& message, Use use) const {
    for (const BlockLink& link : message.links)
      for (int f = 0; f < blocks_.shape().fields; ++f) use(link, f);
  }

  // The cells of a message at one of its ends.
  std::vector<Piece> pieces_of(const BlockMessage& message, bool own) const {
    std::vector<Piece> all;
    for_cells(message, [&](const BlockLink& link, int f) {
      const std::size_t array = blocks_.array_of(own ? link.from : link.to, f);
      const bool joined = pieces_ == Pieces::joined;
      if (!joined || all.empty()) all.push_back({{}, joined ? fixed_space : space_of_array(array)});
      all.back().bytes.add(cells(link, own, f), 0);
    });
    return all;
  }

  void note_touched(const BlockMessages& messages) {
    Layout &own = request_.reverse ? sides_.touched.written : sides_.touched.read,
           &ghosts = request_.reverse ? sides_.touched.read : sides_.touched.written;
    for (const BlockMessage& message : messages.send)
      for_cells(message, [&](const BlockLink& link, int f) { own.add(cells(link, true, f), 0); });
    for (const BlockMessage& message : messages.receive)
      for_cells(message,
                [&](const BlockLink& link, int f) { ghosts.add(cells(link, false, f), 0); });
  }

  void add(const std::vector<BlockMessage>& messages, bool own, GroupSide& side) const {
    for (const BlockMessage& message : messages)
      for (const Piece& piece : pieces_of(message, own)) {
        side.peers.push_back(message.peer);
        side.blocks.add(piece.bytes, piece.space);
      }
  }

  // Where what is combined arrives. What this rank has itself needs no message.
  void add_arrivals(BlockMessages& messages) {
    Contributions& contributions = sides_.contributions;
    std::vector<std::size_t> numbers;
    const auto is_local = [&](const BlockMessage& message) {
      return message.peer == blocks_.context().rank();
    };
    for (const BlockMessage& message : messages.send) {
      std::vector<Piece> to = pieces_of(message, true);
      std::vector<Piece> from;
      if (is_local(message)) from = pieces_of(message, false);
      for (std::size_t k = 0; k < to.size(); ++k) {
        if (!from.empty()) {
          contributions.add_local(std::move(to[k].bytes), to[k].space, std::move(from[k].bytes),
                                  from[k].space);
          continue;
        }
        sides_.receive.peers.push_back(message.peer);
        numbers.push_back(contributions.add(std::move(to[k].bytes), to[k].space));
      }
    }
    contributions.allocate();
    for (const std::size_t number : numbers)
      sides_.receive.blocks.add(reinterpret_cast<MPI_Aint>(contributions.arrival(number)),
                                static_cast<int>(contributions.bytes(number)), MPI_BYTE,
                                fixed_space);
    std::erase_if(messages.receive, is_local);
  }

  const SharedBlocks& blocks_;
  const BlocksRequest& request_;
  const Pieces pieces_;
  BlocksSides sides_;
};

}  // namespace

BlocksSides sides_of(const SharedBlocks& blocks, const BlocksRequest& request, Pieces pieces) {
  check_apart(blocks, request);
  return Collector(blocks, request, pieces).make();
}

}  // namespace tonari
