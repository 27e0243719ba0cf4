// Words that are nearly right, and words that are like none.
#include "spec/base/nearest_word.h"

#include "gtest/gtest.h"

namespace assay {
namespace {

TEST(NearestWord, NamesWhatIsNear) {
  const std::vector<std::string> words = {"check", "dynamic-slice", "dynamic-update-slice", "add"};
  EXPECT_EQ(DidYouMean("chekc", words), "; did you mean 'check'?");
  EXPECT_EQ(DidYouMean("dynamic_slice", words), "; did you mean 'dynamic-slice'?");
  EXPECT_EQ(DidYouMean("DynamicSlice", words), "; did you mean 'dynamic-slice'?");
  EXPECT_EQ(DidYouMean("DynamicUpdateSlice", words), "; did you mean 'dynamic-update-slice'?");
}

TEST(NearestWord, IsSilentWhereNothingIsNear) {
  const std::vector<std::string> words = {"check", "add"};
  EXPECT_EQ(DidYouMean("frobnicate", words), "");
  EXPECT_EQ(DidYouMean("", words), "");
  EXPECT_EQ(DidYouMean("x", words), "");
  EXPECT_EQ(DidYouMean(std::string(100000, 'a'), words), "");
}

TEST(NearestWord, CountsEdits) {
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
}

}  // namespace
}  // namespace assay
