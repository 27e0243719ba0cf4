// The backend_config of a library call, to and from JSON. Fields that are missing have
// the values here; those that change nothing in what is computed are not kept.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "spec/attributes/sharding.h"
#include "spec/types/shape.h"

namespace assay {

enum class LibraryActivation : uint8_t {
  kNone,
  kSigmoid,
  kRelu,
  kRelu6,
  kTanh,
  kElu,
  kLeakyRelu,
  kGelu,  // by tanh
};

struct GemmConfig {
  double alpha_real = 1, alpha_imag = 0, beta = 0;
  Int64List lhs_batch, lhs_contracting, rhs_batch, rhs_contracting;
  bool has_bias = false;  // a vector, along the last dimensions of the result
  LibraryActivation activation = LibraryActivation::kNone;
  std::string precision_algorithm;  // as an attribute of dot writes it; empty: unset
  int64_t algorithm = -1;           // which the picker chose; -1: none
  bool operator==(const GemmConfig&) const = default;
};

struct ConvConfig {
  double result_scale = 1, side_scale = 0, leaky_alpha = 0;
  LibraryActivation activation = LibraryActivation::kNone;
  int64_t algorithm = -1;  // which the picker chose; -1: none
  int64_t workspace_bytes = 0;
  bool operator==(const ConvConfig&) const = default;
};

// Errors (rejected: no such JSON, unsupported: a field that nobody here has a meaning for) say
// which field it is, without a place. An empty text says nothing but the defaults.
absl::StatusOr<GemmConfig> ReadGemmConfig(std::string_view text);
absl::StatusOr<ConvConfig> ReadConvConfig(std::string_view text);
absl::StatusOr<bool> ReadCholeskyLower(std::string_view text);

// The readers read it back; numbers have all their digits. Scales must be finite.
std::string WriteConfig(const GemmConfig& config);
std::string WriteConfig(const ConvConfig& config);
std::string WriteCholeskyConfig(bool lower);

}  // namespace assay
