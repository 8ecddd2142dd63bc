// SPDX-License-Identifier: BSD-3-Clause
#include "grid/halo_settings.hpp"

#include <string>
#include <vector>

#include "base/hash.hpp"

namespace tonari {
namespace {

HaloKind parse_kind(const std::string& word, const GridShape& shape, const HaloRequest& request) {
  const std::vector<HaloKind> kinds = kinds_of(shape, request);
  std::string list = "auto";
  for (const HaloKind kind : kinds) {
    if (word == name(kind)) return kind;
    list += text(", ", name(kind));
  }
  fail(Errc::algorithm, name_of(setting(SettingId::halo)), " is '", word, "'; on storage ",
       name(shape.storage), shape.mapped_ghosts ? " with mapped ghosts" : "",
       request.reverse ? ", for a reverse exchange," : "", " it must be one of ", list);
}

}  // namespace

std::uint64_t HaloSettings::fingerprint() const {
  return Hash()
      .word(kind ? static_cast<std::uint64_t>(*kind) + 1 : 0)
      .word(faces)
      .word(common.fingerprint())
      .value();
}

HaloSettings read_halo_settings(MPI_Info info, const GridShape& shape, const HaloRequest& request) {
  HaloSettings settings;
  if (const auto value = lookup(info, SettingId::halo); value && *value != "auto")
    settings.kind = parse_kind(*value, shape, request);
  if (const auto value = lookup(info, SettingId::halo_neighbors))
    settings.faces = *value == "faces";
  settings.common = read_settings(info, {});
  return settings;
}

}  // namespace tonari
