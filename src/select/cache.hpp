// SPDX-License-Identifier: BSD-3-Clause
// What is kept between runs in the user's cache directory: measured machine parameters, and wisdom
// (which candidate won).
//
// Files are read as input from a stranger - anything malformed is skipped - and replaced
// atomically, with many ranks and jobs writing at once: an entry may be lost to a concurrent
// writer, a file is never torn.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "cost/loggp.hpp"

namespace tonari {

// $TONARI_CACHE_DIR, else $XDG_CACHE_HOME/tonari, else $HOME/.cache/tonari, made with what is
// missing above it, for its owner alone (mode 0700); empty if none is set or it cannot be made
// (then nothing is remembered).
std::string cache_directory();

// Says what is wrong with TONARI_CACHE_DIR where it names no directory, and none can be made.
std::optional<std::string> wrong_cache_directory();

// A text file of "key<TAB>value" lines behind a version line, the newest last. Keys (not empty) and
// values hold no control character, tab and newline included, and a line at most 64 KiB: others are
// refused at put, skipped at get. Calls are independent: any thread or process may make them.
class CacheFile {
 public:
  CacheFile(std::string directory, std::string name);  // directory empty: remembers nothing
  std::optional<std::string> get(const std::string& key) const;
  // Reads, merges, writes a temporary file beside it and renames; under an advisory lock so that
  // entries of concurrent writers survive. At most 10,000 entries are kept, the newest. A symbolic
  // link in the file's place is replaced, not followed. Returns false if it could not be written
  // (never throws for that).
  bool put(const std::string& key, const std::string& value) const;

 private:
  std::string path_;
};

// "L=1e-06 o=4e-07 ... eager=4096 ...": all parameters on one line, times in seconds, exact to the
// last bit.
std::string to_text(const LogGP& machine);
// Nothing unless all are there once, finite, and within bounds: times below 10 s and above 0
// (rendezvous may be 0), eager from 1 byte to 1 GiB.
std::optional<LogGP> loggp_from_text(const std::string& text);
// The same from a file a user wrote, which may spread over lines, have blanks around '=' and
// comments behind '#'. With "otherwise=generic", what is missing is as in the generic machine,
// LogGP itself. Throws Errc::file with what is wrong.
LogGP read_machine_file(const std::string& path);

}  // namespace tonari
