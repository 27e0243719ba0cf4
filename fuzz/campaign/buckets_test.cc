// Which findings of a campaign are one bug.
#include <map>
#include <set>

#include "fuzz/campaign/scripted.h"

namespace assay {
namespace {

// Only what ran out of time is merged: the others need all of their opcodes.
TEST(Tally, WhatWasNotReducedToTheEndJoinsTheSmallerProgram) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  auto add = [&](const char* opcodes, const char* rule, bool is_smallest) {
    CampaignFinding& finding = tally.finding(AddWrong(tally, opcodes));
    finding.triaged = true;
    finding.triage.confirmed = true;
    finding.triage.opcodes = opcodes;
    finding.triage.blamed_rule = rule;
    finding.triage.is_smallest = is_smallest;
    finding.bucket = StrCat(rule, "/", opcodes);
  };
  add("dynamic-slice", "algsimp", true);
  add("dynamic-slice+pad", "algsimp", true);
  add("add+dynamic-slice", "algsimp", false);
  add("add+dynamic-slice", "fusion", false);
  add("add+reshape", "algsimp", false);
  tally.Finish(/*with_triage=*/true);
  const std::map<std::string, int64_t> buckets = {{"algsimp/dynamic-slice", 2},
                                                  {"algsimp/dynamic-slice+pad", 1},
                                                  {"fusion/add+dynamic-slice", 1},
                                                  {"algsimp/add+reshape", 1}};
  EXPECT_EQ(tally.summary().buckets, buckets);
}

TEST(Tally, OneBugOfGeneratedCodeIsOneBucket) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  auto add = [&](Outcome::Kind kind, const char* opcodes, const char* rule, const char* tail) {
    CampaignFinding& finding = tally.finding(AddWrong(tally, StrCat(opcodes, tail)));
    finding.kind = kind;
    finding.triaged = true;
    finding.triage.confirmed = true;
    finding.triage.is_smallest = true;
    finding.triage.opcodes = opcodes;
    finding.triage.blamed_rule = rule;
    finding.bucket = finding.triage.bucket = StrCat(opcodes, "/", tail);
  };
  add(Outcome::kRunCrash, "concatenate+dynamic-update-slice", "", "");
  add(Outcome::kWrong, "dynamic-update-slice", "", "i-fffff");
  add(Outcome::kWrong, "dynamic-update-slice", "", "f-xffff");
  add(Outcome::kWrong, "maximum+reduce", "", "f-fffff");
  add(Outcome::kWrong, "minimum+reduce", "", "f-fffff");
  add(Outcome::kWrong, "cbrt", "", "f-fffff");
  add(Outcome::kWrong, "cbrt+dot", "", "f-xffxf");
  add(Outcome::kWrong, "", "import", "");
  add(Outcome::kWrong, "concatenate", "import", "");
  add(Outcome::kWrong, "dynamic-update-slice+iota+narrow-index", "", "c-pffff");
  add(Outcome::kRunCrash, "dynamic-update-slice+narrow-index", "", "");
  add(Outcome::kWrong, "dynamic-slice+narrow-index", "", "i-fffff");
  add(Outcome::kWrong, "convert+nan-for-zero", "", "f-xxxxf");
  add(Outcome::kWrong, "multiply+nan-for-zero+negate", "", "f-xxxxf");
  add(Outcome::kWrong, "iota", "float-normalization-f8e5m2", "a");
  add(Outcome::kWrong, "iota", "float-normalization-f8e5m2fnuz", "b");
  add(Outcome::kWrong, "reduce-precision", "float-normalization-f4e2m1fn", "c");
  add(Outcome::kWrong, "reduce-precision", "float-normalization-f8e3m4", "d");
  add(Outcome::kWrong, "scatter", "", "i-fffpf");
  add(Outcome::kWrong, "scatter", "", "p-fffpf");
  add(Outcome::kWrong, "add+convert", "float-normalization-u4", "");
  add(Outcome::kWrong, "convert+multiply", "float-normalization-s4", "");
  add(Outcome::kWrong, "abs+sqrt", "algsimp", "");
  add(Outcome::kWrong, "abs+negate+sqrt", "", "f-pffff");
  // Others: what is silenced otherwise, other numbers of a function, compile crashes, rewrites.
  add(Outcome::kWrong, "cbrt+divide", "", "f-pffff");
  add(Outcome::kWrong, "cbrt", "", "c-fffff");
  add(Outcome::kWrong, "maximum+reduce+subtract", "", "i-fffff");
  add(Outcome::kCompileCrash, "dynamic-update-slice+while", "", "");
  add(Outcome::kWrong, "dynamic-slice", "import", "");
  add(Outcome::kWrong, "add", "algsimp", "");
  add(Outcome::kWrong, "add+subtract", "algsimp", "");
  add(Outcome::kWrong, "popcnt", "float-normalization-s4", "");
  add(Outcome::kWrong, "abs+exponential+sqrt", "", "f-fpfff");
  tally.Finish(/*with_triage=*/true);
  const std::map<std::string, int64_t> buckets = {{"dynamic-update-slice/i-fffff", 3},
                                                  {"dynamic-update-slice+narrow-index/", 3},
                                                  {"convert+nan-for-zero/f-xxxxf", 2},
                                                  {"iota/a", 2},
                                                  {"reduce-precision/c", 2},
                                                  {"maximum+reduce/f-fffff", 2},
                                                  {"cbrt/f-fffff", 2},
                                                  {"/", 2},
                                                  {"cbrt+divide/f-pffff", 1},
                                                  {"cbrt/c-fffff", 1},
                                                  {"maximum+reduce+subtract/i-fffff", 1},
                                                  {"dynamic-update-slice+while/", 1},
                                                  {"dynamic-slice/", 1},
                                                  {"add/", 1},
                                                  {"add+subtract/", 1},
                                                  {"scatter/i-fffpf", 2},
                                                  {"add+convert/", 2},
                                                  {"abs+sqrt/", 2},
                                                  {"popcnt/", 1},
                                                  {"abs+exponential+sqrt/f-fpfff", 1}};
  EXPECT_EQ(tally.summary().buckets, buckets);
}

// A finding that triage has looked at, in the bucket "x/KIND/BUCKET".
void AddPlaced(Tally& tally, Outcome::Kind kind, const char* opcodes, const char* rule,
               const char* place, const std::string& bucket) {
  CampaignFinding& finding = tally.finding(AddWrong(tally, StrCat(bucket, opcodes)));
  finding.kind = kind;
  finding.triaged = finding.triage.confirmed = finding.triage.is_smallest = true;
  finding.triage.opcodes = opcodes;
  finding.triage.blamed_rule = rule;
  finding.triage.place = place;
  finding.bucket = finding.triage.bucket = StrCat("x/", Name(kind), "/", bucket);
}

// The last two parts of each bucket, with how many findings are in it.
std::set<std::string> EndsOfBuckets(Tally& tally) {
  tally.Finish(/*with_triage=*/true);
  std::set<std::string> buckets;
  for (const auto& [bucket, count] : tally.summary().buckets) {
    buckets.insert(StrCat(bucket.substr(bucket.rfind('/', bucket.rfind('/') - 1) + 1), " ", count));
  }
  return buckets;
}

TEST(Tally, TheSameBugInOtherSurroundingsIsOneBucket) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  const Outcome::Kind wrong = Outcome::kWrong, died = Outcome::kCompileCrash;
  AddPlaced(tally, wrong, "maximum+multiply+reduce", "", "reduce[maximum]", "a/i-fffff");
  AddPlaced(tally, wrong, "broadcast+maximum+negate+reduce", "", "reduce[maximum]", "b/i-fffff");
  AddPlaced(tally, wrong, "broadcast+minimum+negate+reduce", "", "reduce[minimum]", "c/f-fffff");
  AddPlaced(tally, wrong, "compare+negate+while+unsigned-loop", "", "while", "d/i-pfpff");
  AddPlaced(tally, wrong, "compare+subtract+while+unsigned-loop", "annotator", "while", "e");
  AddPlaced(tally, wrong, "dynamic-slice", "constant_folding", "dynamic-slice", "f");
  AddPlaced(tally, wrong, "dynamic-update-slice+iota", "constant_folding", "dynamic-update-slice",
            "g");
  AddPlaced(tally, wrong, "dynamic-slice+rng", "import", "", "h");
  AddPlaced(tally, wrong, "dynamic-slice", "import", "", "i");
  AddPlaced(tally, wrong, "", "import", "", "j");
  AddPlaced(tally, died, "divide+iota", "", "", "the worker closed its output;/divide+iota");
  AddPlaced(tally, died, "add+remainder", "", "", "the worker closed its output;/add+remainder");
  AddPlaced(tally, died, "concatenate", "", "",
            "the worker closed its output; x.cc:#] Check/concatenate");
  AddPlaced(tally, died, "slice", "", "", "the worker closed its output; x.cc:#] Check/slice");
  AddPlaced(tally, died, "while", "", "", "the worker closed its output; what(): bad/while");
  AddPlaced(tally, died, "compare+while", "", "",
            "the worker closed its output; what(): bad/compare+while");
  AddPlaced(tally, died, "add+reduce-window", "", "",
            "out; status_macros.cc:#] RET/add+reduce-window");
  AddPlaced(tally, died, "minimum+reduce-window", "", "",
            "out; status_macros.cc:#] RET/minimum+reduce-window");
  AddPlaced(tally, died, "abs", "", "", "out; status_macros.cc:#] RET/abs");
  AddPlaced(tally, died, "erf+set-dimension-size", "", "",
            "e: error: # op bad/erf+set-dimension-size");
  AddPlaced(tally, died, "iota+set-dimension-size", "", "",
            "e: error: # op bad/iota+set-dimension-size");
  AddPlaced(tally, died, "cosine", "", "", "e: error: # op bad/cosine");
  AddPlaced(tally, wrong, "convolution", "", "convolution", "k/i-ffpff");
  AddPlaced(tally, wrong, "convolution+iota", "", "convolution", "l/i-pfpff");
  AddPlaced(tally, died, "sort", "", "", "Syntax error/sort");
  AddPlaced(tally, died, "gather", "", "", "Syntax error/gather");
  const std::set<std::string> wanted = {"Syntax error/gather 1",
                                        "Syntax error/sort 1",
                                        "a/i-fffff 2",
                                        "c/f-fffff 1",
                                        "d/i-pfpff 2",
                                        "e: error: # op bad/cosine 1",
                                        "e: error: # op bad/erf+set-dimension-size 2",
                                        "k/i-ffpff 2",
                                        "out; status_macros.cc:#] RET/abs 1",
                                        "out; status_macros.cc:#] RET/add+reduce-window 2",
                                        "the worker closed its output; what(): bad/while 2",
                                        "the worker closed its output; x.cc:#] Check/concatenate 2",
                                        "the worker closed its output;/divide+iota 2",
                                        "wrong value/f 2",
                                        "wrong value/i 2",
                                        "wrong value/j 1"};
  EXPECT_EQ(EndsOfBuckets(tally), wanted);
}

TEST(Tally, OneOpAndOnePassWithoutWhichItIsRightAreOneBug) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  const auto add = [&tally](const char* opcodes, const char* place, const char* silencing,
                            const char* bucket) {
    AddPlaced(tally, Outcome::kWrong, opcodes, "", place, bucket);
    tally.finding(static_cast<size_t>(tally.summary().findings) - 1).triage.silencing = silencing;
  };
  add("minimum+reduce", "reduce[minimum]", "rewriter", "a/f-fffff");
  add("maximum+reduce", "reduce[maximum]", "rewriter", "b/f-fffpf");
  add("add+reduce", "reduce[add]", "rewriter", "c/f-fffpf");
  add("minimum+negate+reduce", "reduce[minimum]", "another", "d/f-ffffp");
  // A combiner in more words, which is a reduction itself.
  add("broadcast+maximum+minimum+reduce", "reduce[reduce]", "rewriter", "e/f-pffff");
  add("broadcast+minimum+reduce", "reduce[reduce]", "third", "g/f-fffpp");
  EXPECT_EQ(EndsOfBuckets(tally),
            (std::set<std::string>{"a/f-fffff 3", "c/f-fffpf 1", "d/f-ffffp 1", "g/f-fffpp 1"}));
}

TEST(Tally, TheSameBugOfOldReleasesIsOneBucket) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  const Outcome::Kind wrong = Outcome::kWrong;
  const std::string refusal = "Syntax error when parsing it as a module: ";
  AddPlaced(tally, Outcome::kRunCrash, "broadcast+transpose", "", "",
            "closed its output/broadcast+transpose");
  AddPlaced(tally, wrong, "reshape+transpose", "", "transpose", "m/i-fffff");
  AddPlaced(tally, wrong, "dynamic-slice", "algsimp", "dynamic-slice", "n");
  AddPlaced(tally, wrong, "add+dynamic-slice", "algsimp", "dynamic-slice", "o");
  AddPlaced(tally, wrong, "divide", "algsimp", "divide", "p");
  AddPlaced(tally, wrong, "divide+exponential", "algsimp", "divide", "q");
  AddPlaced(tally, wrong, "atan2", "constant_folding", "atan2", "r");
  AddPlaced(tally, wrong, "atan2", "", "atan2", "s/f-fffff");
  AddPlaced(tally, wrong, "convolution", "", "convolution", "t/i-ffpff");
  AddPlaced(tally, wrong, "convolution", "constant_folding", "convolution", "u");
  AddPlaced(tally, Outcome::kRejected, "convert", "", "",
            refusal + "real part #.# is out of/convert");
  AddPlaced(tally, Outcome::kRejected, "compare", "", "", refusal + "imaginary part -#.# is o/");
  AddPlaced(tally, Outcome::kRejected, "sort", "", "", refusal + "real part #.# is out of/sort");
  AddPlaced(tally, Outcome::kRejected, "compare", "", "", refusal + "no attribute #/compare");
  AddPlaced(tally, Outcome::kRejected, "sort", "", "", refusal + "no attribute #/sort");
  const std::set<std::string> wanted = {refusal + "real part #.# is out of/convert 3",
                                        refusal + "no attribute #/compare 1",
                                        refusal + "no attribute #/sort 1",
                                        "closed its output/broadcast+transpose 2",
                                        "wrong value/n 2",
                                        "wrong value/p 1",
                                        "wrong value/q 1",
                                        "wrong value/r 2",
                                        "t/i-ffpff 2"};
  EXPECT_EQ(EndsOfBuckets(tally), wanted);
}

// Adds a finding as AddPlaced does, and says of which numbers its output is.
struct Look {
  const char *opcodes, *rule, *place, *numbers;
};

CampaignFinding& AddNumbered(Tally& tally, Outcome::Kind kind, const Look& look,
                             const std::string& bucket) {
  AddPlaced(tally, kind, look.opcodes, look.rule, look.place, bucket);
  CampaignFinding& finding = tally.finding(static_cast<size_t>(tally.summary().findings) - 1);
  finding.triage.numbers = look.numbers;
  return finding;
}

TEST(Tally, TheSameBeliefOrMistakeIsOneBucket) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  const Outcome::Kind wrong = Outcome::kWrong, died = Outcome::kCompileCrash;
  // That a product of a number with itself is not negative, and that an iota is not.
  AddNumbered(tally, wrong, {"abs+multiply", "algsimp", "abs", "i"}, "a");
  AddNumbered(tally, wrong, {"multiply+remainder", "algsimp", "remainder", "i"}, "b");
  AddNumbered(tally, wrong, {"abs+iota", "algsimp", "abs", "i"}, "c");
  AddNumbered(tally, wrong, {"broadcast+iota+remainder", "algsimp", "remainder", "i"}, "d");
  AddNumbered(tally, wrong, {"divide+multiply", "algsimp", "divide", "i"}, "a2");
  AddNumbered(tally, wrong, {"compare+iota", "algsimp", "compare", "i"}, "c2");
  AddNumbered(tally, wrong, {"abs+divide", "algsimp", "divide", "i"}, "abs");
  AddNumbered(tally, wrong, {"abs+remainder", "algsimp", "remainder", "i"}, "abs2");
  AddNumbered(tally, wrong, {"compare+multiply", "algsimp", "compare", "f"}, "nan");
  AddNumbered(tally, wrong, {"compare+maximum", "algsimp", "compare", "f"}, "nan2");
  // What becomes a slice, and who has starts.
  AddNumbered(tally, wrong, {"dynamic-slice", "algsimp", "dynamic-slice", "i"}, "slice");
  AddNumbered(tally, wrong, {"dynamic-slice+gather", "algsimp", "dynamic-slice", "i"}, "gather");
  AddNumbered(tally, wrong, {"dynamic-slice+scatter", "algsimp", "scatter", "f"}, "scatter");
  AddNumbered(tally, wrong, {"gather", "import", "gather", "i"}, "starts");
  AddNumbered(tally, wrong, {"dynamic-slice", "import", "dynamic-slice", "i"}, "starts2");
  // What a pass folds wrongly, it folds wrongly whatever made the constant.
  AddNumbered(tally, wrong, {"fft+iota", "constant_folding", "fft", "c"}, "folded");
  AddNumbered(tally, wrong, {"fft", "", "fft", "c"}, "foldable/c-ffpff");
  // A rule about complex numbers is none about floats.
  AddNumbered(tally, wrong, {"multiply", "algsimp", "multiply", "c"}, "e");
  AddNumbered(tally, wrong, {"multiply+sqrt", "algsimp", "sqrt", "f"}, "f").triage.is_smallest =
      false;
  AddNumbered(tally, wrong, {"multiply+reverse", "algsimp", "multiply", "c"}, "g")
      .triage.is_smallest = false;
  // A window over all there is, and the reduction that it becomes.
  AddNumbered(tally, wrong, {"maximum+reduce-window", "", "reduce-window[maximum]", "f"},
              "o/f-pffff");
  AddNumbered(tally, wrong, {"minimum+reduce", "", "reduce[minimum]", "f"}, "p/f-fffff");
  AddNumbered(tally, wrong, {"add+reduce-window", "", "reduce-window[add]", "f"}, "q/f-fffpf");
  AddNumbered(tally, wrong, {"add+reduce", "", "reduce[add]", "f"}, "r/f-fffff");
  // Who dies without a word dies of the op and of the signal.
  AddNumbered(tally, died, {"divide", "", "", "i"}, "the worker died of SIGFPE;/divide");
  AddNumbered(tally, died, {"iota+remainder", "", "", "i"},
              "the worker died of SIGFPE;/iota+remainder");
  AddNumbered(tally, died, {"divide+negate", "", "", "i"},
              "the worker died of SIGSEGV;/divide+negate");
  AddNumbered(tally, died, {"slice", "", "", "i"}, "the worker died of SIGABRT; x.cc: Check/slice");
  AddNumbered(tally, died, {"pad", "", "", "i"}, "the worker died of SIGABRT; x.cc: Check/pad");
  // The import misreads a constant, whoever looks at its parts; and rounds with one function.
  AddNumbered(tally, wrong, {"", "import", "", "c"}, "s");
  AddNumbered(tally, wrong, {"imag", "import", "imag", "f"}, "t");
  AddNumbered(tally, wrong, {"pad", "import", "pad", "c"}, "t2");
  AddNumbered(tally, wrong, {"round-nearest-even", "import", "round-nearest-even", "f"}, "u");
  AddNumbered(tally, wrong, {"round-nearest-afz", "import", "round-nearest-afz", "f"}, "v");
  const std::set<std::string> wanted = {"wrong value/a 3",
                                        "wrong value/abs 2",
                                        "wrong value/nan 2",
                                        "wrong value/slice 3",
                                        "wrong value/starts 2",
                                        "foldable/c-ffpff 2",
                                        "wrong value/c 3",
                                        "wrong value/e 2",
                                        "wrong value/f 1",
                                        "o/f-pffff 2",
                                        "q/f-fffpf 1",
                                        "r/f-fffff 1",
                                        "the worker died of SIGFPE;/divide 2",
                                        "the worker died of SIGSEGV;/divide+negate 1",
                                        "the worker died of SIGABRT; x.cc: Check/slice 2",
                                        "wrong value/s 3",
                                        "wrong value/u 2"};
  EXPECT_EQ(EndsOfBuckets(tally), wanted);
}

// The same few ops fail now this check, now that one; of one op alone there may be two bugs.
TEST(Tally, OneProgramThatDiesOfTwoChecksIsOneBucket) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  const Outcome::Kind died = Outcome::kCompileCrash;
  AddNumbered(tally, died, {"sort+while", "", "", "i"}, "SIGABRT; y.cc: Check/sort+while");
  AddNumbered(tally, died, {"sort+while", "", "", "i"}, "SIGABRT; z.cc: Check/sort+while");
  AddNumbered(tally, died, {"topk", "", "", "i"}, "SIGABRT; v.cc: Check/topk");
  AddNumbered(tally, died, {"topk", "", "", "i"}, "SIGABRT; w.cc: Check/topk");
  const std::set<std::string> wanted = {"SIGABRT; y.cc: Check/sort+while 2",
                                        "SIGABRT; v.cc: Check/topk 1",
                                        "SIGABRT; w.cc: Check/topk 1"};
  EXPECT_EQ(EndsOfBuckets(tally), wanted);
}

TEST(Tally, PackedNumbersAreOneBucketByWhoUnpacksThem) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  const Outcome::Kind wrong = Outcome::kWrong;
  // Who sorts or computes what is packed; others with sort need no packed numbers.
  AddNumbered(tally, wrong, {"compare+few-bits+sort", "", "", "i"}, "h/i-ppppf");
  AddNumbered(tally, Outcome::kRunCrash, {"few-bits+sort", "", "", "i"}, "died of SIGABRT/i");
  AddNumbered(tally, wrong, {"few-bits+topk", "", "topk", "i"}, "topk/i-fffff");
  AddNumbered(tally, wrong, {"compare+sort+negate", "", "sort[compare]", "f"}, "j/f-pffff");
  AddNumbered(tally, wrong, {"clamp+few-bits", "", "clamp", "i"}, "k/i-ppfpp");
  AddNumbered(tally, wrong, {"few-bits+maximum", "", "maximum", "i"}, "l/i-ppfpp");
  AddNumbered(tally, wrong, {"few-bits+power", "", "power", "i"}, "m/i-ffpff");
  AddNumbered(tally, wrong, {"few-bits+shift-left", "", "shift-left", "i"}, "n/i-fffff");
  AddNumbered(tally, Outcome::kRunCrash, {"few-bits+iota+negate", "", "", "i"}, "corrupted/heap");
  AddNumbered(tally, wrong, {"few-bits+transpose", "", "transpose", "i"}, "turn/i-xxxfp");
  AddNumbered(tally, wrong, {"few-bits+transpose", "", "transpose", "f"}, "turned/f-xxxff");
  AddNumbered(tally, wrong, {"few-bits+pad", "", "pad", "i"}, "pad/i-fffpf");
  AddNumbered(tally, wrong, {"few-bits+reverse", "", "reverse", "i"}, "reverse/i-pffff");
  const std::set<std::string> wanted = {"died of SIGABRT/i 3", "j/f-pffff 1", "k/i-ppfpp 4",
                                        "m/i-ffpff 1",         "n/i-fffff 1", "reverse/i-pffff 1",
                                        "turn/i-xxxfp 2"};
  EXPECT_EQ(EndsOfBuckets(tally), wanted);
}

TEST(Tally, TheSameBugInALoopOrBehindItsOperandIsOneBucket) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  const Outcome::Kind wrong = Outcome::kWrong;
  AddNumbered(tally, wrong, {"exponential+log", "algsimp", "log", "f"}, "a");
  AddNumbered(tally, wrong, {"compare+exponential+log+while", "algsimp", "while", "f"}, "b");
  AddNumbered(tally, wrong, {"exponential+log+sine+while", "algsimp", "while", "f"}, "c");
  AddNumbered(tally, wrong, {"compare+exponential+log", "algsimp", "compare", "p"}, "d");
  AddNumbered(tally, wrong, {"atan2", "", "atan2", "f"}, "e/f-fffff");
  AddNumbered(tally, wrong, {"atan2+multiply", "", "atan2", "f"}, "f/f-fpfff");
  AddNumbered(tally, wrong, {"atan2+negate", "", "atan2", "f"}, "g/f-ffpff");
  AddNumbered(tally, wrong, {"abs+atan2", "", "atan2", "c"}, "h/c-fpfff");
  AddNumbered(tally, wrong, {"broadcast+maximum+reduce+subtract", "", "", "i"}, "k/i-fffff");
  AddNumbered(tally, wrong, {"maximum+multiply+reduce", "", "reduce[maximum]", "i"}, "l/i-fffff");
  AddNumbered(tally, wrong, {"add+reduce+subtract", "", "", "i"}, "m/i-fffff");
  AddNumbered(tally, wrong, {"maximum+reduce+subtract", "", "", "f"}, "n/f-fffff");
  AddNumbered(tally, wrong, {"compare+negate+one-zero+while", "", "while", "f"}, "o/f-fffff");
  AddNumbered(tally, wrong, {"one-zero+scan", "", "scan", "f"}, "p/f-ppfff");
  AddNumbered(tally, wrong, {"convert+one-zero", "", "convert", "f"}, "q/f-ppfff");
  AddNumbered(tally, wrong, {"minimum+reduce-window", "", "reduce-window[minimum]", "f"},
              "r/f-pfpff");
  AddNumbered(tally, wrong, {"convert+multiply", "algsimp", "multiply", "f"}, "choice");
  AddNumbered(tally, wrong, {"convert+divide", "algsimp", "divide", "f"}, "choice2");
  AddNumbered(tally, wrong, {"divide", "algsimp", "divide", "f"}, "quotient");
  AddNumbered(tally, wrong, {"divide+real", "algsimp", "divide", "f"}, "quotient2");
  AddNumbered(tally, wrong, {"divide+real", "algsimp", "divide", "c"}, "quotient3");
  const std::set<std::string> wanted = {"l/i-fffff 2",
                                        "m/i-fffff 1",
                                        "n/f-fffff 1",
                                        "wrong value/a 2",
                                        "wrong value/c 1",
                                        "wrong value/d 1",
                                        "wrong value/choice 2",
                                        "p/f-ppfff 2",
                                        "q/f-ppfff 1",
                                        "r/f-pfpff 1",
                                        "e/f-fffff 2",
                                        "g/f-ffpff 1",
                                        "h/c-fpfff 1",
                                        "wrong value/quotient 2",
                                        "wrong value/quotient3 1"};
  EXPECT_EQ(EndsOfBuckets(tally), wanted);
}

// A sort that is wrong only where there is a topk as well is no sort that is wrong by itself.
TEST(Tally, WhatNeedsAnotherProgramIsABugOfItsOwn) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  const Outcome::Kind wrong = Outcome::kWrong;
  AddNumbered(tally, wrong, {"compare+sort", "", "sort[compare]", "i"}, "a/i-fffff");
  AddNumbered(tally, wrong, {"topk", "", "topk", "i"}, "b/i-fffff");
  AddNumbered(tally, wrong, {"compare+sort+topk", "", "sort[compare]", "i"}, "c/i-fffff").with = {
      3};
  AddNumbered(tally, wrong, {"abs+compare+sort+topk", "", "sort[compare]", "i"}, "d/i-fffff")
      .with = {4};
  // A collective of one device stands beside a fold and changes nothing.
  AddNumbered(tally, wrong, {"maximum+multiply+reduce", "", "", "i"}, "e/i-ffpff");
  AddNumbered(tally, wrong, {"broadcast+maximum+reduce+reduce-scatter", "", "", "i"}, "f/i-ffpff");
  const std::set<std::string> wanted = {"a/i-fffff 1", "b/i-fffff 1", "c/i-fffff 2", "e/i-ffpff 2"};
  EXPECT_EQ(EndsOfBuckets(tally), wanted);
}

TEST(Tally, OneProgramMayHoldWhatTwoNeed) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  const Outcome::Kind wrong = Outcome::kWrong;
  AddNumbered(tally, wrong, {"compare+sort+topk", "", "", "i"}, "a/i-fffff").with = {3};
  AddNumbered(tally, wrong, {"compare+sort+topk", "", "sort[compare]", "f"}, "b/f-fffff");
  AddNumbered(tally, wrong, {"compare+sort", "", "sort[compare]", "i"}, "c/i-fffff");
  AddNumbered(tally, wrong, {"compare+sort+topk", "", "sort[compare]", "f"}, "d/f-fffpf");
  const std::set<std::string> wanted = {"a/i-fffff 2", "c/i-fffff 1", "d/f-fffpf 1"};
  EXPECT_EQ(EndsOfBuckets(tally), wanted);
}

// What collectives are given, or give, is simplified as it is on one device.
TEST(Tally, WhatIsRewrittenBesideACollectiveIsOneBug) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  const Outcome::Kind wrong = Outcome::kWrong;
  AddNumbered(tally, wrong, {"dynamic-slice", "algsimp", "", "c"}, "a");
  AddNumbered(tally, wrong, {"add+all-reduce+dynamic-slice", "algsimp", "", "c"}, "b");
  AddNumbered(tally, wrong, {"power", "algsimp", "", "i"}, "c");
  AddNumbered(tally, wrong, {"all-gather+power", "algsimp", "", "i"}, "d");
  AddNumbered(tally, wrong, {"all-reduce+maximum", "algsimp", "", "i"}, "e");
  const std::set<std::string> wanted = {"wrong value/a 2", "wrong value/c 2", "wrong value/e 1"};
  EXPECT_EQ(EndsOfBuckets(tally), wanted);
}

// Simplification meets the ops that a batch norm became.
TEST(Tally, ABatchNormIsOneWhateverItsOperandsAre) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  const Outcome::Kind wrong = Outcome::kWrong;
  AddNumbered(tally, wrong, {"batch-norm-training", "algsimp", "", "f"}, "a");
  AddNumbered(tally, wrong, {"batch-norm-training+convert+iota", "algsimp", "", "f"}, "b");
  AddNumbered(tally, wrong, {"batch-norm-inference+convert", "algsimp", "", "f"}, "c");
  AddNumbered(tally, wrong, {"convert+iota", "algsimp", "convert", "f"}, "d");
  const std::set<std::string> wanted = {"wrong value/a 2", "wrong value/c 1", "wrong value/d 1"};
  EXPECT_EQ(EndsOfBuckets(tally), wanted);
}

TEST(Tally, WhatStandsAroundTheSameMistakeIsNoOtherBug) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  const Outcome::Kind wrong = Outcome::kWrong;
  // A belief about a sign is handed on by sorts and conversions, not by sums.
  AddNumbered(tally, wrong, {"abs+iota", "algsimp", "abs", "i"}, "a");
  AddNumbered(tally, wrong, {"abs+compare+few-bits+iota+sort", "algsimp", "abs", "i"}, "a2");
  AddNumbered(tally, wrong, {"abs+multiply", "algsimp", "abs", "i"}, "b");
  AddNumbered(tally, wrong, {"abs+convert+multiply", "algsimp", "abs", "i"}, "b2");
  AddNumbered(tally, wrong, {"abs+add+multiply", "algsimp", "abs", "i"}, "b3");
  // What is folded before and behind the op that is wrong, and what is not folded at all.
  AddNumbered(tally, wrong, {"cbrt", "", "cbrt", "f"}, "c/f-fffff");
  AddNumbered(tally, wrong, {"add+cbrt+reduce-window", "constant_folding", "cbrt", "f"}, "c2");
  AddNumbered(tally, wrong, {"cbrt+sqrt", "constant_folding", "sqrt", "f"}, "c3");
  AddNumbered(tally, wrong, {"power", "constant_folding", "power", "i"}, "c4");
  AddNumbered(tally, wrong, {"power", "", "power", "i"}, "c5/i-fffff");
  AddNumbered(tally, wrong, {"log", "constant_folding", "log", "f"}, "c6");
  AddNumbered(tally, wrong, {"log", "", "log", "c"}, "c7/c-fffff");
  AddNumbered(tally, wrong, {"pad+slice", "constant_folding", "pad", "f"}, "d0");
  AddNumbered(tally, wrong, {"fft", "constant_folding", "fft", "c"}, "d");
  AddNumbered(tally, wrong, {"convolution+fft+iota", "constant_folding", "fft", "c"}, "d2");
  AddNumbered(tally, wrong, {"convolution+fft", "constant_folding", "convolution", "c"}, "d3");
  // The same is computed and moved otherwise; where all are moves, two of them tell little.
  AddNumbered(tally, wrong, {"broadcast+maximum+reduce+subtract", "", "", "i"}, "e/i-fffff");
  AddNumbered(tally, wrong, {"broadcast+maximum+pad+reduce+subtract", "", "", "i"}, "e2/i-pffff");
  AddNumbered(tally, wrong, {"maximum+reduce+subtract", "", "", "i"}, "e3/i-ffffp");
  AddNumbered(tally, wrong, {"broadcast+scatter+slice", "", "", "i"}, "f/i-ppfff");
  AddNumbered(tally, wrong, {"scatter+slice+transpose", "", "", "i"}, "f2/i-ppfff");
  AddNumbered(tally, wrong, {"broadcast+gather", "", "", "i"}, "g/i-pffff");
  AddNumbered(tally, wrong, {"gather+transpose", "", "", "i"}, "g2/i-ffpff");
  // An update in place of what it is cut from, and one of what it is not.
  AddNumbered(tally, wrong, {"dynamic-update-slice+reshape+slice", "", "", "p"}, "u/p-ppfff");
  AddNumbered(tally, wrong, {"dynamic-update-slice+slice+transpose", "", "", "i"}, "u2/i-ppfff");
  AddNumbered(tally, wrong, {"dynamic-update-slice+transpose", "", "", "i"}, "u3/i-pffpf");
  // Who writes where it must not may never answer.
  AddNumbered(tally, wrong, {"dynamic-slice+narrow-index", "", "", "p"}, "h/p-fffff");
  AddNumbered(tally, Outcome::kTimeout, {"dynamic-slice+iota+narrow-index", "", "", "p"}, "h2");
  AddNumbered(tally, Outcome::kTimeout, {"dynamic-slice+iota", "", "", "p"}, "h3");
  const std::set<std::string> wanted = {"wrong value/a 2",  "wrong value/b 2",  "wrong value/b3 1",
                                        "c/f-fffff 2",      "wrong value/c3 1", "wrong value/c4 1",
                                        "wrong value/c6 1", "c7/c-fffff 1",     "c5/i-fffff 1",
                                        "wrong value/d0 1", "wrong value/d 2",  "wrong value/d3 1",
                                        "e/i-fffff 2",      "e3/i-ffffp 1",     "f/i-ppfff 2",
                                        "g/i-pffff 1",      "g2/i-ffpff 1",     "h/p-fffff 2",
                                        "timeout/h3 1",     "u/p-ppfff 2",      "u3/i-pffpf 1"};
  EXPECT_EQ(EndsOfBuckets(tally), wanted);
}

TEST(Tally, WhatWritesBesideItsArrayOrDiesAtOneCheckIsOneBucket) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  const Outcome::Kind wrong = Outcome::kWrong, crash = Outcome::kRunCrash;
  // A collective that takes packed numbers for bytes.
  AddNumbered(tally, crash, {"all-gather+few-bits", "", "", "i"}, "i");
  AddNumbered(tally, Outcome::kTimeout, {"all-gather+few-bits+negate", "", "", "i"}, "i2");
  AddNumbered(tally, Outcome::kTimeout, {"all-to-all+few-bits", "", "", "i"}, "i3");
  AddNumbered(tally, Outcome::kTimeout, {"all-gather+negate", "", "", "i"}, "i4");
  // One check of the source that fails is one bug, one heap that is spoiled may be many.
  AddNumbered(tally, crash, {"all-gather+fft+imag", "", "", "f"}, "k.cc:# CHECK/l");
  AddNumbered(tally, crash, {"fft+real", "", "", "f"}, "k.cc:# CHECK/l2");
  AddNumbered(tally, crash, {"scatter+sign", "", "", "f"}, "died;corrupted heap/m");
  AddNumbered(tally, crash, {"gather+sine", "", "", "f"}, "died;corrupted heap/m2");
  // What is made wider and folded then is right without either.
  AddNumbered(tally, wrong, {"few-bits+popcnt", "constant_folding", "popcnt", "i"}, "n");
  AddNumbered(tally, wrong, {"few-bits+popcnt", "float-normalization-s4", "popcnt", "i"}, "n2");
  AddNumbered(tally, wrong, {"popcnt", "constant_folding", "popcnt", "c"}, "n3");
  // A dot by another name, of complex numbers.
  AddNumbered(tally, wrong, {"dot", "", "dot", "c"}, "o/c-fffff");
  AddNumbered(tally, wrong, {"convolution+reshape", "", "convolution", "c"}, "o2/c-pffff");
  AddNumbered(tally, wrong, {"dot+sort", "", "sort", "c"}, "o3/c-ppfff");
  const std::set<std::string> wanted = {"run crash/i 2",
                                        "timeout/i3 1",
                                        "timeout/i4 1",
                                        "k.cc:# CHECK/l2 2",
                                        "died;corrupted heap/m 1",
                                        "died;corrupted heap/m2 1",
                                        "wrong value/n 2",
                                        "wrong value/n3 1",
                                        "o/c-fffff 2",
                                        "o3/c-ppfff 1"};
  EXPECT_EQ(EndsOfBuckets(tally), wanted);
}

TEST(Tally, OtherWordsForASquareAConstantOrAnOrderAreNoOtherBug) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  const Outcome::Kind wrong = Outcome::kWrong;
  AddNumbered(tally, wrong, {"abs+multiply", "algsimp", "abs", "i"}, "a");
  AddNumbered(tally, wrong, {"abs+power", "algsimp", "abs", "i"}, "a2");
  AddNumbered(tally, wrong, {"multiply+sqrt", "algsimp", "sqrt", "f"}, "b");
  AddNumbered(tally, wrong, {"convolution+sqrt", "algsimp", "sqrt", "f"}, "b2");
  AddNumbered(tally, wrong, {"exponential+multiply", "algsimp", "multiply", "f"}, "c");
  AddNumbered(tally, wrong, {"exponential+power", "algsimp", "power", "f"}, "d");
  AddNumbered(tally, wrong, {"", "import", "", "c"}, "e");
  AddNumbered(tally, wrong, {"add+all-reduce", "import", "all-reduce", "c"}, "e2");
  AddNumbered(tally, wrong, {"add+compare", "import", "compare", "p"}, "f");
  AddNumbered(tally, wrong, {"compare+order-of-bf16+sort", "", "sort", "f"}, "g/f-fffff");
  AddNumbered(tally, wrong, {"compare+negate+order-of-bf16+sort", "", "", "f"}, "g2/f-fffff");
  AddNumbered(tally, wrong, {"compare+order-of-bf16+sort", "", "sort", "c"}, "g3/c-fffff");
  AddNumbered(tally, wrong, {"order-of-bf16+topk", "", "topk", "f"}, "g4/f-fffff");
  AddNumbered(tally, wrong, {"maximum+reduce", "", "reduce[maximum]", "f"}, "h/f-fffff");
  AddNumbered(tally, wrong, {"call+minimum+reduce", "", "reduce[minimum]", "f"}, "h2/f-pffff");
  AddNumbered(tally, wrong, {"call+maximum+reduce", "", "reduce[maximum]", "f"}, "h3/f-ffffp");
  AddNumbered(tally, wrong, {"log-plus-one", "", "log-plus-one", "f"}, "i/f-fffff");
  AddNumbered(tally, wrong, {"log-plus-one", "", "log-plus-one", "f"}, "i2/f-ffffp");
  AddNumbered(tally, wrong, {"log-plus-one", "", "log-plus-one", "c"}, "i3/c-ffffp");
  AddNumbered(tally, wrong, {"convert", "", "convert", "f"}, "j/f-fffff");
  AddNumbered(tally, wrong, {"convert", "", "convert", "f"}, "j2/f-ffffp");
  const std::set<std::string> wanted = {
      "wrong value/a 2", "wrong value/b 2", "wrong value/c 1", "wrong value/d 1", "wrong value/e 2",
      "wrong value/f 1", "g4/f-fffff 4",    "h/f-fffff 2",     "h3/f-ffffp 1",    "i/f-fffff 2",
      "i3/c-ffffp 1",    "j/f-fffff 1",     "j2/f-ffffp 1"};
  EXPECT_EQ(EndsOfBuckets(tally), wanted);
}

TEST(Tally, OneReductionToTheEndSpeaksForItsBucket) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  const Outcome::Kind wrong = Outcome::kWrong;
  AddNumbered(tally, wrong, {"multiply", "algsimp", "multiply", "f"}, "algsimp/multiply");
  for (const bool is_smallest : {false, true}) {
    AddNumbered(tally, wrong, {"multiply+sqrt", "algsimp", "sqrt", "f"}, "algsimp/multiply+sqrt")
        .triage.is_smallest = is_smallest;
  }
  AddNumbered(tally, wrong, {"multiply+sine", "algsimp", "sine", "f"}, "algsimp/multiply+sine")
      .triage.is_smallest = false;
  const std::set<std::string> wanted = {"algsimp/multiply 2", "algsimp/multiply+sqrt 2"};
  EXPECT_EQ(EndsOfBuckets(tally), wanted);
}

TEST(Tally, FoldsFindingsThatDifferInNumbersAlone) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  for (const char* text : {"assertion 12 failed\nhere", "assertion 345 failed\nthere"}) {
    const Suspect suspect = SuspectOf(tally, Outcome::kCompileCrash, text);
    tally.TakeConfirm(suspect, Confirmed(3, 3, Outcome::kCompileCrash));
  }
  SuspectOf(tally, Outcome::kWrong);
  tally.TakeRecord(CaseOf({Ended(Outcome::kWrong)}));
  tally.Finish(/*with_triage=*/false);
  EXPECT_EQ(tally.summary().buckets.size(), 1u);
  EXPECT_EQ(tally.summary().buckets.at("one: compile crash: assertion # failed"), 2);
  EXPECT_EQ(tally.summary().unchecked, 1) << "a suspect that nobody took";
}

}  // namespace
}  // namespace assay
