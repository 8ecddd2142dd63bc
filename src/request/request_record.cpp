// SPDX-License-Identifier: BSD-3-Clause
#include "request/request_record.hpp"

#include "engine/comm/call_record.hpp"
#include "engine/comm/recorded_exchange.hpp"
#include "request/prepared.hpp"

namespace tonari {
namespace {

// By a contest, else by the model.
NativeTimes native_times(const ChoiceReport& chosen) {
  const AgainstNative& times = chosen.times;
  if (times.seconds > 0 && times.native > 0)
    return {times.seconds, times.native, 1,
            chosen.reason == "wisdom" ? NativeSource::remembered : NativeSource::measured};
  if (chosen.predicted > 0 && chosen.predicted_native > 0)
    return {chosen.predicted, chosen.predicted_native, 1, NativeSource::modeled};
  return {};
}

std::string in_one_line(const std::string& lines) {
  std::string line;
  for (const char c : lines) c == '\n' ? line += "; " : line += c;
  return line;
}

}  // namespace

ReportRow RequestRecord::row() {
  if (prepared_.chosen.undecided) prepared_.describe_now();
  const ChoiceReport& chosen = prepared_.chosen;
  const auto& [operation, label, record, done, staged, no_faster] = prepared_.recording;
  ReportRow row;
  row.one_shot = by_ == CalledBy::one_shot;
  row.ranks = prepared_.context->ranks();
  row.operation = operation, row.what = label.empty() ? operation : label;
  row.algorithm = chosen.algorithm, row.variant = chosen.variant;
  row.channel = chosen.channel_detail.empty() ? chosen.channel
                                              : text(chosen.channel, " ", chosen.channel_detail);
  if (staged) row.channel = text(row.channel.view(), ", staged");
  row.no_faster = in_one_line(no_faster);
  row.reason = chosen.undecided ? text(chosen.reason, ", undecided") : chosen.reason;
  row.requests = by_ == CalledBy::request;
  add_usage(usage_, row);
  row.init = prepared_.init(), row.lost = chosen.lost;
  row.times = native_times(chosen);
  return row;
}

void record_use(Prepared& prepared, CalledBy by) noexcept {
  if (!prepared.context->shared().records() || prepared.recording.done || prepared.running())
    return;
  (void)error_of([&] {
    auto record = std::make_unique<RequestRecord>(prepared, by);
    auto exchange = std::make_unique<RecordedExchange>(&record->usage());
    exchange->wrap(std::move(prepared.exchange));
    prepared.exchange = std::move(exchange);
    prepared.recording.record = std::move(record);
    prepared.recording.done = true;
  });
}

}  // namespace tonari
