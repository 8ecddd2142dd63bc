// SPDX-License-Identifier: BSD-3-Clause
#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "report/order.hpp"
#include "report/print.hpp"

namespace tonari {
namespace {

std::string quoted(std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string all = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      all += {'\\', c};
    else if (code < 0x20)
      all += std::string("\\u00") + hex[code >> 4] + hex[code & 15];
    else
      all += c;
  }
  return all + '"';
}

// As many digits as it takes, with a point whatever the locale.
std::string number(double value) {
  if (!std::isfinite(value)) return "null";
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

class JsonObject {
 public:
  JsonObject& add(const char* field, std::string_view text) { return raw(field, quoted(text)); }
  JsonObject& add(const char* field, const char* text) { return raw(field, quoted(text)); }
  JsonObject& add(const char* field, bool value) { return raw(field, value ? "true" : "false"); }
  JsonObject& add(const char* field, double value) { return raw(field, number(value)); }
  JsonObject& add(const char* field, std::uint64_t value) {
    return raw(field, std::to_string(value));
  }
  JsonObject& none(const char* field) { return raw(field, "null"); }
  std::string done() const { return text_ + "}"; }

 private:
  JsonObject& raw(const char* field, const std::string& value) {
    text_ += text(text_.size() > 1 ? ", " : "", quoted(field), ": ", value);
    return *this;
  }
  std::string text_ = "{";
};

void add_break_even(JsonObject& object, const ReportRow& row) {
  const BreakEven even = row.break_even();
  if (even.when == BreakEven::When::after)
    object.add("break_even", even.starts);
  else
    object.none("break_even");
  if (even.when == BreakEven::When::unknown)
    object.none("break_even_reached");
  else
    object.add("break_even_reached", even.reached);
}

std::string object_of(const ReportRow& row) {
  JsonObject object;
  object.add("kind", row.one_shot ? "calls" : "requests")
      .add("operation", row.operation.view())
      .add("what", row.what.view())
      .add("folded", row.folded)
      .add("ranks", static_cast<std::uint64_t>(row.ranks))
      .add("processes", row.processes)
      .add("algorithm", row.algorithm.view())
      .add("variant", row.variant.view())
      .add("channel", row.channel.view())
      .add("reason", row.reason.view())
      .add("no_faster", row.no_faster.view());
  object.add("requests", row.requests)
      .add("starts", row.starts)
      .add("timed_starts", row.timed)
      .add("seconds", row.seconds)
      .add("seconds_per_start", row.seconds_per_start())
      .add("init_seconds", row.init)
      .add("lost_seconds", row.lost)
      .add("messages", row.messages)
      .add("bytes", row.bytes)
      .add("all_messages", row.all_messages)
      .add("all_bytes", row.all_bytes);
  if (row.ratio() > 0)
    object.add("native_ratio", row.ratio());
  else
    object.none("native_ratio");
  object.add("native_source", name(row.times.source));
  add_break_even(object, row);
  return object.done();
}

}  // namespace

std::string json_of(const ReportTable& table) {
  std::string all;
  for (const ReportRow& row : in_order(table)) all += (all.empty() ? "" : ",\n ") + object_of(row);
  return "[" + all + "]\n";
}

}  // namespace tonari
