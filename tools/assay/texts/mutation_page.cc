// Sums the scores by class and writes the tables.
#include "tools/assay/texts/mutation_page.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "reports/numbers.h"
#include "spec/base/strings.h"
#include "tools/assay/terminal.h"

namespace assay {
namespace {

constexpr std::string_view kIntroduction =
    R"(# Mutation score

Written by `assay defects --page`, never by hand. A planted defect is a mistake as data (`fuzz/defects/`): the compiler forgets a side
condition of a rewrite, is off by one in a number it goes by, gives an element another value, or leaves a copy out, most of them only
where a value or an attribute meets a condition. A campaign is started on the compiler with one defect at a time; it kills the defect
when it confirms a finding. The classes and the defects were chosen before the first run, and the generator was not changed meanwhile.

)";

// Made by hand, with a build for each mistake: no gate knows of these.
constexpr std::string_view kInSources =
    R"(## Mistakes in the sources

Beside the defects, which sit where gates and claims are, 28 mistakes of one condition or one term were put into the sources of
`optimized/`, mostly where no claim stands, all written down before the first run. They were built into one binary, one active at a time, and each
was given to `assay fuzz --backend cpu --stop-after 1 --no-triage`. The machine was busy: 20 s were 2,000 to 23,000 programs, where an idle
one makes some 28,000. **The first run (seed 101) killed 12 of 28.** Then the generator learned to draw together what it had drawn one by one, and
programs for several devices. **Afterwards (seed 304, 60 s each) it kills 24 of 28**: all 12 and 12 of the 16 survivors, ten of them within 5 s.
Of the four that are left one is equivalent and two could not be shown by hand either.

| class | mistake | first run | why it survived | afterwards |
|---|---|---|---|---|
| side conditions | pad with holes and edges that cut becomes a slice | killed |  | killed |
| side conditions | a strided slice of a concatenate reaches into the next part | survived | rare: seed 202 killed it | killed, 0.5 s |
| side conditions | a type without -0 counts as one that holds all floats of 4 bits | killed |  | killed |
| side conditions | neighbouring slices are joined though the second has a stride | survived | not generated: parts that are joined had no strides | killed, 0.4 s |
| side conditions | a broadcast that turns dimensions counts as linear | killed |  | killed |
| side conditions | rows of a scatter whose last dimension is inserted | killed |  | killed |
| side conditions | a combiner by way of a narrower float counts as the plain one | survived | not generated: only sums went that way, and the oracle leaves these open | killed, 1.9 s |
| side conditions | a loop body overwrites what it still reads | survived | not shown: the planner of buffers seems to see the reader as well | survived |
| facts | unsigned counters of 64 bits are compared as signed ones | killed |  | killed |
| facts | `k - counter` counts as `counter - k` | survived | not generated: every counter added its step | killed, 25 s |
| facts | the sum of two starts of 8 bits is made in 8 bits | survived | rare: needs long dimensions and short types together | killed, 2.4 s |
| facts | 2^63 - 1 counts as the largest of u64 | survived | rare: one constant of one type | killed, 0.5 s |
| facts | a negative branch number takes the first branch | killed |  | killed |
| orders | a sort by keys forgets the place (17 elements and more) | killed |  | killed |
| orders | top-k does not look at the last key of a block | survived | not generated: few of a long line were hardly ever asked for | killed, 1.9 s |
| rounding | a double rounding on the way to 16 bits and less | survived | not generated: no numbers beside halfway points | killed, 0.7 s |
| rounding | ties of bf16 go down; ties of reduce-precision go away from zero | killed, killed |  | killed, killed |
| rounding | f64 is summed in f32 for a result of f32 | survived | not generated: products had one type for both operands and the result | killed, 3.0 s |
| values | complex power with exponent 0 | killed |  | killed |
| values | the last imaginary part of an irfft counts | killed |  | killed |
| values | the carry of Philox is lost | survived | rare: seed 202 killed it | killed, 0.6 s |
| values | the neutral element of a maximum of f8e8m0fnu is NaN | survived | rare: one type, in a reduction of more than a vector | survived |
| kernels | a window that cuts below and adds above is not checked | killed |  | killed |
| kernels | the filter of an FFT of 2^k + 1 wraps | survived | equivalent: the chirp is symmetric, both places hold one number | survived |
| kernels | two reversed dimensions of a large convolution | survived | rare: reversals were drawn one by one | killed, 12 s |
| kernels | columns that are left over in a running window | survived | not shown: parts end at whole vectors | survived |
| devices | collective-broadcast takes the root of the first group | survived | not generated: campaigns ran on one device | killed, 0.3 s |

What was learned: what survives is joint, not single. An index type and a size, a count and a length, two reversals, a stride and a
neighbour: each was drawn, the two together hardly ever; and values lay at the ends of a type, not beside the points where an op decides.

A second set of 24 was made by someone who had not seen the generator, after it had learned from the first, to see what that is worth on
mistakes that it was not made for. **Its first run (seed 401, 60 s each, on a busy machine) killed 15 of 24**; the machine made 600 to 1,500 programs per second
meanwhile. Afterwards (seed 502) six of the nine survivors fall; two of the other three change nothing that the oracle decides.

| class | mistake | first run | why it survived | afterwards |
|---|---|---|---|---|
| rewrites | select of select takes the wrong arm | killed, 0.2 s |  | not run again |
| rewrites | an update over an update may have other sizes | killed, 0.1 s |  | not run again |
| rewrites | +0 counts as the neutral element of a float sum | survived | the oracle leaves the sign of a sum of zeros open | survived |
| rewrites | x / 4 of 4-bit floats multiplies by 0.25, which is 0 there | killed, 19 s |  | not run again |
| buffers | a kernel of several results stores one before it computes the next | killed, 6.3 s |  | not run again |
| constants | 64-bit integers become floats by way of f64 | survived | rare: random numbers do not lie beside halfway points beyond 2^53 | killed, 12 s |
| buffers | two elements of a loop's state share the buffer that both start from | killed, 6.4 s |  | not run again |
| buffers | a scatter writes over the array that its indices lie in | survived | rare: indices were hardly ever taken from the array that they address | survived |
| kernels | argmax in lanes forgets what NaN says of the order | killed, 39 s |  | not run again |
| kernels | a reversed running window of a combiner that does not commute | survived | the oracle leaves a combiner that does not commute open | survived |
| conversions | NaN becomes false | killed, 0.1 s |  | not run again |
| conversions | a tie of bf16 that the lowest bits of 64 decide | survived | rare: as above (seed 402 killed it) | killed, 2.4 s |
| kernels | a pad with a high edge is read in vectors beyond the end | killed, 0.5 s |  | not run again |
| kernels | rows of a scatter that begin one beyond the last place | survived | rare: wide rows (seed 402 killed it) | killed, 8.3 s |
| kernels | the initial value takes part in the choice of select-and-scatter | killed, 0.1 s |  | not run again |
| devices | an all-reduce of several arrays adds up the first one for all | survived | not generated: every collective took one array | killed, 0.8 s |
| complex | numbers are equal though an imaginary part is NaN | killed, 26 s |  | not run again |
| direct code | constants from 2^31 to 2^32 - 1 are sign-extended | killed, 5.3 s |  | not run again |
| direct code | exactly 2^64 becomes an unsigned integer | killed, 17 s |  | not run again |
| direct code | unsigned integers become floats in vectors as signed ones | killed, 0.2 s |  | not run again |
| sorts | compare(p1, p0) sorts as compare(p0, p1) does | survived | not generated: comparators took their parameters in order | killed, 0.6 s |
| random bits | which of two equally long dimensions ThreeFry splits | killed, 20 s |  | not run again |
| kernels | a dot reads one operand in vectors along the wrong dimension | killed, 5.3 s |  | not run again |
| facts | a bound in the state of a loop counts as constant though the body changes it | survived | not generated: bounds in a loop's state never changed | killed, 1.3 s |

A third set of 36 was made by someone who had seen neither the generator nor this page, two thirds of it subtle, for whatever the compiler had become
by then. **Its first run (seed 9101, 60 s each, 1,600 to 1,900 programs per second) killed 31 of 36**; three of the other five sit in passes that run on request
alone, so that it killed 31 of the 33 that a campaign could see, 18 of them within 2 s. The two others showed that complex numbers were left out of many ops and that ragged dots
had one order of dimensions. Since then one program in sixteen on our compiler goes through all passes.

| class | mistake | first run | why it survived | afterwards |
|---|---|---|---|---|
| rewrites | the mask of u64 rem 2^k is made of a 32-bit shift: wrong from k = 32 on | killed, 7.2 s |  | not run again |
| rewrites | a strided slice of a concatenate counts as inside one part if start + number of elements fits there, without the stride | killed, 1.5 s |  | not run again |
| rewrites | slice-of-transpose uses the inverse permutation for ranges and sizes | killed, 0.2 s |  | not run again |
| passes on request | where no window needs padding, a reduce-window starts from the initial value instead of the neutral element | survived | not run: the pass runs on request alone | killed, 1.3 s where all passes run |
| rewrites | the index type of merged dynamic slices holds the largest bound and not the sum of bounds | killed, 11 s |  | not run again |
| loops | constant - counter counts as counter - constant when trips are counted | killed, 2.6 s |  | not run again |
| loops | elements of a loop's state that live ones need are looked for in one pass only | killed, 17 s |  | not run again |
| control flow | a negative constant index chooses the first branch and not the last | killed, 1.1 s |  | not run again |
| passes on request | bitcast-convert of bf16 counts as an op that may be done in f32 | survived | not run: the pass runs on request alone | survived |
| fusion | a value that the group stores for others may have readers before the root | killed, 0.1 s |  | not run again |
| buffers | a value at the end of a loop body is set aside only if a later element of the state overwrites it | killed, 1.0 s |  | not run again |
| expanders | of a ragged dot, a contracted dimension before the ragged one counts as a dimension of the result | survived | not generated: what is summed over always stood behind the ragged dimension | killed, 2.5 s |
| sorts | top-k thins its candidates by key alone: of equal elements any may be kept | killed, 0.3 s |  | not run again |
| kernels | the imaginary part of the middle frequency of an even IRFFT is not ignored | killed, 0.6 s |  | not run again |
| random bits | ThreeFry pairs elements along the last of the largest odd dimensions and not the first | killed, 3.1 s |  | not run again |
| direct code | a vector of u32 becomes floats as signed numbers | killed, 1.1 s |  | not run again |
| devices | the position of a device is its rank by id and not its place in the written group | killed, 1.2 s |  | not run again |
| passes on request | what is added between two sums over devices may be an integer that the number of partitions does not divide | survived | not run: the pass runs on request alone | survived |
| codegen | in a transpose by squares the corner where rows and columns are both left over is not written | killed, 0.1 s |  | not run again |
| conversions | reduce-precision keeps magnitudes of the highest exponent that must become zero | killed, 0.4 s |  | not run again |
| conversions | the magnitude of a 64-bit integer is compared as signed on the way to a narrow float | killed, 0.1 s |  | not run again |
| constants | a folded clamp applies the upper bound first | killed, 0.7 s |  | not run again |
| complex | complex numbers count as unequal only if both parts differ | killed, 1.1 s |  | not run again |
| codegen | atan2 of f64 takes x = -0 for positive | killed, 5.1 s |  | not run again |
| kernels | a window as long as the line and padded like a running sum counts as one whatever its stride | killed, 6.1 s |  | not run again |
| kernels | of an odd number of columns of a running sum the last one is left out, where there are several lines | killed, 1.1 s |  | not run again |
| kernels | argmax in lanes reduces along the last dimension alone although another one is reduced, too | killed, 5.0 s |  | not run again |
| kernels | how far a window reaches behind the end is worked out without its dilation | killed, 0.6 s |  | not run again |
| kernels | batching dimensions of index vectors are taken to be the first ones | killed, 0.4 s |  | not run again |
| kernels | select-and-scatter compares the first element of a window with the initial value | killed, 0.1 s |  | not run again |
| complex | the upper triangle of a complex matrix is read without conjugation by Cholesky | killed, 2.7 s |  | not run again |
| kernels | a convolution dilated in operand and window steps over taps that hit, where both dilations share a factor | killed, 4.9 s |  | not run again |
| complex | what a complex convolution reads of a reversed kernel is taken to lie behind its start | survived | not generated: no convolution had complex numbers | not run again |
| kernels | the second half of the last pair of an odd number of terms of 8 or 16 bits is not set to zero | killed, 5.6 s |  | not run again |
| direct code | rounding half away from zero adds a half and not the number below it | killed, 25 s |  | not run again |
| direct code | the minimum or maximum of short signed numbers keeps bits of the sign above its width | killed, 37 s |  | not run again |

A fourth set of 32 was made by someone who had seen neither the generator nor this page, a third each of it easy, medium and subtle; some fourteen are mistakes that
one of the earlier sets had, too. **Its first run (seed 20267701, 60 s each, 1,700 programs per second) killed 31 of 32**, 21 of them within 2 s. What survived showed that
comparisons by total order stood in comparators of sorts alone. With them everywhere it falls, and the first three minutes on XLA had one that its import folds as if it were by value.

| class | mistake | first run | why it survived | afterwards |
|---|---|---|---|---|
| rewrites | select of a select by the same predicate takes the arm of the other predicate value | killed, 0.2 s |  | not run again |
| rewrites | merging two slices ignores the inner stride in the start | killed, 0.2 s |  | not run again |
| rewrites | sums of merged start indices are kept in the indices' own type although it may not hold them | killed, 3.7 s |  | not run again |
| conversions | two integer converts merge if the result is no wider than the source, not than the middle type | killed, 0.6 s |  | not run again |
| loops | a loop's bound or step counts as constant though the body changes it: its initial value is used | killed, 0.9 s |  | not run again |
| loops | a constant negative branch index chooses the first branch instead of the last | killed, 2.1 s |  | not run again |
| expanders | a reverse scan stores its outputs at the trip's number instead of the mirrored place | killed, 0.3 s |  | not run again |
| expanders | the start of the next group is the size of this one instead of the sum of sizes so far | killed, 0.4 s |  | not run again |
| fusion | ops in one fusion of several results count as equal if their first two operands are | killed, 15 s |  | not run again |
| fusion | a result is stored before the other results of the kernel have read the operand whose memory it takes | killed, 2.3 s |  | not run again |
| buffers | only values in destinations that are written later are set aside before the final copies of a loop | killed, 4.1 s |  | not run again |
| constants | a comparison of constants in total order is folded as an ordinary one | survived | not generated: only sorts compared by total order | killed, 33 s and 39 s of half a machine |
| codegen | clamp takes the minimum first: a lower bound above the upper one wins | killed, 0.2 s |  | not run again |
| codegen | in vectors an iota counts lanes along whatever dimension the vector runs | killed, 0.3 s |  | not run again |
| codegen | a combiner that works in a narrower type is taken for the plain one in the wide type | killed, 25 s |  | not run again |
| codegen | holes of a dilated base are counted from the padded start instead of from the first element | killed, 0.6 s |  | not run again |
| codegen | batches of a group are taken interleaved instead of side by side | killed, 0.1 s |  | not run again |
| conversions | rounding to odd does not step back where the nearest f32 is too large | killed, 0.5 s |  | not run again |
| functions | tanh of f32 loses the sign of its argument outside of the series near zero | killed, 0.5 s |  | not run again |
| functions | power of f64 has no case for a base of size one and an infinite exponent | killed, 33 s |  | not run again |
| complex | complex numbers are unequal only if both parts differ | killed, 1.3 s |  | not run again |
| kernels | the initial value takes part in the choice of select-and-scatter's window | killed, 0.1 s |  | not run again |
| kernels | irfft of even length does not ignore the imaginary part of the last bin | killed, 0.5 s |  | not run again |
| kernels | taps repeat with the base dilation even where the window dilation shares a factor with it | killed, 1.2 s |  | not run again |
| direct code | float comparison for unequal is the ordered one: false for NaN | killed, 0.5 s |  | not run again |
| direct code | round-nearest-afz of f32 adds a half instead of the largest number below it | killed, 6.0 s |  | not run again |
| devices | partition-id gives the number of the device | killed, 0.2 s |  | not run again |
| devices | the members of a replica group are taken in order of their numbers, not as listed | killed, 0.2 s |  | not run again |
| sorts | a comparison written the other way round (second element first) sorts in the wrong direction | killed, 0.2 s |  | not run again |
| sorts | thinning out the candidates of top-k ignores places: equal values lose their order | killed, 0.1 s |  | not run again |
| random bits | of several longest odd dimensions ThreeFry's pairs lie along the last instead of the first | killed, 24 s |  | not run again |
| linear algebra | the adjoint is only transposed, not conjugated, where the triangle stands on the right | killed, 2.5 s |  | not run again |

)";

// The order and the meaning of the classes; one that is not here has no words, and comes last.
struct ClassText {
  std::string_view name, text;
};
constexpr ClassText kClasses[] = {
    {"side-conditions", "side conditions of rewrites that are forgotten"},
    {"facts",
     "ranges, signs, trip counts, known bits, starts, constants that are taken for others"},
    {"identities", "what a rewrite puts in the place of what it removes"},
    {"orders", "orders of dimensions, ranks, operands and memory"},
    {"nan-and-zero", "NaN, infinities and the sign of zero, in rewrites and in code"},
    {"rounding", "rounding, narrow types, subnormal numbers, accumulation"},
    {"integers", "ends of integer types, shifts, divisors, in code"},
    {"constants", "evaluation at compile time, per op and type"},
    {"movement", "indices, edges, strides, dilations, groups and starts, in code"},
    {"kernels", "masks, remainders, lanes, tiles, and the calls of the runtime"},
    {"buffers", "copies that are left out, memory that is shared"},
    {"tasks", "kernels that threads share"},
    {"direct-code", "instructions that are chosen without LLVM: lanes, widths, NaN, clamps"},
    {"new-kernels", "what is merged, packed, selected, turned and called since the first run"},
    {"conjunctions",
     "two or three attributes at once: both edges, an edge and a type, a type and a size"},
};

struct Sum {
  int64_t defects = 0, guarded = 0, run = 0, killed = 0, triaged = 0, right = 0;
};

// Sums by class, of all defects that there are.
std::map<std::string, Sum> SumsOf(const std::vector<MutationScore>& scores) {
  std::map<std::string, Sum> sums;
  for (const PlantedDefect& defect : PlantedDefects()) {
    ++sums[defect.of_class].defects;
    sums[defect.of_class].guarded += defect.guarded ? 1 : 0;
  }
  for (const MutationScore& score : scores) {
    Sum& sum = sums[score.defect.of_class];
    ++sum.run;
    sum.killed += score.killed ? 1 : 0;
    sum.triaged += score.triaged ? 1 : 0;
    sum.right += score.blame_right ? 1 : 0;
  }
  return sums;
}

std::string Row(std::string_view name, std::string_view text, const Sum& sum) {
  return StrCat("| ", name, " | ", text, " | ", sum.defects, " | ", sum.guarded, " | ", sum.run,
                " | ", sum.killed, " | ", sum.triaged, " | ", sum.right, " |\n");
}

std::string ClassTable(const std::map<std::string, Sum>& sums) {
  std::string out =
      "| class | what is wrong | defects | guarded | run | killed | triaged | blamed right |\n"
      "|---|---|--:|--:|--:|--:|--:|--:|\n";
  Sum all;
  std::map<std::string, Sum> left = sums;
  const auto add = [&](std::string_view text, const std::string& name) {
    const Sum& sum = left.at(name);
    all.defects += sum.defects;
    all.guarded += sum.guarded;
    all.run += sum.run;
    all.killed += sum.killed;
    all.triaged += sum.triaged;
    all.right += sum.right;
    out += Row(name, text, sum);
    left.erase(name);
  };
  for (const ClassText& row : kClasses) {
    if (left.contains(std::string(row.name))) add(row.text, std::string(row.name));
  }
  while (!left.empty()) add("", left.begin()->first);
  return StrCat(out, Row("all", "", all), "\n");
}

bool IsRetired(const MutationScore& score) {
  return std::any_of(
      RetiredDefects().begin(), RetiredDefects().end(),
      [&](const PlantedDefect& retired) { return retired.name == score.defect.name; });
}

std::string SurvivorTable(const std::vector<MutationScore>& scores) {
  std::string out = "| defect | reason | what is wrong | why it survived |\n|---|---|---|---|\n";
  for (const MutationScore& score : scores) {
    if (score.killed) continue;
    const auto found = Survivors().find(score.defect.name);
    const bool known = found != Survivors().end();
    const bool retired = IsRetired(score);
    StrAppend(&out, "| `", score.defect.name, "` | ",
              retired ? "badly made"
              : known ? found->second.reason
                      : "not looked at",
              " | ", score.defect.summary, " | ",
              !score.error.empty() ? score.error
              : retired ? "The evaluator folds no such op; another defect has taken its place."
              : known   ? found->second.text
                        : "",
              " |\n");
  }
  return out + "\n";
}

std::string ScoreTable(const std::vector<MutationScore>& scores) {
  std::string out =
      "| defect | class | gate | | seconds | programs | blamed | instructions |\n"
      "|---|---|---|---|--:|--:|---|--:|\n";
  for (const MutationScore& score : scores) {
    const std::string blamed =
        !score.triaged ? "" : StrCat(score.blamed, score.blame_right ? "" : " (wrong)");
    StrAppend(&out, "| `", score.defect.name, "` | ", score.defect.of_class, " | `",
              score.defect.gate, "` | ", score.killed ? "killed" : "survived", " | ",
              absl::StrFormat("%.1f", score.seconds), " | ", score.programs, " | ", blamed, " | ",
              score.instructions > 0 ? StrCat(score.instructions) : "", " |\n");
  }
  return out;
}

// "on `cpu`, seed 1, at most 12 s each; ..." where all scores agree.
std::string Conditions(const std::vector<MutationScore>& scores) {
  const MutationScore& first = scores.front();
  const bool agree = std::all_of(scores.begin(), scores.end(), [&](const MutationScore& score) {
    return score.seed == first.seed && score.backend == first.backend;
  });
  if (!agree) return "under different conditions";
  const auto [shortest, longest] = std::minmax_element(
      scores.begin(), scores.end(),
      [](const MutationScore& a, const MutationScore& b) { return a.limit < b.limit; });
  const std::string limits = shortest->limit == longest->limit
                                 ? absl::StrFormat("%g", longest->limit)
                                 : absl::StrFormat("%g to %g", shortest->limit, longest->limit);
  std::vector<int64_t> programs;
  for (const MutationScore& score : scores) {
    if (!score.killed) programs.push_back(score.programs);
  }
  std::sort(programs.begin(), programs.end());
  const std::string seen = programs.empty()
                               ? ""
                               : StrCat("; half of the survivors had seen fewer than ",
                                        programs[programs.size() / 2] + 1, " programs by then");
  return StrCat("on `", first.backend, "`, seed ", first.seed, ", at most ", limits, " s each",
                seen);
}

// Who was blamed, and how small the programs became.
std::string TriageText(const std::vector<MutationScore>& scores) {
  int64_t triaged = 0, right = 0;
  std::vector<int64_t> sizes;
  for (const MutationScore& score : scores) {
    triaged += score.triaged ? 1 : 0;
    right += score.triaged && score.blame_right ? 1 : 0;
    if (score.triaged && score.instructions > 0) sizes.push_back(score.instructions);
  }
  if (sizes.empty()) return "";
  std::sort(sizes.begin(), sizes.end());
  return StrCat(" Blame names the planted gate for ", right, " of ", triaged, " (",
                Percent(static_cast<double>(right), static_cast<double>(triaged)),
                "); the median of the reduced programs has ", sizes[sizes.size() / 2],
                " instructions, the largest ", sizes.back(), ".");
}

// Of a later run: how many are killed of all, and of those that can be seen at all.
std::string LaterText(const std::vector<MutationScore>& scores) {
  int64_t killed = 0, unseen = 0, most = 0;
  std::vector<MutationScore> campaigns, screened;
  for (const MutationScore& score : scores) {
    killed += score.killed ? 1 : 0;
    const auto found = Survivors().find(score.defect.name);
    const bool cannot =
        !score.killed && found != Survivors().end() &&
        (found->second.reason == "equivalent" || found->second.reason == "invisible");
    unseen += cannot ? 1 : 0;
    if (score.bites >= 0) most = std::max(most, score.programs);
    (score.bites >= 0 ? screened : campaigns).push_back(score);
  }
  const auto all = static_cast<int64_t>(scores.size());
  const auto share = [](int64_t part, int64_t of) {
    return Percent(static_cast<double>(part), static_cast<double>(of));
  };
  std::string text = StrCat(killed, " of ", all, " defects killed (", share(killed, all), ")");
  if (unseen > 0) {
    StrAppend(&text, "; ", unseen, " of the survivors change no result that the contract fixes: ",
              share(killed, all - unseen), " of the others");
  }
  text += ".";
  if (!campaigns.empty()) {
    StrAppend(&text, " ", campaigns.size(), " were given to campaigns, ", Conditions(campaigns),
              ".", TriageText(campaigns));
  }
  if (!screened.empty()) {
    StrAppend(&text, " ", screened.size(),
              " were given to a screening (`assay defects --screen`): the first ", most,
              " programs of seed ", screened.front().seed,
              ", and of those the ones in which a defect may bite; programs are counted until the "
              "one that kills.");
  }
  return text + "\n\n";
}

std::string LaterClassTable(const std::vector<MutationScore>& first,
                            const std::vector<MutationScore>& later) {
  const std::map<std::string, Sum> before = SumsOf(first), after = SumsOf(later);
  std::string out =
      "| class | defects | killed at first | run now | killed now |\n|---|--:|--:|--:|--:|\n";
  for (const auto& [name, sum] : after) {
    StrAppend(&out, "| ", name, " | ", sum.defects, " | ", before.at(name).killed, " | ", sum.run,
              " | ", sum.killed, " |\n");
  }
  return out + "\n";
}

std::string LaterScoreTable(const std::vector<MutationScore>& scores) {
  std::string out =
      "| defect | | seconds | programs | may bite in | blamed | instructions |\n"
      "|---|---|--:|--:|--:|---|--:|\n";
  for (const MutationScore& score : scores) {
    const std::string blamed =
        !score.triaged ? "" : StrCat(score.blamed, score.blame_right ? "" : " (wrong)");
    StrAppend(&out, "| `", score.defect.name, "` | ", score.killed ? "killed" : "survived", " | ",
              absl::StrFormat("%.1f", score.seconds), " | ", score.programs, " | ",
              score.bites >= 0 ? StrCat(score.bites) : "", " | ", blamed, " | ",
              score.instructions > 0 ? StrCat(score.instructions) : "", " |\n");
  }
  return out;
}

std::optional<PlantedDefect> KnownDefect(const std::string& name) {
  for (const PlantedDefect& retired : RetiredDefects()) {
    if (retired.name == name) return retired;
  }
  const absl::StatusOr<PlantedDefect> defect = FindDefect(name);
  return defect.ok() ? std::optional<PlantedDefect>(*defect) : std::nullopt;
}

std::string Killed(const std::vector<MutationScore>& scores) {
  const auto killed = std::count_if(scores.begin(), scores.end(),
                                    [](const MutationScore& score) { return score.killed; });
  return StrCat(killed, " of ", scores.size(), " defects killed (",
                Percent(static_cast<double>(killed), static_cast<double>(scores.size())), "), ",
                Conditions(scores), ".");
}

// The first run of what came afterwards.
std::string AddedText(const std::vector<MutationScore>& added) {
  if (added.empty()) return "";
  return StrCat(
      "## First run of the defects that came later\n\n",
      "What was built since then, kernels, rewrites and the choice of instructions without LLVM, "
      "got "
      "defects of its own, in the last two classes. They were chosen before this run, and the "
      "generator was not changed meanwhile. ",
      Killed(added), TriageText(added), "\n\n### Their survivors\n\n", SurvivorTable(added),
      "### Each of them\n\n", ScoreTable(added), "\n");
}

}  // namespace

nlohmann::json ToJson(const MutationScore& score) {
  return {{"type", "defect"},
          {"defect", score.defect.name},
          {"class", score.defect.of_class},
          {"kind", score.defect.kind},
          {"operator", score.defect.op},
          {"gate", score.defect.gate},
          {"backend", score.backend},
          {"seed", score.seed},
          {"limit", score.limit},
          {"killed", score.killed},
          {"triaged", score.triaged},
          {"seconds", score.seconds},
          {"programs", score.programs},
          {"blamed", score.blamed},
          {"blame_right", score.blame_right},
          {"instructions", score.instructions},
          {"bites", score.bites},
          {"page", score.page},
          {"error", score.error}};
}

absl::Status ReadScores(std::string_view text, std::vector<MutationScore>& scores) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.empty()) continue;
    const nlohmann::json row = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    const auto is = [&](const char* field, nlohmann::json::value_t type) {
      return row.contains(field) && row[field].type() == type;
    };
    using Type = nlohmann::json::value_t;
    if (!row.is_object() || !is("defect", Type::string) || !is("killed", Type::boolean)) {
      return absl::InvalidArgumentError(
          StrCat("results of defects: no score: ", line.substr(0, 80)));
    }
    const std::optional<PlantedDefect> defect = KnownDefect(row["defect"].get<std::string>());
    if (!defect.has_value()) continue;
    MutationScore score;
    score.defect = *defect;
    const auto number = [&](const char* field) {
      return row.contains(field) && row[field].is_number() ? row[field].get<double>() : 0.0;
    };
    const auto word = [&](const char* field) {
      return is(field, Type::string) ? row[field].get<std::string>() : std::string();
    };
    const auto flag = [&](const char* field) {
      return is(field, Type::boolean) && row[field].get<bool>();
    };
    score.error = word("error");
    score.backend = word("backend");
    score.blamed = word("blamed");
    score.page = word("page");
    score.seed = static_cast<uint64_t>(std::clamp(number("seed"), 0.0, 9e15));
    score.limit = number("limit");
    score.seconds = number("seconds");
    score.programs = static_cast<int64_t>(std::clamp(number("programs"), 0.0, 9e15));
    score.instructions = static_cast<int64_t>(std::clamp(number("instructions"), 0.0, 9e15));
    score.bites =
        row.contains("bites") ? static_cast<int64_t>(std::clamp(number("bites"), -1.0, 9e15)) : -1;
    score.killed = flag("killed");
    score.triaged = flag("triaged");
    score.blame_right = flag("blame_right");
    const auto same = std::find_if(scores.begin(), scores.end(), [&](const MutationScore& other) {
      return other.defect.name == score.defect.name;
    });
    if (same == scores.end()) {
      scores.push_back(std::move(score));
    } else {
      *same = std::move(score);
    }
  }
  std::sort(scores.begin(), scores.end(), [](const MutationScore& a, const MutationScore& b) {
    return a.defect.name < b.defect.name;
  });
  return absl::OkStatus();
}

std::string MutationPage(const MutationRuns& runs) {
  const auto& [first, added, later] = runs;
  std::string page = StrCat(
      kIntroduction, "## Classes\n\n",
      "Guarded: bites only at some values or attributes. Run, killed, triaged and blamed: of the "
      "first run.\n\n",
      ClassTable(SumsOf(first)), kInSources);
  if (first.empty()) return page + "No run has been made yet.\n";
  StrAppend(&page, "## First run\n\n", Killed(first), "\n\n");
  if (const auto retired = std::count_if(first.begin(), first.end(), IsRetired); retired > 0) {
    StrAppend(
        &page, retired,
        " of its survivors were badly made: the evaluator folds no such op, so "
        "that they could never bite. Each was replaced by one of an op that it folds; the run "
        "is shown as it was.\n\n");
  }
  page += AddedText(added);
  if (!later.empty()) {
    StrAppend(&page, "## After\n\nThe generator was taught the classes that survived. ",
              LaterText(later), LaterClassTable(first, later), "### Survivors\n\n",
              SurvivorTable(later), "### Every defect, after\n\n", LaterScoreTable(later),
              "\n## The first run in full\n\n");
  }
  StrAppend(&page, later.empty() ? "## Survivors\n\n" : "### Its survivors\n\n",
            SurvivorTable(first), later.empty() ? "## Every defect\n\n" : "### Its defects\n\n",
            ScoreTable(first));
  return page;
}

}  // namespace assay
