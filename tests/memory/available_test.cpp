// SPDX-License-Identifier: BSD-3-Clause
#include "memory/available.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "memory/limits.hpp"
#include "memory/made_up_root.hpp"

namespace tonari {
namespace {

class Available : public test::MadeUpRoot {
 protected:
  void SetUp() override {
    MadeUpRoot::SetUp();
    write("/proc/meminfo", "MemTotal: 9000 kB\nMemFree: 5 kB\nMemAvailable:   8000 kB\n");
  }
};

constexpr std::uint64_t machine = 8000 * 1024;

TEST_F(Available, TheMachineAlone) {
  EXPECT_EQ(available_memory(root), machine);
  write("/proc/self/cgroup", "0::/\n");
  EXPECT_EQ(available_memory(root), machine);
}

TEST_F(Available, WhatTheKernelDoesNotSayIsNoLimit) {
  EXPECT_EQ(available_memory(root + "/nowhere"), std::numeric_limits<std::uint64_t>::max());
}

TEST_F(Available, OneAnswerServesForASecondAndASmallPart) {
  const auto now = Allowance::Clock::now();
  Allowance allowance(root);
  EXPECT_FALSE(allowance.covers(8001, now));
  EXPECT_TRUE(allowance.covers(4000, now));
  write("/proc/meminfo", "MemAvailable:   16 kB\n");
  EXPECT_TRUE(allowance.covers(4000, now));
  EXPECT_FALSE(allowance.covers(17, now));
  EXPECT_TRUE(allowance.covers(16, now));
  write("/proc/meminfo", "MemAvailable:   8000 kB\n");
  EXPECT_TRUE(allowance.covers(4000, now));
  write("/proc/meminfo", "MemAvailable:   16 kB\n");
  EXPECT_FALSE(allowance.covers(1000, now + std::chrono::seconds(2)));
}

TEST_F(Available, AGroupAndItsParents) {
  write("/proc/self/cgroup", "0::/job/step\n");
  write("/sys/fs/cgroup/job/step/memory.max", "max\n");
  write("/sys/fs/cgroup/job/step/memory.current", "500\n");
  EXPECT_EQ(available_memory(root), machine);
  write("/sys/fs/cgroup/job/memory.max", "6000\n");
  write("/sys/fs/cgroup/job/memory.current", "2000\n");
  EXPECT_EQ(available_memory(root), 4000u);
  // 1300 can be dropped
  write("/sys/fs/cgroup/job/memory.stat",
        "anon 100\nfile 1900\ninactive_file 1000\nactive_file 300\n");
  EXPECT_EQ(available_memory(root), 5300u);
  write("/sys/fs/cgroup/job/step/memory.max", "1000\n");
  EXPECT_EQ(available_memory(root), 500u);
  write("/sys/fs/cgroup/job/step/memory.current", "1001\n");
  EXPECT_EQ(available_memory(root), 0u);
}

TEST_F(Available, VersionOneBesideOthers) {
  write("/proc/self/cgroup",
        "4:cpu,cpuacct:/elsewhere\n3:memory_not:/elsewhere\n2:hugetlb,memory:/job\n1:name=systemd:/"
        "\n0::/\n");
  write("/sys/fs/cgroup/memory/elsewhere/memory.limit_in_bytes", "1\n");
  write("/sys/fs/cgroup/memory/elsewhere/memory.usage_in_bytes", "0\n");
  write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "6000\n");
  write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1000\n");
  write("/sys/fs/cgroup/memory/job/memory.stat",
        "inactive_file 5\ntotal_inactive_file 400\ntotal_active_file 0\n");
  EXPECT_EQ(available_memory(root), 5400u);
}

// In a container the mount is the job's own group, whatever the path says.
TEST_F(Available, APathThatIsNotThere) {
  write("/proc/self/cgroup", "0::/../outside\n");
  write("/sys/fs/cgroup/memory.max", "700\n");
  write("/sys/fs/cgroup/memory.current", "100\n");
  EXPECT_EQ(available_memory(root), 600u);
}

TEST(AvailableHere, OfDirectoriesAndFiles) {
  EXPECT_LT(free_in("/"), std::uint64_t{1} << 56);
  EXPECT_EQ(free_in("/no/such/directory"), std::numeric_limits<std::uint64_t>::max());
  test::in_a_child([] {
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = 12345;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_EQ(file_limit(), 12345u);
  });
}

TEST(AvailableHere, IsPlausible) {
  EXPECT_GT(available_memory(), std::uint64_t{1} << 20);
  EXPECT_LT(available_memory(), std::uint64_t{1} << 56);
}

}  // namespace
}  // namespace tonari
