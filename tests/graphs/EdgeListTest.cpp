// Graph files: what each format says, and what bad files are told.
#include "instantiate/graphs/GraphFile.h"
#include "instantiate/graphs/Partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace colldsl {
namespace {

class GraphFileTest : public testing::Test {
protected:
  void SetUp() override {
    char folder[] = "/tmp/colldsl-graph-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string &name, const std::string &text) {
    std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  /// The error, without the folder; empty if there is none.
  std::string errorOf(const std::string &name, const std::string &text) {
    Result<GraphFile> file = GraphFile::load(write(name, text));
    std::string message = file ? "" : file.message();
    if (size_t at = message.find(folder_); at != std::string::npos)
      message.erase(at, folder_.size() + 1);
    return message;
  }
  /// "from>to*weight" of all edges, by the ranks they leave; checks the other side.
  std::string edges(GraphFile &file, uint32_t numRanks) {
    Result<const EdgeList *> list = file.edges(numRanks);
    if (!list)
      return list.message();
    std::string text;
    size_t arriving = 0;
    for (uint32_t r = 0; r < numRanks; ++r) {
      arriving += (*list)->in(r).size();
      for (const EdgeList::Edge &edge : (*list)->out(r))
        text += std::to_string(r) + ">" + std::to_string(edge.peer) + "*" +
                std::to_string(edge.weight) + " ";
    }
    EXPECT_EQ(arriving, std::count(text.begin(), text.end(), '>'));
    return text;
  }
  std::string edges(const std::string &name, const std::string &text, uint32_t numRanks) {
    Result<GraphFile> file = GraphFile::load(write(name, text));
    return file ? edges(*file, numRanks) : file.message();
  }

  std::string folder_;
};

const std::string kGeneral = "%%MatrixMarket matrix coordinate pattern general\n";
const std::string kSymmetric = "%%MatrixMarket matrix coordinate real symmetric\n";

/// A grid of side * side places with their four neighbours.
std::string fivePoint(uint32_t side) {
  std::string entries;
  size_t count = 0;
  auto add = [&](uint32_t row, uint32_t column) {
    entries += std::to_string(row + 1) + " " + std::to_string(column + 1) + " -1.0\n";
    ++count;
  };
  for (uint32_t i = 0; i < side * side; ++i) {
    if (i % side)
      add(i, i - 1);
    if (i >= side)
      add(i, i - side);
  }
  std::string n = std::to_string(side * side);
  return kSymmetric + n + " " + n + " " + std::to_string(count) + "\n" + entries;
}

TEST_F(GraphFileTest, AListIsAsItIs) {
  EXPECT_EQ(edges("g.txt", "# two ranks\n0 1 3\n\n% again\n0 1\n1 1 5\n", 2), "0>1*3 0>1*1 1>1*5 ");
}

TEST_F(GraphFileTest, AMetisGraphOfAsManyVerticesIsItself) {
  EXPECT_EQ(edges("g.graph", "% a path\n3 2\n2\n1 3\n2\n", 3), "0>1*1 1>0*1 1>2*1 2>1*1 ");
  EXPECT_EQ(edges("g.graph", "3 2 1\n2 7\n1 7 3 9\n2 9\n", 4), "0>1*7 1>0*7 1>2*9 2>1*9 ");
  EXPECT_EQ(edges("g.graph", "3 1 111 2\n5 1 1 2 7\n5 1 1 1 7\n5 1 1\n", 3), "0>1*7 1>0*7 ");
  EXPECT_EQ(edges("g.graph", "2 0\n\n\n", 2), "");
}

TEST_F(GraphFileTest, AnEntryOfAMatrixIsAnEdge) {
  // Row 2 needs column 1: rank 0 sends to rank 1.
  EXPECT_EQ(edges("m", kGeneral + "% none\n3 3 3\n2 1\n2 2\n2 1\n", 3), "0>1*1 ");
  EXPECT_EQ(edges("m", kGeneral + "3 3 1\n2 1\n", 9), "0>1*1 ");
  EXPECT_EQ(edges("m", kSymmetric + "3 3 2\n2 1 1.5\n3 3 -2e-3\n", 3), "0>1*1 1>0*1 ");
  EXPECT_EQ(edges("m", "%%matrixmarket MATRIX Coordinate Complex Hermitian\n2 2 1\n2 1 1 -1\n", 2),
            "0>1*1 1>0*1 ");
  EXPECT_EQ(edges("m", kGeneral + "3 3 1\n2 1\n", 1), "");
}

TEST_F(GraphFileTest, WeightsAreDistinctColumns) {
  Result<GraphFileLines> lines =
      GraphFileLines::open(write("m.mtx", kGeneral + "4 4 6\n3 1\n3 2\n4 1\n4 2\n1 4\n3 4\n"));
  ASSERT_TRUE(lines);
  Result<SparseMatrix> matrix = readMatrixMarket(*lines);
  ASSERT_TRUE(matrix) << matrix.message();
  EdgeList halo = haloOf(*matrix, {0, 0, 1, 1}, 2);
  ASSERT_EQ(halo.out(0).size(), 1u);
  EXPECT_EQ(halo.out(0)[0].weight, 2);
  ASSERT_EQ(halo.out(1).size(), 1u);
  EXPECT_EQ(halo.out(1)[0].weight, 1);
}

TEST_F(GraphFileTest, PartitionsAreBalancedAndAlwaysTheSame) {
  std::string path = write("five.mtx", fivePoint(16));
  Result<GraphFileLines> lines = GraphFileLines::open(path);
  ASSERT_TRUE(lines);
  Result<SparseMatrix> matrix = readMatrixMarket(*lines);
  ASSERT_TRUE(matrix) << matrix.message();
  srand(7);
  int untouched = rand();
  srand(7);
  Result<std::vector<uint32_t>> first = partitionRows(*matrix, 4);
  if (!first)
    GTEST_SKIP() << first.message();
  EXPECT_EQ(rand(), untouched);
  srand(99);
  EXPECT_EQ(*first, *partitionRows(*matrix, 4));
  for (uint32_t rank = 0; rank < 4; ++rank)
    EXPECT_NEAR(std::count(first->begin(), first->end(), rank), 64, 4);
  EdgeList halo = haloOf(*matrix, *first, 4);
  int64_t volume = 0;
  for (uint32_t rank = 0; rank < 4; ++rank)
    for (const EdgeList::Edge &edge : halo.out(rank))
      volume += edge.weight;
  EXPECT_GE(volume, 4 * 8);
  EXPECT_LE(volume, 4 * 32);
}

TEST_F(GraphFileTest, BadMatricesAreErrors) {
  EXPECT_EQ(errorOf("m.mtx", "1 1 1\n"),
            "graph file m.mtx:1: expected '%%MatrixMarket matrix coordinate', found '1 1 1'");
  EXPECT_EQ(errorOf("m", "%%MatrixMarket matrix array real general\n"),
            "graph file m:1: expected '%%MatrixMarket matrix coordinate', found "
            "'%%MatrixMarket matrix array real general'");
  EXPECT_EQ(errorOf("m", "%%MatrixMarket matrix coordinate quaternion general\n"),
            "graph file m:1: expected real, integer, complex or pattern, found 'quaternion'");
  EXPECT_EQ(errorOf("m", kGeneral),
            "graph file m:2: expected 'rows columns entries', found the end of the file");
  EXPECT_EQ(errorOf("m", kGeneral + "3 4 1\n1 1\n"),
            "graph file m:2: expected a square matrix, found 3 rows and 4 columns");
  EXPECT_EQ(errorOf("m", kGeneral + "99999999999 3 1\n"),
            "graph file m:2: expected the rows, 0..67108864, found '99999999999'");
  EXPECT_EQ(errorOf("m", kGeneral + "3 3 2\n1 1\n"),
            "graph file m:4: expected entry 2 of 2, found the end of the file");
  EXPECT_EQ(errorOf("m", kGeneral + "3 3 1\n1 4\n"),
            "graph file m:3: expected a column, 1..3, found '4'");
  EXPECT_EQ(errorOf("m", kGeneral + "3 3 1\n1 1\n2 2\n"),
            "graph file m:4: expected nothing after 1 entries, found '2 2'");
  EXPECT_EQ(errorOf("m", kSymmetric + "3 3 1\n1 2 1\n"),
            "graph file m:3: expected an entry on or below the diagonal, found '1 2 1'");
  EXPECT_EQ(errorOf("m", kSymmetric + "3 3 1\n2 1 x\n"),
            "graph file m:3: expected 'row column value', found '2 1 x'");
}

TEST_F(GraphFileTest, BadGraphsAreErrors) {
  EXPECT_EQ(errorOf("g.graph", ""), "graph file g.graph:1: expected 'vertices edges [format "
                                    "[weights]]', found the end of the file");
  EXPECT_EQ(errorOf("g.graph", "2 1\n2\n"),
            "graph file g.graph:3: expected vertex 2 of 2, found the end of the file");
  EXPECT_EQ(errorOf("g.graph", "2 1\n3\n1\n"),
            "graph file g.graph:2: expected a neighbour, 1..2, found '3'");
  EXPECT_EQ(errorOf("g.graph", "2 1\n1\n1\n"),
            "graph file g.graph:2: expected another vertex, found vertex 1 as its own neighbour");
  EXPECT_EQ(errorOf("g.graph", "3 1\n2\n3\n\n"), "graph file g.graph: expected each edge from both "
                                                 "sides, found that between vertices 1 and 2 with "
                                                 "this weight at vertex 1 only");
  EXPECT_EQ(
      errorOf("g.graph", "2 2\n2\n1\n"),
      "graph file g.graph:4: expected 2 edges, each from both sides, found 2 neighbours in all");
  EXPECT_EQ(errorOf("g.graph", "2 1 7\n"),
            "graph file g.graph:1: expected a format of up to three digits 0 or 1, found '7'");
}

TEST_F(GraphFileTest, BadListsAndOtherFilesAreErrors) {
  EXPECT_EQ(errorOf("l", "0 1\n0\n"), "graph file l:2: expected 'from to [weight]', found '0'");
  EXPECT_EQ(errorOf("l", "0 1 2 3\n"), "graph file l:1: more than three numbers on a line");
  EXPECT_EQ(errorOf("l", "-1 1\n"), "graph file l:1: ranks are 0..16777215");
  Result<GraphFile> folder = GraphFile::load(folder_);
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.message().find("is not an ordinary file"), std::string::npos);
  EXPECT_FALSE(GraphFile::load(folder_ + "/nothing"));
}

} // namespace
} // namespace colldsl
