// The numbers by which a campaign decides how closely a program is looked at, each with the
// measurement behind it, all on XLA:CPU of jaxlib 0.10.2.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay {

struct CheckPolicy {
  // ---- The first check.

  // Programs of a hundred that another compiler compiles cheaply at first. Without triage a program
  // costs 30 ms so, and 23 where all are cheap.
  static constexpr int64_t kScreenedPercent = 70;
  // The others are short ones most of all: of the shortest as many as three times the share of all,
  // of the middle ones 1.8 times that of what is left. As users compile, a program of up to 4
  // instructions costs 16 ms more, one of up to 8 28 and a longer one 49; 2,400 programs of seed
  // 777005 took 29.6 ms each in this order, and 33.9 in any.
  static constexpr int64_t kShortProgram = 4, kMiddleProgram = 8;
  static constexpr double kTimesShort = 3, kTimesMiddle = 1.8;
  // The share of short programs, and of middle ones among those that are not short, as the
  // generator makes them.
  static constexpr double kShareOfShort = 0.23, kShareOfMiddle = 0.39;
  // Programs that are compiled as one, and the size of each. In larger packs what all members share
  // is next to nothing, and one that does not compile takes more of the others with it: 600
  // programs of seed 5551 took 67.7 ms each in packs of ten that are split up when they fail, and
  // 43 in these, which are halved.
  static constexpr size_t kMembersOfPack = 16;
  static constexpr int64_t kInstructionsInPack = 60;
  // Seconds that another compiler gets for one request before it counts as a suspect that hangs,
  // which the second check gives all the time of the limits. With sixty seconds 1,800 programs took
  // 70.9 ms each, with ten 51.6, since one worker in a heap that was written over spun; four are
  // not measured.
  static constexpr double kQuickSeconds = 4;

  // ---- The second check.

  // Runs of a suspect; some of them failing makes it nondeterministic. Not measured.
  static constexpr int64_t kRuns = 3;
  // It may take so many times as long as a case, and as long again to say what it is. Not measured.
  static constexpr double kTimesAsLong = 3;
  // The share of the campaign's time that goes to suspects which have to be waited for, and how
  // many suspects have to wait before a second worker checks them. With one worker 269 of 1,700
  // suspects were left unchecked in twenty minutes; the numbers are not measured.
  static constexpr double kShareOfWaiting = 0.2;
  static constexpr size_t kManySuspects = 8;

  // ---- What is only counted, since it looks like what was checked before.

  // A place is familiar once so many failures there had one signature; of those that come then one
  // in six, and after kMany one in sixteen, is looked at in full all the same, which takes some
  // fourteen compilations. The numbers are not measured.
  static constexpr int64_t kFamiliar = 3, kInFullEvery = 6, kMany = 24, kOfManyInFullEvery = 16;
  // Enough is known of a place after so many failures for each signature that was seen there; of
  // those that come then one in eight is checked. Half of the wrong values of an hour are at an
  // instruction where as many were confirmed with one signature.
  static constexpr int64_t kOfEachSignature = 16, kCheckedEvery = 8;
  // So many that are legal and yet far off in one way are checked, and one in so many after them.
  // Not measured.
  static constexpr int64_t kFarOff = 16, kFarOffEvery = 16;
};

}  // namespace assay
