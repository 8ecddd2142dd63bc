#include "api/bound_call.hpp"

#include <algorithm>
#include <atomic>

#include "api/handles.hpp"
#include "channels/mpi_error.hpp"
#include "engine/agree.hpp"

namespace tonari {
namespace {

// Marks datatypes. The attribute is deleted with the type: neither duplicates nor later owners of
// its handle have it.
int mark_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &made, nullptr);
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

bool predefined(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = MPI_UNDEFINED;
  check_mpi(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner),
            "MPI_Type_get_envelope");
  return combiner == MPI_COMBINER_NAMED;
}

}  // namespace

BoundCall::NamedType BoundCall::named(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL || predefined(type)) return {type, nullptr};
  void* mark = mark_of(type);
  if (!mark) {
    static std::atomic<std::uintptr_t> last = 0;
    mark = reinterpret_cast<void*>(++last);
    check_mpi(MPI_Type_set_attr(type, mark_key(), mark), "MPI_Type_set_attr");
  }
  return {type, mark};
}

bool BoundCall::NamedType::is(MPI_Datatype other) const {
  return other == type && (!mark || mark_of(other) == mark);
}

BoundCall::Side::Side(const BufferArguments& given, std::size_t blocks) : given_(given) {
  if (given.form == Form::regular || given.form == Form::v) types_.push_back(named(given.type));
  if (given.form == Form::regular || blocks == 0) return;
  counts_.assign(given.counts, given.counts + blocks);
  displacements_.assign(given.displacements, given.displacements + blocks);
  if (given.form == Form::w)
    std::transform(given.types, given.types + blocks, std::back_inserter(types_), named);
}

bool BoundCall::Side::same(const BufferArguments& given) const {
  if (given.buffer != given_.buffer || given.count != given_.count) return false;
  if (!counts_.empty() && (!given.counts || !given.displacements)) return false;
  if (!std::equal(counts_.begin(), counts_.end(), given.counts) ||
      !std::equal(displacements_.begin(), displacements_.end(), given.displacements))
    return false;
  if (given.form != Form::w) return types_.front().is(given.type);
  for (std::size_t i = 0; i < types_.size(); ++i)
    if (!given.types || !types_[i].is(given.types[i])) return false;
  return true;
}

BoundCall::BoundCall(const Call& call, const LocalTopology& topology, Binding binding,
                     std::shared_ptr<Prepared> prepared)
    : send_(call.send, call.blocks_sent(topology)),
      recv_(call.recv, call.blocks_received(topology)),
      binding_(std::move(binding)),
      prepared_(std::move(prepared)) {}

std::optional<Error> BoundCall::difference(const Call& call, const LocalTopology& topology) const {
  if (same_names(call)) return std::nullopt;
  return error_of([&] {
    Arguments arguments = call.read(topology);
    Binding binding = bind(arguments);
    leave_out_missing(topology.vertex, arguments, binding);
    if (same_blocks(binding, binding_)) return;
    fail(Errc::promise, "rank ", topology.vertex.rank, " gives ", call.name(),
         " other buffers, counts or types than its first call on this neighborhood did; ",
         "cdag_static_buffers promises the same for all, and those of the first call were used");
  });
}

}  // namespace tonari
