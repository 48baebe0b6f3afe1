// Conjugate gradients on a sparse matrix whose rows are spread over ranks.
//
// Before each product with the matrix, every rank gets those elements of the vector that its rows
// need and other ranks have: an alltoallv along the matrix's own communication graph, planned once.
// Dot products are allreduces of one number.
//
// usage: cg [RANKS [SIDE | FILE.mtx]]
#include "Matrix.hpp"

#include "colldsl/colldsl.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>

namespace {

/// The distribution of rows: consecutive rows per rank, in numbers that differ by one at most.
class Rows {
public:
  Rows(int64_t size, uint32_t ranks) : size_(size), ranks_(ranks) {}
  int64_t begin(uint32_t rank) const { return size_ * rank / ranks_; }
  int64_t count(uint32_t rank) const { return begin(rank + 1) - begin(rank); }
  uint32_t owner(int64_t row) const {
    auto rank = static_cast<uint32_t>(row * ranks_ / size_);
    while (begin(rank) > row)
      --rank;
    while (begin(rank + 1) <= row)
      ++rank;
    return rank;
  }

private:
  int64_t size_, ranks_;
};

/// The part of a vector that this rank's rows need: its own elements, then those of others.
class Halo {
public:
  Halo(coll::Communicator &comm, const Rows &rows, const Matrix &matrix)
      : own_(rows.count(comm.rank())) {
    std::map<uint32_t, std::vector<int64_t>> wanted = wantedElements(comm, rows, matrix);
    std::vector<std::vector<int64_t>> asked = exchangeWishes(comm, wanted);
    int64_t next = own_;
    for (auto &[owner, elements] : wanted) {
      sources_.push_back(static_cast<int32_t>(owner));
      receiveCounts_.push_back(elements.size());
      for (int64_t element : elements)
        place_[element] = next++;
    }
    for (uint32_t peer = 0; peer < asked.size(); ++peer) {
      if (asked[peer].empty())
        continue;
      destinations_.push_back(static_cast<int32_t>(peer));
      sendCounts_.push_back(asked[peer].size());
      for (int64_t element : asked[peer])
        sent_.push_back(static_cast<size_t>(element - rows.begin(comm.rank())));
    }
    for (int64_t i = 0; i < own_; ++i)
      place_[rows.begin(comm.rank()) + i] = i;
    vector_.resize(static_cast<size_t>(next));
    packed_.resize(sent_.size());
    plan(comm);
  }

  /// The index of element `global` of the vector in values().
  size_t place(int64_t global) const { return static_cast<size_t>(place_.at(global)); }

  /// Takes this rank's elements, gets those of the others.
  const std::vector<double> &update(const std::vector<double> &own) {
    std::copy(own.begin(), own.end(), vector_.begin());
    for (size_t i = 0; i < sent_.size(); ++i)
      packed_[i] = own[sent_[i]];
    exchange_->run();
    return vector_;
  }

private:
  static std::map<uint32_t, std::vector<int64_t>>
  wantedElements(coll::Communicator &comm, const Rows &rows, const Matrix &matrix) {
    std::map<uint32_t, std::vector<int64_t>> wanted;
    for (int64_t i = 0; i < rows.count(comm.rank()); ++i)
      for (const Matrix::Entry &entry :
           matrix.rows[static_cast<size_t>(rows.begin(comm.rank()) + i)])
        if (uint32_t owner = rows.owner(entry.column); owner != comm.rank())
          wanted[owner].push_back(entry.column);
    for (auto &[owner, elements] : wanted) {
      std::sort(elements.begin(), elements.end());
      elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
    }
    return wanted;
  }

  /// Tells each owner which of its elements are wanted here, and receives the requests of others:
  /// first the numbers of elements, then their indices.
  static std::vector<std::vector<int64_t>>
  exchangeWishes(coll::Communicator &comm, const std::map<uint32_t, std::vector<int64_t>> &wanted) {
    std::vector<uint64_t> sendCounts(comm.size()), receiveCounts(comm.size());
    std::vector<int64_t> send;
    for (auto &[owner, elements] : wanted) {
      sendCounts[owner] = elements.size();
      send.insert(send.end(), elements.begin(), elements.end());
    }
    coll::Plan counts(comm, "alltoall");
    counts.type<uint64_t>().count(1).input("x", sendCounts).bind("y", receiveCounts).commit();
    counts.run();
    uint64_t total = 0;
    for (uint64_t count : receiveCounts)
      total += count;
    std::vector<int64_t> received(total);
    coll::Plan elements(comm, "alltoallv");
    elements.type<int64_t>().input("x", send).bind("y", received);
    elements.blocks("x", sendCounts).blocks("y", receiveCounts).commit();
    elements.run();
    std::vector<std::vector<int64_t>> asked;
    auto next = received.begin();
    for (uint64_t count : receiveCounts) {
      asked.emplace_back(next, next + static_cast<ptrdiff_t>(count));
      next += static_cast<ptrdiff_t>(count);
    }
    return asked;
  }

  void plan(coll::Communicator &comm) {
    coll::Graph graph(comm, destinations_, sources_);
    std::span<double> others(vector_.begin() + own_, vector_.end());
    exchange_ = std::make_unique<coll::Plan>(comm, "neighbor_alltoallv");
    exchange_->type<double>().set("g", graph).input("send", packed_).bind("recv", others);
    exchange_->blocks("send", sendCounts_).blocks("recv", receiveCounts_).commit();
  }

  int64_t own_;
  std::map<int64_t, int64_t> place_;
  std::vector<int32_t> destinations_, sources_;
  std::vector<uint64_t> sendCounts_, receiveCounts_;
  std::vector<size_t> sent_; // own elements, in the order in which they are sent
  std::vector<double> vector_, packed_;
  std::unique_ptr<coll::Plan> exchange_;
};

/// This rank's rows, with columns as places in the halo.
class LocalMatrix {
public:
  LocalMatrix(const Matrix &matrix, const Rows &rows, uint32_t rank, const Halo &halo) {
    for (int64_t i = 0; i < rows.count(rank); ++i) {
      for (const Matrix::Entry &entry : matrix.rows[static_cast<size_t>(rows.begin(rank) + i)]) {
        columns_.push_back(halo.place(entry.column));
        values_.push_back(entry.value);
      }
      ends_.push_back(columns_.size());
    }
  }

  void multiply(const std::vector<double> &x, std::vector<double> &y) const {
    size_t k = 0;
    for (size_t i = 0; i < ends_.size(); ++i) {
      double sum = 0;
      for (; k < ends_[i]; ++k)
        sum += values_[k] * x[columns_[k]];
      y[i] = sum;
    }
  }

private:
  std::vector<size_t> columns_, ends_;
  std::vector<double> values_;
};

class Dot {
public:
  explicit Dot(coll::Communicator &comm) : sum_(comm, "allreduce") {
    sum_.type<double>().count(1).input("x", own_).bind("y", all_).commit();
  }
  double operator()(const std::vector<double> &a, const std::vector<double> &b) {
    own_[0] = 0;
    for (size_t i = 0; i < a.size(); ++i)
      own_[0] += a[i] * b[i];
    sum_.run();
    return all_[0];
  }

private:
  double own_[1] = {}, all_[1] = {};
  coll::Plan sum_;
};

/// Solves A x = b for b = A * (1, 1, ...), so that the answer is known.
void solve(coll::Communicator &comm, const Matrix &matrix) {
  Rows rows(matrix.size(), comm.size());
  Halo halo(comm, rows, matrix);
  LocalMatrix a(matrix, rows, comm.rank(), halo);
  Dot dot(comm);
  auto n = static_cast<size_t>(rows.count(comm.rank()));
  std::vector<double> ones(n, 1.0), x(n), r(n), p, q(n);
  a.multiply(halo.update(ones), r);
  p = r;
  double rr = dot(r, r);
  const double enough = rr * 1e-20;
  int64_t iterations = 0;
  for (; rr > enough && iterations < 10 * matrix.size(); ++iterations) {
    a.multiply(halo.update(p), q);
    double alpha = rr / dot(p, q);
    for (size_t i = 0; i < n; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    double before = rr;
    rr = dot(r, r);
    for (size_t i = 0; i < n; ++i)
      p[i] = r[i] + rr / before * p[i];
  }
  for (size_t i = 0; i < n; ++i)
    x[i] -= 1.0;
  double error = std::sqrt(dot(x, x) / static_cast<double>(matrix.size()));
  if (!(error < 1e-6))
    throw std::runtime_error("the solution is wrong by " + std::to_string(error));
  if (comm.rank() == 0)
    std::cout << matrix.size() << " rows, " << comm.size() << " ranks: solved in " << iterations
              << " iterations, error below 1e-6\n";
}

} // namespace

int main(int argc, char **argv) try {
  if (argc > 3) {
    std::cerr << "usage: cg [RANKS [SIDE | FILE.mtx]]\n";
    return 2;
  }
  int ranks = std::max(0, argc > 1 ? std::atoi(argv[1]) : 4);
  std::string input = argc > 2 ? argv[2] : "40";
  bool isNumber = input.find_first_not_of("0123456789") == std::string::npos;
  Matrix matrix =
      isNumber ? poisson(std::max(1, std::atoi(input.c_str()))) : readMatrixMarket(input);
  coll::Context context;
  context.fork(static_cast<uint32_t>(ranks),
               [&](coll::Communicator &comm) { solve(comm, matrix); });
} catch (const std::exception &e) {
  std::cerr << "cg: " << e.what() << "\n";
  return 1;
}
