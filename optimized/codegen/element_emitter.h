// Emits the value of one element, or of a few consecutive ones, of an instruction at an index,
// recursively through everything that was fused into it. Knows buffers and loops, but nothing of
// threads or of how a kernel is called.
//
// An index names an element either by one value per dimension or, where every array of the kernel
// is walked in the same row-major order, by one linear value. With width > 1 it names `width`
// elements: consecutive ones along `lane_dim` (or linearly).
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "optimized/analysis/walks/walks.h"
#include "optimized/codegen/value_builder.h"
#include "optimized/target/target.h"
#include "spec/ir/module.h"

namespace assay {

struct ElementIndex {
  std::vector<llvm::Value*> dims;  // i64; unused when linear
  llvm::Value* linear = nullptr;
  int lane_dim = -1;
  int width = 1;

  bool operator==(const ElementIndex&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const ElementIndex& index) {
    return H::combine(std::move(h), index.dims, index.linear, index.lane_dim, index.width);
  }
};

// One value per leaf of the instruction's shape; each of the index's width.
using ElementValues = std::vector<llvm::Value*>;

class ElementEmitter {
 public:
  using Frame = CallFrame;

  explicit ElementEmitter(ValueBuilder& builder) : builder_(builder) { scopes_.emplace_back(); }

  // Values of `instruction` (as seen from `frame`) come from memory: one row-major array per leaf.
  void AddSource(const Frame* frame, const Instruction* instruction,
                 std::vector<llvm::Value*> pointers);
  // The call of the computation that a fusion runs.
  const Frame* CalleeFrame(const Frame* frame, const Instruction* instruction) {
    return walks_.CalleeFrame({frame, instruction});
  }
  // A call whose parameters have these values.
  const Frame* NewFrame(std::vector<ElementValues> values);

  absl::StatusOr<ElementValues> Emit(const Frame* frame, const Instruction* instruction,
                                     const ElementIndex& index);
  // Emits an element of an instruction with one leaf.
  absl::StatusOr<llvm::Value*> EmitOne(const Frame* frame, const Instruction* instruction,
                                       const ElementIndex& index);
  // An operand at another index of the same lanes; a uniform one is spread over `width`.
  absl::StatusOr<llvm::Value*> EmitSpread(const Frame* frame, const Instruction* instruction,
                                          const ElementIndex& index, int width);
  // The value of a scalar computation for given parameter values.
  absl::StatusOr<ElementValues> Apply(const Computation& computation,
                                      std::vector<ElementValues> arguments, int width);

  // Says that an element was computed already: whoever asks for it within the scope gets `values`.
  void Provide(const Frame* frame, const Instruction* instruction, const ElementIndex& index,
               ElementValues values) {
    scopes_.back().values[{{frame, instruction}, index}] = std::move(values);
  }
  // Values emitted in `body` are not reused outside of it: it may lie in a branch.
  absl::Status Scoped(const std::function<absl::Status()>& body);

  // True if `instruction` and all that it reads up to sources can be walked linearly, or with lanes
  // along `lane_dim`.
  bool CanWalkLinearly(const Frame* frame, const Instruction* instruction) {
    return walks_.CanWalkLinearly({frame, instruction});
  }
  bool CanWalkLanes(const Frame* frame, const Instruction* instruction, int lane_dim) {
    return walks_.CanWalkLanes({frame, instruction}, lane_dim);
  }

  // Index arithmetic; equal expressions within a scope give the same value, so that values cached
  // by index are found again.
  llvm::Value* Index(int64_t value) { return builder_.ir().getInt64(value); }
  llvm::Value* IndexAdd(llvm::Value* a, llvm::Value* b);
  llvm::Value* IndexMul(llvm::Value* operand, int64_t factor);
  llvm::Value* IndexBinary(llvm::Instruction::BinaryOps op, llvm::Value* a, llvm::Value* b);
  llvm::Value* LinearOf(absl::Span<const int64_t> dimensions, const ElementIndex& index);
  std::vector<llvm::Value*> Delinearize(absl::Span<const int64_t> dimensions, llvm::Value* linear);
  // Address of an element of a row-major array.
  llvm::Value* Address(ElementType type, llvm::Value* pointer, llvm::Value* element);

  // for (i = begin; i < end; i += step) carried = body(i, carried). Values emitted inside are not
  // reused outside.
  using LoopBody =
      std::function<absl::StatusOr<ElementValues>(llvm::Value* i, const ElementValues&)>;
  absl::StatusOr<ElementValues> Loop(llvm::Value* begin, llvm::Value* end, int64_t step,
                                     ElementValues carried, const LoopBody& body);

  // Start index of a dynamic slice in one dimension: clamped to [0, limit], unsigned types as
  // mathematical values.
  absl::StatusOr<llvm::Value*> ClampedStart(const Frame* frame, const Instruction* start,
                                            int64_t limit);

  ValueBuilder& builder() { return builder_; }

  // The machine that code is made for; it outlives the emitter. Without one there are no vectors.
  void set_target(const Target* target) { target_ = target; }
  const Target* target() const { return target_; }
  // Lanes of what is emitted in `type`; 1 forbids them.
  int vector_width(ElementType type) const {
    return target_ == nullptr ? 1 : target_->VectorWidth(type);
  }
  // Fused multiply-add where an op's contract allows it (inside dots).
  void set_use_fma(bool use) { use_fma_ = use; }
  bool use_fma() const { return use_fma_; }
  // Told whose value the code that follows computes: at the beginning of each instruction that is
  // lowered, and at its end of the one around it again, or of none. What a called computation does
  // for values of its caller's counts as the caller's.
  using Watcher = std::function<void(const Instruction* instruction)>;
  void set_watcher(Watcher watcher) { watcher_ = std::move(watcher); }
  // Gives the instruction that the watcher was told of last.
  const Instruction* watched() const { return watched_; }
  void Watch(const Instruction* instruction) {
    watched_ = instruction;
    if (watcher_) watcher_(instruction);
  }

  // Every loop adds to it how far it goes with each turn. The emitted code holds the address, so
  // the counter must live as long as the code; nullptr: nothing is counted.
  void set_step_counter(std::atomic<int64_t>* counter) { step_counter_ = counter; }

 private:
  struct CacheKey {
    Seen key;
    ElementIndex index;
    bool operator==(const CacheKey&) const = default;
    template <typename H>
    friend H AbslHashValue(H h, const CacheKey& key) {
      return H::combine(std::move(h), key.key, key.index);
    }
  };
  struct Scope {
    absl::flat_hash_map<CacheKey, ElementValues> values;
    absl::flat_hash_map<std::tuple<int, llvm::Value*, llvm::Value*>, llvm::Value*> indices;
  };

  absl::StatusOr<ElementValues> EmitUncached(const Frame* frame, const Instruction* instruction,
                                             const ElementIndex& index);
  absl::StatusOr<ElementValues> Lower(const Frame* frame, const Instruction& instruction,
                                      const ElementIndex& index);
  absl::StatusOr<ElementValues> EmitParameter(const Frame* frame, const Instruction* parameter,
                                              const ElementIndex& index);
  absl::StatusOr<ElementValues> EmitTupleElement(const Frame* frame, const Instruction* instruction,
                                                 const ElementIndex& index);
  absl::StatusOr<ElementValues> EmitTuple(const Frame* frame, const Instruction* tuple,
                                          const ElementIndex& index);
  ElementValues LoadSource(const Instruction* instruction,
                           const std::vector<llvm::Value*>& pointers, const ElementIndex& index);
  void CountSteps(int64_t steps);
  const std::vector<llvm::Value*>* FindSource(const Frame* frame,
                                              const Instruction* instruction) const;

  ValueBuilder& builder_;
  Walks walks_;
  absl::flat_hash_map<Seen, std::vector<llvm::Value*>> sources_;
  absl::flat_hash_map<const Frame*, std::vector<ElementValues>> values_;  // of their parameters
  std::vector<Scope> scopes_;
  int depth_ = 0;
  Watcher watcher_;
  const Instruction* watched_ = nullptr;
  const Target* target_ = nullptr;
  bool use_fma_ = false;
  std::atomic<int64_t>* step_counter_ = nullptr;
};

// One row per opcode that an element can be emitted of. Adding an op: a row and its function (or a
// row of elementwise.cc).
struct ElementLowering {
  Opcode opcode;
  // Values of `instruction` at `index`, whose lanes its row of lane_access.cc has allowed.
  absl::StatusOr<ElementValues> (*emit)(ElementEmitter& emitter, const ElementEmitter::Frame* frame,
                                        const Instruction& instruction, const ElementIndex& index);
};
const ElementLowering* FindElementLowering(Opcode opcode);

}  // namespace assay
