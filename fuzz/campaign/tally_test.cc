// The counting rules of campaigns, without a process.
#include "fuzz/campaign/tally.h"

#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "fuzz/campaign/duties.h"
#include "fuzz/campaign/scripted.h"

namespace assay {
namespace {

TEST(Tally, CountsEveryVerdictOnce) {
  const CampaignOptions options = TallyOptions();
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

BackendRecord FarOffRecord() {
  BackendRecord record = Ended(Outcome::kWrong, "element 3");
  record.notable = "legal, and far off";
  return record;
}

TEST(Tally, OfWhatIsLegalAndFarOffOneInSixteenIsChecked) {
  CampaignOptions options = TallyOptions();
  for (const bool check_all : {false, true}) {
    options.check_all = check_all;
    Tally tally(options);
    for (int i = 0; i < 64; ++i) tally.TakeRecord(CaseOf({FarOffRecord()}, i));
    EXPECT_EQ(tally.Suspects(), check_all ? 64U : 16U + 3U);
    EXPECT_EQ(CampaignSummary::SumOf(tally.summary().alike), check_all ? 0 : 45);
    EXPECT_EQ(tally.summary().compared, 64);
  }
}

TEST(Tally, WhatIsLegalStaysSoWhateverTriageMakesOfIt) {
  CampaignOptions options = TallyOptions();
  for (const bool notable : {true, false}) {
    options.notable = notable;
    Tally tally(options);
    tally.TakeRecord(CaseOf({FarOffRecord()}, 7));
    ConfirmRecord confirm = Confirmed(3, 3);
    confirm.notable = FarOffRecord().notable;
    confirm.signature = "notable: legal, and far off";
    EXPECT_TRUE(tally.TakeConfirm(tally.NextSuspect(), confirm).confirmed);
    EXPECT_EQ(tally.NextToTriage().has_value(), notable) << "with --no-notable nobody explains it";
    if (notable) {
      CampaignFinding& finding = tally.BeginTriage(*tally.NextToTriage());
      finding.triaged = true;
      finding.triage.confirmed = true;
      tally.EndTriage(0);
    }
    tally.Finish(/*with_triage=*/true);
    EXPECT_EQ(tally.summary().notable.at("legal, and far off"), 1);
    EXPECT_EQ(tally.summary().Failures(), 0);
  }
}

TEST(Tally, WhatFailsOnlyWhenScreenedIsNeitherConfirmedNorOpen) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  const Suspect suspect = SuspectOf(tally, Outcome::kWrong);
  ConfirmRecord confirm = Confirmed(0, 1);
  confirm.fails_cheaply = true;
  EXPECT_FALSE(tally.TakeConfirm(suspect, ConfirmRecord::FromJson(confirm.ToJson())).confirmed);
  EXPECT_EQ(tally.summary().screened_only, 1);
  EXPECT_EQ(tally.summary().unconfirmed, 0);
}

TEST(Tally, CountsAndSkipsWhatDoesNotVerify) {
  const CampaignOptions options = TallyOptions();
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
  CampaignOptions options = TallyOptions();
  options.most_checked = 1;
  Tally tally(options);
  for (int64_t i = 0; i < 3; ++i) tally.TakeRecord(CaseOf({Ended(Outcome::kWrong)}, i));
  EXPECT_EQ(tally.summary().suspects, 3);
  EXPECT_EQ(tally.summary().unchecked, 2);
  EXPECT_EQ(tally.NextSuspect().index, 0);
  EXPECT_FALSE(tally.HasSuspect());
}

TEST(Tally, CallsWhatFailsNowAndThenNondeterministic) {
  const CampaignOptions options = TallyOptions();
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
  const CampaignOptions options = TallyOptions();
  for (Outcome::Kind kind : {Outcome::kTimeout, Outcome::kWrong, Outcome::kRunCrash}) {
    Tally tally(options);
    const Suspect suspect = SuspectOf(tally, kind);
    EXPECT_FALSE(tally.TakeConfirm(suspect, Confirmed(0, 3)).confirmed);
    EXPECT_EQ(tally.summary().unconfirmed, 1);
    EXPECT_EQ(tally.summary().findings, 0);
  }
}

TEST(Tally, HasNoLimitThatNobodyAskedFor) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  for (int64_t i = 0; i < 500; ++i) tally.TakeRecord(CaseOf({Ended(Outcome::kWrong)}, i));
  EXPECT_EQ(tally.summary().unchecked, 0);
}

TEST(Tally, ChecksWhatLooksNewFirstAndWhatHasToBeWaitedForLast) {
  const CampaignOptions options = TallyOptions();
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
void TakeSigned(Tally& tally, const char* signature, int64_t instructions, const char* op = "",
                Outcome::Kind kind = Outcome::kWrong) {
  const Suspect suspect = SuspectOf(tally, kind);
  ConfirmRecord confirm = Confirmed(3, 3, kind);
  confirm.signature = signature;
  confirm.culprit.op = op;
  confirm.instructions = instructions;
  tally.TakeConfirm(suspect, confirm);
}

TEST(Tally, TriagesEverySignatureBeforeOneTwice) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  TakeSigned(tally, "slices", 2);
  TakeSigned(tally, "slices", 3);
  TakeSigned(tally, "hang", 1, "", Outcome::kTimeout);
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
    const char* op;  // that is wrong in what is seen a hundred times
    int64_t most_triaged;
    int buckets;  // that those of one signature turn out to be
    int triaged;
  };
  for (const Row& row : {Row{"", 0, 1, 4 + 1}, Row{"", 0, 2, 8 + 1}, Row{"", 1000, 1, 100 + 1},
                         Row{"reduce", 0, 1, 2 + 1}, Row{"reduce", 0, 2, 3 + 1},
                         Row{"get-tuple-element", 0, 1, 4 + 1}}) {
    CampaignOptions options = TallyOptions();
    options.most_triaged = row.most_triaged;
    Tally tally(options);
    for (int i = 0; i < 100; ++i) TakeSigned(tally, "often", 3, row.op);
    TakeSigned(tally, "once", 3);
    int triaged = 0, often = 0;
    while (const std::optional<size_t> next = tally.NextToTriage()) {
      CampaignFinding& finding = tally.BeginTriage(*next);
      finding.triaged = true;
      if (finding.signature != "once") finding.bucket = StrCat("bucket ", often++ % row.buckets);
      tally.EndTriage(*next);
      ++triaged;
    }
    EXPECT_EQ(triaged, row.triaged) << row.op << " " << row.buckets;
  }
}

// Another index type, or another class of numbers, may be another bug with the same signature.
TEST(Tally, TriagesASecondVariantOfWhatIsSeenEnough) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  const auto take = [&tally](const char* variant) {
    const Suspect suspect = SuspectOf(tally, Outcome::kWrong);
    ConfirmRecord confirm = Confirmed(3, 3);
    confirm.signature = "wrong value: no pass at dynamic-slice";
    confirm.variant = variant;
    tally.TakeConfirm(suspect, confirm);
  };
  for (int i = 0; i < 3; ++i) take("i by s32");
  take("f by s8");
  take("p by u8");
  std::vector<std::string> variants;
  while (const std::optional<size_t> next = tally.NextToTriage()) {
    CampaignFinding& finding = tally.BeginTriage(*next);
    finding.triaged = true;
    finding.bucket = "bucket";
    variants.push_back(finding.variant);
    tally.EndTriage(*next);
  }
  EXPECT_EQ(variants.back(), "f by s8");
  EXPECT_EQ(std::count(variants.begin(), variants.end(), "p by u8"), 0) << "two slots, not more";
}

TEST(Tally, CountsProgramsThatAreAvoided) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  CaseRecord record;
  record.avoided = true;
  tally.TakeRecord(CaseRecord::FromJson(record.ToJson()));
  EXPECT_EQ(tally.summary().programs, 1);
  EXPECT_EQ(tally.summary().avoided, 1);
  EXPECT_EQ(tally.summary().compared, 0);
}

TEST(Tally, TriagesTheSmallestProgramFirst) {
  const CampaignOptions options = TallyOptions();
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

TEST(Tally, WhatIsHandedToTriageIsNotHandedOutTwice) {
  const CampaignOptions options = TallyOptions();
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
  CampaignOptions options = TallyOptions();
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

// Triage looks at a sample of what looks the same: the rest is as known as that.
TEST(Tally, WhatLooksLikeAKnownBucketIsKnown) {
  CampaignOptions options = TallyOptions();
  KnownBug bug;
  bug.bucket = "one/wrong value/b";
  bug.reason = "issue 2";
  options.known = {bug};
  for (const bool is_some_of_it_news : {false, true}) {
    Tally tally(options);
    const auto triage = [&](size_t at, const std::string& bucket) {
      tally.BeginTriage(at);
      tally.finding(at).triaged = tally.finding(at).triage.confirmed = true;
      tally.finding(at).bucket = bucket;
      tally.EndTriage(at);
    };
    const size_t first = AddWrong(tally, "b"), second = AddWrong(tally, "b");
    AddWrong(tally, "b");
    triage(first, "one/wrong value/b");
    if (is_some_of_it_news) triage(second, "one/wrong value/c");
    tally.Finish(/*with_triage=*/true);
    EXPECT_EQ(tally.summary().Failures(), is_some_of_it_news ? 2 : 0);
    EXPECT_EQ(tally.summary().known["issue 2"], is_some_of_it_news ? 1 : 3);
  }
}

TEST(Tally, WhatIsNotableComesLastAndIsNoFailure) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  const size_t notable = AddWrong(tally, "notable: sign of a zero", "sign of a zero");
  const size_t wrong = AddWrong(tally, "w");
  EXPECT_EQ(tally.NextToTriage(), wrong);
  EXPECT_EQ(tally.UntriagedSignatures(), 1);
  // Another failure of the same signature is no news.
  tally.BeginTriage(wrong);
  AddWrong(tally, "w");
  EXPECT_EQ(tally.NextToTriage(), notable);
  tally.Finish(/*with_triage=*/true);
  EXPECT_EQ(tally.summary().notable.at("sign of a zero"), 1);
  EXPECT_EQ(tally.summary().Failures(), 2);
}

TEST(Tally, WhatTheSecondOpinionRefutesIsNoFailure) {
  const CampaignOptions options = TallyOptions();
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

TEST(Tally, APlaceWithOneSignatureNeedsNoSecondLook) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  auto add = [&](const char* place, const char* signature) {
    const Suspect suspect = SuspectOf(tally, Outcome::kWrong);
    ConfirmRecord confirm = Confirmed(3, 3);
    confirm.place = place;
    confirm.culprit.pass = confirm.signature = signature;
    tally.TakeConfirm(suspect, confirm);
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(tally.Familiar().culprits.empty()) << "too few";
    add("abs", "algsimp at abs");
    add("dot", i == 1 ? "fusion at dot" : "code at dot");
  }
  EXPECT_EQ(tally.Familiar().culprits.size(), 1U);
  EXPECT_EQ(tally.Familiar().culprits.at("abs").pass, "algsimp at abs");
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(tally.Familiar().culprits.empty());
    add("abs", "algsimp at abs");
  }
  EXPECT_TRUE(tally.Familiar().culprits.empty()) << "one of six is looked at in full";
}

TEST(Tally, OfManySuspectsWithFewResultsMostAreOnlyCounted) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  auto add = [&](const char* place, const char* signature) {
    ConfirmRecord confirm = Confirmed(*signature == 0 ? 0 : 3, 3);
    confirm.place = place;
    confirm.signature = signature;
    confirm.culprit.pass = signature;
    confirm.fails_cheaply = *signature == 0;
    confirm.alike = tally.Familiar().enough.contains(place);
    const Suspect suspect = SuspectOf(tally, Outcome::kWrong);
    const ConfirmRecord sent = ConfirmRecord::FromJson(confirm.ToJson());
    EXPECT_EQ(tally.TakeConfirm(suspect, sent).confirmed, *signature != 0 && !confirm.alike);
  };
  for (int i = 0; i < 100; ++i) {
    add("abs", "algsimp at abs");
    add("log", "");
    add("dot", i == 1 ? "fusion at dot" : "code at dot");
    add("add", i < 2 ? "" : "code at add");
    add("pad", i % 8 == 0 ? StrCat("import ", i, " at pad").c_str() : "code at pad");
  }
  const CampaignSummary& summary = tally.summary();
  // 16 of each result, and every eighth of what comes then.
  EXPECT_EQ(summary.signatures.at("algsimp at abs"), 27);
  EXPECT_EQ(summary.alike.at("algsimp at abs"), 73);
  EXPECT_EQ(summary.screened_only, 27 + 2);
  EXPECT_EQ(summary.alike.at(""), 73);
  EXPECT_EQ(summary.signatures.at("code at dot"), 32 + 9 - 1);
  EXPECT_EQ(summary.alike.at("code at dot"), 59);
  EXPECT_EQ(summary.alike.at("code at add"), 72) << "what fails cheaply alone is no other result";
  EXPECT_EQ(summary.signatures.at("code at pad"), 87) << "many results: each may be a new one";
  EXPECT_EQ(summary.alike.size(), 4u);
  EXPECT_EQ(summary.unconfirmed, 0);
  EXPECT_EQ(summary.findings + summary.screened_only + CampaignSummary::SumOf(summary.alike), 500);
}

// The words of a compiler that dies are enough, where there are any.
TEST(Tally, OfManyThatDieInTheSameWordsMostAreOnlyCounted) {
  const CampaignOptions options = TallyOptions();
  Tally tally(options);
  int64_t index = 0, counted = 0;
  auto add = [&](const std::string& text) {
    const BackendRecord died = Ended(Outcome::kCompileCrash, text);
    counted += static_cast<int64_t>(tally.TakeRecord(CaseOf({died}, index++)).size());
    if (!tally.HasSuspect()) return;
    ConfirmRecord confirm = Confirmed(3, 3);
    confirm.record = died;
    confirm.signature = "compile crash: " + text.substr(0, 33);
    tally.TakeConfirm(tally.NextSuspect(), confirm);
  };
  for (int i = 0; i < 100; ++i) {
    add(StrCat("the worker died of SIGABRT\nF1125 16:21:57.664492 ", i, " a.cc:1] no slice"));
    add("the worker died of SIGSEGV");
  }
  const CampaignSummary& summary = tally.summary();
  EXPECT_EQ(counted, 73);
  EXPECT_EQ(CampaignSummary::SumOf(summary.alike), 73);
  EXPECT_EQ(summary.findings, 27 + 100);
  EXPECT_EQ(summary.suspects, 200);
}

// A campaign that is resumed knows what it knew when it was ended.
TEST(Tally, WhatAJournalHoldsIsCountedAgain) {
  CampaignOptions options = TallyOptions();
  options.out_dir = testing::TempDir() + "/restored";
  std::filesystem::remove_all(options.out_dir);
  Tally tally(options);
  Journal journal;
  ASSERT_TRUE(journal.Open(options).ok());
  ASSERT_TRUE(journal.Begin(tally.summary(), options).ok());
  for (int64_t index = 0; index < 40; ++index) {
    tally.TakeRecord(CaseOf({Ended(Outcome::kWrong, "")}, index));
    const Suspect suspect = tally.NextSuspect();
    ConfirmRecord confirm = Confirmed(index % 10 == 9 ? 0 : 3, 3);
    confirm.place = index % 10 == 9 ? "" : "abs";
    confirm.signature = "algsimp at abs";
    confirm.alike = tally.Familiar().enough.contains(confirm.place);
    const Confirmation result = tally.TakeConfirm(suspect, confirm);
    const bool is_alike = !result.confirmed && confirm.alike;
    ASSERT_TRUE((result.confirmed ? journal.Found(result.finding)
                 : is_alike       ? journal.Alike(result.finding)
                                  : journal.Unconfirmed(result.finding))
                    .ok());
  }
  absl::StatusOr<EarlierCampaign> earlier = ReadJournal(options.out_dir);
  ASSERT_TRUE(earlier.ok()) << earlier.status();
  Tally resumed(options);
  resumed.Restore(*std::move(earlier));
  const CampaignSummary &was = tally.summary(), &is = resumed.summary();
  EXPECT_EQ(is.findings, was.findings);
  EXPECT_EQ(is.signatures, was.signatures);
  EXPECT_EQ(is.alike, was.alike);
  EXPECT_GT(CampaignSummary::SumOf(is.alike), 5);
  EXPECT_EQ(is.unconfirmed, 4);
  EXPECT_EQ(resumed.Familiar().culprits, tally.Familiar().culprits);
  EXPECT_EQ(resumed.Familiar().enough, tally.Familiar().enough);
  resumed.TakeRecord(CaseOf({Ended(Outcome::kWrong, "")}, 39));
  EXPECT_FALSE(resumed.HasSuspect()) << "it was unconfirmed already";
}

TEST(Duties, ASpareWorkerChecksSuspectsWhenManyWaitOrNoCaseIsLeft) {
  CampaignOptions options = TallyOptions();
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

TEST(Duties, WaitingSuspectsTakeAsLongAsThoseBeforeThem) {
  const CampaignOptions options = TallyOptions();
  const CampaignTools tools;
  CampaignDesk desk{options, tools, Tally(options), {}};
  desk.late_workers = 2;
  const std::unique_ptr<Duty> check = MakeConfirmDuty(desk, /*is_spare=*/false);
  for (int64_t k = 0; k < 7; ++k) desk.tally.TakeRecord(CaseOf({Ended(Outcome::kWrong)}, k));
  EXPECT_EQ(desk.CheckBacklog(), 0) << "nobody knows yet";
  check->Next();
  ASSERT_TRUE(check->TakeReply(Confirmed(3, 3).ToJson()).ok());
  EXPECT_EQ(desk.checks_ended, 1);
  desk.check_seconds = 4;
  EXPECT_EQ(desk.CheckBacklog(), 12) << "six suspects, two workers";
}

}  // namespace
}  // namespace assay
