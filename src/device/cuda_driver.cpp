// SPDX-License-Identifier: BSD-3-Clause
#include "device/cuda_driver.hpp"

namespace tonari::cuda {
namespace {

constexpr const char* no_driver =
    "there is no driver of CUDA: install NVIDIA's driver, whose libcuda.so.1 the dynamic linker "
    "must find";

std::string version_text(int version) {
  return text("CUDA ", version / 1000, ".", version % 1000 / 10);
}

// Which mistake of the caller's it is, if it is one.
Errc code_of(int result) {
  if (result == out_of_memory) return Errc::memory;
  if (result >= first_of_capture && result <= last_of_capture) return Errc::active;
  const bool argument = result == invalid_value || result == invalid_device ||
                        result == invalid_context || result == invalid_handle;
  return argument ? Errc::argument : Errc::internal;
}

// The work that failed is not that of this call, and the device is lost to this process.
bool is_of_earlier_work(int result) {
  return result == ecc_uncorrectable || result == illegal_address || result == launch_timeout ||
         result == failed_assertion || (result >= hardware_stack_error && result <= launch_failed);
}

}  // namespace

Driver::Driver()
    : library_({"libcuda.so.1"}, no_driver,
               [this](const char* function, int result) { return meaning(function, result); }) {
  if (const int result = init.result(0); result == no_device)
    fail(Errc::argument,
         "CUDA's driver sees no device: is there one, and does CUDA_VISIBLE_DEVICES show it?");
  else
    init.check(result);
  driver_get_version(&version_);
  if (version_ < oldest)
    fail(Errc::argument, "the driver is one of ", version_text(version_), ", and ",
         version_text(oldest), " is needed; install a newer driver");
}

Error Driver::meaning(const char* function, int result) const {
  const char *name = nullptr, *words = nullptr;
  if (get_error_name.result(result, &name) != success || !name) name = "an error it cannot name";
  if (get_error_string.result(result, &words) != success || !words) words = "no words for it";
  if (result >= first_of_capture && result <= last_of_capture)
    return Error(Errc::active,
                 text(function, " is not allowed while a stream is captured: ", name, ", ", words));
  if (is_of_earlier_work(result))
    return Error(Errc::internal, text("work that the device got earlier has failed, as ", function,
                                      " tells: ", name, ", ", words));
  return Error(code_of(result), text(function, " of CUDA's driver failed: ", name, ", ", words));
}

}  // namespace tonari::cuda
