// SPDX-License-Identifier: BSD-3-Clause
// A subdomain in bricks (Zhao et al. 2021, sections 2 to 4): blocks of cells, each contiguous.
// Their order makes what a neighbor needs as few contiguous pieces as can be. Ghosts are where
// those pieces arrive, unchanged.
//
//   | interior | region r0 | region r1 | ... | ghosts of direction 0 | ... | beyond the ghosts |
//
// Surface regions are in the order of surface_order.hpp. The ghosts of each direction are in the
// regions of the rank that sends them, in the same order.
//
// With a unit larger than a byte every region (also each region within the ghosts of a direction)
// has whole units for itself, so that pages can be mapped (section 4): its bricks, and padding in
// front of or behind them, on the side where fewer messages must carry it. Several fields are
// interleaved, field after field within each brick, or lie one after the other, each laid out like
// the first.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/checked.hpp"
#include "layout/grid_box.hpp"
#include "layout/surface_order.hpp"

namespace tonari {

// Of an array: cells, bricks and regions are counted by signed numbers.
inline std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

struct BrickShape {
  Cells brick{};  // cells of a brick
  std::int64_t element_bytes = 8;
  int fields = 1;
  bool interleaved = false;
  std::int64_t unit = 1;  // bytes: a page, or 1
};

struct BrickPiece {  // contiguous bytes, from the first byte of the subdomain's storage
  Bytes offset = 0, bytes = 0;
  friend bool operator==(const BrickPiece&, const BrickPiece&) = default;
};

class BrickLayout {
 public:
  // Throws Errc::argument with a sentence that says what to change, as check(box) does. Own cells
  // and widths must be multiples of the brick, and own >= lower + upper, or the two surfaces would
  // share bricks. Cells, bytes, fields and the unit are at least 1. A larger unit is a multiple of
  // the elements. The order must list these regions. Throws Errc::overflow if bytes or brick
  // numbers do not fit.
  BrickLayout(const GridBox& box, const BrickShape& shape, const SurfaceOrder& order);

  const GridBox& box() const { return box_; }
  const BrickShape& shape() const { return shape_; }
  const SurfaceOrder& order() const { return order_; }

  // As in tonari/grid_layout.h (struct tonari_bricks), which is filled from these.
  const Cells& lower() const { return lower_; }  // in bricks
  const Cells& own() const { return own_; }
  const Cells& upper() const { return upper_; }
  std::int32_t count() const { return static_cast<std::int32_t>(number_.size()); }
  std::int32_t own_count() const { return own_count_; }
  std::int32_t interior_count() const { return interior_count_; }
  const std::vector<std::int32_t>& number() const { return number_; }
  const std::vector<std::int32_t>& position() const { return position_; }
  const std::vector<std::int32_t>& neighbors() const { return neighbors_; }
  const std::vector<std::int64_t>& place() const { return place_; }  // in elements, of field 0
  // elements from a field's base to the next one's
  std::int64_t field_stride() const { return field_stride_; }

  // of the whole subdomain: all fields, padding, and the brick that stands for nowhere; a multiple
  // of the unit
  Bytes bytes() const { return bytes_; }

  // The contiguous pieces of whole units that the neighbor in this direction needs, field by field
  // and in the order in which it stores them. receive(v) here and send(opposite(v)) there are
  // equally many pieces of the same lengths. So regions without bricks do not interrupt a piece if
  // both ends know that they are empty. One end does not know whether the other has own == lower +
  // upper in a dimension in which it is its neighbor.
  std::vector<BrickPiece> send(Region direction) const;
  std::vector<BrickPiece> receive(Region direction) const;
  // Of the pieces of send(direction), one behind the other as in a view, the bytes that must
  // travel: all but the padding that they begin and end with. There, of the pieces of
  // receive(opposite(direction)), the same bytes arrive.
  BrickPiece message(Region direction) const;
  // Every region by itself (the paper's Basic), for comparison.
  std::vector<BrickPiece> send_basic(Region direction) const;
  std::vector<BrickPiece> receive_basic(Region direction) const;
  // The same bricks without padding, where what travels is packed anyway: the same bytes at both
  // ends, in perhaps different pieces.
  std::vector<BrickPiece> send_bricks(Region direction) const;
  std::vector<BrickPiece> receive_bricks(Region direction) const;
  // Dimension by dimension, as shift_send_box: equally many pieces of the same lengths at both
  // ends. Pieces that touch are joined only where they are at both ends.
  std::vector<BrickPiece> shift_send(int k, int sign, const Sides& open = {}) const;
  std::vector<BrickPiece> shift_receive(int k, int sign, const Sides& open = {}) const;

  // Bytes of cells in send(direction), without padding.
  Bytes payload(Region direction) const;

 private:
  struct Area {  // a region: own, or as a neighbor's in the ghosts. Bytes within a field
    int at = 0;  // order().regions[at]
    Bytes offset = 0, bytes = 0, first = 0, data = 0;  // whole units, and the bricks among them
  };
  enum class Side : std::uint8_t { send, receive };

  void check_shape() const;
  void count_bricks();
  void lay_out();
  Area add(const CellBox& bricks, int at, bool padding_in_front, Bytes& end);
  void find_neighbors();

  const Area& area(Region stored, int at) const;
  bool empty_at_both_ends(Region region, Region wanted) const;
  std::vector<SurfaceRun> runs_of(Region stored, Region wanted, bool join) const;
  std::vector<BrickPiece> pieces(Region stored, const std::vector<SurfaceRun>& runs) const;
  std::vector<BrickPiece> bricks_of(Region stored, Region wanted) const;
  std::vector<BrickPiece> all_fields(const std::vector<BrickPiece>& first_field) const;
  std::vector<BrickPiece> shift(int k, int sign, const Sides& open, Side side) const;

  GridBox box_;
  BrickShape shape_;
  SurfaceOrder order_;
  // by direction, those stored there in surface order; the surface itself at the center
  std::vector<std::vector<Area>> areas_;
  Bytes brick_bytes_ = 0, field_bytes_ = 0;  // brick: all of its fields if interleaved
  Cells lower_{}, own_{}, upper_{};
  std::int32_t own_count_ = 0, interior_count_ = 0;
  std::vector<std::int32_t> number_, position_, neighbors_;
  std::vector<std::int64_t> place_;
  std::int64_t field_stride_ = 0;
  Bytes bytes_ = 0;
};

// The bytes that padding adds to the messages to all neighbors, in percent of the cells' bytes. As
// in the paper's Table 2, padding at the ends of messages counts.
double padding_percent(const BrickLayout& layout);

// The mappings that one copy of this subdomain needs (an upper bound of what the system counts).
// The storage needs one. Views need one per piece of send to each neighbor (and per field received,
// if each lies for itself); with shift, one per piece of both ends. Pieces that touch are mapped as
// one. Ghosts mapped from neighbors need two per piece received, because the rest of a mapping that
// is cut counts, too.
enum class ViewKind : std::uint8_t { neighbors, shift, ghosts };
std::int64_t mappings(const BrickLayout& layout, ViewKind kind);

}  // namespace tonari
