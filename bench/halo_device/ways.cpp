// SPDX-License-Identifier: BSD-3-Clause
#include "halo_device/ways.hpp"

#include <numeric>
#include <utility>

#include "halo_device/by_tonari.hpp"
#include "halo_device/staged_types.hpp"

namespace bench::halo {

using namespace tonari;

namespace {

std::byte* const nowhere = nullptr;  // addresses are absolute

using LaunchedMoves = std::vector<std::vector<Move>>;

// Tables, one launch each.
class Tables : public DeviceWay {
 public:
  Tables(Place& place, const LaunchedMoves& launches) : place_(place), held_(place.device()) {
    for (const std::vector<Move>& moves : launches) tables_.push_back(held_.table(0, moves));
  }
  Tables(Place& place, std::unique_ptr<HeldOnDevice> buffer, const LaunchedMoves& launches)
      : Tables(place, launches) {
    buffer_ = std::move(buffer);
  }
  void put(DeviceStream stream) override {
    for (const DeviceTable table : tables_) place_.device().move(stream, table);
  }

 private:
  Place& place_;
  std::unique_ptr<HeldOnDevice> buffer_;
  HeldOnDevice held_;
  std::vector<DeviceTable> tables_;
};

// Contiguous copies by the driver, one for each piece.
class Copies : public DeviceWay {
 public:
  Copies(Place& place, std::vector<Move> moves) : place_(place), moves_(std::move(moves)) {}
  void put(DeviceStream stream) override {
    for (const Move& move : moves_) place_.copy(stream, move.to, move.from, move.length);
  }

 private:
  Place& place_;
  std::vector<Move> moves_;
};

class Nothing : public DeviceWay {
 public:
  void put(DeviceStream) override {}
};

class NoWork : public DeviceWay {
 public:
  explicit NoWork(Place& place) : place_(place) {}
  void put(DeviceStream stream) override { place_.launch_nothing(stream); }

 private:
  Place& place_;
};

// Own memory, both halves of a copy.
class CopyOfAll : public DeviceWay {
 public:
  CopyOfAll(Place& place, Bytes bytes) : place_(place), held_(place.device()), bytes_(bytes) {
    to_ = held_.allocate(MemoryKind::device, 0, bytes);
    from_ = held_.allocate(MemoryKind::device, 0, bytes);
  }
  void put(DeviceStream stream) override { place_.copy(stream, to_, from_, bytes_); }

 private:
  Place& place_;
  HeldOnDevice held_;
  std::byte *to_, *from_;
  Bytes bytes_;
};

// Messages of all directions.
struct Message {
  Layout ghosts, surface;
};
std::vector<Message> messages_of(const DeviceCube& cube) {
  std::vector<Message> all;
  for (const Region v : directions(cube_dims)) all.push_back({cube.ghosts(v), cube.surface(v)});
  return all;
}
long long bytes_of(const std::vector<Message>& messages) {
  return std::accumulate(messages.begin(), messages.end(), 0LL,
                         [](long long sum, const Message& m) {
                           return sum + static_cast<long long>(m.ghosts.bytes());
                         });
}

// One buffer with a message behind the other.
struct Buffered {
  std::unique_ptr<HeldOnDevice> buffer;
  std::vector<std::vector<Move>> gathers, scatters;  // of each message
};
Buffered through_buffer(Place& place, const std::vector<Message>& messages) {
  Buffered all{std::make_unique<HeldOnDevice>(place.device()), {}, {}};
  std::byte* at =
      all.buffer->allocate(MemoryKind::device, 0, static_cast<Bytes>(bytes_of(messages)));
  for (const auto& [ghosts, surface] : messages) {
    Layout packed;
    packed.add(0, ghosts.bytes());
    make_moves(all.gathers.emplace_back(), at, packed, nowhere, surface);
    make_moves(all.scatters.emplace_back(), nowhere, ghosts, at, packed);
    at += ghosts.bytes();
  }
  return all;
}

std::vector<Move> joined(const std::vector<std::vector<Move>>& all) {
  std::vector<Move> one;
  for (const std::vector<Move>& moves : all) one.insert(one.end(), moves.begin(), moves.end());
  return one;
}

// Contiguous ones each.
std::vector<Move> single(const std::vector<Move>& moves) {
  std::vector<Move> all;
  for (const Move& move : moves)
    for (std::size_t k = 0; k < move.count; ++k) {
      const auto n = static_cast<std::ptrdiff_t>(k);
      all.push_back(
          {move.to + n * move.to_stride, move.from + n * move.from_stride, move.length, 1, 0, 0});
    }
  return all;
}

std::vector<Move> straight(const std::vector<Message>& messages) {
  std::vector<Move> moves;
  for (const auto& [ghosts, surface] : messages)
    make_moves(moves, nowhere, ghosts, nowhere, surface);
  return moves;
}

void add_array_ways(std::vector<NamedWay>& ways, Place& place, DeviceCube& cube, MPI_Comm comm) {
  const std::vector<Message> messages = messages_of(cube);
  const int count = static_cast<int>(messages.size());
  const long long bytes = bytes_of(messages);
  const auto add = [&](const char* name, int launches, bool fills, bool ours, std::string what,
                       std::unique_ptr<DeviceWay> way) {
    ways.push_back(
        {{"array", name, launches, count, bytes, fills, ours, std::move(what)}, std::move(way)});
  };
  {
    Buffered b = through_buffer(place, messages);
    add("gather", 1, false, true, "one launch packs all messages into a buffer",
        std::make_unique<Tables>(place, std::move(b.buffer), LaunchedMoves{joined(b.gathers)}));
  }
  {
    Buffered b = through_buffer(place, messages);
    add("gathers", count, false, false, "a launch for each neighbor packs its message",
        std::make_unique<Tables>(place, std::move(b.buffer), b.gathers));
  }
  {
    Buffered b = through_buffer(place, messages);
    add("pack", 2, true, true, "one launch packs all messages, one unpacks them",
        std::make_unique<Tables>(place, std::move(b.buffer),
                                 LaunchedMoves{joined(b.gathers), joined(b.scatters)}));
  }
  {
    Buffered b = through_buffer(place, messages);
    std::vector<std::vector<Move>> all = b.gathers;
    all.insert(all.end(), b.scatters.begin(), b.scatters.end());
    add("launches", 2 * count, true, false,
        "a launch for each neighbor packs its message, another one unpacks it",
        std::make_unique<Tables>(place, std::move(b.buffer), all));
  }
  add("direct", 1, true, true, "one launch copies the surface to the ghosts",
      std::make_unique<Tables>(place, LaunchedMoves{straight(messages)}));
  add("datatypes", 2, true, false,
      "one launch copies the surface to pinned memory, MPI sends it to itself by subarray types, "
      "one launch copies the ghosts back",
      make_staged_types(place, cube, comm));
  if (place.simulated()) return;  // the library does not know this device
  add("tonari", 1, true, true, "a grid of tonari's; the host starts and waits",
      make_by_tonari(cube, comm, false));
  add("tonari-stream", 1, true, true, "the same by tonari_start_on and tonari_wait_on",
      make_by_tonari(cube, comm, true));
}

void add_brick_ways(std::vector<NamedWay>& ways, Place& place, DeviceCube& cube) {
  const std::vector<Message> messages = messages_of(cube);
  const std::vector<Move> pieces = single(straight(messages));
  const long long bytes = bytes_of(messages);
  const bool mapped = cube.storage() == DeviceStorage::mapped;
  const auto add = [&](const char* name, int launches, std::size_t count, long long moved,
                       std::string what, std::unique_ptr<DeviceWay> way) {
    ways.push_back({{bench::halo::name(cube.storage()), name, launches, static_cast<int>(count),
                     moved, true, true, std::move(what)},
                    std::move(way)});
  };
  if (cube.storage() == DeviceStorage::aliased)
    return add("memmap", 0, 0, 0, "the ghosts are the surface's memory: nothing moves",
               std::make_unique<Nothing>());
  if (mapped)
    return add("layout", 1, pieces.size(), bytes,
               "one launch copies the contiguous pieces of padded regions",
               std::make_unique<Tables>(place, LaunchedMoves{pieces}));
  const std::vector<Move> regions = cube.moves_by_region();
  add("basic", 1, regions.size(), bytes, "one launch copies every surface region by itself",
      std::make_unique<Tables>(place, LaunchedMoves{regions}));
  add("layout", 1, pieces.size(), bytes, "one launch copies the contiguous pieces",
      std::make_unique<Tables>(place, LaunchedMoves{pieces}));
  const int copies = static_cast<int>(pieces.size());
  add("copies", copies, pieces.size(), bytes, "the driver copies each contiguous piece",
      std::make_unique<Copies>(place, pieces));
}

}  // namespace

std::vector<NamedWay> make_floors(Place& place, const CubeShape& shape) {
  const auto cells = [](long long edge) { return edge * edge * edge; };
  const long long bytes = 8 * (cells(shape.size + 2 * shape.ghost) - cells(shape.size));
  std::vector<NamedWay> floors;
  floors.push_back({{"buffers", "copy", 1, 1, bytes, false, false,
                     "the driver copies as many bytes as all messages have"},
                    std::make_unique<CopyOfAll>(place, static_cast<Bytes>(bytes))});
  floors.push_back({{"buffers", "launch", 1, 0, 0, false, false, "a launch that does nothing"},
                    std::make_unique<NoWork>(place)});
  return floors;
}

std::vector<NamedWay> make_ways(Place& place, DeviceCube& cube, MPI_Comm comm) {
  std::vector<NamedWay> ways;
  if (cube.storage() == DeviceStorage::array)
    add_array_ways(ways, place, cube, comm);
  else
    add_brick_ways(ways, place, cube);
  return ways;
}

}  // namespace bench::halo
