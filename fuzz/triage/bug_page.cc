// Writes and reads the folder of a bug.
#include "fuzz/triage/bug_page.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "fuzz/backends/process_backend.h"
#include "fuzz/opinions/far_off.h"
#include "nlohmann/json.hpp"
#include "spec/base/file.h"
#include "spec/base/html.h"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/types/npz.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int64_t kMaxFindingBytes = int64_t{64} << 20;
constexpr int64_t kShownInput = 64;  // elements of an input on the page

// Assay is not needed to see a bug of XLA. What dies, dies in a process of its own, which ends with
// 10 where the bug is there, and with 12 where it has said what else is in the way.
constexpr char kJaxScript[] =
    R"py("""Shows the bug with jax alone: python repro.py

Exits with 1 while this bug is there, with 0 where it is not, and with 2, and why, where something else is in the way."""
import importlib.util, os, subprocess, sys
if "--run" not in sys.argv:
    try:
        run = subprocess.run([sys.executable, os.path.abspath(__file__), "--run"], stderr=subprocess.PIPE, text=True, errors="replace", timeout=300)
    except subprocess.TimeoutExpired:
        print("no end within 300 seconds")
        sys.exit(1 if KIND == "timeout" else 2)
    last = (run.stderr.strip().splitlines() or ["without a word"])[-1]
    sys.stderr.write(run.stderr)
    if run.returncode in (0, 10, 12):
        sys.exit({0: 0, 10: 1, 12: 2}[run.returncode])
    if KIND in ("compile crash", "run crash", "rejected", "out of memory"):
        if WORDS in run.stderr if WORDS else run.returncode < 0 and SIGNAL in (0, -run.returncode):
            print("it is there:", WORDS or last)
            sys.exit(1)
    print(f"something else: it ended with status {run.returncode}: {last}", file=sys.stderr)
    sys.exit(2)
os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax, jaxlib, ml_dtypes, numpy
jax.config.update("jax_enable_x64", True)
def binding(*names):  # releases have them in different places
    return importlib.import_module("jaxlib." + next(n for n in names if importlib.util.find_spec("jaxlib." + n)))
hlo, xla = binding("_hlo", "_jax", "xla_extension"), binding("_jax", "xla_extension")
here = os.path.dirname(os.path.abspath(__file__))
text, arrays = open(os.path.join(here, "repro.hlo")).read(), numpy.load(os.path.join(here, "repro.npz"))
module = hlo.XlaComputation(hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
module, options, client = xla.mlir.xla_computation_to_mlir_module(module), xla.CompileOptions(), jax.devices()[0].client
options.env_option_overrides = FLAGS
devices = [xla.DeviceList(tuple(client.local_devices()[:1]))] if hasattr(client, "compile_and_load") else []
program = (client.compile_and_load if devices else client.compile)(module, *devices, options)
inputs = [arrays[f"in{i}"].astype(t) if "int" in t else arrays[f"in{i}"].view(t) for i, t in enumerate(TYPES)]
def outputs():
    results = program.execute_sharded([jax.device_put(x) for x in inputs]).disassemble_into_single_device_arrays()
    return [numpy.asarray(x[0]) for x in results]
)py";
constexpr char kShowElement[] =
    R"py(got = outputs()[OUTPUT].reshape(-1)[ELEMENT]
print(f"jaxlib {jaxlib.__version__}: element ELEMENT of output OUTPUT is {got}; right:", RIGHT)
sys.stdout.flush()
if WRONG:
    sys.exit(10)
if ALLOWED:
    sys.exit(0)
print("something else: that is wrong, too, but it is not what was seen", file=sys.stderr)
sys.exit(12)
)py";
constexpr char kShowDifferences[] =
    R"py(seen = {tuple(x.tobytes() for x in outputs()) for _ in range(50)}
print(f"jaxlib {jaxlib.__version__}: {len(seen)} different answers in 50 runs")
sys.stdout.flush()
sys.exit(10 if len(seen) > 1 else 0)
)py";
constexpr char kShowOutputs[] =
    R"py(print(f"jaxlib {jaxlib.__version__} has run it:", [x.tolist() for x in outputs()])
sys.stdout.flush()
if KIND == "wrong value":
    print("something else: nobody noted which element is wrong; README.md has the judgement", file=sys.stderr)
    sys.exit(12)
)py";

}  // namespace

std::string NumpyName(ElementType type) {
  const std::string name(Name(type));
  if (type == ElementType::kBF16) return "bfloat16";
  if (IsPred(type)) return "bool";
  if (IsInteger(type)) return StrCat(IsSigned(type) ? "int" : "uint", name.substr(1));
  if (IsComplex(type)) return StrCat("complex", name.substr(1));
  const bool is_narrow = BitWidth(type) <= 8;
  return is_narrow ? StrCat("float", name.substr(1, 1), "_", name.substr(2))
                   : StrCat("float", name.substr(1));
}

namespace {

absl::Status WriteText(const fs::path& path, const std::string& text, bool executable = false) {
  ASSAY_RETURN_IF_ERROR(WriteFile(path.string(), text));
  if (executable) {
    std::error_code ignored;
    fs::permissions(path, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                    fs::perm_options::add, ignored);
  }
  return absl::OkStatus();
}

// The program as it stands in repro.hlo, on the page and on the terminal.
std::string ProgramText(const BugPage& page) {
  return SpellNegativeZeros(page.finding.module_text);
}

std::string DefectName(const Finding& finding) {
  Json object = Json::parse(finding.options.defect, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || !object.contains("name") || !object["name"].is_string()) return "";
  return object["name"].get<std::string>();
}

std::string OpinionText(const SecondOpinion& opinion) {
  switch (opinion.state) {
    case OpinionState::kNone:
      return "";
    case OpinionState::kDeclined:
      return StrCat("none: ", opinion.text);
    case OpinionState::kAgrees:
      return StrCat("numpy agrees with the oracle (second_opinion.py): ", opinion.text);
    case OpinionState::kRefutes:
      return StrCat("numpy agrees with the backend: a false alarm of Assay: ", opinion.text);
    case OpinionState::kDiffers:
      return StrCat("numpy agrees with neither: ", opinion.text);
  }
  return "";
}

// The words behind `word` in the judgement, to the end of its line.
std::string InJudgement(const BugPage& page, const std::string& word, size_t from = 0) {
  const std::string& text = page.finding.judgement;
  const size_t at = text.find(word, from);
  if (at == std::string::npos) return "";
  const size_t begin = text.find_first_not_of(' ', at + word.size());
  return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

// The message of the fatal line that a dying compiler wrote, "F1125 ... map.cc:16] Invalid map".
std::string FatalMessage(const std::string& judgement) {
  for (const absl::string_view line : absl::StrSplit(judgement, '\n')) {
    const size_t message = line.find("] ");
    const bool is_fatal = line.size() > 1 && line[0] == 'F' && absl::ascii_isdigit(line[1]);
    if (is_fatal && message != line.npos) return std::string(line.substr(message + 2));
  }
  return "";
}

// "1 of 4 elements lie outside their bound; the first is -124, and right is exactly 124".
std::string InWords(const BugPage& page) {
  const size_t worst = page.finding.judgement.find("\n  worst: ");
  const bool is_first = worst == std::string::npos;
  const size_t from = is_first ? 0 : worst;
  const std::string got = InJudgement(page, "\n    got ", from);
  const std::string right = InJudgement(page, "allowed ", from);
  const std::string first_line =
      page.finding.judgement.substr(0, page.finding.judgement.find('\n'));
  if (got.empty() || right.empty()) {
    // Among the words of a dying compiler, this is the line that says which check failed.
    for (const char* word : {"Check failed: ", "RET_CHECK failure "}) {
      const std::string check = InJudgement(page, word);
      if (!check.empty()) return StrCat("it dies: ", word, check);
    }
    const std::string fatal = FatalMessage(page.finding.judgement);
    const std::string thrown = InJudgement(page, "what(): ");
    if (!fatal.empty() || !thrown.empty()) {
      return StrCat("it dies: ", fatal.empty() ? thrown : fatal);
    }
    if (!first_line.ends_with(':')) return first_line;
    // It announces the line that says it.
    const std::string rest = InJudgement(page, first_line + "\n");
    return StrCat(first_line, " ", rest);
  }
  const std::string numbers = StrCat(first_line, is_first ? "; the first is " : "; the worst is ",
                                     got, ", and right is ", right);
  return page.difference.empty() ? numbers : StrCat(page.difference, "; ", numbers);
}

// Rows of "what: value" that page and Markdown share.
std::vector<std::pair<std::string, std::string>> Facts(const BugPage& page) {
  const Finding& f = page.finding;
  std::vector<std::pair<std::string, std::string>> facts = {
      {"What is wrong", InWords(page)},
      {"Kind", std::string(Name(f.kind))},
      {"Backend", page.backend_version.empty()
                      ? f.backend
                      : StrCat(f.backend, " (", page.backend_version, ")")},
      {"Numeric profile", f.profile}};
  if (IsByLicence(page.result.notable)) {
    facts.emplace_back(
        "No failure",
        "the profile xla permits another form in place of the program's, and the "
        "answer is right for that; as the program is written, rounding explains less "
        "than a sixteenth of the difference");
  }
  if (page.blame.found) {
    const Decision& d = page.blame.decision;
    facts.emplace_back("Guilty decision",
                       StrCat("number ", d.number, ", ", Name(d.kind), " ", d.rule, " at ", d.where,
                              page.blame.confirmed ? " (confirmed)" : ""));
  }
  if (!page.pass_blame.verdict.empty()) facts.emplace_back("Guilty", page.pass_blame.verdict);
  for (const auto& [flag, outcome] : page.pass_blame.checks) {
    facts.emplace_back(StrCat("With ", flag), outcome);
  }
  for (const auto& [flag, value] : f.options.flags)
    facts.emplace_back("Flag", StrCat(flag, "=", value));
  if (std::string defect = DefectName(f); !defect.empty()) {
    facts.emplace_back("Planted defect", defect);
  }
  if (f.index >= 0) {
    facts.emplace_back("Found by",
                       StrCat("campaign seed ", f.seed, ", program ", f.index,
                              f.input_set == 0 ? "" : StrCat(", input set ", f.input_set)));
  }
  if (page.opinion.state != OpinionState::kNone) {
    facts.emplace_back("Second opinion", OpinionText(page.opinion));
  }
  if (!page.releases.empty()) facts.emplace_back("Releases", page.releases);
  if (!f.second_check.empty()) facts.emplace_back("Second check", f.second_check);
  if (page.duplicates > 0) facts.emplace_back("Also seen", StrCat(page.duplicates, " more times"));
  facts.emplace_back("Bucket", page.result.bucket);
  return facts;
}

std::vector<std::string> InputTexts(const Finding& finding) {
  std::vector<std::string> texts;
  for (const Literal& input : finding.inputs) {
    texts.push_back(StrCat(input.shape().ToString(), " ",
                           input.element_count() <= kShownInput
                               ? input.ToString()
                               : StrCat("... ", input.element_count(), " elements in repro.npz")));
  }
  return texts;
}

std::string ReplayCommand(const BugPage& page, const std::string& folder) {
  return StrCat(page.program, " replay ", folder);
}

}  // namespace

int SignalOfDeath(const std::string& judgement) {
  const std::string word = "died of SIG";
  const size_t at = judgement.find(word);
  if (at == std::string::npos) return 0;
  std::string name = judgement.substr(at + word.size());
  name.resize(
      std::min(name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"), name.size()));
  for (int signal = 1; signal < NSIG; ++signal) {
    const char* known = sigabbrev_np(signal);
    if (known != nullptr && name == known) return signal;
  }
  return 0;
}

std::string WordsOfDeath(const BugPage& page) {
  constexpr size_t kMostWords = 120;
  std::string words = FatalMessage(page.finding.judgement);
  for (const char* before : {"Check failed: ", "RET_CHECK failure ", "what(): ", "INTERNAL: ",
                             "INVALID_ARGUMENT: ", "UNKNOWN: ", "FAILED_PRECONDITION: ",
                             "RESOURCE_EXHAUSTED: ", "NOT_FOUND: ", "UNIMPLEMENTED: "}) {
    if (words.empty()) words = InJudgement(page, before);
  }
  return words.substr(0, kMostWords);
}

namespace {

std::string JaxScript(const BugPage& page) {
  const bool is_nondeterministic = page.finding.kind == Outcome::kNondeterministic;
  std::string script = StrCat(kJaxScript, page.wrong.output >= 0 ? kShowElement
                                          : is_nondeterministic  ? kShowDifferences
                                                                 : kShowOutputs);
  std::vector<std::string> types;
  for (const Literal& input : page.finding.inputs) types.push_back(NumpyName(input.element_type()));
  Json flags = Json::array();
  for (const auto& [name, value] : page.finding.options.flags) {
    const bool is_word = value == "true" || value == "false";
    int64_t number = 0;
    const bool is_number = absl::SimpleAtoi(value, &number);
    flags.push_back({name, is_word     ? Json(value == "true")
                           : is_number ? Json(number)
                                       : Json(value)});
  }
  const auto quoted = [](const std::string& text) {
    return Json(text).dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  };
  const auto python = [](const Json& json) {
    return absl::StrReplaceAll(json.dump(), {{"true", "True"}, {"false", "False"}});
  };
  return absl::StrReplaceAll(script, {{"FLAGS", python(flags)},
                                      {"TYPES", python(types)},
                                      {"KIND", quoted(std::string(Name(page.finding.kind)))},
                                      {"WORDS", quoted(WordsOfDeath(page))},
                                      {"SIGNAL", StrCat(SignalOfDeath(page.finding.judgement))},
                                      {"OUTPUT", StrCat(page.wrong.output)},
                                      {"ELEMENT", StrCat(page.wrong.element)},
                                      {"RIGHT", quoted(InJudgement(page, "allowed "))},
                                      {"ALLOWED", page.wrong.allowed},
                                      {"WRONG", page.wrong.test}});
}

Json FindingJson(const BugPage& page) {
  const Finding& f = page.finding;
  return {{"format", 1},
          {"title", page.result.title},
          {"kind", std::string(Name(f.kind))},
          {"backend", f.backend},
          {"backend_version", page.backend_version},
          {"profile", f.profile},
          {"flags", f.options.flags},
          {"defect", f.options.defect},
          {"seed", f.seed},
          {"index", f.index},
          {"input_set", f.input_set},
          {"bucket", page.result.bucket},
          {"culprit", ToJson(page.result.culprit)},
          {"variant", page.result.variant},
          {"rule", page.result.blamed_rule},
          {"decision", page.result.blamed_decision},
          {"where", page.result.blamed_where},
          {"instructions", page.result.instructions},
          {"duplicates", page.duplicates},
          {"second_opinion", std::string(Name(page.opinion.state))},
          {"notable", page.result.notable},
          {"releases", page.releases},
          {"guilty", page.pass_blame.verdict},
          {"judgement", f.judgement}};
}

constexpr char kStyle[] = R"css(
:root{color-scheme:light dark;--bg:#fff;--fg:#1c2024;--dim:#60656c;--line:#d9dce0;--box:#f6f7f9;--bad:#b42318;--good:#067647;--add:#dcf5e7;--del:#fbe4e2}
@media(prefers-color-scheme:dark){:root{--bg:#15181c;--fg:#e6e8eb;--dim:#9ba1a8;--line:#33383f;--box:#1d2126;--bad:#ff8b7e;--good:#5fd39a;--add:#12351f;--del:#421b18}}
body{background:var(--bg);color:var(--fg);font:16px/1.55 system-ui,sans-serif;margin:0 auto;max-width:60rem;padding:2.5rem 1.25rem 4rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 1.25rem;overflow-wrap:anywhere}h2{font-size:1.05rem;margin:2rem 0 .6rem}
table{border-collapse:collapse;width:100%}td{border-top:1px solid var(--line);padding:.4rem .8rem .4rem 0;vertical-align:top;overflow-wrap:anywhere}td:first-child{color:var(--dim);white-space:nowrap;width:1%}
pre{background:var(--box);border:1px solid var(--line);border-radius:8px;font:13px/1.5 ui-monospace,monospace;margin:0;overflow-x:auto;padding:.8rem 1rem}
pre .add,pre .del{display:block;margin:0 -1rem;padding:0 1rem}.add{background:var(--add)}.del{background:var(--del)}
.two{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(18rem,1fr))}.bad{color:var(--bad)}.good{color:var(--good)}.dim{color:var(--dim)}
@media(max-width:40rem){body{padding:1.5rem .9rem 3rem}table,tbody,tr,td{display:block}td:first-child{border-top:1px solid var(--line);padding:.5rem 0 0;white-space:normal;width:auto}td{border-top:0;padding:0 0 .5rem}}
@media print{body{max-width:none;padding:0}}
)css";

void Section(std::string& html, const std::string& title, const std::string& body) {
  if (body.empty()) return;
  StrAppend(&html, "<h2>", EscapeHtml(title), "</h2>\n", body, "\n");
}

std::string Pre(const std::string& text) {
  return text.empty() ? "" : StrCat("<pre>", EscapeHtml(text), "</pre>");
}

std::string DiffHtml(const std::string& before, const std::string& after) {
  if (before.empty() || after.empty() || before == after) return "";
  std::string html = "<pre>";
  for (const std::string& line : DiffLines(before, after)) {
    const char* mark = line[0] == '+' ? "add" : line[0] == '-' ? "del" : nullptr;
    if (mark != nullptr) {
      StrAppend(&html, "<span class=\"", mark, "\">", EscapeHtml(line), "</span>");
    } else {
      StrAppend(&html, EscapeHtml(line), "\n");
    }
  }
  return html + "</pre>";
}

const std::string& Before(const BugPage& page) {
  return page.blame.found ? page.blame.before : page.pass_blame.before;
}
const std::string& After(const BugPage& page) {
  return page.blame.found ? page.blame.after : page.pass_blame.after;
}

}  // namespace

std::vector<std::string> DiffLines(const std::string& before, const std::string& after) {
  std::vector<std::string> a = absl::StrSplit(before, '\n'), b = absl::StrSplit(after, '\n');
  // Longest common subsequence; modules after reduction have few lines, others are cut.
  constexpr size_t kMaxLines = 1500;
  if (a.size() > kMaxLines) a.resize(kMaxLines);
  if (b.size() > kMaxLines) b.resize(kMaxLines);
  std::vector<std::vector<int>> length(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      length[i][j] =
          a[i] == b[j] ? length[i + 1][j + 1] + 1 : std::max(length[i + 1][j], length[i][j + 1]);
    }
  }
  std::vector<std::string> lines;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      lines.push_back(" " + a[i]);
      ++i, ++j;
    } else if (j == b.size() || (i < a.size() && length[i + 1][j] >= length[i][j + 1])) {
      lines.push_back("-" + a[i++]);
    } else {
      lines.push_back("+" + b[j++]);
    }
  }
  return lines;
}

std::string BugMarkdown(const BugPage& page) {
  std::string text = StrCat("# ", page.result.title, "\n\n");
  for (const auto& [what, value] : Facts(page)) StrAppend(&text, "- **", what, ":** ", value, "\n");
  StrAppend(&text, "\n## Program\n\n```\n", ProgramText(page), "```\n");
  std::vector<std::string> inputs = InputTexts(page.finding);
  if (!inputs.empty()) {
    text += "\nInputs (`repro.npz`):\n\n```\n";
    for (size_t i = 0; i < inputs.size(); ++i) StrAppend(&text, "in", i, " = ", inputs[i], "\n");
    text += "```\n";
  }
  if (!page.expected.empty()) StrAppend(&text, "\nExpected:\n\n```\n", page.expected, "\n```\n");
  if (!page.got.empty()) StrAppend(&text, "\nGot:\n\n```\n", page.got, "\n```\n");
  StrAppend(&text, "\n## Judgement\n\n```\n", page.finding.judgement, "\n```\n");
  if (!Before(page).empty() && !After(page).empty()) {
    StrAppend(&text, "\n## What the guilty step did\n\n```diff\n");
    for (const std::string& line : DiffLines(Before(page), After(page)))
      StrAppend(&text, line, "\n");
    text += "```\n";
  }
  StrAppend(&text, "\n## To repeat\n\n```\n", ReplayCommand(page, "."), "\n```\n");
  if (page.is_jax) {
    text += "\nWithout Assay: `python repro.py` (needs jax, jaxlib, numpy).\n";
  }
  if (!page.steps.empty()) {
    text += "\n## How it was found\n\n";
    for (const std::string& step : page.steps) StrAppend(&text, "1. ", step, "\n");
  }
  return text;
}

std::string BugHtml(const BugPage& page) {
  std::string html = StrCat(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>",
      EscapeHtml(page.result.title), "</title>\n<style>", kStyle, "</style></head>\n<body>\n<h1>",
      EscapeHtml(page.result.title), "</h1>\n<table>\n");
  for (const auto& [what, value] : Facts(page)) {
    StrAppend(&html, "<tr><td>", EscapeHtml(what), "</td><td>", EscapeHtml(value), "</td></tr>\n");
  }
  html += "</table>\n";
  Section(html, "Program", Pre(ProgramText(page)));
  std::string inputs;
  std::vector<std::string> texts = InputTexts(page.finding);
  for (size_t i = 0; i < texts.size(); ++i) StrAppend(&inputs, "in", i, " = ", texts[i], "\n");
  Section(html, "Inputs", Pre(inputs));
  if (!page.expected.empty() && !page.got.empty()) {
    StrAppend(&html, "<div class=\"two\"><div><h2 class=\"good\">Expected</h2>", Pre(page.expected),
              "</div><div><h2 class=\"bad\">Got</h2>", Pre(page.got), "</div></div>\n");
  }
  Section(html, "Judgement", Pre(page.finding.judgement));
  Section(html, "What the guilty step did", DiffHtml(Before(page), After(page)));
  std::string repeat = StrCat(ReplayCommand(page, "."), "\n");
  if (page.is_jax) repeat += "python repro.py      # without Assay\n";
  Section(html, "To repeat", Pre(repeat));
  std::string steps;
  for (const std::string& step : page.steps) StrAppend(&steps, "<li>", EscapeHtml(step), "</li>\n");
  Section(html, "How it was found", steps.empty() ? "" : StrCat("<ol>\n", steps, "</ol>"));
  if (page.original_text != page.finding.module_text) {
    Section(html, "Before reduction",
            StrCat("<details><summary class=\"dim\">original.hlo</summary>",
                   Pre(page.original_text), "</details>"));
  }
  return html + "</body></html>\n";
}

absl::Status WriteBugPage(const BugPage& page, const std::string& folder) {
  fs::path root(folder);
  ASSAY_RETURN_IF_ERROR(MakeFolder(folder));
  ASSAY_RETURN_IF_ERROR(WriteInputs((root / "repro.npz").string(), page.finding.inputs));
  std::string shell = StrCat(
      "#!/bin/sh\n# Shows the bug again; exit status 1 while it is there.\n", "program=${ASSAY:-",
      page.program, "}\n",
      "[ -n \"${ASSAY:-}\" ] || command -v \"$program\" > /dev/null || program=assay\n",
      "if ! command -v \"$program\" > /dev/null; then\n",
      "  echo \"error: $program is not found; name the program by ASSAY=/path/to/assay\" >&2\n",
      "  exit 2\nfi\n", "exec \"$program\" replay \"$(dirname \"$0\")\" \"$@\"\n");
  struct File {
    const char* name;
    std::string text;
    bool executable = false;
  };
  std::vector<File> files = {{"repro.hlo", ProgramText(page)},
                             {"original.hlo", page.original_text},
                             {"README.md", BugMarkdown(page)},
                             {"repro.sh", shell, true},
                             {"bug.html", BugHtml(page)}};
  if (page.is_jax) files.push_back({"repro.py", JaxScript(page)});
  if (!page.opinion.script.empty()) files.push_back({"second_opinion.py", page.opinion.script});
  // Last: a folder with it is complete.
  files.push_back({"finding.json",
                   FindingJson(page).dump(2, ' ', false, Json::error_handler_t::replace) + "\n"});
  for (const File& file : files) {
    ASSAY_RETURN_IF_ERROR(WriteText(root / file.name, file.text, file.executable));
  }
  return absl::OkStatus();
}

namespace {

absl::StatusOr<std::string> ReadSmallFile(const fs::path& path) {
  return ReadFile(path.string(), kMaxFindingBytes);
}

absl::Status ReadInputs(const fs::path& root, Finding& finding) {
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ReadModule(finding.module_text));
  ASSAY_ASSIGN_OR_RETURN(auto arrays, ReadNpz((root / "repro.npz").string()));
  for (int64_t i = 0; i < module->entry()->parameter_count(); ++i) {
    const Instruction* parameter = module->entry()->parameter(i);
    auto at = arrays.find(StrCat("in", i));
    if (parameter == nullptr || at == arrays.end()) {
      return absl::InvalidArgumentError(StrCat("repro.npz has no in", i));
    }
    ASSAY_ASSIGN_OR_RETURN(Literal value, AsShape(at->second, parameter->shape()));
    finding.inputs.push_back(std::move(value));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Finding> LoadFinding(const std::string& folder) {
  fs::path root(folder);
  ASSAY_ASSIGN_OR_RETURN(std::string text, ReadSmallFile(root / "finding.json"));
  Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return absl::InvalidArgumentError(StrCat(folder, "/finding.json is not a finding"));
  }
  auto string = [&object](const char* field) {
    auto at = object.find(field);
    return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
  };
  Finding finding;
  std::optional<Outcome::Kind> kind = OutcomeKindFromName(string("kind"));
  if (!kind) return absl::InvalidArgumentError(StrCat("unknown kind '", string("kind"), "'"));
  finding.kind = *kind;
  finding.backend = string("backend");
  finding.profile = string("profile");
  finding.options.defect = string("defect");
  finding.judgement = string("judgement");
  if (auto flags = object.find("flags"); flags != object.end() && flags->is_object()) {
    for (const auto& [name, value] : flags->items()) {
      if (value.is_string()) finding.options.flags[name] = value.get<std::string>();
    }
  }
  if (auto at = object.find("seed"); at != object.end() && at->is_number_unsigned()) {
    finding.seed = at->get<uint64_t>();
  }
  if (auto at = object.find("input_set"); at != object.end() && at->is_number_integer()) {
    finding.input_set = at->get<int64_t>();
  }
  if (auto at = object.find("index"); at != object.end() && at->is_number_integer()) {
    finding.index = at->get<int64_t>();
  }
  ASSAY_ASSIGN_OR_RETURN(finding.module_text, ReadSmallFile(root / "repro.hlo"));
  ASSAY_RETURN_IF_ERROR(ReadInputs(root, finding));
  return finding;
}

}  // namespace assay
