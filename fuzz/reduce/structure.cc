// Steps that change what the entry computation computes.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/reduction.h"

namespace assay {
namespace {

constexpr int64_t kMaxConstantElements =
    64;  // a cut value larger than this only becomes a parameter

std::vector<Instruction*> StoredOrder(const Computation& computation) {
  return {computation.begin(), computation.end()};
}

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
  reduce_case.module->config().entry_layout.reset();
  reduce_case.module->config().input_output_alias.clear();
  std::vector<Shape> shapes;
  for (const Instruction* output : outputs) shapes.push_back(output->shape());
  Computation* entry = reduce_case.module->entry();
  entry->set_root(entry->Add(Opcode::kTuple, Shape::Tuple(shapes), outputs));
}

// A copy whose root tuple holds only the elements for which `keep` is set.
ReduceCase WithOutputs(const ReduceCase& best, const std::vector<bool>& keep) {
  ReduceCase c = best.Clone();
  std::vector<Instruction*> outputs;
  for (size_t i = 0; i < keep.size(); ++i) {
    if (keep[i]) outputs.push_back(c.module->entry()->root()->operand(i));
  }
  SetOutputs(c, outputs);
  return c;
}

bool IsTupleOp(const Instruction* at) { return at->opcode() == Opcode::kTuple; }

const Instruction* EntryRoot(const Reduction& reduction) {
  return reduction.best().module->entry()->root();
}

// Takes halves, quarters, ... of the result away, down to `least` outputs at once.
bool DropOutputsFrom(Reduction& reduction, int64_t least) {
  bool changed = false;
  if (!IsTupleOp(EntryRoot(reduction))) return false;
  const auto count = [&reduction] { return EntryRoot(reduction)->operand_count(); };
  for (int64_t chunk = count() / 2; chunk >= least; chunk /= 2) {
    for (int64_t at = 0; at < count() && count() > 1;) {
      std::vector<bool> keep(count(), true);
      std::fill_n(keep.begin() + at, std::min<int64_t>(chunk, keep.size() - at), false);
      if (reduction.Wants() && reduction.Try(WithOutputs(reduction.best(), keep), "drop outputs")) {
        changed = true;
      } else {
        at += chunk;
      }
    }
  }
  return changed;
}

// The value in place of what computes it.
bool TryValue(Reduction& reduction, const Instruction* at, const Literal& value, bool as_input) {
  if (!reduction.Wants()) return false;
  ReduceCase c = reduction.best().Clone();
  Instruction* target = Counterpart(*c.module, at);
  Instruction* leaf = as_input ? AddInput(c, value) : c.module->entry()->AddConstant(value);
  return Substitute(target, leaf) &&
         reduction.Try(std::move(c), as_input ? "value as parameter" : "value as constant");
}

// Any value of its shape will do for a leaf, an earlier leaf or something computed.
bool BecomesAnother(Reduction& reduction, const Instruction* leaf,
                    absl::Span<Instruction* const> order) {
  // Of a long program each leaf is tried with so many others.
  constexpr size_t kLong = 256;
  constexpr int kMostOthers = 16;
  int others = 0;
  bool is_behind = false;  // `at` comes after the leaf
  for (const Instruction* at : order) {
    is_behind |= at == leaf;
    if (at == leaf || !Compatible(leaf->shape(), at->shape())) continue;
    // A constant may be what is needed, whatever the other is.
    if (IsLeaf(at) && is_behind && at->literal() == nullptr) continue;
    if (order.size() > kLong && ++others > kMostOthers) return false;
    if (!reduction.Wants()) continue;
    ReduceCase c = reduction.best().Clone();
    Instruction* from = Counterpart(*c.module, leaf);
    if (Substitute(from, Counterpart(*c.module, at)) &&
        reduction.Try(std::move(c), "merge leaves")) {
      return true;
    }
  }
  return false;
}

// What could be the result in place of the root, operands first.
std::vector<const Instruction*> EarlierRoots(const Reduction& reduction) {
  std::vector<const Instruction*> roots;
  for (const Instruction* at : reduction.best().module->entry()->PostOrder()) {
    // A constant may be read wrong.
    const bool is_given = at->opcode() == Opcode::kParameter;
    if (at != EntryRoot(reduction) && at->shape().IsArray() && !is_given) roots.push_back(at);
  }
  return roots;
}

bool BecomesRoot(Reduction& reduction, const Instruction* at) {
  return reduction.Wants() && reduction.Try(WithRoot(reduction.best(), at), "earlier root");
}

// Half of what computes the root goes at once, or a quarter, ...: most failures that show at one
// value show at those behind it.
bool HalveBeforeRoot(Reduction& reduction, absl::Span<const Instruction* const> roots) {
  for (size_t first = 0; first < roots.size(); first += (roots.size() - first + 1) / 2) {
    if (BecomesRoot(reduction, roots[first + (roots.size() - first) / 2])) return true;
  }
  return false;
}

}  // namespace

bool DropHeader(Reduction& reduction) {
  ReduceCase c = reduction.best().Clone();
  const ModuleConfig& config = reduction.best().module->config();
  const bool has_devices = config.replica_count > 1 || config.num_partitions > 1;
  c.module->config() = ModuleConfig();
  StripAnnotations(*c.module);
  if (!has_devices) return reduction.Try(std::move(c), "drop the header");
  ReduceCase on_all = c.Clone();
  if (reduction.Try(std::move(c), "drop the header")) return true;
  on_all.module->config().replica_count = config.replica_count;
  on_all.module->config().num_partitions = config.num_partitions;
  return reduction.Try(std::move(on_all), "drop the header but its devices");
}

bool DropOutputs(Reduction& reduction) {
  // Of a gradient's hundreds most go at once.
  constexpr int64_t kMany = 16;
  const bool is_many =
      IsTupleOp(EntryRoot(reduction)) && EntryRoot(reduction)->operand_count() > kMany;
  const bool changed = is_many && DropOutputsFrom(reduction, kMany / 2);
  // One output alone, not even a tuple.
  for (int64_t i = 0; IsTupleOp(EntryRoot(reduction)) && i < EntryRoot(reduction)->operand_count();
       ++i) {
    if (!reduction.Wants()) continue;
    const Instruction* output = EntryRoot(reduction)->operand(i);
    if (reduction.Try(WithRoot(reduction.best(), output), "one output")) return true;
  }
  return DropOutputsFrom(reduction, 1) || changed;
}

// Nothing reads them, and they stay only because they are more than their value: draws of random
// numbers, collectives, custom calls.
bool DropEffects(Reduction& reduction) {
  bool changed = false;
  for (bool again = true; again;) {
    again = false;
    std::vector<const Instruction*> unread;
    for (const Computation* computation : reduction.best().module->computations()) {
      for (const Instruction* at : *computation) {
        const bool is_free = at->users().empty() && at->control_predecessors().empty() &&
                             at->control_successors().empty();
        if (is_free && at != computation->root() && at->opcode() != Opcode::kParameter)
          unread.push_back(at);
      }
    }
    for (size_t i = unread.size(); i-- > 0 && !again;) {
      if (!reduction.Wants()) continue;
      ReduceCase c = reduction.best().Clone();
      Instruction* at = Counterpart(*c.module, unread[i]);
      at->parent()->Remove(at);
      again = reduction.Try(std::move(c), "drop what nothing reads");
    }
    changed |= again;
  }
  return changed;
}

bool EarlierRoot(Reduction& reduction) {
  constexpr size_t kLong = 128;
  std::vector<const Instruction*> roots = EarlierRoots(reduction);
  bool changed = false;
  while (roots.size() > kLong && HalveBeforeRoot(reduction, roots)) {
    changed = true;
    roots = EarlierRoots(reduction);
  }
  return changed || (roots.size() <= kLong && AnyEarlierRoot(reduction));
}

bool AnyEarlierRoot(Reduction& reduction) {
  return absl::c_any_of(EarlierRoots(reduction),
                        [&reduction](const Instruction* at) { return BecomesRoot(reduction, at); });
}

bool WholeResult(Reduction& reduction) {
  const Instruction* root = reduction.best().module->entry()->root();
  if (root->opcode() == Opcode::kGetTupleElement)
    return reduction.Try(WithRoot(reduction.best(), root->operand(0)), "whole result");
  if (!IsTupleOp(root)) return false;
  for (const Instruction* element : root->operands()) {
    if (element->opcode() != Opcode::kGetTupleElement) continue;
    const Instruction* whole = element->operand(0);
    const auto is_of_it = [whole](const Instruction* output) {
      return output->opcode() == Opcode::kGetTupleElement && output->operand(0) == whole;
    };
    ReduceCase c = reduction.best().Clone();
    std::vector<Instruction*> outputs = {Counterpart(*c.module, whole)};
    for (const Instruction* output : root->operands()) {
      if (!is_of_it(output)) outputs.push_back(Counterpart(*c.module, output));
    }
    if (outputs.size() == 1) {
      c = WithRoot(reduction.best(), whole);
    } else {
      SetOutputs(c, outputs);
    }
    if (reduction.Try(std::move(c), "whole result")) return true;
  }
  return false;
}

bool OutputsByOperands(Reduction& reduction) {
  const Instruction* root = reduction.best().module->entry()->root();
  if (!IsTupleOp(root)) return false;
  for (int64_t i = 0; i < root->operand_count(); ++i) {
    const Instruction* output = root->operand(i);
    for (int64_t o = 0; o < output->operand_count(); ++o) {
      if (!output->operand(o)->shape().IsArray() || !reduction.Wants()) continue;
      ReduceCase c = reduction.best().Clone();
      const auto now = c.module->entry()->root()->operands();
      std::vector<Instruction*> outputs(now.begin(), now.end());
      outputs[i] = outputs[i]->operand(o);
      SetOutputs(c, outputs);
      if (reduction.Try(std::move(c), "operand as output")) return true;
    }
  }
  return false;
}

bool CutOperands(Reduction& reduction) {
  bool changed = false;
  for (int64_t i = reduction.best().module->entry()->instruction_count(); i-- > 0;) {
    std::vector<Instruction*> order = StoredOrder(*reduction.best().module->entry());
    i = std::min<int64_t>(i, static_cast<int64_t>(order.size()) - 1);
    const Instruction* at = order[i];
    if (IsLeaf(at) || at == reduction.best().module->entry()->root() || !at->shape().IsArray())
      continue;
    const std::vector<Literal>& values = reduction.Values();
    std::optional<Literal> value;
    if (at->id() < static_cast<int64_t>(values.size()) && values[at->id()].shape().IsValid()) {
      value = values[at->id()];
    } else if (at->shape().ElementCount() <= kDefaultLiteralLimit / 16) {
      value = Splat(at->shape(), 0);
    }
    if (!value) continue;
    value->set_layout(at->shape().layout());
    if (TryValue(reduction, at, *value, /*as_input=*/true)) {
      changed = true;
    } else if (value->element_count() <= kMaxConstantElements) {
      changed |= TryValue(reduction, at, *value, /*as_input=*/false);
    }
  }
  return changed;
}

bool ForwardTuples(Reduction& reduction) {
  auto forward = [](Computation* computation, int64_t only) {
    bool any = false;
    int64_t index = 0;
    for (Instruction* at : StoredOrder(*computation)) {
      if (at->opcode() != Opcode::kGetTupleElement || !IsTupleOp(at->operand(0))) continue;
      if (only >= 0 && index++ != only) continue;
      Instruction* element = at->operand(0)->operand(at->tuple_index());
      at->ReplaceAllUsesWith(element);
      any = true;
    }
    return any;
  };
  ReduceCase c = reduction.best().Clone();
  bool any = false;
  for (Computation* computation : c.module->computations()) any |= forward(computation, -1);
  if (!any) return false;
  if (reduction.Try(std::move(c), "forward tuples")) return true;
  for (int64_t i = 0;; ++i) {
    c = reduction.best().Clone();
    if (!forward(c.module->entry(), i)) return false;
    if (reduction.Try(std::move(c), "forward a tuple element")) return true;
  }
}

bool ReplaceByOperand(Reduction& reduction) {
  bool changed = false;
  size_t computations = reduction.best().module->computations().size();
  for (size_t k = 0; k < computations && k < reduction.best().module->computations().size(); ++k) {
    auto computation = [&] { return reduction.best().module->computations()[k]; };
    for (int64_t i = computation()->instruction_count(); i-- > 0;) {
      if (k >= reduction.best().module->computations().size()) break;
      std::vector<Instruction*> order = StoredOrder(*computation());
      i = std::min<int64_t>(i, static_cast<int64_t>(order.size()) - 1);
      const Instruction* at = order[i];
      for (int64_t o = 0; o < at->operand_count(); ++o) {
        if (!Compatible(at->shape(), at->operand(o)->shape()) || !reduction.Wants()) continue;
        ReduceCase c = reduction.best().Clone();
        Instruction* target = Counterpart(*c.module, at);
        if (!Substitute(target, target->operand(o))) continue;
        if (reduction.Try(std::move(c), "replace by operand")) {
          changed = true;
          break;
        }
      }
    }
  }
  return changed;
}

// For failures that need some computed value, whichever: what else it was made of goes away.
bool PlainerOperation(Reduction& reduction) {
  bool changed = false;
  for (size_t k = 0; k < reduction.best().module->computations().size(); ++k) {
    for (int64_t i = 0; k < reduction.best().module->computations().size(); ++i) {
      const Computation* computation = reduction.best().module->computations()[k];
      if (i >= computation->instruction_count() || reduction.Expired()) break;
      const Instruction* at = *std::next(computation->begin(), i);
      ElementType type = at->shape().element_type();
      bool number = IsInteger(type) || IsFloat(type);
      if (IsLeaf(at) || at->operand_count() < 2 || !(number || IsPred(type))) continue;
      for (int64_t o = 0; o < at->operand_count(); ++o) {
        if (!(at->operand(o)->shape() == at->shape()) || !reduction.Wants()) continue;
        ReduceCase c = reduction.best().Clone();
        Instruction* target = Counterpart(*c.module, at);
        Instruction* plain = target->parent()->Add(number ? Opcode::kNegate : Opcode::kNot,
                                                   target->shape(), {target->operand(o)});
        if (Substitute(target, plain) && reduction.Try(std::move(c), "plainer operation")) {
          changed = true;
          break;
        }
      }
    }
  }
  return changed;
}

bool MergeLeaves(Reduction& reduction) {
  bool changed = false;
  for (size_t k = 0; k < reduction.best().module->computations().size(); ++k) {
    bool merged = true;
    while (merged && k < reduction.best().module->computations().size()) {
      const std::vector<Instruction*> order =
          StoredOrder(*reduction.best().module->computations()[k]);
      merged = absl::c_any_of(order, [&](const Instruction* leaf) {
        return IsLeaf(leaf) && BecomesAnother(reduction, leaf, order);
      });
      changed |= merged;
    }
  }
  return changed;
}

}  // namespace assay
