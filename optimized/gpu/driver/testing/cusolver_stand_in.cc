// Stand-ins for libcusolver and libcufft in tests, in the library that stands in for the driver:
// factors and transforms by their definitions, in double. They note handles and plans that are not
// there, workspaces that are missing, and what is left.
#include <atomic>
#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "optimized/gpu/driver/libraries/cusolver_calls.h"
#include "optimized/gpu/driver/testing/stand_in_state.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

using Wide = std::complex<double>;

struct PretendSolver {  // its address is the handle
  int handles = 0;
  CudaHandle stream = nullptr;
};
PretendSolver& Solver() {
  static auto& solvers = *new PerDevice<PretendSolver>();
  return solvers.Here();
}

uint64_t Address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }
CusolverStatus WrongSolver(const std::string& what) {
  NoteMisuse(what);
  return kCusolverInvalidValue;
}

// Elements of a device's memory in double, and back. S: their type there.
template <typename S>
absl::StatusOr<std::vector<Wide>> Fetch(DeviceMemory& memory, uint64_t address, size_t count) {
  std::vector<S> values(count);
  ASSAY_RETURN_IF_ERROR(
      memory.CopyOut(address, {reinterpret_cast<std::byte*>(values.data()), count * sizeof(S)}));
  return std::vector<Wide>(values.begin(), values.end());
}
template <typename S>
absl::Status Store(DeviceMemory& memory, uint64_t address, const std::vector<Wide>& values) {
  std::vector<S> stored(values.size());
  for (size_t k = 0; k < values.size(); ++k) {
    if constexpr (std::is_floating_point_v<S>) {
      stored[k] = static_cast<S>(values[k].real());
    } else {
      stored[k] = S(values[k]);
    }
  }
  return memory.CopyIn(
      address, {reinterpret_cast<const std::byte*>(stored.data()), stored.size() * sizeof(S)});
}

// The factor of a matrix by columns, in its triangle; the number of the first bad minor, or 0.
int FactorByColumns(std::vector<Wide>& a, int n, int leading, int triangle) {
  const auto at = [&](int i, int j) -> Wide& {
    return triangle == kCublasLower ? a[static_cast<size_t>(i + j * leading)]
                                    : a[static_cast<size_t>(j + i * leading)];
  };
  for (int j = 0; j < n; ++j) {
    double pivot = at(j, j).real();
    for (int k = 0; k < j; ++k) pivot -= std::norm(at(j, k));
    if (!(pivot > 0)) return j + 1;
    at(j, j) = std::sqrt(pivot);
    for (int i = j + 1; i < n; ++i) {
      Wide sum = at(i, j);
      // In the upper triangle at(i, j) is the element (j, i), conjugated in what it means.
      for (int k = 0; k < j; ++k) sum -= at(i, k) * std::conj(at(j, k));
      at(i, j) = sum / at(j, j);
    }
  }
  return 0;
}

CusolverStatus AskSize(const char* name, CusolverHandle handle, int n, int leading, int* elements) {
  if (const int entered = EnterStandIn(name); entered != 0) return entered;
  if (handle != &Solver() || leading < n)
    return WrongSolver(absl::StrCat(name, ": no such handle or matrix"));
  *elements = n + 3;
  return 0;
}

template <typename S>
CusolverStatus PutFactor(const char* name, CusolverHandle handle, int triangle, int n, void* a,
                         int leading, void* workspace, int elements, int* info) {
  if (const int entered = EnterStandIn(name); entered != 0) return entered;
  if (handle != &Solver() || Solver().handles == 0 || leading < n || n < 1)
    return WrongSolver(absl::StrCat(name, ": no such handle or matrix"));
  if (workspace == nullptr || elements < n + 3)
    return WrongSolver(absl::StrCat(name, ": too small a workspace"));
  triangle ^= BendOf(name) != 0 ? 1 : 0;
  const auto count = static_cast<size_t>(leading * (n - 1) + n);
  DeviceMemory& memory = StandInMemory();
  StreamWork work{name,
                  {},
                  {{Address(a), count * sizeof(S)},
                   {Address(info), 4},
                   {Address(workspace), static_cast<uint64_t>(elements) * sizeof(S)}},
                  nullptr};
  work.run = [&memory, a, n, leading, triangle, info, count]() -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(std::vector<Wide> values, Fetch<S>(memory, Address(a), count));
    const int bad = FactorByColumns(values, n, leading, triangle);
    ASSAY_RETURN_IF_ERROR(Store<S>(memory, Address(a), values));
    return memory.CopyIn(Address(info), {reinterpret_cast<const std::byte*>(&bad), 4});
  };
  return PutOnStream(Solver().stream, std::move(work)) == 0 ? 0 : kCusolverExecutionFailed;
}

// ---- cuFFT ----

struct PretendPlan {
  std::vector<long long> sizes;
  long long batch = 0;
  int type = 0;
  bool is_made = false;
  size_t workspace_bytes = 0;
  uint64_t workspace = 0;
  CudaHandle stream = nullptr;
};
PerDevice<std::map<CufftPlan, PretendPlan>>& AllPlans() {
  static auto& plans = *new PerDevice<std::map<CufftPlan, PretendPlan>>();
  return plans;
}
std::map<CufftPlan, PretendPlan>& Plans() { return AllPlans().Here(); }
std::atomic<CufftPlan> next_plan{7};

// Plans outlive sessions in a process that keeps its library: they are no leak until all begins
// anew.
const bool registered = [] {
  RegisterLeaks({[] {}, [] { AllPlans().Clear(); }});
  return true;
}();

CufftStatus WrongPlan(const std::string& what) {
  NoteMisuse(what);
  return kCufftInvalidPlan;
}

// A transform along one dimension after the other.
void Transform(std::vector<Wide>& values, const std::vector<long long>& sizes) {
  size_t inner = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    const auto n = static_cast<size_t>(sizes[d]);
    std::vector<Wide> line(n);
    for (size_t start = 0; start < values.size(); ++start) {
      if (start / inner % n != 0) continue;
      for (size_t k = 0; k < n; ++k) {
        Wide sum = 0;
        for (size_t i = 0; i < n; ++i)
          sum += values[start + i * inner] *
                 std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k * i % n) /
                                     static_cast<double>(n));
        line[k] = sum;
      }
      for (size_t k = 0; k < n; ++k) values[start + k * inner] = line[k];
    }
    inner *= n;
  }
}

template <typename In, typename Out>
CufftStatus PutTransform(const char* name, CufftPlan plan, int type, void* in, void* out,
                         int direction) {
  if (const int entered = EnterStandIn(name); entered != 0) return entered;
  const auto found = Plans().find(plan);
  if (found == Plans().end() || !found->second.is_made || found->second.type != type ||
      direction != kCufftForward)
    return WrongPlan(absl::StrCat(name, ": no such plan or direction"));
  const PretendPlan made = found->second;
  if (made.workspace == 0) return WrongPlan(absl::StrCat(name, ": no workspace"));
  size_t line = 1;
  for (const long long size : made.sizes) line *= static_cast<size_t>(size);
  const auto last = static_cast<size_t>(made.sizes.back());
  const bool is_half = type == kCufftR2C || type == kCufftD2Z;
  const size_t kept = is_half ? last / 2 + 1 : last, batch = static_cast<size_t>(made.batch);
  DeviceMemory& memory = StandInMemory();
  StreamWork work{name,
                  {{Address(in), batch * line * sizeof(In)}},
                  {{Address(out), batch * line / last * kept * sizeof(Out)},
                   {made.workspace, made.workspace_bytes}},
                  nullptr};
  work.run = [&memory, made, in, out, line, last, kept, batch]() -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Wide> all,
                           Fetch<In>(memory, Address(in), batch * line));
    std::vector<Wide> results;
    for (size_t b = 0; b < batch; ++b) {
      std::vector<Wide> values(all.begin() + static_cast<std::ptrdiff_t>(b * line),
                               all.begin() + static_cast<std::ptrdiff_t>((b + 1) * line));
      Transform(values, made.sizes);
      for (size_t k = 0; k < values.size(); ++k)
        if (k % last < kept) results.push_back(values[k]);
    }
    return Store<Out>(memory, Address(out), results);
  };
  return PutOnStream(made.stream, std::move(work)) == 0 ? 0 : kCufftExecFailed;
}

}  // namespace
}  // namespace assay::gpu

using namespace assay::gpu;  // the calls below have the names of C

#define ASSAY_POTRF(letter, type)                                                               \
  CusolverStatus cusolverDn##letter##potrf_bufferSize(CusolverHandle handle, int, int n, void*, \
                                                      int leading, int* elements) {             \
    return AskSize("cusolverDn" #letter "potrf_bufferSize", handle, n, leading, elements);      \
  }                                                                                             \
  CusolverStatus cusolverDn##letter##potrf(CusolverHandle handle, int triangle, int n, void* a, \
                                           int leading, void* workspace, int elements,          \
                                           int* info) {                                         \
    return PutFactor<type>("cusolverDn" #letter "potrf", handle, triangle, n, a, leading,       \
                           workspace, elements, info);                                          \
  }
#define ASSAY_FIND_PLAN(name)                                                \
  if (const int entered = EnterStandIn(#name); entered != 0) return entered; \
  const auto found = Plans().find(plan);                                     \
  if (found == Plans().end()) return WrongPlan(#name ": a plan that is not there");

extern "C" {

CusolverStatus cusolverDnCreate(CusolverHandle* handle) {
  if (const int entered = EnterStandIn("cusolverDnCreate"); entered != 0) return entered;
  ++Solver().handles;
  *handle = &Solver();
  return 0;
}
CusolverStatus cusolverDnDestroy(CusolverHandle handle) {
  const int entered = EnterStandIn("cusolverDnDestroy");
  if (handle != &Solver() || Solver().handles == 0)
    return WrongSolver("cusolverDnDestroy: no such handle");
  --Solver().handles;
  return entered;
}
CusolverStatus cusolverDnSetStream(CusolverHandle, void* stream) {
  if (const int entered = EnterStandIn("cusolverDnSetStream"); entered != 0) return entered;
  if (!HasStandInStream(stream)) return WrongSolver("cusolverDnSetStream: no such stream");
  Solver().stream = stream;
  return 0;
}
ASSAY_POTRF(S, float)
ASSAY_POTRF(D, double)
ASSAY_POTRF(C, std::complex<float>)
ASSAY_POTRF(Z, std::complex<double>)

CufftStatus cufftCreate(CufftPlan* plan) {
  if (const int entered = EnterStandIn("cufftCreate"); entered != 0) return entered;
  *plan = next_plan++;
  Plans()[*plan] = {};
  return 0;
}
CufftStatus cufftDestroy(CufftPlan plan) {
  const int entered = EnterStandIn("cufftDestroy");
  if (Plans().erase(plan) != 1) return WrongPlan("cufftDestroy: a plan that is not there");
  return entered;
}
CufftStatus cufftSetStream(CufftPlan plan, void* stream) {
  ASSAY_FIND_PLAN(cufftSetStream)
  if (!HasStandInStream(stream)) return WrongPlan("cufftSetStream: no such stream");
  found->second.stream = stream;
  return 0;
}
CufftStatus cufftSetAutoAllocation(CufftPlan plan, int) {
  ASSAY_FIND_PLAN(cufftSetAutoAllocation)
  return 0;
}
CufftStatus cufftSetWorkArea(CufftPlan plan, void* area) {
  ASSAY_FIND_PLAN(cufftSetWorkArea)
  found->second.workspace = BendOf("cufftSetWorkArea") == 0 ? Address(area) : 0;
  return 0;
}
CufftStatus cufftMakePlanMany64(CufftPlan plan, int rank, long long* sizes, long long* in_sizes,
                                long long, long long, long long* out_sizes, long long, long long,
                                int type, long long batch, size_t* bytes) {
  ASSAY_FIND_PLAN(cufftMakePlanMany64)
  if (rank < 1 || rank > 3 || batch < 1 || in_sizes != nullptr || out_sizes != nullptr)
    return WrongPlan("cufftMakePlanMany64: a rank, a batch or strides that no test has");
  PretendPlan& made = found->second;
  made.sizes.assign(sizes, sizes + rank);
  made.batch = batch + BendOf("cufftMakePlanMany64");
  made.type = type;
  made.is_made = true;
  made.workspace_bytes = *bytes = 64;
  return 0;
}
CufftStatus cufftExecC2C(CufftPlan plan, void* in, void* out, int direction) {
  return PutTransform<std::complex<float>, std::complex<float>>("cufftExecC2C", plan, kCufftC2C, in,
                                                                out, direction);
}
CufftStatus cufftExecZ2Z(CufftPlan plan, void* in, void* out, int direction) {
  return PutTransform<Wide, Wide>("cufftExecZ2Z", plan, kCufftZ2Z, in, out, direction);
}
CufftStatus cufftExecR2C(CufftPlan plan, void* in, void* out) {
  return PutTransform<float, std::complex<float>>("cufftExecR2C", plan, kCufftR2C, in, out,
                                                  kCufftForward);
}
CufftStatus cufftExecD2Z(CufftPlan plan, void* in, void* out) {
  return PutTransform<double, Wide>("cufftExecD2Z", plan, kCufftD2Z, in, out, kCufftForward);
}

}  // extern "C"
