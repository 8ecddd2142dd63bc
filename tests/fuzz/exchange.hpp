// SPDX-License-Identifier: BSD-3-Clause
// What the fuzzer exchanges: random exchanges of every kind, each with what it must deliver. Every
// rank knows the whole exchange, since all draw it from one generator. Only how its own memory
// looks a rank draws by itself.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/graph_oracle.hpp"

namespace tonari::fuzz {

using test::pick;
using test::Random;

// How an exchange is called: as a request, by a call that returns at once, or by one that waits.
enum class Form { request, started, blocking };

// A communicator on which objects are made, and the nodes that its ranks pretend to be on.
struct Place {
  MPI_Comm comm = MPI_COMM_NULL;
  std::string nodes;  // TONARI_NODES
  int rank = 0, ranks = 1;
};

class Exchange;

// What an exchange is drawn from.
struct Draws {
  const Place& place;
  Random& common;                                   // the same on all ranks
  Random& own;                                      // another on each rank
  std::vector<std::unique_ptr<Exchange>>& earlier;  // of this case
};

using Keys = std::vector<std::pair<std::string, std::string>>;

class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  virtual bool offers(Form form) const = 0;
  virtual bool fits_into_groups() const { return false; }
  // Info keys that the same exchange may have; the same on all ranks.
  virtual Keys keys(Random& common, Form form) const = 0;

  // Each returns a code of tonari's. In a group init is called with MPI_INFO_NULL and nullptr.
  virtual int init(MPI_Info info, tonari_request* request) = 0;
  virtual int start(tonari_request request) { return tonari_start(request); }
  virtual int begin(MPI_Info, tonari_request*) { return TONARI_ERR_INTERNAL; }
  virtual int call(MPI_Info) { return TONARI_ERR_INTERNAL; }

  // All memory is written before an exchange, and all of it is looked at afterwards. What is wrong
  // is a sentence, or empty. request is null for calls without one.
  virtual void prepare(int round) = 0;
  virtual std::string wrong(int round, tonari_request request) = 0;

  // Frees the objects that it was made of; its request may be there, and goes on.
  virtual bool may_be_freed_early() const { return true; }
  virtual void free() = 0;

  std::string label;
};

// Of kinds of exchanges one each: "operation", "inplace", "vector", "grid", "blocks", "sparse",
// "group".
std::unique_ptr<Exchange> make_operation(Draws& draws);
std::unique_ptr<Exchange> make_in_place(Draws& draws);
std::unique_ptr<Exchange> make_vector(Draws& draws);
std::unique_ptr<Exchange> make_grid(Draws& draws);
std::unique_ptr<Exchange> make_blocks(Draws& draws);
std::unique_ptr<Exchange> make_sparse(Draws& draws);
std::unique_ptr<Exchange> make_group(Draws& draws);

// The call must succeed: what it says is thrown, and ends the case.
void must(int code, const char* what);

// Keys that all exchanges between neighbors have.
Keys neighbor_keys(Random& common);
// One of the words.
template <std::size_t N>
std::string word(Random& common, const char* const (&words)[N]) {
  return words[common() % N];
}

}  // namespace tonari::fuzz
