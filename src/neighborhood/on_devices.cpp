// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/on_devices.hpp"

#include <algorithm>

#include "neighborhood/device_plan.hpp"
#include "request/connect_messages.hpp"
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

bool asks_for_handles(const Settings& settings) { return settings.channel == device_handles; }

// The same on all ranks.
std::string why_not_tried(const Settings& settings) {
  if (settings.algorithm == "native" || settings.algorithm == "irecv")
    return text("algorithm '", settings.algorithm, "' runs on the host");
  if (!settings.any_channel()) return text("channel '", settings.channel, "' is one of the host");
  return "";
}

// Within a node a launch is what costs, and blocks that go straight take the fewest.
bool go_straight(const Settings& settings) {
  return settings.algorithm == "auto" || settings.algorithm == "linear";
}

// What ranks have made, in whichever way.
struct Way {
  std::unique_ptr<Exchange> exchange;
  StreamOrdered* ordered;
  std::size_t tags;
  const char* channel;
  std::string described;
  std::string algorithm = "linear", variant = {};
  int rounds = 1;
};

void fill(Made& made, const Call& call, double start, const Problem& problem, LocalArguments& mine,
          Way way) {
  Prepared& prepared = *made.prepared;
  mine.staging.reset();
  made.tags = way.tags;
  prepared.by_stream = way.ordered;
  prepared.exchange = std::move(way.exchange);
  // a device that exchanges by handles needs no test to go on
  if (mine.settings.progress_thread && !prepared.exchange->proceeds_by_itself())
    prepared.drive_by_thread();
  ChoiceReport& chosen = prepared.chosen;
  chosen.algorithm = way.algorithm, chosen.variant = way.variant, chosen.channel = way.channel;
  chosen.rounds = way.rounds;
  const bool named = mine.settings.algorithm != "auto";
  chosen.reason = named || asks_for_handles(mine.settings) ? "forced" : "fixed rule";
  if (!named)
    way.described +=
        "no block goes by way of other ranks, since each step would be a launch more\n";
  prepared.describe(
      start, what_of(problem),
      text(way.algorithm, "/", way.variant, way.variant.empty() ? "" : "/", way.channel),
      way.described);
  end_request(made, call, mine);
}

Way way_of(std::unique_ptr<DeviceExchange> exchange) {
  DeviceExchange* const ordered = exchange.get();
  return {std::move(exchange), ordered, packed_tags, device_handles, ordered->describe()};
}

Way way_of(ConnectedMessages messages, const char* channel) {
  return {std::move(messages.exchange), messages.ordered, messages.tags, channel,
          std::move(messages.described)};
}

// What is told of a plan that combines blocks on the way.
void name(Way& way, const DevicePlan& planned) {
  const Candidate& candidate = planned.candidate;
  way.algorithm = candidate.algorithm(), way.variant = candidate.variant();
  way.rounds = planned.steps.count();
  if (way.rounds > 1)
    way.described +=
        text("blocks are combined on the way, in ", way.rounds, " steps of one launch each\n");
  if (!candidate.unpaying.empty())
    way.described +=
        text(way.algorithm, " is not expected to pay here: ", candidate.unpaying, "\n");
}

// Collective, together: the plan of a named algorithm. Returns why it is not run by handles.
std::string run_plan(const Call& call, double start, const Problem& problem, LocalArguments& mine,
                     Made& made) {
  Context& context = *call.near->context;
  DevicePlan planned;
  std::optional<Error> refusal = plan_for_devices(context, problem, mine, planned);
  if (!refusal) {
    ConnectedPacked by_handles = connect_packed(context, mine.settings.timeout, [&] {
      return packed_blocks(mine, messages_of(planned, mine));
    });
    refusal = std::move(by_handles.refusal);
    if (by_handles.exchange) {
      Way way = way_of(std::move(by_handles.exchange));
      name(way, planned);
      fill(made, call, start, problem, mine, std::move(way));
      return "";
    }
  }
  return refusal->what();
}

// Collective, together: each block by itself. Returns why it goes neither by handles, nor by an MPI
// that takes it, nor in pieces.
std::string run_straight(const Call& call, double start, const Problem& problem,
                         LocalArguments& mine, Made& made) {
  Context& context = *call.near->context;
  const Settings& settings = mine.settings;
  const auto read = [&] { return packed_blocks(mine, straight_messages(context.vertex(), mine)); };
  ConnectedPacked by_handles = connect_packed(context, settings.timeout, read);
  if (by_handles.exchange) {
    fill(made, call, start, problem, mine, way_of(std::move(by_handles.exchange)));
    return "";
  }
  std::string why = by_handles.refusal->what();
  if (asks_for_handles(settings)) return why;
  ConnectedMessages by_mpi = connect_messages(context, settings.timeout, read);
  if (!by_mpi.exchange) {
    why = text(why, "; and ", by_mpi.refusal->what());
    ConnectedMessages pieces = connect_pieces(context, settings.timeout, read, why);
    if (!pieces.exchange) return text(why, "\nnot in pieces, because ", pieces.refusal->what());
    made.prepared->recording.staged = !pieces.exchange->nothing();
    fill(made, call, start, problem, mine, way_of(std::move(pieces), "pinned-pieces"));
    return "";
  }
  by_mpi.described += text("not by handles, because ", why, "\n");
  fill(made, call, start, problem, mine, way_of(std::move(by_mpi), "device-mpi"));
  return "";
}

}  // namespace

std::string make_on_devices(const Call& call, double start, const Problem& problem,
                            LocalArguments& mine, Made& made) {
  const Settings& settings = mine.settings;
  std::string why = why_not_tried(settings);
  if (why.empty()) {
    made = begin_request(call, mine);
    why = (go_straight(settings) ? run_straight : run_plan)(call, start, problem, mine, made);
    if (why.empty()) return "";
  }
  if (asks_for_handles(settings))
    fail(Errc::argument, "tonari_channel (TONARI_CHANNEL) is '", device_handles,
         "', which cannot be used: ", why);
  return why;
}

}  // namespace tonari
