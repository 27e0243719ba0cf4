// Values are sorted into classes by ever weaker keys, and paired in each class in their order.
#include "conformance/dumps/pairing.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "spec/base/strings.h"
#include "spec/ir/hash.h"

namespace assay {
namespace {

// The facts about a value that can be known without comparing any elements.
struct Description {
  std::string kind;  // leaf, type, dimensions and loops around it
  std::string name, op_name, opcode;
  std::string numbers;  // a hash of what it holds
};

std::string KindOf(const Capture& value) {
  if (value.leaf == Capture::kBranchTaken)
    return StrCat("branch ", value.values.shape().ToString());
  std::string dimensions;
  int64_t leaf = 0;
  ForEachLeaf(value.instruction->shape(), [&](const Shape& shape, absl::Span<const int64_t>) {
    if (leaf++ != value.leaf) return;
    dimensions = StrCat(Shape::Array(shape.element_type(), shape.dimensions()).ToString(), " in ",
                        value.values.shape().rank() - shape.rank());
  });
  // The states of a loop are paired with states only.
  return StrCat(value.instruction->opcode() == Opcode::kWhile ? "state " : "", dimensions);
}

std::vector<Description> Describe(const ProgramRun& run) {
  std::vector<Description> all;
  for (const Capture& value : run.values) {
    const Instruction& origin = OriginOf(run.flat, *value.instruction);
    Description& description = all.emplace_back();
    description.kind = KindOf(value);
    description.name = StrCat(origin.name(), "/", value.leaf);
    description.op_name = StrCat(OpNameOf(origin), "/", value.leaf);
    description.opcode = Name(origin.opcode());
    StableHash hash;
    for (int64_t size : value.values.shape().dimensions()) hash.Add(static_cast<uint64_t>(size));
    const auto bytes = value.values.bytes();
    hash.Add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    description.numbers = StrCat(hash.Finish());
  }
  return all;
}

class Pairing {
 public:
  Pairing(const ProgramRun& before, const ProgramRun& after)
      : before_(Describe(before)),
        after_(Describe(after)),
        taken_before_(before_.size()),
        taken_after_(after_.size()) {}

  std::vector<ValuePair> Run() {
    By([](const Description& d) { return StrCat(d.numbers, " ", d.name); }, /*only_unique=*/false);
    // Passes that rename give old names to other values: then numbers say more than names.
    const bool is_named_anew = 2 * pairs_.size() < SharedNames();
    if (is_named_anew) ByNumbers();
    By([](const Description& d) { return StrCat(d.name, " ", d.op_name, " ", d.opcode); },
       /*only_unique=*/true);
    if (!is_named_anew) ByNumbers();
    By(
        [](const Description& d) {
          return d.op_name.front() == '/' ? "" : StrCat(d.op_name, " ", d.opcode);
        },
        /*only_unique=*/true);
    By([](const Description& d) { return d.name; }, /*only_unique=*/true);
    std::sort(pairs_.begin(), pairs_.end(),
              [](const ValuePair& a, const ValuePair& b) { return a.before < b.before; });
    return pairs_;
  }

 private:
  using Key = std::function<std::string(const Description&)>;

  void ByNumbers() {
    By([](const Description& d) { return d.numbers; }, /*only_unique=*/false);
  }

  size_t SharedNames() const {
    absl::flat_hash_set<std::string> names;
    for (const Description& each : before_) names.insert(StrCat(each.kind, " ", each.name));
    return std::count_if(after_.begin(), after_.end(), [&](const Description& each) {
      return names.contains(StrCat(each.kind, " ", each.name));
    });
  }

  // Pairs what has the same key, where it is not "", in order. `only_unique`: only where there are
  // as many of a key before as after.
  void By(const Key& key, bool only_unique) {
    std::map<std::string, std::pair<std::vector<size_t>, std::vector<size_t>>> classes;
    for (size_t k = 0; k < before_.size(); ++k) {
      const std::string name = key(before_[k]);
      if (!taken_before_[k] && !name.empty())
        classes[StrCat(before_[k].kind, " ", name)].first.push_back(k);
    }
    for (size_t k = 0; k < after_.size(); ++k) {
      const std::string name = key(after_[k]);
      if (!taken_after_[k] && !name.empty())
        classes[StrCat(after_[k].kind, " ", name)].second.push_back(k);
    }
    for (const auto& [name, members] : classes) {
      const auto& [first, second] = members;
      if (only_unique && first.size() != second.size()) continue;
      for (size_t k = 0; k < std::min(first.size(), second.size()); ++k) {
        pairs_.push_back({first[k], second[k]});
        taken_before_[first[k]] = taken_after_[second[k]] = true;
      }
    }
  }

  const std::vector<Description> before_, after_;
  std::vector<bool> taken_before_, taken_after_;
  std::vector<ValuePair> pairs_;
};

}  // namespace

std::vector<ValuePair> PairValues(const ProgramRun& before, const ProgramRun& after) {
  return Pairing(before, after).Run();
}

}  // namespace assay
