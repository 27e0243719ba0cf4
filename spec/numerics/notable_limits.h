// Limits beyond which an answer counts otherwise than by the clauses alone: what is wrong and near
// enough to be another order of real arithmetic, and what is legal and too far off to go unnoticed.
// Campaigns on other compilers judge by them.
#pragma once

#include <string_view>

namespace assay {

struct NotableLimit {
  std::string_view name, meaning;
  double number;
  std::string_view source;
  std::string_view kept_by;  // a test that holds it
};

// An answer counts as another order of the arithmetic within so many ulps of the real number, or
// within so many times the error that the program's own roundings make.
inline constexpr double kUlpsOfAnotherOrder = 1024, kTimesItsOwnError = 4;
// An answer that a clause about forms lets pass is far off beyond so many times what the rounding
// of each op explains.
inline constexpr double kTimesItsRounding = 16;
// Within so many ulps of the oracle's own value, it cannot be: half an ulp, sixteen times, is more.
inline constexpr double kUlpsOfNoNote = 3;
static_assert(kUlpsOfNoNote < kTimesItsRounding / 2);

inline constexpr NotableLimit kNotableLimits[] = {
    {.name = "ulps-of-another-order",
     .meaning = "a wrong value this near to the real number is another order of the arithmetic "
                "(in types of few digits half of the digits)",
     .number = kUlpsOfAnotherOrder,
     .source = "what exp(a) to the power of b loses as exp(a b) in f32",
     .kept_by = "RearrangedTest.NarrowTypesHaveFewerUlps"},
    {.name = "times-its-own-error",
     .meaning = "so is one that is off by so many times the program's own error",
     .number = kTimesItsOwnError,
     .source = "chosen: another order has as many roundings as the program's own, of any sign; not "
               "measured",
     .kept_by = "RearrangedTest.WhatASumSwallowedMayComeBack"},
    {.name = "times-its-rounding",
     .meaning = "a legal value is far off beyond so many times what the rounding of each op of the "
                "program explains, at least half an ulp",
     .number = kTimesItsRounding,
     .source = "chosen: four bits that no rounding explains; not measured",
     .kept_by = "FarOff.OtherRoundingsAreNear"},
    {.name = "ulps-of-no-note",
     .meaning = "a legal value this near to the oracle's own is not asked about",
     .number = kUlpsOfNoNote,
     .source = "less than times-its-rounding of half an ulp, so that nothing is missed",
     .kept_by = "FarOff.WhatIsNearThePlainValueIsNever"},
};

}  // namespace assay
