// SPDX-License-Identifier: BSD-3-Clause
#include "engine/comm/shared_comm.hpp"

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "base/hash.hpp"
#include "base/lasting.hpp"
#include "base/setting_table.hpp"
#include "engine/comm/calibrate.hpp"
#include "engine/comm/finding.hpp"
#include "engine/comm/mpi_bsp_comm.hpp"
#include "engine/wait/agree.hpp"
#include "engine/wait/hang_report.hpp"
#include "engine/wait/hung_mpi.hpp"
#include "engine/wait/in_flight.hpp"
#include "engine/wait/known_processes.hpp"
#include "memory/process.hpp"
#include "memory/shared_file.hpp"
#include "memory/wait_record.hpp"
#include "mpi/collective.hpp"
#include "mpi/mpi_error.hpp"
#include "mpi/world.hpp"

namespace tonari {
namespace {

// What is attached to communicators of the program. MPI_Finalize calls conclude() first, while
// everything still works. The program may have callbacks there, too, in an order of its own on each
// rank, and they may exchange: so what ranks share stays. Where sessions run without a world, it
// goes with the communicators alone, and the keys with the last of them: the end of a session may
// be the end of all keys.
struct Attached {
  std::mutex mutex;
  std::vector<std::shared_ptr<SharedComm>*> all;
  int key = MPI_KEYVAL_INVALID;        // of communicators of the program
  int duplicate = MPI_KEYVAL_INVALID;  // of our duplicates: a weak pointer
  std::size_t duplicates = 0;
  bool hooked = false;     // MPI_Finalize will call conclude
  bool concluded = false;  // it has
};

Attached& attached() { return lasting<Attached>(); }

int conclude(MPI_Comm, int, void*, void*) {
  expect_ends();
  (void)error_of(print_report);
  (void)error_of(Finding::write_all);  // of requests that are not freed
  hide_wait();
  attached().concluded = true;
  for (std::shared_ptr<SharedComm>* held : attached().all) (*held)->families().leave();
  return MPI_SUCCESS;
}

// MPI keeps a freed key until the attributes with it are gone.
void free_unused_keys() {
  const std::lock_guard lock(attached().mutex);
  if (attached().key == MPI_KEYVAL_INVALID || !attached().all.empty() ||
      attached().duplicates > 0 || world_runs())
    return;
  MPI_Comm_free_keyval(&attached().key);
  MPI_Comm_free_keyval(&attached().duplicate);
}

int forget_duplicate(MPI_Comm, int, void* value, void*) {
  delete static_cast<std::weak_ptr<SharedComm>*>(value);
  {
    const std::lock_guard lock(attached().mutex);
    --attached().duplicates;
  }
  free_unused_keys();
  return MPI_SUCCESS;
}

}  // namespace

// The attribute's delete function: the program frees its communicator, which is collective.
int leave_shared_comm(MPI_Comm, int, void* value, void*) {
  // MPI_Finalize frees the other communicators itself when nothing collective works any more.
  if (attached().concluded && world_runs()) return MPI_SUCCESS;
  auto* const held = static_cast<std::shared_ptr<SharedComm>*>(value);
  {
    const std::lock_guard lock(attached().mutex);
    std::erase(attached().all, held);
  }
  (*held)->attached_ = false;
  (*held)->families().leave();
  // Of sessions, which have no MPI_Finalize.
  if (!world_runs()) (void)error_of([&] { print_report_of((*held)->comm()); });
  (void)error_of([&] { (*held)->trim_windows(); });  // MPI_Finalize frees what cannot be freed now
  delete held;
  free_unused_keys();
  return MPI_SUCCESS;
}

namespace {

void make_keys() {
  const std::lock_guard lock(attached().mutex);
  if (!attached().hooked) attached().hooked = call_in_finalize(conclude);
  if (attached().key != MPI_KEYVAL_INVALID) return;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_duplicate, &attached().duplicate,
                                   nullptr),
            "MPI_Comm_create_keyval");
  check_mpi(
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, leave_shared_comm, &attached().key, nullptr),
      "MPI_Comm_create_keyval");
}

void* attribute(MPI_Comm comm, int key) {
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(comm, key, &value, &found), "MPI_Comm_get_attr");
  return found ? value : nullptr;
}

template <class Value>
void attach(MPI_Comm comm, int key, std::unique_ptr<Value> value) {
  check_mpi(MPI_Comm_set_attr(comm, key, value.get()), "MPI_Comm_set_attr");
  (void)value.release();
}

// A number for the variables that decide what is known of the machine.
std::uint64_t variables_of_machine() {
  const char* const file = std::getenv("TONARI_MACHINE");
  return Hash().word(tuning_environment()).bytes(file ? file : "").value();
}

// One rank warns, and once: a misspelled variable has no effect, which is hard to find, and without
// shared memory exchanges are slow.
void warn_of_variables(int rank) {
  static std::once_flag once;
  if (rank != 0) return;
  (void)error_of([&] {  // without memory there is no warning
    std::call_once(once, [] {
      std::vector<std::string> sentences = unknown_variables();
      if (const auto wrong = wrong_shared_directory()) sentences.push_back(*wrong);
      for (const std::string& sentence : sentences)
        std::fprintf(stderr, "tonari: warning: %s\n", sentence.c_str());
    });
  });
}

}  // namespace

SharedComm::SharedComm(std::shared_ptr<const OwnedComm> comm)
    : comm_(std::move(comm)), exchanges_(comm_) {}
SharedComm::~SharedComm() = default;

std::shared_ptr<SharedComm> SharedComm::of(MPI_Comm comm) {
  make_keys();
  std::shared_ptr<SharedComm> there;
  if (void* known = attribute(comm, attached().key))
    there = *static_cast<std::shared_ptr<SharedComm>*>(known);
  else if (void* duplicate = attribute(comm, attached().duplicate))
    there = static_cast<std::weak_ptr<SharedComm>*>(duplicate)->lock();
  if (there) {
    there->fresh_ = false;
    return there;
  }
  std::shared_ptr<OwnedComm> copy;
  std::shared_ptr<SharedComm> made;
  std::unique_ptr<std::shared_ptr<SharedComm>> held;
  std::unique_ptr<std::weak_ptr<SharedComm>> known;
  complete_calls_by(complete_while_driving);
  run_collectively(comm,
                   [&] {  // all are here: from now on none waits for what another has in flight
                     read_hang_report();  // already for this agreement
                     watch_for_hangs();
                     check_duplicates();
                     copy = std::make_shared<OwnedComm>();
                     made = std::make_shared<SharedComm>(copy);
                     held = std::make_unique<std::shared_ptr<SharedComm>>(made);
                     known = std::make_unique<std::weak_ptr<SharedComm>>(made);
                     const std::lock_guard lock(attached().mutex);
                     attached().all.reserve(attached().all.size() + 1);
                   });
  made->open(comm, *copy);
  attach(made->comm(), attached().duplicate, std::move(known));
  {
    const std::lock_guard lock(attached().mutex);
    ++attached().duplicates;
    attached().all.push_back(held.get());
  }
  attach(comm, attached().key, std::move(held));
  return made;
}

// Collective on the program's communicator, together. All have a duplicate, and the same text of
// TONARI_NODES, when they can tell each other where they run.
void SharedComm::open(MPI_Comm of, OwnedComm& copy) {
  watch_forks();  // all that a child must leave alone belongs to such an object
  bool met = false;
  std::string text;
  RankNode found;
  ReportOffer report;
  const auto meet = [&] {
    if (met) return stay_together(comm());
    const Ballot ballot = nodes_ballot(text);
    const bool same = agree(of, std::nullopt, std::span(&ballot, 1))[0];
    met = true;
    if (!same) fail(Errc::mismatch, other_nodes);
  };
  const std::optional<Error> error = error_of([&] {
    duplicate(of, copy);
    read_communicator();
    text = nodes_in_environment();
    found = read_node(comm(), emulated_node(comm(), text), meet);
    report = offer_report(comm_);
  });
  if (error && error->on_all_ranks()) throw *error;
  if (!met) agree(of, error);
  joined_ = keep_nodes(std::move(text), std::move(found), error, report);
}

void SharedComm::read_communicator() {
  MPI_Comm_rank(comm(), &rank_);
  MPI_Comm_size(comm(), &ranks_);
  void* value = nullptr;
  int found = 0;
  // Standards before sessions attach it to MPI_COMM_WORLD alone.
  MPI_Comm_get_attr(world_runs() ? MPI_COMM_WORLD : comm(), MPI_TAG_UB, &value, &found);
  if (found) most_tag_ = *static_cast<int*>(value);
  warn_of_variables(rank_);
}

void SharedComm::reserve_tags(std::size_t count) {
  const std::int64_t needed = static_cast<std::int64_t>(count),
                     all = most_tag_ + 1 - first_exchange_tag;
  if (needed > all)
    fail(Errc::overflow, "the exchange needs ", count, " message tags, this MPI has ", all,
         "; choose an algorithm that combines messages");
  if (!lacks_tags(count)) return;
  exchanges_ = another();  // exchanges that use the old one keep it
  next_tag_ = first_exchange_tag;
}

std::shared_ptr<const OwnedComm> SharedComm::another() const {
  std::shared_ptr<OwnedComm> copy;
  run_collectively(comm(), [&] {
    check_duplicates();
    copy = std::make_shared<OwnedComm>();
  });
  run_collectively(comm(), [&] { duplicate(comm(), *copy); });
  return copy;
}

// All ranks keep what was found, or none does, because it decides who asks the others.
const std::string& SharedComm::machine_key() {
  if (!machine_key_.empty()) return machine_key_;
  std::optional<LogGP> named;
  const std::optional<Error> error = error_of([&] {
    if (rank_ == 0) named = machine_in_environment();
  });
  std::string key = tonari::machine_key(comm(), nodes_->ranks_per_core, named, error);
  const std::uint64_t tuning = variables_of_machine();
  stay_together(comm());
  tuning_ = tuning, named_machine_ = named;
  return machine_key_ = std::move(key);
}

const LogGP& SharedComm::machine() {
  if (machine_) return *machine_;
  const std::string& key = machine_key();
  LogGP found = machine_parameters(comm(), key, nodes_->node, named_machine_);
  found.ranks_per_core = nodes_->ranks_per_core;
  stay_together(comm());
  return machine_.emplace(found);
}

BspComm& SharedComm::bsp() {
  if (!bsp_)
    bsp_ = std::make_unique<MpiBspComm>(comm(), MpiBspComm::most_words, MpiBspComm::Number::first);
  return *bsp_;
}

ConnectComm SharedComm::connect_comm(const NodeMap& nodes) {
  return {comm(),
          rank_,
          nodes.node,
          nodes.reads_memory,
          [this](const std::optional<Error>& error) { agree(comm(), error); },
          [this]() -> Windows& { return windows(); }};
}

Windows& SharedComm::windows() {
  if (!windows_) windows_.emplace(comm_);
  return *windows_;
}

void SharedComm::trim_windows() {
  // later users can take them
  if (attached_ || !windows_ || windows_->count() == 0) return;
  agree(comm(), {});  // while it waits, exchanges go on that others may wait for
  windows_->trim();
}

SharedComm::Surroundings SharedComm::read_surroundings(std::string nodes) const {
  Surroundings now{std::move(nodes), {}, false};
  now.other_tuning = !machine_key_.empty() && tuning_ != variables_of_machine();
  if (looks_again(now)) now.emulated = emulated_node(comm(), now.nodes);
  return now;
}

void SharedComm::adopt(Surroundings now, bool other_tuning) {
  if (other_tuning) machine_key_.clear(), machine_.reset();
  if (looks_again(now)) look_at_nodes(std::move(now.nodes), std::move(now.emulated));
}

void SharedComm::update_nodes() {
  if (fresh_) return;
  Surroundings now;
  const std::optional<Error> error = error_of([&] { now = read_surroundings(); });
  const Ballot words[] = {nodes_ballot(now.nodes), now.other_tuning};
  std::vector<std::uint64_t> said;  // the largest of each
  const std::vector<bool> same = agree(comm(), error, words, &said);
  if (!same[0]) fail(Errc::mismatch, other_nodes);
  adopt(std::move(now), said[1] != 0);
}

void SharedComm::look_at_nodes(std::string text, NodeMembers emulated) {
  RankNode found = read_node(comm(), std::move(emulated), [this] { stay_together(comm()); });
  (void)keep_nodes(std::move(text), std::move(found), std::nullopt, {});
}

// All ranks keep what was found, or none does, because it decides who asks the others. An error
// that a rank comes with is thrown on all.
JoinedReport SharedComm::keep_nodes(std::string text, RankNode found,
                                    const std::optional<Error>& mine, const ReportOffer& report) {
  std::shared_ptr<NodeMap> nodes;
  std::array<Ballot, 4 + ReportOffer::ballots> words;
  const std::optional<Error> error = mine ? mine : error_of([&] {
    const Node& node = *found.node;
    const std::size_t here = node.ranks().size();
    const bool several = here > 1, elsewhere = here < static_cast<std::size_t>(ranks_);
    words = {several, several && !node.reads_memory(), elsewhere,
             static_cast<Ballot>(node.ranks_per_core())};
    std::ranges::copy(report.says, words.begin() + 4);
    nodes = std::make_shared<NodeMap>(NodeMap{std::move(found.members), std::move(found.node)});
    know_processes(comm(), nodes->node);  // needs memory, so before ranks agree
  });
  std::vector<std::uint64_t> any;  // the largest of each
  const std::vector<bool> same = agree(comm(), error, words, &any);
  nodes->shares_memory = any[0] != 0;
  nodes->reads_memory = any[0] != 0 && any[1] == 0;
  nodes->several_nodes = any[2] != 0;
  nodes->ranks_per_core = static_cast<std::size_t>(any[3]);
  nodes->any_crowded = any[3] > 1;
  if (nodes->node->crowded()) expect_crowd();
  if (nodes_ && nodes_->ranks_per_core != nodes->ranks_per_core)
    machine_key_.clear(), machine_.reset();
  nodes_ = std::move(nodes);
  nodes_text_ = std::move(text);
  node_of_.clear();
  return report.join ? report.join({same[4], same[5]}) : JoinedReport{};
}

const std::vector<std::int32_t>& SharedComm::node_of() {
  if (!nodes_->several_nodes || !node_of_.empty()) return node_of_;
  const std::int32_t first = nodes_->node->ranks().front();
  std::vector<std::int32_t> all(static_cast<std::size_t>(ranks_));
  stay_together(comm());
  gather_all(&first, 1, MPI_INT32_T, all.data(), comm());
  return node_of_ = std::move(all);
}

}  // namespace tonari
