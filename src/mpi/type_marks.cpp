// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/type_marks.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/lasting.hpp"
#include "mpi/mpi_error.hpp"
#include "mpi/type_envelope.hpp"
#include "mpi/world.hpp"

namespace tonari {
namespace {

std::atomic<std::uint64_t> freed = 0;

// Where sessions run without a world, the end of one may be the end of all keys: there the key goes
// with the last mark, and is made again.
struct Marks {
  std::mutex mutex;
  int key = MPI_KEYVAL_INVALID;
  std::size_t users = 0;  // marks that are alive, and calls that need the key
};
Marks& marks() { return lasting<Marks>(); }

void leave_key() {
  const std::lock_guard lock(marks().mutex);
  if (--marks().users == 0 && !world_runs()) MPI_Type_free_keyval(&marks().key);
}

int count_freed(MPI_Datatype, int, void*, void*) {
  freed.fetch_add(1, std::memory_order_relaxed);
  leave_key();
  return MPI_SUCCESS;
}

// The attribute goes with the type: not to duplicates, and not to whatever gets its handle once it
// is freed.
int join_key() {
  const std::lock_guard lock(marks().mutex);
  if (marks().key == MPI_KEYVAL_INVALID)
    check_mpi(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_freed, &marks().key, nullptr),
              "MPI_Type_create_keyval");
  ++marks().users;
  return marks().key;
}

// While it lives, the key is there, whatever other threads free.
class UsedKey {
 public:
  UsedKey() : key_(join_key()) {}
  ~UsedKey() {
    if (!kept_) leave_key();
  }
  UsedKey(const UsedKey&) = delete;
  UsedKey& operator=(const UsedKey&) = delete;

  void* mark_of(MPI_Datatype type) const {
    void* mark = nullptr;
    int found = 0;
    check_mpi(MPI_Type_get_attr(type, key_, &mark, &found), "MPI_Type_get_attr");
    return found ? mark : nullptr;
  }
  void mark(MPI_Datatype type, void* mark) {
    check_mpi(MPI_Type_set_attr(type, key_, mark), "MPI_Type_set_attr");
    kept_ = true;  // until the type is freed
  }

 private:
  int key_;
  bool kept_ = false;
};

bool predefined(MPI_Datatype type) { return envelope_of(type).combiner == MPI_COMBINER_NAMED; }

}  // namespace

bool NamedType::is(MPI_Datatype other) const {
  return other == type && (!mark || UsedKey().mark_of(other) == mark);
}

NamedType named_type(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL || predefined(type)) return {type, nullptr};
  UsedKey key;
  void* mark = key.mark_of(type);
  if (!mark) {
    static std::atomic<std::uintptr_t> last = 0;
    mark = reinterpret_cast<void*>(++last);
    key.mark(type, mark);
  }
  return {type, mark};
}

std::uint64_t marked_types_freed() { return freed.load(std::memory_order_relaxed); }

void MarkedTypes::add(MPI_Datatype type) {
  if (std::ranges::find(all_, type, &NamedType::type) != all_.end()) return;
  if (all_.empty()) freed_ = marked_types_freed();
  if (const NamedType named = named_type(type); named.mark) all_.push_back(named);
}

bool MarkedTypes::still_marked() const {
  const std::uint64_t now = marked_types_freed();
  if (now != freed_)
    if (!std::ranges::all_of(all_, [](const NamedType& known) { return known.is(known.type); }))
      return false;
  freed_ = now;
  return true;
}

}  // namespace tonari
