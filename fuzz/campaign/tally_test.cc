// The counting rules of campaigns, without a process.
#include "fuzz/campaign/tally.h"

#include <map>
#include <optional>
#include <set>

#include "fuzz/campaign/duties.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "spec/base/strings.h"

namespace assay {
namespace {

CampaignOptions Options() {
  CampaignOptions options;
  options.backends = {"one", "two"};
  return options;
}

BackendRecord Ended(Outcome::Kind kind, std::string text = "") {
  BackendRecord record;
  record.kind = kind;
  record.text = std::move(text);
  return record;
}

CaseRecord CaseOf(std::vector<BackendRecord> backends, int64_t index = 0) {
  CaseRecord record;
  record.index = index;
  record.backends = std::move(backends);
  return record;
}

// One suspect of the kind, taken back from the tally.
Suspect SuspectOf(Tally& tally, Outcome::Kind kind, std::string text = "") {
  tally.TakeRecord(CaseOf({Ended(kind, std::move(text))}, 7));
  return tally.NextSuspect();
}

ConfirmRecord Confirmed(int64_t fails, int64_t runs, Outcome::Kind kind = Outcome::kWrong) {
  ConfirmRecord confirm;
  confirm.fails = fails;
  confirm.runs = runs;
  confirm.record = Ended(kind, "of the second check");
  return confirm;
}

TEST(Tally, CountsEveryVerdictOnce) {
  const CampaignOptions options = Options();
  Tally tally(options);
  tally.TakeRecord(CaseOf({Ended(Outcome::kPassed), Ended(Outcome::kMistrusted)}));
  tally.TakeRecord(CaseOf({Ended(Outcome::kInconclusive, "2 of 30 elements"),
                           Ended(Outcome::kUnsupported, "no op 17 on f8e4m3fn here: %x = f32[]")}));
  tally.TakeRecord(CaseOf({Ended(Outcome::kSickMachine), Ended(Outcome::kNotRun)}));
  tally.TakeRecord(CaseOf({Ended(Outcome::kWrong), Ended(Outcome::kRunCrash)}));
  const CampaignSummary& summary = tally.summary();
  EXPECT_EQ(summary.programs, 4);
  EXPECT_EQ(summary.compared, 3) << "a wrong value was compared, a crash was not";
  EXPECT_EQ(summary.mistrusted, 1);
  EXPECT_EQ(summary.inconclusive, 1);
  EXPECT_EQ(summary.inconclusive_reasons.count("# of # elements"), 1u);
  EXPECT_EQ(summary.unsupported, 1);
  EXPECT_EQ(summary.unsupported_reasons.count("no op # on f8e4m3fn here"), 1u);
  EXPECT_EQ(summary.sick, 1);
  EXPECT_EQ(summary.not_run, 1);
  EXPECT_EQ(summary.suspects, 2);
}

TEST(Tally, WhatFailsAfterAFindingIsInItsBucket) {
  const CampaignOptions options = Options();
  Tally tally(options);
  const auto find = [&tally](int64_t index, int64_t fails) {
    tally.TakeRecord(CaseOf({Ended(Outcome::kRunCrash, "died")}, index));
    const Suspect suspect = tally.NextSuspect();
    ConfirmRecord confirm = Confirmed(fails, 3, Outcome::kRunCrash);
    confirm.signature = "run crash: it died";
    tally.TakeConfirm(suspect, confirm);
    return suspect;
  };
  find(3, 3);
  CampaignFinding& triaged = tally.BeginTriage(0);
  triaged.triaged = triaged.triage.confirmed = true;
  triaged.bucket = triaged.triage.bucket = "the bucket";
  tally.EndTriage(0);
  find(5, 3);  // counted only: it looks like the first one
  const Suspect after_first = find(6, 0), after_second = find(7, 0), after_other = find(8, 0);
  EXPECT_EQ(tally.summary().unconfirmed, 3);
  tally.TakeReplay(after_first, {3});
  tally.TakeReplay(after_second, {5});
  const CampaignFinding other = tally.TakeReplay(after_other, {4});
  EXPECT_EQ(other.after, std::vector<int64_t>{4});
  EXPECT_EQ(tally.summary().unconfirmed, 0);
  EXPECT_EQ(tally.summary().after_others, 3);
  EXPECT_EQ(tally.NextToTriage(), std::optional<size_t>(1)) << "one program shows nothing there";
  tally.Finish(/*with_triage=*/true);
  const std::map<std::string, int64_t>& buckets = tally.summary().buckets;
  EXPECT_EQ(buckets.at("the bucket"), 3);
  EXPECT_EQ(buckets.size(), 2u) << "nobody knows what the last one belongs to";
}

TEST(Tally, ASuspectsOwnRunsMayBeWhatRanBefore) {
  const CampaignOptions options = Options();
  Tally tally(options);
  const Suspect suspect = SuspectOf(tally, Outcome::kWrong, "element 3");
  tally.TakeConfirm(suspect, Confirmed(0, 3));
  const CampaignFinding finding = tally.TakeReplay(suspect, {});
  EXPECT_EQ(finding.after, std::vector<int64_t>{7});
  EXPECT_NE(finding.second_check.find("other inputs of its own"), std::string::npos);
}

TEST(Tally, WhatFailsOnlyWhenScreenedIsNeitherConfirmedNorOpen) {
  const CampaignOptions options = Options();
  Tally tally(options);
  const Suspect suspect = SuspectOf(tally, Outcome::kWrong);
  ConfirmRecord confirm = Confirmed(0, 1);
  confirm.fails_cheaply = true;
  EXPECT_FALSE(tally.TakeConfirm(suspect, ConfirmRecord::FromJson(confirm.ToJson())).confirmed);
  EXPECT_EQ(tally.summary().screened_only, 1);
  EXPECT_EQ(tally.summary().unconfirmed, 0);
}

TEST(Tally, CountsAndSkipsWhatDoesNotVerify) {
  const CampaignOptions options = Options();
  Tally tally(options);
  CaseRecord record;
  record.illegal = "add: operand 1 is wrong";
  tally.TakeRecord(CaseRecord::FromJson(record.ToJson()));
  const CampaignSummary& summary = tally.summary();
  EXPECT_EQ(summary.programs, 1);
  EXPECT_EQ(summary.illegal, 1);
  EXPECT_EQ(summary.illegal_reasons.count("add: operand # is wrong"), 1u);
  EXPECT_EQ(summary.compared + summary.suspects, 0);
}

TEST(Tally, ChecksSoManySuspectsAndCountsTheRest) {
  CampaignOptions options = Options();
  options.most_checked = 1;
  Tally tally(options);
  for (int64_t i = 0; i < 3; ++i) tally.TakeRecord(CaseOf({Ended(Outcome::kWrong)}, i));
  EXPECT_EQ(tally.summary().suspects, 3);
  EXPECT_EQ(tally.summary().unchecked, 2);
  EXPECT_EQ(tally.NextSuspect().index, 0);
  EXPECT_FALSE(tally.HasSuspect());
}

TEST(Tally, CallsWhatFailsNowAndThenNondeterministic) {
  const CampaignOptions options = Options();
  struct Row {
    Outcome::Kind first;
    int64_t fails, runs;
    Outcome::Kind second, kind;
  };
  for (const Row& row :
       {Row{Outcome::kWrong, 3, 3, Outcome::kWrong, Outcome::kWrong},
        Row{Outcome::kWrong, 1, 3, Outcome::kWrong, Outcome::kNondeterministic},
        Row{Outcome::kWrong, 3, 3, Outcome::kNondeterministic, Outcome::kNondeterministic},
        Row{Outcome::kOurFault, 1, 3, Outcome::kOurFault, Outcome::kOurFault},
        Row{Outcome::kRunCrash, 1, 3, Outcome::kRunCrash, Outcome::kNondeterministic},
        // A write to the wrong place is now one, now the other: what it is now is what repeats.
        Row{Outcome::kRunCrash, 3, 3, Outcome::kWrong, Outcome::kWrong},
        Row{Outcome::kWrong, 1, 1, Outcome::kRunCrash, Outcome::kRunCrash}}) {
    Tally tally(options);
    const Suspect suspect = SuspectOf(tally, row.first);
    const Confirmation confirmation =
        tally.TakeConfirm(suspect, Confirmed(row.fails, row.runs, row.second));
    EXPECT_TRUE(confirmation.confirmed);
    EXPECT_EQ(Name(confirmation.finding.kind), Name(row.kind)) << Name(row.first);
    EXPECT_EQ(tally.summary().findings, 1);
  }
}

TEST(Tally, DoesNotConfirmWhatDoesNotRepeat) {
  const CampaignOptions options = Options();
  for (Outcome::Kind kind : {Outcome::kTimeout, Outcome::kWrong, Outcome::kRunCrash}) {
    Tally tally(options);
    const Suspect suspect = SuspectOf(tally, kind);
    EXPECT_FALSE(tally.TakeConfirm(suspect, Confirmed(0, 3)).confirmed);
    EXPECT_EQ(tally.summary().unconfirmed, 1);
    EXPECT_EQ(tally.summary().findings, 0);
  }
}

TEST(Tally, HasNoLimitThatNobodyAskedFor) {
  const CampaignOptions options = Options();
  Tally tally(options);
  for (int64_t i = 0; i < 500; ++i) tally.TakeRecord(CaseOf({Ended(Outcome::kWrong)}, i));
  EXPECT_EQ(tally.summary().unchecked, 0);
}

TEST(Tally, ChecksWhatLooksNewFirstAndWhatHasToBeWaitedForLast) {
  const CampaignOptions options = Options();
  Tally tally(options);
  const char* const texts[] = {"output 1 is wrong", "output 2 is wrong", "assertion failed"};
  tally.TakeRecord(CaseOf({Ended(Outcome::kTimeout)}, 0));
  for (int64_t i = 0; i < 3; ++i) {
    tally.TakeRecord(CaseOf({Ended(Outcome::kWrong, texts[i])}, i + 1));
  }
  std::vector<int64_t> order;
  EXPECT_TRUE(tally.HasNovelSuspect());
  for (int i = 0; i < 3; ++i) order.push_back(tally.NextSuspect().index);
  EXPECT_EQ(order, (std::vector<int64_t>{1, 3, 2}));
  EXPECT_FALSE(tally.HasSuspect(/*slow=*/false));
  EXPECT_TRUE(tally.HasSuspect());
  EXPECT_EQ(tally.NextSuspect().index, 0);
}

// A finding of the signature in a program of so many instructions.
void TakeSigned(Tally& tally, const char* signature, int64_t instructions,
                Outcome::Kind kind = Outcome::kWrong) {
  const Suspect suspect = SuspectOf(tally, kind);
  ConfirmRecord confirm = Confirmed(3, 3, kind);
  confirm.signature = signature;
  confirm.instructions = instructions;
  tally.TakeConfirm(suspect, confirm);
}

TEST(Tally, TriagesEverySignatureBeforeOneTwice) {
  const CampaignOptions options = Options();
  Tally tally(options);
  TakeSigned(tally, "slices", 2);
  TakeSigned(tally, "slices", 3);
  TakeSigned(tally, "hang", 1, Outcome::kTimeout);
  TakeSigned(tally, "pads", 9);
  for (size_t expected : {size_t{0}, size_t{3}, size_t{2}}) {
    const std::optional<size_t> next = tally.NextToTriage();
    ASSERT_EQ(next, expected);
    EXPECT_TRUE(tally.IsNovel(tally.finding(*next)));
    tally.BeginTriage(*next).triaged = true;
  }
  ASSERT_EQ(tally.NextToTriage(), size_t{1});
  EXPECT_FALSE(tally.IsNovel(tally.finding(1)));
  EXPECT_EQ(tally.summary().signatures.at("slices"), 2);
}

TEST(Tally, TriagesASampleOfWhatIsSeenAgainAndAgain) {
  struct Row {
    const char* often;  // the signature that is seen a hundred times
    int64_t most_triaged;
    int buckets;  // that those of one signature turn out to be
    int triaged;
  };
  const char* named = "wrong value: no pass at reduce";
  const char* element = "wrong value: no pass at get-tuple-element";
  for (const Row& row :
       {Row{"often", 0, 1, 4 + 1}, Row{"often", 0, 2, 8 + 1}, Row{"often", 1000, 1, 100 + 1},
        Row{named, 0, 1, 3 + 1}, Row{named, 0, 2, 8 + 1}, Row{element, 0, 1, 4 + 1}}) {
    CampaignOptions options = Options();
    options.most_triaged = row.most_triaged;
    Tally tally(options);
    for (int i = 0; i < 100; ++i) TakeSigned(tally, row.often, 3);
    TakeSigned(tally, "once", 3);
    int triaged = 0;
    while (const std::optional<size_t> next = tally.NextToTriage()) {
      CampaignFinding& finding = tally.BeginTriage(*next);
      finding.triaged = true;
      finding.bucket = StrCat("bucket ", triaged % row.buckets);
      tally.EndTriage(*next);
      ++triaged;
    }
    EXPECT_EQ(triaged, row.triaged) << row.often << " " << row.buckets;
  }
}

TEST(Tally, KeepsTheBugBehindABug) {
  const CampaignOptions options = Options();
  Tally tally(options);
  const Suspect suspect = SuspectOf(tally, Outcome::kWrong);
  ConfirmRecord confirm = Confirmed(3, 3);
  confirm.signature = "algsimp of pad";
  confirm.behind = "fusion of slice";
  confirm.unmasking = {{"xla_disable_hlo_passes", "algsimp"}};
  const Confirmation confirmation = tally.TakeConfirm(suspect, confirm);
  ASSERT_TRUE(confirmation.behind.has_value());
  EXPECT_EQ(confirmation.behind->flags, confirm.unmasking);
  EXPECT_EQ(tally.summary().findings, 2);
  EXPECT_EQ(tally.summary().signatures.count("fusion of slice"), 1u);
}

TEST(Tally, KeepsWhatIsGivenToShowTheBugBehind) {
  const CampaignOptions options = Options();
  Tally tally(options);
  const Suspect suspect = SuspectOf(tally, Outcome::kWrong);
  ConfirmRecord confirm = Confirmed(3, 3);
  confirm.signature = "cbrt";
  confirm.behind = "log";
  confirm.given = {4, 2};
  const Confirmation confirmation =
      tally.TakeConfirm(suspect, ConfirmRecord::FromJson(confirm.ToJson()));
  ASSERT_TRUE(confirmation.behind.has_value());
  EXPECT_EQ(confirmation.behind->given, confirm.given);
  EXPECT_TRUE(confirmation.finding.given.empty());
  EXPECT_NE(confirmation.behind->second_check.find("are inputs"), std::string::npos);
}

TEST(Tally, CountsProgramsThatAreAvoided) {
  const CampaignOptions options = Options();
  Tally tally(options);
  CaseRecord record;
  record.avoided = true;
  tally.TakeRecord(CaseRecord::FromJson(record.ToJson()));
  EXPECT_EQ(tally.summary().programs, 1);
  EXPECT_EQ(tally.summary().avoided, 1);
  EXPECT_EQ(tally.summary().compared, 0);
}

TEST(Tally, TriagesTheSmallestProgramFirst) {
  const CampaignOptions options = Options();
  Tally tally(options);
  for (int64_t instructions : {9, 3, 5}) {
    const Suspect suspect = SuspectOf(tally, Outcome::kWrong);
    ConfirmRecord confirm = Confirmed(3, 3);
    confirm.instructions = instructions;
    tally.TakeConfirm(suspect, confirm);
  }
  EXPECT_EQ(tally.NextToTriage(), size_t{1});
  tally.finding(1).triaged = true;
  EXPECT_EQ(tally.NextToTriage(), size_t{2});
  tally.finding(2).triage_error = "it died";
  EXPECT_EQ(tally.NextToTriage(), size_t{0});
}

// A confirmed wrong value with this signature; its number.
size_t AddWrong(Tally& tally, const std::string& signature, const std::string& notable = "") {
  const Suspect suspect = SuspectOf(tally, Outcome::kWrong);
  ConfirmRecord confirm = Confirmed(3, 3);
  confirm.instructions = 2;
  confirm.signature = signature;
  confirm.notable = notable;
  tally.TakeConfirm(suspect, confirm);
  return static_cast<size_t>(tally.summary().findings) - 1;
}

TEST(Tally, WhatIsHandedToTriageIsNotHandedOutTwice) {
  const CampaignOptions options = Options();
  Tally tally(options);
  AddWrong(tally, "a");
  AddWrong(tally, "b");
  EXPECT_EQ(tally.UntriagedSignatures(), 2);
  tally.BeginTriage(*tally.NextToTriage());
  EXPECT_EQ(tally.NextToTriage(), size_t{1});
  EXPECT_EQ(tally.UntriagedSignatures(), 1);
  tally.BeginTriage(1);
  EXPECT_FALSE(tally.NextToTriage().has_value());
}

TEST(Tally, KnownBugsAreCountedAndNotTriaged) {
  CampaignOptions options = Options();
  KnownBug by_signature, by_bucket;
  by_signature.signature = "a*";
  by_signature.reason = "issue 1";
  by_bucket.bucket = "one/wrong value/b";
  by_bucket.reason = "issue 2";
  options.known = {by_signature, by_bucket};
  Tally tally(options);
  AddWrong(tally, "a of x");
  const size_t b = AddWrong(tally, "b"), c = AddWrong(tally, "c");
  EXPECT_EQ(tally.NextToTriage(), b);
  tally.BeginTriage(b);
  tally.finding(b).triaged = true;
  tally.finding(b).bucket = "one/wrong value/b";
  tally.EndTriage(b);
  EXPECT_EQ(tally.NextToTriage(), c);
  tally.BeginTriage(c);
  tally.finding(c).triaged = true;
  tally.finding(c).triage.confirmed = true;
  tally.finding(c).bucket = "one/wrong value/c";
  tally.EndTriage(c);
  tally.Finish(/*with_triage=*/true);
  const std::map<std::string, int64_t> known = {{"issue 1", 1}, {"issue 2", 1}};
  const std::map<std::string, int64_t> buckets = {{"one/wrong value/c", 1}};
  EXPECT_EQ(tally.summary().known, known);
  EXPECT_EQ(tally.summary().buckets, buckets);
  EXPECT_EQ(tally.summary().Failures(), 1);
}

TEST(Tally, WhatIsNotableComesLastAndIsNoFailure) {
  const CampaignOptions options = Options();
  Tally tally(options);
  AddWrong(tally, "notable: sign of a zero", "sign of a zero");
  const size_t wrong = AddWrong(tally, "w");
  EXPECT_EQ(tally.NextToTriage(), wrong);
  EXPECT_EQ(tally.UntriagedSignatures(), 1);
  tally.Finish(/*with_triage=*/true);
  EXPECT_EQ(tally.summary().notable.at("sign of a zero"), 1);
  EXPECT_EQ(tally.summary().Failures(), 1);
}

TEST(Tally, WhatTheSecondOpinionRefutesIsNoFailure) {
  const CampaignOptions options = Options();
  Tally tally(options);
  for (const char* opinion : {"refutes", "agrees", "differs", "declined"}) {
    CampaignFinding& finding = tally.finding(AddWrong(tally, opinion));
    finding.triaged = true;
    finding.triage.confirmed = true;
    finding.bucket = opinion;
    finding.triage.second_opinion = opinion;
  }
  CampaignFinding& gone = tally.finding(AddWrong(tally, "gone"));
  gone.triaged = true;
  gone.bucket = "what did not fail again";
  tally.Finish(/*with_triage=*/true);
  EXPECT_EQ(tally.summary().refuted, 1);
  EXPECT_EQ(tally.summary().buckets.size(), 3u) << "and none of what did not fail again";
  EXPECT_EQ(tally.summary().Failures(), 4);
}

// Only what ran out of time is merged: the others need all of their opcodes.
TEST(Tally, WhatWasNotReducedToTheEndJoinsTheSmallerProgram) {
  const CampaignOptions options = Options();
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
  const CampaignOptions options = Options();
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
  const CampaignOptions options = Options();
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
  AddPlaced(tally, wrong, "convolution", "", "convolution", "k/i-ffpff");
  AddPlaced(tally, wrong, "convolution+iota", "", "convolution", "l/i-pfpff");
  AddPlaced(tally, died, "sort", "", "", "Syntax error/sort");
  AddPlaced(tally, died, "gather", "", "", "Syntax error/gather");
  const std::set<std::string> wanted = {"Syntax error/gather 1",
                                        "Syntax error/sort 1",
                                        "a/i-fffff 2",
                                        "c/f-fffff 1",
                                        "d/i-pfpff 2",
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

TEST(Tally, TheSameBugOfOldReleasesIsOneBucket) {
  const CampaignOptions options = Options();
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
  const std::set<std::string> wanted = {refusal + "real part #.# is out of/convert 2",
                                        refusal + "real part #.# is out of/sort 1",
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
  const CampaignOptions options = Options();
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
                                        "wrong value/s 2",
                                        "wrong value/u 2"};
  EXPECT_EQ(EndsOfBuckets(tally), wanted);
}

TEST(Tally, PackedNumbersAreOneBucketByWhoUnpacksThem) {
  const CampaignOptions options = Options();
  Tally tally(options);
  const Outcome::Kind wrong = Outcome::kWrong;
  // Who sorts or computes what is packed; others with sort need no packed numbers.
  AddNumbered(tally, wrong, {"compare+few-bits+sort", "", "", "i"}, "h/i-ppppf");
  AddNumbered(tally, Outcome::kRunCrash, {"few-bits+sort", "", "", "i"}, "died of SIGABRT/i");
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
  const std::set<std::string> wanted = {"died of SIGABRT/i 2", "j/f-pffff 1", "k/i-ppfpp 4",
                                        "m/i-ffpff 1",         "n/i-fffff 1", "reverse/i-pffff 1",
                                        "turn/i-xxxfp 2"};
  EXPECT_EQ(EndsOfBuckets(tally), wanted);
}

TEST(Tally, TheSameBugInALoopOrBehindItsOperandIsOneBucket) {
  const CampaignOptions options = Options();
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
  const std::set<std::string> wanted = {"l/i-fffff 2",     "m/i-fffff 1",     "n/f-fffff 1",
                                        "wrong value/a 2", "wrong value/c 1", "wrong value/d 1",
                                        "e/f-fffff 2",     "g/f-ffpff 1",     "h/c-fpfff 1"};
  EXPECT_EQ(EndsOfBuckets(tally), wanted);
}

TEST(Tally, WhatIsFoundBehindAtTheSameOpIsTheSameBug) {
  const CampaignOptions options = Options();
  Tally tally(options);
  const char* const both[] = {"multiply", "add+multiply"};
  const char* const none[] = {"sign", "add+sign"};
  for (const auto& opcodes : {both, none}) {
    const bool is_of_one_program = opcodes[0] == both[0];
    const std::string name = is_of_one_program ? "x" : "y";
    CampaignFinding& front = AddNumbered(tally, Outcome::kWrong,
                                         {opcodes[0], name.c_str(), opcodes[0], "c"}, name + "1");
    front.index = is_of_one_program ? 100 : 200;
    CampaignFinding& behind =
        AddNumbered(tally, Outcome::kWrong, {opcodes[1], "", opcodes[0], "c"}, name + "2/c-fpfpf");
    behind.index = is_of_one_program ? 100 : 201;
    behind.flags = {{"xla_disable_hlo_passes", "algsimp"}};
  }
  const std::set<std::string> wanted = {"wrong value/x1 2", "wrong value/y1 1", "y2/c-fpfpf 1"};
  EXPECT_EQ(EndsOfBuckets(tally), wanted);
}

TEST(Tally, APlaceWithOneSignatureNeedsNoSecondLook) {
  const CampaignOptions options = Options();
  Tally tally(options);
  auto add = [&](const char* place, const char* signature) {
    const Suspect suspect = SuspectOf(tally, Outcome::kWrong);
    ConfirmRecord confirm = Confirmed(3, 3);
    confirm.place = place;
    confirm.signature = signature;
    tally.TakeConfirm(suspect, confirm);
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(tally.Familiar().empty()) << "too few";
    add("abs", "algsimp at abs");
    add("dot", i == 1 ? "fusion at dot" : "code at dot");
  }
  EXPECT_EQ(tally.Familiar(), (FamiliarPlaces{{"abs", "algsimp at abs"}}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(tally.Familiar().empty());
    add("abs", "algsimp at abs");
  }
  EXPECT_TRUE(tally.Familiar().empty()) << "one of six is looked at in full";
}

TEST(Tally, FoldsFindingsThatDifferInNumbersAlone) {
  const CampaignOptions options = Options();
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

TEST(Duties, OnlyWhatRanBeforeMayExplainWhatIsNeitherSlowNorDrawn) {
  struct Row {
    Outcome::Kind kind;
    bool draws_numbers;
    size_t replayed;
  };
  for (const Row& row : {Row{Outcome::kWrong, false, 1}, Row{Outcome::kRunCrash, false, 1},
                         Row{Outcome::kTimeout, false, 0}, Row{Outcome::kWrong, true, 0}}) {
    const CampaignOptions options = Options();
    const CampaignTools tools;
    CampaignDesk desk{options, tools, Tally(options), {}};
    const std::unique_ptr<Duty> check = MakeConfirmDuty(desk, /*is_spare=*/false);
    const std::unique_ptr<Duty> replay = MakeReplayDuty(desk);
    desk.tally.TakeRecord(CaseOf({Ended(row.kind)}), {{0}});
    check->Next();
    ConfirmRecord confirm = Confirmed(0, 3);
    confirm.draws_numbers = row.draws_numbers;
    ASSERT_TRUE(check->TakeReply(confirm.ToJson()).ok());
    EXPECT_EQ(desk.unrepeated.size(), row.replayed) << Name(row.kind);
    EXPECT_EQ(desk.tally.summary().unconfirmed, 1);
  }
}

TEST(Duties, ASpareWorkerChecksSuspectsWhenManyWaitOrNoCaseIsLeft) {
  CampaignOptions options = Options();
  options.count = 1000;
  const CampaignTools tools;
  CampaignDesk desk{options, tools, Tally(options), {}};
  const std::unique_ptr<Duty> first = MakeConfirmDuty(desk, /*is_spare=*/false);
  const std::unique_ptr<Duty> spare = MakeConfirmDuty(desk, /*is_spare=*/true);
  EXPECT_FALSE(first->HasWork());
  for (int64_t k = 0; k < 8; ++k) {
    EXPECT_FALSE(spare->HasWork()) << k;
    desk.tally.TakeRecord(CaseOf({Ended(Outcome::kWrong)}, k));
    EXPECT_TRUE(first->HasWork()) << k;
  }
  EXPECT_TRUE(spare->HasWork());
  while (desk.tally.Suspects() > 1) desk.tally.NextSuspect();
  EXPECT_FALSE(spare->HasWork());
  desk.next_index = options.count;
  EXPECT_TRUE(spare->HasWork()) << "nothing else is left to do";
}

}  // namespace
}  // namespace assay
