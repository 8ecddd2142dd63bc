// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/sparse_message.hpp"

#include <cstring>

namespace tonari {

Word* MessagePacking::pack(const SparseMessage& message, Word* to) const {
  const auto length = static_cast<Word>(message.bytes);
  *to++ = is_short(message.bytes) ? length : -length;
  if (!is_short(message.bytes) || message.bytes == 0) return to;
  Word* const end = to + words_of(message.bytes);
  end[-1] = 0;
  std::memcpy(to, message.address, message.bytes);
  return end;
}

}  // namespace tonari
