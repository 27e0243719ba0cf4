// Writes a program as JSON, runs the script, judges what it answers.
#include "fuzz/opinions/second_opinion.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_replace.h"
#include "fuzz/embedded.h"
#include "nlohmann/json.hpp"
#include "spec/base/file.h"
#include "spec/base/strings.h"
#include "spec/base/temporary_folder.h"
#include "spec/process/isolate.h"

namespace assay {
namespace {

using Json = nlohmann::json;

constexpr double kSeconds = 60;

std::vector<int64_t> ToVector(absl::Span<const int64_t> values) {
  return {values.begin(), values.end()};
}

Json ToJson(const Shape& shape) {
  if (shape.IsTuple()) {
    Json elements = Json::array();
    for (const Shape& element : shape.elements()) elements.push_back(ToJson(element));
    return {{"tuple", elements}};
  }
  return Json::array({std::string(Name(shape.element_type())), ToVector(shape.dimensions())});
}

Json ToJson(const Literal& literal) {
  const absl::Span<const uint8_t> bytes = literal.bytes();
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Json ToJson(const std::vector<WindowDim>& window) {
  Json dims = Json::array();
  for (const WindowDim& dim : window) {
    dims.push_back({{"size", dim.size},
                    {"stride", dim.stride},
                    {"low", dim.low},
                    {"high", dim.high},
                    {"base_dilation", dim.base_dilation},
                    {"window_dilation", dim.window_dilation},
                    {"reversal", dim.reversal}});
  }
  return dims;
}

Json ToJson(const ConvDimLabels& labels) {
  return {{"input_batch", labels.input_batch},
          {"input_feature", labels.input_feature},
          {"kernel_input_feature", labels.kernel_input_feature},
          {"kernel_output_feature", labels.kernel_output_feature},
          {"output_batch", labels.output_batch},
          {"output_feature", labels.output_feature},
          {"input_spatial", ToVector(labels.input_spatial)},
          {"kernel_spatial", ToVector(labels.kernel_spatial)},
          {"output_spatial", ToVector(labels.output_spatial)}};
}

// Nothing for attributes that no evaluation needs.
std::optional<Json> ToJson(Attr attr, const AttrValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return Json(*flag);
  if (const auto* number = std::get_if<int64_t>(&value)) {
    const bool is_word = Info(attr).kind == AttrKind::kWord;
    return is_word ? Json(std::string(WordAt(attr, *number))) : Json(*number);
  }
  if (const auto* number = std::get_if<double>(&value)) return Json(*number);
  if (const auto* list = std::get_if<Int64List>(&value)) return Json(ToVector(*list));
  if (const auto* lists = std::get_if<std::vector<Int64List>>(&value)) {
    Json rows = Json::array();
    for (const Int64List& list : *lists) rows.push_back(ToVector(list));
    return rows;
  }
  if (const auto* ranges = std::get_if<std::vector<SliceRange>>(&value)) {
    Json rows = Json::array();
    for (const SliceRange& range : *ranges)
      rows.push_back({range.start, range.limit, range.stride});
    return rows;
  }
  if (const auto* padding = std::get_if<std::vector<PaddingDim>>(&value)) {
    Json rows = Json::array();
    for (const PaddingDim& dim : *padding) rows.push_back({dim.low, dim.high, dim.interior});
    return rows;
  }
  if (const auto* window = std::get_if<std::vector<WindowDim>>(&value)) return ToJson(*window);
  if (const auto* labels = std::get_if<SharedValue<ConvDimLabels>>(&value)) return ToJson(**labels);
  return std::nullopt;
}

Json ToJson(const Instruction& at) {
  Json attributes = Json::object();
  for (const auto& [attr, value] : at.attributes().entries()) {
    if (std::optional<Json> json = ToJson(attr, value)) {
      attributes[std::string(Info(attr).name)] = *std::move(json);
    }
  }
  if (at.opcode() == Opcode::kParameter) attributes["parameter_number"] = at.parameter_number();
  Json operands = Json::array(), callees = Json::array();
  for (const Instruction* operand : at.operands()) operands.push_back(operand->id());
  for (const Computation* callee : at.callees()) callees.push_back(std::string(callee->name()));
  Json json = {{"id", at.id()},
               {"op", std::string(Name(at.opcode()))},
               {"shape", ToJson(at.shape())},
               {"operands", operands},
               {"callees", callees},
               {"attributes", attributes}};
  if (at.literal() != nullptr && at.shape().IsArray()) json["literal"] = ToJson(*at.literal());
  return json;
}

Json ToJson(const Module& module, const std::vector<Literal>& inputs) {
  Json computations = Json::object();
  for (const Computation* computation : module.computations()) {
    Json instructions = Json::array();
    for (const Instruction* at : computation->PostOrder()) instructions.push_back(ToJson(*at));
    // Parameters that nothing uses are no part of the order of what the root needs.
    computations[std::string(computation->name())] = {{"root", computation->root()->id()},
                                                      {"instructions", instructions}};
  }
  Json values = Json::array();
  for (const Literal& input : inputs) values.push_back(ToJson(input));
  return {{"entry", std::string(module.entry()->name())},
          {"computations", computations},
          {"devices", module.config().replica_count * module.config().num_partitions},
          {"inputs", values}};
}

SecondOpinion Declined(std::string why) {
  SecondOpinion opinion;
  opinion.state = OpinionState::kDeclined;
  opinion.text = std::move(why);
  return opinion;
}

std::string Quoted(const std::string& word) {
  return StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

// The output of a shell for the command.
std::string OutputOf(const std::string& command) {
  const Isolated run = RunIsolated(
      [&command] {
        std::string output;
        FILE* pipe = popen(command.c_str(), "r");
        if (pipe == nullptr) return output;
        char buffer[4096];
        for (size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) output.append(buffer, n);
        pclose(pipe);
        return output;
      },
      {kSeconds + 5, 0});
  return run.bytes;
}

// The output of `python` for the script; "" without a temporary folder.
std::string OutputOf(const std::string& python, const std::string& script) {
  const TemporaryFolder folder("assay-opinion");
  const std::string path = folder.path() + "/opinion.py";
  if (!folder.ok() || !WriteFile(path, script).ok()) return "";
  // numpy's threads, which it does not need here, wait for work in a busy loop.
  return OutputOf(StrCat("OPENBLAS_NUM_THREADS=1 exec timeout -k 1 ", kSeconds, " ", Quoted(python),
                         " ", Quoted(path), " 2>/dev/null"));
}

std::string ScriptOf(const Json& program) {
  // Each part uses names of those before it.
  static constexpr std::string_view kParts[] = {"opinion_types.py",    "opinion_elementwise.py",
                                                "opinion_movement.py", "opinion_reduction.py",
                                                "opinion_algebra.py",  "opinion_machine.py"};
  std::string script;
  for (const std::string_view part : kParts) StrAppend(&script, EmbeddedFile(part), "\n\n");
  // A JSON text in ASCII is a string of Python, too.
  const Json text = program.dump(-1, ' ', /*ensure_ascii=*/true);
  return StrCat(script, "give_opinion(", text.dump(), ")\n");
}

// The leaves that the script printed, each of the shape that the oracle's has.
std::optional<std::vector<Literal>> LeavesOf(const Json& json, const Expectation& expectation) {
  const auto outputs = json.find("outputs");
  if (outputs == json.end() || !outputs->is_array()) return std::nullopt;
  if (outputs->size() != expectation.leaves.size()) return std::nullopt;
  std::vector<Literal> leaves;
  for (size_t i = 0; i < outputs->size(); ++i) {
    const Json& row = (*outputs)[i];
    const Shape& wanted = expectation.leaves[i].plain.shape();
    if (!row.is_array() || row.size() != 2 || !row[1].is_string()) return std::nullopt;
    if (row[0] != ToJson(wanted)) return std::nullopt;
    const std::string bytes = absl::HexStringToBytes(row[1].get<std::string>());
    Literal leaf(wanted);
    if (bytes.size() != leaf.bytes().size()) return std::nullopt;
    std::copy(bytes.begin(), bytes.end(), leaf.bytes().begin());
    leaves.push_back(std::move(leaf));
  }
  return leaves;
}

// The leaves that the script printed as decimal numbers.
std::optional<std::vector<std::vector<long double>>> NumbersIn(const Json& json,
                                                               const char* field) {
  if (!json.is_object() || !json.contains(field) || !json[field].is_array()) return std::nullopt;
  std::vector<std::vector<long double>> leaves;
  for (const Json& row : json[field]) {
    if (!row.is_array() || row.size() != 2 || !row[1].is_array()) return std::nullopt;
    std::vector<long double>& numbers = leaves.emplace_back();
    for (const Json& digits : row[1]) {
      if (!digits.is_string()) return std::nullopt;
      numbers.push_back(std::strtold(digits.get_ref<const std::string&>().c_str(), nullptr));
    }
  }
  return leaves;
}

// The distance of two elements; infinity where they cannot be compared.
double Distance(const Literal& a, const Literal& b, int64_t element) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  if (!IsComplex(a.element_type()) && a.GetBits(element) == b.GetBits(element)) return 0;
  const bool is_complex = IsComplex(a.element_type());
  if (!is_complex && !IsFloat(a.element_type())) return kFar;
  double sum = 0;
  for (int64_t k = 0; k < (is_complex ? 2 : 1); ++k) {
    const int64_t at = is_complex ? 2 * element + k : element;
    const double x = a.GetComponent(at), y = b.GetComponent(at);
    if ((std::isnan(x) && std::isnan(y)) || x == y) continue;
    sum = std::hypot(sum, x - y);
  }
  return std::isnan(sum) ? kFar : sum;
}

OpinionState StateOf(const Expectation& expectation, const std::vector<Literal>& opinion,
                     const Literal& answer) {
  std::vector<const Literal*> leaves;
  for (const Literal& leaf : opinion) leaves.push_back(&leaf);
  if (JudgeLeaves(expectation, leaves).verdict != Verdict::kFail) return OpinionState::kAgrees;
  if (!answer.shape().IsValid()) return OpinionState::kDiffers;
  const std::vector<const Literal*> answered = Leaves(answer);
  const ElementFailure first = JudgeLeaves(expectation, answered).first;
  const auto leaf = static_cast<size_t>(first.leaf);
  if (leaf >= opinion.size() || leaf >= answered.size()) return OpinionState::kDiffers;
  const double to_backend = Distance(opinion[leaf], *answered[leaf], first.element);
  const double to_oracle = Distance(opinion[leaf], expectation.leaves[leaf].plain, first.element);
  return to_backend < to_oracle ? OpinionState::kRefutes : OpinionState::kDiffers;
}

std::string Shown(const std::vector<Literal>& leaves) {
  constexpr int64_t kMostShown = 64;
  std::string text;
  for (const Literal& leaf : leaves) {
    StrAppend(&text, text.empty() ? "" : ", ", leaf.shape().ToString(),
              leaf.element_count() <= kMostShown ? StrCat(" ", leaf.ToString()) : "");
  }
  return text;
}

}  // namespace

std::string_view Name(OpinionState state) {
  static constexpr std::string_view kNames[] = {"none", "declined", "agrees", "refutes", "differs"};
  return kNames[static_cast<size_t>(state)];
}

std::string OpinionScript(const Module& module, const std::vector<Literal>& inputs) {
  return ScriptOf(ToJson(module, inputs));
}

SecondOpinion AskSecondOpinion(const std::string& python, const Module& module,
                               const std::vector<Literal>& inputs, const Expectation& expectation,
                               const Literal& answer) {
  if (python.empty() || module.InstructionCount() > kMostOpinionInstructions) return {};
  const std::string script = OpinionScript(module, inputs);
  const Json json = Json::parse(OutputOf(python, script), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Declined(StrCat(python, " did not run the script"));
  if (json.contains("declined") && json["declined"].is_string()) {
    return Declined(json["declined"].get<std::string>());
  }
  const std::optional<std::vector<Literal>> leaves = LeavesOf(json, expectation);
  if (!leaves.has_value()) return Declined("its answer has other shapes");
  SecondOpinion opinion;
  opinion.script = script;
  opinion.state = StateOf(expectation, *leaves, answer);
  opinion.text = Shown(*leaves);
  return opinion;
}

std::optional<RealResult> AskRealResult(const std::string& python, const Module& module,
                                        const std::vector<Literal>& inputs) {
  if (python.empty() || module.InstructionCount() > kMostOpinionInstructions) return std::nullopt;
  Json program = ToJson(module, inputs);
  program["reals"] = true;
  const std::string output = OutputOf(python, ScriptOf(program));
  const Json json = Json::parse(output, nullptr, /*allow_exceptions=*/false);
  std::optional<std::vector<std::vector<long double>>> exact = NumbersIn(json, "outputs");
  std::optional<std::vector<std::vector<long double>>> rounded = NumbersIn(json, "rounded");
  if (!exact.has_value() || !rounded.has_value()) return std::nullopt;
  return RealResult{*std::move(exact), *std::move(rounded)};
}

}  // namespace assay
