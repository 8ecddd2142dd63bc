// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/on_devices.hpp"

#include <algorithm>

#include "request/connect_messages.hpp"
#include "request/connect_packed.hpp"
#include "request/connect_pieces.hpp"
#include "select/cache.hpp"

namespace tonari {
namespace {

constexpr const char* algorithm = "linear";

bool has_bytes(const std::vector<Block>& blocks) {
  return std::ranges::any_of(blocks, [](const Block& block) { return block.bytes > 0; });
}

// The device of a side that has one; -1: it has no bytes.
int device_of(const std::vector<Block>& blocks, int number, const char* side) {
  if (!has_bytes(blocks)) return -1;
  if (number < 0) fail(Errc::argument, "its ", side, " blocks lie in memory of the host");
  return number;
}

PackedMessage message(std::int32_t peer, std::size_t tag, const Block& block) {
  PackedMessage message{peer, static_cast<std::int32_t>(tag), block.address, {}, block.space};
  if (block.layout)
    message.layout = *block.layout;
  else
    message.layout.add(0, block.bytes);
  return message;
}

// Both ends agree about the bytes of blocks, and leave out the same ones. A message has the number
// of the block at its sender as its tag.
PackedBlocks packed_blocks(const Vertex& vertex, LocalArguments& mine) {
  const Binding& given = mine.given();
  const StagedDevices on = mine.staging ? mine.staging->devices : StagedDevices();
  const int sends = device_of(given.send, on.send, "send"),
            receives = device_of(given.recv, on.recv, "receive");
  if (sends < 0 && receives < 0) return {};
  if (sends >= 0 && receives >= 0 && sends != receives)
    fail(Errc::argument, "its send blocks lie on device ", sends,
         ", and its receive blocks on device ", receives);
  PackedBlocks blocks{present_device(cache_directory()), std::max(sends, receives), {}, {}};
  const bool one = mine.arguments.collective == Collective::allgather;
  for (std::size_t i = 0; i < vertex.targets.size(); ++i) {
    const Block& block = given.send[one ? 0 : i];
    if (vertex.targets[i] >= 0 && block.bytes > 0)
      blocks.out.push_back(message(vertex.targets[i], i, block));
  }
  for (std::size_t j = 0; j < vertex.sources.size(); ++j)
    if (vertex.sources[j] >= 0 && given.recv[j].bytes > 0)
      blocks.in.push_back(message(vertex.sources[j], vertex.origins[j], given.recv[j]));
  return blocks;
}

bool asks_for_handles(const Settings& settings) { return settings.channel == device_handles; }

// The same on all ranks.
std::string why_not_tried(const Settings& settings) {
  if (settings.algorithm != "auto")
    return text("algorithm '", settings.algorithm, "' runs on the host");
  if (!settings.any_channel()) return text("channel '", settings.channel, "' is one of the host");
  return "";
}

// What ranks have made, in whichever way.
struct Way {
  std::unique_ptr<Exchange> exchange;
  StreamOrdered* ordered;
  std::size_t tags;
  const char* channel;
  std::string described;
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
  chosen.algorithm = algorithm, chosen.channel = way.channel, chosen.rounds = 1;
  chosen.reason = asks_for_handles(mine.settings) ? "forced" : "fixed rule";
  prepared.describe(start, what_of(problem), text(algorithm, "/", way.channel), way.described);
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

}  // namespace

std::string make_on_devices(const Call& call, double start, const Problem& problem,
                            LocalArguments& mine, Made& made) {
  const Settings& settings = mine.settings;
  std::string why = why_not_tried(settings);
  if (why.empty()) {
    Context& context = *call.near->context;
    const auto read = [&] { return packed_blocks(context.vertex(), mine); };
    made = begin_request(call, mine);
    ConnectedPacked by_handles = connect_packed(context, settings.timeout, read);
    if (by_handles.exchange) {
      fill(made, call, start, problem, mine, way_of(std::move(by_handles.exchange)));
      return "";
    }
    why = by_handles.refusal->what();
    if (!asks_for_handles(settings)) {
      ConnectedMessages by_mpi = connect_messages(context, settings.timeout, read);
      if (by_mpi.exchange) {
        by_mpi.described += text("not by handles, because ", why, "\n");
        fill(made, call, start, problem, mine, way_of(std::move(by_mpi), "device-mpi"));
        return "";
      }
      why = text(why, "; and ", by_mpi.refusal->what());
      ConnectedMessages pieces = connect_pieces(context, settings.timeout, read, why);
      if (pieces.exchange) {
        made.prepared->recording.staged = !pieces.exchange->nothing();
        fill(made, call, start, problem, mine, way_of(std::move(pieces), "pinned-pieces"));
        return "";
      }
      why += text("\nnot in pieces, because ", pieces.refusal->what());
    }
  }
  if (asks_for_handles(settings))
    fail(Errc::argument, "tonari_channel (TONARI_CHANNEL) is '", device_handles,
         "', which cannot be used: ", why);
  return why;
}

}  // namespace tonari
