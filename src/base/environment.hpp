// SPDX-License-Identifier: BSD-3-Clause
// The variables of the environment that rows of the table name, found by one look at the
// environment instead of one for each row.
#pragma once

#include <array>

#include "base/setting_table.hpp"

namespace tonari {

// As they are when it is made; it holds until the environment changes.
class Variables {
 public:
  // Those that such calls read.
  explicit Variables(Where calls);

  // Whether there is one that is read into a member.
  bool any() const { return any_; }
  // Null if it is not set, or empty.
  const char* value(const Setting& row) const {
    return values_[static_cast<std::size_t>(&row - setting_table.data())];
  }

 private:
  std::array<const char*, setting_table.size()> values_{};
  bool any_ = false;
};

}  // namespace tonari
