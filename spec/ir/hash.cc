// Walks a module in an order that depends neither on names nor on the stored order, and adds all
// that carries meaning.
#include "spec/ir/hash.h"

#include <bit>
#include <type_traits>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "spec/attributes/sharding_text.h"

namespace assay {
namespace {

// Adds values so that different ones add different numbers: every list says its length first, and
// what may be absent says whether it is there. One overload per type; those of the alternatives of
// AttrValue are visited.
class Hasher {
 public:
  explicit Hasher(StableHash& hash) : hash_(hash) {}

  void operator()(bool v) const { hash_.Add(v ? 1 : 0); }
  void operator()(int64_t v) const { hash_.Add(static_cast<uint64_t>(v)); }
  void operator()(double v) const { hash_.Add(std::bit_cast<uint64_t>(v)); }
  void operator()(const std::string& v) const { hash_.Add(std::string_view(v)); }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  void operator()(Enum v) const {
    hash_.Add(static_cast<uint64_t>(v));
  }
  template <typename T>
  void operator()(const std::vector<T>& list) const {
    hash_.Add(list.size());
    for (const T& one : list) (*this)(one);
  }
  void operator()(absl::Span<const int64_t> list) const {
    hash_.Add(list.size());
    for (int64_t one : list) (*this)(one);
  }
  template <typename T>
  void operator()(const SharedValue<T>& value) const {
    (*this)(*value);
  }
  void operator()(const std::pair<std::string, std::string>& v) const {
    (*this)(v.first);
    (*this)(v.second);
  }

  void operator()(const SliceRange& value) const { All(value.start, value.limit, value.stride); }
  void operator()(const PaddingDim& value) const { All(value.low, value.high, value.interior); }
  void operator()(const WindowDim& value) const {
    All(value.size, value.stride, value.low, value.high, value.base_dilation, value.window_dilation,
        value.reversal);
  }
  void operator()(const ConvDimLabels& value) const {
    All(value.input_batch, value.input_feature, value.kernel_input_feature,
        value.kernel_output_feature, value.output_batch, value.output_feature);
    All(value.input_spatial, value.kernel_spatial, value.output_spatial);
  }
  void operator()(const OutputAlias& value) const {
    All(value.output_index, value.operand, value.operand_index);
  }
  void operator()(const ReplicaGroups& value) const { (*this)(value.Groups()); }
  void operator()(const Sharding& value) const {
    std::string text;
    AppendSharding(text, value, /*metadata=*/false);
    (*this)(text);
  }
  void operator()(const DomainMetadata& value) const { All(value.entry, value.exit); }

  void operator()(const LayoutExtras::Tile& value) const { (*this)(value.dims); }
  void operator()(const LayoutExtras::SplitConfig& value) const {
    All(value.dimension, value.split_indices);
  }
  void operator()(const Layout& value) const {
    (*this)(value.minor_to_major());
    const LayoutExtras* extras = value.extras();
    (*this)(extras != nullptr);
    if (extras == nullptr) return;
    All(extras->tiles, extras->tail_padding_alignment, extras->index_type, extras->pointer_type,
        extras->element_size_in_bits, extras->memory_space, extras->split_configs,
        extras->dynamic_shape_metadata_prefix_bytes);
  }
  void operator()(const Shape& value) const {
    (*this)(value.element_type());
    (*this)(value.dimensions());
    for (int64_t d = 0; d < value.rank(); ++d) (*this)(value.is_dynamic(d));
    if (value.IsArray()) (*this)(value.layout());
    (*this)(value.elements());
  }
  void operator()(const Literal& value) const {
    (*this)(value.shape());
    auto bytes = value.bytes();
    hash_.Add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    (*this)(value.elements());
  }

  void operator()(const InputOutputAlias& value) const {
    All(value.output_index, value.parameter, value.parameter_index, value.must_alias);
  }
  void operator()(const BufferDonor& value) const { All(value.parameter, value.parameter_index); }
  void operator()(const EntryLayout& value) const { All(value.parameters, value.result); }

 private:
  template <typename... Values>
  void All(const Values&... values) const {
    ((*this)(values), ...);
  }

  StableHash& hash_;
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
using InstructionNumbers = absl::flat_hash_map<const Instruction*, uint64_t>;

// Adds one instruction, whose operands, control predecessors and callees are numbered.
void AddInstruction(StableHash& hash, const Instruction& instruction,
                    const InstructionNumbers& numbers, const Numbers& computations) {
  const Hasher hasher(hash);
  hasher(instruction.opcode());
  hasher(instruction.shape());
  for (auto list : {instruction.operands(), instruction.control_predecessors()}) {
    hash.Add(list.size());
    for (const Instruction* one : list) hash.Add(numbers.at(one));
  }
  for (const auto& [attr, value] : instruction.attributes().entries()) {
    if (!CountsForMeaning(attr)) continue;
    hasher(attr);
    hash.Add(value.index());
    std::visit(hasher, value);
  }
  hash.Add(instruction.callees().size());
  for (const Computation* callee : instruction.callees()) hash.Add(computations.at(callee));
  hasher(instruction.literal() != nullptr);
  if (instruction.literal() != nullptr) hasher(*instruction.literal());
}

// Adds the computations, whose callees come before them, and numbers them.
Numbers AddComputations(StableHash& hash, const std::vector<const Computation*>& computations) {
  Numbers numbers;
  for (const Computation* computation : computations) {
    numbers.emplace(computation, numbers.size());
    const std::string& thread = computation->execution_thread();
    hash.Add(thread.empty() ? std::string_view("main") : std::string_view(thread));
    hash.Add(static_cast<uint64_t>(computation->instruction_count()));
    InstructionNumbers instruction_numbers;
    for (const Instruction* instruction : computation->PostOrder()) {
      instruction_numbers.emplace(instruction, instruction_numbers.size());
      AddInstruction(hash, *instruction, instruction_numbers, numbers);
      if (instruction == computation->root()) hash.Add("root");
    }
  }
  return numbers;
}

// Hashes the module's header. Layouts of the entry that it does not state are those of the
// instructions.
void AddConfig(StableHash& hash, const Module& module) {
  const Hasher hasher(hash);
  const ModuleConfig& config = module.config();
  hasher(config.input_output_alias);
  hasher(config.buffer_donors);
  hasher(config.alias_passthrough_params);
  if (config.entry_layout != nullptr) {
    hasher(*config.entry_layout);
  } else if (module.entry() != nullptr) {
    hasher(EntryLayout(module.entry()->ComputeProgramShape(), /*ignore_layouts=*/false));
  }
  hasher(config.replica_count);
  hasher(config.num_partitions);
  hasher(config.verbatim);
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
  // Computations that the entry does not reach come last.
  for (const Computation* computation : module.ComputationPostOrder()) order.Enter(computation);
  StableHash hash;
  const Numbers numbers = AddComputations(hash, order.order());
  if (module.entry() != nullptr) hash.Add(numbers.at(module.entry()));
  AddConfig(hash, module);
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
