// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients: solves A x = b with a symmetric positive definite matrix. It is a Matrix
// Market file, on any number of ranks, or lies in a folder as `tonari partition MATRIX --parts P
// --output FOLDER` writes it, on P ranks. Without a b.npy in the folder, b is A times (1, 2, ...,
// 10, 1, 2, ...), and the error is known.
//
//   mpiexec -n 4 cg MATRIX [--tolerance 1e-8] [--iterations 10000] [--jacobi] [--columns] [--route
//                   direct]
//
// --tolerance:  of the residual's norm, relative to that of b
// --jacobi:     the diagonal as a preconditioner
// --columns:    products by columns (tonari::ColumnParallel) instead of by rows: the matrix is
// symmetric, so its rows are its columns
// --route:      tonari_route of the products' vectors: direct, store-and-forward/N, node or auto
#include <tonari/spmv.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace {

struct Settings {
  std::string file, route = "direct";
  double tolerance = 1e-8;
  int iterations = 10000;
  bool jacobi = false, columns = false;
};

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

double number(const std::string& option, const char* word, double least) {
  char* end = nullptr;
  const double value = word ? std::strtod(word, &end) : 0;
  if (!word || end == word || *end != 0 || !(value >= least))
    throw UsageError(option + " wants a number of at least " + std::to_string(least));
  return value;
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--jacobi")
      settings.jacobi = true;
    else if (word == "--columns")
      settings.columns = true;
    else if (word == "--tolerance")
      settings.tolerance = number(word, argv[++i], 0);
    else if (word == "--iterations")
      settings.iterations = static_cast<int>(number(word, argv[++i], 0));
    else if (word == "--route" && i + 1 < argc)
      settings.route = argv[++i];
    else if (word.starts_with("--") || !settings.file.empty())
      throw UsageError(
          "cannot do anything with " + word +
          "; there are a matrix, --tolerance, --iterations, --jacobi, --columns and --route");
    else
      settings.file = word;
  }
  if (settings.file.empty())
    throw UsageError(
        "which matrix? Give a Matrix Market file, or a folder that `tonari partition` has written");
  return settings;
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}
double norm(std::span<const double> a) { return std::sqrt(dot(a, a)); }

struct Result {
  std::vector<double> x, residuals;  // norms, before the first and after each iteration
  bool converged;
};

// inverse: of the diagonal, or ones.
template <class Matrix>
Result conjugate_gradients(Matrix& A, const std::vector<double>& b,
                           const std::vector<double>& inverse, double tolerance, int iterations) {
  const std::size_t n = b.size();
  std::vector<double> x(n), r = b, z(n), p(n), q(n);
  const double goal = tolerance * norm(b);
  Result result{{}, {norm(r)}, false};
  double rho_before = 0;
  while (!(result.converged = result.residuals.back() <= goal) &&
         static_cast<int>(result.residuals.size()) <= iterations) {
    for (std::size_t i = 0; i < n; ++i) z[i] = inverse[i] * r[i];
    const double rho = dot(r, z), beta = rho_before == 0 ? 0 : rho / rho_before;
    for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
    A.multiply(p, q);
    const double alpha = rho / dot(p, q);
    for (std::size_t i = 0; i < n; ++i) x[i] += alpha * p[i], r[i] -= alpha * q[i];
    rho_before = rho;
    result.residuals.push_back(norm(r));
  }
  result.x = std::move(x);
  return result;
}

template <class Matrix>
bool solve(const tonari::MatrixPart& part, const Settings& settings, MPI_Info info) {
  Matrix A(MPI_COMM_WORLD, part, info);
  const auto n = static_cast<std::size_t>(part.owned);
  std::vector<double> b = part.b.value_or(std::vector<double>(n)), inverse(n, 1.0), product(n),
                      known(n);
  for (std::size_t i = 0; i < n; ++i)
    known[i] = static_cast<double>(1 + (static_cast<std::size_t>(part.first) + i) % 10);
  if (!part.b) A.multiply(known, b);
  if (settings.jacobi)
    for (std::size_t i = 0; const double d : part.diagonal()) inverse[i++] = 1 / d;
  const double begin = MPI_Wtime();
  const Result result = conjugate_gradients(A, b, inverse, settings.tolerance, settings.iterations);
  const double seconds = MPI_Wtime() - begin;

  A.multiply(result.x, product);
  double error = 0;
  for (std::size_t i = 0; i < n; ++i)
    product[i] = b[i] - product[i], error = std::max(error, std::abs(result.x[i] - known[i]));
  MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double residual = norm(product), whole = norm(b);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return result.converged;
  for (std::size_t k = 0; k < result.residuals.size(); ++k)
    std::printf("iteration %5zu  residual %.16e\n", k, result.residuals[k]);
  std::printf("%s after %zu iterations, %.3g s: |b - A x| / |b| is %.3e\n",
              result.converged ? "converged" : "NOT converged", result.residuals.size() - 1,
              seconds, whole > 0 ? residual / whole : residual);
  if (!part.b) std::printf("largest error %.3e\n", error);
  return result.converged;
}

bool cg(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  const tonari::MatrixPart part = tonari::read_matrix(settings.file, MPI_COMM_WORLD);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "tonari_route", settings.route.c_str());
  const std::unique_ptr<MPI_Info, void (*)(MPI_Info*)> freed(
      &info, [](MPI_Info* made) { MPI_Info_free(made); });
  return settings.columns ? solve<tonari::ColumnParallel>(part, settings, info)
                          : solve<tonari::RowParallel>(part, settings, info);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, status = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    status = cg(argc, argv) ? 0 : 1;
  } catch (const std::exception& error) {  // the same on all ranks
    if (rank == 0) std::fprintf(stderr, "cg: %s\n", error.what());
  }
  MPI_Finalize();
  return status;
}
