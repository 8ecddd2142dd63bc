// SPDX-License-Identifier: BSD-3-Clause
#include "select/break_even.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>

#include "base/error.hpp"

namespace tonari {

std::string break_even(double init, const AgainstNative& times) {
  if (!(times.native > 0 && times.seconds > 0))
    return "break-even: unknown, MPI's own collective was not measured\n";
  const double saved = times.native - times.seconds;
  if (!(saved > 0)) return "break-even: never, MPI's own collective takes no longer\n";
  const auto exchanges = static_cast<long long>(std::min(std::ceil(init / saved), 1e15));
  return text("break-even: after ", exchanges, exchanges == 1 ? " exchange" : " exchanges",
              " (init took ", std::setprecision(3), init, " s, each saves ", saved * 1e6,
              " us over MPI's own collective)\n");
}

}  // namespace tonari
