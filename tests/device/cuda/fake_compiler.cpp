// SPDX-License-Identifier: BSD-3-Clause
// Plays NVRTC of CUDA 12: what it makes of the kernels is the name of the architecture.
#include <algorithm>
#include <cstring>
#include <string>

#include "device/cuda/fake_driver.hpp"

using tonari::test::FakeCompiler;

namespace {

struct Program {
  std::string source, image;
};

FakeCompiler& fake() {
  static FakeCompiler* const made = new FakeCompiler;
  return *made;
}

constexpr int failed = 6;
bool fails() { return fake().calls++ == fake().fails_at; }

template <class Work>
int call(Work work) {
  if (fails()) return failed;
  work();
  return 0;
}

}  // namespace

#define VISIBLE extern "C" __attribute__((visibility("default")))

VISIBLE FakeCompiler* tonari_fake_compiler() { return &fake(); }

VISIBLE const char* nvrtcGetErrorString(int) { return "it was told to fail"; }

VISIBLE int nvrtcVersion(int* major, int* minor) {
  return call([&] { *major = 12, *minor = fake().version_minor; });
}

VISIBLE int nvrtcGetNumSupportedArchs(int* count) {
  return call([&] { *count = static_cast<int>(fake().architectures.size()); });
}

VISIBLE int nvrtcGetSupportedArchs(int* all) {
  return call([&] { std::copy(fake().architectures.begin(), fake().architectures.end(), all); });
}

VISIBLE int nvrtcCreateProgram(Program** made, const char* source, const char*, int,
                               const char* const*, const char* const*) {
  return call([&] { *made = new Program{source, ""}, ++fake().programs; });
}

VISIBLE int nvrtcDestroyProgram(Program** program) {
  delete *program;
  --fake().programs;
  return fails() ? failed : 0;
}

VISIBLE int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
  return call([&] {
    ++fake().compilations;
    program->image = "image of";
    for (int k = 0; k < count; ++k) (program->image += ' ') += options[k];
  });
}

VISIBLE int nvrtcGetProgramLogSize(Program*, std::size_t* bytes) {
  return call([&] { *bytes = 20; });
}

VISIBLE int nvrtcGetProgramLog(Program*, char* log) {
  return call([&] { std::strcpy(log, "line 1\nis not right"); });
}

VISIBLE int nvrtcGetCUBINSize(Program* program, std::size_t* bytes) {
  return call([&] { *bytes = program->image.size(); });
}

VISIBLE int nvrtcGetCUBIN(Program* program, char* image) {
  return call([&] { program->image.copy(image, program->image.size()); });
}

VISIBLE int nvrtcGetPTXSize(Program* program, std::size_t* bytes) {
  return call([&] { *bytes = program->image.size(); });
}

VISIBLE int nvrtcGetPTX(Program* program, char* image) {
  return call([&] { program->image.copy(image, program->image.size()); });
}
