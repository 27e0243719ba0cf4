// Compiles several programs as one. Much of a compilation costs the same however small the program
// is (XLA:CPU: 10 to 20 ms of 20 to 60); a pack pays it once for all of its members.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "spec/backend/backend.h"
#include "spec/ir/module.h"
#include "spec/types/literal.h"

namespace assay {

// True of a program that means the same within a larger one: its header says nothing, its entry
// takes arrays alone, and it talks to nobody.
bool CanBeJoined(const Module& module);

// One program that computes what all of `modules` compute. Its parameters are theirs, one module
// after the other; its result is the tuple of theirs.
std::unique_ptr<Module> JoinModules(absl::Span<const Module* const> modules);

// The result of the entry becomes one tuple of arrays and tokens, in the order in which its leaves
// come.
void FlattenResult(Module& module);

struct PackMember {
  const Module* module;
  std::vector<std::vector<Literal>> sets;  // of inputs, at least one; all members have as many
};

class Pack {
 public:
  // Compiles the members together and runs them on each of their sets. nullptr where that does not
  // work: who is to blame shows when each is looked at alone.
  static std::unique_ptr<Pack> Run(Backend& backend, const CompileOptions& options,
                                   std::vector<PackMember> members);
  virtual ~Pack() = default;

  // The backend as one member sees it, as long as the pack is there: it takes no other program, and
  // knows the answers to the sets of that member already.
  virtual Backend& BackendOf(size_t member) = 0;
  // The inputs of that member, as long as the pack is there.
  virtual const std::vector<std::vector<Literal>>& SetsOf(size_t member) const = 0;
  // Wall clock seconds, shared evenly among the members.
  virtual double compile_seconds() const = 0;
  virtual double run_seconds() const = 0;
};

// Some of a row of `count` are not taken, and nobody knows which: asks about its halves, theirs and
// so on, by the first and the number of those that are asked about together, never less than two.
// What must hold one that is not taken, as the rest is, is not asked about but halved.
void AskInHalves(size_t count, const std::function<bool(size_t first, size_t count)>& is_taken);

}  // namespace assay
