// SPDX-License-Identifier: BSD-3-Clause
// Objects that there is one of in a process.
#pragma once

namespace tonari {

// Made at the first use, and never destroyed: MPI_Finalize, other threads and what the MPI calls
// back may come after the destructors of static objects.
template <class Object>
Object& lasting() {
  static Object* const made = new Object;
  return *made;
}

}  // namespace tonari
