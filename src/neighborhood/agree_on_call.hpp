// SPDX-License-Identifier: BSD-3-Clause
// Ranks read a call that makes a request, and agree on it before they make anything.
#pragma once

#include <functional>

#include "neighborhood/handles.hpp"
#include "neighborhood/read_call.hpp"
#include "neighborhood/staging.hpp"
#include "request/agree_on_arguments.hpp"

namespace tonari {

// part: of a persistent request that reports on it (Prepared::tell_of), and which no thread drives.
// Its starts may choose.
enum class Use { persistent, part, one_shot };
// Of what a request with this use consists of.
inline Use use_of_part(Use use, bool by_thread) {
  return use == Use::persistent && !by_thread ? Use::part : use;
}

// Where the caller reads receive blocks. where_they_arrive: it asks for their views
// (Exchange::view), so that a channel that can leaves them there.
enum class ReadsBlocks { in_buffer, where_they_arrive };

// What this rank has read of a call, and how its request is to be made.
struct LocalArguments : ReadCall {
  Settings settings;
  RequestCache::Votes matches{};
  bool is_part = false;  // of a request that the program gets
  // Null: the host reads all blocks. Pinned already only for one-shot calls.
  std::unique_ptr<Staging> staging;
  ReadsBlocks reads = ReadsBlocks::in_buffer;

  // The blocks as the program has them, not as they are exchanged.
  Binding& given() { return staging && staging->pinned() ? staging->given : arguments.binding; }
};

// The results of what ranks agree on before they prepare anything.
struct Agreed {
  std::shared_ptr<Prepared> cached;  // to use again; null if there is none
  ComparedSizes sizes;
  bool contiguous = false;  // all blocks of all ranks, once those on devices are staged
  bool on_devices = false;  // some blocks of some rank
};

// Collective. One agreement covers everything: errors, what the program calls, sizes, and what can
// be used again. A rank that has agreed needs no memory to use an entry again. Throws the same on
// all ranks. make: what each rank does before they agree; that may fail, too.
Agreed agree_on_call(
    const Call& call, Use use, Output output, LocalArguments& mine,
    const std::function<void()>& make = [] {});

}  // namespace tonari
