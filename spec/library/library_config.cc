// The JSON of XLA's GemmBackendConfig, CudnnConvBackendConfig and CholeskyOptions, as protobuf
// writes it: 64 bit integers are strings, numbers that are none are "NaN" and "Infinity".
#include "spec/library/library_config.h"

#include <cmath>
#include <limits>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "nlohmann/json.hpp"
#include "spec/base/error.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

using ConfigJson = nlohmann::ordered_json;

absl::Status WrongField(std::string_view key, std::string_view expected) {
  return MakeError(ErrorClass::kRejected, StrCat("backend_config: ", key, ": expected ", expected));
}

absl::Status NoMeaning(std::string_view key, std::string_view value) {
  return MakeError(ErrorClass::kUnsupported,
                   StrCat("backend_config: ", key, " ", value, " has no meaning here"));
}

// The object under `part`, or the whole where nothing is wrapped (XLA until 2023).
absl::StatusOr<ConfigJson> ReadObject(std::string_view text, std::string_view part) {
  if (text.empty()) return ConfigJson::object();
  ConfigJson whole = ConfigJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (whole.is_discarded() || !whole.is_object())
    return MakeError(ErrorClass::kRejected, "backend_config: expected an object of JSON");
  const auto inner = whole.find(part);
  if (inner == whole.end()) return whole;
  if (!inner->is_object()) return WrongField(part, "an object");
  return ConfigJson(*inner);
}

std::optional<double> ConfigNumber(const ConfigJson& value) {
  if (value.is_number()) return value.get<double>();
  double number = 0;
  if (value.is_string() && absl::SimpleAtod(ToAbsl(value.get_ref<const std::string&>()), &number))
    return number;
  return std::nullopt;
}

std::optional<int64_t> ConfigInteger(const ConfigJson& value) {
  int64_t number = 0;
  if (value.is_number_integer()) {
    if (value.is_number_unsigned() &&
        value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return std::nullopt;
    return value.get<int64_t>();
  }
  if (value.is_string() && absl::SimpleAtoi(ToAbsl(value.get_ref<const std::string&>()), &number))
    return number;
  return std::nullopt;
}

// Reads fields that may be missing; the first error stays.
class ConfigFields {
 public:
  explicit ConfigFields(const ConfigJson& object) : object_(object) {}

  void Number(std::string_view key, double& out) {
    const ConfigJson* value = Find(key);
    if (value == nullptr) return;
    const std::optional<double> number = ConfigNumber(*value);
    if (number.has_value() && std::isfinite(*number)) {
      out = *number;
    } else {
      Fail(WrongField(key, "a finite number"));
    }
  }
  void Integer(std::string_view key, int64_t& out) {
    const ConfigJson* value = Find(key);
    if (value == nullptr) return;
    const std::optional<int64_t> number = ConfigInteger(*value);
    if (number.has_value()) {
      out = *number;
    } else {
      Fail(WrongField(key, "an integer"));
    }
  }
  void Integers(std::string_view key, Int64List& out) {
    const ConfigJson* value = Find(key);
    if (value == nullptr) return;
    if (!value->is_array()) return Fail(WrongField(key, "a list of integers"));
    for (const ConfigJson& each : *value) {
      const std::optional<int64_t> number = ConfigInteger(each);
      if (!number.has_value()) return Fail(WrongField(key, "a list of integers"));
      out.push_back(*number);
    }
  }
  std::string Text(std::string_view key) {
    const ConfigJson* value = Find(key);
    if (value == nullptr) return "";
    if (value->is_string()) return value->get<std::string>();
    if (value->is_number_integer()) return std::to_string(ConfigInteger(*value).value_or(-1));
    Fail(WrongField(key, "a word"));
    return "";
  }
  bool Flag(std::string_view key) {
    const ConfigJson* value = Find(key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) Fail(WrongField(key, "true or false"));
    return value->is_boolean() && value->get<bool>();
  }
  // An empty one where there is none.
  ConfigJson Object(std::string_view key) {
    const ConfigJson* value = Find(key);
    if (value == nullptr) return ConfigJson::object();
    if (!value->is_object()) Fail(WrongField(key, "an object"));
    return value->is_object() ? *value : ConfigJson::object();
  }
  void Fail(absl::Status status) { status_.Update(status); }
  const absl::Status& status() const { return status_; }

 private:
  const ConfigJson* Find(std::string_view key) const {
    const auto at = object_.find(key);
    return at == object_.end() || at->is_null() ? nullptr : &*at;
  }

  const ConfigJson& object_;
  absl::Status status_;
};

// Epilogues of GemmBackendConfig, without the part "BIAS".
struct EpilogueWord {
  std::string_view word;
  bool has_bias;
  LibraryActivation activation;
};
constexpr EpilogueWord kEpilogues[] = {
    {"DEFAULT", false, LibraryActivation::kNone}, {"BIAS", true, LibraryActivation::kNone},
    {"RELU", false, LibraryActivation::kRelu},    {"BIAS_RELU", true, LibraryActivation::kRelu},
    {"GELU", false, LibraryActivation::kGelu},    {"BIAS_GELU", true, LibraryActivation::kGelu},
};

// Activations of CudnnConvBackendConfig, and the numbers that older texts have for them.
struct ActivationWord {
  std::string_view word, number;
  LibraryActivation activation;
};
constexpr ActivationWord kActivations[] = {
    {"kNone", "0", LibraryActivation::kNone},
    {"kSigmoid", "1", LibraryActivation::kSigmoid},
    {"kRelu", "2", LibraryActivation::kRelu},
    {"kRelu6", "3", LibraryActivation::kRelu6},
    {"kTanh", "5", LibraryActivation::kTanh},
    {"kElu", "7", LibraryActivation::kElu},
    {"kLeakyRelu", "8", LibraryActivation::kLeakyRelu},
};

ConfigJson ListOf(absl::Span<const int64_t> list) {
  ConfigJson out = ConfigJson::array();
  for (int64_t each : list) out.push_back(std::to_string(each));
  return out;
}

void ReadEpilogue(ConfigFields& fields, GemmConfig& config) {
  std::string word = fields.Text("epilogue");
  if (word.empty() || word == "0") word = "DEFAULT";
  for (const EpilogueWord& row : kEpilogues) {
    if (row.word != word) continue;
    config.has_bias = row.has_bias;
    config.activation = row.activation;
    return;
  }
  fields.Fail(NoMeaning("epilogue", word));
}

}  // namespace

absl::StatusOr<GemmConfig> ReadGemmConfig(std::string_view text) {
  ASSAY_ASSIGN_OR_RETURN(const ConfigJson object, ReadObject(text, "gemm_backend_config"));
  GemmConfig config;
  ConfigFields fields(object);
  fields.Number("alpha_real", config.alpha_real);
  fields.Number("alpha_imag", config.alpha_imag);
  fields.Number("beta", config.beta);
  fields.Integer("selected_algorithm", config.algorithm);
  ReadEpilogue(fields, config);
  if (fields.Flag("damax_output")) fields.Fail(NoMeaning("damax_output", "true"));
  const ConfigJson numbers = fields.Object("dot_dimension_numbers");
  ConfigFields dims(numbers);
  dims.Integers("lhs_batch_dimensions", config.lhs_batch);
  dims.Integers("rhs_batch_dimensions", config.rhs_batch);
  dims.Integers("lhs_contracting_dimensions", config.lhs_contracting);
  dims.Integers("rhs_contracting_dimensions", config.rhs_contracting);
  const ConfigJson precision = fields.Object("precision_config");
  ConfigFields of_precision(precision);
  std::string algorithm = of_precision.Text("algorithm");
  constexpr std::string_view kPrefix = "ALG_";
  if (algorithm.starts_with(kPrefix)) algorithm.erase(0, kPrefix.size());
  absl::AsciiStrToLower(&algorithm);
  if (algorithm != "unset") config.precision_algorithm = algorithm;
  ASSAY_RETURN_IF_ERROR(fields.status());
  ASSAY_RETURN_IF_ERROR(dims.status());
  ASSAY_RETURN_IF_ERROR(of_precision.status());
  return config;
}

absl::StatusOr<ConvConfig> ReadConvConfig(std::string_view text) {
  ASSAY_ASSIGN_OR_RETURN(const ConfigJson object, ReadObject(text, "cudnn_conv_backend_config"));
  ConvConfig config;
  ConfigFields fields(object);
  fields.Number("conv_result_scale", config.result_scale);
  fields.Number("side_input_scale", config.side_scale);
  fields.Number("leakyrelu_alpha", config.leaky_alpha);
  const std::string word = fields.Text("activation_mode");
  bool is_known = word.empty();
  for (const ActivationWord& row : kActivations) {
    if (word != row.word && word != row.number) continue;
    config.activation = row.activation;
    is_known = true;
  }
  if (!is_known) fields.Fail(NoMeaning("activation_mode", word));
  const ConfigJson algorithm = fields.Object("algorithm");
  ConfigFields of_algorithm(algorithm);
  of_algorithm.Integer("algo_id", config.algorithm);
  of_algorithm.Integer("workspace_size", config.workspace_bytes);
  ASSAY_RETURN_IF_ERROR(fields.status());
  ASSAY_RETURN_IF_ERROR(of_algorithm.status());
  return config;
}

absl::StatusOr<bool> ReadCholeskyLower(std::string_view text) {
  ASSAY_ASSIGN_OR_RETURN(const ConfigJson object, ReadObject(text, "cholesky_options"));
  ConfigFields fields(object);
  const bool lower = fields.Flag("lower");
  ASSAY_RETURN_IF_ERROR(fields.status());
  return lower;
}

std::string WriteConfig(const GemmConfig& config) {
  std::string_view epilogue = "DEFAULT";
  for (const EpilogueWord& row : kEpilogues)
    if (row.has_bias == config.has_bias && row.activation == config.activation) epilogue = row.word;
  ConfigJson precision = ConfigJson::object();
  precision["algorithm"] = StrCat("ALG_", absl::AsciiStrToUpper(config.precision_algorithm.empty()
                                                                    ? std::string("unset")
                                                                    : config.precision_algorithm));
  ConfigJson dims = ConfigJson::object();
  dims["lhs_contracting_dimensions"] = ListOf(config.lhs_contracting);
  dims["rhs_contracting_dimensions"] = ListOf(config.rhs_contracting);
  dims["lhs_batch_dimensions"] = ListOf(config.lhs_batch);
  dims["rhs_batch_dimensions"] = ListOf(config.rhs_batch);
  ConfigJson gemm = ConfigJson::object();
  gemm["alpha_real"] = config.alpha_real;
  gemm["alpha_imag"] = config.alpha_imag;
  gemm["beta"] = config.beta;
  gemm["dot_dimension_numbers"] = std::move(dims);
  gemm["precision_config"] = std::move(precision);
  gemm["epilogue"] = epilogue;
  gemm["selected_algorithm"] = std::to_string(config.algorithm);
  ConfigJson whole = ConfigJson::object();
  whole["gemm_backend_config"] = std::move(gemm);
  return whole.dump();
}

std::string WriteConfig(const ConvConfig& config) {
  ConfigJson conv = ConfigJson::object();
  if (config.algorithm >= 0 || config.workspace_bytes > 0) {
    conv["algorithm"] = ConfigJson{{"algo_id", std::to_string(config.algorithm)},
                                   {"workspace_size", std::to_string(config.workspace_bytes)}};
  }
  conv["conv_result_scale"] = config.result_scale;
  for (const ActivationWord& row : kActivations)
    if (row.activation == config.activation) conv["activation_mode"] = row.word;
  conv["side_input_scale"] = config.side_scale;
  conv["leakyrelu_alpha"] = config.leaky_alpha;
  ConfigJson whole = ConfigJson::object();
  whole["cudnn_conv_backend_config"] = std::move(conv);
  return whole.dump();
}

std::string WriteCholeskyConfig(bool lower) {
  return lower ? R"({"cholesky_options":{"lower":true}})"
               : R"({"cholesky_options":{"lower":false}})";
}

}  // namespace assay
