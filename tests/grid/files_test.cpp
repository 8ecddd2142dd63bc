// SPDX-License-Identifier: BSD-3-Clause
// Grids in .npy files: what is written is what NumPy reads, whatever is wrong with a file is said
// in a sentence on all ranks.
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <thread>

#include "grid/grids.hpp"
#include "support/same_error.hpp"

namespace {

std::vector<int> times_written;  // bytes of the file that is being written, how often by this rank
std::string opened;              // the last file
bool cut_by_each_rank = false;   // one after the other, without waiting for one another

}  // namespace

extern "C" [[gnu::visibility("default")]] int MPI_File_open(MPI_Comm comm, const char* name,
                                                            int mode, MPI_Info info,
                                                            MPI_File* file) {
  opened = name;
  return PMPI_File_open(comm, name, mode, info, file);
}

extern "C" [[gnu::visibility("default")]] int MPI_File_set_size(MPI_File file, MPI_Offset bytes) {
  if (!cut_by_each_rank) return PMPI_File_set_size(file, bytes);
  std::this_thread::sleep_for(std::chrono::milliseconds(20 * tonari::test::world_rank()));
  return truncate(opened.c_str(), bytes) == 0 ? MPI_SUCCESS : MPI_ERR_IO;
}

extern "C" [[gnu::visibility("default")]] int MPI_File_write_at(MPI_File file, MPI_Offset at,
                                                                const void* data, int count,
                                                                MPI_Datatype type,
                                                                MPI_Status* status) {
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  const std::size_t from = static_cast<std::size_t>(at),
                    to = from + static_cast<std::size_t>(count) * static_cast<std::size_t>(bytes);
  times_written.resize(std::max(times_written.size(), to));
  for (std::size_t i = from; i < to; ++i) ++times_written[i];
  return PMPI_File_write_at(file, at, data, count, type, status);
}

namespace {

using namespace tonari::test;
namespace fs = std::filesystem;

std::string bytes_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A .npy file as another program would write it.
std::string npy(const std::string& dictionary, const std::string& data, char version = 1) {
  const std::size_t before = version == 1 ? 10 : 12;
  std::string text = dictionary;
  text.append(63 - (before + text.size()) % 64, ' ');
  text += '\n';
  std::string file = "\x93NUMPY";
  file += {version, '\0'};
  for (std::size_t i = 0, rest = text.size(); i < before - 8; ++i, rest >>= 8)
    file += static_cast<char>(rest & 0xff);
  return file + text + data;
}

std::string dictionary(const std::string& type, const std::vector<std::int64_t>& shape) {
  std::string list;
  for (const std::int64_t n : shape) list += std::to_string(n) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1) list.resize(list.size() - 2);
  return "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + list + "), }";
}

class GridFiles : public testing::Test {
 protected:
  void SetUp() override {
    char name[4096] = "";
    if (world_rank() == 0) {
      (fs::temp_directory_path() / "tonari-grid-XXXXXX").string().copy(name, sizeof name - 1);
      if (!::mkdtemp(name)) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    folder = name;
  }
  void TearDown() override {
    if (folder.empty()) return;
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 0) fs::remove_all(folder);
  }

  // Written by rank 0, there for all.
  std::string file_of(const std::string& content) {
    const std::string name = folder + "/given.npy";
    if (world_rank() == 0) std::ofstream(name, std::ios::binary | std::ios::trunc) << content;
    MPI_Barrier(MPI_COMM_WORLD);
    return name;
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
  }

  std::string folder;
};

struct NumberType {
  MPI_Datatype type;
  const char* name;
  std::size_t bytes;
};
const NumberType numbers[] = {{MPI_DOUBLE, "f8", 8},          {MPI_FLOAT, "f4", 4},
                              {MPI_INT32_T, "i4", 4},         {MPI_C_DOUBLE_COMPLEX, "c16", 16},
                              {MPI_UINT64_T, "u8", 8},        {MPI_SHORT, "i2", 2},
                              {MPI_C_FLOAT_COMPLEX, "c8", 8}, {MPI_INT8_T, "i1", 1}};

std::string shown_type(const NumberType& number) {
  return (number.bytes == 1 ? "|" : "<") + std::string(number.name);
}

std::vector<std::int64_t> totals(const Geometry& g) {
  std::vector<std::int64_t> shape;
  for (int k = 0; k < g.dims; ++k) shape.push_back(g.total(k));
  return shape;
}

std::string whole_field(const Geometry& g, int copy, int field, int round) {
  tonari_box all{};
  for (int k = 0; k < g.dims; ++k) all.end[k] = g.total(k);
  std::string bytes(static_cast<std::size_t>(cells_in(all, g.dims)) * g.element_bytes, '\0');
  auto* at = reinterpret_cast<unsigned char*>(bytes.data());
  for_cells(all, g.dims, [&](const Index& x) {
    put_value(g, x, copy, field, round, at), at += g.element_bytes;
  });
  return bytes;
}

TEST_F(GridFiles, HoldOneFieldOfTheWholeGrid) {
  Random random(31);
  int turn = 0;
  for (int repeat = 0; repeat < (crowded() ? 1 : 4); ++repeat)
    for (int dims = 1; dims <= (crowded() ? 3 : most_dims); ++dims) {
      Geometry g = draw_geometry(random, dims, true);
      if (g.ours) MPI_Type_free(&g.shape.type);
      const NumberType& number = numbers[turn++ % std::size(numbers)];
      g.shape.type = number.type, g.element_bytes = number.bytes, g.ours = false;
      SCOPED_TRACE(g.text());
      const int storages[] = {turn % 3, (turn + 1 + repeat % 2) % 3};
      TestGrid a(g, storages[0]), b(g, storages[1]);
      const int copy = a.copies - 1, field = a.fields - 1;
      a.fill(copy, 7);
      const std::string name = folder + "/field.npy";
      ASSERT_TRUE(everywhere(tonari_grid_save(a.grid, copy, field, name.c_str()) == TONARI_SUCCESS))
          << tonari_last_error();
      EXPECT_TRUE(bytes_of(name) ==
                  npy(dictionary(shown_type(number), totals(g)), whole_field(g, copy, field, 7)));
      EXPECT_EQ(files(), 1u) << "something else was left";
      b.fill(0, 8);
      ASSERT_TRUE(everywhere(tonari_grid_load(b.grid, 0, 0, name.c_str()) == TONARI_SUCCESS))
          << tonari_last_error();
      for (int s = 0; s < g.subdomains(); ++s)  // own cells from the file, ghosts as they were
        EXPECT_TRUE(b.field(s, 0, 0) ==
                    expected(b.g, s, copy, field, 7, [](const Index&) { return false; }))
            << "subdomain " << s;
      MPI_Barrier(MPI_COMM_WORLD);  // the next one writes the same file
    }
}

// Where one rank writes for others, Open MPI 4.1 may write what it read before they wrote.
TEST_F(GridFiles, EachByteIsWrittenOnceByTheRankThatHasIt) {
  Random random(34);
  for (int dims = 1; dims <= 3; ++dims) {
    Geometry g = draw_geometry(random, dims, true);
    if (g.ours) MPI_Type_free(&g.shape.type);
    g.shape.type = MPI_DOUBLE, g.element_bytes = 8, g.ours = false;
    SCOPED_TRACE(g.text());
    TestGrid grid(g, TONARI_STORAGE_ARRAY);
    const std::string name = folder + "/field.npy";
    times_written.clear();
    must(tonari_grid_save(grid.grid, 0, 0, name.c_str()));
    const std::size_t bytes = fs::file_size(name);
    times_written.resize(bytes);
    std::size_t own = world_rank() == 0 ? bytes - whole_field(g, 0, 0, 0).size() : 0;
    for (int s = 0; s < grid.g.subdomains(); ++s) {
      std::size_t cells = 8;
      for (int k = 0; k < dims; ++k)
        cells *= static_cast<std::size_t>(grid.g.own(world_rank(), s)[k]);
      own += cells;
    }
    EXPECT_EQ(std::accumulate(times_written.begin(), times_written.end(), std::size_t{}), own);
    MPI_Allreduce(MPI_IN_PLACE, times_written.data(), static_cast<int>(bytes), MPI_INT, MPI_SUM,
                  MPI_COMM_WORLD);
    EXPECT_EQ(times_written, std::vector<int>(bytes, 1));
    MPI_Barrier(MPI_COMM_WORLD);  // the next one writes the same file
  }
}

// As Intel MPI 2021.19 does, where what rank 0 had written was lost.
TEST_F(GridFiles, LoseNothingWhereEachRankEmptiesTheFile) {
  const Geometry g = plain_geometry(2, 8);
  TestGrid grid(g, TONARI_STORAGE_ARRAY);
  grid.fill(0, 5);
  const std::string name = folder + "/field.npy";
  cut_by_each_rank = true;
  const int code = tonari_grid_save(grid.grid, 0, 0, name.c_str());
  cut_by_each_rank = false;
  must(code);
  EXPECT_TRUE(bytes_of(name) == npy(dictionary("<f8", totals(g)), whole_field(g, 0, 0, 5)));
}

// Made by other programs: newer versions, entries in another order, other spaces and quotes.
TEST_F(GridFiles, OfOtherProgramsAreRead) {
  const Geometry g = plain_geometry(2, 8);
  const std::string data = whole_field(g, 0, 0, 3),
                    shape = std::to_string(g.total(0)) + ",  " + std::to_string(g.total(1));
  const std::string plain = dictionary("<f8", totals(g)),
                    other =
                        "{\"shape\":(" + shape + ") , \"fortran_order\":False,\"descr\": \"<f8\"}";
  for (const std::string& content : {npy(plain, data, 2), npy(plain, data, 3), npy(other, data),
                                     npy(plain + std::string(5000, ' '), data)}) {
    TestGrid t(g, TONARI_STORAGE_BRICK);
    t.fill(0, 1);
    const int code = tonari_grid_load(t.grid, 0, 0, file_of(content).c_str());
    ASSERT_TRUE(everywhere(code == TONARI_SUCCESS)) << tonari_last_error();
    std::vector<unsigned char> want, got(64 * 8);
    must(tonari_grid_export(t.grid, 0, 0, 0, nullptr, got.data()));
    tonari_box own{{0, 0}, {8, 8}};
    for_cells(own, 2, [&](const Index& x) {
      want.resize(want.size() + 8);
      const Index first = g.first(world_rank(), 0);
      put_value(g, {first[0] + x[0], first[1] + x[1]}, 0, 0, 3, &want[want.size() - 8]);
    });
    EXPECT_TRUE(got == want);
  }
}

TEST_F(GridFiles, ThatAreWrongAreRefused) {
  const Geometry g = plain_geometry(2, 8);
  TestGrid t(g, TONARI_STORAGE_ARRAY);
  t.fill(0, 1);
  const std::vector<unsigned char> before = t.field(0, 0, 0);
  const std::vector<std::int64_t> shape = totals(g);
  const std::string data = whole_field(g, 0, 0, 3), plain = dictionary("<f8", shape),
                    list = std::to_string(shape[0]) + ", " + std::to_string(shape[1]);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = plain;
    return npy(text.replace(text.find(from), from.size(), to), data);
  };
  std::string claims = npy(plain, data, 2);
  claims.replace(8, 4, "\xff\xff\xff\x7f");
  const std::pair<std::string, std::vector<std::string>> wrong[] = {
      {npy(dictionary("<f8", {shape[0], shape[1], 1}), data),
       {"has shape (" + list + ", 1)", "the grid has (" + list + ")"}},
      {npy(dictionary("<f8", {shape[0] + 1, shape[1]}), data),
       {"has shape (" + std::to_string(shape[0] + 1)}},
      {npy(dictionary("<f8", {}), data), {"has shape ()"}},
      {npy(dictionary(">f8", shape), data), {"'>f8'", "'<f8'"}},
      {npy(dictionary("<i8", shape), data), {"type '<i8'"}},
      {with("False", "True"), {"Fortran order", "ascontiguousarray"}},
      {with("False", "Maybe"), {"neither True nor False"}},
      {with("'<f8'", "[('a', '<f8')]"), {"structured types"}},
      {with("'<f8'", "'<f8"), {"header"}},
      {with(list, std::to_string(shape[0]) + ", x"), {"no list of numbers"}},
      {with(list, "-" + list), {"no list of numbers"}},
      {with(list, "99999999999999999999, 1"), {"no list of numbers"}},
      {with("'fortran_order': False, ", ""), {"lacks one of"}},
      {with("}", ", 'more': 3}"), {"header"}},
      {with("{", "["), {"'{'"}},
      {npy(plain, data.substr(1)), {"cut off"}},
      {npy(plain, data + "x"), {"appended"}},
      {npy(plain, ""), {"cut off"}},
      {npy(plain, data, 9), {"version 9", "1 to 3"}},
      {npy(plain, data).substr(0, 40), {"ends within its header"}},
      {npy(plain, data).substr(0, 9), {"magic"}},
      {claims, {"header claims"}},
      {"PK\x03\x04 is the beginning of an .npz file", {"no .npy file"}},
      {"", {"no .npy file"}},
  };
  for (const auto& [content, words] : wrong) {
    const std::string name = file_of(content);
    expect_everywhere(tonari_grid_load(t.grid, 0, 0, name.c_str()), TONARI_ERR_FILE, {name});
    for (const std::string& w : words) EXPECT_SAID(w);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  EXPECT_TRUE(t.field(0, 0, 0) == before) << "a file that was refused changed the grid";
  must(tonari_grid_load(t.grid, 0, 0, file_of(npy(plain, data)).c_str()));
}

TEST_F(GridFiles, ThatCannotBeOpenedOrWritten) {
  TestGrid t(plain_geometry(2, 8), TONARI_STORAGE_BRICK);
  const std::string nowhere = folder + "/no/such/folder.npy", a_folder = folder + "/folder.npy";
  if (world_rank() == 0) fs::create_directory(a_folder);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_everywhere(tonari_grid_load(t.grid, 0, 0, nowhere.c_str()), TONARI_ERR_FILE,
                    {nowhere, "cannot be opened"});
  expect_everywhere(tonari_grid_save(t.grid, 0, 0, nowhere.c_str()), TONARI_ERR_FILE,
                    {nowhere, "cannot be"});
  expect_everywhere(tonari_grid_save(t.grid, 0, 0, a_folder.c_str()), TONARI_ERR_FILE,
                    {a_folder, "cannot be written"});
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(files(), 1u) << "an unfinished file was left";
  expect_everywhere(tonari_grid_save(t.grid, 1, 0, nowhere.c_str()), TONARI_ERR_ARGUMENT,
                    {"copy 1 does not exist"});
  expect_everywhere(tonari_grid_load(t.grid, 0, 1, nowhere.c_str()), TONARI_ERR_ARGUMENT,
                    {"field 1 does not exist"});
  expect_everywhere(
      tonari_grid_load(t.grid, 0, 0, world_rank() == world_size() - 1 ? nullptr : nowhere.c_str()),
      TONARI_ERR_ARGUMENT, {"`filename` is NULL or empty"});
}

// On the last rank alone: another rank's cells would be written there, too. Who writes beyond the
// limit gets a signal that ends the process.
TEST_F(GridFiles, ThatMayNotBeAsLong) {
  const Geometry g = plain_geometry(2, 8);
  TestGrid t(g, TONARI_STORAGE_ARRAY);
  t.fill(0, 1);
  const std::size_t bytes = npy(dictionary("<f8", totals(g)), whole_field(g, 0, 0, 1)).size();
  const std::string name = folder + "/field.npy";
  for (const std::size_t most : {bytes - 1, bytes}) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit limit{most, before.rlim_max};
    const bool last = world_rank() == world_size() - 1;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, last ? &limit : &before), 0);
    const int code = tonari_grid_save(t.grid, 0, 0, name.c_str());
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    if (most < bytes)
      expect_everywhere(code, TONARI_ERR_FILE,
                        {name, "rank " + std::to_string(world_size() - 1), std::to_string(most),
                         "RLIMIT_FSIZE", "ulimit -f"});
    else
      expect_everywhere(code, TONARI_SUCCESS, {});
    EXPECT_EQ(files(), most < bytes ? 0u : 1u) << "an unfinished file was left";
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_F(GridFiles, NeedATypeThatNumPyKnows) {
  Geometry g = plain_geometry(1, 8);
  const CellType several = cell_type(4);
  const std::string name = folder + "/field.npy";
  for (const CellType& type : {several, CellType{MPI_CHAR, 1}}) {
    g.shape.type = type.type, g.element_bytes = type.bytes;
    TestGrid t(g, TONARI_STORAGE_ARRAY);
    expect_everywhere(tonari_grid_save(t.grid, 0, 0, name.c_str()), TONARI_ERR_ARGUMENT,
                      {"no predefined number of C"});
    expect_everywhere(
        tonari_grid_load(t.grid, 0, 0,
                         file_of(npy(dictionary("|i1", {8 * world_size()}),
                                     std::string(8 * static_cast<std::size_t>(world_size()), 'x')))
                             .c_str()),
        TONARI_ERR_ARGUMENT, {"no predefined number of C"});
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Datatype type = several.type;
  MPI_Type_free(&type);
}

}  // namespace
