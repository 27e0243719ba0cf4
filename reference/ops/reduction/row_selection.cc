// A row may come out of some order if it reaches all others by rows that beat the next: the row
// that came out does, and so do those that beat it, and those that beat these.
#include "reference/ops/reduction/row_selection.h"

#include <algorithm>
#include <cstring>

#include "reference/bounds/copy_elements.h"
#include "reference/bounds/elements.h"
#include "reference/interpreter/element_computation.h"
#include "reference/values/row_choice.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::reference {
namespace {

// Pairs of rows that one call of the combiner compares at most.
constexpr size_t kMostPairs = size_t{1} << 16;

// Rows of the results of one fold, and which of them may come out of each.
class RowSelection {
 public:
  RowSelection(Interpreter& interpreter, const FoldCall& call, const FoldedRows& rows,
               std::vector<Array>& results)
      : interpreter_(interpreter),
        call_(call),
        rows_(rows),
        results_(results),
        size_(static_cast<int64_t>(rows.results.size())) {}

  // True if all rows have one value each. Sums of rounded numbers are described elsewhere.
  bool IsCertain() const {
    auto certain = [](const Value& value) { return value.array->Certain(); };
    return std::all_of(rows_.init.begin(), rows_.init.end(), certain) &&
           std::all_of(rows_.terms.begin(), rows_.terms.end(), [&](const auto& term) {
             return std::all_of(term.begin(), term.end(), certain);
           });
  }

  absl::Status Run() {
    Stack();
    ASSAY_RETURN_IF_ERROR(FindWinners());
    while (!open_.empty()) {
      ASSAY_RETURN_IF_ERROR(FindMore());
    }
    Describe();
    return absl::OkStatus();
  }

 private:
  // Row r of result c is element r * size_ + c of the stacked arrays; the row that came out is the
  // last.
  int64_t RowCount() const { return static_cast<int64_t>(rows_.terms.size()) + 1; }
  int64_t At(int64_t row, int64_t result) const { return row * size_ + result; }

  void Stack() {
    for (size_t n = 0; n < results_.size(); ++n) {
      const ElementType type = results_[n].literal.element_type();
      Array& all = stacked_.emplace_back(Literal(Shape::Array(type, {(RowCount() + 1) * size_})));
      CopyElements(*rows_.init[n].array, 0, all, 0, size_);
      for (size_t k = 0; k < rows_.terms.size(); ++k)
        CopyElements(*rows_.terms[k][n].array, 0, all, At(static_cast<int64_t>(k) + 1, 0), size_);
      const size_t width = StorageBytes(type);
      for (int64_t c = 0; c < size_; ++c)
        std::memcpy(all.literal.bytes().data() + At(RowCount(), c) * width,
                    results_[n].literal.bytes().data() + rows_.results[c] * width, width);
    }
    winners_.resize(static_cast<size_t>(size_));
    too_many_.resize(static_cast<size_t>(size_));
  }

  bool IsSameRow(int64_t a, int64_t b) const {
    return std::all_of(stacked_.begin(), stacked_.end(), [&](const Array& all) {
      return CodeOf(all.literal, a) == CodeOf(all.literal, b);
    });
  }

  struct Pair {
    int64_t winner, challenger;  // elements of the stacked arrays
  };

  // Notes the challengers that beat their winner on one side or the other.
  absl::Status Challenge(const std::vector<Pair>& pairs) {
    IndexMap winners, challengers;
    for (const Pair& pair : pairs) {
      winners.push_back(pair.winner);
      challengers.push_back(pair.challenger);
    }
    std::vector<Value> one, other;
    for (const Array& all : stacked_) {
      one.push_back(PickElements(all, winners, interpreter_.memory()));
      other.push_back(PickElements(all, challengers, interpreter_.memory()));
    }
    for (int turn = 0; turn < 2; ++turn) {
      std::vector<Value> arguments = turn == 0 ? one : other;
      const std::vector<Value>& last = turn == 0 ? other : one;
      arguments.insert(arguments.end(), last.begin(), last.end());
      ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> outcome,
                             ApplyToElements(interpreter_, call_.combiner, arguments,
                                             {static_cast<int64_t>(pairs.size())}));
      for (size_t i = 0; i < pairs.size(); ++i)
        if (!IsRow(outcome, static_cast<int64_t>(i), pairs[i].winner)) Add(pairs[i].challenger);
    }
    return absl::OkStatus();
  }

  // True if outcome i is surely that row.
  bool IsRow(const std::vector<Value>& outcome, int64_t i, int64_t row) const {
    for (size_t n = 0; n < stacked_.size(); ++n) {
      const Array& one = *outcome[n].array;
      if (!HasKnownCode(one, i, true) ||
          !(CodeOf(one.literal, i) == CodeOf(stacked_[n].literal, row)))
        return false;
    }
    return true;
  }

  // Row `at` may come out as well.
  void Add(int64_t at) {
    const int64_t c = at % size_;
    IndexMap& winners = winners_[static_cast<size_t>(c)];
    if (too_many_[static_cast<size_t>(c)] || IsSameRow(at, At(RowCount(), c))) return;
    for (int64_t known : winners)
      if (IsSameRow(known, at)) return;
    if (winners.size() + 1 == kMaxTies) {
      too_many_[static_cast<size_t>(c)] = true;
      return;
    }
    winners.push_back(at);
    found_.push_back(at);
  }

  // Lets every row of its result challenge each of the rows `winners`.
  absl::Status ChallengeAll(const IndexMap& winners) {
    std::vector<Pair> pairs;
    for (int64_t winner : winners) {
      for (int64_t row = 0; row < RowCount(); ++row) {
        pairs.push_back({winner, At(row, winner % size_)});
        if (pairs.size() < kMostPairs) continue;
        ASSAY_RETURN_IF_ERROR(Challenge(pairs));
        pairs.clear();
      }
    }
    if (!pairs.empty()) ASSAY_RETURN_IF_ERROR(Challenge(pairs));
    open_ = std::move(found_);
    found_.clear();
    return absl::OkStatus();
  }

  absl::Status FindWinners() {
    IndexMap winners;
    for (int64_t c = 0; c < size_; ++c)
      if (IsOpen(c)) winners.push_back(At(RowCount(), c));
    return ChallengeAll(winners);
  }

  absl::Status FindMore() {
    const IndexMap winners = std::move(open_);
    return ChallengeAll(winners);
  }

  // Under strict rules terms keep their places, and orders agree on most results.
  bool IsOpen(int64_t c) const {
    if (call_.rules.any_order || interpreter_.analysis().is_xla) return true;
    return std::any_of(results_.begin(), results_.end(), [&](const Array& result) {
      return !HasKnownCode(result, rows_.results[c], true);
    });
  }

  void Describe() {
    const auto columns = static_cast<int64_t>(results_.size());
    std::vector<const Array*> arrays;
    for (const Array& all : stacked_) arrays.push_back(&all);
    for (int64_t c = 0; c < size_; ++c) {
      const int64_t to = rows_.results[c];
      const IndexMap& others = winners_[static_cast<size_t>(c)];
      if (too_many_[static_cast<size_t>(c)]) {
        for (Array& result : results_) SetUndecided(result, to);
        continue;
      }
      if (others.empty()) continue;
      RowChoice choice(columns, 1);
      choice.AddRow(arrays, At(RowCount(), c), 0, 0);
      for (int64_t at : others) choice.AddRow(arrays, at, 0, 0);
      const auto joint = JointOf(StrCat("the row that ", call_.op.instruction.name(), " selects"),
                                 std::move(choice));
      for (int64_t n = 0; n < columns; ++n) {
        Array& result = results_[static_cast<size_t>(n)];
        MoveBound(*arrays[static_cast<size_t>(n)], At(RowCount(), c), result, to);
        for (int64_t at : others) HullWith(*arrays[static_cast<size_t>(n)], at, result, to);
        if (columns > 1 && !HasKnownCode(result, to, true)) SetJoint(result, to, joint, n);
      }
    }
  }

  Interpreter& interpreter_;
  const FoldCall& call_;
  const FoldedRows& rows_;
  std::vector<Array>& results_;
  const int64_t size_;
  std::vector<Array> stacked_;     // by column
  std::vector<IndexMap> winners_;  // by result: the rows beside the one that came out
  std::vector<bool> too_many_;
  IndexMap found_, open_;
};

}  // namespace

bool SelectsRows(const Computation& combiner) {
  const Instruction& root = *combiner.root();
  const int64_t n = combiner.parameter_count() / 2;
  if (n > 1 && root.opcode() != Opcode::kTuple) return false;
  const Instruction* predicate = nullptr;
  bool first_if_true = false;
  for (int64_t k = 0; k < n; ++k) {
    const Instruction& choice = n == 1 ? root : *root.operand(k);
    if (choice.opcode() != Opcode::kSelect) return false;
    const Instruction *first = combiner.parameter(k), *second = combiner.parameter(n + k);
    const bool straight = choice.operand(1) == first && choice.operand(2) == second;
    if (!straight && !(choice.operand(1) == second && choice.operand(2) == first)) return false;
    if (k > 0 && (choice.operand(0) != predicate || straight != first_if_true)) return false;
    predicate = choice.operand(0);
    first_if_true = straight;
  }
  return n > 0;
}

absl::Status BoundSelectedRows(Interpreter& interpreter, const FoldCall& call,
                               const FoldedRows& rows, std::vector<Array>& results) {
  const bool is_free = call.rules.any_order || interpreter.clauses().Has(ClauseId::kReassociation);
  if (!is_free || rows.terms.size() < 2) return absl::OkStatus();
  RowSelection selection(interpreter, call, rows, results);
  if (!selection.IsCertain()) return absl::OkStatus();
  return selection.Run();
}

}  // namespace assay::reference
