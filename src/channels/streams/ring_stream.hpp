// SPDX-License-Identifier: BSD-3-Clause
// Streams through shared memory.
#pragma once

#include <cstring>

#include "channels/streams/stream.hpp"
#include "memory/message_ring.hpp"

namespace tonari {

class RingOut final : public OutStream {
 public:
  RingOut(const MessageRing& ring, std::size_t payload) : ring_(ring), payload_(payload) {}

  std::size_t first_room() const override { return payload_ - sizeof(MessageHead); }
  std::size_t room() const override { return payload_; }
  std::byte* first() override {
    std::byte* const at = ring_.place();
    return at ? at + sizeof(MessageHead) : nullptr;
  }
  std::byte* more() override { return ring_.place(); }
  void push_first(const MessageHead& head, std::size_t bytes) override {
    std::memcpy(ring_.place(), &head, sizeof head);
    ring_.publish(sizeof head + bytes);
  }
  void push_more(std::size_t bytes) override { ring_.publish(bytes); }
  bool stays(Bytes /*bytes*/) const override { return false; }
  bool taken() override { return ring_.taken(); }

 private:
  MessageRing ring_;
  std::size_t payload_;
};

class RingIn final : public InStream {
 public:
  explicit RingIn(const MessageRing& ring) : ring_(ring) {}

  const std::byte* first(MessageHead& head, std::size_t& bytes) override {
    const std::byte* const at = ring_.arrived();
    if (!at) return nullptr;
    std::memcpy(&head, at, sizeof head);
    bytes = ring_.bytes() - sizeof head;
    return at + sizeof head;
  }
  const std::byte* more(Bytes /*left*/, std::size_t& bytes) override {
    const std::byte* const at = ring_.arrived();
    if (at) bytes = ring_.bytes();
    return at;
  }
  void release() override { ring_.release(); }

 private:
  MessageRing ring_;
};

}  // namespace tonari
