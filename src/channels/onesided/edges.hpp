// SPDX-License-Identifier: BSD-3-Clause
// The two ends of a one-sided message, and the words by which a receiver answers a sender (link.hpp
// has the protocol). Exchanges of one parity are numbered from 1 on.
#pragma once

#include <array>
#include <vector>

#include "channels/edge.hpp"
#include "channels/onesided/remote_words.hpp"
#include "memory/memory.hpp"

namespace tonari {

// The key of a short message that travels twice.
inline Word64 complement_key(Word64 number) { return number % 2 == 1 ? ~Word64{0} : 0; }

// The words by which one rank tells another the number of its last exchange: one in the other's
// window for either parity.
class ReadyWord {
 public:
  static constexpr MPI_Aint bytes = 2 * sizeof(Word64);
  static MPI_Aint at(MPI_Aint word, int parity) {
    return word + parity * static_cast<MPI_Aint>(sizeof(Word64));
  }
};

// A receiver of all messages of one sender. When it is ready for the next ones, it tells the
// sender, or its parent in the sender's tree once its children have reported.
class RtrNode {
 public:
  struct Links {
    int sender = 0, parent = 0;
    MPI_Aint in_parent = 0;  // this rank's words in the parent's window
    MPI_Aint children = 0;   // the first of their words in this rank's window
    std::vector<int> child_ranks = {};
    std::size_t messages = 0;  // in one exchange
  };
  RtrNode(RemoteWords& words, Links links) : words_(words), links_(std::move(links)) {}

  // Counts another message of an exchange that was taken.
  void taken(int parity) {
    if (++taken_[parity] % links_.messages != 0) return;
    ++ready_[parity];
    tell(parity);
  }
  void progress() {
    for (int parity : {0, 1})
      if (told_[parity] != ready_[parity]) tell(parity);
  }

 private:
  void tell(int parity) {
    for (std::size_t k = 0; k < links_.child_ranks.size(); ++k)
      if (words_.look(ReadyWord::at(links_.children + static_cast<MPI_Aint>(k) * ReadyWord::bytes,
                                    parity)) != ready_[parity])
        return;
    if (put_at_[parity] == words_.flushes() + 1) words_.flush();  // the word may not have left yet
    words_.sync();
    told_[parity] = ready_[parity];
    words_.put_words(&told_[parity], 1, links_.parent, ReadyWord::at(links_.in_parent, parity));
    put_at_[parity] = words_.flushes() + 1;
  }

  RemoteWords& words_;
  Links links_;
  std::array<Word64, 2> taken_{}, ready_{}, told_{}, put_at_{};
};

// The place of a message in its receiver's window.
struct MessagePlace {
  Bytes bytes = 0;
  bool twice = false;
  MPI_Aint first = 0;

  MessagePlace() = default;
  MessagePlace(Bytes size, Bytes short_bytes) : bytes(size), twice(size <= short_bytes) {}
  std::size_t words() const { return static_cast<std::size_t>((bytes + 7) / 8); }
  MPI_Aint length() const { return static_cast<MPI_Aint>(words() * sizeof(Word64)); }
  MPI_Aint stride() const {
    return static_cast<MPI_Aint>(
        round_up(static_cast<std::size_t>(twice ? 2 * length() : length() + 8)));
  }
  MPI_Aint at(int parity) const { return first + parity * stride(); }
  MPI_Aint flag(int parity) const { return at(parity) + length(); }  // or the complement
};

class OneSidedOut final : public OutEdge {
 public:
  // `staging` has place.stride() bytes; if it is null, the message is put from where it lies. An
  // exchange ends when what it wrote has left (sent), so the next one, of the other parity, may use
  // the same memory. It waits for the words of `reporters` ranks from `rtr` on.
  OneSidedOut(RemoteWords& words, int peer, const MessagePlace& there, std::byte* staging,
              MPI_Aint rtr, std::size_t reporters)
      : words_(words),
        peer_(peer),
        there_(there),
        staging_(staging),
        rtr_(rtr),
        reporters_(reporters) {
    if (there.bytes == 0) return;
    slots_.push_back({0, there.bytes, {staging, staging}});
    if (staging) pieces_.push_back({reinterpret_cast<std::uintptr_t>(staging), there.bytes});
  }
  const std::vector<MessageSlot>& slots() const override { return slots_; }
  void bound(std::span<const Piece> pieces) override {
    pieces_.assign(pieces.begin(), pieces.end());
  }

  // Other receivers in the tree may have this exchange's message already, and have said so. Half a
  // word equals neither number: those of three exchanges in a row differ in the last byte.
  bool may_write(std::size_t, int parity) override {
    for (std::size_t k = 0; k < reporters_; ++k) {
      const Word64 taken =
          words_.look(ReadyWord::at(rtr_ + static_cast<MPI_Aint>(k) * ReadyWord::bytes, parity));
      if (taken != written_[parity] && taken != written_[parity] + 1) return false;
    }
    return true;
  }

  void written(std::size_t, int parity) override {
    ++written_[parity];
    if (there_.twice) {
      Word64* const plain = reinterpret_cast<Word64*>(staging_);
      for (std::size_t k = 0; k < there_.words(); ++k)
        plain[there_.words() + k] = plain[k] ^ complement_key(written_[parity]);
      words_.put_words(plain, 2 * there_.words(), peer_, there_.at(parity));
    } else {
      put_pieces(parity);
      words_.announce(&written_[parity], peer_, there_.flag(parity));
    }
    put_at_[parity] = words_.flushes() + 1;
  }

  bool sent_together() const override { return true; }
  bool sent(int parity) override {
    if (put_at_[parity] == words_.flushes() + 1) words_.flush();
    return true;
  }

 private:
  void put_pieces(int parity) {
    MPI_Aint at = there_.at(parity);
    for (const Piece& piece : pieces_) {
      words_.put_bytes(reinterpret_cast<const std::byte*>(piece.address), piece.bytes, peer_, at);
      at += static_cast<MPI_Aint>(piece.bytes);
    }
  }

  RemoteWords& words_;
  int peer_;
  MessagePlace there_;
  std::byte* staging_;
  std::vector<Piece> pieces_;  // where the message lies, unless it travels twice
  MPI_Aint rtr_;
  std::size_t reporters_;
  std::vector<MessageSlot> slots_;
  // put_at_: the flush that completes what was written
  std::array<Word64, 2> written_{}, put_at_{};
};

class OneSidedIn final : public InEdge {
 public:
  // `fetched` has 2 * here.stride() bytes, and is used if the window cannot be read by loads.
  OneSidedIn(RemoteWords& words, const MessagePlace& here, std::byte* fetched, RtrNode* node)
      : words_(words), here_(here), node_(node) {
    if (here.bytes == 0) return;
    std::byte* const base = here.twice && !words.unified() ? fetched : words.here(here.first);
    slots_.push_back({0, here.bytes, {base, base + here.stride()}});
  }
  const std::vector<MessageSlot>& slots() const override { return slots_; }

  bool arrived(std::size_t, int parity) override {
    if (!(here_.twice ? matches(parity) : words_.look(here_.flag(parity)) == taken_[parity] + 1))
      return false;
    words_.sync();
    return true;
  }

  void taken(std::size_t, int parity) override {
    ++taken_[parity];
    node_->taken(parity);
  }

 private:
  bool matches(int parity) const {
    const std::size_t words = here_.words();
    const Word64 key = complement_key(taken_[parity] + 1);
    if (words_.unified()) {
      const auto load = [&](std::size_t k) {
        return words_.load(here_.at(parity) + static_cast<MPI_Aint>(k * sizeof(Word64)));
      };
      for (std::size_t k = words; k-- > 0;)
        if ((load(k) ^ load(words + k)) != key) return false;
      return true;
    }
    Word64* const at = reinterpret_cast<Word64*>(slots_[0].at[static_cast<std::size_t>(parity)]);
    words_.fetch(at, 2 * words, here_.at(parity));
    for (std::size_t k = 0; k < words; ++k)
      if ((at[k] ^ at[words + k]) != key) return false;
    return true;
  }

  RemoteWords& words_;
  MessagePlace here_;
  RtrNode* node_;  // null only for empty messages
  std::vector<MessageSlot> slots_;
  std::array<Word64, 2> taken_{};
};

}  // namespace tonari
