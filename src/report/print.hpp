// SPDX-License-Identifier: BSD-3-Clause
// The report as text, and as JSON. Pure.
#pragma once

#include <string>

#include "report/table.hpp"

namespace tonari {

// Lines for people, what took longest first, and what the columns mean. Each row has a line that
// says what it is about, one with what was chosen, and one with its numbers.
std::string text_of(const ReportTable& table);

// An array of flat objects, one a line, in the same order; docs/howto/read-describe.md names their
// fields.
std::string json_of(const ReportTable& table);

}  // namespace tonari
