// SPDX-License-Identifier: BSD-3-Clause
#include "device/cuda_compiler.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "base/hash.hpp"
#include "device/foreign_library.hpp"
#include "memory/whole_file.hpp"

namespace tonari::cuda {
namespace {

using Program = struct ProgramOf*;  // nvrtcProgram

constexpr const char* no_compiler =
    "the kernels for this device cannot be compiled, since there is no NVRTC: install the one of "
    "the driver's CUDA (a part of its toolkit; on PyPI nvidia-cuda-nvrtc) where the dynamic linker "
    "finds it";

// NVIDIA's "NVRTC", chapter "User Interface".
class Nvrtc {
 public:
  // That of the driver's CUDA, or an older one.
  explicit Nvrtc(int driver)
      : library_({text("libnvrtc.so.", driver / 1000), text("libnvrtc.so.", driver / 1000 - 1)},
                 no_compiler, [this](const char* function, int result) {
                   const auto words =
                       reinterpret_cast<const char* (*)(int)>(library_.find("nvrtcGetErrorString"));
                   return Error(Errc::internal,
                                text(function, " of NVRTC failed: ", words(result)));
                 }) {}

 private:
  template <class Signature>
  using F = ForeignFunction<Signature>;
  ForeignLibrary library_;

 public:
  F<int(int*, int*)> version{library_, "nvrtcVersion"};
  F<int(int*)> count_architectures{library_, "nvrtcGetNumSupportedArchs"};
  F<int(int*)> get_architectures{library_, "nvrtcGetSupportedArchs"};
  F<int(Program*, const char*, const char*, int, const char* const*, const char* const*)> create{
      library_, "nvrtcCreateProgram"};
  F<int(Program*)> destroy{library_, "nvrtcDestroyProgram"};
  F<int(Program, int, const char* const*)> compile{library_, "nvrtcCompileProgram"};
  F<int(Program, std::size_t*)> log_size{library_, "nvrtcGetProgramLogSize"};
  F<int(Program, char*)> get_log{library_, "nvrtcGetProgramLog"};
  F<int(Program, std::size_t*)> binary_size{library_, "nvrtcGetCUBINSize"};
  F<int(Program, char*)> get_binary{library_, "nvrtcGetCUBIN"};
  F<int(Program, std::size_t*)> assembly_size{library_, "nvrtcGetPTXSize"};
  F<int(Program, char*)> get_assembly{library_, "nvrtcGetPTX"};
};

// What it compiles to: code of the device itself, or for a device that is newer than the compiler
// assembly of the newest one that it knows, which the driver translates.
struct Target {
  int architecture;
  bool exact;
  std::string option() const {
    return text("--gpu-architecture=", exact ? "sm_" : "compute_", architecture);
  }
};

Target target_for(const Nvrtc& nvrtc, int capability) {
  int count = 0;
  nvrtc.count_architectures(&count);
  std::vector<int> all(static_cast<std::size_t>(std::max(count, 0)));
  nvrtc.get_architectures(all.data());
  std::optional<int> best;
  for (const int one : all)
    if (one <= capability && (!best || one > *best)) best = one;
  if (!best)
    fail(Errc::argument, "this NVRTC compiles for no device of capability ", capability / 10, ".",
         capability % 10, "; install that of an older CUDA");
  return {*best, *best == capability};
}

class Compilation {
 public:
  Compilation(const Nvrtc& nvrtc, const char* source) : nvrtc_(nvrtc) {
    nvrtc_.create(&program_, source, "kernels.cu", 0, nullptr, nullptr);
  }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;
  ~Compilation() { (void)nvrtc_.destroy.result(&program_); }

  std::string run(const Target& target) {
    const std::string architecture = target.option();
    const std::array<const char*, 2> options = {architecture.c_str(), "--std=c++17"};
    const int result =
        nvrtc_.compile.result(program_, static_cast<int>(options.size()), options.data());
    if (result != 0)
      fail(Errc::internal, "NVRTC does not compile the kernels for ", architecture, ": ", log());
    return target.exact ? take(nvrtc_.binary_size, nvrtc_.get_binary)
                        : take(nvrtc_.assembly_size, nvrtc_.get_assembly);
  }

 private:
  std::string log() {
    std::string log = take(nvrtc_.log_size, nvrtc_.get_log);
    std::replace(log.begin(), log.end(), '\n', ' ');
    return log.substr(0, 400);
  }
  template <class Size, class Get>
  std::string take(const Size& size, const Get& get) {
    std::size_t bytes = 0;
    size(program_, &bytes);
    std::string taken(bytes, '\0');
    get(program_, taken.data());
    return taken;
  }

  const Nvrtc& nvrtc_;
  Program program_ = nullptr;
};

// ---- what is kept

constexpr std::int64_t largest_file = 16 << 20;

std::string hexadecimal(std::uint64_t value) {
  char digits[16];
  return {digits, std::to_chars(digits, digits + sizeof digits, value, 16).ptr};
}

std::string heading(const std::string& image) {
  return text("tonari kernels 1 ", hexadecimal(Hash().bytes(image).value()), "\n");
}

// Nothing unless the file is as it was written.
std::optional<std::string> kept(const std::string& path) {
  const std::optional<std::string> content = read_file(path, largest_file);
  if (!content) return std::nullopt;
  const std::size_t end = content->find('\n');
  if (end == content->npos) return std::nullopt;
  std::string image = content->substr(end + 1);
  return content->starts_with(heading(image)) ? std::optional(std::move(image)) : std::nullopt;
}

}  // namespace

std::string compiled_kernels(const char* source, int capability, int driver,
                             const std::string& cache) {
  const Nvrtc nvrtc(driver);
  int major = 0, minor = 0;
  nvrtc.version(&major, &minor);
  const Target target = target_for(nvrtc, capability);
  const std::uint64_t key = Hash()
                                .bytes(source)
                                .bytes(target.option())
                                .word(static_cast<std::uint64_t>(1000 * major + minor))
                                .value();
  const std::string path = text(cache, "/kernels-", hexadecimal(key));
  if (!cache.empty())
    if (std::optional<std::string> image = kept(path)) return *std::move(image);
  std::string image = Compilation(nvrtc, source).run(target);
  if (!cache.empty()) (void)replace_file(path, heading(image) + image);
  return image;
}

}  // namespace tonari::cuda
