// Transposes by squares: read along what is contiguous in the source, turned in shared memory, and
// written along what is contiguous in the result. Rows of a square are one word longer than its
// side, so that neither rows nor columns lie in one bank.
#include <algorithm>

#include "optimized/gpu/templates/block_builder.h"
#include "optimized/gpu/templates/templates.h"
#include "spec/base/status_macros.h"

namespace assay::gpu {
namespace {

using llvm::Value;

struct Square {
  int64_t along, innermost;  // dimensions of the result: contiguous in the source, in the result
  int64_t side, pitch;       // elements
  int64_t columns, rows;     // squares along both
  int64_t others;            // elements of all other dimensions
};

int64_t CeilOf(int64_t count, int64_t of) { return (count + of - 1) / of; }

Square SquareOf(const NestPlan& nest, const TemplateChoice& choice) {
  const Shape& shape = WrittenShape(*nest.outputs[0].instruction);
  Square square{};
  square.along = nest.walk.lane_dim;
  square.innermost = shape.rank() - 1;
  while (shape.dimension(square.innermost) == 1) --square.innermost;
  // 32 elements, or 128 bytes of narrower ones.
  const int64_t bytes = StorageBytes(choice.subjects[0]->shape().element_type());
  square.side = std::max<int64_t>(32, 128 / bytes);
  square.pitch = square.side + std::max<int64_t>(1, 4 / bytes);
  square.columns = CeilOf(shape.dimension(square.innermost), square.side);
  square.rows = CeilOf(shape.dimension(square.along), square.side);
  square.others =
      shape.ElementCount() / (shape.dimension(square.along) * shape.dimension(square.innermost));
  return square;
}

class Turner {
 public:
  explicit Turner(TemplateContext& context)
      : c_(context),
        e_(context.elements),
        ir_(context.ir()),
        block_(context.elements),
        turned_(*context.choice.subjects[0]),
        square_(SquareOf(context.nest, context.choice)) {
    const KernelBends& bends = c_.bends();
    pitch_ = bends.Number("tile-transpose/pitch", c_.plan.instruction, square_.pitch);
  }

  absl::Status Emit() {
    const ElementType type = turned_.shape().element_type();
    shared_ = block_.SharedArray(type, square_.side * square_.pitch, "square");
    DimVector others(c_.written().dimensions().begin(), c_.written().dimensions().end());
    others[square_.along] = others[square_.innermost] = 1;
    Value* column = e_.IndexBinary(llvm::Instruction::URem, c_.block, e_.Index(square_.columns));
    Value* rest = e_.IndexBinary(llvm::Instruction::UDiv, c_.block, e_.Index(square_.columns));
    Value* row = e_.IndexBinary(llvm::Instruction::URem, rest, e_.Index(square_.rows));
    place_ = e_.Delinearize(others,
                            e_.IndexBinary(llvm::Instruction::UDiv, rest, e_.Index(square_.rows)));
    first_column_ = e_.IndexMul(column, square_.side);
    first_row_ = e_.IndexMul(row, square_.side);
    ASSAY_RETURN_IF_ERROR(ForVectors(c_.choice.read_width,
                                     [&](Value* line, Value* first) { return Read(line, first); }));
    if (!c_.bends().Holds("tile-transpose/no-barrier", c_.plan.instruction, false)) {
      block_.Barrier();
    }
    return ForVectors(c_.choice.write_width,
                      [&](Value* line, Value* first) { return Write(line, first); });
  }

 private:
  // Each thread takes its part of the square's lines, `width` elements at a time.
  absl::Status ForVectors(int width, const std::function<absl::Status(Value*, Value*)>& body) {
    const int64_t per_line = square_.side / width, threads = c_.choice.block_size;
    const int64_t turns = square_.side * per_line / threads;
    const auto turn = [&](Value* number) -> absl::StatusOr<ElementValues> {
      Value* at = e_.IndexAdd(e_.IndexMul(number, threads), c_.thread);
      Value* line = e_.IndexBinary(llvm::Instruction::UDiv, at, e_.Index(per_line));
      Value* first =
          e_.IndexMul(e_.IndexBinary(llvm::Instruction::URem, at, e_.Index(per_line)), width);
      ASSAY_RETURN_IF_ERROR(body(line, first));
      return ElementValues{};
    };
    if (turns == 1) return turn(e_.Index(0)).status();
    return e_
        .Loop(e_.Index(0), e_.Index(turns), 1, {},
              [&](Value* number, const ElementValues&) { return turn(number); })
        .status();
  }

  std::vector<Value*> At(Value* row, Value* column) {
    std::vector<Value*> dims = place_;
    dims[square_.along] = row;
    dims[square_.innermost] = column;
    return dims;
  }
  Value* Inside(Value* row, Value* column) {
    const KernelBends& bends = c_.bends();
    const auto end = [&](const char* claim, int64_t dim) {
      return bends.Number(claim, c_.plan.instruction, c_.written().dimension(dim));
    };
    return ir_.CreateAnd(block_.Below(row, end("tile-transpose/rows", square_.along)),
                         block_.Below(column, end("tile-transpose/columns", square_.innermost)));
  }

  // Elements `first` and on of line `line` of the source, which is a column of the result.
  absl::Status Read(Value* line, Value* first) {
    Value* column = e_.IndexAdd(first_column_, line);
    Value* row = e_.IndexAdd(first_row_, first);
    return block_.If(Inside(row, column), [&]() -> absl::Status {
      const std::vector<Value*> dims = At(row, column);
      const absl::Span<const int64_t> from = turned_.attributes().Integers(Attr::kDimensions);
      ElementIndex index;
      index.dims.resize(dims.size());
      for (size_t d = 0; d < dims.size(); ++d) index.dims[from[d]] = dims[d];
      index.width = c_.choice.read_width;
      if (index.width > 1) index.lane_dim = static_cast<int>(from[square_.along]);
      ASSAY_ASSIGN_OR_RETURN(Value * value, e_.EmitOne(c_.frame, turned_.operand(0), index));
      Value* at = ir_.CreateAdd(ir_.CreateMul(line, e_.Index(pitch_)), first);
      const ElementType type = turned_.shape().element_type();
      e_.builder().Store(type, value, e_.Address(type, shared_, at));
      return absl::OkStatus();
    });
  }

  // Elements `first` and on of line `line` of the result.
  absl::Status Write(Value* line, Value* first) {
    Value* row = e_.IndexAdd(first_row_, line);
    Value* column = e_.IndexAdd(first_column_, first);
    return block_.If(Inside(row, column), [&]() -> absl::Status {
      const ElementType type = turned_.shape().element_type();
      const int width = c_.choice.write_width;
      Value* vector = nullptr;
      for (int k = 0; k < width; ++k) {
        Value* at =
            ir_.CreateAdd(ir_.CreateMul(ir_.CreateAdd(first, e_.Index(k)), e_.Index(pitch_)), line);
        Value* element = e_.builder().Load(type, e_.Address(type, shared_, at), 1);
        if (width == 1) {
          vector = element;
          break;
        }
        if (k == 0) {
          vector = llvm::PoisonValue::get(
              ValueBuilder::WithWidth(e_.builder().RegisterType(type), width));
        }
        vector = ir_.CreateInsertElement(vector, element, static_cast<uint64_t>(k));
      }
      ElementIndex index;
      index.dims = At(row, column);
      index.width = width;
      if (width > 1) index.lane_dim = static_cast<int>(square_.innermost);
      e_.Provide(c_.frame, &turned_, index, {vector});
      return c_.store(index);
    });
  }

  TemplateContext& c_;
  ElementEmitter& e_;
  llvm::IRBuilder<>& ir_;
  BlockBuilder block_;
  const Instruction& turned_;
  const Square square_;
  int64_t pitch_;
  Value* shared_ = nullptr;
  std::vector<Value*> place_;  // of the block, in the other dimensions
  Value *first_row_ = nullptr, *first_column_ = nullptr;
};

}  // namespace

int64_t TransposedBlocks(const NestPlan& nest, const TemplateChoice& choice) {
  const Square square = SquareOf(nest, choice);
  return square.rows * square.columns * square.others;
}
absl::Status EmitTransposed(TemplateContext& context) { return Turner(context).Emit(); }

}  // namespace assay::gpu
