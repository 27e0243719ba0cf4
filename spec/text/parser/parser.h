// The recursive-descent parser behind reader.h, in files by subject: parser.cc (errors, places),
// parse_module.cc, parse_computation.cc, parse_instruction.cc, parse_attributes.cc,
// parse_values.cc, parse_devices.cc, parse_shape.cc, parse_literal.cc. Every Parse function returns
// false after having recorded a diagnostic, or none if what is wrong was said before.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "spec/base/name_hash.h"
#include "spec/ir/module.h"
#include "spec/ops/op_table.h"
#include "spec/text/lexer.h"
#include "spec/text/reader.h"

namespace assay::text_internal {

// The state of reading the body of a computation. Names point into the text; a name whose
// instruction could not be read maps to nullptr, so that its uses are not errors of their own.
struct BodyScope {
  Computation* computation = nullptr;
  absl::flat_hash_map<std::string_view, Instruction*, NameHash> names;
  // Instructions made for %x#1#0, by that text without the '%' and blanks.
  absl::flat_hash_map<std::string, Instruction*> tuple_accesses;
  std::vector<std::pair<int64_t, Instruction*>> parameters;
  Instruction* root = nullptr;
  bool root_was_marked = false;
  // A single instruction as a module: unknown operand names become parameters.
  bool operands_are_parameters = false;
};

// Attributes and callees of one instruction while they are read.
struct AttributeState {
  Attributes attributes;
  uint64_t common_seen = 0;  // by position in the list of common attributes
  uint64_t row_seen = 0;     // by position in OpInfo::attributes
  // By attribute name, one per written callee attribute.
  absl::InlinedVector<std::pair<std::string_view, std::vector<Computation*>>, 2> callees;
  std::vector<Instruction*> control_predecessors;
  bool has_control_predecessors = false;
  // Async sugar has attributes of the async-start among those of the op.
  bool async = false;
  Attributes async_attributes;
};

// "dot-start" and the like: which part of an asynchronous dot.
struct AsyncSugar {
  Opcode opcode;  // async-start, async-update or async-done
  Opcode wrapped;
};
std::optional<AsyncSugar> FindAsyncSugar(std::string_view word);

class Parser {
 public:
  Parser(std::string_view text, const ReadOptions& options);

  std::unique_ptr<Module> ParseModule();
  bool ParseShape(Shape* shape);
  bool ParseLiteral(const Shape& shape, Literal* literal);
  bool ParseSharding(Sharding* sharding);
  bool ParseReplicaGroups(ReplicaGroups* groups);
  bool ExpectEnd();

  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  // Counts one level of nesting while it lives.
  class Nesting {
   public:
    explicit Nesting(Parser* parser) : parser_(parser) { ++parser_->depth_; }
    ~Nesting() { --parser_->depth_; }
    Nesting(const Nesting&) = delete;
    bool TooDeep() const { return parser_->depth_ > parser_->options_.max_nesting; }

   private:
    Parser* parser_;
  };

  // Errors. All return false.
  bool Fail(size_t position, std::string message, std::string expected = "");
  bool FailHere(std::string message, std::string expected = "");
  // "expected X, found <what stands here>".
  bool Unexpected(std::string expected);
  bool TooDeep();
  std::string WhatStandsHere();
  bool Expect(char symbol, std::string_view after);
  bool Full() const { return static_cast<int>(diagnostics_.size()) >= options_.max_diagnostics; }

  // Module level.
  bool ParseHeader();
  bool ParseHeaderAttribute(std::vector<std::string_view>* seen);
  bool ParseInputOutputAlias();
  bool ParseBufferDonors();
  bool ParseEntryLayout();
  bool ParseStackTables();
  bool ParseSingleInstruction();
  bool IsSingleInstruction();
  bool ParseVerbatimValue(bool blank_continues, std::string* value);
  bool ParseBool(bool* value);
  bool ParsePositive(std::string_view what, int64_t* value);
  bool ParseInteger(int64_t* value);
  bool ParseIntegerList(Int64List* list);

  // Computations.
  bool ParseComputation();
  bool ParseSignature(std::optional<Shape>* result);
  bool ParseBody(BodyScope* scope);
  bool FinishBody(BodyScope* scope, size_t end);
  bool ParseInlineComputation(Computation** computation);
  void SkipToNextInstruction(size_t start);
  bool StartsInstruction(size_t line_start) const;

  // Instructions.
  bool ParseInstruction(BodyScope* scope);
  bool CheckInstructionName(std::string_view name, size_t position);
  Instruction* ParseRightHandSide(BodyScope* scope, std::string_view name, bool attributes);
  bool StartsShape();
  std::optional<Opcode> ParseOpcode(std::optional<AsyncSugar>* sugar);
  Instruction* ParseAsyncStart(BodyScope* scope, std::string_view name, Opcode opcode,
                               const Shape* written, size_t position);
  bool CheckAsyncOpcode(const AsyncSugar& sugar, const OperandVector& operands, size_t position);
  bool ParseOperands(BodyScope* scope, OperandVector* operands);
  Instruction* ParseOperand(BodyScope* scope);
  Instruction* ParseTupleAccess(BodyScope* scope, Instruction* tuple, std::string_view name,
                                size_t position);
  bool ParseParameterNumber(int64_t* number);
  bool ParseConstantValue(const Shape* shape, std::shared_ptr<const Literal>* value);
  std::optional<Shape> InferShape(const OpInfo& info, const OperandVector& operands,
                                  const Attributes& attributes,
                                  absl::Span<Computation* const> callees, size_t position);
  int64_t ShapeCost(const Shape& shape);

  // Attributes.
  bool ParseAttributes(const OpInfo& info, BodyScope* scope, AttributeState* state);
  bool ParseOneAttribute(const OpInfo& info, BodyScope* scope, AttributeState* state);
  bool ParseAttributeValue(Attr attr, AttrValue* value);
  // The rows of ParseAttributeValue: what `kParse` reads as a value.
  template <typename T, bool (Parser::*kParse)(T*)>
  bool ParseAs(Attr attr, AttrValue* value);
  template <typename T, bool (Parser::*kParse)(Attr, T*)>
  bool ParseOfAttribute(Attr attr, AttrValue* value);
  bool ParseQuoted(std::string* text);
  bool ParseOneInteger(Attr attr, Int64List* list);
  bool ParseVerbatimAttribute(Attr attr, std::string* text);
  bool FinishAttributes(const OpInfo& info, const OperandVector& operands, AttributeState* state,
                        size_t position);
  bool ParseCalleeAttribute(std::string_view name, AttributeState* state);
  bool ParseComputationReference(Computation** computation);
  bool FinishCallees(const OpInfo& info, const OperandVector& operands, AttributeState* state,
                     size_t position, absl::InlinedVector<Computation*, 1>* callees);
  bool ParseControlPredecessors(BodyScope* scope, AttributeState* state);
  bool ParseFloatAttribute(double* value);
  bool ParseWordValue(Attr attr, int64_t* value);
  bool ParseWordList(Attr attr, Int64List* list);
  bool ParseIntegerLists(std::vector<Int64List>* lists);
  bool ParseSliceRanges(std::vector<SliceRange>* ranges);
  bool ParsePadding(std::vector<PaddingDim>* padding);
  bool ParseWindow(std::vector<WindowDim>* window);
  bool StoreWindowField(std::string_view field, std::string_view text,
                        std::vector<WindowDim>* window, size_t position);
  bool ParseDimLabels(ConvDimLabels* labels);
  bool ParseAliasing(std::vector<OutputAlias>* aliases);
  bool ParseBlob(std::string* blob);
  bool ParseStringMap(StringMap* map);
  bool ParseShapes(std::vector<Shape>* shapes);

  // Lists of devices.
  bool ParseNumbersIn(char open, char close, Int64List* numbers);
  bool ParseIota(IotaDevices* iota);
  bool ParseMesh(std::string_view word, Mesh* mesh);
  bool ParseMeshAxes(const Mesh& mesh, std::vector<MeshAxis>* axes, bool* open);
  bool ParseSingleSharding(Sharding* sharding);
  bool ParseNamedSharding(Sharding* sharding);
  bool ParseTileDevices(Sharding* sharding);
  bool ParseShardingSuffix(size_t position, std::string_view word, Sharding* sharding);
  bool ParseDomain(DomainMetadata* domain);

  // Shapes.
  bool ParseTupleShape(Shape* shape);
  bool ParseArrayShape(Shape* shape);
  bool ParseDimensions(DimVector* dimensions, std::vector<bool>* dynamic);
  bool ParseLayout(Shape* shape);
  bool ParseLayoutExtras(LayoutExtras* extras);
  bool ParseParenthesised(int64_t* value);
  bool ParseUnsignedType(ElementType* type);

  // Literals.
  bool ParseArrayLiteral(const Shape& shape, Literal* literal);
  bool ParseArrayLevel(int64_t level, Literal* literal, int64_t* next);
  bool ParseElement(Literal* literal, int64_t index);
  bool ParseInteger(ElementType type, Literal* literal, int64_t index);
  bool ParsePred(Literal* literal, int64_t index);
  bool ParseComplex(Literal* literal, int64_t index);
  bool ParseFloatCode(ElementType type, uint64_t* code);
  bool ParseNan(ElementType type, std::string_view number, size_t position, uint64_t* code);

  Lexer lexer_;
  const ReadOptions& options_;
  std::vector<Diagnostic> diagnostics_;
  std::unique_ptr<Module> module_;
  absl::flat_hash_map<std::string_view, Computation*, NameHash> computations_;
  Computation* marked_entry_ = nullptr;
  Computation* last_computation_ = nullptr;
  int depth_ = 0;
  int64_t literal_bytes_ = 0;
  // Shapes that the text does not spell out may grow exponentially with it (tuples of tuples); they
  // are paid from this budget, in nodes.
  int64_t shape_budget_ = 0;
  absl::flat_hash_map<const Instruction*, int64_t> tuple_costs_;
};

}  // namespace assay::text_internal
