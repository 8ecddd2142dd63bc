// SPDX-License-Identifier: BSD-3-Clause
// Checked calls and info keys, which every caller of tonari's C interface needs.
#pragma once

#include <tonari/tonari.h>

#include <initializer_list>
#include <string>
#include <utility>

namespace bench {

// Throws tonari::Error with the library's sentence unless the code is success.
void check(int code);

// Info keys, freed at the end of the scope.
class Keys {
 public:
  Keys(std::initializer_list<std::pair<const char*, std::string>> values);
  ~Keys() { MPI_Info_free(&info_); }
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;
  void set(const char* key, const std::string& value) { MPI_Info_set(info_, key, value.c_str()); }
  MPI_Info get() const { return info_; }

 private:
  MPI_Info info_;
};

}  // namespace bench
