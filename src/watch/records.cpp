// SPDX-License-Identifier: BSD-3-Clause
#include "watch/records.hpp"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string_view>

#include "base/classic.hpp"
#include "base/setting_table.hpp"
#include "preload/place.hpp"

namespace tonari::watch {
namespace {

using preload::escaped;
using preload::Place;
using preload::place_of;

constexpr std::uint64_t fewest_epochs = 3;

struct Close {
  void operator()(std::FILE* file) const { (void)std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

// Fowler, Noll and Vo: the same in all processes.
std::uint64_t hash(std::string_view text) {
  std::uint64_t word = 0xCBF29CE484222325U;
  for (const char c : text) word = (word ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return word;
}

std::string name_of(const Place& place) { return place.file.substr(place.file.rfind('/') + 1); }

std::uint64_t key_of(const Loop& loop, std::size_t thread, std::size_t number) {
  const Place place = place_of(loop.site);
  std::string all = name_of(place);
  for (const std::uint64_t word : {std::uint64_t{place.offset}, std::uint64_t(loop.ranks),
                                   std::uint64_t{thread}, std::uint64_t{number}})
    all += ' ' + std::to_string(word);
  return hash(all);
}

bool is_collective(const Pattern& pattern) {
  return !pattern.messages.empty() &&
         std::string_view(pattern.messages.front().call).starts_with("MPI_Alltoall");
}

double median_us(const std::array<float, kept_times>& ring, std::uint64_t count) {
  std::vector<float> times(ring.begin(),
                           ring.begin() + static_cast<std::ptrdiff_t>(std::min(count, kept_times)));
  if (times.empty()) return 0.0;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return static_cast<double>(*middle) * seconds_per_tick() * 1e6;
}

double in_seconds(Ticks passed) { return static_cast<double>(passed) * seconds_per_tick(); }

// ---- lines

// JSON has points, whatever locale the program has set: with_decimals, not %f.

void write_place(std::FILE* file, const char* call, const void* site) {
  const Place place = place_of(site);
  std::fprintf(file, "\"call\": \"%s\", \"file\": \"%s\", \"offset\": %" PRIuPTR, call,
               escaped(place.file).c_str(), place.offset);
}

// Places once, and of each message the number of its place.
void write_messages(std::FILE* file, const std::vector<Message>& messages) {
  std::vector<const void*> sites;
  std::fprintf(file, "\"places\": [");
  for (const Message& one : messages) {
    if (std::ranges::find(sites, one.site) != sites.end()) continue;
    std::fprintf(file, sites.empty() ? "{" : ", {");
    write_place(file, one.call, one.site);
    std::fprintf(file, "}");
    sites.push_back(one.site);
  }
  std::fprintf(file, "], \"messages\": [");
  const char* between = "";
  for (const Message& one : messages) {
    std::fprintf(file, "%s[%d, %d, %d, %" PRIu64 "]", between,
                 static_cast<int>(std::ranges::find(sites, one.site) - sites.begin()),
                 one.sent ? 1 : 0, one.peer, one.bytes);
    between = ", ";
  }
  std::fprintf(file, "]");
}

void write_callers(std::FILE* file, const Callers& callers) {
  std::fprintf(file, "\"callers\": [");
  const char* between = "";
  for (const void* const one : callers) {
    const Place place = place_of(one);
    if (!one || name_of(place).starts_with("libc.so")) break;
    std::fprintf(file, "%s[\"%s\", %" PRIuPTR "]", between, escaped(place.file).c_str(),
                 place.offset);
    between = ", ";
  }
  std::fprintf(file, "], ");
}

// The least and the most that a message of the kept exchanges had.
void write_sizes(std::FILE* file, const ChangingSizes& sizes) {
  std::vector<std::uint64_t> sent;
  for (const std::vector<Message>& messages : sizes.kept)
    for (const Message& one : messages)
      if (one.sent) sent.push_back(one.bytes);
  if (sent.empty()) return;
  const auto [least, most] = std::ranges::minmax(sent);
  std::fprintf(file, "\"sizes\": [%" PRIu64 ", %" PRIu64 "], ", least, most);
}

void write_replay(std::FILE* file, const Replay& replay) {
  const auto us = [](double seconds) { return with_decimals(seconds * 1e6, 3); };
  std::fprintf(file, ", \"mpi_us\": %s, \"tonari_us\": %s, \"making_us\": %s, \"busy\": %s",
               us(replay.all.mpi).c_str(), us(replay.all.tonari).c_str(), us(replay.making).c_str(),
               with_decimals(replay.busy, 3).c_str());
  std::fprintf(file, ", \"has_room\": %s", replay.has_room ? "true" : "false");
  std::fprintf(file, ", \"halves\": [[%s, %s], [%s, %s]]", us(replay.first.mpi).c_str(),
               us(replay.first.tonari).c_str(), us(replay.second.mpi).c_str(),
               us(replay.second.tonari).c_str());
  std::fprintf(file, ", \"how\": \"%s\", \"why\": \"%s\"", escaped(replay.how).c_str(),
               escaped(replay.why).c_str());
}

void write_pattern(std::FILE* file, const Pattern& pattern, const std::vector<Candidate>& all) {
  std::fprintf(file,
               "{\"epochs\": %" PRIu64
               ", \"seconds\": %s, \"exchange_us\": %s, "
               "\"step_us\": %s, \"varies\": %s, \"stretches\": %" PRIu64 ", ",
               pattern.epochs, with_decimals(in_seconds(pattern.inside), 9).c_str(),
               with_decimals(median_us(pattern.exchange, pattern.timed), 3).c_str(),
               with_decimals(median_us(pattern.step, pattern.timed), 3).c_str(),
               pattern.varies ? "true" : "false", pattern.stretches);
  write_callers(file, pattern.callers);
  write_sizes(file, pattern.sizes);
  write_messages(file, pattern.messages);
  const auto found = std::ranges::find(all, &pattern, &Candidate::pattern);
  if (found != all.end()) {
    std::fprintf(file, ", \"key\": \"%016" PRIx64 "\"", found->key);
    write_replay(file, found->replay);
  }
  std::fprintf(file, "}");
}

void write_loop(std::FILE* file, const Loop& loop, std::size_t thread,
                const std::vector<Candidate>& all) {
  std::fprintf(file, "{\"record\": \"loop\", \"key\": \"%016" PRIx64 "\", ",
               key_of(loop, thread, 0));
  write_place(file, loop.call, loop.site);
  std::fprintf(file,
               ", \"ranks\": %d, \"epochs\": %" PRIu64 ", \"others\": %" PRIu64
               ", \"distinct\": %" PRIu64 ", \"seconds\": %s, \"patterns\": [",
               loop.ranks, loop.epochs, loop.others, loop.distinct,
               with_decimals(in_seconds(loop.inside), 9).c_str());
  const char* between = "";
  for (const auto& pattern : loop.patterns) {
    std::fprintf(file, "%s", between);
    write_pattern(file, *pattern, all);
    between = ", ";
  }
  std::fprintf(file, "]");
  if (loop.together && loop.parts > 1) {
    std::fprintf(file, ", \"parts\": %zu, \"together\": ", loop.parts);
    write_pattern(file, *loop.together, all);
  }
  std::fprintf(file, "}\n");
}

const char* kind_of(const CountedCall& one) {
  return std::string_view(one.call).find("eighbor") == std::string_view::npos ? "packing"
                                                                              : "neighborhood";
}

void write_counted(std::FILE* file, const CountedCall& one) {
  std::fprintf(file, "{\"record\": \"%s\", ", kind_of(one));
  write_place(file, one.call, one.site);
  std::fprintf(file, ", \"calls\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"seconds\": %s}\n",
               one.calls, one.bytes, with_decimals(in_seconds(one.inside), 9).c_str());
}

void write_rank(std::FILE* file, const Ending& ending, std::uint64_t not_kept) {
  std::fprintf(file,
               "{\"record\": \"rank\", \"rank\": %d, \"ranks\": %d, \"seconds\": %s, "
               "\"finalized\": %s, \"not_kept\": %" PRIu64 ", \"node_ranks\": %d, \"cores\": %d}\n",
               ending.rank, ending.ranks, with_decimals(ending.seconds, 9).c_str(),
               ending.finalized ? "true" : "false", not_kept, ending.node.ranks, ending.node.cores);
}

void add_candidates(const Loop& loop, std::size_t thread, std::vector<Candidate>& all) {
  std::vector<const Pattern*> often;
  for (const auto& pattern : loop.patterns)
    if (pattern->epochs >= fewest_epochs) often.push_back(pattern.get());
  std::ranges::sort(often, {}, &Pattern::first);
  for (std::size_t k = 0; k < often.size(); ++k)
    all.push_back({key_of(loop, thread, k + 1), in_seconds(often[k]->inside), often[k],
                   is_collective(*often[k]), 0, Replay{}});
  if (!loop.together || loop.together->epochs < fewest_epochs) return;
  all.push_back({key_of(loop, thread, most_patterns + 1), in_seconds(loop.together->inside),
                 loop.together.get(), false, loop.parts, Replay{}});
}

}  // namespace

std::vector<Candidate> candidates() {
  std::vector<Candidate> all;
  const std::vector<Watcher*> threads = all_watchers();
  for (std::size_t thread = 0; thread < threads.size(); ++thread)
    for (const auto& loop : threads[thread]->loops()) add_candidates(*loop, thread, all);
  return all;
}

void write_records(const Ending& ending, const std::vector<Watcher*>& threads,
                   const std::vector<Candidate>& replayed) {
  const File file(std::fopen(preload::file_of_this_process(folder()).c_str(), "w"));
  if (!file) return preload::say_not_written(setting("TONARI_ADVISE_REPORT"), folder());
  std::uint64_t not_kept = 0;
  for (const Watcher* thread : threads) not_kept += thread->not_kept();
  write_rank(file.get(), ending, not_kept);
  for (std::size_t k = 0; k < threads.size(); ++k) {
    for (const auto& loop : threads[k]->loops()) write_loop(file.get(), *loop, k, replayed);
    for (const CountedCall& one : threads[k]->counted_calls()) write_counted(file.get(), one);
  }
}

}  // namespace tonari::watch
