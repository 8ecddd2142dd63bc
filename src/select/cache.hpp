// What is remembered between runs, in the user's cache directory: measured machine parameters, and wisdom (which candidate won).
//
// Files are read as input from a stranger - anything malformed is skipped - and replaced atomically, with many ranks and jobs writing at
// once: an entry may be lost to a concurrent writer, a file is never torn.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "cost/loggp.hpp"

namespace tonari {

// $TONARI_CACHE_DIR, else $XDG_CACHE_HOME/tonari, else $HOME/.cache/tonari; empty if none is set or it cannot be made (then nothing is remembered).
std::string cache_directory();

// A text file of "key<TAB>value" lines behind a version line. Keys and values hold no tab or newline (asserted at put, skipped at get).
class CacheFile {
 public:
  CacheFile(std::string directory, std::string name);  // directory empty: remembers nothing
  std::optional<std::string> get(const std::string& key) const;
  // Reads, merges, writes a temporary file beside it and renames; under an advisory lock so that entries of concurrent writers survive. At most
  // 10,000 entries are kept, the newest. Returns false if it could not be written (never throws for that).
  bool put(const std::string& key, const std::string& value) const;

 private:
  std::string path_;
};

std::string to_text(const LogGP& machine);                      // all parameters, full precision
std::optional<LogGP> loggp_from_text(const std::string& text);  // nothing unless all are there, finite, and within sane bounds
LogGP read_machine_file(const std::string& path);               // the same from a file a user wrote; throws Errc::file with what is wrong

}  // namespace tonari
