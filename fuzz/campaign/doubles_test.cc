// Which findings are shown as probably the same bug.
#include "fuzz/campaign/doubles.h"

#include <map>

#include "absl/strings/str_split.h"
#include "fuzz/campaign/scripted.h"
#include "gtest/gtest.h"

namespace assay {
namespace {

// "wrong value | algsimp | pad+slice | slice | f", and what a row needs besides: "states=fffpf",
// "causes=few-bits", "words=a.cc:1", "folds=maximum", "unfinished".
struct Read {
  Culprit culprit;
  bool is_smallest = true;
  Reduced reduced() const { return {culprit, is_smallest}; }
};

Read ReadCulprit(const std::string& text) {
  Read read;
  Culprit& culprit = read.culprit;
  std::vector<std::string> parts = absl::StrSplit(text, " | ");
  parts.resize(std::max<size_t>(parts.size(), 5));
  const auto list = [](const std::string& names) -> std::set<std::string> {
    return absl::StrSplit(names, '+', absl::SkipEmpty());
  };
  culprit.peer = "xla";
  culprit.kind = OutcomeKindFromName(parts[0]).value_or(Outcome::kPassed);
  EXPECT_NE(culprit.kind, Outcome::kPassed) << text;
  culprit.pass = parts[1];
  culprit.ops = list(parts[2]);
  culprit.op = parts[3];
  culprit.numbers = parts[4];
  for (size_t i = 5; i < parts.size(); ++i) {
    const std::pair<std::string, std::string> more =
        absl::StrSplit(parts[i], absl::MaxSplits('=', 1));
    if (more.first == "states") culprit.states = CulpritFromJson({{"states", more.second}}).states;
    if (more.first == "causes") culprit.causes = list(more.second);
    if (more.first == "folds") culprit.folds = list(more.second);
    if (more.first == "words") culprit.words = more.second;
    if (more.first == "unfinished") read.is_smallest = false;
  }
  return read;
}

struct Pair {
  std::string large, small, why;  // "": they are two bugs
};

// A case for each row of the data, and pairs that are two bugs.
const Pair kPairs[] = {
    {"wrong value | simplify-while-loops | add+while | while | i | causes=unsigned-loop",
     "run crash |  | while |  | i | causes=unsigned-loop", "loops over an unsigned counter"},
    {"wrong value |  | sort+topk |  | i | states=fffff | causes=beside-another",
     "wrong value |  | sort+topk |  | i | states=fffff",
     "one needs two programs, the other holds both"},
    {"timeout |  | dynamic-slice+add |  | i | causes=narrow-index",
     "wrong value |  | dynamic-update-slice |  | f | causes=narrow-index",
     "starts in a type that does not hold the sizes"},
    {"wrong value |  | multiply+negate | negate | f | causes=nan-for-zero",
     "wrong value |  | convert | convert | f | causes=nan-for-zero",
     "NaN stands for a zero that the type has not"},
    {"timeout |  | all-gather+add |  | i | causes=few-bits",
     "run crash |  | all-gather |  | i | causes=few-bits", "a collective of packed numbers"},
    {"wrong value |  | abs+negate+sqrt | sqrt | f | states=pffff",
     "wrong value | algsimp | abs+sqrt | sqrt | f", "the pass that one blames silences the other"},
    {"wrong value |  | abs+negate+sqrt | sqrt | f | states=ffffp",
     "wrong value | algsimp | abs+sqrt | sqrt | f", ""},
    {"wrong value | constant_folding | add+cbrt | cbrt | f",
     "wrong value |  | cbrt | cbrt | f | states=fffff", "wrong of constants as of parameters"},
    {"wrong value | float-normalization-s4 | add+xor | xor | i | causes=few-bits",
     "wrong value | constant_folding | add+xor |  | i | causes=few-bits",
     "integers made wider, and folded"},
    {"wrong value | constant_folding | add+log | log | f",
     "wrong value | constant_folding | log | log | f",
     "the same op folded, whatever is folded around it"},
    {"wrong value | import | dynamic-slice+iota |  | i", "wrong value | import | gather |  | f",
     "starts that are read alike"},
    {"wrong value | algsimp | compare+multiply+sort |  | i",
     "wrong value | algsimp | abs+multiply | abs | i", "a belief about the sign of an integer"},
    {"wrong value | algsimp | abs+compare | compare | f",
     "wrong value | algsimp | compare+exponential | compare | f",
     "a comparison of floats that forgets NaN"},
    {"wrong value | algsimp | add+batch-norm-training |  | f",
     "wrong value | algsimp | batch-norm-training |  | f",
     "a batch norm, whatever its operands are"},
    {"wrong value | algsimp | dot+reshape+sqrt | sqrt | f",
     "wrong value | algsimp | multiply+sqrt | sqrt | f", "a square in other words"},
    {"wrong value | algsimp | add+all-reduce+slice |  | i", "wrong value | algsimp | slice |  | i",
     "the same rewrite beside a collective"},
    {"wrong value | algsimp | add+dynamic-slice | dynamic-slice | f",
     "wrong value | algsimp | dynamic-slice | dynamic-slice | f",
     "the same rewrite of an op, whatever gives it its operands"},
    {"wrong value | algsimp | add+dynamic-slice+pad | dynamic-slice | f",
     "wrong value | algsimp | dynamic-slice+slice | dynamic-slice | f", ""},
    {"wrong value | reshape-mover | add+compare+slice+while |  | f",
     "wrong value | reshape-mover | slice |  | f", "the same rewrite in a loop or a branch"},
    {"wrong value | float-normalization-u4 | popcnt | popcnt | i",
     "wrong value | float-normalization-s2 | popcnt | popcnt | i",
     "numbers of few bits that are made wider"},
    {"wrong value | float-normalization-u4 | add+convert | convert | i",
     "wrong value | float-normalization-s4 | convert+multiply | convert | i",
     "conversions in too many bits"},
    {"wrong value | float-normalization-f8e5m2 | iota |  | f",
     "wrong value | float-normalization-f8e3m4 | iota |  | f", "narrow floats that are made wider"},
    {"wrong value | import | all-reduce+pad+reshape |  | c", "wrong value | import |  |  | c",
     "a misread constant"},
    {"wrong value | import | add+sqrt | sqrt | c", "wrong value | import | sqrt | sqrt | c",
     "a misread instruction, whatever is done with it"},
    {"wrong value | algsimp | exponential+log+pad | pad | f | unfinished",
     "wrong value | algsimp | exponential+log | log | f", "a program that would become smaller"},
    {"wrong value | algsimp | exponential+log+pad | pad | f",
     "wrong value | algsimp | exponential+log | log | f", ""},
    {"compile crash |  | add+remainder |  | i | words=a.cc:1",
     "compile crash |  | dot |  | f | words=a.cc:1", "the same check of the compiler fails"},
    {"run crash |  | add |  | i | words=a.cc:1", "run crash |  | sort |  | f | words=a.cc:1",
     "the same check while it runs"},
    {"compile crash |  | add+scan |  | i | words=a.cc:1",
     "compile crash |  | add+scan |  | i | words=b.cc:1", "the same ops kill the compiler"},
    {"wrong value |  | minimum+pad+reduce | reduce | f | states=fffff | folds=minimum",
     "wrong value |  | maximum+reduce | reduce | f | states=xffff | folds=maximum",
     "the same op on the same kind of numbers"},
    {"wrong value |  | log+scatter | scatter | i | states=fpfpf",
     "wrong value |  | add+scatter | scatter | i | states=ffppf",
     "the same op, silent under the same flag"},
    {"wrong value |  | add+cbrt | cbrt | f | states=pffff",
     "wrong value |  | cbrt | cbrt | f | states=fpfff", "the same function"},
    {"wrong value |  | cbrt | cbrt | c | states=fffff",
     "wrong value |  | cbrt | cbrt | f | states=fffff", ""},
    {"wrong value |  | maximum+reduce-window | reduce-window | f | states=pffff | folds=maximum",
     "wrong value |  | maximum+reduce | reduce | f | states=fffff | folds=maximum",
     "a reduction in disguise"},
    {"wrong value |  | concatenate+reverse | reverse | f", "run crash |  | reverse |  | f",
     "moves that write beside their array"},
    {"wrong value |  | dot+reshape | dot | c | states=fffff",
     "wrong value |  | convolution | convolution | c | states=ffffp",
     "products of complex numbers"},
    {"wrong value |  | negate+while | while | f | states=ffffp | causes=one-zero",
     "wrong value |  | add+scan | scan | f | states=fffff | causes=one-zero",
     "8-bit floats of one zero within bodies"},
    {"wrong value |  | add+topk |  | f | states=fffff | causes=order-of-bf16",
     "wrong value |  | sort |  | f | states=fffff | causes=order-of-bf16",
     "sorts by the total order of bf16"},
    {"wrong value |  | iota+sort | sort | i | causes=few-bits",
     "run crash |  | topk |  | i | causes=few-bits", "sorts of packed numbers"},
    {"wrong value |  | add+xor | add | i | states=fpfff | causes=few-bits",
     "wrong value |  | popcnt | popcnt | i | states=fpfff | causes=few-bits",
     "packed numbers in one kernel"},
    {"wrong value |  | add+exponential+pad |  | f | states=fffff",
     "wrong value |  | add+exponential |  | f | states=pffff",
     "the same ops, of which nobody can tell which is wrong"},
    {"wrong value |  | add+cumsum+sort | add | f | states=fffff",
     "wrong value |  | sort | sort | f | states=fffff", "all that the smaller program has"},
    {"wrong value | import | sqrt | sqrt | c", "wrong value | import |  |  | c", ""},
    {"wrong value | algsimp | add |  | f", "wrong value | fusion | add |  | f", ""},
    {"compile crash |  | dynamic-update-slice+while |  | f",
     "wrong value |  | dynamic-update-slice |  | f | states=fffff", ""},
};

TEST(Doubles, EachRowOfXlaHasItsPair) {
  const Peer& xla = PeerOfFamily("xla");
  std::map<std::string, int> seen;
  for (const Pair& pair : kPairs) {
    const std::string why =
        WhyProbablySame(xla, ReadCulprit(pair.large).reduced(), ReadCulprit(pair.small).reduced());
    EXPECT_EQ(why, pair.why) << pair.large << "\n" << pair.small;
    ++seen[why];
  }
  for (const nlohmann::json& row : xla.same)
    EXPECT_GT(seen[row.at("why").get<std::string>()], 0) << "no pair for: " << row.at("why");
}

TEST(Doubles, NothingIsKnownOfAnotherCompiler) {
  const Pair& first = kPairs[0];
  EXPECT_EQ(WhyProbablySame(PeerOfFamily("mlir"), ReadCulprit(first.large).reduced(),
                            ReadCulprit(first.small).reduced()),
            "");
}

// The list keeps both, and says so.
TEST(Doubles, AreNotMerged) {
  CampaignOptions options = TallyOptions();
  options.backends = {"xla"};
  Tally tally(options);
  for (const char* text : {"wrong value | algsimp | add+dynamic-slice | dynamic-slice | f",
                           "wrong value | algsimp | dynamic-slice | dynamic-slice | f",
                           "wrong value | algsimp | dynamic-slice | dynamic-slice | f"}) {
    CampaignFinding& finding = tally.finding(AddWrong(tally, text));
    finding.triaged = finding.triage.confirmed = finding.triage.is_smallest = true;
    finding.triage.culprit = ReadCulprit(text).culprit;
    finding.bucket = finding.triage.bucket = BucketName(finding.triage.culprit);
  }
  tally.Finish(/*with_triage=*/true);
  const std::string large = "xla/wrong value/algsimp/add+dynamic-slice",
                    small = "xla/wrong value/algsimp/dynamic-slice";
  const CampaignSummary& summary = tally.summary();
  EXPECT_EQ(summary.buckets, (std::map<std::string, int64_t>{{large, 1}, {small, 2}}));
  ASSERT_EQ(summary.doubles.size(), 1U);
  EXPECT_EQ(summary.doubles.at(large).bucket, small);
  EXPECT_EQ(summary.ToJson().at("probably_the_same").at(large).at("bucket"), small);
}

TEST(Culprit, IsAValueThatTravels) {
  const Culprit culprit =
      ReadCulprit(
          "wrong value | import | add+reduce | reduce | f | states=fpxcf | causes=few-bits | "
          "folds=add | words=w")
          .culprit;
  EXPECT_EQ(CulpritFromJson(ToJson(culprit)), culprit);
  EXPECT_EQ(CulpritFromJson(nlohmann::json("no object")), Culprit());
  const Culprit code = ReadCulprit("wrong value |  | add+log | log | f | states=fffpf").culprit;
  EXPECT_EQ(BucketName(code), "xla/wrong value/add+log/f-fffpf");
  EXPECT_EQ(SignatureText(code), "wrong value: code fffpf at log f");
}

}  // namespace
}  // namespace assay
