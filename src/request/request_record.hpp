// SPDX-License-Identifier: BSD-3-Clause
// What the report tells of a request, or of one-shot calls that share an exchange.
#pragma once

#include <memory>

#include "engine/comm/recorded.hpp"
#include "engine/comm/usage.hpp"

namespace tonari {

struct Prepared;

// How the program came to the exchange.
enum class CalledBy : bool { request, one_shot };

class RequestRecord final : public Recorded {
 public:
  // `prepared` keeps it, and ends it before anything that it reports is gone.
  RequestRecord(Prepared& prepared, CalledBy by) : prepared_(prepared), by_(by) {}
  ~RequestRecord() override { fold(); }

  ReportRow row() override;
  Usage& usage() { return usage_; }

 private:
  Prepared& prepared_;
  CalledBy by_;
  Usage usage_;
};

// If a report is wanted, records the exchange from its next start on. It must not run. Without
// memory it is not recorded.
void record_use(Prepared& prepared, CalledBy by) noexcept;
// The same for what comes from an init or a call.
inline std::shared_ptr<Prepared> recorded(std::shared_ptr<Prepared> prepared, CalledBy by) {
  record_use(*prepared, by);
  return prepared;
}

}  // namespace tonari
