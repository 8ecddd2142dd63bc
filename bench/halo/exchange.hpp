// SPDX-License-Identifier: BSD-3-Clause
// What is compared: every way to fill the ghosts behind one face.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "halo/field.hpp"
#include "harness.hpp"

namespace bench::halo {

// What an exchange does: fills all ghosts, fills those behind faces, adds all to their owners.
enum class Task { all, faces, reverse };

// How a program uses requests: one again and again; two copies in turn, by one request that
// tonari_grid_start_with starts or by two; the copies of two grids at once, by a group or by a
// request for each.
enum class Use { one, start_with, two_requests, group, requests };

// A storage and the name of an exchange.
struct Kind {
  std::string storage;  // array, brick, mapped; buffers: no grid at all
  std::string exchange;
  std::string halo{};  // tonari_halo; empty: a comparator in plain MPI
  Task task = Task::all;
  bool fortran = false, blocks = false;  // an array in that order; by tonari_blocks
  Use use = Use::one;
  // whether the kernels of the benchmark run on it
  bool computes() const {
    return storage != "buffers" && task == Task::all && !fortran && use == Use::one;
  }
};
const std::vector<Kind>& kinds();
std::string to_text(const Kind& kind);                    // mapped/layout
bool matches(const Kind& kind, const std::string& name);  // layout or mapped/layout
bool is_ours(const Kind& kind);
std::optional<Storage> storage_of(const Kind& kind);  // none: buffers

// Parts of one exchange, in seconds. Tonari's own packing is part of its call (and unpacking of its
// wait).
struct Phases {
  double pack = 0, call = 0, wait = 0;
};

class Exchange : public Way {
 public:
  virtual int copy() const { return 0; }  // what run() exchanges; then that is the next one
  virtual bool copies_alternate() const { return false; }
  // [collective] one exchange of new data, every cell looked at, on this rank
  virtual bool verify(int generation) = 0;
  virtual std::string description() const = 0;
  // What the rank copies from one of its sides to another instead of sending it to itself, as plain
  // MPI would.
  virtual int copied_messages() const { return 0; }
  virtual long long copied_bytes() const { return 0; }
  // to others, if not all of it goes through MPI
  virtual std::optional<long long> declared_bytes() const { return std::nullopt; }
  const Phases& phases() const { return phases_; }

 protected:
  Phases phases_;
};

// Of a field: new data into its own cells, poison into its ghosts, one exchange, and every ghost
// cell compared. Barriers around it: mapped ghosts are others' cells.
bool verify_field(Exchange& exchange, const Field& field, int generation);

// Of a field, of which only some ghosts are filled, or which gets its ghosts back.
bool verify_faces(Exchange& exchange, const Field& field, int generation);
bool verify_reverse(Exchange& exchange, const Field& field, int generation);

// Bytes of the messages to all 26 neighbors, and how many there are, as the storage sends them
// (buffers: as MemMap does).
struct Message {
  int pieces = 1;
  long long bytes = 0;
};
// packed or by types; contiguous pieces (Layout); every region by itself (Basic); mapped side by
// side (MemMap)
enum class Sending { cells, pieces, regions, views };
std::vector<Message> messages_of(const Cube& cube, const Options& options, long long unit,
                                 Sending sending);
// both messages along it, dimension by dimension
long long shifted_bytes(const Cube& cube, const Options& options, long long unit, int dimension);
// the paper's Table 2
double padding_percent(const Cube& cube, const Options& options, long long unit);

long long page_of(const Options& options);

std::unique_ptr<Exchange> make_pack(const Field& field);
std::unique_ptr<Exchange> make_datatypes(const Field& field);
std::unique_ptr<Exchange> make_network(const Torus& torus, const std::vector<Message>& messages,
                                       bool through_mpi);
// [collective] These throw tonari::Error. The second: what is no exchange of all ghosts of a grid.
std::unique_ptr<Exchange> make_tonari(const Field& field, const Kind& kind, const Options& options);
std::unique_ptr<Exchange> make_tonari_other(const Field& field, const Kind& kind);
// [collective] The same where the program uses requests otherwise than one again and again.
std::unique_ptr<Exchange> make_tonari_use(const Field& field, Use use, const Options& options);

}  // namespace bench::halo
