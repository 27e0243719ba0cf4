// assay completion: scripts that let bash, zsh and fish complete verbs, options and their words.
// They are made from what the verbs declare, so that nothing has to be kept in step by hand.
#include <algorithm>
#include <memory>

#include "absl/strings/str_replace.h"
#include "fuzz/defects/defects.h"
#include "nlohmann/json.hpp"
#include "spec/base/strings.h"
#include "spec/ops/op_table.h"
#include "tools/assay/environment.h"
#include "tools/assay/json_line.h"
#include "tools/assay/terminal.h"
#include "tools/assay/verb.h"

namespace assay {
namespace {

struct Options {
  std::string shell;
  bool json = false;
};

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) StrAppend(&text, text.empty() ? "" : " ", word);
  return text;
}

// Words that the declaration does not list, but the program knows.
void AddKnownWords(DeclaredVerb& verb) {
  for (DeclaredWord& word : verb.words) {
    const std::string& name = word.names.back();
    if (name == "--backend" || name == "--peer" || name == "--optimized") {
      for (const auto& [family, summary] : MakeBackends()->Families())
        word.choices.push_back(family);
    } else if (name == "--defect" || name == "--only") {
      for (const PlantedDefect& defect : PlantedDefects()) word.choices.push_back(defect.name);
    } else if (name == "OP") {
      for (const OpInfo& op : AllOps()) word.choices.emplace_back(op.name);
    }
  }
}

// Within '...' of any of the shells.
std::string Quoted(const std::string& text) {
  return StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

std::string Bash(const std::vector<DeclaredVerb>& verbs) {
  std::string names, values, options, places;
  for (const DeclaredVerb& verb : verbs) {
    StrAppend(&names, verb.name, " ");
    std::string dashed;
    for (const DeclaredWord& word : verb.words) {
      if (!word.is_option) {
        if (!word.choices.empty())
          StrAppend(&places, "      ", verb.name, ") words=", Quoted(Joined(word.choices)),
                    " ;;\n");
        continue;
      }
      StrAppend(&dashed, dashed.empty() ? "" : " ", Joined(word.names));
      if (!word.takes_value) continue;
      std::string patterns;
      for (const std::string& name : word.names)
        StrAppend(&patterns, patterns.empty() ? "" : " | ", verb.name, ":", name);
      StrAppend(&values, "    ", patterns, ") words=", Quoted(Joined(word.choices)), " ;;\n");
    }
    StrAppend(&options, "      ", verb.name, ") words=", Quoted(dashed), " ;;\n");
  }
  return StrCat(R"(# Completion of assay for bash: source <(assay completion bash)
_assay() {
  local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} words=
  if ((COMP_CWORD == 1)); then
    words=)",
                Quoted(names + "--help --version"), R"(
  else case $verb:${COMP_WORDS[COMP_CWORD-1]} in
)",
                values, R"(    *) if [[ $word == -* ]]; then case $verb in
)",
                options, R"(    esac; else case $verb in
)",
                places, R"(    esac; fi ;;
  esac; fi
  if [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _assay assay
)");
}

std::string Zsh(const std::vector<DeclaredVerb>& verbs) {
  // _describe and _arguments give these characters a meaning of their own.
  const auto plain = [](const std::string& text) {
    return absl::StrReplaceAll(text, {{"\\", "\\\\"}, {":", "\\:"}, {"[", "\\["}, {"]", "\\]"}});
  };
  std::string names, cases;
  for (const DeclaredVerb& verb : verbs) {
    StrAppend(&names, "    ", Quoted(StrCat(verb.name, ":", plain(verb.summary))), "\n");
    StrAppend(&cases, "    ", verb.name, ") _arguments");
    for (const DeclaredWord& word : verb.words) {
      const std::string action =
          word.choices.empty() ? "_files" : StrCat("(", Joined(word.choices), ")");
      if (!word.is_option) {
        StrAppend(&cases, " \\\n      ", Quoted(StrCat("*:", word.names[0], ":", action)));
        continue;
      }
      for (const std::string& name : word.names) {
        const std::string value = word.takes_value ? StrCat(":value:", action) : "";
        StrAppend(&cases, " \\\n      ", Quoted(StrCat(name, "[", plain(word.text), "]", value)));
      }
    }
    StrAppend(&cases, " ;;\n");
  }
  return StrCat(R"(#compdef assay
# Completion of assay for zsh: source <(assay completion zsh), or as _assay in a folder of $fpath.
_assay() {
  local -a verbs
  verbs=(
)",
                names, R"(  )
  if ((CURRENT == 2)); then
    _describe verb verbs
    return
  fi
  local verb=${words[2]}
  shift words
  ((CURRENT--))
  case $verb in
)",
                cases, R"(  esac
}
if [[ ${funcstack[1]} == _assay ]]; then _assay "$@"; else compdef _assay assay; fi
)");
}

std::string Fish(const std::vector<DeclaredVerb>& verbs) {
  // In '...' fish knows \' and \\ only.
  const auto quoted = [](const std::string& text) {
    return StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
  };
  std::string text =
      "# Completion of assay for fish: assay completion fish | source\n"
      "complete -c assay -f\n";
  for (const DeclaredVerb& verb : verbs) {
    StrAppend(&text, "complete -c assay -n __fish_use_subcommand -a ", verb.name, " -d ",
              quoted(verb.summary), "\n");
    const std::string behind =
        StrCat("complete -c assay -n '__fish_seen_subcommand_from ", verb.name, "'");
    for (const DeclaredWord& word : verb.words) {
      const std::string choices =
          word.choices.empty() ? "" : StrCat(" -x -a ", quoted(Joined(word.choices)));
      StrAppend(&text, behind);
      if (!word.is_option) {
        StrAppend(&text, choices.empty() ? " -F" : choices, "\n");
        continue;
      }
      for (const std::string& name : word.names) {
        const bool is_long = name.substr(0, 2) == "--";
        StrAppend(&text, is_long ? " -l " : " -s ", name.substr(is_long ? 2 : 1));
      }
      if (word.takes_value) StrAppend(&text, choices.empty() ? " -r -F" : choices);
      StrAppend(&text, " -d ", quoted(word.text), "\n");
    }
  }
  return text;
}

int Run(const Options& options) {
  std::vector<DeclaredVerb> verbs = ListDeclared(Verbs());
  for (DeclaredVerb& verb : verbs) AddKnownWords(verb);
  const std::string script = options.shell == "bash"  ? Bash(verbs)
                             : options.shell == "zsh" ? Zsh(verbs)
                                                      : Fish(verbs);
  if (options.json) {
    PrintJson({{"shell", options.shell}, {"script", script}});
  } else {
    Print(script.substr(0, script.size() - 1));
  }
  return kExitOk;
}

}  // namespace

void DeclareCompletion(OptionList& line, VerbAction& action) {
  auto options = std::make_shared<Options>();
  line.Add("SHELL", options->shell, "bash, zsh or fish").OneOf({"bash", "zsh", "fish"}).Required();
  line.AddFlag("--json", options->json, "One JSON object instead");
  action = [options] { return Run(*options); };
}

}  // namespace assay
