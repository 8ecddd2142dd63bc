// SPDX-License-Identifier: BSD-3-Clause
// Words of a command line, turned into numbers and lists. All throw tonari::Error with a sentence.
#pragma once

#include <string>
#include <vector>

namespace bench {

std::vector<std::string> split(const std::string& text, char separator);
long long whole(const std::string& text, long long least, long long most, const char* what);
double seconds(const std::string& text, const char* what);  // 0 or more

}  // namespace bench
