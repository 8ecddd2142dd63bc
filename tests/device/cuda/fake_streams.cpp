// SPDX-License-Identifier: BSD-3-Clause
// Plays CUDA's driver (libcuda.so.1) on simulated devices: streams, events and kernels.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "device/cuda/fake_state.hpp"
#include "device/cuda/host_kernels.hpp"

using namespace tonari;
using namespace tonari::test;
using namespace tonari::cuda;

namespace {

// A move within mapped memory, as moves that lie within one mapping each.
void cut_by_mappings(const Move& move, std::vector<Move>& all) {
  for (std::size_t k = 0; k < move.count; ++k) {
    const auto piece = static_cast<std::ptrdiff_t>(k);
    std::byte* to = move.to + piece * move.to_stride;
    const std::byte* from = move.from + piece * move.from_stride;
    for (Bytes left = move.length; left > 0;) {
      const Bytes some = std::min({left, fake().until_end_of_mapping(address_of(to)),
                                   fake().until_end_of_mapping(address_of(from))});
      all.push_back({to, from, some, 1, 0, 0});
      to += some, from += some, left -= some;
    }
  }
}

std::vector<Move> within_mappings(const std::vector<Move>& moves) {
  const auto mapped = [](const std::byte* at) { return fake().shown_at(address_of(at)); };
  std::vector<Move> all;
  for (const Move& move : moves)
    if (move.count > 0 && (mapped(move.to) || mapped(move.from)))
      cut_by_mappings(move, all);
    else
      all.push_back(move);
  return all;
}

// The table as the host can run it: with the simulation's own addresses.
void launch_moves(Stream stream, Address table, unsigned blocks, unsigned threads) {
  SimulatedDevice& sim = *fake().sim;
  std::vector<Move> moves(blocks);
  std::memcpy(moves.data(), sim.on_device(bytes_at(table)), blocks * sizeof(Move));
  std::vector<SimulatedDevice::Touched> reads{{bytes_at(table), blocks * sizeof(Move)}}, writes;
  moves = within_mappings(moves);
  for (Move& move : moves) {
    std::byte* const to = fake().in_simulation(address_of(move.to));
    const std::byte* const from = fake().in_simulation(address_of(move.from));
    for (std::size_t k = 0; k < move.count; ++k) {
      const auto piece = static_cast<std::ptrdiff_t>(k);
      writes.push_back({to + piece * move.to_stride, move.length});
      reads.push_back({from + piece * move.from_stride, move.length});
    }
    move.to = sim.on_device(to);
    move.from = sim.on_device(from);
  }
  sim.launch(fake().stream(stream), reads, writes,
             [moves, threads] { run_move_kernel(moves, threads); });
}

struct FlagList {
  FlagValue of[16];
  unsigned count;
};
void launch_flags(Stream stream, FlagList list, bool write) {
  for (FlagValue& flag : list.of)
    flag.flag = reinterpret_cast<std::uint64_t*>(fake().in_simulation(address_of(flag.flag)));
  const std::span<const FlagValue> flags(list.of, list.count);
  if (write)
    fake().sim->write_flags(fake().stream(stream), flags);
  else
    fake().sim->wait_flags(fake().stream(stream), flags);
}

constexpr const char* kernels[] = {"move_tiles", "write_flags", "wait_flags"};

}  // namespace

// ---- streams

VISIBLE int cuStreamCreate(Stream* made, unsigned flags) {
  return fake().call("cuStreamCreate", [&] {
    if (flags != stream_beside_the_null_stream) throw Result{invalid_value};
    *made = reinterpret_cast<Stream>(fake().sim->make_stream(fake().device()).value);
    fake().streams.insert(*made);
  });
}
VISIBLE int cuStreamDestroy_v2(Stream stream) {
  return fake().give_back("cuStreamDestroy_v2", [&] {
    fake().sim->end_stream(fake().stream(stream));
    fake().streams.erase(stream);
  });
}
VISIBLE int cuStreamGetCtx(Stream stream, Context* context) {
  return fake().call("cuStreamGetCtx", [&] {
    if (Fake::is_default(stream))
      *context = Fake::context(fake().device());
    else
      *context = Fake::context(fake().sim->device_of(fake().stream(stream)));
  });
}
VISIBLE int cuStreamIsCapturing(Stream stream, int* status) {
  return fake().call("cuStreamIsCapturing",
                     [&] { *status = fake().sim->captures(fake().stream(stream)); });
}
VISIBLE int cuStreamSynchronize(Stream stream) {
  return fake().call("cuStreamSynchronize",
                     [&] { fake().sim->synchronize(fake().stream(stream)); });
}
VISIBLE int cuStreamWaitEvent(Stream stream, Event event, unsigned) {
  return fake().call("cuStreamWaitEvent", [&] {
    fake().check_context(stream);
    fake().sim->wait_event(fake().stream(stream), {reinterpret_cast<std::uintptr_t>(event)});
  });
}
VISIBLE int cuStreamBatchMemOp_v2(Stream stream, unsigned count, ValueOperation* operations,
                                  unsigned) {
  return fake().call("cuStreamBatchMemOp_v2", [&] {
    fake().check_context(stream);
    if (!fake().has(value_operations)) throw Result{not_supported};
    if (count >= 256) throw Result{invalid_value};
    for (const ValueOperation& one : std::span(operations, count)) {
      const FlagValue flag{reinterpret_cast<std::uint64_t*>(fake().in_simulation(one.address)),
                           one.value};
      if (one.operation == write_value_64 && one.flags == write_behind_all)
        fake().sim->write_flags(fake().stream(stream), {&flag, 1});
      else if (one.operation == wait_value_64 &&
               one.flags == (wait_until_at_least | wait_then_flush))
        fake().sim->wait_flags(fake().stream(stream), {&flag, 1});
      else
        throw Result{invalid_value};
    }
  });
}

// ---- events

VISIBLE int cuEventCreate(Event* made, unsigned) {
  return fake().call("cuEventCreate", [&] {
    *made = reinterpret_cast<Event>(fake().sim->make_event(fake().device()).value);
    fake().events.insert(*made);
  });
}
VISIBLE int cuEventDestroy_v2(Event event) {
  return fake().give_back("cuEventDestroy_v2", [&] {
    fake().sim->end_event({reinterpret_cast<std::uintptr_t>(event)});
    fake().events.erase(event);
  });
}
VISIBLE int cuEventRecord(Event event, Stream stream) {
  return fake().call("cuEventRecord", [&] {
    fake().check_context(stream);
    fake().sim->record(fake().stream(stream), {reinterpret_cast<std::uintptr_t>(event)});
  });
}
VISIBLE int cuEventQuery(Event event) {
  return fake().call("cuEventQuery", [&] {
    if (!fake().sim->query({reinterpret_cast<std::uintptr_t>(event)})) throw Result{not_ready};
  });
}
VISIBLE int cuEventSynchronize(Event event) {
  return fake().call("cuEventSynchronize", [&] {
    fake().sim->synchronize(DeviceEvent{reinterpret_cast<std::uintptr_t>(event)});
  });
}

// ---- kernels

VISIBLE int cuModuleLoadData(Module* made, const void* image) {
  return fake().call("cuModuleLoadData", [&] {
    fake().device();
    if (std::strncmp(static_cast<const char*>(image), "image of ", 9) != 0) throw Result{200};
    static std::uintptr_t last = 0;
    *made = reinterpret_cast<Module>(++last);
    fake().modules.insert(*made);
  });
}
VISIBLE int cuModuleUnload(Module module) {
  return fake().give_back("cuModuleUnload", [&] {
    fake().device();
    fake().modules.erase(module);
  });
}
VISIBLE int cuModuleGetFunction(Kernel* kernel, Module, const char* name) {
  return fake().call("cuModuleGetFunction", [&] {
    for (const char* const known : kernels)
      if (std::strcmp(known, name) == 0)
        return void(*kernel = reinterpret_cast<Kernel>(const_cast<char*>(known)));
    throw Result{500};
  });
}
VISIBLE int cuLaunchKernel(Kernel kernel, unsigned blocks, unsigned, unsigned, unsigned threads,
                           unsigned, unsigned, unsigned, Stream stream, void** arguments, void**) {
  return fake().call("cuLaunchKernel", [&] {
    fake().check_context(stream);
    const std::string name = reinterpret_cast<const char*>(kernel);
    if (name == kernels[0])
      launch_moves(stream, *static_cast<Address*>(arguments[0]), blocks, threads);
    else
      launch_flags(stream, *static_cast<FlagList*>(arguments[0]), name == kernels[1]);
  });
}
