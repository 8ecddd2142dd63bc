// SPDX-License-Identifier: BSD-3-Clause
// Random schedules and machines, and any schedule in the form of the naive simulation.
#pragma once

#include <random>

#include "simulate/naive.hpp"
#include "simulate/places.hpp"
#include "simulate/schedule_builder.hpp"

namespace tonari::sim {

template <class Places>
NaivePrograms programs_of(const Schedule& s) {
  const Places places(s);
  NaivePrograms programs(s.ranks);
  for (std::uint32_t rank = 0; rank < s.ranks; ++rank)
    for (std::uint32_t k = 0; k < places.count(rank); ++k) {
      NaiveStep step{places.step(rank, k), 0, {}, {}};
      const Step& own = step.step;
      if (own.act == Act::send && s.matched) step.tag = own.other;
      if (own.act == Act::recv && s.matched) step.tag = k;
      if (!s.matched) step.tag = own.other;
      if (own.act != Act::calc && own.peer != any) step.step.peer = places.peer(rank, own);
      for (auto at = places.after_at(rank, k); at < places.after_at(rank, k + 1); ++at)
        (s.after[at].started ? step.after_started : step.after_done).push_back(s.after[at].step);
      programs[rank].push_back(step);
    }
  return programs;
}

inline Ticks naive(const Schedule& s, const Machine& machine) {
  return Naive(s.shared() ? programs_of<SharedPlaces>(s) : programs_of<OwnPlaces>(s), machine)
      .run();
}

using Random = std::mt19937;
inline std::uint32_t below(Random& random, std::uint32_t most) {
  return static_cast<std::uint32_t>(random() % most);
}

// Small numbers, so that much happens at one time.
inline Machine random_machine(Random& random) {
  Machine m;
  m.network = {1 + below(random, 4), 1 + below(random, 3), below(random, 4), below(random, 2),
               true};
  m.node = {below(random, 2), 1 + below(random, 2), 0, below(random, 2), false};
  m.self = {0, 1, 0, 0, false};
  m.eager = 1 + below(random, 6);
  m.rendezvous = below(random, 3);
  return m;
}

struct Message {
  std::uint32_t from, to, bytes, send, recv;
};

// Without cycles: message i leaves and comes after everything of its ranks that is before it, if a
// coin says so. tags: how many there are; 0: each message has its own match.
inline Schedule random_schedule(Random& random, std::uint32_t ranks, std::uint32_t count,
                                std::uint32_t tags) {
  struct Planned {
    Act act;
    std::uint32_t message;
  };
  std::vector<std::vector<Planned>> programs(ranks);
  std::vector<Message> messages;
  for (std::uint32_t i = 0; i < count; ++i) {
    messages.push_back({below(random, ranks), below(random, ranks), 1 + below(random, 8), 0, 0});
    programs[messages[i].from].push_back({Act::send, i});
    programs[messages[i].to].push_back({Act::recv, i});
    programs[below(random, ranks)].push_back({Act::calc, below(random, 6)});
  }
  for (auto& program : programs)
    for (std::uint32_t k = 0; k < program.size(); ++k) {
      if (program[k].act == Act::send) messages[program[k].message].send = k;
      if (program[k].act == Act::recv) messages[program[k].message].recv = k;
    }
  ScheduleBuilder builder;
  builder.schedule().matched = tags == 0;
  for (const auto& program : programs) {
    for (const Planned& p : program) {
      if (p.act == Act::calc) {
        builder.add(Act::calc, p.message);
        continue;
      }
      const Message& m = messages[p.message];
      const bool sends = p.act == Act::send;
      const std::uint32_t tag = p.message % (tags > 0 ? tags : 1);
      builder.add(p.act, m.bytes, sends ? m.to : m.from, tags > 0 ? tag : sends ? m.recv : m.send);
    }
    // nothing waits for a receive of a message with a tag of many, which may get another's
    for (std::uint32_t k = 1; k < program.size(); ++k)
      for (std::uint32_t earlier = k - std::min(k, 4u); earlier < k; ++earlier)
        if (below(random, 3) == 0 && (tags == 0 || program[earlier].act != Act::recv))
          builder.require(k, earlier, below(random, 4) == 0);
    builder.end_rank();
  }
  return builder.take();
}

}  // namespace tonari::sim
