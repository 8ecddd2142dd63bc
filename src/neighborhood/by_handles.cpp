// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/by_handles.hpp"

#include <algorithm>

#include "request/connect_packed.hpp"
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

void fill(Made& made, const Call& call, double start, const Problem& problem, LocalArguments& mine,
          std::unique_ptr<DeviceExchange> exchange) {
  Prepared& prepared = *made.prepared;
  mine.staging.reset();
  made.tags = packed_tags;
  const std::string details = exchange->describe();
  prepared.by_stream = exchange.get();
  prepared.exchange = std::move(exchange);
  ChoiceReport& chosen = prepared.chosen;
  chosen.algorithm = algorithm, chosen.channel = device_handles, chosen.rounds = 1;
  chosen.reason = asks_for_handles(mine.settings) ? "forced" : "fixed rule";
  prepared.describe(start, what_of(problem), text(algorithm, "/", device_handles), details);
}

}  // namespace

std::string make_by_handles(const Call& call, double start, const Problem& problem,
                            LocalArguments& mine, Made& made) {
  const Settings& settings = mine.settings;
  std::string why = why_not_tried(settings);
  if (why.empty()) {
    Context& context = *call.near->context;
    made = begin_request(call, mine);
    ConnectedPacked connected = connect_packed(
        context, settings.timeout, [&] { return packed_blocks(context.vertex(), mine); });
    if (connected.exchange) {
      fill(made, call, start, problem, mine, std::move(connected.exchange));
      end_request(made, call, mine);
      return "";
    }
    why = connected.refusal->what();
  }
  if (asks_for_handles(settings))
    fail(Errc::argument, "tonari_channel (TONARI_CHANNEL) is '", device_handles,
         "', which cannot be used: ", why);
  return why;
}

}  // namespace tonari
