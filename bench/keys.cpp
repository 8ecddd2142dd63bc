// SPDX-License-Identifier: BSD-3-Clause
#include "keys.hpp"

#include "base/error.hpp"

namespace bench {

void check(int code) {
  if (code != TONARI_SUCCESS) tonari::fail(static_cast<tonari::Errc>(code), tonari_last_error());
}

Keys::Keys(std::initializer_list<std::pair<const char*, std::string>> values) {
  MPI_Info_create(&info_);
  for (const auto& [key, value] : values) MPI_Info_set(info_, key, value.c_str());
}

}  // namespace bench
