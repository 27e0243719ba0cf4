// Options and verbs on top of CLI11.
#include "tools/assay/command_line.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "reports/version.h"
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

template <typename T>
DeclaredOption OptionList::Add(const std::string& names, T& value, const std::string& text) const {
  return DeclaredOption(app_->add_option(names, value, text));
}

template <typename T>
DeclaredOption OptionList::AddCall(const std::string& names, std::function<void(const T&)> take,
                                   const std::string& text) const {
  return DeclaredOption(app_->add_option_function<T>(names, std::move(take), text));
}

DeclaredOption OptionList::AddFlag(const std::string& names, bool& value,
                                   const std::string& text) const {
  return DeclaredOption(app_->add_flag(names, value, text));
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
  const std::string word = argv[1];
  if (word.substr(0, 1) != "-" && std::none_of(verbs.begin(), verbs.end(), [&](const Verb& verb) {
        return word == verb.name;
      })) {
    PrintError("no verb is called '" + word + "'; assay --help lists them");
    return kExitUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  for (size_t i = 0; i < verbs.size(); ++i) {
    if (!app.got_subcommand(verbs[i].name)) continue;
    const absl::StatusOr<int> exit_code = actions[i]();
    if (exit_code.ok()) return *exit_code;
    PrintError(ToStd(exit_code.status().message()));
    return kExitUsage;
  }
  return kExitUsage;
}

}  // namespace assay
