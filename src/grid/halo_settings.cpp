// SPDX-License-Identifier: BSD-3-Clause
#include "grid/halo_settings.hpp"

#include <string>
#include <vector>

namespace tonari {
namespace {

HaloKind parse_kind(const std::string& word, const GridShape& shape, const HaloRequest& request) {
  const std::vector<HaloKind> kinds = kinds_of(shape, request);
  std::string list = "auto";
  for (const HaloKind kind : kinds) {
    if (word == name(kind)) return kind;
    list += text(", ", name(kind));
  }
  fail(Errc::algorithm, name_of(setting("TONARI_HALO")), " is '", word, "'; on storage ",
       name(shape.storage), shape.mapped_ghosts ? " with mapped ghosts" : "",
       request.reverse ? ", for a reverse exchange," : "", " it must be one of ", list);
}

}  // namespace

HaloSettings read_halo_settings(MPI_Info info, const GridShape& shape, const HaloRequest& request) {
  HaloSettings settings{{}, read_settings(info, any_request | Where::grids)};
  if (const std::string& word = settings.common.halo; word != "auto")
    settings.kind = parse_kind(word, shape, request);
  return settings;
}

}  // namespace tonari
