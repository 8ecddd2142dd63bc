// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/cluster.hpp"

#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include "base/error.hpp"
#include "memory/whole_file.hpp"
#include "select/cache.hpp"
#include "select/machine_words.hpp"

namespace tonari::sim {
namespace {

constexpr double longest_parameter = 10;  // seconds
constexpr std::uint32_t most_together = 1 << 20;

class ClusterFile {
 public:
  explicit ClusterFile(const std::string& path) : path_(path), model_(read_machine_file(path)) {
    const std::vector<std::string> words = machine_words(read_file(path, 64 * 1024).value_or(""));
    for (std::size_t k = 0; k + 1 < words.size(); k += 2)
      if (is_of_simulations(words[k])) values_[words[k]] = words[k + 1];
  }

  Machine machine() const {
    Machine m = machine_of(model_);
    m.self.latency = time("self_latency", m.self.latency);
    m.self.overhead = time("self_overhead", m.self.overhead);
    m.ranks_per_node = count("ranks_per_node");
    m.ranks_per_nic = count("ranks_per_nic");
    sharing(m);
    network(m);
    noise(m);
    return m;
  }

 private:
  const std::string* given(const char* name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }
  template <class... Parts>
  [[noreturn]] void wrong(const Parts&... parts) const {
    fail(Errc::file, "machine file '", path_, "': ", parts...);
  }

  Ticks time(const char* name, Ticks otherwise) const {
    const std::string* const word = given(name);
    if (!word) return otherwise;
    double seconds = 0;
    const auto [end, status] = std::from_chars(word->data(), word->data() + word->size(), seconds);
    if (status != std::errc() || end != word->data() + word->size() || !std::isfinite(seconds) ||
        seconds < 0 || seconds >= longest_parameter)
      wrong(name, " is ", in_quotes(*word), "; it must be a time in seconds, at least 0 and below ",
            longest_parameter);
    return to_ticks(seconds);
  }

  std::uint32_t count(const char* name) const {
    const std::string* const word = given(name);
    if (!word) return 1;
    std::uint32_t value = 0;
    const auto [end, status] = std::from_chars(word->data(), word->data() + word->size(), value);
    if (status != std::errc() || end != word->data() + word->size() || value < 1 ||
        value > most_together)
      wrong(name, " is ", in_quotes(*word), "; it must be a whole number from 1 to ",
            most_together);
    return value;
  }

  void network(Machine& m) const {
    if (const std::string* const word = given("network")) {
      const auto error = error_of([&] { m.topology = topology_from_text(*word); });
      if (error) wrong("network is ", in_quotes(*word), "; ", error->what());
    }
    const bool flat = m.topology.network == Network::flat;
    if (!flat && !given("hop"))
      wrong(
          "hop is missing, which is what a hop of the network adds to L; give it in seconds, for "
          "example hop=1e-7");
    if (flat && given("hop"))
      wrong("hop goes with a network that has hops; add network=torus:4x4x4, or leave hop out");
    m.hop = time("hop", 0);
  }

  void sharing(Machine& m) const {
    if (!given("cores")) return;
    if (m.sharing.ranks_per_core > 1)
      wrong("cores and ranks_per_core both say how ranks share cores; leave one of them out");
    m.sharing.cores = count("cores");
  }

  void noise(Machine& m) const {
    if (!given("noise_period") && !given("noise_duration")) return;
    m.noise.period = time("noise_period", 0);
    m.noise.duration = time("noise_duration", 0);
    if (m.noise.period == 0 || m.noise.duration == 0 || m.noise.duration >= m.noise.period)
      wrong(
          "noise needs a noise_period and a noise_duration, in seconds, above 0, and the duration "
          "must be shorter");
  }

  std::string path_;
  LogGP model_;
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace

Machine read_cluster_file(const std::string& path) { return ClusterFile(path).machine(); }

void check_room(const Machine& machine, std::uint64_t ranks) {
  const std::uint64_t nodes = (ranks + machine.ranks_per_node - 1) / machine.ranks_per_node;
  if (nodes > room_of(machine.topology))
    fail(Errc::argument, ranks, " ranks take ", nodes,
         " nodes, and the network of the machine has ", room_of(machine.topology),
         "; use fewer ranks or a larger network");
}

}  // namespace tonari::sim
