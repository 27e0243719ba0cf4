// The generator reaches what its requirements name.
#include "fuzz/generator/stats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "fuzz/generator/conjunctions.h"

namespace assay {
namespace {

// Each set of programs once, whoever asks for it.
const GeneratorStats& Collect(uint64_t count, const GeneratorOptions& options = {}) {
  static auto& collected = *new std::map<std::pair<uint64_t, bool>, GeneratorStats>;
  const auto [at, is_new] = collected.try_emplace({count, options.portable});
  for (uint64_t i = 0; is_new && i < count; ++i) at->second.Add(GenerateCase(21, i, options));
  return at->second;
}

TEST(GeneratorStatsTest, EveryRequirementIsShown) {
  // The rarest, a loop in a loop, is in one of 2,000 programs.
  constexpr uint64_t kPrograms = 20000;
  const GeneratorStats& own = Collect(kPrograms);
  for (size_t i = 0; i < AllTriggers().size(); ++i) {
    EXPECT_GT(own.triggers()[i], 0)
        << "requirement " << AllTriggers()[i].requirement << ": " << AllTriggers()[i].name
        << " in none of " << kPrograms << " programs";
  }
}

// The shapes behind many defects are in one of 1,000 programs for other compilers; the rest, the
// second tier of the requirements, in one of 5,000.
TEST(GeneratorStatsTest, ForeignProgramsHoldEveryFloor) {
  constexpr int64_t kPrograms = 20000;
  constexpr int kSecondTier[] = {35, 36, 37, 40, 42, 45, 48, 50, 52};
  GeneratorOptions options;
  options.portable = true;
  const GeneratorStats& stats = Collect(kPrograms, options);
  for (size_t i = 0; i < AllTriggers().size(); ++i) {
    const RequirementTrigger& trigger = AllTriggers()[i];
    if (trigger.requirement == kConjunction) continue;
    const bool is_second =
        std::count(std::begin(kSecondTier), std::end(kSecondTier), trigger.requirement) > 0;
    EXPECT_GE(stats.triggers()[i] * (is_second ? 5000 : 1000), kPrograms)
        << "requirement " << trigger.requirement << ": " << trigger.name;
  }
}

// These are conjunctions that no draw of one attribute alone reaches often enough.
TEST(GeneratorStatsTest, ConjunctionsHoldTheirFloors) {
  constexpr int64_t kPrograms = 20000;
  GeneratorOptions portable;
  portable.portable = true;
  const GeneratorStats &own = Collect(kPrograms), &foreign = Collect(kPrograms, portable);
  const size_t first = AllTriggers().size() - AllConjunctions().size();
  for (size_t i = 0; i < AllConjunctions().size(); ++i) {
    const Conjunction& conjunction = AllConjunctions()[i];
    const auto rate = [&](const GeneratorStats& stats) {
      return 1000.0 * static_cast<double>(stats.triggers()[first + i]) / kPrograms;
    };
    EXPECT_GE(rate(own), conjunction.own_floor) << conjunction.trigger.name;
    EXPECT_GE(rate(foreign), conjunction.foreign_floor) << conjunction.trigger.name << ", foreign";
  }
}

// Every op that says where something begins or ends, on the result of each of them.
TEST(GeneratorStatsTest, EdgesMeetEdges) {
  const GeneratorStats& stats = Collect(20000);
  std::vector<Opcode> ops;
  for (const OpInfo& info : AllOps())
    if (HasEdges(info.opcode)) ops.push_back(info.opcode);
  EXPECT_GE(ops.size(), 12u);
  for (Opcode producer : ops) {
    for (Opcode consumer : ops) {
      // An iota takes nothing, and few programs select and scatter.
      if (consumer == Opcode::kIota || producer == Opcode::kSelectAndScatter) continue;
      if (consumer == Opcode::kSelectAndScatter || producer == Opcode::kConvolution) continue;
      if (consumer == Opcode::kConvolution) continue;
      EXPECT_TRUE(stats.op_pairs().contains({producer, consumer}))
          << Name(consumer) << " never on " << Name(producer);
    }
  }
}

// Sizes beside powers of two from 2^8 on, in every op that is not rare.
TEST(GeneratorStatsTest, EveryOpHasLongDimensionsBesidePowers) {
  GeneratorOptions portable;
  portable.portable = true;
  const GeneratorStats &own = Collect(20000), &foreign = Collect(20000, portable);
  std::map<Opcode, int64_t> programs;
  for (const auto& [op_and_type, count] : own.op_types()) programs[op_and_type.first] += count;
  for (const auto& [opcode, count] : programs) {
    constexpr int64_t kFew = 200;
    const bool is_small = opcode == Opcode::kReplicaId || opcode == Opcode::kPartitionId ||
                          opcode == Opcode::kGetDimensionSize || opcode == Opcode::kAfterAll;
    if (count < kFew || is_small) continue;
    uint32_t powers = own.powers().at(opcode);
    if (const auto at = foreign.powers().find(opcode); at != foreign.powers().end())
      powers |= at->second;
    EXPECT_NE(powers >> 8, 0u) << Name(opcode) << " never with a dimension beside 2^8 or more";
  }
}

// Ops that work element by element appear on every type. The others are dear or rare, and must
// appear at all.
TEST(GeneratorStatsTest, EveryOpOnEveryTypeItAdmits) {
  const GeneratorStats& stats = Collect(20000);
  std::set<Opcode> drawn;
  for (const auto& [op_and_type, count] : stats.op_types()) drawn.insert(op_and_type.first);
  for (const OpInfo& info : AllOps()) {
    if (!info.IsDefined()) continue;
    EXPECT_TRUE(drawn.contains(info.opcode)) << info.name << " never";
    if (!info.Is(kElementwise)) continue;
    // Statistics are by the type of the result.
    bool by_result = info.opcode != Opcode::kCompare && info.opcode != Opcode::kIsFinite &&
                     info.opcode != Opcode::kComplex && info.opcode != Opcode::kStochasticConvert;
    // The document of the text format gives predicates no iota, and leaves their width in
    // bitcast-convert to the backend.
    bool of_pred = info.opcode != Opcode::kIota && info.opcode != Opcode::kBitcastConvert;
    if (!by_result) continue;
    for (ElementType type : ComputedTypes()) {
      if (!Matches(info.types, type) || (!of_pred && IsPred(type))) continue;
      EXPECT_TRUE(stats.op_types().contains({info.opcode, type}))
          << info.name << " never on " << Name(type);
    }
  }
}

// True if the op table's classes of types admit more for the op than its rules do, or if its result
// does not show the type of the operand.
bool HasResultOfItsType(Opcode opcode, ElementType type) {
  switch (opcode) {
    case Opcode::kAfterAll:
    case Opcode::kCompare:
    case Opcode::kGetDimensionSize:
    case Opcode::kInfeed:
    case Opcode::kIsFinite:
    case Opcode::kOutfeed:
    case Opcode::kPartitionId:
    case Opcode::kReplicaId:
    case Opcode::kRng:
    case Opcode::kRngBitGenerator:
    case Opcode::kRngGetAndUpdateState:
    case Opcode::kSendDone:
      return false;
    case Opcode::kAbs:
    case Opcode::kReal:
    case Opcode::kImag:
      return !IsComplex(type);
    case Opcode::kCholesky:
    case Opcode::kComplex:
    case Opcode::kFft:
    case Opcode::kScaledDot:
    case Opcode::kStochasticConvert:
    case Opcode::kTriangularSolve:
      return !IsFloat(type);
    default:
      return true;
  }
}

// Types that few programs have are citizens all the same: an op that admits complex numbers,
// integers below a byte or floats of 4 and 8 bits gets them.
TEST(GeneratorStatsTest, EveryOpOnEveryKindOfRareType) {
  constexpr std::string_view kKinds[] = {"complex numbers", "integers of 2 and 4 bits",
                                         "floats of 4 and 8 bits"};
  const auto kind_of = [](ElementType type) {
    return IsComplex(type) ? 0 : IsInteger(type) ? 1 : 2;
  };
  GeneratorOptions portable;
  portable.portable = true;
  const std::set<ElementType> rare(RareTypes().begin(), RareTypes().end());
  std::set<std::pair<Opcode, int>> drawn;
  std::map<Opcode, int64_t> programs;
  for (const GeneratorStats& stats : {Collect(60000), Collect(60000, portable)}) {
    for (const auto& [at, count] : stats.op_types()) {
      programs[at.first] += count;
      if (rare.contains(at.second)) drawn.emplace(at.first, kind_of(at.second));
    }
  }
  // Ops that are in fewer programs, such as domains, are left to chance.
  constexpr int64_t kFew = 500;
  for (const OpInfo& info : AllOps()) {
    for (ElementType type : {ElementType::kC64, ElementType::kS4, ElementType::kF8E5M2}) {
      const bool is_asked =
          info.IsDefined() && Matches(info.types, type) && HasResultOfItsType(info.opcode, type);
      // The types that a custom call takes are its target's.
      if (info.opcode == Opcode::kCustomCall) continue;
      if (!is_asked || programs[info.opcode] < kFew) continue;
      EXPECT_TRUE(drawn.contains({info.opcode, kind_of(type)}))
          << info.name << " never on " << kKinds[kind_of(type)];
    }
  }
}

// Scalar bodies hold what the verifier admits, and not the plain op alone.
TEST(GeneratorStatsTest, BodiesAreSaidInMoreWords) {
  std::map<Opcode, int64_t> bodies;  // that hold the op
  GeneratorOptions options;
  options.portable = true;
  constexpr uint64_t kPrograms = 20000;
  for (uint64_t i = 0; i < kPrograms; ++i) {
    const Case made = GenerateCase(21, i, options);
    for (const Computation* computation : made.module->computations()) {
      for (const Instruction* at : *computation) {
        const bool has_body = at->opcode() == Opcode::kReduce || at->opcode() == Opcode::kMap ||
                              at->opcode() == Opcode::kSort || at->opcode() == Opcode::kScatter;
        if (!has_body) continue;
        for (const Instruction* inner : *at->callee()) ++bodies[inner->opcode()];
      }
    }
  }
  for (Opcode opcode :
       {Opcode::kCall, Opcode::kConditional, Opcode::kWhile, Opcode::kReduce, Opcode::kSort}) {
    EXPECT_GE(bodies[opcode] * 5000, static_cast<int64_t>(kPrograms)) << Name(opcode);
  }
}

// Convolutions with the layouts and channels of frameworks are as many as others.
TEST(GeneratorStatsTest, ConvolutionsOfFrameworksAreCommon) {
  int64_t all = 0, of_frameworks = 0;
  GeneratorOptions options;
  options.portable = true;
  for (uint64_t i = 0; i < 20000; ++i) {
    const Case made = GenerateCase(21, i, options);
    for (const Instruction* at : *made.module->entry()) {
      if (at->opcode() != Opcode::kConvolution) continue;
      ++all;
      const ConvDimLabels& labels = *at->attributes().DimLabels();
      const int64_t channels = at->operand(0)->shape().dimension(labels.input_feature);
      const bool is_wide = channels >= 7 && (channels + 1) % 8 <= 2;
      const bool is_in_order =
          std::is_sorted(labels.input_spatial.begin(), labels.input_spatial.end()) &&
          labels.input_batch == 0 && labels.output_batch == 0;
      of_frameworks += is_wide && is_in_order;
    }
  }
  EXPECT_GE(of_frameworks * 10, all * 3) << of_frameworks << " of " << all;
}

// The trips and the last counter of a counted loop are among the results.
TEST(GeneratorStatsTest, CountedLoopsShowHowOftenTheyRan) {
  int64_t loops = 0, shown = 0;
  for (uint64_t i = 0; i < 10000; ++i) {
    const Case made = GenerateCase(21, i);
    for (const Instruction* at : *made.module->entry()) {
      if (at->opcode() != Opcode::kWhile || !at->shape().IsTuple()) continue;
      const auto is_counter = [](const Shape& shape) {
        return shape.IsScalar() && IsInteger(shape.element_type());
      };
      const std::vector<Shape>& state = at->shape().elements();
      if (std::count_if(state.begin(), state.end(), is_counter) < 2) continue;
      ++loops;
      std::set<int64_t> read;  // what nothing reads is not there any more
      for (const Instruction* user : at->users()) {
        if (user->opcode() == Opcode::kGetTupleElement && is_counter(user->shape()))
          read.insert(user->attributes().Integer(Attr::kIndex));
        if (user->opcode() == Opcode::kWhile) read = {0, 1};  // another loop goes on with it
      }
      shown += read.size() >= 2;
    }
  }
  EXPECT_GT(loops, 100);
  EXPECT_GE(shown * 10, loops * 9) << shown << " of " << loops;
}

TEST(GeneratorStatsTest, HalfOfTheProgramsAreSmall) {
  const GeneratorStats& stats = Collect(2000);
  int64_t small = 0;
  for (const auto& [size, count] : stats.sizes()) small += size <= 12 ? count : 0;
  EXPECT_GT(2 * small, stats.programs());
}

TEST(GeneratorStatsTest, TablesNameWhatTheyCount) {
  std::string text = Collect(50).ToString();
  EXPECT_NE(text.find("dynamic-slice of dynamic-slice"), std::string::npos);
  EXPECT_NE(text.find("bf16"), std::string::npos);
}

}  // namespace
}  // namespace assay
