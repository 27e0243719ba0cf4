// Makes dimensions smaller together with all that hangs on them.
#include "fuzz/reduce/resize.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "fuzz/reduce/edit.h"
#include "fuzz/reduce/links/follow.h"

namespace assay {
namespace {

constexpr int kMaxRounds = 12;  // of sizes that follow from sizes
// A plainer window may make any length of a short array.
constexpr int64_t kMostOfGrown = int64_t{1} << 20;  // elements of an input or a constant

class Resizer {
 public:
  Resizer(const ReduceCase& original, const Equivalence& sizes, SizeByClass wanted, bool keep_end)
      : original_(original), sizes_(sizes), wanted_(std::move(wanted)), keep_end_(keep_end) {}

  std::optional<ReduceCase> Run() {
    for (int round = 0; round < kMaxRounds; ++round) {
      ReduceCase c = original_.Clone();
      SetShapes(*c.module);
      Outcome outcome = FixAttributes(*c.module);
      if (outcome == Outcome::kImpossible) return std::nullopt;
      if (outcome == Outcome::kAgain) continue;
      if (!FixLiterals(c)) return std::nullopt;
      return c;
    }
    return std::nullopt;
  }

 private:
  enum class Outcome { kDone, kAgain, kImpossible };

  void SetShapes(Module& clone) {
    const Module& module = *original_.module;
    for (size_t k = 0; k < module.computations().size(); ++k) {
      auto there = clone.computations()[k]->begin();
      for (const Instruction* at : *module.computations()[k]) {
        std::vector<Shape*> leaves = MutableLeaves((*there)->mutable_shape());
        for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
          if (!leaves[leaf]->IsArray()) continue;
          for (int64_t d = 0; d < leaves[leaf]->rank(); ++d) {
            auto size = wanted_.find(sizes_.ClassOf(at, static_cast<int64_t>(leaf), d));
            if (size != wanted_.end()) leaves[leaf]->set_dimension(d, size->second);
          }
        }
        ++there;
      }
    }
  }

  // Demands a size of a dimension of an array-shaped instruction; kAgain if that is news.
  Outcome Demand(const Instruction* original, int64_t dimension, int64_t size) {
    return Demand(FollowingSize{original, 0, dimension, size});
  }
  Outcome Demand(const FollowingSize& following) {
    const auto& [of, leaf, dimension, size] = following;
    auto [at, inserted] = wanted_.try_emplace(sizes_.ClassOf(of, leaf, dimension), size);
    if (inserted) return Outcome::kAgain;
    return at->second == size ? Outcome::kDone : Outcome::kImpossible;
  }

  // A size that follows from another is set before the ops behind it are looked at, so that a chain
  // of any length takes one round, and another that begins with all sizes.
  Outcome FixAttributes(Module& clone) {
    const Module& module = *original_.module;
    Outcome whole = Outcome::kDone;
    for (size_t k = 0; k < module.computations().size(); ++k) {
      auto there = clone.computations()[k]->begin();
      for (const Instruction* at : *module.computations()[k]) {
        Outcome outcome = Fix(at, *there);
        for (; outcome == Outcome::kAgain; outcome = Fix(at, *there)) {  // each time a new class
          whole = Outcome::kAgain;
          SetShapes(clone);
        }
        if (outcome == Outcome::kImpossible) return outcome;
        ++there;
      }
    }
    return whole;
  }

  Outcome Fix(const Instruction* original, Instruction* changed) {
    switch (changed->opcode()) {
      case Opcode::kSlice:
        return FixSlice(original, changed);
      case Opcode::kDynamicSlice:
        return FixDynamicSlice(original, changed);
      case Opcode::kDynamicUpdateSlice:
        return FixUpdate(original, changed);
      case Opcode::kPad:
        return FixPad(original, changed);
      case Opcode::kConcatenate:
        return FixConcatenate(original, changed);
      case Opcode::kReshape:
        return FixReshape(original, changed);
      case Opcode::kDynamicReshape:
        FixRunTimeSizes(original, changed);
        return FixReshape(original, changed);
      default:
        return FixByRule(original, changed);
    }
  }

  Outcome FixByRule(const Instruction* original, Instruction* changed) {
    FitAttributes(changed);
    for (const FollowingSize& size : FollowingSizes(original, changed)) {
      const Outcome outcome = Demand(size);
      if (outcome != Outcome::kDone) return outcome;
    }
    return Outcome::kDone;
  }

  Outcome FixSlice(const Instruction* original, Instruction* changed) {
    const Shape &in = changed->operand(0)->shape(), &out = changed->shape();
    auto* ranges =
        std::get_if<std::vector<SliceRange>>(changed->mutable_attributes().Find(Attr::kSlice));
    if (ranges == nullptr) return Outcome::kImpossible;
    for (int64_t d = 0; d < out.rank(); ++d) {
      SliceRange& r = (*ranges)[d];
      if (out.dimension(d) > in.dimension(d)) return Demand(original, d, in.dimension(d));
      auto span = [&] { return out.dimension(d) == 0 ? 0 : (out.dimension(d) - 1) * r.stride + 1; };
      if (span() > in.dimension(d)) r.stride = 1;
      r.start = std::clamp<int64_t>(r.start, 0, in.dimension(d) - span());
      r.limit = r.start + span();
    }
    return Outcome::kDone;
  }

  Outcome FixDynamicSlice(const Instruction* original, Instruction* changed) {
    const Shape &in = changed->operand(0)->shape(), &out = changed->shape();
    for (int64_t d = 0; d < out.rank(); ++d) {
      if (out.dimension(d) > in.dimension(d)) return Demand(original, d, in.dimension(d));
    }
    changed->mutable_attributes().Set(Attr::kDynamicSliceSizes, out.dimensions());
    return Outcome::kDone;
  }

  Outcome FixUpdate(const Instruction* original, Instruction* changed) {
    const Shape &update = changed->operand(1)->shape(), &out = changed->shape();
    for (int64_t d = 0; d < out.rank(); ++d) {
      if (update.dimension(d) > out.dimension(d)) {
        return Demand(original->operand(1), d, out.dimension(d));
      }
    }
    return Outcome::kDone;
  }

  Outcome FixPad(const Instruction*, Instruction* changed) {
    const Shape &in = changed->operand(0)->shape(), &out = changed->shape();
    auto* padding =
        std::get_if<std::vector<PaddingDim>>(changed->mutable_attributes().Find(Attr::kPadding));
    if (padding == nullptr) return Outcome::kImpossible;
    for (int64_t d = 0; d < out.rank(); ++d) {
      PaddingDim& p = (*padding)[d];
      int64_t inner = in.dimension(d) + std::max<int64_t>(in.dimension(d) - 1, 0) * p.interior;
      p.high = out.dimension(d) - inner - p.low;
    }
    return Outcome::kDone;
  }

  Outcome FixConcatenate(const Instruction* original, Instruction* changed) {
    absl::Span<const int64_t> dims = changed->attributes().Integers(Attr::kDimension);
    if (dims.size() != 1) return Outcome::kImpossible;
    int64_t sum = 0;
    for (const Instruction* operand : changed->operands())
      sum += operand->shape().dimension(dims[0]);
    if (sum == changed->shape().dimension(dims[0])) return Outcome::kDone;
    return Demand(original, dims[0], sum);
  }

  // Makes the counts of elements agree again: the largest dimension of the result takes all of the
  // operand, or the other way round.
  Outcome FixReshape(const Instruction* original, Instruction* changed) {
    const Shape &in = changed->operand(0)->shape(), &out = changed->shape();
    if (in.ElementCount() == out.ElementCount()) return Outcome::kDone;
    Outcome outcome = Gather(original, original->shape(), in.ElementCount());
    if (outcome != Outcome::kImpossible) return outcome;
    return Gather(original->operand(0), original->operand(0)->shape(), out.ElementCount());
  }

  // Sizes that were all of their dimension stay so.
  static void FixRunTimeSizes(const Instruction* original, Instruction* changed) {
    for (int64_t d = 0; d < original->shape().rank(); ++d) {
      const Instruction* size = original->operand(d + 1);
      const int64_t now = changed->shape().dimension(d), before = original->shape().dimension(d);
      if (size->opcode() != Opcode::kConstant || size->literal() == nullptr || now == before)
        continue;
      Literal literal = *size->literal();
      if (literal.GetInteger(0) != before) continue;
      literal.SetInteger(0, now);
      changed->operand(d + 1)->set_literal(std::make_shared<const Literal>(std::move(literal)));
    }
  }

  // Gives `at` a total of `count` elements by resizing one of its dimensions that is free to
  // change.
  Outcome Gather(const Instruction* at, const Shape& shape, int64_t count) {
    int64_t rest = 1, free = -1;
    for (int64_t d = 0; d < shape.rank(); ++d) {
      auto fixed = wanted_.find(sizes_.ClassOf(at, 0, d));
      if (fixed != wanted_.end()) {
        rest *= fixed->second;
      } else if (free < 0 || shape.dimension(d) > shape.dimension(free)) {
        if (free >= 0) rest *= shape.dimension(free);
        free = d;
      } else {
        rest *= shape.dimension(d);
      }
    }
    if (free < 0) return Outcome::kImpossible;
    if (rest != 0 && count % rest == 0) return Demand(at, free, count / rest);
    // Room for the others: first make the smaller free dimensions one.
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (d != free && shape.dimension(d) != 1 && !wanted_.contains(sizes_.ClassOf(at, 0, d))) {
        return Demand(at, d, 1);
      }
    }
    return Outcome::kImpossible;
  }

  bool Refit(Literal& literal, const Shape& shape) const {
    if (SameDimensions(shape, literal.shape())) return true;
    if (shape.ElementCount() > std::max(literal.element_count(), kMostOfGrown)) return false;
    literal = Crop(literal, shape, keep_end_);
    return true;
  }

  bool FixLiterals(ReduceCase& reduce_case) {
    for (Computation* computation : reduce_case.module->computations()) {
      for (Instruction* at : *computation) {
        if (at->opcode() != Opcode::kConstant) continue;
        if (at->literal() == nullptr || !at->shape().IsArray()) continue;
        if (SameDimensions(at->shape(), at->literal()->shape())) continue;
        Literal literal = *at->literal();
        if (!Refit(literal, at->shape())) return false;
        at->set_literal(std::make_shared<const Literal>(std::move(literal)));
      }
    }
    const Computation* entry = reduce_case.module->entry();
    for (size_t i = 0; i < reduce_case.inputs.size(); ++i) {
      const Shape& shape = entry->parameter(static_cast<int64_t>(i))->shape();
      if (shape.IsArray() && !Refit(reduce_case.inputs[i], shape)) return false;
    }
    return true;
  }

  const ReduceCase& original_;
  const Equivalence& sizes_;
  SizeByClass wanted_;
  bool keep_end_;
};

}  // namespace

Literal Crop(const Literal& literal, const Shape& shape, bool keep_end) {
  return ElementsOf(literal, shape, [&](const auto& index, auto& source) {
    for (int64_t d = 0; d < shape.rank(); ++d) {
      const int64_t size = literal.shape().dimension(d);
      const int64_t skipped = keep_end ? std::max<int64_t>(size - shape.dimension(d), 0) : 0;
      source[d] = std::min(index[d] + skipped, size - 1);
    }
  });
}

std::optional<ReduceCase> Resize(const ReduceCase& original, const Equivalence& sizes,
                                 SizeByClass wanted, bool keep_end) {
  return Resizer(original, sizes, std::move(wanted), keep_end).Run();
}

}  // namespace assay
