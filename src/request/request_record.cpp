// SPDX-License-Identifier: BSD-3-Clause
#include "request/request_record.hpp"

#include "engine/comm/call_record.hpp"
#include "engine/comm/recorded_exchange.hpp"
#include "request/prepared.hpp"

namespace tonari {
namespace {

// By a contest, else by the model.
NativeTimes native_times(const Prepared& prepared) {
  const AgainstNative& times = prepared.times;
  if (times.seconds > 0 && times.native > 0)
    return {times.seconds, times.native, 1,
            prepared.reason == "wisdom" ? NativeSource::remembered : NativeSource::measured};
  if (prepared.predicted > 0 && prepared.predicted_native > 0)
    return {prepared.predicted, prepared.predicted_native, 1, NativeSource::modeled};
  return {};
}

}  // namespace

ReportRow RequestRecord::row() {
  Prepared& p = prepared_;
  if (p.undecided) p.describe_now();
  ReportRow row;
  row.one_shot = by_ == CalledBy::one_shot;
  row.ranks = p.context->ranks();
  row.operation = p.operation, row.what = p.label.empty() ? p.operation : p.label;
  row.algorithm = p.algorithm, row.variant = p.variant;
  row.channel = p.channel_detail.empty() ? p.channel : text(p.channel, " ", p.channel_detail);
  row.reason = p.undecided ? text(p.reason, ", undecided") : p.reason;
  row.requests = by_ == CalledBy::request;
  add_usage(usage_, row);
  row.init = p.init, row.lost = p.lost;
  row.times = native_times(p);
  return row;
}

void record_use(Prepared& prepared, CalledBy by) noexcept {
  if (!prepared.context->shared().records() || prepared.recorded || prepared.running) return;
  (void)error_of([&] {
    auto record = std::make_unique<RequestRecord>(prepared, by);
    auto exchange = std::make_unique<RecordedExchange>(&record->usage());
    exchange->wrap(std::move(prepared.exchange));
    prepared.exchange = std::move(exchange);
    prepared.record = std::move(record);
    prepared.recorded = true;
  });
}

}  // namespace tonari
