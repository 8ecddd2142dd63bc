// SPDX-License-Identifier: BSD-3-Clause
#include "engine/comm/calibrate.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "engine/comm/partner.hpp"
#include "engine/wait/agree.hpp"
#include "mpi/mpi_error.hpp"
#include "mpi/owned_type.hpp"
#include "select/cache.hpp"

namespace tonari {
namespace {

constexpr std::size_t largest = 128 * 1024;
// Seconds: about a thousand instructions. It is not measured, but the same for all candidates.
constexpr double start_of_an_exchange = 0.25e-6;

// Both partners run the same sequence; only the first one's times count.
class Pair {
 public:
  Pair(MPI_Comm comm, int partner, bool first)
      : partner_(comm, partner, largest + sizeof(int)), first_(first) {
    std::fill_n(data(), largest, std::byte{1});
    times_.reserve(most_rounds);
  }

  // From now on; the connection is there.
  void begin() { begun_ = MPI_Wtime(); }
  // The same on both.
  bool has_time() { return agree_on(MPI_Wtime() - begun_ < time_) != 0; }

  // The time of one way for a message of this many bytes: half a round trip.
  double one_way(std::size_t bytes, double seconds = 1e-4) {
    int rounds = 4;
    for (int batch = 0; batch < 2; ++batch) {
      times_.clear();
      for (int k = 0; k < rounds; ++k) times_.push_back(ping(static_cast<int>(bytes)) / 2);
      if (batch == 0)
        rounds = agree_on(static_cast<int>(
            std::clamp(seconds / (2 * undisturbed(times_) + 1e-9), 4.0, double{most_rounds})));
    }
    return undisturbed(times_);
  }

  // Time per message when several small ones leave back to back: the larger of overhead and gap.
  double burst() {
    constexpr int count = Partner::most_messages;
    times_.clear();
    for (int k = 0; k < 5; ++k) {
      ping(1);
      const double start = MPI_Wtime();
      for (int m = 0; m < count; ++m)
        if (first_)
          partner_.start_send(data(), 8, MPI_BYTE, measure_burst);
        else
          partner_.start_recv(data() + 8 * m, 8, MPI_BYTE, measure_burst);
      times_.push_back((MPI_Wtime() - start) / count);
      partner_.complete();
    }
    return undisturbed(times_);
  }

  // The largest message that is sent before the receiver asks for it. Limits are powers of two that
  // include the MPI's header.
  std::size_t eager() {
    constexpr std::size_t header = 96;
    std::size_t limit = 256;
    for (std::size_t bytes = 512;
         bytes <= largest && leaves_alone(static_cast<int>(bytes - header)); bytes *= 2)
      limit = bytes - header;
    return limit;
  }

  // Extra time per piece of a message that a datatype describes, over a contiguous one.
  double typed_piece() {
    constexpr int pieces = 64;
    OwnedType vector;
    check_mpi(MPI_Type_vector(pieces, 16, 32, MPI_BYTE, vector.place()), "MPI_Type_vector");
    check_mpi(MPI_Type_commit(vector.place()), "MPI_Type_commit");
    const double plain = one_way(pieces * 16);
    times_.clear();
    for (int k = 0; k < 20; ++k) times_.push_back(ping(1, vector.get()) / 2);
    return std::max(1e-9, (undisturbed(times_) - plain) / (2 * pieces));  // both ends have pieces
  }

 private:
  std::byte* data() const { return partner_.data(); }
  double ping(int count, MPI_Datatype type = MPI_BYTE) {
    const double start = MPI_Wtime();
    if (first_) partner_.send(data(), count, type, measure_ping);
    partner_.recv(data(), count, type, measure_ping);
    if (!first_) partner_.send(data(), count, type, measure_ping);
    return MPI_Wtime() - start;
  }
  // The first one's word; it travels apart from the messages that may be under way.
  int agree_on(int mine) {
    std::byte* const word = data() + largest;
    std::memcpy(word, &mine, sizeof mine);
    if (first_)
      partner_.send(word, 1, MPI_INT, measure_go);
    else
      partner_.recv(word, 1, MPI_INT, measure_go);
    std::memcpy(&mine, word, sizeof mine);
    return mine;
  }
  bool leaves_alone(int bytes) {
    bool left = false;
    if (first_) {
      partner_.start_send(data(), bytes, MPI_BYTE, measure_eager);
      const double start = MPI_Wtime();
      for (int looks = 0; !left && looks < most_looks && MPI_Wtime() - start < 100e-6; ++looks)
        left = partner_.test_last();
      left = agree_on(left) != 0;
      partner_.complete();
      return left;
    }
    left = agree_on(0) != 0;
    partner_.recv(data(), bytes, MPI_BYTE, measure_eager);
    return left;
  }

  static constexpr int most_rounds = 400;
  static constexpr int most_looks = 5000;  // of 20 ns or more: a clock may be set back

  Partner partner_;
  bool first_;
  double time_ = time_for_messages();  // only the first one's counts
  std::vector<double> times_;
  double begun_ = 0;
};

// Returns whether there was time for all; the same on both.
bool measure_messages(LogGP& machine, Pair& pair) {
  pair.one_way(8);  // warms up connections, once the partner has come
  pair.begin();
  const double tiny = pair.one_way(8);
  machine.o = std::max(1e-9, pair.burst());
  machine.g = machine.o;
  machine.L = std::max(1e-9, tiny - 2 * machine.o);
  if (!pair.has_time()) return false;
  machine.eager = pair.eager();
  if (!pair.has_time()) return false;
  const double whole = pair.one_way(largest), part = pair.one_way(largest / 4);
  machine.G = std::max(1e-12, (whole - part) / (largest - largest / 4));
  if (!pair.has_time()) return false;
  const double short_one = pair.one_way(machine.eager / 2),
               long_one = pair.one_way(std::min(largest, machine.eager * 2));
  machine.rendezvous =
      std::max(0.0, long_one - short_one - machine.G * static_cast<double>(machine.eager) * 1.5);
  if (!pair.has_time()) return false;
  machine.typed_block = pair.typed_piece();
  return true;
}

}  // namespace

// What nobody notices at a first init. On a machine that is busy with something else the parameters
// that are not known by then keep their usual values. Who gives all measurements at an init more
// than that, gives it to these, too.
double time_for_messages() {
  constexpr double usual = 2e-3;
  const char* const given = std::getenv("TONARI_TUNE_SECONDS");
  double seconds = 0;
  if (given) std::from_chars(given, given + std::strlen(given), seconds);
  return std::max(usual, seconds);
}

double undisturbed(std::span<double> values) {
  const auto rank = static_cast<std::ptrdiff_t>(values.size() / 10);
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

std::uint64_t tuning_environment() {
  static constexpr std::string_view prefixes[] = {"OMPI_MCA_mpi_", "OMPI_MCA_pml", "OMPI_MCA_btl",
                                                  "OMPI_MCA_coll", "OMPI_MCA_mtl", "MPIR_CVAR_",
                                                  "UCX_",          "FI_"};
  std::vector<std::string_view> found;
  for (char** variable = environ; *variable; ++variable)
    for (const std::string_view prefix : prefixes)
      if (**variable == prefix.front() && std::string_view(*variable).starts_with(prefix))
        found.emplace_back(*variable);
  std::sort(found.begin(), found.end());
  Hash hash;
  for (const std::string_view variable : found) hash.bytes(variable);
  return hash.value();
}

std::optional<LogGP> machine_in_environment() {
  const char* const path = std::getenv("TONARI_MACHINE");
  return path && *path ? std::optional(read_machine_file(path)) : std::nullopt;
}

std::string machine_key(MPI_Comm comm, std::size_t ranks_per_core,
                        const std::optional<LogGP>& named, const std::optional<Error>& error) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "", host[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0, ranks = 0;
  check_mpi(MPI_Get_library_version(version, &length), "MPI_Get_library_version");
  check_mpi(MPI_Get_processor_name(host, &length), "MPI_Get_processor_name");
  MPI_Comm_size(comm, &ranks);
  const Ballot here = Hash().bytes(host).value();
  const bool one_node = agree(comm, error, std::span(&here, 1))[0];
  // a machine file stands for all hosts that it was written for
  const std::string place =
      named ? text("machine ", std::hex, Hash().bytes(to_text(*named)).value()) : host;
  const std::string first = broadcast_line(comm, text(std::hex, tuning_environment(), " ", place));
  const std::size_t blank = std::min(first.find(' '), first.size());
  std::string key =
      text(first.substr(std::min(blank + 1, first.size())), "|", ranks, " ranks|",
           ranks_per_core > 1 ? text(ranks_per_core, " per core|") : "",
           one_node ? "one node|" : "several nodes|", first.substr(0, blank), "|", version);
  for (char& c : key)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return key.substr(0, 400);
}

namespace {

// What messages between ranks of a node cost, where the parameters of others are known by now.
void take_as_near(LogGP& machine, const LogGP& near) {
  machine.node_latency = near.L;
  machine.node_overhead = near.o;
  machine.node_gap = near.g;
  machine.node_byte = near.G;
  machine.node_eager = near.eager;
  machine.node_rendezvous = near.rendezvous;
}

// Whom rank 0 measures with, and who measures with rank 0; the same on all ranks.
struct Partners {
  int far = 0;   // on another node, or else the last rank
  int near = 0;  // the next one of rank 0's node, where there are others; 0: none
  bool one_node = true;
  std::size_t ranks_per_core = 1;

  Partners(MPI_Comm comm, const Node& node, int rank, int size) {
    const std::vector<std::int32_t>& here = node.ranks();
    const bool away = here.front() != 0, first = !away && here.size() > 1;
    const Ballot words[] = {static_cast<Ballot>(away ? rank : 0),
                            static_cast<Ballot>(first ? here[1] : 0),
                            static_cast<Ballot>(node.ranks_per_core())};
    std::vector<std::uint64_t> said;  // the largest of each
    agree(comm, std::nullopt, words, &said);
    far = said[0] > 0 ? static_cast<int>(said[0]) : size - 1;
    near = said[0] > 0 ? static_cast<int>(said[1]) : 0;
    one_node = said[0] == 0;
    ranks_per_core = static_cast<std::size_t>(said[2]);
  }
};

}  // namespace

LogGP measure_machine(MPI_Comm comm, const std::shared_ptr<const Node>& node, bool& complete) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const Partners partners(comm, *node, rank, size);
  LogGP machine;
  std::string result;
  machine.start = start_of_an_exchange;
  if (rank == 0) measure_copies(machine);
  std::optional<Pair> far, near;
  if (size > 1 && (rank == 0 || rank == partners.far))
    far.emplace(comm, rank == 0 ? partners.far : 0, rank == 0);
  if (partners.near > 0 && (rank == 0 || rank == partners.near))
    near.emplace(comm, rank == 0 ? partners.near : 0, rank == 0);
  stay_together(comm);
  complete = !far || measure_messages(machine, *far);
  LogGP here = machine;
  if (near) complete = measure_messages(here, *near) && complete;
  if (near) take_as_near(machine, here);
  measure_long_copies(machine, comm);
  measure_shared(machine, comm, node, rank);
  const bool together = partners.one_node && broadcast(comm, complete ? "yes" : "") == "yes";
  if (size > 1 && (together || partners.ranks_per_core > 1))
    measure_exchanges(machine, comm, partners.ranks_per_core, together);
  if (rank == 0) result = to_text(machine);
  return loggp_from_text(broadcast(comm, result)).value_or(LogGP{});
}

LogGP machine_parameters(MPI_Comm comm, const std::string& key,
                         const std::shared_ptr<const Node>& node,
                         const std::optional<LogGP>& named) {
  static std::mutex mutex;
  static std::map<std::string, LogGP> known;
  static std::map<std::string, int> tries;  // without time for all
  constexpr int most_tries = 3;
  const CacheFile file(cache_directory(), "machines");
  std::string text;
  const int rank = rank_in(comm);
  if (rank == 0 && named) {
    text = to_text(*named);
  } else if (rank == 0) {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end())
      text = to_text(found->second);
    else if (const auto line = file.get(key);
             line && line->find("copy_beyond") != line->npos && loggp_from_text(*line))
      text = *line;
  }
  text = broadcast(comm, text);
  const std::optional<LogGP> remembered = loggp_from_text(text);
  bool complete = true;
  const LogGP machine = remembered ? *remembered : measure_machine(comm, node, complete);
  const std::lock_guard lock(mutex);
  // Rank 0 alone looks for it, and knows whether there was time for all. If not, later
  // communicators measure again, but not for ever: where ranks outnumber cores there may never be
  // time.
  if (rank == 0 && (complete || ++tries[key] == most_tries)) known[key] = machine;
  if (rank == 0 && !remembered && complete) file.put(key, to_text(machine));
  return machine;
}

}  // namespace tonari
