// SPDX-License-Identifier: BSD-3-Clause
// The table of all settings, and what follows from it.
#pragma once

#include <array>
#include <span>

#include "base/setting.hpp"

namespace tonari {

// "each" is 0, "tree/4" is 4, "auto" is nothing.
bool read_ready(const std::string& word, std::optional<int>& ready);

// In the order in which they are documented.
inline constexpr auto setting_table = [] {
  using enum ValueKind;
  using namespace where;
  using enum Affects;
  using S = Settings;
  constexpr Where exchanges = neighborhoods | requests, planned = exchanges | grids | vectors;
  constexpr Where all_exchanges = planned | in_place;
  constexpr Member none;  // where it is needed, the environment is asked
  return std::to_array<Setting>({
      {"tonari_algorithm", "TONARI_ALGORITHM", word,
       "auto, native, irecv or an algorithm, perhaps with a variant (balanced/both ends)", "auto",
       planned, choices, into<&S::algorithm, &S::variant>, "how blocks travel", Errc::algorithm},
      {"tonari_schedule", "", word, "the name of a file", "", neighborhoods, all_ranks,
       into<&S::schedule>,
       "a file from `tonari share --schedule`: all exchanges follow it, each rank its own part",
       Errc::file},
      {"tonari_channel", "TONARI_CHANNEL", one_of,
       "auto, p2p-packed, p2p-typed, shared, onesided, shared+onesided, device-handles", "auto",
       all_exchanges, choices, into<&S::channel>, "what moves the bytes of a message"},
      {"tonari_tune", "TONARI_TUNE", one_of, "auto, online, off, model, measure", "online",
       all_exchanges, all_ranks, into<&S::tune>,
       "how to choose: online lets the first starts of a request try what is promising, auto "
       "measures a pattern once at init, and both remember; off is a fixed rule, model asks the "
       "cost model, measure measures again and longer. Where starts cannot try, online is auto"},
      {"", "TONARI_TUNE_SECONDS", seconds, "a positive number of seconds", "0.4, for measure 2",
       all_exchanges, rank, into<&S::tune_seconds>,
       "time that one init may spend on measuring; rank 0's counts"},
      {"tonari_ports", "TONARI_PORTS", count, "a number of messages, 0 for no limit", "0", planned,
       choices, into<&S::ports>,
       "messages of a rank that are on their way at a time, in each direction"},
      {"tonari_progress", "TONARI_PROGRESS", one_of, "calls, thread", "calls", all_exchanges,
       all_ranks, into<&S::progress_thread>,
       "where exchanges proceed: in test and wait, or by a thread, which needs "
       "MPI_THREAD_MULTIPLE"},
      {"tonari_recv_view", "", one_of, "no, yes", "no", exchanges, choices, into<&S::recv_view>,
       "whether blocks may stay where they arrive (tonari_request_recv_view)"},
      {"tonari_start_with", "", one_of, "no, yes", "no", blocks, all_ranks, into<&S::start_with>,
       "whether tonari_blocks_start_with may bring other arrays, which makes exchanges slower"},
      {"tonari_ready", "TONARI_READY", word,
       "auto, each or tree/N with N words from 2 to 64, as in tree/4", "auto", exchanges | vectors,
       choices, parsed_into<read_ready, &S::ready>,
       "how a sender learns that it may write to windows: each receiver tells it, or they tell it "
       "together by a tree in which a rank hears from N others"},
      {"tonari_canary", "TONARI_CANARY", size, "a number of bytes, such as 0, 64 or 1KiB",
       "512 in shared memory, 256 in windows", exchanges | vectors, choices, into<&S::canary>,
       "up to how many bytes a message tells by its own bytes that it is complete; of longer ones "
       "a word of their own tells it"},
      {"tonari_timeout", "TONARI_TIMEOUT", seconds, "a positive number of seconds", "10",
       all_exchanges | sparse, rank, into<&S::timeout>,
       "after which a rank that waits looks whether the others of its node still live"},
      {"tonari_connect_after", "TONARI_CONNECT_AFTER", count, "a number of calls", "8",
       neighborhoods, all_ranks, into<&S::connect_after>,
       "one-shot calls on a neighborhood that go by plain messages, before ranks connect through "
       "shared memory or combine between nodes: few calls cost less than connecting"},
      {"", "TONARI_HANG_REPORT", count, "a number of seconds, 0 for no report", "60", all_exchanges,
       rank, none,
       "after which a rank that waits without progress says on standard error what it waits for, "
       "and what those ranks do"},
      {"cdag_strict_communication", "", promise, "true or false", "false", neighborhoods, choices,
       into<&S::strict_communication>, "promise: ranks send to their neighbors only"},
      {"cdag_exact_byte_communications", "", promise, "true or false", "false", neighborhoods,
       all_ranks, into<&S::exact_byte_communications>,
       "promise: weights are the bytes of every edge"},
      {"cdag_static_buffers", "", promise, "true or false", "false", neighborhoods, all_ranks,
       into<&S::static_buffers>, "promise: an operation is always called with the same arguments"},
      {"tonari_algorithm", "TONARI_INPLACE_ALGORITHM", one_of,
       "auto, mpich-order, linear-shift, hierarchical-sets", "auto", in_place, all_ranks,
       into<&S::inplace_algorithm>, "in which order ranks swap blocks", Errc::algorithm},
      {"tonari_inplace_memory", "TONARI_INPLACE_MEMORY", size,
       "a number of bytes, such as 1048576, 64K or 1MiB", "1048576", in_place, rank,
       into<&S::inplace_memory>, "bytes that a rank may use for blocks on their way"},
      {"tonari_halo", "TONARI_HALO", word,
       "auto or, by storage, pack, datatypes, shift, plan, basic, layout, memmap, zero-byte",
       "auto", grids, all_ranks, into<&S::halo>,
       "how grids exchange their ghosts; which ways there are depends on the storage",
       Errc::algorithm},
      {"tonari_halo_neighbors", "TONARI_HALO_NEIGHBORS", one_of, "all, faces", "all", grids,
       all_ranks, into<&S::halo_faces>, "faces: ghosts along one dimension only"},
      {"tonari_route", "TONARI_ROUTE", word,
       "direct, node, auto, store-and-forward/N with N dimensions, as in store-and-forward/2, or "
       "balanced or message-sharing, perhaps with a variant (balanced/3 stages)",
       "direct", vectors, all_ranks, into<&S::route>,
       "which way values take to those who need them"},
      {"tonari_algorithm", "TONARI_SPARSE_ALGORITHM", word,
       "auto, pairwise, nbx, personalized or store-and-forward/N with N dimensions, as in "
       "store-and-forward/2",
       "auto", sparse, all_ranks, into<&S::sparse_algorithm>,
       "how messages find receivers that do not expect them", Errc::algorithm},
      {"", "TONARI_NODES", word, "the sizes of nodes, such as 4 or 1,3,4", "as the system tells",
       neighborhoods | grids | vectors | in_place, all_ranks, none,
       "pretend the ranks are on several nodes, for tests: 4 means nodes of four consecutive "
       "ranks; 1,3,4 means the first nodes, and one with the rest"},
      {"", "TONARI_SHM_DIR", word, "a directory in memory (tmpfs)", "", memory, rank, none,
       "where shared memory lies, which otherwise has no name"},
      {"", "TONARI_CACHE_DIR", word, "a directory", "$XDG_CACHE_HOME/tonari, else ~/.cache/tonari",
       measuring, rank, none, "where measurements are remembered"},
      {"", "TONARI_MACHINE", word, "the name of a machine file", "", measuring, rank, none,
       "what messages cost on this machine, from `tonari calibrate`, so that no job measures it; "
       "rank 0's counts"},
      {"", "TONARI_REPORT", word, "0, 1 or the name of a file", "0", finalize, rank, none,
       "a table of all exchanges at MPI_Finalize: 1 prints it to standard error; a file that ends "
       "in .json gets it as JSON. On all ranks, or there is none"},
      {"", "TONARI_PRELOAD", one_of, "auto, tonari, native", "auto", where::preload, rank, none,
       "which way calls of unmodified programs go: auto tries both; native wins if ranks differ"},
      {"", "TONARI_REPAIR", one_of, "0, 1", "0", where::preload, rank, none,
       "1: where the MPI delivers wrong blocks, calls of unmodified programs always go through "
       "tonari. On all ranks, or it is 0"},
      {"", "TONARI_RUN_REPORT", word, "the name of a folder", "", where::preload, rank, none,
       "where processes write what each place has called, which `tonari run` reads"},
      {"", "TONARI_RUN_LOADED", word, "the name of a file", "", where::preload, rank, none,
       "which processes make when they initialize MPI: `tonari run` sees that they have the "
       "library"},
      {"", "TONARI_ADVISE_REPORT", word, "the name of a folder", "", advise, rank, none,
       "where processes write which messages they sent, which `tonari advise` reads"},
  });
}();

inline std::span<const Setting> all_settings() { return setting_table; }

// The row of a variable, or of a key that has none. Does not compile if there is none.
consteval const Setting& setting(std::string_view name) {
  const auto found = std::ranges::find_if(setting_table, [&](const Setting& row) {
    return name == (*row.variable ? row.variable : row.key);
  });
  return found == setting_table.end() ? throw "the table has no such row" : *found;
}

// Of all that must be the same on all ranks. only: of what no other calls read.
std::uint64_t fingerprint(const Settings& settings, Where only = where::everywhere);

// What a remembered choice depends on, where it is not the default: "|tonari_ports 2".
std::string choice_key(const Settings& settings);

// Says what is wrong with a key that begins with `tonari_`; nothing if it exists.
std::optional<std::string> unknown_key(const std::string& key);
// The same for a variable that looks like a misspelled one of ours. Others (TONARI_ROOT, say)
// belong to other libraries.
std::optional<std::string> unknown_variable(const std::string& variable);
// The sentences about all such variables of this process.
std::vector<std::string> unknown_variables();

}  // namespace tonari
