// SPDX-License-Identifier: BSD-3-Clause
#include "grid/halo_program.hpp"

#include <algorithm>

#include "base/setting_table.hpp"

namespace tonari {
namespace {

// Tells whether pieces are shown side by side instead of being sent one by one.
bool maps(const HaloGrid& grid, HaloKind kind) {
  return grid.shape().storage == GridStorage::mapped && !grid.some_on_device() &&
         kind != HaloKind::layout && kind != HaloKind::basic;
}

Layout view_of(const HaloGrid& grid, const HaloRequest& request, const HaloEnd& end, Views& views) {
  std::vector<FilePiece> mapped;
  const std::uint64_t begin = grid.file_offset(end.link.subdomain, request.copy);
  for (const BrickPiece& piece : end.pieces) mapped.push_back({begin + piece.offset, piece.bytes});
  views.emplace_back(grid.file(), mapped);
  Layout view;
  view.add(reinterpret_cast<std::ptrdiff_t>(views.back().data()), views.back().bytes());
  return view;
}

// Without the padding at both ends, which the sender's regions decide.
Layout trimmed(const HaloGrid& grid, const HaloEnd& end, bool own, const Layout& whole) {
  const Region from = own ? end.link.direction : opposite(end.link.direction, grid.shape().dims());
  const BrickPiece message = grid.bricks(end.link.subdomain).message(from);
  return whole.part(message.offset, message.bytes);
}

// The blocks of a plan in the memory of a grid.
class Binder {
 public:
  Binder(const HaloGrid& grid, const HaloRequest& request, Views& views)
      : grid_(grid), request_(request), views_(views) {
    arguments.types_of_bytes = true;
  }

  void add(const HaloEnd& end, bool send) {
    if (arrivals && !send) return add_arrival(end);
    if (piecewise())
      for (const BrickPiece& piece : end.pieces)
        add(send, {storage(end) + piece.offset, nullptr, piece.bytes}, {});
    else
      add_whole(end, send, bytes_of(grid_, request_, end, send != request_.reverse, views_));
  }
  bool piecewise() const { return grid_.shape().bricked() && !maps(grid_, request_.kind); }
  bool typed() const { return !grid_.shape().bricked() && request_.kind != HaloKind::pack; }

  Arguments arguments;               // what is not bytes, of typed programs only
  std::optional<Arrivals> arrivals;  // of reverse exchanges

 private:
  std::byte* storage(const HaloEnd& end) const {
    return grid_.storage(end.link.subdomain, request_.copy);
  }
  void add_arrival(const HaloEnd& end) {
    std::byte* at = arrivals->place(end);
    if (!piecewise()) return add(false, {at, nullptr, arrivals->bytes(end)}, {});
    for (const BrickPiece& piece : end.pieces) {
      add(false, {at, nullptr, piece.bytes}, {});
      at += piece.bytes;
    }
  }
  void add_whole(const HaloEnd& end, bool send, Layout bytes) {
    const SpaceId space = space_of(grid_, end.link.subdomain);
    if (bytes.contiguous())
      return add(send,
                 {reinterpret_cast<std::byte*>(bytes.runs().front().offset), nullptr, bytes.bytes(),
                  space},
                 {0, 0, MPI_BYTE, space});
    const auto& layout =
        arguments.binding.layouts.emplace_back(std::make_shared<const Layout>(std::move(bytes)));
    TypedBlock described{0, 1, MPI_BYTE, space};
    if (typed()) described.type = types_.emplace_back(type_of(grid_, request_, end, *layout)).get();
    add(send, {nullptr, layout.get(), layout->bytes(), space}, described);
  }
  void add(bool send, const Block& block, const TypedBlock& described) {
    (send ? arguments.binding.send : arguments.binding.recv).push_back(block);
    (send ? arguments.send : arguments.recv).push_back(described);
  }

  const HaloGrid& grid_;
  const HaloRequest& request_;
  Views& views_;
  std::vector<OwnedType> types_;
};

}  // namespace

SpaceId space_of(const HaloGrid& grid, int subdomain) {
  return grid.shape().bricked() ? fixed_space : static_cast<SpaceId>(subdomain) + 1;
}

const char* name(HaloKind kind) {
  static const char* const names[] = {"pack",  "datatypes", "shift",  "plan",
                                      "basic", "layout",    "memmap", "zero-byte"};
  return names[static_cast<int>(kind)];
}

std::vector<HaloKind> kinds_of(const HaloGrid& grid, const HaloRequest& request) {
  using enum HaloKind;
  const GridShape& shape = grid.shape();
  if (shape.mapped_ghosts) return {zero_byte};
  if (grid.some_on_device()) return {plan};  // the others read and write cells by the host
  if (shape.storage == GridStorage::brick) return {layout, plan, basic};
  std::vector<HaloKind> kinds{plan, pack, datatypes, shift};
  if (shape.storage == GridStorage::mapped) kinds = {memmap, shift, plan, layout};
  // Steps of a shift depend on each other the other way round; pieces of bricks are all ghosts of a
  // side.
  const bool narrow =
      request.reach.lower != Reach::widest() || request.reach.upper != Reach::widest();
  if (request.reverse || (narrow && shape.bricked())) std::erase(kinds, shift);
  return kinds;
}

std::vector<HaloKind> wanted_kinds(const std::string& halo, const HaloGrid& grid,
                                   const HaloRequest& request) {
  std::vector<HaloKind> kinds = kinds_of(grid, request);
  if (halo == "auto") return kinds;
  std::string list = "auto";
  for (const HaloKind kind : kinds) {
    if (halo == name(kind)) return {kind};
    list += text(", ", name(kind));
  }
  fail(Errc::algorithm, name_of(setting("TONARI_HALO")), " is '", halo, "'; on storage ",
       name(grid.shape().storage), grid.shape().mapped_ghosts ? " with mapped ghosts" : "",
       grid.some_on_device() ? ", in memory of a GPU on some rank," : "",
       request.reverse ? ", for a reverse exchange," : "", " it must be one of ", list);
}

std::vector<HaloEnds> all_halo_ends(const HaloGrid& grid, const HaloRequest& request) {
  std::vector<const BrickLayout*> bricks;
  for (int s = 0; grid.shape().bricked() && s < grid.subdomains(); ++s)
    bricks.push_back(&grid.bricks(s));
  std::vector<HaloEnds> steps = halo_ends(grid.shape().parts, grid.rank(), bricks,
                                          {request.reach, request.kind == HaloKind::shift,
                                           request.kind == HaloKind::basic, grid.some_on_device()});
  if (request.reverse)
    for (HaloEnds& ends : steps) std::swap(ends.send, ends.receive);
  return steps;
}

std::vector<HaloEnds> halo_ends(const HaloGrid& grid, const HaloRequest& request) {
  std::vector<HaloEnds> steps = all_halo_ends(grid, request);
  const auto is_shown = [&](const HaloEnd& end) { return grid.shows(end.link.peer); };
  for (HaloEnds& ends : steps)
    std::erase_if(ends.send, is_shown), std::erase_if(ends.receive, is_shown);
  return steps;
}

Layout bytes_of(const HaloGrid& grid, const HaloRequest& request, const HaloEnd& end, bool own,
                Views& views) {
  Layout bytes;
  const int subdomain = end.link.subdomain;
  for (int f = 0; f < grid.shape().fields && !grid.shape().bricked(); ++f)
    bytes.add(grid.cells(subdomain, request.copy, f, end.cells), 0);
  for (const BrickPiece& piece : end.pieces)
    bytes.add(
        reinterpret_cast<std::ptrdiff_t>(grid.storage(subdomain, request.copy) + piece.offset),
        piece.bytes);
  if (!grid.shape().bricked() || !maps(grid, request.kind)) return bytes;
  if (!bytes.contiguous()) bytes = view_of(grid, request, end, views);
  return request.kind == HaloKind::shift ? bytes : trimmed(grid, end, own, bytes);
}

Arrivals::Arrivals(const HaloGrid& grid, const HaloRequest& request, HaloEnds& ends, Views& views) {
  const auto is_local = [&](const HaloEnd& end) { return end.link.peer == grid.rank(); };
  for (const HaloEnd& end : ends.receive) {  // in the order of their keys
    Layout to = bytes_of(grid, request, end, true, views);
    const SpaceId space = space_of(grid, end.link.subdomain);
    if (is_local(end)) {
      const HaloEnd& from = *std::ranges::lower_bound(
          ends.send, end.link.key, {}, [](const HaloEnd& other) { return other.link.key; });
      contributions.add_local(std::move(to), space, bytes_of(grid, request, from, false, views),
                              space_of(grid, from.link.subdomain));
    } else {
      numbers_[end.link.key] = contributions.add(std::move(to), space);
    }
  }
  contributions.allocate();
  std::erase_if(ends.send, is_local), std::erase_if(ends.receive, is_local);
}

std::byte* Arrivals::place(const HaloEnd& end) const {
  return contributions.arrival(numbers_.at(end.link.key));
}
std::uint64_t Arrivals::bytes(const HaloEnd& end) const {
  return contributions.bytes(numbers_.at(end.link.key));
}

HaloProgram compile_halo(const HaloGrid& grid, const HaloRequest& request) {
  HaloProgram made;
  std::vector<HaloEnds> steps = halo_ends(grid, request);
  Binder blocks(grid, request, made.views);
  if (request.reverse) blocks.arrivals.emplace(grid, request, steps.front(), made.views);
  for (const HaloEnds& ends : steps) {
    for (const HaloEnd& end : ends.send) blocks.add(end, true);
    for (const HaloEnd& end : ends.receive) blocks.add(end, false);
  }
  if (blocks.arrivals) made.contributions = std::move(blocks.arrivals->contributions);
  made.plan = make_halo_plan(grid.rank(), steps, blocks.piecewise());
  made.program = blocks.typed()
                     ? compile_typed(made.plan, blocks.arguments.binding, blocks.arguments)
                     : compile_packed(made.plan, blocks.arguments.binding, {});
  return made;
}

int HaloProgram::tags() const {
  int most = 0;
  for (const Operation& op : plan.operations())
    if (op.kind != Kind::copy) most = std::max(most, op.tag + 1);
  return most;
}

}  // namespace tonari
