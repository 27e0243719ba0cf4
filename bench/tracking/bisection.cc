// The search itself; who is asked, and how, is the caller's.
#include "bench/tracking/bisection.h"

#include <algorithm>

#include "spec/base/status_macros.h"

namespace assay {
namespace {

// The place nearest to the middle of (good, bad) that was not skipped; `good` where none is left.
size_t NextPlace(size_t good, size_t bad, const std::vector<bool>& is_skipped) {
  const size_t middle = good + (bad - good) / 2;
  for (size_t off = 0; off < bad - good; ++off) {
    if (middle + off < bad && middle + off > good && !is_skipped[middle + off]) return middle + off;
    if (middle >= off && middle - off > good && !is_skipped[middle - off]) return middle - off;
  }
  return good;
}

}  // namespace

absl::StatusOr<Bisection> Bisect(size_t count,
                                 const std::function<absl::StatusOr<SideVerdict>(size_t)>& ask) {
  if (count < 2) return absl::InvalidArgumentError("there is nothing between the two sides");
  Bisection state{0, count - 1, {}};
  std::vector<bool> is_skipped(count, false);
  while (true) {
    const size_t at = NextPlace(state.good, state.bad, is_skipped);
    if (at == state.good) return state;
    ASSAY_ASSIGN_OR_RETURN(const SideVerdict verdict, ask(at));
    if (verdict == SideVerdict::kSkip) {
      is_skipped[at] = true;
      state.skipped.push_back(at);
    } else {
      (verdict == SideVerdict::kBad ? state.bad : state.good) = at;
    }
  }
}

}  // namespace assay
