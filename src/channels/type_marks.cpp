// SPDX-License-Identifier: BSD-3-Clause
#include "channels/type_marks.hpp"

#include <atomic>
#include <mutex>

#include "channels/mpi_error.hpp"
#include "channels/type_envelope.hpp"
#include "channels/world.hpp"

namespace tonari {
namespace {

std::atomic<std::uint64_t> freed = 0;

// Where sessions run without a world, the end of one may be the end of all keys: there the key goes
// with the last mark, and is made again.
struct Marks {
  std::mutex mutex;
  int key = MPI_KEYVAL_INVALID;
  std::size_t alive = 0;
};
Marks& marks() {
  static Marks* const all = new Marks;
  return *all;
}

int count_freed(MPI_Datatype, int, void*, void*) {
  freed.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(marks().mutex);
  if (--marks().alive == 0 && !world_runs()) MPI_Type_free_keyval(&marks().key);
  return MPI_SUCCESS;
}

// The attribute goes with the type: not to duplicates, and not to whatever gets its handle once it
// is freed.
int mark_key() {
  const std::lock_guard lock(marks().mutex);
  if (marks().key == MPI_KEYVAL_INVALID)
    check_mpi(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_freed, &marks().key, nullptr),
              "MPI_Type_create_keyval");
  return marks().key;
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
    const std::lock_guard lock(marks().mutex);
    ++marks().alive;
  }
  return {type, mark};
}

std::uint64_t marked_types_freed() { return freed.load(std::memory_order_relaxed); }

}  // namespace tonari
