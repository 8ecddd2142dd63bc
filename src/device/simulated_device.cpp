// SPDX-License-Identifier: BSD-3-Clause
#include "device/simulated_device.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>

namespace tonari {
namespace {

constexpr std::size_t pieces_of_a_copy = 4;  // other streams go on between two of them

const char* lack(Ability which) {
  switch (which) {
    case Ability::export_memory:
      return "this device does not let other processes map its memory";
    case Ability::flags_in_order:
      return "streams of this device do not write flags or wait for them";
    case Ability::mapped_memory:
      return "this device does not map memory at addresses of one's choice";
    case Ability::peer_access:
      return "no device here has access to the memory of another one";
    case Ability::capture_of_flags:
      return "captured work of this device does not write flags or wait for them";
    case Ability::network_access:
      return "no adapter of a network reads memory of this device";
  }
  return "";
}

}  // namespace

SimulatedDevice::SimulatedDevice(const SimulatedOptions& options, std::uint64_t seed)
    : options_(options), memory_(options), streams_(seed, options.one_queue) {}

void SimulatedDevice::reset(std::uint64_t seed) {
  const Lock lock(mutex_);
  streams_.reset(seed);
  for (auto& [number, event] : events_) {
    if (event.capture) event.last.reset();
    if (event.last) event.last->complete = true;
    event.capture.reset();
  }
}

Capability SimulatedDevice::ability(Ability which) const {
  const bool lacks = std::count(options_.lacks.begin(), options_.lacks.end(), which) > 0;
  return {lacks ? lack(which) : ""};
}

void SimulatedDevice::need(Ability which) const {
  if (const Capability has = ability(which); !has) fail(Errc::argument, has.why_not);
}

// A capture of one stream forbids this in all: it is the strictest mode of real devices.
void SimulatedDevice::not_in_a_capture(const char* what) {
  if (!streams_.any_capture()) return;
  streams_.break_captures(what);
  fail(Errc::active, what, " is not allowed while a stream is captured");
}

// ---- memory

MemoryAt SimulatedDevice::memory_at(const void* address) const {
  const Lock lock(mutex_);
  return memory_.memory_at(address);
}

std::byte* SimulatedDevice::allocate(MemoryKind kind, int device, Bytes bytes) {
  const Lock lock(mutex_);
  not_in_a_capture("an allocation");
  return memory_.allocate(kind, device, bytes);
}

void SimulatedDevice::free(std::byte* base) {
  const Lock lock(mutex_);
  not_in_a_capture("freeing memory");
  const SharedRange range = memory_.range(base, "freed");
  if (streams_.uses(*range))
    fail(Errc::active, "memory of ", range->bytes,
         " bytes cannot be freed while work in a stream uses it; wait for that first");
  memory_.free(range);
}

MemoryHandle SimulatedDevice::export_memory(const std::byte* address) const {
  const Lock lock(mutex_);
  need(Ability::export_memory);
  return memory_.export_memory(address);
}

std::byte* SimulatedDevice::import_memory(const MemoryHandle& handle) {
  const Lock lock(mutex_);
  not_in_a_capture("mapping memory");
  return memory_.import_memory(handle);
}

Bytes SimulatedDevice::granularity(int device) const {
  memory_.check_device(device);
  return SimulatedMemory::granularity;
}

DeviceRegion SimulatedDevice::make_region(int device, Bytes bytes) {
  const Lock lock(mutex_);
  need(Ability::mapped_memory);
  not_in_a_capture("an allocation");
  return memory_.make_region(device, bytes);
}

void SimulatedDevice::free_region(DeviceRegion region) {
  const Lock lock(mutex_);
  memory_.free_region(region);
}

std::byte* SimulatedDevice::map_regions(std::span<const DeviceRegion> regions) {
  const Lock lock(mutex_);
  need(Ability::mapped_memory);
  not_in_a_capture("mapping memory");
  return memory_.map_regions(regions);
}

std::byte* SimulatedDevice::on_device(const std::byte* address) const {
  const Lock lock(mutex_);
  const MemoryAt at = memory_.memory_at(address);
  return memory_.reach(address, 0, std::max(at.device, 0)).work();
}

// ---- streams

DeviceStream SimulatedDevice::make_stream(int device) {
  const Lock lock(mutex_);
  memory_.check_device(device);
  return streams_.make(device);
}

void SimulatedDevice::end_stream(DeviceStream stream) {
  const Lock lock(mutex_);
  streams_.end(stream);
}

int SimulatedDevice::device_of(DeviceStream stream) const {
  const Lock lock(mutex_);
  return streams_.device_of(stream);
}

bool SimulatedDevice::captures(DeviceStream stream) const {
  const Lock lock(mutex_);
  return streams_.capture_of(stream) != nullptr;
}

// Where only another process can go on, this waits for it.
void SimulatedDevice::run_until(const std::function<bool()>& done) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  while (!streams_.run_until(done)) {
    if (!memory_.shared() || options_.patience == 0)
      fail(Errc::internal, "no stream can go on: ", streams_.waits());
    if (Clock::now() - begin > std::chrono::duration<double>(options_.patience))
      fail(Errc::peer, "for ", options_.patience, " s no process went on: ", streams_.waits());
    ::sched_yield();
  }
}

void SimulatedDevice::synchronize(DeviceStream stream) {
  const Lock lock(mutex_);
  if (streams_.capture_of(stream)) not_in_a_capture("waiting for a stream");
  run_until([&] { return streams_.empty(stream); });
  streams_.host_waited_for(stream);
}

// ---- work

void SimulatedDevice::launch(DeviceStream stream, std::span<const Touched> reads,
                             std::span<const Touched> writes, std::function<void()> body) {
  const Lock lock(mutex_);
  streams_.put(stream, kernel_work({std::move(body), reach(stream, reads), reach(stream, writes)}));
}

std::vector<SimulatedBytes> SimulatedDevice::reach(DeviceStream stream,
                                                   std::span<const Touched> bytes) const {
  std::vector<SimulatedBytes> reached;
  for (const Touched& one : bytes)
    reached.push_back(memory_.reach(one.address, one.bytes, streams_.device_of(stream)));
  return reached;
}

void SimulatedDevice::copy(DeviceStream stream, std::byte* to, const std::byte* from, Bytes bytes) {
  const Lock lock(mutex_);
  std::vector<Move> pieces;
  for (std::size_t i = 0; i < pieces_of_a_copy; ++i) {
    const Bytes begin = bytes * i / pieces_of_a_copy, end = bytes * (i + 1) / pieces_of_a_copy;
    pieces.push_back({to + begin, from + begin, end - begin, 1, 0, 0});
  }
  streams_.put(stream, move_work(std::make_shared<SimulatedTable>(
                           memory_, streams_.device_of(stream), pieces)));
}

DeviceTable SimulatedDevice::make_table(int device, std::span<const Move> moves) {
  const Lock lock(mutex_);
  not_in_a_capture("making a table");
  memory_.check_device(device);
  tables_[next_] = std::make_shared<SimulatedTable>(memory_, device, moves);
  return {next_++};
}

std::shared_ptr<const SimulatedTable> SimulatedDevice::at(DeviceTable table) const {
  const auto found = tables_.find(table.value);
  if (found == tables_.end()) fail(Errc::argument, "a table that was freed, or never made");
  return found->second;
}

void SimulatedDevice::free_table(DeviceTable table) {
  const Lock lock(mutex_);
  if (streams_.uses_table(at(table).get()))
    fail(Errc::active, "a table cannot be freed while work in a stream uses it");
  tables_.erase(table.value);
}

void SimulatedDevice::move(DeviceStream stream, DeviceTable table) {
  const Lock lock(mutex_);
  const auto found = at(table);
  if (found->device != streams_.device_of(stream))
    fail(Errc::argument, "a table of device ", found->device, " in a stream of device ",
         streams_.device_of(stream));
  streams_.put(stream, move_work(found));
}

std::vector<SimulatedFlag> SimulatedDevice::reach(DeviceStream stream,
                                                  std::span<const FlagValue> flags) const {
  need(Ability::flags_in_order);
  if (streams_.capture_of(stream)) need(Ability::capture_of_flags);
  std::vector<SimulatedFlag> reached;
  reached.reserve(flags.size());
  for (const auto& [flag, value] : flags) {
    const SimulatedBytes at = memory_.reach(reinterpret_cast<const std::byte*>(flag), sizeof *flag,
                                            streams_.device_of(stream));
    if (at.at % sizeof *flag != 0)
      fail(Errc::argument, "a flag at byte ", at.at, " of an allocation is not aligned");
    if (at.range->kind == MemoryKind::managed)
      fail(Errc::argument, "a flag cannot be in managed memory; allocate pinned memory for it");
    reached.push_back({at, value});
  }
  return reached;
}

void SimulatedDevice::write_flags(DeviceStream stream, std::span<const FlagValue> flags) {
  const Lock lock(mutex_);
  if (!flags.empty()) streams_.put(stream, flag_writes(reach(stream, flags)));
}

void SimulatedDevice::wait_flags(DeviceStream stream, std::span<const FlagValue> flags) {
  const Lock lock(mutex_);
  if (!flags.empty()) streams_.put(stream, flag_waits(reach(stream, flags)));
}

// ---- events

SimulatedDevice::Event& SimulatedDevice::at(DeviceEvent event) {
  const auto found = events_.find(event.value);
  if (found == events_.end()) fail(Errc::argument, "an event that was ended, or never made");
  return found->second;
}

DeviceEvent SimulatedDevice::make_event(int device) {
  const Lock lock(mutex_);
  memory_.check_device(device);
  events_[next_] = {device, nullptr, nullptr, {}};
  return {next_++};
}

void SimulatedDevice::end_event(DeviceEvent event) {
  const Lock lock(mutex_);
  at(event);
  events_.erase(event.value);
}

void SimulatedDevice::record(DeviceStream stream, DeviceEvent event) {
  const Lock lock(mutex_);
  Event& recorded = at(event);
  if (recorded.device != streams_.device_of(stream))
    fail(Errc::argument, "an event of device ", recorded.device, " cannot be recorded in a stream ",
         "of device ", streams_.device_of(stream));
  recorded.capture = streams_.capture_of(stream);
  recorded.last = std::make_shared<SimulatedRecord>();
  if (recorded.capture)
    recorded.ends = streams_.capture_ends(stream);
  else
    streams_.put(stream, record_work(recorded.last));
}

const std::shared_ptr<SimulatedRecord>& SimulatedDevice::recorded(DeviceEvent event,
                                                                  const char* verb) {
  const Event& found = at(event);
  if (!found.last) fail(Errc::argument, "an event that was never recorded cannot be ", verb);
  return found.last;
}

void SimulatedDevice::wait_event(DeviceStream stream, DeviceEvent event) {
  const Lock lock(mutex_);
  const std::shared_ptr<SimulatedRecord> record = recorded(event, "waited for");
  const Event& waited = at(event);
  if (waited.capture) return streams_.join_capture(stream, waited.capture, waited.ends);
  if (const auto capture = streams_.capture_of(stream)) {
    capture->broken = "a wait for an event that is not part of it";
    fail(Errc::active, "a captured stream cannot wait for an event that is not captured");
  }
  streams_.put(stream, wait_work(record));
}

bool SimulatedDevice::query(DeviceEvent event) {
  const Lock lock(mutex_);
  const auto record = recorded(event, "asked for");
  if (at(event).capture) not_in_a_capture("asking for a captured event");
  streams_.run_some(1);
  if (record->complete) streams_.host_waited_for(record->clock);
  return record->complete;
}

void SimulatedDevice::synchronize(DeviceEvent event) {
  const Lock lock(mutex_);
  const auto record = recorded(event, "waited for");
  if (at(event).capture) not_in_a_capture("waiting for a captured event");
  run_until([&] { return record->complete; });
  streams_.host_waited_for(record->clock);
}

// ---- captures

void SimulatedDevice::begin_capture(DeviceStream stream) {
  const Lock lock(mutex_);
  streams_.begin_capture(stream);
}

std::shared_ptr<const SimulatedGraph> SimulatedDevice::end_capture(DeviceStream stream) {
  const Lock lock(mutex_);
  return streams_.end_capture(stream);
}

void SimulatedDevice::launch(DeviceStream stream, std::shared_ptr<const SimulatedGraph> graph) {
  const Lock lock(mutex_);
  if (graph->device != streams_.device_of(stream))
    fail(Errc::argument, "a graph of device ", graph->device, " in a stream of device ",
         streams_.device_of(stream));
  streams_.put(stream, graph_work(std::move(graph)));
}

}  // namespace tonari
