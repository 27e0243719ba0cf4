// Finds modules in folders and shapes stored arrays as the entry parameters want them.
#include "conformance/case_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <tuple>

#include "conformance/inputs/drawn_inputs.h"
#include "conformance/inputs/dump_names.h"
#include "conformance/inputs/legal_inputs.h"
#include "conformance/inputs/random_literal.h"
#include "conformance/inputs/recorded_run.h"
#include "spec/backend/check.h"
#include "spec/base/file.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/files/load_module.h"
#include "spec/files/module_parts.h"
#include "spec/types/npz.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

bool EndsWith(const std::string& text, std::string_view end) { return text.ends_with(end); }

// Files that a run may be recorded in; arrays in an .npz are none.
bool IsRecordedRunPath(const std::string& path) {
  return EndsWith(path, ".pb") || EndsWith(path, ".pb.gz");
}

constexpr std::string_view kBinaryEndings[] = {".hlo.pb", ".hlo.pb.gz"};

bool IsBinaryName(const std::string& name) {
  return std::any_of(std::begin(kBinaryEndings), std::end(kBinaryEndings),
                     [&](std::string_view end) { return EndsWith(name, end); });
}

// A module that a folder is asked for: neither a compiler's optimized form of another one nor what
// dumps hold besides modules. What is after optimizations is left out later where the module before
// is there too.
bool IsModuleName(const std::string& name) {
  if (EndsWith(name, ".hlo")) return !EndsWith(name, ".opt.hlo");
  if (IsBinaryName(name)) return true;
  return EndsWith(name, "before_optimizations.txt") || EndsWith(name, "after_optimizations.txt");
}

std::string WithoutEnding(const fs::path& path) {
  const std::string name = path.filename().string();
  for (std::string_view end : kBinaryEndings) {
    if (EndsWith(name, end)) return name.substr(0, name.size() - end.size());
  }
  if (EndsWith(name, ".pb.gz")) return name.substr(0, name.size() - 6);
  return path.stem().string();
}

// The case of a module, and of a binary one maybe its own recorded run.
CaseFile CaseAt(const fs::path& path) {
  CaseFile result;
  result.module_path = path.string();
  result.name = WithoutEnding(path);
  std::string arrays_name = result.name;
  if (EndsWith(arrays_name, ".opt")) arrays_name.resize(arrays_name.size() - 4);
  fs::path arrays = path.parent_path() / (arrays_name + ".npz");
  std::error_code error;
  if (fs::exists(arrays, error)) {
    result.arrays_path = arrays.string();
  } else if (IsRecordedRunPath(result.module_path) && HoldsRecordedRun(result.module_path)) {
    result.arrays_path = result.module_path;
  }
  return result;
}

// One module of a file of several: FILE#PART, whose arrays lie in NAME.PART.npz.
CaseFile CaseOfPart(const ModulePath& part) {
  CaseFile result = CaseAt(part.file);
  result.module_path = StrCat(part.file, "#", part.part);
  StrAppend(&result.name, "#", part.part);
  const fs::path arrays =
      fs::path(part.file).parent_path() /
      StrCat(WithoutEnding(part.file), ".", fs::path(part.part).filename().string(), ".npz");
  std::error_code error;
  result.arrays_path = fs::exists(arrays, error) ? arrays.string() : "";
  return result;
}

// The modules of a file of several; empty: it holds one, or none.
std::vector<CaseFile> CasesOfParts(const std::string& path) {
  const std::vector<std::string> paths = ModulePathsOf(path);
  std::vector<CaseFile> cases;
  for (const std::string& one : paths)
    if (paths.size() > 1) cases.push_back(CaseOfPart(SplitModulePath(one)));
  return cases;
}

// The modules of a folder and the recorded runs that lie beside them.
struct ModuleFolder {
  std::vector<std::string> modules;                  // names of files
  std::set<std::string> keys;                        // of all modules, by DumpedName
  std::set<std::string> with_before;                 // keys of modules before optimizations
  std::map<std::string, std::string> of_one_device;  // names of files, by key
  std::vector<std::string> runs;                     // names of files, sorted

  static absl::StatusOr<ModuleFolder> List(const std::string& path) {
    ModuleFolder folder;
    std::error_code error;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
      const std::string name = at->path().filename().string();
      if (IsRunName(name)) {
        folder.runs.push_back(name);
        continue;
      }
      const DumpedName named = DumpedNameOf(name);
      if (!IsModuleName(name) && named.form != DumpedForm::kState) continue;
      folder.keys.insert(named.module);
      if (named.form == DumpedForm::kBefore) folder.with_before.insert(named.module);
      if (named.form != DumpedForm::kState) folder.modules.push_back(name);
      // XLA's partitioner makes the program of one device; what is after all passes is one, too.
      const bool is_partitioned = name.find(".after_spmd-partitioning.") != std::string::npos;
      if (is_partitioned || named.form == DumpedForm::kAfter) {
        std::string& form = folder.of_one_device[named.module];
        if (form.empty() || is_partitioned) form = name;
      }
    }
    if (error) return absl::UnavailableError(StrCat("cannot list ", path, ": ", error.message()));
    std::sort(folder.runs.begin(), folder.runs.end());
    return folder;
  }

  std::vector<std::string> RunsOf(const std::string& key) const {
    std::vector<std::string> of;
    for (const std::string& run : runs)
      if (OwnerOfRun(run, keys) == key) of.push_back(run);
    return of;
  }
};

// True of programs with parts that are written for one device (shard_map): they mean something only
// after they were partitioned.
bool IsWrittenByDevice(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return false;
  return text->find("xla.sdy.GlobalToLocalShape") != std::string::npos ||
         text->find("SPMDFullToShardShape") != std::string::npos;
}

// The case, once for each recorded run; once if it has arrays of its own, or nothing was recorded.
void AddWithRuns(const CaseFile& file, const ModuleFolder& folder, std::vector<CaseFile>& cases) {
  const fs::path path = file.module_path;
  const std::string key = DumpedNameOf(path.filename().string()).module;
  std::vector<std::string> runs;
  if (file.arrays_path.empty()) runs = folder.RunsOf(key);
  if (runs.empty()) cases.push_back(file);
  for (const std::string& run : runs) {
    CaseFile& each = cases.emplace_back(file);
    each.arrays_path = (path.parent_path() / run).string();
    // "module_0001.jit_f.before_optimizations@snapshot.123"
    if (runs.size() > 1) {
      const std::string tail = WithoutEnding(run);
      const bool is_longer = tail.starts_with(key) && tail.size() > key.size() + 1;
      StrAppend(&each.name, "@", is_longer ? tail.substr(key.size() + 1) : tail);
    }
  }
}

// The file and what was recorded of it.
absl::StatusOr<std::vector<CaseFile>> CasesOfFile(const fs::path& path) {
  if (std::vector<CaseFile> parts = CasesOfParts(path.string()); !parts.empty()) return parts;
  const CaseFile file = CaseAt(path);
  if (!file.arrays_path.empty() || IsRunName(path.filename().string()))
    return std::vector<CaseFile>{file};
  const std::string parent = path.parent_path().string();
  absl::StatusOr<ModuleFolder> folder = ModuleFolder::List(parent.empty() ? "." : parent);
  // If the folder may not be listed, the file is taken alone.
  if (!folder.ok()) return std::vector<CaseFile>{file};
  folder->keys.insert(DumpedNameOf(path.filename().string()).module);
  std::vector<CaseFile> cases;
  AddWithRuns(file, *folder, cases);
  return cases;
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

}  // namespace

absl::StatusOr<std::vector<CaseFile>> FindCases(const std::string& path) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::none) {
    return FileError(path, "cannot be looked at", error.value());
  }
  if (const ModulePath part = SplitModulePath(path); !part.part.empty())
    return std::vector<CaseFile>{CaseOfPart(part)};
  if (!fs::exists(status)) return absl::NotFoundError(StrCat("there is no ", path));
  if (!fs::is_directory(status)) return CasesOfFile(path);
  ASSAY_ASSIGN_OR_RETURN(const ModuleFolder folder, ModuleFolder::List(path));
  std::vector<CaseFile> modules;
  for (const std::string& name : folder.modules) {
    const DumpedName named = DumpedNameOf(name);
    if (named.form == DumpedForm::kAfter && folder.with_before.contains(named.module)) continue;
    fs::path file = fs::path(path) / name;
    if (named.form == DumpedForm::kBefore && IsWrittenByDevice(file.string())) {
      const auto other = folder.of_one_device.find(named.module);
      if (other != folder.of_one_device.end()) file = fs::path(path) / other->second;
    }
    modules.push_back(CaseAt(file));
  }
  for (const std::string& name : folder.runs)
    if (OwnerOfRun(name, folder.keys).empty()) modules.push_back(CaseAt(fs::path(path) / name));
  if (modules.empty()) {
    return absl::NotFoundError(StrCat(
        "no module (*.hlo, *.hlo.pb, *before_optimizations.txt, *after_optimizations.txt, "
        "*snapshot*.pb) lies in the folder ",
        path,
        folder.keys.empty() ? "" : ", only states between passes, which assay validate is for"));
  }
  // A module in both forms is one: the text is taken, whose errors have places.
  auto key = [](const CaseFile& file) {
    return std::make_tuple(std::string_view(file.name), IsBinaryName(file.module_path),
                           std::string_view(file.module_path));
  };
  std::sort(modules.begin(), modules.end(),
            [&](const CaseFile& a, const CaseFile& b) { return key(a) < key(b); });
  modules.erase(std::unique(modules.begin(), modules.end(),
                            [](const CaseFile& a, const CaseFile& b) {
                              return a.name == b.name && IsBinaryName(b.module_path);
                            }),
                modules.end());
  std::vector<CaseFile> cases;
  for (const CaseFile& module : modules) {
    std::vector<CaseFile> parts = CasesOfParts(module.module_path);
    if (parts.empty()) AddWithRuns(module, folder, cases);
    for (CaseFile& part : parts) cases.push_back(std::move(part));
  }
  return cases;
}

bool CaseFile::IsRecorded() const { return IsRecordedRunPath(arrays_path); }

std::string CaseFile::DescribeInputs(uint64_t seed) const {
  if (arrays_path.empty()) return StrCat("inputs drawn, seed ", seed);
  return StrCat(IsRecorded() ? "inputs recorded in " : "inputs of ", arrays_path);
}

std::string DescribeInputs(const std::vector<CaseFile>& cases, uint64_t seed) {
  if (cases.size() == 1) return cases.front().DescribeInputs(seed);
  int64_t recorded = 0, drawn = 0;
  for (const CaseFile& file : cases) {
    recorded += file.IsRecorded() ? 1 : 0;
    drawn += file.arrays_path.empty() ? 1 : 0;
  }
  const int64_t given = static_cast<int64_t>(cases.size()) - recorded - drawn;
  std::string text;
  auto add = [&](int64_t count, const std::string& what) {
    if (count > 0) StrAppend(&text, text.empty() ? "inputs: " : ", ", count, " ", what);
  };
  add(recorded, "recorded");
  add(given, "of arrays beside the module");
  add(drawn, StrCat("drawn, seed ", seed));
  return text;
}

absl::StatusOr<std::unique_ptr<Module>> LoadCaseModule(const CaseFile& file) {
  return LoadDumpedModule(file.module_path, file.IsRecorded() ? file.arrays_path : "");
}

absl::StatusOr<int64_t> DrawElided(Module& module, uint64_t seed) {
  // Streams of constants are none of those that inputs are drawn from.
  constexpr uint64_t kFirstStream = uint64_t{1} << 32;
  int64_t drawn = 0;
  for (Computation* computation : module.computations()) {
    for (Instruction* instruction : *computation) {
      if (instruction->opcode() != Opcode::kConstant || instruction->literal() != nullptr) continue;
      const Shape& shape = instruction->shape();
      ASSAY_ASSIGN_OR_RETURN(Literal literal,
                             RandomLiteral(shape, ValueRule::Default(shape), seed,
                                           kFirstStream + static_cast<uint64_t>(drawn)));
      instruction->set_literal(std::make_shared<const Literal>(std::move(literal)));
      ++drawn;
    }
  }
  return drawn;
}

absl::StatusOr<DrawnModule> LoadOrDrawCaseModule(const CaseFile& file,
                                                 std::optional<uint64_t> draw_elided) {
  DrawnModule result;
  absl::StatusOr<std::unique_ptr<Module>> module = LoadCaseModule(file);
  if (module.ok() || !draw_elided.has_value()) {
    if (!module.ok()) return module.status();
    result.module = *std::move(module);
    return result;
  }
  absl::StatusOr<std::unique_ptr<Module>> raw = LoadUnverifiedModule(file.module_path);
  if (!raw.ok()) return module.status();
  ASSAY_ASSIGN_OR_RETURN(result.drawn, DrawElided(**raw, *draw_elided));
  // The first reading says better what else is wrong.
  if (result.drawn == 0) return module.status();
  const absl::Status valid = Verify(**raw);
  if (!valid.ok())
    return absl::Status(valid.code(), StrCat(file.module_path, ": ", ToStd(valid.message())));
  result.module = *std::move(raw);
  return result;
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

// Divides so many devices into the module's replicas and partitions.
absl::StatusOr<DeviceAssignment> DividedDevices(const Module& module, int64_t count) {
  DeviceAssignment devices;
  devices.replicas = std::max<int64_t>(module.config().replica_count, 1);
  devices.partitions = std::max<int64_t>(module.config().num_partitions, 1);
  if (devices.replicas == 1 && devices.partitions == 1) devices.partitions = count;
  const bool is_product = devices.replicas <= count && devices.partitions <= count &&
                          devices.replicas * devices.partitions == count;
  if (is_product) return devices;
  return absl::InvalidArgumentError(
      StrCat("a run on ", count, " devices was recorded, the module is for ", devices.replicas,
             " replicas of ", devices.partitions, " partitions"));
}

// The arrays of a recorded run. Named devices get the arguments of its only one, and its result is
// none of theirs.
absl::StatusOr<CaseArrays> LoadRecorded(const Module& module, const std::string& path,
                                        std::optional<DeviceAssignment> devices) {
  ASSAY_ASSIGN_OR_RETURN(Snapshot run, ReadRecordedRun(path));
  absl::StatusOr<RecordedArrays> arrays = FitRecordedRun(module, std::move(run));
  if (!arrays.ok()) {
    return absl::Status(arrays.status().code(),
                        StrCat(path, ": ", ToStd(arrays.status().message())));
  }
  CaseArrays result;
  const auto recorded = static_cast<int64_t>(arrays->devices);
  if (!devices.has_value()) {
    ASSAY_ASSIGN_OR_RETURN(devices, DividedDevices(module, recorded));
  }
  result.devices = *devices;
  result.arguments = std::move(arrays->arguments);
  const int64_t count = devices->replicas * devices->partitions;
  if (count == recorded) {
    if (count == 1) result.stored = std::move(arrays->result);
    return result;
  }
  if (recorded != 1) {
    return absl::InvalidArgumentError(
        StrCat(path, ": holds the arguments of ", recorded, " devices, ", count, " are to run"));
  }
  const std::vector<Literal> of_one = result.arguments;
  for (int64_t d = 1; d < count; ++d)
    result.arguments.insert(result.arguments.end(), of_one.begin(), of_one.end());
  return result;
}

}  // namespace

absl::StatusOr<CaseArrays> LoadArrays(const Module& module, const std::string& arrays_path,
                                      uint64_t seed, std::optional<DeviceAssignment> devices) {
  if (IsRecordedRunPath(arrays_path)) return LoadRecorded(module, arrays_path, devices);
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
  std::optional<DrawnInputs> drawn;
  if (result.generated) drawn.emplace(module);
  uint64_t stream = 0;
  for (int64_t d = 0; d < count; ++d) {
    int64_t next = 0;
    for (const Instruction* parameter : entry.parameters()) {
      ASSAY_ASSIGN_OR_RETURN(
          Literal literal,
          result.generated ? drawn->Draw(*parameter, seed, stream)
                           : TakeLeaves(parameter->shape(), "in", StrCat("_d", d), arrays, next));
      result.arguments.push_back(std::move(literal));
    }
  }
  if (result.generated) MakeLegal(module, result.devices, seed, result.arguments);
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

absl::StatusOr<std::vector<std::vector<Literal>>> LoadInfeed(const std::string& path,
                                                             const DeviceAssignment& devices) {
  ASSAY_ASSIGN_OR_RETURN(const auto arrays, ReadNpz(path));
  std::vector<std::vector<Literal>> items(
      static_cast<size_t>(devices.replicas * devices.partitions));
  for (size_t d = 0; d < items.size(); ++d) {
    for (size_t i = 0;; ++i) {
      auto at = arrays.find(StrCat("item", i, "_d", d));
      if (at == arrays.end()) at = arrays.find(StrCat("item", i));
      if (at == arrays.end()) break;
      items[d].push_back(at->second);
    }
  }
  return items;
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
