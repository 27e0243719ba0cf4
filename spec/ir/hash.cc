#include "spec/ir/hash.h"

#include <bit>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "spec/text/writer.h"

namespace assay {
namespace {

void AddShape(StableHash& hash, const Shape& shape) {
  hash.Add(shape.ToString(/*with_layout=*/true));
}

void AddLiteral(StableHash& hash, const Literal& literal) {
  AddShape(hash, literal.shape());
  auto bytes = literal.bytes();
  hash.Add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  for (const Literal& element : literal.elements()) AddLiteral(hash, element);
}

// One overload per alternative of AttrValue.
struct AttrHasher {
  StableHash& hash;
  void operator()(bool v) const { hash.Add(v ? 1 : 0); }
  void operator()(int64_t v) const { hash.Add(static_cast<uint64_t>(v)); }
  void operator()(double v) const { hash.Add(std::bit_cast<uint64_t>(v)); }
  void operator()(const std::string& v) const { hash.Add(std::string_view(v)); }
  void operator()(const Int64List& v) const {
    hash.Add(v.size());
    for (int64_t i : v) hash.Add(static_cast<uint64_t>(i));
  }
  void operator()(const std::vector<Int64List>& v) const {
    hash.Add(v.size());
    for (const Int64List& list : v) (*this)(list);
  }
  void operator()(const std::vector<SliceRange>& v) const {
    for (const SliceRange& r : v) (*this)(Int64List{r.start, r.limit, r.stride});
  }
  void operator()(const std::vector<PaddingDim>& v) const {
    for (const PaddingDim& p : v) (*this)(Int64List{p.low, p.high, p.interior});
  }
  void operator()(const std::vector<WindowDim>& v) const {
    for (const WindowDim& w : v) {
      (*this)(Int64List{w.size, w.stride, w.low, w.high, w.base_dilation, w.window_dilation,
                        w.reversal ? 1 : 0});
    }
  }
  void operator()(const ConvDimLabels& v) const {
    (*this)(Int64List{v.input_batch, v.input_feature, v.kernel_input_feature,
                      v.kernel_output_feature, v.output_batch, v.output_feature});
    (*this)(v.input_spatial);
    (*this)(v.kernel_spatial);
    (*this)(v.output_spatial);
  }
  void operator()(const std::vector<OutputAlias>& v) const {
    for (const OutputAlias& alias : v) {
      (*this)(alias.output_index);
      hash.Add(static_cast<uint64_t>(alias.operand));
      (*this)(alias.operand_index);
    }
  }
  void operator()(const SharedValue<Shape>& v) const { AddShape(hash, *v); }
  void operator()(const SharedValue<std::vector<Shape>>& v) const {
    for (const Shape& shape : *v) AddShape(hash, shape);
  }
  void operator()(const SharedValue<ReplicaGroups>& v) const { (*this)(v->Groups()); }
  void operator()(const SharedValue<Sharding>& v) const {
    std::string text;
    AppendSharding(text, *v, /*metadata=*/false);
    hash.Add(std::string_view(text));
  }
  void operator()(const SharedValue<DomainMetadata>& v) const {
    (*this)(SharedValue<Sharding>(v->entry));
    (*this)(SharedValue<Sharding>(v->exit));
  }
  void operator()(const StringMap& v) const {
    for (const auto& [key, value] : v) {
      hash.Add(std::string_view(key));
      hash.Add(std::string_view(value));
    }
  }
};

bool CountsForMeaning(Attr attr) {
  return attr != Attr::kMetadata && attr != Attr::kOrigin && attr != Attr::kStatistics;
}

// Callees before callers, in the order of use, from the given computations on. Unlike the stored
// order of the module it is the same after writing and reading.
class OrderOfUse {
 public:
  void Enter(const Computation* computation) {
    if (seen_.insert(computation).second) Push(computation);
    while (!stack_.empty()) {
      Visit& top = stack_.back();
      if (top.next == top.callees.size()) {
        order_.push_back(top.computation);
        stack_.pop_back();
        continue;
      }
      const Computation* callee = top.callees[top.next++];
      if (seen_.insert(callee).second) Push(callee);
    }
  }
  const std::vector<const Computation*>& order() const { return order_; }

 private:
  struct Visit {
    const Computation* computation;
    std::vector<const Computation*> callees;
    size_t next = 0;
  };
  void Push(const Computation* computation) {
    Visit visit{computation, {}};
    for (const Instruction* instruction : computation->PostOrder()) {
      for (const Computation* callee : instruction->callees()) visit.callees.push_back(callee);
    }
    stack_.push_back(std::move(visit));
  }

  std::vector<const Computation*> order_;
  absl::flat_hash_set<const Computation*> seen_;
  std::vector<Visit> stack_;
};

using Numbers = absl::flat_hash_map<const Computation*, uint64_t>;

// Adds the computations, whose callees come before them, and numbers them.
Numbers AddComputations(StableHash& hash, const std::vector<const Computation*>& computations) {
  Numbers numbers;
  for (const Computation* computation : computations) {
    numbers.emplace(computation, numbers.size());
    absl::flat_hash_map<const Instruction*, uint64_t> instruction_numbers;
    for (const Instruction* instruction : computation->PostOrder()) {
      instruction_numbers.emplace(instruction, instruction_numbers.size());
      hash.Add(static_cast<uint64_t>(instruction->opcode()));
      AddShape(hash, instruction->shape());
      for (const Instruction* operand : instruction->operands())
        hash.Add(instruction_numbers.at(operand));
      for (const auto& [attr, value] : instruction->attributes().entries()) {
        if (!CountsForMeaning(attr)) continue;
        hash.Add(static_cast<uint64_t>(attr));
        std::visit(AttrHasher{hash}, value);
      }
      for (const Computation* callee : instruction->callees()) hash.Add(numbers.at(callee));
      if (instruction->literal() != nullptr) AddLiteral(hash, *instruction->literal());
      if (instruction == computation->root()) hash.Add("root");
    }
  }
  return numbers;
}

}  // namespace

void StableHash::Add(uint64_t value) {
  for (int i = 0; i < 8; ++i) {
    state_ ^= (value >> (8 * i)) & 0xFF;
    state_ *= 0x100000001b3u;
  }
}

void StableHash::Add(std::string_view text) {
  Add(text.size());
  for (char c : text) {
    state_ ^= static_cast<uint8_t>(c);
    state_ *= 0x100000001b3u;
  }
}

uint64_t StableHash::Finish() const {
  uint64_t x = state_;
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdu;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

uint64_t HashModule(const Module& module) {
  OrderOfUse order;
  if (module.entry() != nullptr) order.Enter(module.entry());
  // What the entry does not reach comes last.
  for (const Computation* computation : module.ComputationPostOrder()) order.Enter(computation);
  StableHash hash;
  const Numbers numbers = AddComputations(hash, order.order());
  if (module.entry() != nullptr) hash.Add(numbers.at(module.entry()));
  const ModuleConfig& config = module.config();
  for (const InputOutputAlias& alias : config.input_output_alias) {
    AttrHasher{hash}(alias.output_index);
    hash.Add(static_cast<uint64_t>(alias.parameter));
    AttrHasher{hash}(alias.parameter_index);
  }
  hash.Add(static_cast<uint64_t>(config.replica_count));
  hash.Add(static_cast<uint64_t>(config.num_partitions));
  return hash.Finish();
}

uint64_t HashComputation(const Computation& computation) {
  OrderOfUse order;
  order.Enter(&computation);
  StableHash hash;
  AddComputations(hash, order.order());
  return hash.Finish();
}

bool SameMeaning(const Attributes& a, const Attributes& b) {
  auto x = a.entries(), y = b.entries();
  size_t i = 0, j = 0;
  for (;;) {
    while (i < x.size() && !CountsForMeaning(x[i].first)) ++i;
    while (j < y.size() && !CountsForMeaning(y[j].first)) ++j;
    if (i == x.size() || j == y.size()) return i == x.size() && j == y.size();
    if (x[i++] != y[j++]) return false;
  }
}

}  // namespace assay
