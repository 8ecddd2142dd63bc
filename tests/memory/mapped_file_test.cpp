// SPDX-License-Identifier: BSD-3-Clause
#include "memory/mapped_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "memory/child.hpp"
#include "memory/limits.hpp"
#include "memory/views_of_a_file.hpp"

namespace tonari::test {
namespace {

static_assert(std::is_trivially_copyable_v<FileName>);
static_assert(!std::is_copy_constructible_v<View> && std::is_nothrow_move_constructible_v<View>);

TEST(MappedFile, IsZeroedAndAligned) {
  const LeavesNothing check;
  for (std::size_t size : {page, 4 * page, std::size_t{2} << 20})
    for (std::uint64_t pages : {1, 2, 5}) {
      const File file = of_pages(pages, size);
      EXPECT_EQ(file->bytes(), pages * size);
      EXPECT_EQ(file->page(), size);
      EXPECT_FALSE(file->huge());
      const View whole = view(*file, backwards(pages));
      ASSERT_NE(whole.data(), nullptr);
      EXPECT_EQ(whole.bytes(), pages * size);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(whole.data()) % size, 0u);
      EXPECT_TRUE(std::all_of(whole.data(), whole.data() + whole.bytes(),
                              [](std::byte b) { return b == std::byte{0}; }));
      EXPECT_NE(file->name().number, of_pages(pages, size)->name().number);
    }
}

TEST(MappedFile, MayBeEmpty) {
  const File file = of_pages(0);
  const View nothing = view(*file, {});
  EXPECT_EQ(nothing.data(), nullptr);
  EXPECT_EQ(nothing.bytes(), 0u);
  EXPECT_EQ(MappedFile::open(file->name())->bytes(), 0u);
}

// Whoever writes, all others see it, in whatever order they look.
TEST(MappedFile, ShowsTheSameMemoryInEveryOrder) {
  const std::uint64_t pages = 12;
  const File file = of_pages(pages);
  std::mt19937 random(1);
  std::vector<Order> orders{in_order(pages), backwards(pages)};
  for (int k = 0; k < 6; ++k) {
    Order order = in_order(pages), twice = order;
    std::shuffle(order.begin(), order.end(), random);
    std::shuffle(twice.begin(), twice.end(), random);
    if (k % 2) order.insert(order.end(), twice.begin(), twice.end());  // everything twice
    orders.push_back(order);
  }
  std::vector<View> views;
  for (const Order& order : orders) views.push_back(view(*file, order));
  for (std::size_t writer = 0; writer < views.size(); ++writer) {
    fill(views[writer], orders[writer], writer);
    for (std::size_t reader = 0; reader < views.size(); ++reader)
      EXPECT_EQ(wrong(views[reader], orders[reader], writer), 0u) << writer << " to " << reader;
  }
}

TEST(MappedFile, LivesAsLongAsItsViews) {
  const LeavesNothing check;
  File file = of_pages(3);
  const View one = view(*file, {2, 0, 1}), other = view(*file, {1, 1});
  EXPECT_EQ(held().descriptors, check.before.descriptors + 1);
  file.reset();
  EXPECT_EQ(held().descriptors, check.before.descriptors) << "the mappings hold the memory";
  fill(one, {2, 0, 1}, 3);
  EXPECT_EQ(wrong(other, {1, 1}, 3), 0u);
}

TEST(MappedFile, TakesOneMappingForEachRun) {
  const File file = of_pages(40);
  std::mt19937 random(2);
  for (int k = 0; k < 20; ++k) {
    Order order;
    for (int run = 0; run < 1 + k; ++run)
      for (std::uint64_t first = random() % 36, i = 0; i < 1 + random() % 3; ++i)
        order.push_back(first + i);
    const std::int64_t before = mappings_now();
    const std::size_t mapped = held().mappings;
    const View shown = view(*file, order);
    EXPECT_EQ(held().mappings, mapped + runs(order));
    if (!sanitized) {
      EXPECT_EQ(mappings_now(), before + static_cast<std::int64_t>(runs(order)))
          << "nothing else is mapped for it";
    }
    fill(shown, order, 4);
    EXPECT_EQ(wrong(shown, order, 4), 0u);
  }
}

TEST(MappedFile, LeavesNothing) {
  const Held before = held();
  const std::int64_t mappings = mappings_now();
  for (int round = 0; round < 1000; ++round) {
    const File file = of_pages(4, round % 2 ? page : 4 * page),
               same = MappedFile::open(file->name());
    View shown = view(*file, {3, 1, 2, 0, 3}), moved = view(*same, {0, 2});
    moved = std::move(shown);
    moved.replace(0, *same, {0, file->page()});
    EXPECT_EQ(error_of([&] { view(*file, {0, 4}); }).code(), Errc::internal);
  }
  EXPECT_EQ(held(), before);
  if (!sanitized) {
    EXPECT_EQ(mappings_now(), mappings);
  }
}

// Views begin at a multiple of a page that the system does not know: more is reserved than is used.
TEST(MappedFile, TakesNoAddressesBesideItsOwn) {
  if (sanitized) GTEST_SKIP() << "the sanitizer maps memory of its own now and then";
  const std::size_t size = std::size_t{2} << 20;
  // pages between the views: what is free begins and ends anywhere
  const std::uint64_t odd = size / page + 3;
  const File file = of_pages(2, size), fine = of_pages(odd);
  const std::uint64_t before = pages_mapped();
  std::vector<View> views;
  views.reserve(40);
  for (std::uint64_t k = 1; k <= 20; ++k) {
    views.push_back(view(*fine, in_order(odd)));
    views.push_back(view(*file, {1, 0, 0}));
    EXPECT_EQ(pages_mapped(), before + k * (odd + 3 * size / page));
  }
  views.clear();
  EXPECT_EQ(pages_mapped(), before);
}

TEST(MappedFile, ViewsMove) {
  const File file = of_pages(4);
  const LeavesNothing check;
  View a = view(*file, {0, 2}), b = view(*file, {3, 1});
  fill(b, {3, 1}, 5);
  std::byte* const at = b.data();
  a = std::move(b);
  EXPECT_EQ(a.data(), at);
  EXPECT_EQ(a.bytes(), 2 * page);
  EXPECT_EQ(b.data(), nullptr);
  EXPECT_EQ(b.bytes(), 0u);
  EXPECT_EQ(held().mappings, check.before.mappings + 2);
  View& itself = a;
  a = std::move(itself);
  EXPECT_EQ(a.data(), at);
  View c = std::move(a);
  a = View();
  EXPECT_EQ(wrong(c, {3, 1}, 5), 0u);
}

TEST(MappedFile, APartOfAViewIsReplaced) {
  const File own = of_pages(6), neighbors = of_pages(4);
  const LeavesNothing check;
  View shown = view(*own, in_order(6));
  const View again = view(*own, backwards(6)), theirs = view(*neighbors, in_order(4));
  fill(again, backwards(6), 6);
  fill(theirs, in_order(4), 7);
  shown.replace(page, *neighbors, {2 * page, 2 * page});
  shown.replace(5 * page, *neighbors, {0, page});
  shown.replace(3 * page, *neighbors, {3 * page, 0});  // nothing
  const auto from = [&](std::size_t at) { return words_of(shown, at, page)[0]; };
  EXPECT_EQ(from(0), message(0, 0, 6));
  EXPECT_EQ(from(1), message(2, 0, 7));
  EXPECT_EQ(from(2), message(3, 0, 7));
  EXPECT_EQ(from(3), message(3, 0, 6));
  EXPECT_EQ(from(5), message(0, 0, 7));
  words_of(shown, 2, page)[1] = 12345;
  EXPECT_EQ(words_of(theirs, 3, page)[1], 12345u);
  EXPECT_EQ(wrong(again, backwards(6), 6), 0u) << "what is hidden there is untouched";
  shown.replace(0, *own, {0, 6 * page});
  EXPECT_EQ(wrong(shown, in_order(6), 6), 0u);
}

TEST(MappedFile, HasWholePagesAndAnEnd) {
  const File file = of_pages(4), large = of_pages(4, 4 * page);
  const std::uint64_t wraps = std::numeric_limits<std::uint64_t>::max() - page + 1;
  for (const FilePiece piece : {FilePiece{8, page},
                                {0, page + 8},
                                {0, 1},
                                {4 * page, page},
                                {0, 5 * page},
                                {3 * page, 2 * page},
                                {wraps, page},
                                {page, wraps}}) {
    expect_internal([&] { View(*file, std::vector<FilePiece>{{0, page}, piece}); });
    View shown = view(*file, in_order(4));
    expect_internal([&] { shown.replace(0, *file, piece); });
  }
  expect_internal([&] { View(*large, std::vector<FilePiece>{{page, 4 * page}}); });
  View shown = view(*file, in_order(4));
  fill(shown, in_order(4), 8);
  expect_internal([&] { shown.replace(page / 2, *file, {0, page}); });
  expect_internal([&] { shown.replace(3 * page, *file, {0, 2 * page}); });
  expect_internal([&] { shown.replace(wraps, *file, {0, 2 * page}); });
  expect_internal([&] { View().replace(0, *file, {0, page}); });
  EXPECT_EQ(wrong(shown, in_order(4), 8), 0u);
  expect_internal([&] { MappedFile::create(page + 1, page, false); });
  expect_internal([&] { MappedFile::create(page, 4 * page, false); });
  EXPECT_EQ(error_of([&] { MappedFile::create(3 * page, 3 * page, false); }).code(),
            Errc::argument);
}

// Nothing is left to be done when it is first used, wherever a page appears.
TEST(MappedFile, FirstTouchesTakeNoPageFault) {
  if (sanitized) GTEST_SKIP() << "the sanitizer has pages of its own for ours";
  const std::uint64_t pages = 4096;
  const File file = of_pages(pages);
  const View shown = view(*file, backwards(pages));
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  for (std::size_t i = 0; i < pages; ++i) shown.data()[i * page] = std::byte{1};
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_minflt - before.ru_minflt, static_cast<long>(pages / 64));
}

// ---- other processes

TEST(MappedFile, CarriesBothWays) {
  Child child([](Line& line) {
    const LeavesNothing check;
    File file = MappedFile::open(line.hear<FileName>());
    EXPECT_EQ(file->bytes(), 7 * page);
    const View shown = view(*file, {6, 0, 6, 3});
    file.reset();
    EXPECT_EQ(held().descriptors, check.before.descriptors);
    EXPECT_EQ(wrong(shown, {6, 0, 6, 3}, 1), 0u);
    fill(shown, {6, 0, 6, 3}, 2);
    line.tell('r');
    line.hear();
    EXPECT_EQ(words_of(shown, 1, page)[9], 99u) << "what is written later is seen, too";
  });
  const File file = of_pages(7);
  const View shown = view(*file, in_order(7));
  fill(shown, in_order(7), 1);
  child.line().tell(file->name());
  child.line().hear();
  EXPECT_EQ(wrong(view(*file, {0, 3, 6}), {0, 3, 6}, 2), 0u);
  EXPECT_EQ(wrong(view(*file, {1, 2, 4, 5}), {1, 2, 4, 5}, 1), 0u);
  words_of(shown, 0, page)[9] = 99;
  child.line().tell('e');
  child.finish();
}

TEST(MappedFile, OutlivesWhoMadeIt) {
  Child owner([](Line& line) {
    const File file = of_pages(3);
    const View shown = view(*file, in_order(3));
    fill(shown, in_order(3), 3);
    line.tell(file->name());
    line.hear();
  });
  const FileName name = owner.line().hear<FileName>();
  File file = MappedFile::open(name);
  owner.kill();
  expect_refused([&] { MappedFile::open(name); }, {"ended", std::to_string(name.process)});
  const View shown = view(*file, backwards(3));
  EXPECT_EQ(wrong(shown, backwards(3), 3), 0u);
  EXPECT_EQ(wrong(view(*MappedFile::open(file->name()), {1}), {1}, 3), 0u)
      << "who has opened it can pass it on";
}

TEST(MappedFile, AnotherIsNotTakenForIt) {
  const File file = of_pages(4), other = of_pages(4), larger = of_pages(8),
             coarse = of_pages(1, 4 * page);
  const FileName right = file->name();
  EXPECT_TRUE(MappedFile::open(right));
  auto refused = [&](auto member, auto value, const char* sentence) {
    FileName name = right;
    name.*member = static_cast<std::remove_reference_t<decltype(name.*member)>>(value);
    expect_refused([&] { MappedFile::open(name); },
                   {sentence, std::to_string(name.bytes) + " bytes"});
  };
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  refused(&FileName::number, right.number + 1, "another file");
  refused(&FileName::descriptor, other->descriptor(), "another file");
  refused(&FileName::descriptor, coarse->descriptor(), "another file");
  refused(&FileName::descriptor, larger->descriptor(), "bytes instead of");
  refused(&FileName::bytes, 8 * page, "bytes instead of");
  for (std::uint64_t bytes : {most, most - page + 1, 4 * page + 1})
    refused(&FileName::bytes, bytes, "makes no sense");
  for (std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{1}, page / 2, 3 * page, most, std::uint64_t{1} << 63})
    refused(&FileName::page, size, "makes no sense");
  refused(&FileName::huge, 1, "of another size");
  refused(&FileName::descriptor, -1, "makes no sense");
  refused(&FileName::descriptor, 100'000, "does not exist");
  refused(&FileName::process, 0, "makes no sense");
  refused(&FileName::process, std::int64_t{1} << 40, "does not exist");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  refused(&FileName::descriptor, ends[0], "is no memory");
  close(ends[0]), close(ends[1]);
  FileName gone = of_pages(4)->name();
  expect_refused([&] { MappedFile::open(gone); }, {"does not exist"});
}

TEST(MappedFile, IsForOneUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const File file = of_pages(2);
  Child other([&](Line&) {
    const FileName name = file->name();
    ASSERT_EQ(setresuid(65534, 65534, 65534), 0);
    expect_refused([&] { MappedFile::open(name); }, {"cannot be opened"});
  });
  other.finish();
  ASSERT_EQ(fchown(file->descriptor(), 65534, 65534), 0);
  expect_refused([&] { MappedFile::open(file->name()); }, {"another user"});
}

TEST(MappedFile, NobodyTakesItsPagesAway) {
  const File file = of_pages(4);
  ASSERT_EQ(ftruncate(file->descriptor(), 0), -1);
  EXPECT_EQ(errno, EPERM);
}

}  // namespace
}  // namespace tonari::test
