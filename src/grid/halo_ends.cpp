// Where the bytes of each link lie.
#include "grid/ghost_maps.hpp"
#include "grid/halo_program.hpp"

namespace tonari {
namespace {

void append(Layout& bytes, const std::byte* storage, const std::vector<BrickPiece>& pieces) {
  for (const BrickPiece& piece : pieces)
    bytes.add(reinterpret_cast<std::ptrdiff_t>(storage + piece.offset), piece.bytes);
}

// Sides of this subdomain along dimension k that have no neighbor: ghosts there belong to nobody
// and do not travel.
Sides open_sides(const HaloGrid& grid, int subdomain) {
  Sides open{};
  const int dims = grid.shape().dims();
  for (const Region v : directions(dims))
    for (int k = 0; k < dims; ++k)
      if (is_face(v, dims) && sign(v, k, dims) != 0)
        open[k][sign(v, k, dims) > 0] = !grid.shape().parts.neighbor(grid.rank(), subdomain, v);
  return open;
}

struct Reader {
  const HaloGrid& grid;
  HaloRequest request;
  int step;
  const std::vector<Sides>& open;  // of each subdomain
  std::vector<View>& views;

  bool shifts() const { return request.kind == HaloKind::shift; }

  CellBox cells_of(const HaloLink& link, bool send) const {
    const GridBox& box = grid.box(link.subdomain);
    if (!shifts()) return send ? send_box(box, link.direction) : ghost_box(box, link.direction);
    const int side = sign(link.direction, step, box.dims);
    return send ? shift_send_box(box, step, side, open[link.subdomain])
                : shift_ghost_box(box, step, side, open[link.subdomain]);
  }

  HaloEnd of_array(const HaloLink& link, bool send) const {
    HaloEnd end{link, {}, cells_of(link, send)};
    for (int f = 0; f < grid.shape().fields; ++f)
      end.bytes.add(grid.cells(link.subdomain, request.copy, f, end.cells), 0);
    return end;
  }

  std::vector<BrickPiece> pieces(const HaloLink& link, bool send) const {
    const BrickLayout& bricks = grid.bricks(link.subdomain);
    if (shifts()) {
      const int side = sign(link.direction, step, grid.shape().dims());
      return send ? bricks.shift_send(step, side, open[link.subdomain])
                  : bricks.shift_receive(step, side, open[link.subdomain]);
    }
    if (request.kind == HaloKind::basic)
      return send ? bricks.send_basic(link.direction) : bricks.receive_basic(link.direction);
    return send ? bricks.send(link.direction) : bricks.receive(link.direction);
  }

  // Whether pieces are shown side by side instead of being sent one by one.
  bool maps() const {
    return grid.shape().storage == GridStorage::mapped && request.kind != HaloKind::layout &&
           request.kind != HaloKind::basic;
  }

  HaloEnd of_bricks(const HaloLink& link, bool send) const {
    const std::vector<BrickPiece> all = pieces(link, send);
    HaloEnd end{link, {}};
    append(end.bytes, grid.storage(link.subdomain, request.copy), all);
    if (maps())
      end.bytes =
          trimmed(link, send, end.bytes.contiguous() ? end.bytes : view_of(link.subdomain, all));
    else
      for (const BrickPiece& piece : all) end.parts.push_back(piece.bytes);
    return end;
  }

  Layout view_of(int subdomain, const std::vector<BrickPiece>& pieces) const {
    std::vector<FilePiece> mapped;
    const std::uint64_t begin = grid.file_offset(grid.rank(), subdomain, request.copy);
    for (const BrickPiece& piece : pieces) mapped.push_back({begin + piece.offset, piece.bytes});
    views.emplace_back(grid.file(), mapped);
    Layout view;
    view.add(reinterpret_cast<std::ptrdiff_t>(views.back().data()), views.back().bytes());
    return view;
  }

  // Without the padding at both ends, which the sender's regions decide.
  Layout trimmed(const HaloLink& link, bool send, const Layout& whole) const {
    if (shifts()) return whole;
    const BrickPiece message =
        grid.bricks(link.subdomain)
            .message(send ? link.direction : opposite(link.direction, grid.shape().dims()));
    return whole.part(message.offset, message.bytes);
  }

  // Not of what mapped ghosts show anyway.
  std::vector<HaloEnd> ends(const std::vector<HaloLink>& links, bool send) const {
    std::vector<HaloEnd> ends;
    for (const HaloLink& link : links)
      if (!grid.ghost_maps() || !grid.ghost_maps()->reaches(link.peer))
        ends.push_back(grid.shape().bricked() ? of_bricks(link, send) : of_array(link, send));
    return ends;
  }
};

}  // namespace

std::vector<HaloEnds> halo_ends(const HaloGrid& grid, const HaloRequest& request,
                                std::vector<View>& views) {
  const GridShape& shape = grid.shape();
  const bool shift = request.kind == HaloKind::shift;
  std::vector<Sides> open;
  for (int s = 0; s < grid.subdomains(); ++s) open.push_back(open_sides(grid, s));
  std::vector<HaloEnds> steps;
  for (int k = 0; k < (shift ? shape.dims() : 1); ++k) {
    const HaloLinks links = shift ? shift_links(shape.parts, grid.rank(), k)
                                  : halo_links(shape.parts, grid.rank(), request.reach);
    const Reader reader{grid, request, k, open, views};
    steps.push_back({reader.ends(links.send, true), reader.ends(links.receive, false)});
  }
  return steps;
}

}  // namespace tonari
