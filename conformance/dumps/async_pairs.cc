// An end leads back to its start through the updates between.
#include "conformance/dumps/async_pairs.h"

#include <optional>
#include <string>

#include "spec/verifier/verifier.h"

namespace assay {
namespace {

// The plain op that the end stands for.
std::optional<Opcode> PlainOf(Opcode end) {
  switch (end) {
    case Opcode::kCopyDone:
      return Opcode::kCopy;
    case Opcode::kAsyncDone:
      return Opcode::kCall;
    case Opcode::kAllReduceDone:
      return Opcode::kAllReduce;
    case Opcode::kAllGatherDone:
      return Opcode::kAllGather;
    case Opcode::kCollectivePermuteDone:
      return Opcode::kCollectivePermute;
    default:
      return std::nullopt;
  }
}

// The start of the pair; nullptr if it is elsewhere, or something else reads it.
Instruction* StartOf(const Instruction& end) {
  if (end.operand_count() != 1) return nullptr;
  Instruction* start = end.operand(0);
  while (start->opcode() == Opcode::kAsyncUpdate && start->users().size() == 1)
    start = start->operand(0);
  const bool is_whole = IsUnderWay(start->opcode()) && start->opcode() != Opcode::kAsyncUpdate &&
                        start->users().size() == 1;
  return is_whole ? start : nullptr;
}

Instruction* AddPlain(Computation* unit, Opcode opcode, const Shape& shape,
                      const Instruction& start, const std::string& name) {
  Attributes attributes;
  // An asynchronous call has attributes of its own, a collective those of the plain one.
  if (opcode == Opcode::kAllReduce || opcode == Opcode::kAllGather ||
      opcode == Opcode::kCollectivePermute)
    attributes = start.attributes();
  if (const std::string& metadata = start.attributes().String(Attr::kMetadata); !metadata.empty())
    attributes.Set(Attr::kMetadata, metadata);
  return unit->Add(opcode, shape, start.operands(), std::move(attributes), start.callees(), name);
}

void Join(Instruction* end, Instruction* start) {
  Computation* unit = end->parent();
  const std::string name = end->name();
  const Shape shape = end->shape();
  const Opcode opcode = *PlainOf(end->opcode());
  // Names are unique: the end gives its own away first.
  Instruction* for_now = AddPlain(unit, opcode, shape, *start, "");
  Instruction* update = end->operand(0);
  end->ReplaceAllUsesWith(for_now);
  unit->Remove(end);
  Instruction* plain = AddPlain(unit, opcode, shape, *start, name);
  for_now->ReplaceAllUsesWith(plain);
  unit->Remove(for_now);
  while (update != start) {
    Instruction* before = update->operand(0);
    unit->Remove(update);
    update = before;
  }
  unit->Remove(start);
}

}  // namespace

bool IsUnderWay(Opcode opcode) {
  switch (opcode) {
    case Opcode::kCopyStart:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kAllReduceStart:
    case Opcode::kAllGatherStart:
    case Opcode::kCollectivePermuteStart:
    case Opcode::kSend:
    case Opcode::kRecv:
      return true;
    default:
      return false;
  }
}

std::unique_ptr<Module> WithoutAsyncPairs(const Module& module) {
  const auto is_end = [](const Instruction& each) {
    return PlainOf(each.opcode()).has_value() && StartOf(each) != nullptr;
  };
  bool has_pairs = false;
  for (const Computation* computation : module.computations())
    for (const Instruction* each : *computation) has_pairs = has_pairs || is_end(*each);
  if (!has_pairs) return nullptr;
  std::unique_ptr<Module> joined = module.Clone("");
  joined->config().is_scheduled = false;
  for (Computation* computation : joined->computations()) {
    for (Instruction* each : computation->PostOrder())
      if (is_end(*each)) Join(each, StartOf(*each));
  }
  if (!joined->RemoveUnusedComputations().ok()) return nullptr;
  return Verify(*joined).ok() ? std::move(joined) : nullptr;
}

}  // namespace assay
