// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <memory>

#include "channels/streams/link.hpp"
#include "channels/streams/ring_stream.hpp"
#include "explorer/scenarios.hpp"
#include "memory/left_word.hpp"

namespace tonari::explorer {
namespace {

constexpr std::size_t payload_bytes = sizeof(MessageHead) + 8;

// Messages alternate between those of one part and those with a second one.
bool is_long(std::uint64_t message) { return message % 2 == 1; }

void send(RingOut& out, std::uint64_t message) {
  std::byte* at = nullptr;
  await([&] { return (at = out.first()) != nullptr; });
  const std::uint64_t value = payload(0, message, 0);
  std::memcpy(at, &value, sizeof value);
  out.push_first({.detail = static_cast<std::uint32_t>(message), .sent = value}, sizeof value);
  if (!is_long(message)) return;
  await([&] { return (at = out.more()) != nullptr; });
  const std::uint64_t rest[] = {payload(0, message, 1), payload(0, message, 2)};
  std::memcpy(at, rest, sizeof rest);
  out.push_more(sizeof rest);
}

void receive(RingIn& in, std::uint64_t message) {
  MessageHead head;
  std::size_t bytes = 0;
  const std::byte* at = nullptr;
  await([&] { return (at = in.first(head, bytes)) != nullptr; });
  std::uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  in.release();
  must(bytes == 8 && head.detail == message && head.sent == payload(0, message, 0) &&
           value == payload(0, message, 0),
       "a head or its bytes are not what was sent");
  if (!is_long(message)) return;
  await([&] { return (at = in.more(16, bytes)) != nullptr; });
  std::uint64_t rest[2];
  std::memcpy(rest, at, sizeof rest);
  in.release();
  must(bytes == 16 && rest[0] == payload(0, message, 1) && rest[1] == payload(0, message, 2),
       "a later part is not what was sent");
}

// taken: the sender waits until its last message was taken, and then changes what it refers to.
Program make_ring(std::uint64_t messages, bool taken) {
  const MessageRing ring(shared_memory(MessageRing::bytes_for(payload_bytes)), payload_bytes);
  auto* const block = reinterpret_cast<std::uint64_t*>(shared_memory(8));
  Program program;
  program.ranks = {
      [=] {
        RingOut out(ring, payload_bytes);
        if (taken) *block = 7;
        for (std::uint64_t k = 0; k < messages; ++k) send(out, k);
        if (!taken) return;
        await([&] { return out.taken(); });
        *block = 8;
      },
      [=] {
        RingIn in(ring);
        for (std::uint64_t k = 0; k < messages; ++k) {
          if (taken && k + 1 == messages) {
            MessageHead head;
            std::size_t bytes = 0;
            await([&] { return in.first(head, bytes) != nullptr; });
            must(*block == 7, "a block that a message lists was changed too early");
          }
          receive(in, k);
        }
      },
  };
  return program;
}

// A sender that leaves, or is killed, at any time. What it sent before is not lost.
Program make_broken(bool killed) {
  struct State {
    std::uint64_t* left;
    std::uint64_t published = 0;
  };
  const MessageRing ring(shared_memory(MessageRing::bytes_for(payload_bytes)), payload_bytes);
  const auto state =
      std::make_shared<State>(State{reinterpret_cast<std::uint64_t*>(shared_memory(8))});
  Program program;
  program.ranks = {
      [=] {
        RingOut out(ring, payload_bytes);
        for (; state->published < 4; state->published += 2) {
          if (!killed && choose(2) == 1) break;
          send(out, state->published);  // those of one part
        }
        tell_left(*state->left);
      },
      [=] {
        RingIn in(ring);
        MessageHead head;
        std::size_t bytes = 0;
        const auto check = [&] {
          if (explored_ended(0) || has_left(*state->left)) fail(Errc::peer, "it is gone");
        };
        for (std::uint64_t k = 0; k < 4; k += 2) {
          if (!goes_on([&] { return in.first(head, bytes) != nullptr; }, check))
            return must(state->published <= k, "a message that was sent was not seen");
          receive(in, k);
        }
      },
  };
  program.mortal = {killed, false};
  return program;
}

// Two threads of a process send in the order in which their exchanges began.
Program make_queued() {
  struct Sender {
    Queue queue;
    RingOut out;
  };
  const MessageRing ring(shared_memory(MessageRing::bytes_for(payload_bytes)), payload_bytes);
  auto* const sender = new (shared_memory(sizeof(Sender))) Sender{{}, {ring, payload_bytes}};
  Program program;
  for (std::uint64_t k = 0; k < 2; ++k) {
    const std::uint64_t ticket = sender->queue.join();
    program.ranks.push_back([=] {
      await([&] { return sender->queue.serves(ticket); });
      send(sender->out, 2 * ticket);
      sender->queue.next();
    });
  }
  program.ranks.push_back([=] {
    RingIn in(ring);
    receive(in, 0), receive(in, 2);
  });
  return program;
}

}  // namespace

std::vector<Scenario> ring_scenarios() {
  return {
      {"ring, three messages", [] { return make_ring(3, false); }},
      {"ring, once round and on", [] { return make_ring(5, false); }},
      {"ring, a message that is read where it lies", [] { return make_ring(1, true); }},
      {"ring, its writer leaves", [] { return make_broken(false); }},
      {"ring, its writer is killed", [] { return make_broken(true); }},
      {"ring, two threads write in turn", make_queued},
  };
}

}  // namespace tonari::explorer
