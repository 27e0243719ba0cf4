// Edits of a module that keep it well formed.
#include "fuzz/reduce/edit.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace assay {

Computation* Counterpart(const Module& clone, const Computation* original) {
  const Module* module = original->parent();
  for (size_t i = 0; i < module->computations().size(); ++i) {
    if (module->computations()[i] == original) return clone.computations()[i];
  }
  return nullptr;
}

Instruction* Counterpart(const Module& clone, const Instruction* original) {
  Computation* computation = Counterpart(clone, original->parent());
  auto there = computation->begin();
  for (Instruction* at : *original->parent()) {
    if (at == original) return *there;
    ++there;
  }
  return nullptr;
}

Counterparts::Counterparts(const Module& clone, const Module& original) {
  for (size_t i = 0; i < original.computations().size(); ++i) {
    auto there = clone.computations()[i]->begin();
    for (const Instruction* at : *original.computations()[i]) {
      there_[at] = *there;
      ++there;
    }
  }
}

std::vector<const Instruction*> LastFirst(const Module& module) {
  std::vector<const Instruction*> all;
  for (const Computation* computation : module.computations()) {
    const std::vector<const Instruction*> order(computation->begin(), computation->end());
    all.insert(all.end(), order.rbegin(), order.rend());
  }
  return all;
}

bool IsLeaf(const Instruction* instruction) {
  return instruction->opcode() == Opcode::kParameter || instruction->opcode() == Opcode::kConstant;
}

Instruction* AddInput(ReduceCase& reduce_case, Literal value) {
  Computation* entry = reduce_case.module->entry();
  Instruction* parameter = entry->AddParameter(entry->parameter_count(), value.shape());
  reduce_case.inputs.push_back(std::move(value));
  return parameter;
}

namespace {

bool DependsOn(const Instruction* user, const Instruction* on) {
  absl::flat_hash_set<const Instruction*> seen;
  std::vector<const Instruction*> stack = {user};
  while (!stack.empty()) {
    const Instruction* at = stack.back();
    stack.pop_back();
    if (at == on) return true;
    if (!seen.insert(at).second) continue;
    stack.insert(stack.end(), at->operands().begin(), at->operands().end());
  }
  return false;
}

void RemoveDead(Computation* computation, const absl::flat_hash_set<std::string>& needed) {
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<Instruction*> order = computation->PostOrder();
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      if (!(*at)->IsDead() || needed.contains((*at)->name())) continue;
      computation->Remove(*at);
      changed = true;
    }
  }
}

// Parameters by number, then the rest with operands first.
void Sort(Computation* computation) {
  std::vector<Instruction*> order;
  for (Instruction* parameter : computation->parameters()) {
    if (parameter != nullptr) order.push_back(parameter);
  }
  for (Instruction* at : computation->PostOrder()) {
    if (at->opcode() != Opcode::kParameter) order.push_back(at);
  }
  for (size_t i = order.size(); i-- > 0;) {
    Instruction* first = *computation->begin();
    if (order[i] != first) computation->MoveBefore(order[i], first);
  }
}

}  // namespace

bool Substitute(Instruction* from, Instruction* with) {
  if (from == with || DependsOn(with, from)) return false;
  from->ReplaceAllUsesWith(with);
  if (from->IsDead()) from->parent()->RemoveWithDeadOperands(from);
  return true;
}

absl::flat_hash_set<std::string> DeadInstructions(const Module& module) {
  absl::flat_hash_set<std::string> names;
  for (const Computation* computation : module.computations()) {
    for (const Instruction* at : *computation) {
      if (at->IsDead()) names.insert(std::string(at->name()));
    }
  }
  return names;
}

void RemoveUnused(ReduceCase& reduce_case, const absl::flat_hash_set<std::string>& needed) {
  for (Computation* computation : reduce_case.module->computations())
    RemoveDead(computation, needed);
  reduce_case.module->RemoveUnusedComputations().IgnoreError();
  Computation* entry = reduce_case.module->entry();
  for (int64_t i = entry->parameter_count(); i-- > 0;) {
    Instruction* parameter = entry->parameter(i);
    if (parameter == nullptr || !parameter->users().empty() || parameter == entry->root()) continue;
    entry->RemoveParameter(i);
    if (i < static_cast<int64_t>(reduce_case.inputs.size()))
      reduce_case.inputs.erase(reduce_case.inputs.begin() + i);
  }
  for (Computation* computation : reduce_case.module->computations()) Sort(computation);
}

void ForgetResultLayout(Module& module) {
  module.config().entry_layout.reset();
  module.config().input_output_alias.clear();
}

ReduceCase WithRoot(const ReduceCase& whole, const Instruction* root) {
  ReduceCase part = whole.Clone();
  ForgetResultLayout(*part.module);
  part.module->entry()->set_root(Counterpart(*part.module, root));
  return part;
}

std::optional<ReduceCase> WithOneOutput(const ReduceCase& whole, int64_t leaf) {
  const Instruction* root = whole.module->entry()->root();
  const bool is_one_of_many = root->opcode() == Opcode::kTuple && root->operand_count() > 1 &&
                              leaf >= 0 && leaf < root->operand_count();
  if (!is_one_of_many) return std::nullopt;
  for (const Instruction* output : root->operands()) {
    if (!output->shape().IsArray()) return std::nullopt;  // leaves have other numbers than operands
  }
  ReduceCase part = WithRoot(whole, root->operand(leaf));
  RemoveUnused(part);
  return part;
}

Exposed WithAllArrays(const Module& module, bool with_leaves) {
  Exposed exposed{module.Clone(""), {}};
  absl::flat_hash_map<const Instruction*, Instruction*> copies;
  auto there = exposed.module->entry()->begin();
  for (const Instruction* at : *module.entry()) {
    copies[at] = *there;
    ++there;
  }
  std::vector<Instruction*> outputs;
  std::vector<Shape> shapes;
  for (const Instruction* at : module.entry()->PostOrder()) {
    const bool is_array = at->shape().IsArray() && !at->shape().HasDynamicDimension();
    if (!is_array || (IsLeaf(at) && !with_leaves)) continue;
    exposed.arrays.push_back(at);
    outputs.push_back(copies[at]);
    shapes.push_back(at->shape());
  }
  Computation* entry = exposed.module->entry();
  exposed.module->config() = ModuleConfig();
  entry->set_root(entry->Add(Opcode::kTuple, Shape::Tuple(shapes), outputs));
  return exposed;
}

Literal ElementsOf(const Literal& literal, const Shape& shape, const PlaceFunction& place) {
  Literal result(shape);
  if (result.element_count() == 0 || literal.element_count() == 0) return result;
  const DimVector strides = RowMajorStrides(literal.shape().dimensions());
  const int64_t width = StorageBytes(shape.element_type());
  std::vector<int64_t> index(shape.rank(), 0), source(literal.shape().rank(), 0);
  int64_t at = 0;
  do {
    place(index, source);
    std::memcpy(result.bytes().data() + at++ * width,
                literal.bytes().data() + LinearIndex(strides, source) * width, width);
  } while (NextIndex(shape.dimensions(), absl::MakeSpan(index)));
  return result;
}

Literal Splat(const Shape& shape, int64_t value) {
  Literal literal(shape);
  for (int64_t i = 0; i < literal.element_count() && value != 0; ++i) {
    if (IsFloat(shape.element_type())) {
      literal.SetDouble(i, static_cast<double>(value));
    } else {
      literal.SetInteger(i, value);
    }
  }
  return literal;
}

}  // namespace assay
