// SPDX-License-Identifier: BSD-3-Clause
// What is compared: every way to send to ranks that do not expect it behind one face.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness.hpp"
#include "sparse/workload.hpp"

namespace bench::sparse {

class Exchange : public Way {
 public:
  virtual std::vector<Arrived> arrived() const = 0;  // in the last run
};

const std::vector<std::string>& known_algorithms();
// [collective] Throws tonari::Error on every rank alike.
std::unique_ptr<Exchange> make_exchange(const std::string& algorithm, const Workload& work);

}  // namespace bench::sparse
