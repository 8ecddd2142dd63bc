// SPDX-License-Identifier: BSD-3-Clause
#include "engine/comm/call_record.hpp"

namespace tonari {

void add_usage(const Usage& usage, ReportRow& row) {
  row.starts = usage.starts(), row.timed = usage.timed(), row.seconds = usage.seconds();
  row.messages = usage.messages(), row.bytes = usage.bytes();
  row.all_messages = usage.all_messages(), row.all_bytes = usage.all_bytes();
}

}  // namespace tonari
