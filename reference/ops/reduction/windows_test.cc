// Windows that go on from their neighbours have the terms that their lists have, and what they cost
// is counted.
#include "reference/ops/reduction/windows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace assay::reference {
namespace {

struct Case {
  DimVector sizes, places;
  std::vector<WindowDim> window;
};

int64_t Below(std::mt19937_64& random, int64_t limit) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
}

// Any window along one dimension; one in two begins at the first element of its line or ends at the
// last one wherever it is.
WindowDim DrawWindow(std::mt19937_64& random, int64_t size) {
  WindowDim along;
  along.size = 1 + Below(random, 6);
  along.low = Below(random, 5) - 1;
  along.high = Below(random, 5) - 1;
  if (random() % 2 == 0) {
    along.size = size + Below(random, 3);
    (random() % 2 == 0 ? along.low : along.high) = size - 1 + Below(random, 3);
    return along;
  }
  along.stride = 1 + Below(random, 2);
  along.window_dilation = 1 + Below(random, 3);
  along.base_dilation = 1 + Below(random, 3);
  return along;
}

Case Draw(std::mt19937_64& random) {
  Case drawn;
  const int64_t rank = 1 + Below(random, 3);
  for (int64_t d = 0; d < rank; ++d) {
    drawn.sizes.push_back(Below(random, 8));
    const WindowDim along = DrawWindow(random, drawn.sizes.back());
    const int64_t holes =
        drawn.sizes.back() == 0 ? 0 : (drawn.sizes.back() - 1) * along.base_dilation + 1;
    const int64_t reach = (along.size - 1) * along.window_dilation + 1;
    const int64_t room = holes + along.low + along.high - reach;
    drawn.places.push_back(room < 0 ? 0 : room / along.stride + 1);
    drawn.window.push_back(along);
  }
  return drawn;
}

TEST(WindowTerms, GoOnFromTheirNeighbours) {
  std::mt19937_64 random(1);
  int64_t continued = 0;
  for (int round = 0; round < 20000; ++round) {
    const Case drawn = Draw(random);
    const WindowTerms terms(Shape::Array(ElementType::kF32, drawn.sizes), drawn.window,
                            drawn.places);
    std::vector<bool> seen(static_cast<size_t>(terms.results()));
    IndexMap more, list;
    std::vector<int64_t> running;
    for (int64_t k = 0; k < terms.results(); ++k) {
      const auto [o, goes_on] = terms.Visit(k, more);
      if (!goes_on) running.clear();
      continued += goes_on ? 1 : 0;
      running.insert(running.end(), more.begin(), more.end());
      terms.List(o, list);
      std::vector<int64_t> listed(list.begin(), list.end()), sorted = running;
      std::sort(listed.begin(), listed.end());
      std::sort(sorted.begin(), sorted.end());
      ASSERT_EQ(sorted, listed) << "round " << round << ", result " << o;
      ASSERT_EQ(terms.SizeOf(o), static_cast<int64_t>(list.size()));
      ASSERT_FALSE(seen[static_cast<size_t>(o)]);
      seen[static_cast<size_t>(o)] = true;
    }
  }
  EXPECT_GT(continued, 10000);
}

// Finds the elements that a position of a window covers, by trying all.
TEST(WindowTerms, CoverWhatIsNeitherPaddingNorHole) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 20000; ++round) {
    const int64_t size = Below(random, 8);
    const WindowDim along = DrawWindow(random, size);
    const int64_t places = 1 + Below(random, 5);
    const WindowTerms terms(Shape::Array(ElementType::kF32, {size}), {&along, 1}, {places});
    for (int64_t place = 0; place < places; ++place) {
      std::vector<int64_t> covered;
      for (int64_t j = 0; j < along.size; ++j) {
        const int64_t at = place * along.stride + j * along.window_dilation - along.low;
        for (int64_t element = 0; element < size; ++element)
          if (element * along.base_dilation == at) covered.push_back(element);
      }
      IndexMap list;
      terms.List(place, list);
      ASSERT_EQ(std::vector<int64_t>(list.begin(), list.end()), covered) << "round " << round;
    }
  }
}

// A running sum over a million elements takes about a million steps, not their square.
TEST(WindowTerms, RunningSumsTakeStepsAsTheyAreLong) {
  constexpr int64_t kLength = 1 << 20;
  WindowDim along;
  along.size = kLength;
  along.low = kLength - 1;
  const WindowTerms terms(Shape::Array(ElementType::kF32, {kLength}), {&along, 1}, {kLength});
  Limits limits;
  limits.steps = 4 * kLength;
  Budget visits(limits), lists(limits);
  EXPECT_TRUE(terms.TakeSteps(visits, /*visiting=*/true).ok());
  EXPECT_FALSE(terms.TakeSteps(lists, /*visiting=*/false).ok());
}

}  // namespace
}  // namespace assay::reference
