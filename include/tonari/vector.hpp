// SPDX-License-Identifier: BSD-3-Clause
// tonari's distributed vectors for C++20: vector.h with owners, spans and exceptions. Header only.
//
//   // what this rank owns and needs
//   tonari::DistributedVector vector(comm, first, owned, indices);
//   tonari::Request fill = vector.forward_init(x, ghosts);  // contiguous ranges: see ranges.hpp
//   for (...) { fill.start(); compute_with(x); fill.wait(); compute_with(ghosts); }
//
// What is collective, what may overlap and which errors there are is said in vector.h; functions
// that fail throw tonari::Failure. The destructor is collective: let vectors of one communicator go
// in the same order on all ranks. Requests may live on.
#pragma once

#include <tonari/vector.h>
#include <tonari/tonari.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tonari {
inline namespace api0 {

// How values lie in spans: see tonari_vector_values. Strides of 0: one vector right behind the
// other.
struct ValueLayout {
  int components = 1, vectors = 1;
  std::int64_t owned_stride = 0, ghost_stride = 0;
};

// One of several fields that are exchanged together, with arrays of its own.
class VectorField {
 public:
  template <class T>
    requires(!std::is_const_v<T>)
  VectorField(std::span<T> owned, std::span<T> ghosts, const ValueLayout& layout = {})
      : layout_(layout), owned_size_(owned.size()), ghost_size_(ghosts.size()) {
    field_.values.type = mpi_type<T>();
    field_.values.components = layout.components, field_.values.vectors = layout.vectors;
    field_.values.owned_stride = layout.owned_stride,
    field_.values.ghost_stride = layout.ghost_stride;
    field_.owned = owned.data(), field_.ghosts = ghosts.data();
  }
  // Both in one array, where the vector has places for both.
  template <class T>
    requires(!std::is_const_v<T>)
  explicit VectorField(std::span<T> both, const ValueLayout& layout = {})
      : VectorField(both, both, layout) {}

 private:
  friend class DistributedVector;
  tonari_vector_field field_{};
  ValueLayout layout_;
  std::size_t owned_size_, ghost_size_;
};

// Lists for ranks, or from them: counts[i] places for ranks[i], one list behind the other. To
// receive, no places at all: ghosts are appended.
struct NeighborLists {
  std::span<const int> ranks;
  Counts counts;
  Places places;

  bool wide() const { return counts.wide() || places.wide(); }
};

// Consecutive indices of values that had any numbers: see tonari_vector_renumber.
struct Renumbering {
  std::int64_t first = 0;             // of own values, in the order of their list
  std::vector<std::int64_t> indices;  // of needed ones
};

// [collective]
inline Renumbering renumber(MPI_Comm comm, std::span<const std::int64_t> owned_ids,
                            std::span<const std::int64_t> needed_ids) {
  Renumbering made;
  made.indices.resize(needed_ids.size());
  check(tonari_vector_renumber(comm, static_cast<std::int64_t>(owned_ids.size()), owned_ids.data(),
                               static_cast<std::int64_t>(needed_ids.size()), needed_ids.data(),
                               &made.first, made.indices.data()));
  return made;
}

class [[nodiscard]] DistributedVector {
 public:
  DistributedVector() = default;
  // This rank owns first, ..., first + owned - 1 and needs indices.
  [[nodiscard]] DistributedVector(MPI_Comm comm, std::int64_t first, std::int64_t owned,
                                  std::span<const std::int64_t> indices,
                                  MPI_Info info = MPI_INFO_NULL)
      : owned_(owned), needed_(static_cast<std::int64_t>(indices.size())) {
    check(tonari_vector_create(comm, first, owned, needed_, indices.data(), info, &handle_));
  }
  // Of what each rank sends to its neighbors, and receives from them.
  static DistributedVector from_neighbors(MPI_Comm comm, std::int64_t owned,
                                          const NeighborLists& sends, const NeighborLists& receives,
                                          MPI_Info info = MPI_INFO_NULL) {
    DistributedVector made;
    const std::string wrong = wrong_lists(sends, false) + wrong_lists(receives, true);
    const auto call = [&](auto function, auto sent, auto from, auto received, auto to) {
      made.create(wrong, [&](tonari_vector* handle) {
        return function(comm, owned, wrong.empty() ? static_cast<int>(sends.ranks.size()) : -1,
                        sends.ranks.data(), sent, from, static_cast<int>(receives.ranks.size()),
                        receives.ranks.data(), received, receives.places.empty() ? nullptr : to,
                        info, handle);
      });
    };
    if (sends.wide() || receives.wide()) {
      const detail::Widened<MPI_Count> sent(sends.counts), received(receives.counts);
      const detail::Widened<MPI_Aint> from(sends.places), to(receives.places);
      call(tonari_vector_create_from_neighbors_c, sent.get(), from.get(), received.get(), to.get());
    } else {
      call(tonari_vector_create_from_neighbors, sends.counts.as<int>(), sends.places.as<int>(),
           receives.counts.as<int>(), receives.places.as<int>());
    }
    return made;
  }
  // Of values with any numbers. Without places they lie in the order of their list.
  static DistributedVector from_ids(MPI_Comm comm, std::span<const std::int64_t> owned,
                                    std::span<const std::int64_t> needed,
                                    const Places& owned_places = {},
                                    const Places& ghost_places = {},
                                    MPI_Info info = MPI_INFO_NULL) {
    DistributedVector made;
    const auto fits = [](const Places& places, auto ids) {
      return places.empty() || places.size() == ids.size();
    };
    const std::string wrong = fits(owned_places, owned) && fits(ghost_places, needed)
                                  ? ""
                                  : "there must be as many places as ids";
    const auto call = [&](auto function, auto at, auto to) {
      made.create(wrong, [&](tonari_vector* handle) {
        return function(comm, wrong.empty() ? static_cast<std::int64_t>(owned.size()) : -1,
                        owned.data(), owned_places.empty() ? nullptr : at,
                        static_cast<std::int64_t>(needed.size()), needed.data(),
                        ghost_places.empty() ? nullptr : to, info, handle);
      });
    };
    if (owned_places.wide() || ghost_places.wide()) {
      const detail::Widened<MPI_Aint> at(owned_places), to(ghost_places);
      call(tonari_vector_create_from_ids_c, at.get(), to.get());
    } else {
      call(tonari_vector_create_from_ids, owned_places.as<int>(), ghost_places.as<int>());
    }
    return made;
  }
  // Of values that several ranks have: each lies at its place of one array, or in this order.
  static DistributedVector shared(MPI_Comm comm, std::span<const std::int64_t> ids,
                                  const Places& places = {}, MPI_Info info = MPI_INFO_NULL) {
    DistributedVector made;
    const std::string wrong =
        places.empty() || places.size() == ids.size() ? "" : "there must be as many places as ids";
    const auto call = [&](auto function, auto at) {
      made.create(wrong, [&](tonari_vector* handle) {
        return function(comm, wrong.empty() ? static_cast<std::int64_t>(ids.size()) : -1,
                        ids.data(), places.empty() ? nullptr : at, info, handle);
      });
    };
    if (places.wide())
      call(tonari_vector_create_shared_c, places.as<MPI_Aint>());
    else
      call(tonari_vector_create_shared, places.as<int>());
    return made;
  }
  // Of the nodes of a box of cells on each rank, shared with the boxes that touch it.
  static DistributedVector box_nodes(MPI_Comm cart, const Counts& cells,
                                     MPI_Info info = MPI_INFO_NULL) {
    DistributedVector made;
    const std::string wrong = wrong_cells(cart, cells);
    made.create(wrong, [&](tonari_vector* handle) {
      const detail::Widened<MPI_Count> numbers(cells);
      return tonari_vector_create_box_nodes_c(cart, wrong.empty() ? numbers.get() : nullptr, info,
                                              handle);
    });
    return made;
  }
  // Of the cells of a box on each rank, and layers of those around it. along: 1 across faces only.
  static DistributedVector box_cells(MPI_Comm cart, const Counts& cells, int width = 1,
                                     int along = 0, MPI_Info info = MPI_INFO_NULL) {
    DistributedVector made;
    const std::string wrong = wrong_cells(cart, cells);
    made.create(wrong, [&](tonari_vector* handle) {
      const detail::Widened<MPI_Count> numbers(cells);
      return tonari_vector_create_box_cells_c(cart, wrong.empty() ? numbers.get() : nullptr, width,
                                              along, info, handle);
    });
    return made;
  }
  DistributedVector(DistributedVector&& other) noexcept
      : handle_(std::exchange(other.handle_, TONARI_VECTOR_NULL)),
        owned_(other.owned_),
        needed_(other.needed_) {}
  DistributedVector& operator=(DistributedVector other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(owned_, other.owned_);
    std::swap(needed_, other.needed_);
    return *this;
  }
  ~DistributedVector() {
    if (handle_) tonari_vector_free(&handle_);
  }

  // Persistent: ghosts[k] becomes the value of indices[k].
  template <detail::Readable Owned, detail::Writable Ghosts>
    requires detail::OneKind<Owned, Ghosts>
  Request forward_init(Owned&& owned, Ghosts&& ghosts, const ValueLayout& layout = {},
                       MPI_Info info = MPI_INFO_NULL) const {
    return made(owned, ghosts, layout, [&](const auto& values, auto* from, auto* to, auto* out) {
      return tonari_vector_forward_init(handle_, values, from, to, info, out);
    });
  }
  // Persistent: owned[i] becomes owned[i] op all ghosts of i.
  template <detail::Readable Ghosts, detail::Writable Owned>
    requires detail::OneKind<Ghosts, Owned>
  Request reverse_init(MPI_Op op, Ghosts&& ghosts, Owned&& owned, const ValueLayout& layout = {},
                       MPI_Info info = MPI_INFO_NULL) const {
    return made(owned, ghosts, layout, [&](const auto& values, auto* to, auto* from, auto* out) {
      return tonari_vector_reverse_init(handle_, values, op, from, to, info, out);
    });
  }
  // Persistent: owned[i], and all ghosts of i, become owned[i] op these.
  template <detail::Writable Owned, detail::Writable Ghosts>
    requires detail::OneKind<Owned, Ghosts>
  Request combine_init(MPI_Op op, Owned&& owned, Ghosts&& ghosts, const ValueLayout& layout = {},
                       MPI_Info info = MPI_INFO_NULL) const {
    return made(owned, ghosts, layout, [&](const auto& values, auto* both, auto* at, auto* out) {
      return tonari_vector_combine_init(handle_, values, op, both, at, info, out);
    });
  }
  // One-shot calls.
  template <detail::Readable Owned, detail::Writable Ghosts>
    requires detail::OneKind<Owned, Ghosts>
  void forward(Owned&& owned, Ghosts&& ghosts, const ValueLayout& layout = {}) const {
    checked(owned, ghosts, layout, [&](const auto& values, auto* from, auto* to) {
      return tonari_vector_forward(handle_, values, from, to);
    });
  }
  template <detail::Readable Ghosts, detail::Writable Owned>
    requires detail::OneKind<Ghosts, Owned>
  void reverse(MPI_Op op, Ghosts&& ghosts, Owned&& owned, const ValueLayout& layout = {}) const {
    checked(owned, ghosts, layout, [&](const auto& values, auto* to, auto* from) {
      return tonari_vector_reverse(handle_, values, op, from, to);
    });
  }
  template <detail::Writable Owned, detail::Writable Ghosts>
    requires detail::OneKind<Owned, Ghosts>
  void combine(MPI_Op op, Owned&& owned, Ghosts&& ghosts, const ValueLayout& layout = {}) const {
    checked(owned, ghosts, layout, [&](const auto& values, auto* both, auto* at) {
      return tonari_vector_combine(handle_, values, op, both, at);
    });
  }

  // The same for several fields, in one message per neighbor.
  Request forward_init(std::span<const VectorField> fields, MPI_Info info = MPI_INFO_NULL) const {
    return made(fields, [&](int count, const tonari_vector_field* given, tonari_request* request) {
      return tonari_vector_forward_fields_init(handle_, count, given, info, request);
    });
  }
  Request reverse_init(MPI_Op op, std::span<const VectorField> fields,
                       MPI_Info info = MPI_INFO_NULL) const {
    return made(fields, [&](int count, const tonari_vector_field* given, tonari_request* request) {
      return tonari_vector_reverse_fields_init(handle_, count, given, op, info, request);
    });
  }
  Request combine_init(MPI_Op op, std::span<const VectorField> fields,
                       MPI_Info info = MPI_INFO_NULL) const {
    return made(fields, [&](int count, const tonari_vector_field* given, tonari_request* request) {
      return tonari_vector_combine_fields_init(handle_, count, given, op, info, request);
    });
  }
  void combine(MPI_Op op, std::span<const VectorField> fields) const {
    checked(fields, [&](std::span<const tonari_vector_field> given) {
      return tonari_vector_combine_fields(handle_, static_cast<int>(given.size()), given.data(),
                                          op);
    });
  }
  void forward(std::span<const VectorField> fields) const {
    checked(fields, [&](std::span<const tonari_vector_field> given) {
      return tonari_vector_forward_fields(handle_, static_cast<int>(given.size()), given.data());
    });
  }
  void reverse(MPI_Op op, std::span<const VectorField> fields) const {
    checked(fields, [&](std::span<const tonari_vector_field> given) {
      return tonari_vector_reverse_fields(handle_, static_cast<int>(given.size()), given.data(),
                                          op);
    });
  }

  tonari_vector_facts facts() const {
    tonari_vector_facts facts;
    check(tonari_vector_get_facts(handle_, &facts));
    return facts;
  }
  std::int64_t owned() const noexcept { return owned_; }
  std::int64_t needed() const noexcept { return needed_; }
  tonari_vector handle() const noexcept { return handle_; }  // stays owned

 private:
  // Values that a span must have room for.
  static std::int64_t room(std::int64_t indices, std::int64_t stride, const ValueLayout& layout) {
    const std::int64_t row = indices * layout.components;
    return row == 0 ? 0 : (layout.vectors - 1) * (stride ? stride : row) + row;
  }
  // A span that is too short becomes an argument that is refused on all ranks, so that this rank
  // does not throw alone.
  template <class Call>
  void checked(std::span<const VectorField> fields, Call call) const {
    std::vector<tonari_vector_field> given;
    std::string wrong;
    for (const VectorField& field : fields) {
      given.push_back(field.field_);
      const std::int64_t least_owned = room(owned_, field.layout_.owned_stride, field.layout_),
                         least_ghosts = room(needed_, field.layout_.ghost_stride, field.layout_);
      if (static_cast<std::int64_t>(field.owned_size_) >= least_owned &&
          static_cast<std::int64_t>(field.ghost_size_) >= least_ghosts)
        continue;
      given.back().values.components = -1;
      wrong = "the spans have " + std::to_string(field.owned_size_) + " owned values and " +
              std::to_string(field.ghost_size_) + " ghosts; there must be " +
              std::to_string(least_owned) + " and " + std::to_string(least_ghosts);
    }
    finish(wrong, [&] { return call(given); });
  }
  // call(values, owned, ghosts)
  template <class Owned, class Ghosts, class Call>
  void checked(Owned& owned, Ghosts& ghosts, const ValueLayout& layout, Call call) const {
    const auto mine = detail::elements_of(owned);
    const auto needed = detail::elements_of(ghosts);
    using Number = typename decltype(mine)::Value;
    // what is not contiguous has no room for anything
    const auto any = [](auto elements) {
      return std::span(const_cast<Number*>(elements.data),
                       elements.size == detail::no_size ? 0 : elements.size);
    };
    const VectorField field(any(mine), any(needed), layout);
    checked(std::span(&field, 1), [&](std::span<const tonari_vector_field> given) {
      return call(&given[0].values, mine.data, needed.data);
    });
  }
  // wrong: what this rank cannot do it for; all ranks hear of it by the call.
  template <class Call>
  static void finish(const std::string& wrong, Call call) {
    if (!wrong.empty()) detail::Spans::refuse("tonari::DistributedVector: " + wrong);
    check(call());
  }
  template <class Create>
  void create(const std::string& wrong, Create call) {
    finish(wrong, [&] { return call(&handle_); });
    const tonari_vector_facts found = facts();
    owned_ = found.owned_length, needed_ = found.ghost_length;
  }
  // Other communicators than Cartesian ones are refused by the call itself.
  static std::string wrong_cells(MPI_Comm cart, const Counts& cells) {
    int kind = MPI_UNDEFINED, dims = 0;
    if (cart != MPI_COMM_NULL) MPI_Topo_test(cart, &kind);
    if (kind != MPI_CART) return "";
    MPI_Cartdim_get(cart, &dims);
    if (cells.size() == static_cast<std::size_t>(dims)) return "";
    return "there are " + std::to_string(cells.size()) + " numbers of cells, but " +
           std::to_string(dims) + " dimensions";
  }
  static std::string wrong_lists(const NeighborLists& lists, bool may_be_appended) {
    if (lists.counts.size() != lists.ranks.size()) return "there must be as many counts as ranks";
    std::size_t all = 0;
    for (std::size_t k = 0; k < lists.counts.size(); ++k)
      all += static_cast<std::size_t>(lists.counts[k]);
    if (lists.places.size() == all || (may_be_appended && lists.places.empty())) return "";
    return "there are " + std::to_string(lists.places.size()) + " places, but counts add up to " +
           std::to_string(all);
  }
  template <class Owned, class Ghosts, class Init>
  Request made(Owned& owned, Ghosts& ghosts, const ValueLayout& layout, Init init) const {
    tonari_request request = TONARI_REQUEST_NULL;
    checked(owned, ghosts, layout, [&](const auto& values, auto* mine, auto* needed) {
      return init(values, mine, needed, &request);
    });
    return Request(request);
  }
  template <class Init>
  Request made(std::span<const VectorField> fields, Init init) const {
    tonari_request request = TONARI_REQUEST_NULL;
    checked(fields, [&](std::span<const tonari_vector_field> given) {
      return init(static_cast<int>(given.size()), given.data(), &request);
    });
    return Request(request);
  }

  tonari_vector handle_ = TONARI_VECTOR_NULL;
  std::int64_t owned_ = 0, needed_ = 0;
};

}  // namespace api0
}  // namespace tonari
