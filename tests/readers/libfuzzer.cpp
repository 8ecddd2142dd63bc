// SPDX-License-Identifier: BSD-3-Clause
// The readers for libFuzzer, which finds bytes that reach new code. TONARI_TEST_READER chooses one
// by its name, else all read what comes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "readers/readers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const char* const wanted = std::getenv("TONARI_TEST_READER");
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const tonari::test::Reader& reader : tonari::test::readers()) {
    if (wanted && std::string_view(wanted) != reader.name) continue;
    try {
      reader.read(text);
    } catch (const tonari::test::Wrong& wrong) {
      std::fprintf(stderr, "%s: %s\n", reader.name, wrong.sentence.c_str());
      std::abort();
    }
  }
  return 0;
}
