// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/group.hpp"

#include <tonari/group.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/hash.hpp"
#include "engine/comm/read_topology.hpp"
#include "engine/wait/agree.hpp"
#include "mpi/mpi_error.hpp"
#include "mpi/owned_info.hpp"
#include "request/settings.hpp"

namespace tonari {
namespace {

using Calls = std::vector<std::unique_ptr<GroupedCall>>;

// Left alone where a thread ends with an open group: the MPI may have ended before.
thread_local Group* open_group = nullptr;

Error in_call(std::size_t number, const Error& wrong) {
  const std::string sentence = text("in call ", number, " of the group: ", wrong.what());
  return Error(wrong.code(), sentence);
}

class RanksOf {
 public:
  explicit RanksOf(MPI_Comm comm) { check_mpi(MPI_Comm_group(comm, &group_), "MPI_Comm_group"); }
  ~RanksOf() { MPI_Group_free(&group_); }
  RanksOf(const RanksOf&) = delete;
  RanksOf& operator=(const RanksOf&) = delete;

  bool same_as(const RanksOf& other) const {
    int result = MPI_UNEQUAL;
    check_mpi(MPI_Group_compare(group_, other.group_, &result), "MPI_Group_compare");
    return result != MPI_UNEQUAL;
  }
  std::vector<int> in(const RanksOf& other, const std::vector<int>& ranks) const {
    std::vector<int> there(ranks.size());
    check_mpi(MPI_Group_translate_ranks(group_, static_cast<int>(ranks.size()), ranks.data(),
                                        other.group_, there.data()),
              "MPI_Group_translate_ranks");
    return there;
  }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;
};

// Rank by rank, what all calls of a step send or receive: a block for each call that has some, in
// the order of the calls.
class MergedSide {
 public:
  explicit MergedSide(const RanksOf& ranks) : ranks_(ranks) {}

  void add(const Context& context, GroupSide side) {
    const std::vector<int> peers = RanksOf(context.comm()).in(ranks_, side.peers);
    for (std::size_t k = 0; k < peers.size(); ++k) by_rank_[{peers[k], sides_.size()}].push_back(k);
    sides_.push_back(std::move(side));
  }
  std::vector<int> peers() const {
    std::vector<int> all;
    for (const auto& [place, blocks] : by_rank_) all.push_back(place.first);
    return all;
  }
  AbsoluteBlocks blocks() const {
    AbsoluteBlocks all;
    for (const auto& [place, blocks] : by_rank_) join(sides_[place.second].blocks, blocks, all);
    return all;
  }

 private:
  static void join(const AbsoluteBlocks& blocks, const std::vector<std::size_t>& numbers,
                   AbsoluteBlocks& all) {
    if (numbers.size() == 1) {
      const std::size_t k = numbers[0];
      return all.add(blocks.address(k), blocks.count(k), blocks.type(k), fixed_space);
    }
    std::vector<int> counts;
    std::vector<MPI_Aint> addresses;
    std::vector<MPI_Datatype> types;
    std::vector<OwnedType> large;
    for (const std::size_t k : numbers) {
      const CountedType counted = with_int_count(blocks.count(k), blocks.type(k), large);
      counts.push_back(counted.count), types.push_back(counted.type);
      addresses.push_back(blocks.address(k));
    }
    OwnedType type;
    check_mpi(MPI_Type_create_struct(static_cast<int>(numbers.size()), counts.data(),
                                     addresses.data(), types.data(), type.place()),
              "MPI_Type_create_struct");
    all.add(0, std::move(type), fixed_space);
  }

  const RanksOf& ranks_;
  std::vector<GroupSide> sides_;
  std::map<std::pair<int, std::size_t>, std::vector<std::size_t>> by_rank_;  // of rank and side
};

void check_ranks(MPI_Comm comm, const Calls& calls) {
  const RanksOf ranks(comm);
  for (std::size_t k = 0; k < calls.size(); ++k)
    if (!RanksOf(calls[k]->context().comm()).same_as(ranks))
      fail(Errc::argument, "call ", k, " of the group (", calls[k]->name(),
           ") is on a communicator that has not the ranks of the group's; start the group on one "
           "that has");
}

// What one call touches was checked when it was made.
void check_overlaps(int rank, const Calls& calls) {
  std::vector<TouchedBytes> touched;
  for (const auto& call : calls) touched.push_back(call->touched());
  std::vector<Placed> placed;
  for (std::size_t k = 0; k < touched.size(); ++k) {
    placed.push_back({0, &touched[k].read, static_cast<std::uint32_t>(k), false});
    placed.push_back({0, &touched[k].written, static_cast<std::uint32_t>(k), true});
  }
  Overlap overlap;
  if (!find_overlap(placed, overlap)) return;
  const auto named = [&](std::uint32_t which) {
    const std::uint32_t k = placed[which].block;
    return text("call ", k, " (", calls[k]->name(), ")");
  };
  fail(Errc::buffers, "on rank ", rank, ", ", named(overlap.first), " and ", named(overlap.second),
       " of the group overlap in memory; where one receives, no other may send from or receive "
       "into");
}

// 3 all-to-alls in a row are named once.
std::string names(const Calls& calls) {
  std::string all;
  for (std::size_t k = 0, next = 0; k < calls.size(); k = next) {
    const std::string name = calls[k]->name();
    for (next = k + 1; next < calls.size() && calls[next]->name() == name;) ++next;
    all += text(k == 0 ? "" : ", ", name, next - k > 1 ? text(" (", next - k, " times)") : "");
  }
  return all;
}

// As a neighborhood of its own; the calls' promise to send to neighbors only goes on to it.
OwnedNeighborhood make_near(MPI_Comm comm, const Calls& calls, const std::vector<int>& sources,
                            const std::vector<int>& targets) {
  const bool strict = std::ranges::any_of(
      calls, [](const auto& call) { return call->context().settings().strict_communication; });
  if (!strict) return make_adjacent(comm, sources, targets);
  const OwnedInfo info("cdag_strict_communication", "true");
  return make_adjacent(comm, sources, targets, info.get());
}

}  // namespace

Group* Group::current() { return open_group; }

void Group::note(const std::optional<Error>& wrong) {
  if (!wrong || wrong_) return;
  wrong_ = *wrong;
  (void)error_of([&] { wrong_ = in_call(made_, *wrong); });
}

namespace {

// Collective: all ranks have the same calls, each of them right as far as its rank can see.
Settings agree_on_calls(MPI_Comm comm, const Group& group, MPI_Info info, Output output) {
  Settings settings;
  Hash names;
  // The first mistake counts, not that a scope was left because of it.
  if (int code; group.wrong() && take_refusal(code))
    tonari_refuse(static_cast<int>(group.wrong()->code()), group.wrong()->what());
  const std::optional<Error> wrong = wrong_argument(output, [&] {
    if (group.wrong()) throw *group.wrong();
    settings = read_settings(info);
    check_ranks(comm, group.calls());
    for (const auto& call : group.calls()) names.bytes(call->name());
  });
  const std::array things{
      Alike{group.calls().size(),
            "ranks made different numbers of calls in the group; all ranks must make the same "
            "calls in the same order"},
      Alike{names.value(),
            "ranks made different calls in the group; all ranks must make the same calls in the "
            "same order"},
      Alike{fingerprint(settings), other_settings}};
  agree_on_arguments(comm, info, wrong, things);
  return settings;
}

// Collective, together on the communicator.
std::shared_ptr<Prepared> prepare_step(MPI_Comm comm, const Calls& calls, std::size_t step, Use use,
                                       MPI_Info info) {
  const RanksOf ranks(comm);
  MergedSide sent(ranks), received(ranks);
  for (const auto& call : calls) {
    if (step >= call->steps()) continue;
    sent.add(call->context(), call->sent(step));
    received.add(call->context(), call->received(step));
  }
  const AbsoluteBlocks send = sent.blocks(), receive = received.blocks();
  const OwnedNeighborhood near = make_near(comm, calls, received.peers(), sent.peers());
  return prepare({Collective::alltoall, send.given(), receive.given(), near.get(), info}, use,
                 inside);
}

// Collective, together on the communicator.
std::unique_ptr<SteppedExchange> make_exchange(MPI_Comm comm, const Calls& calls, Use use,
                                               MPI_Info info) {
  for (std::size_t k = 0; k < calls.size(); ++k) {
    stay_together(comm);
    if (auto wrong = error_of([&] { calls[k]->agree_and_prepare(); })) {
      (void)error_of([&] { wrong = in_call(k, *wrong); });  // without memory: as it is
      throw std::move(*wrong).now_on_all_ranks();
    }
  }
  check_overlaps(rank_in(comm), calls);
  std::size_t steps = 0;
  for (const auto& call : calls) steps = std::max(steps, call->steps());
  std::vector<std::shared_ptr<Prepared>> prepared;
  for (std::size_t s = 0; s < steps; ++s)
    prepared.push_back(prepare_step(comm, calls, s, use, info));
  std::vector<std::unique_ptr<LocalWork>> works;
  for (const auto& call : calls)
    if (std::unique_ptr<LocalWork> work = call->work()) works.push_back(std::move(work));
  auto exchange = std::make_unique<SteppedExchange>(std::move(works), steps);
  for (auto& step : prepared) exchange->add_step(std::move(step));
  for (const auto& call : calls)
    if (std::shared_ptr<Prepared> beside = call->beside()) exchange->add_beside(std::move(beside));
  return exchange;
}

std::shared_ptr<Prepared> prepare_group(const Group& group, Use use, MPI_Info info, Output output) {
  const double start = MPI_Wtime();
  require_intracommunicator(group.comm());  // all ranks know
  const std::shared_ptr<SharedComm> shared = SharedComm::of(group.comm());
  const Settings settings = agree_on_calls(shared->comm(), group, info, output);
  std::shared_ptr<Prepared> prepared;
  run_collectively(shared->comm(), [&] {
    prepared = std::make_shared<Prepared>(context_on(shared));
    std::unique_ptr<SteppedExchange> made = make_exchange(
        shared->comm(), group.calls(), use_of_part(use, settings.progress_thread), info);
    const SteppedExchange& exchange = *made;
    prepared->exchange = std::move(made);
    prepared->buffers = StartBuffers("it exchanges a group");
    if (settings.progress_thread && use == Use::persistent) prepared->drive_by_thread();
    prepared->recording.operation = prepared->chosen.algorithm = "group";
    prepared->tell_of([&exchange](ChoiceReport& all) { return exchange.report_steps(all); });
    prepared->describe(start,
                       text("group of ", group.calls().size(), " calls: ", names(group.calls())));
  });
  return prepared;
}

}  // namespace
}  // namespace tonari

using namespace tonari;

extern "C" int tonari_group_start(MPI_Comm comm) {
  return guarded([&] {
    if (open_group) {
      open_group->note(Error(Errc::active, "another group was started in it"));
      fail(Errc::active, "a group is open on this thread; close it with tonari_group_end first");
    }
    require_comm(comm, "comm");
    require_intracommunicator(comm);
    open_group = new Group(comm);
  });
}

namespace {

// Closes the group of this thread, and prepares what it holds.
std::shared_ptr<Prepared> close_group(Use use, MPI_Info info, Output output) {
  if (!open_group)
    fail(Errc::argument, "no group is open on this thread; open one with tonari_group_start first");
  const std::unique_ptr<Group> group(std::exchange(open_group, nullptr));
  return prepare_group(*group, use, info, output);
}

}  // namespace

extern "C" int tonari_group_end(MPI_Info info, tonari_request* request) {
  return init_request(request,
                      [&](Output output) { return close_group(Use::persistent, info, output); });
}

extern "C" int tonari_group_irun(MPI_Info info, tonari_request* request) {
  return start_one_shot(request,
                        [&](Output output) { return close_group(Use::one_shot, info, output); });
}

extern "C" int tonari_group_run(MPI_Info info) {
  return run_one_shot([&](Output output) { return close_group(Use::one_shot, info, output); });
}
