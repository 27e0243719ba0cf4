// Measures copy bandwidth by working set and arithmetic rates with the widest vectors there are.
#include "bench/roof.h"
#include "spec/base/clock.h"

#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

namespace assay {
namespace {

// One block of work on one thread; returns how much was done, in the unit of the rate.
using Block = double (*)(int64_t repeats);

// Defines a block that keeps CHAINS sums in vectors and adds a product to each, `repeats` times. A
// macro, for a function template cannot have the instruction set of its argument. The volatile
// start keeps the compiler from seeing that all chains are the same, and the volatile end from
// dropping them.
#define ASSAY_MULTIPLY_ADD_BLOCK(NAME, TARGET, VECTOR, CHAINS, STEP)                  \
  __attribute__((target(TARGET))) double NAME(int64_t repeats) {                      \
    VECTOR sums[CHAINS];                                                              \
    volatile float start = 1;                                                         \
    for (VECTOR& sum : sums) sum = VECTOR{} + start;                                  \
    const VECTOR x = VECTOR{} + 0.999F, y = VECTOR{} + 0.001F;                        \
    for (int64_t i = 0; i < repeats; ++i) {                                           \
      _Pragma("GCC unroll 16") for (VECTOR& sum : sums) sum = STEP(sum, x, y);        \
    }                                                                                 \
    float out = 0;                                                                    \
    for (const VECTOR& sum : sums) out += sum[0];                                     \
    volatile float sink = out;                                                        \
    (void)sink;                                                                       \
    constexpr double kOperations = 2.0 * (CHAINS) * (sizeof(VECTOR) / sizeof(float)); \
    return static_cast<double>(repeats) * kOperations;                                \
  }

__m128 MultiplyThenAdd(__m128 sum, __m128 x, __m128 y) { return _mm_add_ps(_mm_mul_ps(sum, x), y); }

// So many chains as registers hold; they hide the latency of an FMA on every machine with two FMA
// units.
ASSAY_MULTIPLY_ADD_BLOCK(Fma512, "avx512f", __m512, 16, _mm512_fmadd_ps)
ASSAY_MULTIPLY_ADD_BLOCK(Fma256, "avx2,fma", __m256, 12, _mm256_fmadd_ps)
ASSAY_MULTIPLY_ADD_BLOCK(MultiplyAdd128, "sse2", __m128, 8, MultiplyThenAdd)
#undef ASSAY_MULTIPLY_ADD_BLOCK

Block BestFma() {
  if (__builtin_cpu_supports("avx512f") != 0) return Fma512;
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) return Fma256;
  return MultiplyAdd128;
}

// Runs `body(thread)` on all threads at once and gives the time of the slowest.
template <typename Body>
double TimeOn(int threads, const Body& body) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<double> seconds(static_cast<size_t>(threads));
  std::vector<std::thread> others;
  auto part = [&](int t) {
    ready.fetch_add(1);
    while (!go.load()) std::this_thread::yield();
    const double start = Now();
    body(t);
    seconds[static_cast<size_t>(t)] = Now() - start;
  };
  for (int t = 1; t < threads; ++t) others.emplace_back(part, t);
  while (ready.load() < threads - 1) std::this_thread::yield();
  go.store(true);
  part(0);
  for (std::thread& other : others) other.join();
  return *std::max_element(seconds.begin(), seconds.end());
}

// The best rate of several tries: what disturbs only ever makes it less.
double BestFmaRate(int threads, double seconds) {
  const Block block = BestFma();
  constexpr int64_t kRepeats = 1 << 16;
  double best = 0;
  const double end = Now() + seconds;
  do {
    double work = 0;
    const double time = TimeOn(threads, [&](int t) {
      const double done = block(kRepeats);
      if (t == 0) work = done;
    });
    best = std::max(best, work * threads / time);
  } while (Now() < end);
  return best;
}

double BestCopyRate(int threads, int64_t bytes_each, double seconds) {
  const auto half = static_cast<size_t>(bytes_each / 2);
  std::vector<std::unique_ptr<char[]>> from, to;
  for (int t = 0; t < threads; ++t) {
    from.emplace_back(new char[half]);
    to.emplace_back(new char[half]);
    std::memset(from.back().get(), 1, half);
    std::memset(to.back().get(), 1, half);
  }
  const int64_t repeats = std::max<int64_t>(1, (int64_t{16} << 20) / bytes_each);
  double best = 0;
  const double end = Now() + seconds;
  do {
    const double time = TimeOn(threads, [&](int t) {
      for (int64_t i = 0; i < repeats; ++i) {
        std::memcpy(to[static_cast<size_t>(t)].get(), from[static_cast<size_t>(t)].get(), half);
        asm volatile("" ::: "memory");
      }
    });
    best = std::max(
        best, static_cast<double>(bytes_each * repeats) * static_cast<double>(threads) / time);
  } while (Now() < end);
  return best;
}

}  // namespace

Roof MeasureRoof(int threads, double seconds) {
  Roof roof;
  roof.threads = std::max(1, threads);
  const double each = seconds / 5;
  roof.fma_per_second = BestFmaRate(roof.threads, each);
  // An exp to full f32 accuracy is about twelve dependent operations on a vector, no fewer.
  constexpr double kOperationsPerExp = 12;
  roof.transcendentals_per_second = roof.fma_per_second / 2 / kOperationsPerExp;
  struct Level {
    const char* name;
    int64_t bytes_each;
  };
  // Comfortably inside the caches that server processors have.
  constexpr Level kLevels[] = {
      {"L1", 24 << 10}, {"L2", 512 << 10}, {"L3", 6 << 20}, {"memory", 128 << 20}};
  for (const Level& level : kLevels) {
    roof.copies.push_back({level.name, level.bytes_each * roof.threads,
                           BestCopyRate(roof.threads, level.bytes_each, each)});
  }
  return roof;
}

double LimitSeconds(const Roof& roof, const Cost& cost) {
  double arithmetic = 0, memory = 0;
  if (roof.fma_per_second > 0) arithmetic += cost.flops / roof.fma_per_second;
  if (roof.transcendentals_per_second > 0) {
    arithmetic += cost.transcendentals / roof.transcendentals_per_second;
  }
  for (const Roof::Bandwidth& copy : roof.copies) {
    if (copy.bytes_per_second > 0) memory = cost.bytes / copy.bytes_per_second;
    if (cost.bytes <= static_cast<double>(copy.working_set)) break;
  }
  return std::max(arithmetic, memory);
}

}  // namespace assay
