// Each block of bits is a function of its number; all numbers are an iota.
#include "optimized/passes/fallbacks/rng_bit_generator_expander.h"

#include <array>
#include <vector>

#include "optimized/passes/util/rule_util.h"

namespace assay {
namespace {

constexpr ElementType kWord = ElementType::kU32, kLong = ElementType::kU64;

ElementType UnsignedOf(ElementType type) {
  switch (BitWidth(type)) {
    case 8:
      return ElementType::kU8;
    case 16:
      return ElementType::kU16;
    case 32:
      return ElementType::kU32;
    case 64:
      return ElementType::kU64;
    default:
      return type;
  }
}

// Arithmetic on vectors of unsigned integers, and on scalars.
class Words {
 public:
  explicit Words(Computation* into) : into_(into) {}

  Instruction* Op(Opcode opcode, Instruction* value, Instruction* other) {
    return into_->Add(opcode, value->shape(), {value, other});
  }
  Instruction* Add(Instruction* value, Instruction* other) {
    return Op(Opcode::kAdd, value, other);
  }
  Instruction* Xor(Instruction* value, Instruction* other) {
    return Op(Opcode::kXor, value, other);
  }
  Instruction* Number(Instruction* like, uint64_t value) {
    return AddSplatInteger(into_, like->shape(), static_cast<int64_t>(value));
  }
  Instruction* As(ElementType type, Instruction* value) {
    if (value->shape().element_type() == type) return value;
    return into_->Add(Opcode::kConvert, Shape::Array(type, value->shape().dimensions()), {value});
  }
  // The halves of a u64 as u32.
  Instruction* Low(Instruction* value) {
    return As(kWord, Op(Opcode::kAnd, value, Number(value, 0xFFFFFFFFu)));
  }
  Instruction* High(Instruction* value) {
    return As(kWord, Op(Opcode::kShiftRightLogical, value, Number(value, 32)));
  }
  Instruction* Join(Instruction* low, Instruction* high) {
    Instruction* above = As(kLong, high);
    above = Op(Opcode::kShiftLeft, above, Number(above, 32));
    return Op(Opcode::kOr, above, As(kLong, low));
  }
  Instruction* Rotate(Instruction* value, uint64_t by) {
    return Op(Opcode::kOr, Op(Opcode::kShiftLeft, value, Number(value, by)),
              Op(Opcode::kShiftRightLogical, value, Number(value, 32 - by)));
  }
  // A scalar at every place of `like`.
  Instruction* Spread(Instruction* scalar, Instruction* like) {
    return AddSplat(into_, Shape::Array(scalar->shape().element_type(), like->shape().dimensions()),
                    scalar);
  }
  Instruction* Reshape(Instruction* value, const DimVector& sizes) {
    return into_->Add(Opcode::kReshape, Shape::Array(value->shape().element_type(), sizes),
                      {value});
  }
  Instruction* Concatenate(const std::vector<Instruction*>& parts, int64_t along) {
    Shape shape = parts[0]->shape();
    int64_t size = 0;
    for (const Instruction* part : parts) size += part->shape().dimension(along);
    shape.set_dimension(along, size);
    return into_->Add(Opcode::kConcatenate, shape, parts,
                      Attributes().Set(Attr::kDimension, {along}));
  }
  Instruction* First(Instruction* value, int64_t along, int64_t count) {
    if (value->shape().dimension(along) == count) return value;
    std::vector<SliceRange> ranges;
    for (int64_t size : value->shape().dimensions()) ranges.push_back({0, size, 1});
    ranges[static_cast<size_t>(along)].limit = count;
    Shape shape = value->shape();
    shape.set_dimension(along, count);
    return into_->Add(Opcode::kSlice, shape, {value}, SliceAttr(std::move(ranges)));
  }
  Instruction* WordOf(Instruction* state, int64_t k) {
    Instruction* one =
        into_->Add(Opcode::kSlice, Shape::Array(kLong, {1}), {state}, SliceAttr({{k, k + 1, 1}}));
    return Reshape(one, {});
  }
  Instruction* Count(int64_t blocks) {
    return into_->Add(Opcode::kIota, Shape::Array(kLong, {blocks}), {},
                      Attributes().Set(Attr::kIotaDimension, AttrValue(int64_t{0})));
  }

 private:
  Computation* into_;
};

// Threefry-2x32 with 20 rounds, of counters u64[blocks].
std::array<Instruction*, 2> ThreeFry(Words& words, Instruction* counter, Instruction* key) {
  static constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Instruction *low = words.Low(key), *high = words.High(key);
  Instruction* third = words.Xor(words.Xor(low, high), words.Number(low, 0x1BD11BDAu));
  const std::array<Instruction*, 3> keys = {low, high, third};
  const auto with_key = [&](Instruction* x, uint64_t k) {
    return words.Add(x, words.Spread(keys[k % 3], x));
  };
  Instruction *x0 = with_key(words.Low(counter), 0), *x1 = with_key(words.High(counter), 1);
  for (uint64_t group = 0; group < 5; ++group) {
    for (int rotation : kRotations[group % 2]) {
      x0 = words.Add(x0, x1);
      x1 = words.Xor(words.Rotate(x1, static_cast<uint64_t>(rotation)), x0);
    }
    x0 = with_key(x0, group + 1);
    x1 = with_key(x1, group + 2);
    x1 = words.Add(x1, words.Number(x1, group + 1));
  }
  return {x0, x1};
}

// Philox-4x32 with 10 rounds.
std::array<Instruction*, 4> Philox(Words& words, Instruction* low, Instruction* high,
                                   Instruction* key) {
  std::array<Instruction*, 4> c = {words.Low(low), words.High(low), words.Low(high),
                                   words.High(high)};
  Instruction *k0 = words.Low(key), *k1 = words.High(key);
  const auto product = [&](Instruction* x, uint64_t factor) {
    Instruction* wide = words.As(kLong, x);
    return words.Op(Opcode::kMultiply, wide, words.Number(wide, factor));
  };
  for (int round = 0; round < 10; ++round) {
    Instruction *p = product(c[0], 0xD2511F53u), *q = product(c[2], 0xCD9E8D57u);
    c = {words.Xor(words.Xor(words.High(q), c[1]), words.Spread(k0, c[1])), words.Low(q),
         words.Xor(words.Xor(words.High(p), c[3]), words.Spread(k1, c[3])), words.Low(p)};
    k0 = words.Add(k0, words.Number(k0, 0x9E3779B9u));
    k1 = words.Add(k1, words.Number(k1, 0xBB67AE85u));
  }
  return c;
}

class BitGenerator {
 public:
  explicit BitGenerator(Instruction* op)
      : into_(op->parent()),
        words_(into_),
        state_(op->operand(0)),
        shape_(op->shape().elements()[1]),
        key_(words_.WordOf(state_, 0)),
        counter_(words_.WordOf(state_, 1)) {}

  Instruction* Expand(const Instruction& op) {
    const bool three =
        op.attributes().Word<RngAlgorithm>(Attr::kRngAlgorithm) == RngAlgorithm::kThreeFry;
    Instruction* bits = three ? ThreeFryBits() : PhiloxBits();
    std::vector<Instruction*> next;
    for (Instruction* word : next_) next.push_back(words_.Reshape(word, {1}));
    Instruction* state = WithShape(words_.Concatenate(next, 0), op.shape().elements()[0]);
    return into_->Add(Opcode::kTuple, op.shape(), {state, WithShape(bits, shape_)});
  }

 private:
  bool IsLong() const { return BitWidth(shape_.element_type()) == 64; }

  Instruction* WithShape(Instruction* bits, const Shape& shape) {
    const ElementType plain = UnsignedOf(shape.element_type());
    bits = words_.Reshape(bits, DimVector(shape.dimensions().begin(), shape.dimensions().end()));
    if (bits->shape().element_type() != plain) {
      bits =
          words_.Op(Opcode::kAnd, bits, words_.Number(bits, (uint64_t{1} << BitWidth(plain)) - 1));
      bits = words_.As(plain, bits);
    }
    if (plain != shape.element_type()) {
      bits = into_->Add(Opcode::kBitcastConvert,
                        Shape::Array(shape.element_type(), shape.dimensions()), {bits});
    }
    return bits->shape() == shape ? bits : into_->Add(Opcode::kCopy, shape, {bits});
  }

  // The pairs lie along the first dimension of even size, or along the first of the largest.
  Instruction* ThreeFryBits() {
    int64_t split = 0, size = 1, inner = 1;
    for (int64_t d = 0; d < shape_.rank(); ++d) {
      if (shape_.dimension(d) > shape_.dimension(split)) split = d;
    }
    for (int64_t d = shape_.rank() - 1; d >= 0; --d) {
      if (shape_.dimension(d) % 2 == 0) split = d;
    }
    for (int64_t d = split + 1; d < shape_.rank(); ++d) inner *= shape_.dimension(d);
    if (shape_.rank() > 0) size = shape_.dimension(split);
    const int64_t half = (size + 1) / 2, outer = shape_.ElementCount() / (size * inner);
    const int64_t blocks = IsLong() ? shape_.ElementCount() : outer * half * inner;
    const auto counters = words_.Count(blocks);
    const auto [x0, x1] =
        ThreeFry(words_, words_.Add(counters, words_.Spread(counter_, counters)), key_);
    next_ = {key_, Advanced(counter_, blocks)};
    if (IsLong()) return words_.Join(x0, x1);
    const DimVector line = {outer, half, 1, inner};
    Instruction* pairs =
        words_.Concatenate({words_.Reshape(x0, line), words_.Reshape(x1, line)}, 2);
    return words_.First(words_.Reshape(pairs, {outer, 2 * half, inner}), 1, size);
  }

  Instruction* PhiloxBits() {
    const bool is_wide = state_->shape().ElementCount() == 3;
    Instruction* above = is_wide ? words_.WordOf(state_, 2) : key_;
    const int64_t count = shape_.ElementCount(), per_block = IsLong() ? 2 : 4;
    const int64_t blocks = (count + per_block - 1) / per_block;
    Instruction* numbers = words_.Count(blocks);
    Instruction* low = words_.Add(numbers, words_.Spread(counter_, numbers));
    Instruction* high =
        words_.Add(words_.Spread(above, low), Carry(low, words_.Spread(counter_, low)));
    const std::array<Instruction*, 4> block = Philox(words_, low, high, key_);
    Instruction* next_low = Advanced(counter_, blocks);
    next_ = {key_, next_low};
    if (is_wide) next_.push_back(words_.Add(above, Carry(next_low, counter_)));
    std::vector<Instruction*> parts;
    if (IsLong()) {
      parts = {words_.Join(block[0], block[1]), words_.Join(block[2], block[3])};
    } else {
      parts.assign(block.begin(), block.end());
    }
    for (Instruction*& part : parts) part = words_.Reshape(part, {blocks, 1});
    Instruction* all = words_.Reshape(words_.Concatenate(parts, 1), {blocks * per_block});
    return words_.First(all, 0, count);
  }

  Instruction* Advanced(Instruction* counter, int64_t blocks) {
    return words_.Add(counter, words_.Number(counter, static_cast<uint64_t>(blocks)));
  }
  // 1 where a sum is less than one of its summands.
  Instruction* Carry(Instruction* sum, Instruction* summand) {
    Instruction* wrapped =
        into_->Add(Opcode::kCompare, Shape::Array(ElementType::kPred, sum->shape().dimensions()),
                   {sum, summand}, Attributes().Set(Attr::kDirection, Direction::kLt));
    return words_.As(kLong, wrapped);
  }

  Computation* into_;
  Words words_;
  Instruction* state_;
  const Shape& shape_;
  Instruction *key_, *counter_;
  std::vector<Instruction*> next_;  // the words of the next state
};

}  // namespace

bool RngBitGeneratorExpander::Matches(const Instruction& inst) const {
  if (!inst.shape().IsTuple() || inst.shape().elements().size() != 2) return false;
  const Shape& state = inst.operand(0)->shape();
  const Shape& bits = inst.shape().elements()[1];
  const ElementType type = bits.element_type();
  return IsInteger(type) && (IsUnsigned(type) || BitWidth(type) >= 8) && bits.ElementCount() > 0 &&
         state.element_type() == kLong && state.rank() == 1 && state.dimension(0) >= 2 &&
         state.dimension(0) <= 3;
}

Instruction* RngBitGeneratorExpander::Expand(Instruction* inst) const {
  return BitGenerator(inst).Expand(*inst);
}

}  // namespace assay
