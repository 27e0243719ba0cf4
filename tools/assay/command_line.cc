// Options and verbs on top of CLI11.
#include "tools/assay/command_line.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <sstream>
#include <type_traits>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "reports/version.h"
#include "spec/base/nearest_word.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/process/interrupt.h"
#include "tools/assay/quantity.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

// CLI11's own checks of numbers answer with the 309 digits of the largest double.
CLI::Validator Number(const char* name, const char* wanted, bool (*fits)(double)) {
  return CLI::Validator(
      [wanted, fits](std::string& text) {
        double value = 0;
        const bool good = absl::SimpleAtod(text, &value) && fits(value);
        return good ? std::string() : text + " is not " + wanted;
      },
      name);
}

}  // namespace

DeclaredOption DeclaredOption::Required() const {
  option_->required();
  return *this;
}

DeclaredOption DeclaredOption::Positive() const {
  option_->check(Number("POSITIVE", "a number above 0", [](double value) { return value > 0; }));
  return *this;
}

DeclaredOption DeclaredOption::NonNegative() const {
  option_->check(
      Number("NONNEGATIVE", "0 or a number above it", [](double value) { return value >= 0; }));
  return *this;
}

DeclaredOption DeclaredOption::OneOf(std::initializer_list<const char*> words) const {
  option_->check(CLI::IsMember(std::vector<std::string>(words.begin(), words.end())));
  return *this;
}

DeclaredOption DeclaredOption::ShowDefault() const {
  option_->capture_default_str();
  return *this;
}

DeclaredOption DeclaredOption::Excludes(DeclaredOption other) const {
  option_->excludes(other.option_);
  return *this;
}

namespace {

// The library takes the nearest number that fits; a user would rather know.
template <typename T>
std::string WhyOutOfRange(const std::string& text) {
  errno = 0;
  char* end = nullptr;
  bool fits = true;
  if constexpr (std::is_signed_v<T>) {
    const long long value = std::strtoll(text.c_str(), &end, 0);
    fits = value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
  } else {
    std::strtoull(text.c_str(), &end, 0);
    fits = text.find('-') == std::string::npos;
  }
  return errno == ERANGE || !fits ? text + " is out of range" : std::string();
}

template <typename T>
void CheckRange(CLI::Option& option) {
  if constexpr (std::is_integral_v<T>)
    option.check(CLI::Validator([](std::string& given) { return WhyOutOfRange<T>(given); }, ""));
}

}  // namespace

template <typename T>
DeclaredOption OptionList::Add(const std::string& names, T& value, const std::string& text) const {
  CLI::Option* option = app_->add_option(names, value, text);
  CheckRange<T>(*option);
  return DeclaredOption(option);
}

template <typename T>
DeclaredOption OptionList::AddCall(const std::string& names, std::function<void(const T&)> take,
                                   const std::string& text) const {
  CLI::Option* option = app_->add_option_function<T>(names, std::move(take), text);
  CheckRange<T>(*option);
  return DeclaredOption(option);
}

DeclaredOption OptionList::AddFlag(const std::string& names, bool& value,
                                   const std::string& text) const {
  return DeclaredOption(app_->add_flag(names, value, text));
}

namespace {

// Turns what was written into plain digits, which the library then reads.
template <typename T>
CLI::Validator Quantity(const char* name, absl::StatusOr<T> (*parse)(const std::string&)) {
  return CLI::Validator(
      [parse](std::string& text) -> std::string {
        const absl::StatusOr<T> value = parse(text);
        if (!value.ok()) return std::string(ToStd(value.status().message()));
        if constexpr (std::is_integral_v<T>) {
          text = StrCat(*value);
        } else {
          text = absl::StrFormat("%.17g", *value);
        }
        return "";
      },
      name);
}

}  // namespace

DeclaredOption OptionList::AddDuration(const std::string& names, double& value,
                                       const std::string& text) const {
  CLI::Option* option = app_->add_option(names, value, text);
  option->transform(Quantity<double>("", ParseDuration))->type_name("TIME");
  if (value > 0) option->default_str(absl::StrFormat("%gs", value));
  return DeclaredOption(option);
}

DeclaredOption OptionList::AddByteCount(const std::string& names, int64_t& value,
                                        const std::string& text) const {
  CLI::Option* option = app_->add_option(names, value, text);
  option->transform(Quantity<int64_t>("", ParseByteCount))->type_name("BYTES");
  option->default_str(absl::StrFormat("%gG", std::ldexp(static_cast<double>(value), -30)));
  return DeclaredOption(option);
}

template DeclaredOption OptionList::Add(const std::string&, std::string&, const std::string&) const;
template DeclaredOption OptionList::Add(const std::string&, std::vector<std::string>&,
                                        const std::string&) const;
template DeclaredOption OptionList::Add(const std::string&, int&, const std::string&) const;
template DeclaredOption OptionList::Add(const std::string&, int64_t&, const std::string&) const;
template DeclaredOption OptionList::Add(const std::string&, uint64_t&, const std::string&) const;
template DeclaredOption OptionList::Add(const std::string&, double&, const std::string&) const;
template DeclaredOption OptionList::AddCall(const std::string&, std::function<void(const int64_t&)>,
                                            const std::string&) const;
template DeclaredOption OptionList::AddCall(const std::string&,
                                            std::function<void(const uint64_t&)>,
                                            const std::string&) const;

namespace {

// "TEXT:{strict,xla}", as OneOf leaves it.
std::vector<std::string> ChoicesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return absl::StrSplit(type.substr(open + 1, close - open - 1), ',');
}

DeclaredWord WordOf(const CLI::Option& option) {
  DeclaredWord word;
  word.text = option.get_description();
  word.is_option = !option.get_positional();
  word.takes_value = option.get_items_expected_max() > 0;
  word.choices = ChoicesOf(option);
  if (!word.is_option) word.names = {option.get_name(true)};
  for (const std::string& name : option.get_snames()) word.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) word.names.push_back("--" + name);
  return word;
}

}  // namespace

std::vector<DeclaredVerb> ListDeclared(const std::vector<Verb>& verbs) {
  std::vector<DeclaredVerb> all;
  CLI::App app;
  for (const Verb& verb : verbs) {
    CLI::App* declared = app.add_subcommand(verb.name, verb.summary);
    VerbAction action;
    OptionList line(declared);
    verb.declare(line, action);
    DeclaredVerb& entry = all.emplace_back(DeclaredVerb{verb.name, verb.summary, {}});
    for (const CLI::Option* option : declared->get_options())
      entry.words.push_back(WordOf(*option));
  }
  return all;
}

namespace {

bool TakesXlaFlags(std::string_view backend) {
  const std::string_view family = backend.substr(0, backend.find(':'));
  return family == "xla" || family == "jax" || family == "xla-opt";
}

// Finds the name of a backend that takes XLA's flags: its place in `arguments`, and the letter at
// which it begins.
std::optional<std::pair<size_t, size_t>> FindXlaBackend(const std::vector<std::string>& arguments) {
  for (std::string_view option : {"--backend", "--peer"}) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      const std::string& word = arguments[i];
      const bool is_one_word =
          word.starts_with(option) && word.size() > option.size() && word[option.size()] == '=';
      if (is_one_word && TakesXlaFlags(std::string_view(word).substr(option.size() + 1))) {
        return std::make_pair(i, option.size() + 1);
      }
      if (word == option && i + 1 < arguments.size() && TakesXlaFlags(arguments[i + 1])) {
        return std::make_pair(i + 1, size_t{0});
      }
    }
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FoldXlaFlags(const std::vector<std::string>& arguments) {
  std::vector<std::string> kept;
  std::string flags;
  for (const std::string& argument : arguments) {
    if (!argument.starts_with("--xla_")) {
      kept.push_back(argument);
      continue;
    }
    StrAppend(&flags, flags.empty() ? "" : ",", argument.substr(2));
  }
  if (flags.empty()) return kept;
  const auto found = FindXlaBackend(kept);
  if (!found.has_value()) {
    return absl::InvalidArgumentError(
        StrCat("--", flags, ": flags of XLA go with --backend xla, jax or xla-opt"));
  }
  std::string& name = kept[found->first];
  const bool has_options = name.find(':', found->second) != std::string::npos;
  StrAppend(&name, has_options ? "," : ":", flags);
  return kept;
}

namespace {

// The first of the arguments that is an option which `verb` does not have; "" when all are its own.
std::string UnknownOption(const CLI::App& verb, const std::vector<std::string>& arguments,
                          std::vector<std::string>& known) {
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& name : option->get_snames()) known.push_back("-" + name);
  }
  for (const std::string& argument : arguments) {
    if (!argument.starts_with("--") || argument == "--") continue;
    const std::string name = argument.substr(0, argument.find('='));
    if (std::find(known.begin(), known.end(), name) == known.end()) return name;
  }
  return "";
}

// The one line about wrong arguments, with the option that was perhaps meant.
std::string UsageProblem(const CLI::ParseError& error, CLI::App& app,
                         const std::vector<std::string>& arguments) {
  std::string text = error.what();
  const std::string verb = arguments.empty() ? "" : arguments.front();
  const CLI::App* declared = nullptr;
  for (const CLI::App* candidate : app.get_subcommands([](CLI::App*) { return true; })) {
    if (candidate->get_name() == verb) declared = candidate;
  }
  std::string meant;
  if (declared != nullptr) {
    std::vector<std::string> known;
    const std::string unknown = UnknownOption(*declared, arguments, known);
    if (!unknown.empty()) {
      text = StrCat("assay ", verb, " has no option ", unknown);
      meant = DidYouMean(unknown, known);
    }
  }
  return StrCat(text, meant, meant.empty() ? "; " : " ",
                declared == nullptr ? "assay --help" : StrCat("assay ", verb, " --help"),
                " lists what there is");
}

// `assay help VERB` is `assay VERB --help`, `assay version` is `assay --version`.
void SpellAsOptions(std::vector<std::string>& arguments) {
  if (arguments.empty()) return;
  if (arguments[0] == "version") arguments[0] = "--version";
  if (arguments[0] != "help") return;
  arguments.erase(arguments.begin());
  arguments.emplace_back("--help");
}

std::vector<std::string> NamesOf(const std::vector<Verb>& verbs) {
  std::vector<std::string> names = {"help", "version"};
  for (const Verb& verb : verbs) names.emplace_back(verb.name);
  return names;
}

}  // namespace

namespace {

// An error that nobody foresaw is told like any other, and an interrupt is no error.
int RunAction(const VerbAction& action) {
  try {
    const absl::StatusOr<int> exit_code = action();
    if (exit_code.ok()) return *exit_code;
    PrintError(ToStd(exit_code.status().message()));
    if (InterruptRequested()) return kExitInterrupted;
  } catch (const std::bad_alloc&) {
    PrintError("out of memory; give it less to do at once, or more memory");
  } catch (const std::exception& error) {
    PrintError(StrCat("unexpected: ", error.what()));
  }
  return kExitUsage;
}

}  // namespace

int RunVerbs(const std::vector<Verb>& verbs, int argc, char** argv) {
  CLI::App app("Assay tells whether a tensor compiler is right and fast.", "assay");
  app.require_subcommand(1);
  app.set_version_flag("--version",
                       std::string("assay ") + kAssayVersion + " (" + kAssayCommit + ")");
  app.footer(
      "assay VERB --help shows the options of a verb and an example.\n\n"
      "Example:\n  assay check conformance/corpus");
  std::vector<VerbAction> actions(verbs.size());
  for (size_t i = 0; i < verbs.size(); ++i) {
    CLI::App* declared = app.add_subcommand(verbs[i].name, verbs[i].summary);
    declared->footer(std::string("Example:\n  ") + verbs[i].example);
    OptionList line(declared);
    verbs[i].declare(line, actions[i]);
  }
  if (argc < 2) {
    Print(app.help());
    return kExitUsage;
  }
  absl::StatusOr<std::vector<std::string>> folded = FoldXlaFlags({argv + 1, argv + argc});
  if (!folded.ok()) {
    PrintError(ToStd(folded.status().message()));
    return kExitUsage;
  }
  std::vector<std::string>& arguments = *folded;
  SpellAsOptions(arguments);
  const std::string word = arguments[0];
  const std::vector<std::string> names = NamesOf(verbs);
  if (!word.starts_with("-") && std::find(names.begin(), names.end(), word) == names.end()) {
    const std::string meant = DidYouMean(word, names);
    PrintError(StrCat("no verb is called '", word, "'", meant.empty() ? ";" : meant,
                      " assay --help lists them"));
    return kExitUsage;
  }
  try {
    // The library takes the arguments from the back.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      std::ostringstream text;
      const int status = app.exit(error, text, text);
      Print(text.str());
      return status == 0 ? kExitOk : kExitUsage;
    }
    PrintError(UsageProblem(error, app, arguments));
    return kExitUsage;
  }
  for (size_t i = 0; i < verbs.size(); ++i) {
    if (!app.got_subcommand(verbs[i].name)) continue;
    return RunAction(actions[i]);
  }
  return kExitUsage;
}

}  // namespace assay
