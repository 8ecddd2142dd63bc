// SPDX-License-Identifier: BSD-3-Clause
// The cache against strangers: garbage, links, directories in the way, and many writers at once.
#include "select/cache.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <vector>

#include "memory/limits.hpp"
#include "support/temporary_directory.hpp"

namespace tonari {
namespace {

namespace fs = std::filesystem;

// An environment variable for the time of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

using CacheDirectory = test::TemporaryDirectory;

TEST_F(CacheDirectory, IsTheFirstPlaceNamed) {
  const Variable home("HOME", directory_.c_str());
  {
    const Variable own("TONARI_CACHE_DIR", path("a/b").c_str()),
        xdg("XDG_CACHE_HOME", path("x").c_str());
    EXPECT_EQ(cache_directory(), path("a/b"));
    EXPECT_EQ(wrong_cache_directory(), std::nullopt);
  }
  {
    const Variable own("TONARI_CACHE_DIR", nullptr), xdg("XDG_CACHE_HOME", path("x").c_str());
    EXPECT_EQ(cache_directory(), path("x/tonari"));
  }
  {
    const Variable own("TONARI_CACHE_DIR", ""), xdg("XDG_CACHE_HOME", "relative/is/ignored");
    EXPECT_EQ(cache_directory(), path(".cache/tonari"));
    EXPECT_EQ(cache_directory(), path(".cache/tonari")) << "it is there already";
  }
  for (const char* made : {"a", "a/b", "x/tonari", ".cache/tonari"}) {
    struct stat status;
    ASSERT_EQ(::stat(path(made).c_str(), &status), 0) << made;
    EXPECT_EQ(status.st_mode & 0777, 0700u) << made;
  }
}

TEST_F(CacheDirectory, IsEmptyWhereNoneCanBe) {
  write("file", "in the way");
  {
    const Variable own("TONARI_CACHE_DIR", path("file/below").c_str());
    EXPECT_EQ(cache_directory(), "");
  }
  {
    const Variable own("TONARI_CACHE_DIR", path("file").c_str());
    EXPECT_EQ(cache_directory(), "") << "a file is no directory";
    EXPECT_EQ(wrong_cache_directory(),
              "TONARI_CACHE_DIR is '" + path("file") +
                  "', which is no directory and cannot be made one (File exists); name one where "
                  "this process may write, or nothing that is measured will be remembered");
  }
  const Variable own("TONARI_CACHE_DIR", nullptr), xdg("XDG_CACHE_HOME", nullptr),
      home("HOME", nullptr);
  EXPECT_EQ(cache_directory(), "");
  EXPECT_EQ(wrong_cache_directory(), std::nullopt) << "the program has named none";
}

using Cache = test::TemporaryDirectory;

TEST_F(Cache, RemembersTheNewestValue) {
  const CacheFile file(directory_, "wisdom");
  EXPECT_EQ(file.get("a"), std::nullopt);
  EXPECT_TRUE(file.put("a", "1"));
  EXPECT_TRUE(file.put("b", "two words"));
  EXPECT_TRUE(file.put("a", ""));
  EXPECT_EQ(file.get("a"), "");
  EXPECT_EQ(CacheFile(directory_, "wisdom").get("b"), "two words");
  EXPECT_EQ(CacheFile(directory_, "machines").get("b"), std::nullopt);
  EXPECT_EQ(read("wisdom"), "tonari cache 1\nb\ttwo words\na\t\n");
  EXPECT_EQ(files(), 2u) << "the file and its lock, no temporary ones";
  struct stat status;
  ASSERT_EQ(::stat(path("wisdom").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

// A process reads a file once, and again when it is another one: whoever changed it, and how.
TEST_F(Cache, SeesWhatOthersChange) {
  const CacheFile file(directory_, "wisdom");
  const auto contains = [](const char* value) {
    return std::string("tonari cache 1\nkey\t") + value + "\n";
  };
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  const auto write_long_ago = [&](const std::string& name, const char* value) {
    write(name, contains(value));
    fs::last_write_time(path(name), long_ago);
  };
  write_long_ago("wisdom", "one");
  EXPECT_EQ(file.get("key"), "one");
  EXPECT_EQ(file.get("key"), "one");
  EXPECT_EQ(file.get("other"), std::nullopt);
  write_long_ago("wisdom", "three");
  EXPECT_EQ(file.get("key"), "three") << "longer";
  write_long_ago("next", "seven");
  fs::rename(path("next"), path("wisdom"));
  EXPECT_EQ(file.get("key"), "seven") << "another file, as long and as old";
  for (const char* value : {"eight", "forty", "sixty"}) {  // faster than the file system's clock
    write("wisdom", contains(value));
    EXPECT_EQ(file.get("key"), value);
  }
  EXPECT_TRUE(file.put("key", "ninth"));
  EXPECT_EQ(file.get("key"), "ninth");
  fs::remove(path("wisdom"));
  EXPECT_EQ(file.get("key"), std::nullopt);
}

TEST_F(Cache, RefusesWhatWouldBreakALine) {
  const CacheFile file(directory_, "wisdom");
  for (const std::string& bad : {std::string("a\tb"), std::string("a\nb"), std::string("a\0b", 3),
                                 std::string("a\r"), std::string(1 << 17, 'x')}) {
    EXPECT_FALSE(file.put(bad, "1"));
    EXPECT_FALSE(file.put("a", bad));
  }
  EXPECT_FALSE(file.put("", "1"));
  EXPECT_EQ(files(), 0u);
}

TEST_F(Cache, WithoutADirectoryRemembersNothing) {
  const CacheFile nowhere("", "wisdom");
  EXPECT_FALSE(nowhere.put("a", "1"));
  EXPECT_EQ(nowhere.get("a"), std::nullopt);
  const CacheFile gone(path("missing"), "wisdom");
  EXPECT_FALSE(gone.put("a", "1"));
  EXPECT_EQ(gone.get("a"), std::nullopt);
}

TEST_F(Cache, SkipsMalformedLines) {
  const std::string nul("nul\0\tx\n", 7), huge = std::string(1 << 20, 'h') + "\tuge\n";
  write("wisdom", "tonari cache 1\nno tab\n\t no key\na\t1\tsecond tab\n\n" + nul + huge +
                      "good\tvalue\ncut\toff");
  const CacheFile file(directory_, "wisdom");
  EXPECT_EQ(file.get("good"), "value");
  for (const char* key : {"a", "", "cut", "no tab", "nul"})
    EXPECT_EQ(file.get(key), std::nullopt) << key;
  EXPECT_EQ(file.get(std::string("nul\0", 4)), std::nullopt);
  EXPECT_EQ(file.get(std::string(1 << 20, 'h')), std::nullopt);
  EXPECT_TRUE(file.put("b", "2"));
  EXPECT_EQ(read("wisdom"), "tonari cache 1\ngood\tvalue\nb\t2\n");
}

TEST_F(Cache, KnowsOnlyItsVersion) {
  write("wisdom", "tonari cache 2\na\t1\n");
  const CacheFile file(directory_, "wisdom");
  EXPECT_EQ(file.get("a"), std::nullopt);
  EXPECT_TRUE(file.put("b", "2"));
  EXPECT_EQ(file.get("b"), "2");
}

TEST_F(Cache, KeepsTheNewestEntries) {
  std::string content = "tonari cache 1\n";
  for (int k = 0; k < 12'000; ++k) content += "key" + std::to_string(k) + "\tvalue\n";
  write("wisdom", content);
  const CacheFile file(directory_, "wisdom");
  EXPECT_TRUE(file.put("new", "1"));
  EXPECT_EQ(file.get("new"), "1");
  EXPECT_EQ(file.get("key11999"), "value");
  EXPECT_EQ(file.get("key2001"), "value");
  EXPECT_EQ(file.get("key2000"), std::nullopt);
  const std::string kept = read("wisdom");
  EXPECT_EQ(std::count(kept.begin(), kept.end(), '\n'), 10'001);
}

TEST_F(Cache, SurvivesWhatLiesInItsPlace) {
  fs::create_directory(path("directory"));
  EXPECT_EQ(CacheFile(directory_, "directory").get("a"), std::nullopt);
  EXPECT_FALSE(CacheFile(directory_, "directory").put("a", "1"));
  EXPECT_TRUE(fs::is_directory(path("directory")));

  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(CacheFile(directory_, "fifo").get("a"), std::nullopt)
      << "nor does it wait for a writer";

  fs::create_directory(path("locked.lock"));
  EXPECT_TRUE(CacheFile(directory_, "locked").put("a", "1")) << "no lock to be had: still written";
  EXPECT_EQ(CacheFile(directory_, "locked").get("a"), "1");
}

TEST_F(Cache, NeverWritesThroughLinks) {
  write("precious", "tonari cache 1\na\t1\n");
  fs::create_symlink(path("precious"), path("wisdom"));
  fs::create_symlink(path("elsewhere"), path("wisdom.lock"));
  EXPECT_TRUE(CacheFile(directory_, "wisdom").put("b", "2"));
  EXPECT_EQ(read("precious"), "tonari cache 1\na\t1\n");
  EXPECT_FALSE(fs::is_symlink(path("wisdom")));
  EXPECT_FALSE(fs::exists(path("elsewhere")));
}

TEST_F(Cache, UnwritableDirectoryAndUnreadableFile) {
  // Permissions do not bind root: look at it from a child that has given root up.
  constexpr int cannot_tell = 77;
  write("wisdom", "tonari cache 1\na\t1\n");
  write("secret", "tonari cache 1\na\t1\n");
  ASSERT_EQ(::chmod(path("wisdom").c_str(), 0644), 0);
  ASSERT_EQ(::chmod(path("secret").c_str(), 0), 0);
  ASSERT_EQ(::chmod(directory_.c_str(), 0555), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(cannot_tell);
    if (::access(directory_.c_str(), X_OK) != 0)
      ::_exit(cannot_tell);  // the temporary directory may be root's alone
    const CacheFile file(directory_, "wisdom"), secret(directory_, "secret");
    if (file.get("a") != "1") ::_exit(1);
    if (file.put("b", "2")) ::_exit(2);
    if (secret.get("a")) ::_exit(3);
    if (secret.put("b", "2")) ::_exit(4);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(::chmod(directory_.c_str(), 0700), 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == cannot_tell) GTEST_SKIP() << "root cannot be given up here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(read("wisdom"), "tonari cache 1\na\t1\n");
}

// Who writes beyond `ulimit -f` gets a signal that ends the process.
TEST_F(Cache, FilesThatMayNotBeAsLong) {
  const CacheFile file(directory_, "wisdom");
  ASSERT_TRUE(file.put("a", "1"));
  const std::string before = read("wisdom");
  test::in_a_child([&] {
    auto limit = std::make_unique<test::FileLimit>(100);
    const bool too_long = file.put("b", std::string(100, 'x'));
    const bool to_the_last_byte = file.put("c", std::string(100 - before.size() - 3, 'x'));
    const bool one_more = file.put("d", "");
    limit.reset();
    EXPECT_FALSE(too_long);
    EXPECT_EQ(file.get("b"), std::nullopt);
    EXPECT_TRUE(to_the_last_byte);
    EXPECT_FALSE(one_more);
  });
  EXPECT_EQ(read("wisdom").substr(0, before.size()), before);
  EXPECT_EQ(files(), 2u) << "a temporary file was left";
}

std::string key(int writer, int k) {
  return "writer " + std::to_string(writer) + " key " + std::to_string(k);
}
std::string value(int writer, int k) {
  return std::string(20 + (writer * 7 + k) % 50, static_cast<char>('a' + writer)) +
         std::to_string(k);
}

TEST_F(Cache, ManyWritersLoseNothingAndTearNothing) {
  constexpr int writers = 8, keys = 50;
  std::vector<pid_t> children;
  for (int writer = 0; writer < writers; ++writer) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const CacheFile file(directory_, "wisdom");
      for (int k = 0; k < keys; ++k) {
        if (!file.put(key(writer, k), value(writer, k))) ::_exit(1);
        if (file.get(key(writer, k)) != value(writer, k)) ::_exit(2);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  // Meanwhile every state that can be seen is whole: the version line first, the last line ended.
  for (std::size_t done = 0; done < children.size();) {
    const std::string seen = read("wisdom");
    if (!seen.empty()) {
      ASSERT_EQ(seen.substr(0, 15), "tonari cache 1\n");
      ASSERT_EQ(seen.back(), '\n');
    }
    int status = 0;
    const pid_t over = ::waitpid(children[done], &status, WNOHANG);
    if (over == 0) continue;
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "writer " << done << ": " << status;
    ++done;
  }
  const CacheFile file(directory_, "wisdom");
  for (int writer = 0; writer < writers; ++writer)
    for (int k = 0; k < keys; ++k)
      EXPECT_EQ(file.get(key(writer, k)), value(writer, k)) << key(writer, k);
  EXPECT_EQ(files(), 2u);
}

// Some bytes flipped, cut out, doubled or put in.
std::string corrupt(std::string content, std::mt19937& random) {
  const int times = 1 + random() % 8;
  for (int k = 0; k < times && !content.empty(); ++k) {
    const std::size_t at = random() % content.size(), length = random() % 40;
    const auto kind = random() % 5;
    if (kind == 0) content[at] = static_cast<char>(random());
    if (kind == 1) content.erase(at, length);
    if (kind == 2) content.insert(at, content.substr(random() % content.size(), length));
    if (kind == 3) content.insert(at, length, static_cast<char>(random()));
    if (kind == 4) content.resize(at);
  }
  return content;
}

bool sane(const LogGP& m) {
  const auto time = [](double t) { return t > 0 && t < 10; };
  return time(m.L) && time(m.o) && time(m.g) && time(m.G) && time(m.copy_block) &&
         time(m.copy_byte) && time(m.typed_block) && (time(m.rendezvous) || m.rendezvous == 0) &&
         m.eager >= 1 && m.eager <= (1u << 30);
}

TEST_F(Cache, GarbageNeitherCrashesNorYieldsNonsense) {
  std::mt19937 random(7);
  const CacheFile file(directory_, "machines");
  std::vector<std::string> keys;
  for (int k = 0; k < 20; ++k)
    ASSERT_TRUE(file.put(keys.emplace_back("machine " + std::to_string(k)), to_text({})));
  const std::string good = read("machines");
  int found = 0, lost = 0;
  for (int round = 0; round < 500; ++round) {
    write("machines", corrupt(good, random));
    for (const std::string& k : keys) {
      const std::optional<std::string> line = file.get(k);
      (line ? found : lost)++;
      if (!line) continue;
      for (unsigned char c : *line) ASSERT_GE(c, 0x20);
      const auto machine = loggp_from_text(*line);
      ASSERT_TRUE(!machine || sane(*machine)) << *line;
    }
    if (round % 10 == 0) {
      ASSERT_TRUE(file.put("fresh", "1"));
      ASSERT_EQ(file.get("fresh"), "1");
    }
  }
  EXPECT_GT(found, 1000);
  EXPECT_GT(lost, 100);
  for (int round = 0; round < 100; ++round) {  // nothing but noise
    std::string noise(random() % 5000, ' ');
    for (char& c : noise) c = static_cast<char>(random());
    write("machines", noise);
    ASSERT_EQ(file.get("machine 1"), std::nullopt);
    ASSERT_EQ(loggp_from_text(noise), std::nullopt);
  }
}

}  // namespace
}  // namespace tonari
