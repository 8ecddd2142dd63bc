// SPDX-License-Identifier: BSD-3-Clause
#include "tonari/tonari.h"

#define TONARI_WORD_OF(number) #number
#define TONARI_WORDS(major, minor, patch) \
  TONARI_WORD_OF(major) "." TONARI_WORD_OF(minor) "." TONARI_WORD_OF(patch)

extern "C" int tonari_version(int* major, int* minor, int* patch) {
  if (major) *major = TONARI_VERSION_MAJOR;
  if (minor) *minor = TONARI_VERSION_MINOR;
  if (patch) *patch = TONARI_VERSION_PATCH;
  return TONARI_SUCCESS;
}

extern "C" const char* tonari_version_string(void) {
  return TONARI_WORDS(TONARI_VERSION_MAJOR, TONARI_VERSION_MINOR, TONARI_VERSION_PATCH);
}
