// A sparse matrix by rows, generated or read from a Matrix Market file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct Matrix {
  struct Entry {
    int64_t column;
    double value;
  };
  std::vector<std::vector<Entry>> rows;

  int64_t size() const { return static_cast<int64_t>(rows.size()); }
};

/// Poisson's equation on a square of side x side points, with the five-point stencil.
inline Matrix poisson(int64_t side) {
  Matrix a;
  for (int64_t y = 0; y < side; ++y)
    for (int64_t x = 0; x < side; ++x) {
      int64_t i = y * side + x;
      std::vector<Matrix::Entry> &row = a.rows.emplace_back();
      if (y > 0)
        row.push_back({i - side, -1});
      if (x > 0)
        row.push_back({i - 1, -1});
      row.push_back({i, 4});
      if (x + 1 < side)
        row.push_back({i + 1, -1});
      if (y + 1 < side)
        row.push_back({i + side, -1});
    }
  return a;
}

/// "%%MatrixMarket matrix coordinate real general|symmetric". Throws an error that names the fault
/// and its place.
inline Matrix readMatrixMarket(const std::string &path) {
  std::ifstream file(path);
  std::string line, banner, object, format, field, symmetry;
  int64_t number = 0;
  auto wrong = [&](const std::string &what) {
    return std::runtime_error(path + ":" + std::to_string(number) + ": " + what);
  };
  auto nextLine = [&] {
    ++number;
    return static_cast<bool>(std::getline(file, line));
  };
  if (!file || !nextLine())
    throw std::runtime_error("cannot read '" + path + "'");
  std::istringstream(line) >> banner >> object >> format >> field >> symmetry;
  bool isSymmetric = symmetry == "symmetric";
  if (banner != "%%MatrixMarket" || object != "matrix" || format != "coordinate" ||
      (field != "real" && field != "integer") || (!isSymmetric && symmetry != "general"))
    throw wrong("expected a real coordinate matrix, general or symmetric");
  do
    if (!nextLine())
      throw wrong("the numbers of rows, columns and entries are missing");
  while (line.empty() || line[0] == '%');
  int64_t rows = 0, columns = 0, entries = 0;
  if (!(std::istringstream(line) >> rows >> columns >> entries) || rows != columns || rows < 1)
    throw wrong("expected the numbers of rows, as many columns, and entries");
  Matrix a;
  a.rows.resize(static_cast<size_t>(rows));
  for (int64_t k = 0; k < entries; ++k) {
    int64_t i = 0, j = 0;
    double value = 0;
    if (!nextLine() || !(std::istringstream(line) >> i >> j >> value))
      throw wrong("expected row, column and value");
    if (i < 1 || i > rows || j < 1 || j > columns)
      throw wrong("entry (" + std::to_string(i) + ", " + std::to_string(j) +
                  ") is outside of the " + std::to_string(rows) + " rows and columns");
    a.rows[static_cast<size_t>(i - 1)].push_back({j - 1, value});
    if (isSymmetric && i != j)
      a.rows[static_cast<size_t>(j - 1)].push_back({i - 1, value});
  }
  return a;
}
