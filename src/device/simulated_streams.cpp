// SPDX-License-Identifier: BSD-3-Clause
#include "device/simulated_streams.hpp"

#include <algorithm>
#include <iterator>

namespace tonari {
namespace {

// A handle is the place of its stream, and how often the place was used.
constexpr std::uintptr_t places = most_simulated_streams;

// Streams of the same program run at very different speeds. One of weight 0 runs where nothing else
// can.
constexpr std::array<std::uint64_t, 4> weights{0, 1, 8, 64};
constexpr std::array<std::uint64_t, 4> eagerness{0, 1, 4, 32};

}  // namespace

// ---- handles

const SimulatedStreams::Stream& SimulatedStreams::at(DeviceStream stream) const {
  const Stream& found = streams_[stream.value % places];
  if (!found.open || found.uses != stream.value / places)
    fail(Errc::argument, "a stream that was ended, or that no device made");
  return found;
}
SimulatedStreams::Stream& SimulatedStreams::at(DeviceStream stream) {
  return const_cast<Stream&>(std::as_const(*this).at(stream));
}

DeviceStream SimulatedStreams::make(int device) {
  for (std::size_t place = 1; place < streams_.size(); ++place) {
    Stream& stream = streams_[place];
    if (stream.open || !stream.queue.empty()) continue;
    used_ = std::max(used_, place + 1);
    stream.device = device;
    stream.open = true;
    stream.clock.join(host_);
    stream.clock.tick(static_cast<int>(place));
    return {++stream.uses * places + place};
  }
  fail(Errc::memory, "a simulated device has at most ", places - 1, " streams at a time");
}

void SimulatedStreams::end(DeviceStream stream) {
  Stream& ended = at(stream);
  if (ended.capture) fail(Errc::active, "a stream that is captured cannot be ended");
  ended.open = false;
}

void SimulatedStreams::reset(std::uint64_t seed) {
  random_ = SimulatedRandom(seed);
  broken_.reset();
  for (std::size_t place = 1; place < used_; ++place) {
    Stream& stream = streams_[place];
    stream.queue.clear();
    stream.capture.reset();
    host_.join(stream.clock);
    stream.clock.tick(static_cast<int>(place));
  }
  host_waited_for(host_);
  draw();
}

void SimulatedStreams::draw() {
  eager_ = eagerness[random_.below(eagerness.size())];
  for (Stream& stream : streams_) stream.weight = weights[random_.below(weights.size())];
}

// ---- running

void SimulatedStreams::check() const {
  if (broken_) throw *broken_;
}

void SimulatedStreams::put(DeviceStream stream, WorkPointer work) {
  Stream& to = at(stream);
  if (to.capture) {
    to.capture->graph->nodes.push_back({std::move(work), to.ends});
    to.ends = {to.capture->graph->nodes.size() - 1};
    return;
  }
  to.queue.push_back({std::move(work), host_now_, put_++});
  run_some();
}

void SimulatedStreams::run_some(std::uint64_t at_least) {
  check();
  for (std::uint64_t left = at_least + random_.below(eager_ + 1); left > 0 && step(); --left) {
  }
}

bool SimulatedStreams::run_until(const std::function<bool()>& done) {
  check();
  while (!done())
    if (!step()) return false;
  return true;
}

bool SimulatedStreams::in_front(const Stream& stream) const {
  return !one_queue_ || std::none_of(streams_.begin(), streams_.end(), [&](const Stream& other) {
    return other.device == stream.device && !other.queue.empty() &&
           other.queue.front().number < stream.queue.front().number;
  });
}

// The place of a stream that can go on, or 0.
std::size_t SimulatedStreams::choose() {
  std::array<std::size_t, most_simulated_streams> can;
  std::size_t count = 0;
  std::uint64_t sum = 0;
  for (std::size_t place = 1; place < used_; ++place) {
    const Stream& stream = streams_[place];
    if (stream.queue.empty() || !stream.queue.front().work->ready() || !in_front(stream)) continue;
    can[count++] = place;
    sum += stream.weight;
  }
  if (count == 0) return 0;
  if (sum == 0) return can[random_.below(count)];
  std::uint64_t drawn = random_.below(sum);
  std::size_t i = 0;
  while (drawn >= streams_[can[i]].weight) drawn -= streams_[can[i++]].weight;
  return can[i];
}

bool SimulatedStreams::step() {
  const std::size_t place = choose();
  if (place == 0) return false;
  broken_ = error_of([&] { advance(place); });
  check();
  return true;
}

void SimulatedStreams::advance(std::size_t place) {
  Stream& stream = streams_[place];
  Entry& first = stream.queue.front();
  if (SharedClock behind = std::move(first.behind)) stream.clock.join(*behind);
  const int number = static_cast<int>(place);
  if (!first.work->advance({number, stream.clock, random_})) return;
  stream.queue.pop_front();
  stream.clock.tick(number);
}

void SimulatedStreams::host_waited_for(const SimulatedClock& clock) {
  host_.join(clock);
  host_now_ = std::make_shared<SimulatedClock>(host_);
}
void SimulatedStreams::host_waited_for(DeviceStream stream) {
  Stream& complete = at(stream);
  host_waited_for(complete.clock);
  complete.clock.tick(static_cast<int>(stream.value % places));  // what comes now is not
}

// ---- what is in use

namespace {

template <class Streams, class Uses>
bool any_work(const Streams& streams, Uses uses) {
  for (const auto& stream : streams)
    for (const auto& entry : stream.queue)
      if (uses(*entry.work)) return true;
  return false;
}

}  // namespace

bool SimulatedStreams::uses(const SimulatedRange& range) const {
  return any_work(streams_, [&](const SimulatedWork& work) { return work.uses(range); });
}
bool SimulatedStreams::uses_table(const void* table) const {
  return any_work(streams_, [&](const SimulatedWork& work) { return work.uses_table(table); });
}

std::string SimulatedStreams::waits() const {
  std::string waits;
  for (std::size_t place = 1; place < used_; ++place)
    if (!streams_[place].queue.empty())
      waits += text(waits.empty() ? "" : ", ", "stream ", place, " waits for ",
                    streams_[place].queue.front().work->waits_for());
  return waits;
}

// ---- captures

bool SimulatedStreams::any_capture() const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [](const Stream& stream) { return !!stream.capture; });
}

void SimulatedStreams::break_captures(const std::string& by) {
  for (Stream& stream : streams_)
    if (stream.capture) stream.capture->broken = by;
}

void SimulatedStreams::begin_capture(DeviceStream stream) {
  Stream& origin = at(stream);
  if (origin.capture) fail(Errc::active, "the stream is captured already");
  origin.capture = std::make_shared<SimulatedCapture>();
  origin.capture->origin = stream;
  origin.capture->graph->device = origin.device;
  origin.ends.clear();
}

void SimulatedStreams::join_capture(DeviceStream stream,
                                    const std::shared_ptr<SimulatedCapture>& capture,
                                    const CaptureEnds& ends) {
  Stream& joined = at(stream);
  if (capture->ended)
    fail(Errc::active, "an event of a capture that has ended means nothing outside of its graph");
  if (joined.capture && joined.capture != capture) {
    joined.capture->broken = capture->broken = "a wait for an event of another capture";
    fail(Errc::active, "a captured stream cannot wait for an event of another capture");
  }
  if (!joined.capture) joined.ends.clear();
  joined.capture = capture;
  for (const std::size_t end : ends)
    if (std::count(joined.ends.begin(), joined.ends.end(), end) == 0) joined.ends.push_back(end);
}

// Whether all that the other streams hold of the capture comes before `ends`.
bool SimulatedStreams::all_joined(const SimulatedCapture& capture, const CaptureEnds& ends) const {
  std::vector<char> before(capture.graph->nodes.size(), false);
  CaptureEnds next = ends;
  while (!next.empty()) {
    const std::size_t node = next.back();
    next.pop_back();
    if (std::exchange(before[node], true)) continue;
    const CaptureEnds& after = capture.graph->nodes[node].after;
    next.insert(next.end(), after.begin(), after.end());
  }
  return std::all_of(before.begin(), before.end(), [](char reached) { return reached; });
}

std::shared_ptr<const SimulatedGraph> SimulatedStreams::end_capture(DeviceStream stream) {
  const std::shared_ptr<SimulatedCapture> capture = at(stream).capture;
  if (!capture) fail(Errc::active, "the stream is not captured");
  if (capture->origin != stream)
    fail(Errc::active, "a capture ends at the stream at which it began");
  capture->ended = true;
  const bool joined = all_joined(*capture, at(stream).ends);
  for (Stream& one : streams_)
    if (one.capture == capture) one.capture.reset();
  if (!capture->broken.empty()) fail(Errc::active, "the capture was broken by ", capture->broken);
  if (!joined)
    fail(Errc::active,
         "the capture ends while work that another stream captured does not come before its end; "
         "record an event there, and wait for it in the first stream");
  return capture->graph;
}

}  // namespace tonari
