// SPDX-License-Identifier: BSD-3-Clause
#include "one_shot/message_reader.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "copy/walk.hpp"
#include "memory/process.hpp"

namespace tonari {
namespace {

constexpr Bytes staged_bytes = std::size_t{64} << 10;

// Reads a list of pieces of another rank's memory in order.
class RemotePieces {
 public:
  RemotePieces(const Streams& streams, const StreamPeer& peer, std::span<const Piece> list)
      : streams_(streams), peer_(peer), list_(list) {}

  // The next `bytes` go to these pieces.
  void read(std::span<const Piece> here, Bytes bytes) {
    std::array<Piece, most_pieces> there;
    std::size_t pieces = 0;
    for (Bytes left = bytes; left > 0 && piece_ < list_.size(); ++pieces) {
      const Piece& next = list_[piece_];
      const Bytes some = std::min(left, next.bytes - done_);
      there[pieces] = {next.address + done_, some};
      left -= some, done_ += some;
      if (done_ == next.bytes) ++piece_, done_ = 0;
    }
    const int error =
        read_process(streams_.node().process(peer_.index), here, std::span(there).first(pieces));
    // A sender that gave up may have changed what was read. One that completed cannot have left.
    if (error == 0 && !streams_.had_left(peer_)) return;
    streams_.check(peer_, error);
    fail(Errc::memory, "the memory of rank ", peer_.edges.rank, " can no longer be read (",
         std::strerror(error), "); set TONARI_CHANNEL=p2p-packed");
  }

 private:
  const Streams& streams_;
  const StreamPeer& peer_;
  std::span<const Piece> list_;
  std::size_t piece_ = 0;
  Bytes done_ = 0;  // of this piece
};

}  // namespace

void MessageReader::read(const Streams& streams, const StreamPeer& peer,
                         std::span<const Piece> from, std::byte* base, const Layout& to,
                         bool scattered) {
  RemotePieces list(streams, peer, from);
  if (!scattered) {
    std::array<Piece, most_pieces> here;
    std::size_t count = 0;
    for_pieces(to, base, [&](const Piece& piece) { here[count++] = piece; });
    if (count > 0) list.read(std::span(here).first(count), to.bytes());
    return;
  }
  // Many pieces of few bytes each would take a system call for every most_pieces of them.
  Walk walk(base, to);
  const Bytes all = to.bytes();
  if (staged_.size() < all) staged_.resize(std::min(all, staged_bytes));
  for (Bytes some, done = 0; done < all; done += some) {
    some = std::min<Bytes>(all - done, staged_.size());
    const Piece here{reinterpret_cast<std::uintptr_t>(staged_.data()), some};
    list.read({&here, 1}, some);
    walk.scatter(staged_.data(), some);
  }
}

}  // namespace tonari
