// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/staging.hpp"

#include <utility>

#include "request/buffer.hpp"
#include "select/cache.hpp"

namespace tonari {

std::shared_ptr<PresentDevice> devices_for(const std::string& name) {
  std::shared_ptr<PresentDevice> devices;
  const std::optional<Error> none = error_of([&] { devices = present_device(cache_directory()); });
  if (none) refuse_gpu_memory(name, none->what());
  return devices;
}

StagedSide::StagedSide(const ReadCall& call, const LocalTopology& topology, Buffer side)
    : call_(call), topology_(topology), side_(side), devices_(devices_for(argument())) {}

const std::string& StagedSide::argument() const {
  return side_ == Buffer::send ? call_.on_gpu.send : call_.on_gpu.recv;
}

const std::vector<Block>& StagedSide::blocks() const {
  const Binding& binding = call_.arguments.binding;
  return side_ == Buffer::send ? binding.send : binding.recv;
}

std::size_t StagedSide::number(std::size_t i) const {
  return given_number(topology_, call_.arguments.collective, side_, i);
}

std::string StagedSide::name(std::size_t i) const {
  return text(side_ == Buffer::send ? "send block " : "receive block ", number(i));
}

// The device that has the first and the last byte of a block.
int StagedSide::device_of(std::size_t i) const {
  const AddressSpan span = span_of(blocks()[i]);
  const auto at = [&](std::uintptr_t address) {
    return (*devices_)->memory_at(reinterpret_cast<const void*>(address));
  };
  const MemoryAt first = at(span.low), last = at(span.high - 1);
  if (first.kind != MemoryKind::device)
    refuse_gpu_memory(argument(), "no device of this process has allocated it");
  if (last.kind != MemoryKind::device || last.device != first.device)
    fail(Errc::argument, name(i), " does not end in the memory of device ", first.device,
         " in which it begins; allocate as many bytes as the block has");
  return first.device;
}

int StagedSide::device() const {
  int device = -1;
  std::size_t its = 0;
  for (std::size_t i = 0; i < blocks().size(); ++i) {
    if (blocks()[i].bytes == 0) continue;
    const int next = device_of(i);
    if (device >= 0 && next != device)
      fail(Errc::argument, name(its), " is in memory of device ", device, ", and ", name(i),
           " in that of device ", next, "; give all blocks of a side on one device");
    device = next, its = i;
  }
  return device;
}

std::shared_ptr<PinnedCopy> StagedSide::pin(const std::vector<DeviceBlock>& blocks) const {
  return std::make_shared<PinnedCopy>(
      devices_, device(), blocks,
      side_ == Buffer::send ? PinnedCopy::Way::to_host : PinnedCopy::Way::to_device);
}

namespace {

// The pinned memory, and the blocks there in the place of those of the program.
std::shared_ptr<PinnedCopy> replace(const StagedSide& side, std::vector<Block>& blocks,
                                    std::vector<TypedBlock>& typed, PackedTypes& types) {
  std::vector<DeviceBlock> on_device;
  for (const Block& block : blocks)
    on_device.push_back({block.address, block.layout, block.bytes, 0, block.space});
  auto pinned = side.pin(on_device);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    std::byte* const at = pinned->host(i);
    blocks[i] = {at, nullptr, blocks[i].bytes};
    typed[i] = blocks[i].bytes > 0
                   ? TypedBlock{at - pinned->host(), typed[i].count, types(typed[i].type)}
                   : TypedBlock{};
  }
  return pinned;
}

}  // namespace

std::unique_ptr<Staging> find_devices(const ReadCall& mine, const LocalTopology& topology,
                                      const Settings& settings) {
  if (settings.recv_view && !mine.on_gpu.recv.empty())
    fail(Errc::argument, mine.on_gpu.recv,
         " is memory of a GPU, and blocks do not stay where they arrive in host memory "
         "(tonari_recv_view); leave that setting out");
  auto staging = std::make_unique<Staging>();
  if (!mine.on_gpu.send.empty())
    staging->devices.send = StagedSide(mine, topology, Buffer::send).device();
  if (!mine.on_gpu.recv.empty())
    staging->devices.recv = StagedSide(mine, topology, Buffer::recv).device();
  return staging;
}

void pin(Staging& staging, ReadCall& mine, const LocalTopology& topology) {
  Arguments& arguments = mine.arguments;
  Binding& binding = arguments.binding;
  staging.given = binding;  // which keeps the layouts
  if (!mine.on_gpu.send.empty()) {
    staging.sides.send = replace(StagedSide(mine, topology, Buffer::send), binding.send,
                                 arguments.send, staging.types);
    arguments.sendbuf = staging.sides.send->host();
  }
  if (!mine.on_gpu.recv.empty()) {
    staging.sides.recv = replace(StagedSide(mine, topology, Buffer::recv), binding.recv,
                                 arguments.recv, staging.types);
    arguments.recvbuf = staging.sides.recv->host();
  }
}

}  // namespace tonari
