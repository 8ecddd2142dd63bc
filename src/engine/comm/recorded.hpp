// SPDX-License-Identifier: BSD-3-Clause
// What the report tells about: this process lists it while it lives, and then adds its row to the
// process's table. So the table stays small, however many requests a program makes.
#pragma once

#include "report/table.hpp"

namespace tonari {

class Recorded {
 public:
  Recorded();
  virtual ~Recorded();  // fold has been called
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

  // Its numbers so far. Local.
  virtual ReportRow row() = 0;

 protected:
  // Derived classes call this when they are destroyed. Adds the row and takes it off the list.
  void fold() noexcept;
};

// The table of this process: what is gone, and what lives.
ReportTable recorded_so_far();

// What is gone since the last call, or in all. What lives is told of when it is gone.
ReportTable take_what_is_gone();

}  // namespace tonari
