// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <ostream>
#include <string>

#include "base/classic.hpp"
#include "base/error.hpp"
#include "simulate/goal.hpp"
#include "simulate/places.hpp"

namespace tonari::sim {
namespace {

void write_end(std::string& line, const char* word, std::uint32_t peer, std::uint32_t tag) {
  line += word + (peer == any ? std::string("-1") : std::to_string(peer)) + " tag " +
          (tag == any ? std::string("-1") : std::to_string(tag)) + "\n";
}

template <class Places>
class GoalWriter {
 public:
  GoalWriter(std::ostream& out, const Schedule& schedule)
      : out_(out), schedule_(schedule), places_(schedule) {}

  void write() {
    out_ << "num_ranks " + std::to_string(schedule_.ranks) + "\n";
    for (std::uint32_t rank = 0; rank < schedule_.ranks && out_; ++rank) write_rank(rank);
  }

 private:
  void write_rank(std::uint32_t rank) {
    std::string text = "rank " + std::to_string(rank) + " {\n";
    for (std::uint32_t k = 0; k < places_.count(rank); ++k) write_step(text, rank, k);
    for (std::uint32_t k = 0; k < places_.count(rank); ++k)
      for (auto at = places_.after_at(rank, k); at < places_.after_at(rank, k + 1); ++at) {
        const After after = schedule_.after[at];
        text += "l" + std::to_string(after.step) +
                (after.started ? " irequires l" : " requires l") + std::to_string(k) + "\n";
      }
    out_ << text + "}\n";
  }

  void write_step(std::string& text, std::uint32_t rank, std::uint32_t k) {
    const Step& step = places_.step(rank, k);
    text += "l" + std::to_string(k) + ": ";
    if (step.act == Act::calc) {
      text += "calc " + std::to_string((step.size + nanosecond / 2) / nanosecond) + "\n";
      return;
    }
    const bool sends = step.act == Act::send;
    const std::uint32_t peer = step.peer == any ? any : places_.peer(rank, step);
    text += (sends ? "send " : "recv ") + std::to_string(step.size);
    write_end(text, sends ? "b to " : "b from ", peer,
              sends || !schedule_.matched ? step.other : k);
  }

  std::ostream& out_;
  const Schedule& schedule_;
  const Places places_;
};

}  // namespace

void write_goal(std::ostream& out, const Schedule& schedule) {
  if (schedule.shared())
    GoalWriter<SharedPlaces>(out, schedule).write();
  else
    GoalWriter<OwnPlaces>(out, schedule).write();
}

void write_goal_file(const std::string& path, const Schedule& schedule) {
  const std::string part = path + ".part";
  Classic<std::ofstream> out(part);
  if (out) write_goal(out, schedule);
  out.close();
  if (out && std::rename(part.c_str(), path.c_str()) == 0) return;
  std::remove(part.c_str());
  fail(Errc::file, path, ": cannot write the schedule; name a file in a folder with room for it");
}

Machine without_classes(Machine machine) {
  machine.self = machine.node = machine.network;
  machine.ranks_per_node = machine.ranks_per_nic = 1;
  machine.sharing = {};
  return machine;
}

}  // namespace tonari::sim
