// The options of a verb as it declares them. The library that reads them stands behind this header,
// in one file: read by every verb it was the greater part of what building this program costs.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace assay {

// An option that was just declared; each call says more of it.
class DeclaredOption {
 public:
  explicit DeclaredOption(CLI::Option* option) : option_(option) {}
  DeclaredOption Required() const;
  DeclaredOption Positive() const;     // a number above 0
  DeclaredOption NonNegative() const;  // a number, 0 or above
  DeclaredOption OneOf(std::initializer_list<const char*> words) const;
  DeclaredOption ShowDefault() const;  // the value that it has now, under --help
  DeclaredOption Excludes(DeclaredOption other) const;

 private:
  CLI::Option* option_;
};

class OptionList {
 public:
  explicit OptionList(CLI::App* app) : app_(app) {}
  // `names` as in "-o,--out", or "PATH" for what stands without a dash. T: std::string,
  // std::vector<std::string>, int, int64_t, uint64_t, double, and optional ones (command_line.cc
  // instantiates them). `value` must outlive the reading.
  template <typename T>
  DeclaredOption Add(const std::string& names, T& value, const std::string& text) const;
  template <typename T>
  DeclaredOption AddCall(const std::string& names, std::function<void(const T&)> take,
                         const std::string& text) const;
  DeclaredOption AddFlag(const std::string& names, bool& value, const std::string& text) const;
  // Seconds, written as quantity.h has it: 30s, 500ms. The value now is the default that is shown.
  DeclaredOption AddDuration(const std::string& names, double& value,
                             const std::string& text) const;
  // Bytes: 512M, 8G.
  DeclaredOption AddByteCount(const std::string& names, int64_t& value,
                              const std::string& text) const;

 private:
  CLI::App* app_;
};

struct Verb;

// A word that a verb declares, for completion: an option's names ("-o", "--out") or the one name
// ("PATH") of what stands without a dash.
struct DeclaredWord {
  std::vector<std::string> names;
  bool is_option = true;
  bool takes_value = false;
  std::string text;
  std::vector<std::string> choices;  // the words that it may be; empty: any
};
struct DeclaredVerb {
  std::string name, summary;
  std::vector<DeclaredWord> words;
};
std::vector<DeclaredVerb> ListDeclared(const std::vector<Verb>& verbs);

// XLA's own flags (--xla_NAME=VALUE) as options of the backend that they are for: the one of
// --backend, or of --peer, that is of the families xla, jax and xla-opt. An error where none is.
absl::StatusOr<std::vector<std::string>> FoldXlaFlags(const std::vector<std::string>& arguments);

// Reads the arguments, runs the verb and returns the exit status.
int RunVerbs(const std::vector<Verb>& verbs, int argc, char** argv);

}  // namespace assay
