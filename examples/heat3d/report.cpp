// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace {

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    } else {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    }
  }
  return out + '"';
}

template <class Values, class Write>
std::string array(const Values& values, Write write) {
  std::ostringstream out;
  const char* between = "[";
  for (const auto& value : values) {
    out << between << write(value);
    between = ", ";
  }
  if (values.size() == 0) out << '[';
  out << ']';
  return out.str();
}

std::string number(double value) {
  std::ostringstream out;
  out.precision(17);
  out << value;
  return out.str();
}

template <class Values>
std::string numbers(const Values& values) {
  return array(values, number);
}

std::string microseconds(const Quartiles& q) {
  return numbers(std::array{q.q1 * 1e6, q.median * 1e6, q.q3 * 1e6});
}

std::string steps(const Times& times) {
  return array(times, [](double seconds) { return number(std::round(seconds * 1e9) / 1e3); });
}

std::string plan_object(const tonari_request_info& plan, const std::string& description) {
  std::ostringstream out;
  out << "{\"algorithm\": " << json_string(plan.algorithm)
      << ", \"variant\": " << json_string(plan.variant)
      << ", \"channel\": " << json_string(plan.channel)
      << ", \"reason\": " << json_string(plan.reason) << ", \"messages\": " << plan.messages
      << ", \"rounds\": " << plan.rounds << ", \"bytes\": " << plan.bytes
      << ", \"predicted_us\": " << plan.predicted_seconds * 1e6
      << ", \"measured_us\": " << plan.measured_seconds * 1e6
      << ", \"init_ms\": " << plan.init_seconds * 1e3
      << ", \"description\": " << json_string(description) << '}';
  return out.str();
}

std::string mode_object(const Domain& domain, const Mode& mode) {
  return "{\"k\": " + numbers(mode.k) + ", \"eigenvalue\": " + number(eigenvalue(domain, mode)) +
         "}";
}

std::string sample_object(const Sample& sample) {
  return "{\"step\": " + std::to_string(sample.step) + ", \"content\": " + numbers(sample.content) +
         '}';
}

std::string mpi_version() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  std::istringstream first(std::string(version, std::find_if(version, version + length, [](char c) {
                                         return c == '\n' || c == ',';
                                       })));
  std::string words;
  for (std::string word; first >> word;)
    if (word != "Version:") words += (words.empty() ? "" : " ") + word;
  return words;
}

}  // namespace

Times slowest(const Domain& domain, const Times& times) {
  Times most(times.size());
  MPI_Reduce(times.data(), most.data(), static_cast<int>(times.size()), MPI_DOUBLE, MPI_MAX, 0,
             domain.cart);
  return most;
}

Quartiles quartiles(Times times) {
  std::sort(times.begin(), times.end());
  const auto at = [&](double part) {
    return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1) + 0.5)];
  };
  return {at(0.25), at(0.5), at(0.75)};
}

std::string json(const Report& r) {
  const Domain& domain = *r.domain;
  const Quartiles native = quartiles(r.native), tonari = quartiles(r.tonari);
  std::ostringstream out;
  out << "{\"mpi\": " << json_string(mpi_version()) << ", \"ranks\": " << numbers(domain.ranks)
      << ", \"points\": " << domain.n << ", \"steps\": " << r.steps
      << ", \"native_us\": " << microseconds(native) << ", \"tonari_us\": " << microseconds(tonari)
      << ", \"ratio\": " << native.median / tonari.median
      << ", \"setup_ms\": " << r.setup_seconds * 1e3 << ", \"native_steps_us\": " << steps(r.native)
      << ", \"tonari_steps_us\": " << steps(r.tonari)
      << ", \"plan\": " << plan_object(r.plan, r.description)
      << ", \"error_native\": " << r.error_native << ", \"error_tonari\": " << r.error_tonari
      << ", \"error_limit\": " << r.error_limit
      << ", \"fields_equal\": " << (r.fields_equal ? "true" : "false")
      << ", \"passed\": " << (r.passed() ? "true" : "false") << ", \"modes\": "
      << array(initial_modes(), [&](const Mode& mode) { return mode_object(domain, mode); })
      << ", \"samples\": " << array(r.samples, sample_object)
      << ", \"slice_steps\": " << numbers(r.slice_steps)
      << ", \"slice_shape\": " << numbers(std::array{domain.global(1), domain.global(2)}) << '}';
  return out.str();
}
