// SPDX-License-Identifier: BSD-3-Clause
#include "channels/arguments.hpp"

#include <map>

#include "mpi/datatype.hpp"

namespace tonari {
namespace {

// Blocks of one type and count share their layout.
class Binder {
 public:
  explicit Binder(Binding& binding) : binding_(binding) {}

  Block block(const void* buffer, const TypedBlock& typed) {
    Shape& shape = shapes_.try_emplace({typed.type, typed.count}).first->second;
    if (!shape.known) shape = read(typed);
    // Adds integers, because the buffer may be MPI_BOTTOM.
    const auto address = reinterpret_cast<std::uintptr_t>(buffer) +
                         static_cast<std::uintptr_t>(typed.displacement) +
                         static_cast<std::uintptr_t>(shape.first);
    return {reinterpret_cast<std::byte*>(address), shape.layout, shape.bytes, typed.space};
  }

 private:
  struct Shape {
    bool known = false;
    std::ptrdiff_t first = 0;  // of a contiguous block
    const Layout* layout = nullptr;
    Bytes bytes = 0;
  };

  Shape read(const TypedBlock& typed) {
    auto layout = std::make_shared<const Layout>(flatten(typed.count, typed.type));
    if (layout->contiguous())
      return {true, layout->runs().empty() ? 0 : layout->runs()[0].offset, nullptr,
              layout->bytes()};
    binding_.layouts.push_back(layout);
    return {true, 0, layout.get(), layout->bytes()};
  }

  Binding& binding_;
  std::map<std::pair<MPI_Datatype, MPI_Count>, Shape> shapes_;
};

}  // namespace

void Arguments::bind() {
  binding.send.clear(), binding.recv.clear(), binding.layouts.clear();
  binding.send.reserve(send.size());
  binding.recv.reserve(recv.size());
  Binder binder(binding);
  for (const TypedBlock& typed : send) binding.send.push_back(binder.block(sendbuf, typed));
  for (const TypedBlock& typed : recv) binding.recv.push_back(binder.block(recvbuf, typed));
}

void check_place(const void* buffer, MPI_Aint displacement,
                 std::pair<std::ptrdiff_t, std::ptrdiff_t> span) {
  const auto base = checked_add<std::ptrdiff_t>(reinterpret_cast<std::ptrdiff_t>(buffer),
                                                displacement, "address of a block");
  checked_add(base, span.first, "address of the first byte of a block");
  checked_add(base, span.second, "address of the last byte of a block");
}

AddressSpan span_of(const Block& block) {
  const auto address = reinterpret_cast<std::uintptr_t>(block.address);
  if (!block.layout) return {address, address + block.bytes};
  const auto [first, last] = block.layout->span();
  return {address + static_cast<std::uintptr_t>(first),
          address + static_cast<std::uintptr_t>(last)};
}

}  // namespace tonari
