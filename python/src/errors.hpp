// SPDX-License-Identifier: BSD-3-Clause
// tonari::Error becomes the Python exception tonari.Error, with its code.
#pragma once

namespace tonari {

void translate_errors();

}  // namespace tonari
