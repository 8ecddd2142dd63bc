// SPDX-License-Identifier: BSD-3-Clause
#include "channels/type_marks.hpp"

#include <atomic>

#include "channels/mpi_error.hpp"
#include "channels/type_envelope.hpp"

namespace tonari {
namespace {

std::atomic<std::uint64_t> freed = 0;

int count_freed(MPI_Datatype, int, void*, void*) {
  freed.fetch_add(1, std::memory_order_relaxed);
  return MPI_SUCCESS;
}

// The attribute goes with the type: not to duplicates, and not to whatever gets its handle once it
// is freed.
int mark_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_freed, &made, nullptr);
    return made;
  }();
  return key;
}

void* mark_of(MPI_Datatype type) {
  void* mark = nullptr;
  int found = 0;
  check_mpi(MPI_Type_get_attr(type, mark_key(), &mark, &found), "MPI_Type_get_attr");
  return found ? mark : nullptr;
}

bool predefined(MPI_Datatype type) { return envelope_of(type).combiner == MPI_COMBINER_NAMED; }

}  // namespace

bool NamedType::is(MPI_Datatype other) const {
  return other == type && (!mark || mark_of(other) == mark);
}

NamedType named_type(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL || predefined(type)) return {type, nullptr};
  void* mark = mark_of(type);
  if (!mark) {
    static std::atomic<std::uintptr_t> last = 0;
    mark = reinterpret_cast<void*>(++last);
    check_mpi(MPI_Type_set_attr(type, mark_key(), mark), "MPI_Type_set_attr");
  }
  return {type, mark};
}

std::uint64_t marked_types_freed() { return freed.load(std::memory_order_relaxed); }

}  // namespace tonari
