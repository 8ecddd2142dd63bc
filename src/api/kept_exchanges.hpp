// Exchanges of an object's one-shot calls, kept for the same calls to come.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "api/prepared.hpp"

namespace tonari {

// By what ranks agree on, so they are the same ones on all ranks, in the same order. The oldest
// goes.
class KeptExchanges {
 public:
  // an exchange is kept by all ranks or by none: nothing is allocated later
  KeptExchanges() { kept_.reserve(most); }

  // Its number, from 1 on; 0 if there is none. buffers: what only this rank knows of it.
  std::size_t find(std::uint64_t call, std::uint64_t buffers = 0) const {
    for (std::size_t k = 0; k < kept_.size(); ++k)
      if (kept_[k].call == call && kept_[k].buffers == buffers && !kept_[k].prepared->broken)
        return k + 1;
    return 0;
  }
  std::shared_ptr<Prepared> get(std::size_t number) const {
    return number > 0 ? kept_[number - 1].prepared : nullptr;
  }
  std::shared_ptr<Prepared> known(std::uint64_t call) const { return get(find(call)); }
  void keep(std::uint64_t call, std::shared_ptr<Prepared> prepared, std::uint64_t buffers = 0) {
    if (kept_.size() == most) kept_.erase(kept_.begin());
    kept_.push_back({call, buffers, std::move(prepared)});
  }
  void clear() { kept_.clear(); }

 private:
  static constexpr std::size_t most = 8;
  struct Kept {
    std::uint64_t call, buffers;
    std::shared_ptr<Prepared> prepared;
  };
  std::vector<Kept> kept_;
};

}  // namespace tonari
