// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/device_ways.hpp"

#include <algorithm>
#include <utility>

#include "request/connect_packed.hpp"
#include "request/connect_pieces.hpp"
#include "select/cache.hpp"

namespace tonari {
namespace {

bool has_bytes(const std::vector<Block>& blocks) {
  return std::ranges::any_of(blocks, [](const Block& block) { return block.bytes > 0; });
}

// The device of a side that has one; -1: it has no bytes.
int device_of(const std::vector<Block>& blocks, int number, const char* side) {
  if (!has_bytes(blocks)) return -1;
  if (number < 0) fail(Errc::argument, "its ", side, " blocks lie in memory of the host");
  return number;
}

// Each block is a message of its own. Both ends agree about the bytes of blocks, and leave out the
// same ones. A message has the number of the block at its sender as its tag.
PackedMessages straight_messages(const Vertex& vertex, LocalArguments& mine) {
  const Binding& given = mine.given();
  PackedMessages all;
  const auto message = [](std::int32_t peer, std::size_t tag, const Block& block) {
    return packed_message(peer, static_cast<std::int32_t>(tag), block);
  };
  const bool one = mine.arguments.collective == Collective::allgather;
  for (std::size_t i = 0; i < vertex.targets.size(); ++i) {
    const Block& block = given.send[one ? 0 : i];
    if (vertex.targets[i] >= 0 && block.bytes > 0)
      all.out.push_back(message(vertex.targets[i], i, block));
  }
  for (std::size_t j = 0; j < vertex.sources.size(); ++j)
    if (vertex.sources[j] >= 0 && given.recv[j].bytes > 0)
      all.in.push_back(message(vertex.sources[j], vertex.origins[j], given.recv[j]));
  return all;
}

PackedBlocks packed_blocks(LocalArguments& mine, PackedMessages messages) {
  const Binding& given = mine.given();
  const StagedDevices on = mine.staging ? mine.staging->devices : StagedDevices();
  const int sends = device_of(given.send, on.send, "send"),
            receives = device_of(given.recv, on.recv, "receive");
  if (sends < 0 && receives < 0) {
    if (!messages.out.empty())
      fail(Errc::argument, "it passes on blocks, and has none on a device itself");
    return {};
  }
  if (sends >= 0 && receives >= 0 && sends != receives)
    fail(Errc::argument, "its send blocks lie on device ", sends,
         ", and its receive blocks on device ", receives);
  return {present_device(cache_directory()), std::max(sends, receives), std::move(messages.in),
          std::move(messages.out)};
}

}  // namespace

const char* name(DeviceWay way) {
  static constexpr const char* names[] = {device_handles, "device-mpi", "pinned-pieces", "staged"};
  return names[static_cast<std::size_t>(way)];
}

// ---- making one

void DeviceWays::hold(One& one, std::unique_ptr<Exchange> exchange, StreamOrdered* ordered,
                      std::size_t tags) {
  Prepared& prepared = *one.made.prepared;
  prepared.by_stream = ordered;
  prepared.exchange = std::move(exchange);
  context().take_tags(tags);
  // a device that exchanges by handles needs no test to go on
  if (mine_.settings.progress_thread && !prepared.exchange->proceeds_by_itself())
    prepared.drive_by_thread();
}

PackedBlocks DeviceWays::blocks() const {
  return packed_blocks(mine_, combines() ? messages_of(planned_, mine_)
                                         : straight_messages(context().vertex(), mine_));
}

std::optional<Error> DeviceWays::by_handles(One& one) {
  if (combines()) {
    auto refusal = plan_for_devices(context(), problem_, mine_, planned_);
    if (refusal) return refusal;
  }
  ConnectedPacked made =
      connect_packed(context(), mine_.settings.timeout, [this] { return blocks(); });
  if (!made.exchange) return std::move(made.refusal);
  one.told = made.exchange->describe();
  DeviceExchange* const ordered = made.exchange.get();
  hold(one, std::move(made.exchange), ordered, packed_tags);
  return std::nullopt;
}

std::optional<Error> DeviceWays::by_messages(One& one, ConnectedMessages made) {
  if (!made.exchange) return std::move(made.refusal);
  one.told = std::move(made.described);
  one.stages = std::move(made.stages);
  hold(one, std::move(made.exchange), made.ordered, made.tags);
  return std::nullopt;
}

void DeviceWays::stage(One& one) {
  try {
    if (mine_.staging) {
      mine_.staging->why = why();
      unstaged_ = mine_.arguments;
      pin(*mine_.staging, mine_, context().topology());
    }
    one.made = make_without_end(call_, start_,
                                choose(context(), problem_, mine_.settings, mine_.arguments),
                                problem_, mine_);
  } catch (...) {
    unstage();  // another way may follow, and this one once more
    throw;
  }
  context().take_tags(std::exchange(one.made.tags, 0));
}

void DeviceWays::unstage() {
  if (!unstaged_) return;
  mine_.arguments = std::move(*unstaged_);
  unstaged_.reset();
  mine_.staging->sides = {};
  mine_.staging->given = {};
}

std::optional<Error> DeviceWays::make(DeviceWay way) {
  One& one = of(way);
  std::optional<Error> refusal;
  if (way == DeviceWay::staged) {
    stage(one);
    return refusal;
  }
  one.made = begin_request(call_, mine_);
  const double timeout = mine_.settings.timeout;
  const auto read = [this] { return blocks(); };
  if (way == DeviceWay::handles) {
    refusal = by_handles(one);
  } else if (combines()) {
    refusal = Error(Errc::algorithm, text("it cannot pass on blocks, as algorithm '",
                                          mine_.settings.algorithm, "' does"));
  } else if (way == DeviceWay::mpi) {
    refusal = by_messages(one, connect_messages(context(), timeout, read));
  } else {
    refusal = by_messages(one, connect_pieces(context(), timeout, read, why()));
    one.made.prepared->recording.staged = one.made.prepared->by_stream != nullptr;
  }
  if (refusal) one.refused = refusal->what();
  return refusal;
}

// ---- taking one

std::string DeviceWays::why() const {
  const std::string &handles = of(DeviceWay::handles).refused, &mpi = of(DeviceWay::mpi).refused,
                    &pieces = of(DeviceWay::pieces).refused;
  if (handles.empty() || mpi.empty()) return "no other way was faster";
  if (combines()) return handles;
  return text(handles, "; and ", mpi,
              pieces.empty() ? "" : text("\nnot in pieces, because ", pieces));
}

bool DeviceWays::only_staging() const {
  return std::ranges::all_of(device_ways, [this](DeviceWay way) {
    return way == DeviceWay::staged || !of(way).refused.empty();
  });
}

std::string DeviceWays::no_faster(DeviceWay way) const {
  const std::string& handles = of(DeviceWay::handles).refused;
  if (way == DeviceWay::handles || handles.empty()) return "";
  const One& mpi = of(DeviceWay::mpi);
  if (way != DeviceWay::mpi && !mpi.refused.empty()) return why();
  return mpi.stages.empty() ? handles : text(handles, "; and ", mpi.stages);
}

// A plan that combines blocks on the way has a line about its steps.
std::string DeviceWays::tell_plan(ChoiceReport& chosen) const {
  chosen.algorithm = "linear", chosen.rounds = 1;
  if (!combines())
    return mine_.settings.algorithm == "auto"
               ? "no block goes by way of other ranks, since each step would be a launch more\n"
               : "";
  const Candidate& candidate = planned_.candidate;
  chosen.algorithm = candidate.algorithm(), chosen.variant = candidate.variant();
  chosen.rounds = planned_.steps.count();
  std::string told = followed_file(mine_.settings);
  if (chosen.rounds > 1)
    told +=
        text("blocks are combined on the way, in ", chosen.rounds, " steps of one launch each\n");
  if (!candidate.unpaying.empty())
    told += text(chosen.algorithm, " is not expected to pay here: ", candidate.unpaying, "\n");
  return told;
}

void DeviceWays::describe(Prepared& prepared, DeviceWay way, const std::string& told) const {
  ChoiceReport& chosen = prepared.chosen;
  const std::string plan = tell_plan(chosen);
  chosen.channel = name(way);
  const std::string variant = chosen.variant.empty() ? "" : text("/", chosen.variant);
  prepared.describe(start_, what_of(problem_), text(chosen.algorithm, variant, "/", chosen.channel),
                    plan + told);
}

Made DeviceWays::take(DeviceWay way, const Evidence& found, const std::string& more) {
  One& one = of(way);
  Made made = std::move(one.made);
  Prepared& prepared = *made.prepared;
  if (way == DeviceWay::staged) {
    if (!only_staging()) {  // otherwise it has said why
      prepared.chosen.follow(found);
      prepared.tell_also(more);
    }
  } else {
    unstage();
    mine_.staging.reset();
    prepared.chosen.follow(found);
    describe(prepared, way, one.told + more);
  }
  if (prepared.by_stream) prepared.recording.no_faster = no_faster(way);
  end_request(made, call_, mine_);
  return made;
}

}  // namespace tonari
