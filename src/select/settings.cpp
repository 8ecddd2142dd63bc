// SPDX-License-Identifier: BSD-3-Clause
#include "select/settings.hpp"

#include "base/hash.hpp"

namespace tonari {

Tune parse_tune(const std::string& word) {
  if (word == "auto") return Tune::automatic;
  if (word == "off") return Tune::off;
  if (word == "online") return Tune::online;
  return word == "model" ? Tune::model : Tune::measure;
}

std::uint64_t Settings::fingerprint() const {
  const std::uint64_t flags = strict_communication + 2 * exact_byte_communications +
                              4 * static_buffers + 8 * progress_thread + 16 * recv_view +
                              32 * start_with;
  return Hash()
      .bytes(algorithm)
      .bytes(variant)
      .bytes(channel)
      .word(static_cast<std::uint64_t>(tune))
      .word(ports)
      .word(flags)
      .word(ready.value_or(-1))
      .word(canary.value_or(~Bytes{0}))
      .value();
}

}  // namespace tonari
