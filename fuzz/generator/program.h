// A program that is being generated: the module, the scope that recipes add to, what may be used as
// an operand, and how much work the program may still do. Everything emitted is valid by
// construction: shapes are solved, not filtered.
#pragma once

#include <bitset>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "fuzz/choices.h"
#include "fuzz/generator/values.h"
#include "spec/backend/backend.h"
#include "spec/ir/module.h"
#include "spec/ops/op_table.h"

namespace assay {

struct GeneratorOptions {
  // Stay within what every implementation of HLO promises: no fusion or bitcast in the input,
  // identities as initial values, broadcast dimensions in order. For compilers that are not ours.
  bool portable = false;
  // Ops and element types that the compiler under test does not take: programs are made without
  // them.
  std::bitset<kOpcodeCount> excluded_ops;
  std::bitset<kElementTypeCount> excluded_types;
  // Patterns (Recipe::name) that it does not take at all, or not on some element types.
  std::set<std::string, std::less<>> excluded_recipes;
  std::map<std::string, std::bitset<kElementTypeCount>, std::less<>> refused_types;
  // Programs begin with a pair of patterns where `pair` says which of all; GenerateCase counts it
  // up, so that each pair comes before any comes twice. Otherwise chance decides.
  bool counts_pairs = false;
  std::optional<uint64_t> pair;

  bool Takes(Opcode opcode) const { return !excluded_ops[static_cast<size_t>(opcode)]; }
  bool Takes(ElementType type) const { return !excluded_types[static_cast<size_t>(type)]; }
  // Their names, for reports.
  std::vector<std::string> ExcludedOps() const;
  std::vector<std::string> ExcludedTypes() const;
};
// Leaves out what `capability`, of a backend, does not support: ops on every computed type, types
// with copy.
void ExcludeUnsupported(const std::function<Capability(Opcode, ElementType)>& capability,
                        GeneratorOptions& options);

// True if the options exclude no op and no type of the module.
bool IsTaken(const Module& module, const GeneratorOptions& options);

// The computed element types in a fixed order.
absl::Span<const ElementType> ComputedTypes();
// The types that few ops are tried on: complex numbers, integers below a byte, floats of 4 and 8
// bits.
absl::Span<const ElementType> RareTypes();
bool IsIndexType(ElementType type);  // s8..s64, u8..u64

// The rule by which sizes of dimensions are drawn.
enum class SizeStyle : uint8_t {
  kSmall,      // 1 to 9, mostly different
  kThreshold,  // around vector widths, unroll factors, tiles
  kLopsided,   // a few by many
  kHighRank,   // rank 6 to 8 of 1 to 3
  kLarge,      // one dimension takes most of 2^11 to 2^17 elements
  kPowers,     // one dimension is a power of two up to 2^16 or beside one, the others small
  kOnes,       // all of size 1
  kZeros,      // one of size 0, the others small
};

// One computation that recipes fill. Values are arrays, in the order of their creation.
struct Scope {
  Computation* computation = nullptr;
  std::vector<Instruction*> values;
  bool entry = false;
  int depth = 0;        // of nested computations
  int64_t trips = 1;    // how often the computation may run, at most
  bool control = true;  // may hold loops, conditionals, calls
};

class Program {
 public:
  Program(Choices& choices, const GeneratorOptions& options);

  Choices& choices() { return choices_; }
  const GeneratorOptions& options() const { return options_; }
  Module& module() { return *module_; }
  std::unique_ptr<Module> TakeModule() { return std::move(module_); }
  Scope& scope() { return *scope_; }

  // ---- Taste of the program, set once by its theme.
  void set_palette(std::vector<ElementType> palette) { palette_ = std::move(palette); }
  void set_size_style(SizeStyle style);
  void set_family(ValueFamily family) { family_ = family; }
  ValueFamily family() const { return family_; }
  // So many of a hundred parameters become constants instead: the constant folder is a compiler of
  // its own.
  void set_constant_percent(int percent) { constant_percent_ = percent; }
  // So many of a hundred scalar bodies are said in more words (recipes/bodies.h); none by
  // themselves.
  void set_body_percent(int percent) { body_percent_ = percent; }
  int body_percent() const { return body_percent_; }
  // The program is for so many devices, all of which are given the same inputs.
  void set_devices(int64_t replicas, int64_t partitions);
  int64_t replicas() const { return module_->config().replica_count; }
  int64_t partitions() const { return module_->config().num_partitions; }
  int64_t devices() const { return replicas() * partitions(); }
  // The next Operand is the value that was made last, if need be converted.
  void ChainNext() { chain_ = true; }
  // Until it is called again, operands are of other types than these. Returns those of before.
  std::bitset<kElementTypeCount> AvoidTypes(std::bitset<kElementTypeCount> types) {
    return std::exchange(avoided_, types);
  }
  // A family for one array: mostly the program's own.
  ValueFamily DrawFamily();
  // A type of the palette that `mask` admits; any computed type that it admits when the palette has
  // none.
  ElementType DrawType(TypeMask mask);
  ElementType DrawIndexType();
  int64_t DrawSize();
  // Sizes whose product fits the budget. `min_rank` is kept whatever the taste.
  DimVector DrawDimensions(int64_t min_rank = 0);
  // All dimensions are of one size: what exchanges them keeps the shape.
  void set_square(bool square) { square_ = square; }

  // ---- Budget.
  bool Fits(int64_t elements) const { return elements <= element_cap_; }
  bool Fits(const Shape& shape) const { return Fits(shape.ElementCount()); }
  int64_t element_cap() const { return element_cap_; }
  bool Exhausted() const { return work_left_ <= 0; }

  // ---- Operands: an existing value (recent ones preferred) or a new source.
  // Types in `mask`, rank at least `min_rank`.
  Instruction* Operand(TypeMask mask, int64_t min_rank = 0);
  // Exactly this type and these dimensions.
  Instruction* OperandLike(const Shape& shape);
  Instruction* OperandOf(ElementType type, absl::Span<const int64_t> dimensions);
  // An existing value of exactly this shape, or nullptr.
  Instruction* Existing(const Shape& shape);
  // A new parameter (in the entry), constant, iota or broadcast of a scalar. The first value of a
  // chain is rarely a splat, which would show nothing.
  Instruction* Fresh(const Shape& shape, int splat_weight = 10);
  // A scalar of a known value as parameter, constant or an expression that folds late (requirement:
  // triples).
  Instruction* KnownScalar(ElementType type, int64_t value);
  // A start index for a dimension of `dimension` elements of which `size` are taken: an edge, or
  // some integer of the scope.
  Instruction* StartIndex(ElementType type, int64_t dimension, int64_t size);
  std::vector<Instruction*> StartIndices(absl::Span<const int64_t> dimensions,
                                         absl::Span<const int64_t> sizes);

  // ---- Emission. The result joins the scope's values.
  Instruction* Emit(Opcode opcode, Shape shape, absl::Span<Instruction* const> operands,
                    Attributes attributes = {}, absl::Span<Computation* const> callees = {});
  Instruction* Emit(Opcode opcode, Shape shape, std::initializer_list<Instruction*> operands,
                    Attributes attributes = {}, absl::Span<Computation* const> callees = {}) {
    return Emit(opcode, std::move(shape), absl::MakeConstSpan(operands.begin(), operands.size()),
                std::move(attributes), callees);
  }
  Instruction* Parameter(Shape shape);         // entry only, filled by family
  Instruction* FixedParameter(Literal value);  // entry only, always given this value
  // Entry only, given this value first, and in other sets of inputs whatever its type can hold: no
  // index, no bound of a loop, nothing by which a program is legal.
  Instruction* GivenParameter(Literal value);
  Instruction* Constant(Literal value);
  Instruction* ScalarConstant(ElementType type, int64_t value);
  // A constant of BaitScalarFor (values.h), in all elements of an array like that one.
  Instruction* BaitLike(const Instruction* like, Opcode opcode = Opcode::kAdd);
  Instruction* Unary(Opcode opcode, Instruction* operand);
  Instruction* Binary(Opcode opcode, Instruction* a, Instruction* b);
  Instruction* Compare(Direction direction, Instruction* a, Instruction* b);
  // Floats now and then by their total order, in which NaN and both zeros have places.
  Instruction* CompareInSomeOrder(Direction direction, Instruction* a, Instruction* b);
  Instruction* Select(Instruction* pred, Instruction* a, Instruction* b);
  Instruction* Convert(Instruction* operand, ElementType type);
  Instruction* Broadcast(Instruction* operand, absl::Span<const int64_t> dimensions,
                         absl::Span<const int64_t> mapping);
  Instruction* Splat(Instruction* scalar, absl::Span<const int64_t> dimensions);
  Instruction* Reshape(Instruction* operand, absl::Span<const int64_t> dimensions);
  Instruction* Transpose(Instruction* operand, absl::Span<const int64_t> permutation);
  Instruction* Reverse(Instruction* operand, absl::Span<const int64_t> dimensions);
  Instruction* Slice(Instruction* operand, std::vector<SliceRange> ranges);
  Instruction* DynamicSlice(Instruction* operand, absl::Span<Instruction* const> starts,
                            absl::Span<const int64_t> sizes);
  Instruction* DynamicUpdateSlice(Instruction* operand, Instruction* update,
                                  absl::Span<Instruction* const> starts);
  Instruction* Pad(Instruction* operand, Instruction* value, std::vector<PaddingDim> padding);
  Instruction* Concatenate(const std::vector<Instruction*>& parts, int64_t dimension);
  Instruction* Iota(const Shape& shape, int64_t dimension);
  Instruction* SomeIota(const Shape& shape);  // mostly along the longest dimension
  Instruction* Reduce(Instruction* operand, Instruction* init, absl::Span<const int64_t> dimensions,
                      Computation* reducer);
  Instruction* Tuple(const std::vector<Instruction*>& elements);
  Instruction* GetTupleElement(Instruction* tuple, int64_t index);

  // ---- Embedded computations. Recipes run in `scope` until it is left.
  Computation* NewComputation(std::string_view name);
  // A parameter of the computation of the current, embedded scope. Arrays join the values.
  Instruction* ScopeParameter(int64_t number, Shape shape);
  Scope* EnterScope(Scope* scope) { return std::exchange(scope_, scope); }
  // Computations made so far that a second call site could share, by parameter and result shapes.
  struct SharedCallee {
    Computation* computation;
    std::vector<Shape> parameters;
    Shape result;
  };
  std::vector<SharedCallee>& shared_callees() { return shared_callees_; }

  // A value of the entry that is among the results whatever else is.
  void AlwaysShow(Instruction* value) {
    if (scope_->entry) shown_.push_back(value);
  }
  const std::vector<Instruction*>& shown() const { return shown_; }

  // True if all elements of `value` are bound to be equal, or there are fewer than two: it shows
  // little by itself.
  bool IsUniform(const Instruction* value) const { return uniform_.contains(value->id()); }

  // Values that entry parameters must be given, by number.
  struct FixedInput {
    Literal value;
    bool stays = true;  // in all sets of inputs
  };
  const std::map<int64_t, FixedInput>& fixed_inputs() const { return fixed_inputs_; }

 private:
  int64_t DrawPower();
  Instruction* PickRecent(const std::vector<Instruction*>& candidates);
  bool Takes(ElementType type) const {
    return options_.Takes(type) && !avoided_[static_cast<size_t>(type)];
  }
  // The value that ChainNext asks for; nullptr where the last value does not fit.
  Instruction* LastAs(TypeMask mask, int64_t min_rank);
  // Decides whether a parameter of the shape becomes a constant.
  bool WantsConstant(const Shape& shape);

  void NoteUniform(const Instruction* value);
  bool HoldsComplex() const;

  Choices& choices_;
  GeneratorOptions options_;
  std::unique_ptr<Module> module_;
  absl::flat_hash_set<int64_t> uniform_;  // ids: addresses are used again after a removal
  Scope entry_;
  Scope* scope_;
  std::vector<ElementType> palette_;
  SizeStyle size_style_ = SizeStyle::kSmall;
  ValueFamily family_ = ValueFamily::kOrdinary;
  int64_t element_cap_ = 512;
  int64_t work_left_ = 60000;
  int64_t parameters_ = 0;
  int constant_percent_ = 0;
  int body_percent_ = 0;
  bool chain_ = false;
  bool square_ = false;
  std::bitset<kElementTypeCount> avoided_;
  std::map<int64_t, FixedInput> fixed_inputs_;
  std::vector<SharedCallee> shared_callees_;
  std::vector<Instruction*> shown_;
};

// True if every element type and opcode constraint admits `opcode` on `type` (op table).
bool Admits(Opcode opcode, ElementType type);

// Removes what neither the root nor a side effect needs; parameters stay.
void RemoveDeadInstructions(Computation& computation);

}  // namespace assay
