// SPDX-License-Identifier: BSD-3-Clause
#include "request/refusal.hpp"

#include <cstring>

#include "base/error.hpp"
#include "tonari/tonari.h"

namespace tonari {
namespace {

// A fixed array: it must not need memory.
struct Refusal {
  int code = TONARI_SUCCESS;  // none
  char sentence[1024] = "";
};
thread_local Refusal refusal;

}  // namespace

const char* take_refusal(int& code) noexcept {
  if (refusal.code == TONARI_SUCCESS) return nullptr;
  code = refusal.code;
  refusal.code = TONARI_SUCCESS;
  return refusal.sentence;
}

void throw_refusal() {
  int code = TONARI_SUCCESS;
  if (const char* const sentence = take_refusal(code)) throw Error(Errc{code}, sentence);
}

}  // namespace tonari

extern "C" void tonari_refuse(int code, const char* sentence) {
  tonari::Refusal& told = tonari::refusal;
  if (told.code != TONARI_SUCCESS || code == TONARI_SUCCESS) return;  // the first mistake counts
  told.code = code;
  std::strncpy(told.sentence, sentence ? sentence : "", sizeof told.sentence - 1);
}
