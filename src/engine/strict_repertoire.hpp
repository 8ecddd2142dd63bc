// A repertoire without the algorithms that send to ranks which are no neighbours (cdag_strict_communication).
#pragma once

#include <mpi.h>

#include <functional>
#include <map>
#include <memory>

#include "select/scheme.hpp"
#include "topology/vertex.hpp"

namespace tonari {

class StrictRepertoire final : public Repertoire {
 public:
  // comm: the communicator of all ranks, which may be another one from time to time. vertex must outlive this.
  StrictRepertoire(std::unique_ptr<Repertoire> inner, const Vertex& vertex, std::function<MPI_Comm()> comm)
      : inner_(std::move(inner)), vertex_(vertex), comm_(std::move(comm)) {}

  std::vector<std::string> algorithms() const override { return inner_->algorithms(); }
  // Collective, also where the inner one is not.
  std::vector<SchemePtr> schemes(const std::string& algorithm, Collective collective, double block_bytes, std::string& reason) override;

 private:
  void look_at(const std::vector<SchemePtr>& schemes);

  std::unique_ptr<Repertoire> inner_;
  const Vertex& vertex_;
  std::function<MPI_Comm()> comm_;
  std::map<SchemePtr, bool> known_;  // whether it is fine
};

}  // namespace tonari
