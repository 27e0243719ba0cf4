// Steps that change what the entry computation computes.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/resize.h"
#include "fuzz/reduce/steps.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

void StripAnnotations(Module& module) {
  for (Computation* computation : module.computations()) {
    for (Instruction* at : *computation) {
      for (Attr attr :
           {Attr::kSharding, Attr::kFrontendAttributes, Attr::kMetadata, Attr::kStatistics,
            Attr::kResultAccuracy, Attr::kOrigin, Attr::kBackendConfig}) {
        at->mutable_attributes().Remove(attr);
      }
    }
  }
}

// The root becomes a tuple of these.
void SetOutputs(ReduceCase& reduce_case, absl::Span<Instruction* const> outputs) {
  ForgetResultLayout(*reduce_case.module);
  std::vector<Shape> shapes;
  for (const Instruction* output : outputs) shapes.push_back(output->shape());
  Computation* entry = reduce_case.module->entry();
  entry->set_root(entry->Add(Opcode::kTuple, Shape::Tuple(shapes), outputs));
}

bool IsTupleOp(const Instruction* at) { return at->opcode() == Opcode::kTuple; }

std::vector<Instruction*> Outputs(const ReduceCase& reduce_case) {
  const auto operands = reduce_case.module->entry()->root()->operands();
  return {operands.begin(), operands.end()};
}

// Takes chunks of the result away, of `most` outputs, half of that and so on down to `least`.
void DropChunks(Candidates& to, int64_t most, int64_t least) {
  const int64_t count = to.entry().root()->operand_count();
  for (int64_t chunk = most; chunk >= least && chunk > 0; chunk /= 2) {
    for (int64_t at = 0; at < count; at += chunk) {
      to.Offer([&](ReduceCase& c) {
        std::vector<Instruction*> outputs = Outputs(c);
        const auto first = outputs.begin() + at;
        outputs.erase(first, first + std::min(chunk, count - at));
        SetOutputs(c, outputs);
        return !outputs.empty();
      });
    }
  }
}

// The values that could be the result in place of the root, operands first.
std::vector<const Instruction*> EarlierRoots(const Computation& entry) {
  std::vector<const Instruction*> roots;
  for (const Instruction* at : entry.PostOrder()) {
    // A constant may be read wrong.
    const bool is_given = at->opcode() == Opcode::kParameter;
    if (at != entry.root() && at->shape().IsArray() && !is_given) roots.push_back(at);
  }
  return roots;
}

bool ForwardElement(Instruction* at) {
  if (at->opcode() != Opcode::kGetTupleElement || !IsTupleOp(at->operand(0))) return false;
  at->ReplaceAllUsesWith(at->operand(0)->operand(at->tuple_index()));
  return true;
}

bool IsUnread(const Instruction* at) {
  return at->users().empty() && at->control_predecessors().empty() &&
         at->control_successors().empty() && at != at->parent()->root() &&
         at->opcode() != Opcode::kParameter;
}

// Removes what nothing reads with its operands that nothing else reads, whatever their effects.
void RemoveWithUnread(Instruction* unread) {
  std::vector<Instruction*> stack = {unread};
  while (!stack.empty()) {
    Instruction* at = stack.back();
    stack.pop_back();
    const absl::flat_hash_set<Instruction*> operands(at->operands().begin(), at->operands().end());
    at->parent()->Remove(at);
    absl::c_copy_if(operands, std::back_inserter(stack), IsUnread);
  }
}

// The value of `at` where it is known, else zeros; none of what is large.
std::optional<Literal> SomeValue(Candidates& to, const Instruction* at) {
  std::optional<Literal> value;
  if (const Literal* known = to.ValueOf(at)) {
    value = *known;
  } else if (at->shape().ElementCount() <= kDefaultLiteralLimit / 16) {
    value = Splat(at->shape(), 0);
  }
  if (value.has_value()) value->set_layout(at->shape().layout());
  return value;
}

// The sizes that `leaf`, and all that has to change with it, would have if it were as large as
// `value`; none if it is already, or cannot be.
SizeByClass SizesToFit(const Equivalence& sizes, const Instruction* leaf,
                       const Instruction* value) {
  SizeByClass wanted;
  const Shape &from = leaf->shape(), &to = value->shape();
  if (!from.IsArray() || !to.IsArray() || from.rank() != to.rank()) return {};
  if (from.element_type() != to.element_type()) return {};
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (from.dimension(d) == to.dimension(d)) continue;
    if (!wanted.try_emplace(sizes.ClassOf(leaf, 0, d), to.dimension(d)).second) return {};
  }
  return wanted;
}

// The leaf takes the sizes of the value, and the value its place.
void OfferFitted(Candidates& to, const Instruction* leaf, const Instruction* value) {
  SizeByClass wanted = SizesToFit(to.Links(LinkKind::kSizes), leaf, value);
  if (wanted.empty()) return;
  to.Offer([&]() -> std::optional<ReduceCase> {
    std::optional<ReduceCase> c = Resize(to.best(), to.Links(LinkKind::kSizes), std::move(wanted));
    if (!c.has_value()) return std::nullopt;
    Instruction* fitted = Counterpart(*c->module, leaf);
    Instruction* with = Counterpart(*c->module, value);
    if (!Compatible(fitted->shape(), with->shape()) || !Substitute(fitted, with))
      return std::nullopt;
    return c;
  });
}

void OfferOthers(Candidates& to, const Instruction* leaf) {
  // In a long program each leaf is tried with so many others, all of them of its own sizes.
  constexpr int64_t kLong = 256, kMostOfFitted = 16;
  constexpr int kMostOthers = 16;
  const int64_t length = leaf->parent()->instruction_count();
  const bool may_fit = leaf->parent() == &to.entry() && length <= kMostOfFitted;
  int others = 0;
  bool is_behind = false;  // `at` comes after the leaf
  for (const Instruction* at : *leaf->parent()) {
    is_behind |= at == leaf;
    if (at == leaf) continue;
    if (!Compatible(leaf->shape(), at->shape())) {
      if (may_fit) OfferFitted(to, leaf, at);
      continue;
    }
    // A constant may be what is needed, whatever the other is.
    if (IsLeaf(at) && is_behind && at->literal() == nullptr) continue;
    if (length > kLong && ++others > kMostOthers) return;
    to.Offer(leaf, [&](ReduceCase& c, Instruction* from) {
      return Substitute(from, Counterpart(*c.module, at));
    });
  }
}

}  // namespace

void DropHeader(Candidates& to) {
  const ModuleConfig& config = to.module().config();
  const auto drop = [](ReduceCase& c) {
    c.module->config() = ModuleConfig();
    StripAnnotations(*c.module);
    return true;
  };
  to.Offer(drop);
  if (config.replica_count <= 1 && config.num_partitions <= 1) return;
  to.Offer([&](ReduceCase& c) {
    drop(c);
    c.module->config().replica_count = config.replica_count;
    c.module->config().num_partitions = config.num_partitions;
    return true;
  });
}

void DropOutputs(Candidates& to) {
  const Instruction* root = to.entry().root();
  if (!IsTupleOp(root)) return;
  // Most of a gradient's hundreds go at once.
  constexpr int64_t kMany = 16;
  const int64_t count = root->operand_count();
  if (count > kMany) DropChunks(to, count / 2, kMany / 2);
  for (const Instruction* output : root->operands())
    to.Offer([&] { return std::optional(WithRoot(to.best(), output)); });
  DropChunks(to, count > kMany ? kMany / 4 : count / 2, 1);
}

// Nothing reads these, and they stay only because they do more than give a value: draws of random
// numbers, collectives, custom calls. The end of an asynchronous op goes with its beginning.
void DropEffects(Candidates& to) {
  for (const Instruction* at : LastFirst(to.module())) {
    if (!IsUnread(at)) continue;
    to.Offer(at, [](ReduceCase&, Instruction* unread) {
      RemoveWithUnread(unread);
      return true;
    });
    to.Offer(at, [](ReduceCase&, Instruction* unread) {
      unread->parent()->Remove(unread);
      return true;
    });
  }
}

void EarlierRoot(Candidates& to) {
  const std::vector<const Instruction*> roots = EarlierRoots(to.entry());
  const Instruction* root = to.entry().root();
  const auto offer = [&](const Instruction* at) {
    to.Offer([&] { return std::optional(WithRoot(to.best(), at)); });
    // An op with an effect stays though nobody reads it, and the program is no smaller.
    if (!Info(root->opcode()).Is(kSideEffect)) return;
    to.Offer([&]() -> std::optional<ReduceCase> {
      ReduceCase part = WithRoot(to.best(), at);
      Instruction* unread = Counterpart(*part.module, root);
      if (!IsUnread(unread)) return std::nullopt;
      RemoveWithUnread(unread);
      return part;
    });
  };
  // Half of what computes the root goes at once, or a quarter, ...: most failures that show at one
  // value show at those behind it.
  for (size_t first = 0; first < roots.size(); first += (roots.size() - first + 1) / 2)
    offer(roots[first + (roots.size() - first) / 2]);
  constexpr size_t kFew = 128;
  if (roots.size() <= kFew) absl::c_for_each(roots, offer);
}

void OutputsByOperands(Candidates& to) {
  const Instruction* root = to.entry().root();
  if (!IsTupleOp(root)) return;
  for (int64_t i = 0; i < root->operand_count(); ++i) {
    for (int64_t o = 0; o < root->operand(i)->operand_count(); ++o) {
      if (!root->operand(i)->operand(o)->shape().IsArray()) continue;
      to.Offer([i, o](ReduceCase& c) {
        std::vector<Instruction*> outputs = Outputs(c);
        outputs[i] = outputs[i]->operand(o);
        SetOutputs(c, outputs);
        return true;
      });
    }
  }
}

void WholeResult(Candidates& to) {
  const Instruction* root = to.entry().root();
  const auto offer = [&](const Instruction* element) {
    if (element->opcode() != Opcode::kGetTupleElement) return;
    const Instruction* whole = element->operand(0);
    to.Offer([&](ReduceCase& c) {
      std::vector<Instruction*> outputs = {Counterpart(*c.module, whole)};
      for (Instruction* output : Outputs(c)) {
        const bool is_element =
            output->opcode() == Opcode::kGetTupleElement && output->operand(0) == outputs[0];
        if (IsTupleOp(root) && !is_element) outputs.push_back(output);
      }
      SetOutputs(c, outputs);
      if (outputs.size() == 1) c.module->entry()->set_root(outputs[0]);
      return true;
    });
  };
  offer(root);
  if (IsTupleOp(root)) absl::c_for_each(root->operands(), offer);
}

void CutOperands(Candidates& to) {
  constexpr int64_t kMostOfConstant = 64;  // elements; larger values only become parameters
  for (const Instruction* at : LastFirst(to.module())) {
    const bool is_entry = at->parent() == &to.entry();
    if (!is_entry || IsLeaf(at) || at == to.entry().root() || !at->shape().IsArray()) continue;
    to.Offer(at, [&](ReduceCase& c, Instruction* computed) {
      std::optional<Literal> value = SomeValue(to, at);
      return value.has_value() && Substitute(computed, AddInput(c, *std::move(value)));
    });
    if (at->shape().ElementCount() > kMostOfConstant) continue;
    to.Offer(at, [&](ReduceCase&, Instruction* computed) {
      std::optional<Literal> value = SomeValue(to, at);
      return value.has_value() &&
             Substitute(computed, computed->parent()->AddConstant(*std::move(value)));
    });
  }
}

void ForwardTuples(Candidates& to) {
  to.Offer([](ReduceCase& c) {
    bool any = false;
    for (Computation* computation : c.module->computations()) {
      for (Instruction* at : *computation) any |= ForwardElement(at);
    }
    return any;
  });
  for (const Instruction* at : LastFirst(to.module())) {
    if (at->opcode() != Opcode::kGetTupleElement) continue;
    to.Offer(at, [](ReduceCase&, Instruction* element) { return ForwardElement(element); });
  }
}

void ReplaceByOperand(Candidates& to) {
  for (const Instruction* at : LastFirst(to.module())) {
    for (int64_t o = 0; o < at->operand_count(); ++o) {
      if (!Compatible(at->shape(), at->operand(o)->shape())) continue;
      to.Offer(at, [o](ReduceCase&, Instruction* target) {
        return Substitute(target, target->operand(o));
      });
    }
  }
}

void MergeLeaves(Candidates& to) {
  for (const Instruction* leaf : LastFirst(to.module())) {
    if (IsLeaf(leaf) && !to.IsOver()) OfferOthers(to, leaf);
  }
}

}  // namespace assay
