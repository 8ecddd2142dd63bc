// SPDX-License-Identifier: BSD-3-Clause
// No bytes break a reader: it returns what can be, or refuses with a sentence. The seed of a
// failure is printed; TONARI_TEST_SEED=n repeats it as the first case, and TONARI_TEST_SECONDS=n
// goes on for as long.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "readers/mutate.hpp"
#include "readers/readers.hpp"
#include "support/random_cases.hpp"

namespace {

using namespace tonari::test;

unsigned number_in(const char* variable, unsigned standard) {
  const char* const value = std::getenv(variable);
  return value ? static_cast<unsigned>(std::strtoul(value, nullptr, 10)) : standard;
}

std::string wrong(const Reader& reader, const std::string& text) {
  try {
    reader.read(text);
  } catch (const Wrong& wrong) {
    return wrong.sentence;
  } catch (const std::exception& error) {
    return std::string("an exception that is no error of ours: ") + error.what();
  }
  return "";
}

TEST(Readers, NoBytesBreakThem) {
  const auto begin = std::chrono::steady_clock::now();
  const auto late = [&] {
    const std::chrono::seconds limit(number_in("TONARI_TEST_SECONDS", 0));
    return std::chrono::steady_clock::now() - begin >= limit;
  };
  const unsigned first = number_in("TONARI_TEST_SEED", 1), cases = random_cases(2000u);
  for (unsigned k = 0; k < cases || !late(); ++k)
    for (const Reader& reader : readers()) {
      const std::string text = Mutator(first + k).changed(reader.examples);
      const std::string said = wrong(reader, text);
      ASSERT_EQ(said, "") << "TONARI_TEST_SEED=" << first + k << ", " << reader.name << ": "
                          << testing::PrintToString(text);
    }
}

TEST(Readers, ExamplesAreRight) {
  for (const Reader& reader : readers())
    for (const std::string& example : reader.examples)
      EXPECT_EQ(wrong(reader, example), "") << reader.name << ": " << example;
}

}  // namespace
