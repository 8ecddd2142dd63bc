// A repertoire without the algorithms that send to ranks which are no neighbours (cdag_strict_communication).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>

#include "select/scheme.hpp"
#include "topology/vertex.hpp"

namespace tonari {

class StrictRepertoire final : public Repertoire {
 public:
  // all: collective; makes each number the smallest of all ranks. vertex must outlive this.
  StrictRepertoire(std::unique_ptr<Repertoire> inner, const Vertex& vertex, std::function<void(std::span<int>)> all)
      : inner_(std::move(inner)), vertex_(vertex), all_(std::move(all)) {}

  std::vector<std::string> algorithms() const override { return inner_->algorithms(); }
  // Collective, also where the inner one is not.
  std::vector<SchemePtr> schemes(const std::string& algorithm, Collective collective, double block_bytes, std::string& reason) override;

 private:
  std::vector<int> follow_edges(const std::vector<SchemePtr>& schemes);

  std::unique_ptr<Repertoire> inner_;
  const Vertex& vertex_;
  std::function<void(std::span<int>)> all_;
  std::map<SchemePtr, bool> known_;
};

}  // namespace tonari
