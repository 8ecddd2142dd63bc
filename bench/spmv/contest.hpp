// SPDX-License-Identifier: BSD-3-Clause
// What is compared: every way to do the same exchange, or the same product, behind one face, and
// what must have come out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness.hpp"
#include "spmv/share.hpp"

namespace bench::spmv {

// One kind, and the memory that all its candidates use in turn.
class Contest {
 public:
  virtual ~Contest() = default;
  virtual const std::vector<std::string>& names() const = 0;
  // [collective] null: it does not apply here. Throws tonari::Error on every rank alike
  virtual std::unique_ptr<Way> make(const std::string& name) = 0;
  // new data, and something that no result contains where results go
  virtual void prepare(int generation) = 0;
  // [collective] what this rank has
  virtual bool correct(int generation) const = 0;
};

std::unique_ptr<Contest> make_contest(const std::string& kind, const Share& share,
                                      const std::string& tune);
const std::vector<std::string>& all_kinds();       // forward, fields, reverse, rows, columns
const std::vector<std::string>& all_candidates();  // of any kind

// One file each.
std::unique_ptr<Contest> make_forward(const Share& share, const std::string& tune);
std::unique_ptr<Contest> make_fields(const Share& share, const std::string& tune);
std::unique_ptr<Contest> make_reverse(const Share& share, const std::string& tune);
std::unique_ptr<Contest> make_rows(const Share& share, const std::string& tune);
std::unique_ptr<Contest> make_columns(const Share& share, const std::string& tune);

}  // namespace bench::spmv
