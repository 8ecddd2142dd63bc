// What the requests on one neighbourhood share: the communicator, the description of the neighbourhood, tags, and what was learnt of the machine.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

#include "channels/native.hpp"
#include "cost/loggp.hpp"
#include "select/candidates.hpp"
#include "topology/neighborhood.hpp"

namespace tonari {

class Context {
 public:
  // Collective; duplicates comm. near and settings must be the same on all ranks.
  Context(MPI_Comm comm, std::shared_ptr<const Neighborhood> near, Settings settings);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  const std::shared_ptr<const Neighborhood>& near() const { return near_; }
  const Settings& settings() const { return settings_; }

  // The first of `count` tags that no other exchange uses. Must be called in the same order on all ranks. Throws Errc::overflow once all tags of
  // the communicator are used up.
  int take_tags(std::size_t count);
  // The tag that take_tags would return: for trial exchanges that are over before the next call.
  int peek_tag() const { return static_cast<int>(next_tag_); }

  // Collective at the first call each.
  std::shared_ptr<const GraphComm> graph();
  const std::string& machine_key();
  const LogGP& machine();

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, ranks_ = 0;
  std::shared_ptr<const Neighborhood> near_;
  Settings settings_;
  std::int64_t next_tag_ = 0, most_tag_ = 32767;
  std::shared_ptr<const GraphComm> graph_;
  std::string machine_key_;
  std::optional<LogGP> machine_;
};

}  // namespace tonari
