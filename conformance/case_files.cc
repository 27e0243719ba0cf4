// Finds modules in folders and shapes stored arrays as the entry parameters want them.
#include "conformance/case_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <map>
#include <system_error>
#include <tuple>

#include "conformance/random_literal.h"
#include "spec/backend/check.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/types/npz.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

bool EndsWith(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

constexpr std::string_view kBinaryEndings[] = {".hlo.pb", ".hlo.pb.gz"};

bool IsBinaryName(const std::string& name) {
  return std::any_of(std::begin(kBinaryEndings), std::end(kBinaryEndings),
                     [&](std::string_view end) { return EndsWith(name, end); });
}

// A module that a folder is asked for: neither a compiler's optimized form of another one nor what
// dumps hold besides modules.
bool IsModuleName(const std::string& name) {
  if (EndsWith(name, ".hlo")) return !EndsWith(name, ".opt.hlo");
  if (IsBinaryName(name)) return name.find("after_optimizations") == std::string::npos;
  return EndsWith(name, "before_optimizations.txt");
}

std::string WithoutEnding(const fs::path& path) {
  const std::string name = path.filename().string();
  for (std::string_view end : kBinaryEndings) {
    if (EndsWith(name, end)) return name.substr(0, name.size() - end.size());
  }
  return path.stem().string();
}

CaseFile CaseAt(const fs::path& path) {
  CaseFile result;
  result.module_path = path.string();
  result.name = WithoutEnding(path);
  std::string arrays_name = result.name;
  if (EndsWith(arrays_name, ".opt")) arrays_name.resize(arrays_name.size() - 4);
  fs::path arrays = path.parent_path() / (arrays_name + ".npz");
  std::error_code error;
  if (fs::exists(arrays, error)) result.arrays_path = arrays.string();
  return result;
}

// The arrays that a module has a use for: its inputs, and results that somebody stored.
struct WantedArrays {
  std::vector<Shape> inputs, results;  // leaves, in order

  explicit WantedArrays(const Computation& entry) {
    const auto add_to = [](std::vector<Shape>& leaves) {
      return [&leaves](const Shape& leaf, absl::Span<const int64_t>) {
        if (!leaf.IsToken()) leaves.push_back(leaf);
      };
    };
    for (const Instruction* parameter : entry.parameters()) {
      ForEachLeaf(parameter->shape(), add_to(inputs));
    }
    ForEachLeaf(entry.root()->shape(), add_to(results));
  }

  // "in0 to in2", "no in0".
  static std::string Range(std::string_view prefix, size_t count) {
    if (count == 0) return StrCat("no ", prefix, "0");
    return count == 1 ? StrCat(prefix, "0") : StrCat(prefix, "0 to ", prefix, count - 1);
  }

  // The shape that is wanted under `name` (in0, in0_d1, out2); nullptr: none is.
  const Shape* Find(std::string_view name) const {
    const bool is_input = name.starts_with("in");
    if (!is_input && !name.starts_with("out")) return nullptr;
    name.remove_prefix(is_input ? 2 : 3);
    const size_t end = name.find("_d");
    const auto number = [](std::string_view digits) -> std::optional<size_t> {
      size_t value = 0;
      const auto [stop, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), value);
      const bool is_plain = error == std::errc() && stop == digits.data() + digits.size() &&
                            (digits.size() == 1 || digits[0] != '0');
      return is_plain ? std::optional<size_t>(value) : std::nullopt;
    };
    if (end != std::string_view::npos && !number(name.substr(end + 2)).has_value()) return nullptr;
    const std::optional<size_t> leaf = number(name.substr(0, end));
    const std::vector<Shape>& leaves = is_input ? inputs : results;
    return leaf.has_value() && *leaf < leaves.size() ? &leaves[*leaf] : nullptr;
  }

  // Before an array is unpacked: one that nobody asks for, or that cannot be what is asked for, may
  // be of any size.
  absl::Status Admit(std::string_view name, int64_t bytes) const {
    constexpr int64_t kLongestHeader = int64_t{64} << 10;
    const Shape* shape = Find(name);
    if (shape == nullptr) {
      return absl::InvalidArgumentError(
          StrCat("the array '", name.substr(0, 80), "' is none of this module's, which has ",
                 Range("in", inputs.size()), " and ", Range("out", results.size())));
    }
    if (bytes <= shape->ByteSize() + kLongestHeader) return absl::OkStatus();
    return absl::InvalidArgumentError(StrCat("array '", name, "' has ", bytes, " bytes where ",
                                             shape->ToString(), " takes ", shape->ByteSize()));
  }
};

// "in0, in1, out0", not more than a line of them.
std::string NamesOf(const std::map<std::string, Literal>& arrays) {
  constexpr size_t kMost = 12;
  std::string names;
  size_t count = 0;
  for (const auto& [name, literal] : arrays) {
    if (++count > kMost) return StrCat(names, ", ...");
    StrAppend(&names, names.empty() ? "" : ", ", name);
  }
  return names.empty() ? "none" : names;
}

// Takes the leaves of `shape` from `arrays` under the names prefix<next>, prefix<next+1>, ..., with
// `suffix` where there are such.
absl::StatusOr<Literal> TakeLeaves(const Shape& shape, std::string_view prefix,
                                   std::string_view suffix,
                                   const std::map<std::string, Literal>& arrays, int64_t& next) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& element : shape.elements()) {
      ASSAY_ASSIGN_OR_RETURN(Literal leaf, TakeLeaves(element, prefix, suffix, arrays, next));
      elements.push_back(std::move(leaf));
    }
    return Literal::Tuple(std::move(elements));
  }
  if (shape.IsToken()) return Literal(shape);
  std::string name = StrCat(prefix, next);
  auto at = arrays.find(StrCat(name, suffix));
  if (at == arrays.end()) at = arrays.find(name);
  if (at == arrays.end()) {
    return absl::InvalidArgumentError(StrCat("the arrays have no '", name,
                                             suffix == "_d0" ? "" : suffix, "', which should be ",
                                             shape.ToString(), "; they have ", NamesOf(arrays)));
  }
  ++next;
  absl::StatusOr<Literal> literal = AsShape(at->second, shape);
  if (!literal.ok()) {
    return absl::InvalidArgumentError(StrCat("array '", name, "': ", literal.status().message()));
  }
  return literal;
}

absl::StatusOr<Literal> DrawLeaves(const Shape& shape, uint64_t seed, uint64_t& stream) {
  if (!shape.IsTuple()) return RandomLiteral(shape, ValueRule::Default(shape), seed, stream++);
  std::vector<Literal> elements;
  for (const Shape& element : shape.elements()) {
    ASSAY_ASSIGN_OR_RETURN(Literal leaf, DrawLeaves(element, seed, stream));
    elements.push_back(std::move(leaf));
  }
  return Literal::Tuple(std::move(elements));
}

}  // namespace

absl::StatusOr<std::vector<CaseFile>> FindCases(const std::string& path) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::none) {
    return FileError(path, "cannot be looked at", error.value());
  }
  if (!fs::exists(status)) return absl::NotFoundError(StrCat("there is no ", path));
  if (!fs::is_directory(status)) return std::vector<CaseFile>{CaseAt(path)};
  std::vector<CaseFile> cases;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    std::string name = entry.path().filename().string();
    if (IsModuleName(name)) cases.push_back(CaseAt(entry.path()));
  }
  if (error) return absl::UnavailableError(StrCat("cannot list ", path, ": ", error.message()));
  if (cases.empty()) {
    return absl::NotFoundError(
        StrCat("no module (*.hlo, *.hlo.pb, *before_optimizations.txt) lies in the folder ", path));
  }
  // A module in both forms is one: the text is taken, whose errors have places.
  auto key = [](const CaseFile& file) {
    return std::make_tuple(std::string_view(file.name), IsBinaryName(file.module_path),
                           std::string_view(file.module_path));
  };
  std::sort(cases.begin(), cases.end(),
            [&](const CaseFile& a, const CaseFile& b) { return key(a) < key(b); });
  cases.erase(std::unique(cases.begin(), cases.end(),
                          [](const CaseFile& a, const CaseFile& b) {
                            return a.name == b.name && IsBinaryName(b.module_path);
                          }),
              cases.end());
  return cases;
}

namespace {

// Counts the devices that `arrays` are numbered for; the module's header says how they divide into
// replicas and partitions. Arrays without such numbers are given to every device.
absl::StatusOr<DeviceAssignment> NumberedDevices(const Module& module,
                                                 const std::map<std::string, Literal>& arrays) {
  DeviceAssignment devices;
  int64_t count = 0;
  while (arrays.count(StrCat("in0_d", count)) != 0 || arrays.count(StrCat("out0_d", count)) != 0)
    ++count;
  if (count <= 1) return count == 0 ? DevicesOf(module) : devices;
  devices.replicas = module.config().replica_count;
  devices.partitions = module.config().num_partitions;
  if (devices.replicas == 1 && devices.partitions == 1) devices.replicas = count;
  if (devices.replicas > count || devices.partitions > count ||
      devices.replicas * devices.partitions != count) {
    return absl::InvalidArgumentError(StrCat("the arrays are those of ", count,
                                             " devices, the module is for ", devices.replicas,
                                             " replicas of ", devices.partitions, " partitions"));
  }
  return devices;
}

}  // namespace

absl::StatusOr<CaseArrays> LoadArrays(const Module& module, const std::string& arrays_path,
                                      uint64_t seed, std::optional<DeviceAssignment> devices) {
  CaseArrays result;
  const Computation& entry = *module.entry();
  std::map<std::string, Literal> arrays;
  if (!arrays_path.empty()) {
    const WantedArrays wanted(entry);
    ASSAY_ASSIGN_OR_RETURN(arrays, ReadNpz(arrays_path, kDefaultLiteralLimit,
                                           [&](std::string_view name, int64_t bytes) {
                                             return wanted.Admit(name, bytes);
                                           }));
    if (!devices.has_value()) {
      ASSAY_ASSIGN_OR_RETURN(devices, NumberedDevices(module, arrays));
    }
  }
  if (!devices.has_value() && arrays_path.empty()) {
    constexpr int64_t kMost = 1024;  // a header is quickly written
    devices.emplace();
    devices->replicas = std::max<int64_t>(module.config().replica_count, 1);
    devices->partitions = std::max<int64_t>(module.config().num_partitions, 1);
    if (devices->replicas > kMost || devices->partitions > kMost / devices->replicas) {
      return absl::InvalidArgumentError(
          StrCat("the header's ", devices->replicas, " replicas of ", devices->partitions,
                 " partitions are more than ", kMost,
                 " devices; assay run takes fewer by --replicas and --partitions"));
    }
  }
  if (devices.has_value()) result.devices = *devices;
  result.generated = arrays_path.empty();
  const int64_t count = result.devices.replicas * result.devices.partitions;
  uint64_t stream = 0;
  for (int64_t d = 0; d < count; ++d) {
    int64_t next = 0;
    for (const Instruction* parameter : entry.parameters()) {
      ASSAY_ASSIGN_OR_RETURN(
          Literal literal,
          result.generated ? DrawLeaves(parameter->shape(), seed, stream)
                           : TakeLeaves(parameter->shape(), "in", StrCat("_d", d), arrays, next));
      result.arguments.push_back(std::move(literal));
    }
  }
  // Names are sorted: where any result is stored, all must be.
  const auto stored = arrays.lower_bound("out");
  if (stored == arrays.end() || !stored->first.starts_with("out")) return result;
  absl::Status status;
  for (int64_t d = 0; d < count; ++d) {
    int64_t next = 0;
    ForEachLeaf(entry.root()->shape(), [&](const Shape& leaf, absl::Span<const int64_t>) {
      if (!status.ok()) return;
      absl::StatusOr<Literal> literal = TakeLeaves(leaf, "out", StrCat("_d", d), arrays, next);
      status = literal.status();
      if (literal.ok()) result.stored.push_back(*std::move(literal));
    });
  }
  ASSAY_RETURN_IF_ERROR(status);
  return result;
}

std::vector<std::vector<const Literal*>> ArgumentsByDevice(const CaseArrays& arrays) {
  const auto count = static_cast<size_t>(arrays.devices.replicas * arrays.devices.partitions);
  std::vector<std::vector<const Literal*>> arguments(count);
  const size_t each = arrays.arguments.size() / count;
  for (size_t i = 0; i < arrays.arguments.size(); ++i)
    arguments[i / each].push_back(&arrays.arguments[i]);
  return arguments;
}

std::vector<const Literal*> Pointers(const std::vector<Literal>& literals) {
  std::vector<const Literal*> pointers;
  for (const Literal& literal : literals) pointers.push_back(&literal);
  return pointers;
}

}  // namespace assay
