// SPDX-License-Identifier: BSD-3-Clause
// What a layer above the C interface found wrong on this rank before a collective call
// (tonari_refuse). The call takes part all the same, and all ranks hear of it.
#pragma once

namespace tonari {

// Begins the reading of arguments, wherever a call reads them: throws what was found wrong, if this
// thread has been told of something. It is told once.
void throw_refusal();

// For what a failed call leaves: the sentence that nobody has read, which then takes the place of
// that of the call; null: there is none. Valid until the next call of tonari_refuse.
const char* take_refusal(int& code) noexcept;

}  // namespace tonari
