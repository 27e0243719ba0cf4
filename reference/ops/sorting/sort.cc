// Sort. Document: operation semantics chapter 10, Sort.
#include <algorithm>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "reference/bounds/copy_elements.h"
#include "reference/bounds/elements.h"
#include "reference/interpreter/element_computation.h"
#include "reference/interpreter/op_evaluations.h"
#include "reference/ops/sorting/position_ranges.h"
#include "reference/ops/sorting/sort_keys.h"
#include "reference/scalar/compare.h"
#include "reference/values/index_map.h"
#include "reference/values/leaves.h"
#include "reference/values/row_choice.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

// UNSPECIFIED(operation semantics 10 and 19): a sort of XLA that is not marked stable may exchange
// elements of which neither precedes the other.
bool MayExchangeEquals(const OpContext& op) { return op.analysis.is_xla; }

// The answer of the comparator to whether one element precedes another, and whether every legal
// evaluation gives that answer.
struct Precedence {
  bool plain = false, certain = true;
};

// True if `is_so` holds of an instruction of the computation or of those that it calls.
template <typename Predicate>
bool AnyInside(const Computation& computation, Predicate is_so) {
  for (const Instruction* instruction : computation) {
    if (is_so(*instruction)) return true;
    for (const Computation* callee : instruction->callees())
      if (AnyInside(*callee, is_so)) return true;
  }
  return false;
}

bool ComparesFloatsPartially(const Computation& computation) {
  return AnyInside(computation, [](const Instruction& instruction) {
    return instruction.opcode() == Opcode::kCompare && !IsTotalOrder(instruction) &&
           IsFloat(instruction.operand(0)->shape().element_type());
  });
}

bool DrawsNumbers(const Computation& computation) {
  return AnyInside(computation, [](const Instruction& instruction) {
    return Info(instruction.opcode()).family == OpFamily::kRandom;
  });
}

bool MayBeNan(const Array& array, int64_t i) {
  if (!IsFloat(array.literal.element_type())) return false;
  if (IsNanCode(Format(array.literal.element_type()), array.literal.GetBits(i))) return true;
  return array.facts().IsOpen(i) && (array.facts().bounds[i].flags & (kMayBeNan | kUndecided)) != 0;
}

// Sorts the lines of the operands, some of them at a time. For each line at work `order_` lists its
// elements in their order so far.
class Sorter {
 public:
  Sorter(Interpreter& interpreter, const OpContext& op)
      : interpreter_(interpreter),
        op_(op),
        comparator_(*op.instruction.callee()),
        lines_(op.literal(0).shape(), op.instruction.attributes().Integers(Attr::kDimension)[0]),
        recognised_(RecognisedOrder(comparator_)) {
    for (int64_t p = 0; p < comparator_.parameter_count(); ++p) {
      if (Reads(p) && (read_.empty() || read_.back() != p / 2)) read_.push_back(p / 2);
    }
    read_few_bits_ = ReadsFewBits();
  }

  absl::StatusOr<Value> Run() {
    std::vector<Array> results = ZerosOf(op_.shape);
    const int64_t together =
        std::max<int64_t>(1, static_cast<int64_t>(kChunk) / std::max<int64_t>(lines_.length, 1));
    for (first_ = 0; first_ < lines_.count && lines_.length > 0; first_ = last_) {
      last_ = std::min(lines_.count, first_ + together);
      ASSAY_RETURN_IF_ERROR(SortLines(results));
    }
    return ValueOfLeaves(std::move(results), op_.shape, interpreter_.memory());
  }

 private:
  // Most pairs of elements that one call of the comparator compares.
  static constexpr size_t kChunk = size_t{1} << 16;
  static constexpr int kFewBits = 16;

  // Sorts the lines from first_ to last_.
  absl::Status SortLines(std::vector<Array>& results) {
    order_.resize((last_ - first_) * lines_.length);
    for (size_t at = 0; at < order_.size(); ++at)
      order_[at] = static_cast<int64_t>(at) % lines_.length;
    suspect_.assign(last_ - first_, false);
    by_keys_ = recognised_.has_value() && recognised_->strict;
    if (recognised_.has_value()) {
      const KeySource source = Keys();
      // Keys take many times the memory of the elements: they are kept for bounds only.
      if (interpreter_.bounding()) keys_ = KeysOf(source, lines_, first_, last_);
      by_keys_ = by_keys_ && !MayBeUnordered(source, lines_, first_, last_);
    }
    ASSAY_RETURN_IF_ERROR(Order());
    for (size_t k = 0; k < results.size(); ++k)
      Move(op_.array(static_cast<int64_t>(k)), results[k]);
    for (int64_t line = first_; interpreter_.bounding() && line < last_; ++line) {
      ASSAY_RETURN_IF_ERROR(BoundLine(line, results));
    }
    return absl::OkStatus();
  }

  KeySource Keys() const {
    const int64_t operand = recognised_->operand;
    return {op_.array(operand), *recognised_, op_.clauses,
            IsMovedOnly(*op_.instruction.operand(operand)),
            MayLosePayload(op_.clauses, op_.literal(operand).element_type())};
  }
  absl::Span<const SortKey> KeysOfLine(int64_t line) const {
    return absl::MakeConstSpan(keys_).subspan((line - first_) * lines_.length, lines_.length);
  }
  const SortKey& KeyOf(int64_t line, int64_t k) const {
    return keys_[(line - first_) * lines_.length + k];
  }

  absl::Span<int64_t> OrderOf(int64_t line) {
    return absl::MakeSpan(order_).subspan((line - first_) * lines_.length, lines_.length);
  }

  // ---- Comparing. left[i] is compared with right[i], linear indices of elements.

  bool Reads(int64_t number) const {
    const Instruction* parameter = comparator_.parameter(number);
    return !parameter->users().empty() || comparator_.root() == parameter;
  }

  absl::Status CompareChunk(absl::Span<const int64_t> left, absl::Span<const int64_t> right,
                            std::vector<Precedence>& answers) {
    const auto count = static_cast<int64_t>(left.size());
    ASSAY_RETURN_IF_ERROR(interpreter_.budget().Take(count));
    std::vector<Value> arguments(comparator_.parameter_count());
    for (size_t p = 0; p < arguments.size(); ++p) {
      const Instruction* parameter = comparator_.parameter(static_cast<int64_t>(p));
      if (Reads(static_cast<int64_t>(p))) {
        arguments[p] = PickElements(op_.array(static_cast<int64_t>(p / 2)),
                                    p % 2 == 0 ? left : right, interpreter_.memory());
      } else {  // the comparator does not read it
        const Shape shape = Shape::Array(parameter->shape().element_type(), {count});
        arguments[p] = MakeValue(Array(Literal(shape)), interpreter_.memory());
      }
    }
    ASSAY_ASSIGN_OR_RETURN(std::vector<Value> outcome,
                           ApplyToElements(interpreter_, comparator_, arguments, {count}));
    const Array& answer = *outcome[0].array;
    for (int64_t i = 0; i < count; ++i)
      answers.push_back({answer.literal.GetBits(i) != 0, !answer.facts().choices.contains(i)});
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Precedence>> Compare(absl::Span<const int64_t> left,
                                                  absl::Span<const int64_t> right) {
    if (!read_few_bits_) return CompareAll(left, right);
    // Few numbers make the same pairs again and again, whose answers are the same.
    IndexMap first_left, first_right;  // of the pairs that differ
    absl::flat_hash_map<uint32_t, size_t> places;
    std::vector<size_t> place_of(left.size());
    for (size_t i = 0; i < left.size(); ++i) {
      const uint32_t pair = CodeOf(left[i]) << kFewBits | CodeOf(right[i]);
      const auto [at, is_new] = places.try_emplace(pair, first_left.size());
      if (is_new) {
        first_left.push_back(left[i]);
        first_right.push_back(right[i]);
      }
      place_of[i] = at->second;
    }
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Precedence> of_pairs,
                           CompareAll(first_left, first_right));
    std::vector<Precedence> answers;
    answers.reserve(left.size());
    for (const size_t place : place_of) answers.push_back(of_pairs[place]);
    return answers;
  }

  absl::StatusOr<std::vector<Precedence>> CompareAll(absl::Span<const int64_t> left,
                                                     absl::Span<const int64_t> right) {
    std::vector<Precedence> answers;
    answers.reserve(left.size());
    for (size_t first = 0; first < left.size(); first += kChunk) {
      ASSAY_RETURN_IF_ERROR(
          CompareChunk(left.subspan(first, kChunk), right.subspan(first, kChunk), answers));
    }
    return answers;
  }

  // True if the answers go by at most kFewBits of an element, without bounds.
  bool ReadsFewBits() const {
    if (DrawsNumbers(comparator_)) return false;
    int64_t bits = 0;
    for (const int64_t operand : read_) {
      const Array& array = op_.array(operand);
      if (!array.Certain()) return false;
      bits += static_cast<int64_t>(BitWidth(array.literal.element_type()));
    }
    return bits <= kFewBits;
  }
  uint32_t CodeOf(int64_t element) const {
    uint32_t code = 0;
    for (const int64_t operand : read_) {
      const Literal& literal = op_.literal(operand);
      code = code << BitWidth(literal.element_type()) |
             static_cast<uint32_t>(literal.GetBits(element));
    }
    return code;
  }

  // ---- Ordering.

  absl::Status Order() {
    if (!by_keys_) return OrderByComparator();
    ASSAY_RETURN_IF_ERROR(interpreter_.budget().Take(static_cast<int64_t>(order_.size())));
    for (int64_t line = first_; line < last_; ++line)
      OrderLine(Keys(), lines_, line, OrderOf(line));
    return absl::OkStatus();
  }

  // Merge sort, bottom up. All merges of a level go on together: for every element of a second run,
  // binary search finds how many of the first run stay before it.
  absl::Status OrderByComparator() {
    for (int64_t run = 1; run < lines_.length; run *= 2) {
      ASSAY_RETURN_IF_ERROR(MergeLevel(run));
    }
    return absl::OkStatus();
  }

  struct Search {
    int64_t line, begin, at;  // run pair begins at `begin`; the element is at position `at`
    int64_t low, high;        // the answer lies in [low, high]
  };

  // Calls f(line, begin, at) for the elements of every second run.
  template <typename F>
  void ForEachOfSecondRuns(int64_t run, F f) const {
    for (int64_t line = first_; line < last_; ++line) {
      for (int64_t begin = 0; begin + run < lines_.length; begin += 2 * run)
        for (int64_t at = begin + run; at < std::min(begin + 2 * run, lines_.length); ++at)
          f(line, begin, at);
    }
  }

  absl::Status MergeLevel(int64_t run) {
    IndexMap places;  // of the elements of all second runs, in their order
    std::vector<Search> searches;
    absl::Status status;
    auto finish = [&] {
      if (status.ok()) status = FindPlaces(searches);
      for (const Search& search : searches) places.push_back(search.low);
      searches.clear();
    };
    ForEachOfSecondRuns(run, [&](int64_t line, int64_t begin, int64_t at) {
      searches.push_back({line, begin, at, 0, run});
      if (searches.size() == kChunk) finish();
    });
    finish();
    if (status.ok()) MergeRuns(places, run);
    return status;
  }

  absl::Status FindPlaces(std::vector<Search>& searches) {
    IndexMap left, right;
    std::vector<Search*> open;
    while (true) {
      left.clear();
      right.clear();
      open.clear();
      for (Search& search : searches) {
        if (search.low == search.high) continue;
        absl::Span<const int64_t> order = OrderOf(search.line);
        const int64_t middle = search.begin + (search.low + search.high) / 2;
        open.push_back(&search);
        left.push_back(lines_.Element(search.line, order[search.at]));
        right.push_back(lines_.Element(search.line, order[middle]));
      }
      if (open.empty()) return absl::OkStatus();
      ASSAY_ASSIGN_OR_RETURN(std::vector<Precedence> precedes, Compare(left, right));
      for (size_t i = 0; i < open.size(); ++i) {
        Search& search = *open[i];
        const int64_t middle = (search.low + search.high) / 2;
        (precedes[i].plain ? search.high : search.low) = precedes[i].plain ? middle : middle + 1;
        if (!precedes[i].certain) suspect_[search.line - first_] = true;
      }
    }
  }

  // A comparator without order may give places that decrease: elements never overtake each other
  // within a run, so that the result is a permutation all the same.
  void MergeRuns(const IndexMap& places, int64_t run) {
    IndexMap merged;
    size_t next = 0;
    int64_t taken = 0;
    ForEachOfSecondRuns(run, [&](int64_t line, int64_t begin, int64_t at) {
      absl::Span<int64_t> order = OrderOf(line);
      for (; taken < places[next]; ++taken) merged.push_back(order[begin + taken]);
      merged.push_back(order[at]);
      ++next;
      if (at + 1 < std::min(begin + 2 * run, lines_.length)) return;
      for (; taken < run; ++taken) merged.push_back(order[begin + taken]);
      std::copy(merged.begin(), merged.end(), order.begin() + begin);
      merged.clear();
      taken = 0;
    });
  }

  void Move(const Array& operand, Array& result) {
    const size_t width = StorageBytes(operand.literal.element_type());
    const uint8_t* from = operand.literal.bytes().data();
    uint8_t* to = result.literal.bytes().data();
    for (int64_t line = first_; line < last_; ++line) {
      absl::Span<const int64_t> order = OrderOf(line);
      for (int64_t p = 0; p < lines_.length; ++p) {
        const int64_t source = lines_.Element(line, order[p]), place = lines_.Element(line, p);
        std::memcpy(to + place * width, from + source * width, width);
        if (!operand.Certain()) MoveBound(operand, source, result, place);
      }
    }
  }

  // ---- Bounds.

  bool Stable() const {
    return op_.instruction.attributes().Flag(Attr::kIsStable) || !MayExchangeEquals(op_);
  }

  void MakeLineUndecided(int64_t line, std::vector<Array>& results) {
    for (Array& result : results)
      for (int64_t p = 0; p < lines_.length; ++p) SetUndecided(result, lines_.Element(line, p));
  }

  absl::Status BoundLine(int64_t line, std::vector<Array>& results) {
    if (lines_.length < 2) return absl::OkStatus();
    if (by_keys_) {
      bool single = true;
      for (int64_t k = 0; k < lines_.length; ++k) single = single && KeyOf(line, k).IsSingle();
      if (single && (Stable() || !HasTies(line))) return absl::OkStatus();
    } else {
      if (HasUnordered(line)) {
        MakeLineUndecided(line, results);
        return absl::OkStatus();
      }
      ASSAY_ASSIGN_OR_RETURN(bool clean, IsCleanlyOrdered(line));
      if (clean) return absl::OkStatus();
    }
    if (lines_.length > kMaxAnalysedLine) {
      MakeLineUndecided(line, results);
      return absl::OkStatus();
    }
    PositionRanges ranges(lines_.length);
    if (by_keys_) {
      ranges = RangesByKeys(KeysOfLine(line), Stable());
    } else {
      ASSAY_ASSIGN_OR_RETURN(bool ordered, RangesByComparator(line, ranges));
      if (!ordered) {
        MakeLineUndecided(line, results);
        return absl::OkStatus();
      }
    }
    const std::vector<std::vector<int64_t>> candidates =
        CandidatesByPosition(ranges, OrderOf(line));
    for (size_t n = 0; n < results.size(); ++n) {
      for (int64_t p = 0; p < lines_.length; ++p) {
        IndexMap from;
        for (int64_t k : candidates[p]) from.push_back(lines_.Element(line, k));
        BoundAsOneOf(op_.array(static_cast<int64_t>(n)), from, results[n], lines_.Element(line, p));
      }
    }
    JoinTies(line, ranges, candidates, results);
    return absl::OkStatus();
  }

  // Positions that one of several elements may take: the elements that are left for them go there,
  // each to one, with all that belongs to it.
  void JoinTies(int64_t line, const PositionRanges& ranges,
                const std::vector<std::vector<int64_t>>& candidates, std::vector<Array>& results) {
    IndexMap open;
    for (int64_t p = 0; p < lines_.length; ++p)
      if (candidates[p].size() > 1) open.push_back(p);
    if (open.empty()) return;
    std::vector<const Array*> operands;
    for (const Value* operand : op_.operands) operands.push_back(operand->array.get());
    const auto columns = static_cast<int64_t>(operands.size());
    RowChoice choice(columns, static_cast<int64_t>(open.size()));
    auto number_of = [&](auto at) { return std::distance(open.begin(), at); };
    for (size_t k = 0; k < open.size(); ++k) {
      const int64_t row = candidates[open[k]][0];  // in the plain order
      const int64_t first =
          number_of(std::lower_bound(open.begin(), open.end(), ranges.first[row]));
      const int64_t end = number_of(std::upper_bound(open.begin(), open.end(), ranges.last[row]));
      choice.AddRow(operands, lines_.Element(line, row), std::min<int64_t>(first, k),
                    std::max<int64_t>(end - 1, k));
    }
    const auto joint = JointOf(StrCat("the elements of a line sorted by ", op_.instruction.name()),
                               std::move(choice));
    for (size_t k = 0; k < open.size(); ++k) {
      const int64_t element = lines_.Element(line, open[k]);
      for (int64_t n = 0; n < columns; ++n) {
        if (!HasKnownCode(results[n], element, true))
          SetJoint(results[n], element, joint, static_cast<int64_t>(k) * columns + n);
      }
    }
  }

  bool HasTies(int64_t line) {
    absl::Span<const int64_t> order = OrderOf(line);
    for (int64_t p = 1; p < lines_.length; ++p)
      if (KeyOf(line, order[p - 1]).plain == KeyOf(line, order[p]).plain) return true;
    return false;
  }

  // UNSPECIFIED(operation semantics 10): the order of a line that has NaNs under a comparison in
  // which they have no place, and of one whose comparator says of equals that each precedes the
  // other.
  bool HasUnordered(int64_t line) {
    if (!recognised_.has_value() || !ComparesFloatsPartially(comparator_)) return false;
    for (int64_t k = 0; k < lines_.length; ++k)
      if (KeyOf(line, k).may_be_unordered) return true;
    return false;
  }

  // True if comparing pairs of positions gives the order that the line has, with certainty: the
  // comparator is a strict weak order as far as seen, and (unless the sort is stable) without ties.
  absl::StatusOr<bool> IsCleanlyOrdered(int64_t line) {
    if (suspect_[line - first_]) return false;
    absl::Span<const int64_t> order = OrderOf(line);
    // All pairs are compared in short lines, pairs at distances of powers of two in long ones.
    IndexMap a, b;
    for (int64_t p = 0; p < lines_.length; ++p) {
      const bool all = lines_.length <= 32;
      for (int64_t step = 1; p + step < lines_.length; step += all ? 1 : step) {
        a.push_back(p);
        b.push_back(p + step);
      }
    }
    ASSAY_ASSIGN_OR_RETURN(std::vector<Precedence> forward, ComparePositions(line, order, a, b));
    ASSAY_ASSIGN_OR_RETURN(std::vector<Precedence> backward, ComparePositions(line, order, b, a));
    const IndexMap tie = Ties(a, b, forward, lines_.length);
    for (size_t i = 0; i < a.size(); ++i) {
      const Precedence &there = forward[i], &back = backward[i];
      if (!there.certain || !back.certain || back.plain) return false;
      if (there.plain != (tie[a[i]] != tie[b[i]])) return false;
      if (!Stable() && !there.plain) return false;
    }
    return true;
  }

  absl::StatusOr<std::vector<Precedence>> ComparePositions(int64_t line,
                                                           absl::Span<const int64_t> order,
                                                           const IndexMap& a, const IndexMap& b) {
    IndexMap left, right;
    for (int64_t p : a) left.push_back(lines_.Element(line, order[p]));
    for (int64_t p : b) right.push_back(lines_.Element(line, order[p]));
    return Compare(left, right);
  }

  // False if the comparator is no strict weak order on the line.
  absl::StatusOr<bool> RangesByComparator(int64_t line, PositionRanges& ranges) {
    // Positions in the plain order, so that what should be a strict weak order is seen as one.
    absl::Span<const int64_t> order = OrderOf(line);
    IndexMap a, b;
    for (int64_t p = 0; p < lines_.length; ++p) {
      for (int64_t q = p + 1; q < lines_.length; ++q) {
        a.push_back(p);
        b.push_back(q);
      }
    }
    ASSAY_ASSIGN_OR_RETURN(std::vector<Precedence> forward, ComparePositions(line, order, a, b));
    ASSAY_ASSIGN_OR_RETURN(std::vector<Precedence> backward, ComparePositions(line, order, b, a));
    bool certain = true, may_be_nan = false;
    for (size_t i = 0; i < a.size(); ++i) {
      const int64_t x = order[a[i]], y = order[b[i]];
      const Precedence &there = forward[i], &back = backward[i];
      certain = certain && there.certain && back.certain;
      if (there.certain && back.certain && back.plain) return false;
      const int64_t first = std::min(x, y), second = std::max(x, y);
      const Precedence& first_second = x < y ? there : back;
      const Precedence& second_first = x < y ? back : there;
      if (first_second.certain && first_second.plain) {
        ranges.Before(first, second);
      } else if (second_first.certain && second_first.plain) {
        ranges.Before(second, first);
      } else if (Stable() && second_first.certain) {
        ranges.Before(first, second);  // the second does not precede the first
      }
    }
    for (size_t k = 0; k < op_.operands.size(); ++k)
      for (int64_t at = 0; at < lines_.length; ++at)
        may_be_nan =
            may_be_nan || MayBeNan(op_.array(static_cast<int64_t>(k)), lines_.Element(line, at));
    if (may_be_nan && !recognised_.has_value() && ComparesFloatsPartially(comparator_) &&
        !FoldsNan())
      return false;
    if (!certain) return true;
    return !Violates(a, b, forward, lines_.length);
  }

  // True if the comparator looks for NaNs first, by comparing a value with itself.
  bool FoldsNan() const {
    for (const Instruction* instruction : comparator_) {
      if (instruction->opcode() == Opcode::kCompare &&
          instruction->operand(0) == instruction->operand(1))
        return true;
    }
    return false;
  }

  // A number for each position of a line, given whether positions a[i] precede positions b[i]:
  // neighbours that tie have the same.
  static IndexMap Ties(const IndexMap& a, const IndexMap& b, const std::vector<Precedence>& forward,
                       int64_t length) {
    IndexMap tie(length, 0);
    for (size_t i = 0; i < a.size(); ++i)
      if (b[i] == a[i] + 1) tie[b[i]] = forward[i].plain ? 1 : 0;
    std::partial_sum(tie.begin(), tie.end(), tie.begin());
    return tie;
  }

  // True if ties are not transitive.
  static bool Violates(const IndexMap& a, const IndexMap& b, const std::vector<Precedence>& forward,
                       int64_t length) {
    const IndexMap tie = Ties(a, b, forward, length);
    for (size_t i = 0; i < a.size(); ++i)
      if (forward[i].plain != (tie[a[i]] != tie[b[i]])) return true;
    return false;
  }

  Interpreter& interpreter_;
  const OpContext& op_;
  const Computation& comparator_;
  Lines lines_;
  std::optional<KeyOrder> recognised_;
  std::vector<int64_t> read_;     // operands that the comparator reads
  bool read_few_bits_ = false;    // ReadsFewBits, which all comparisons ask
  int64_t first_ = 0, last_ = 0;  // the lines at work
  IndexMap order_;
  std::vector<bool> suspect_;  // lines in which a comparison was uncertain
  std::vector<SortKey> keys_;  // with bounds, of a recognised comparator
  bool by_keys_ = false;       // keys alone give the plain order: no NaN is without a place
};

absl::StatusOr<Value> ApplySort(Interpreter& interpreter, const OpContext& op) {
  const int64_t elements = op.literal(0).element_count();
  ASSAY_RETURN_IF_ERROR(interpreter.budget().Take(elements + 1));
  for (int64_t need : {op.shape.ByteSize(), (interpreter.bounding() ? 96 : 24) * elements})
    ASSAY_RETURN_IF_ERROR(interpreter.memory().Check(need));
  return Sorter(interpreter, op).Run();
}

}  // namespace

absl::Span<const OpEvaluation> SortEvaluations() {
  static constexpr OpEvaluation kRows[] = {
      {.opcode = Opcode::kSort, .apply = ApplySort},
  };
  return kRows;
}

}  // namespace assay::reference
