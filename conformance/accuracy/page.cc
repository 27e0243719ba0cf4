// Joins results and writes tables.
#include "conformance/accuracy/page.h"

#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "conformance/accuracy/published_files.h"
#include "nlohmann/json.hpp"
#include "spec/base/status_macros.h"
#include "spec/base/strings.h"

namespace assay::accuracy {
namespace {

using Column = std::map<std::string, const Measured*>;  // by subject

std::string SubjectOf(const PieceResult& result) {
  return result.argument == result.result || result.kind != SubjectKind::kReal
             ? StrCat(result.name, " ", result.argument)
             : StrCat(result.name, " ", result.argument, " ", result.result);
}

bool IsOfJax(const PieceResult& result) { return result.name.starts_with(kJaxPrefix); }

std::string Ulps(double ulps) {
  if (ulps == 0) return "0.5";
  return ulps < 1000 ? absl::StrFormat("%.4f", ulps) : absl::StrFormat("%.4g", ulps);
}

std::string Number(double value) { return absl::StrFormat("%.9g", value); }

// "1.563, 98.0 %", and a mark for what is not a matter of ulps.
std::string Cell(const Measured* measured) {
  if (measured == nullptr) return "";
  const PieceResult& result = measured->result;
  if (!result.refusal.empty()) return "-";
  const Errors& errors = result.errors;
  std::string text = Ulps(errors.worst);
  if (errors.inputs > 0)
    text += absl::StrFormat(", %.1f %%", 100.0 * static_cast<double>(errors.nearest) /
                                             static_cast<double>(errors.inputs));
  if (errors.other_class.count > 0) text += StrCat(", **", errors.other_class.count, " other**");
  if (measured->pieces < result.pieces)
    text += StrCat(" (", measured->pieces, "/", result.pieces, ")");
  return text;
}

struct Backends {
  std::vector<std::string> names;  // in order
  std::map<std::string, std::string> versions;
  std::map<std::string, Column> columns;
};

Backends ByBackend(const std::vector<Measured>& measured) {
  Backends backends;
  for (const Measured& one : measured) {
    const PieceResult& result = one.result;
    if (!backends.columns.contains(result.backend)) backends.names.push_back(result.backend);
    backends.versions[result.backend] = result.version;
    // The measurement of most arguments counts.
    const Measured*& place = backends.columns[result.backend][SubjectOf(result)];
    if (place == nullptr || place->result.errors.inputs < result.errors.inputs) place = &one;
  }
  return backends;
}

const Measured* Find(const Backends& backends, const std::string& name,
                     const std::string& subject) {
  const Column& column = backends.columns.at(name);
  const auto at = column.find(subject);
  return at == column.end() ? nullptr : at->second;
}

std::string Head(const std::vector<std::string>& titles) {
  std::string text = "|";
  for (const std::string& title : titles) text += StrCat(" ", title, " |");
  text += "\n|";
  for (size_t i = 0; i < titles.size(); ++i) text += " --- |";
  return text + "\n";
}

// A table of the functions on one type of arguments, a column for each backend, and where the first
// backend's worst error is.
std::string TypeTable(const Backends& backends, const std::vector<Measured>& measured,
                      const std::string& type) {
  std::vector<std::string> titles = {"function", "arguments"};
  for (const std::string& name : backends.names) titles.push_back(StrCat("`", name, "`"));
  for (const std::string& name : backends.names) titles.push_back(StrCat("worst at, `", name, "`"));
  std::string rows;
  std::set<std::string> done;
  for (const Measured& one : measured) {
    const PieceResult& result = one.result;
    const std::string subject = SubjectOf(result);
    if (result.argument != type || result.kind == SubjectKind::kBits || result.name == "convert" ||
        IsOfJax(result) || !done.insert(subject).second)
      continue;
    rows += StrCat("| ", result.name, " | ", result.errors.inputs, " |");
    for (const std::string& name : backends.names)
      rows += StrCat(" ", Cell(Find(backends, name, subject)), " |");
    for (const std::string& name : backends.names) {
      const Measured* at = Find(backends, name, subject);
      const bool is_worth = at != nullptr && at->result.errors.worst > 0;
      rows += is_worth ? StrCat(" ", Number(at->result.errors.worst_at.x),
                                at->result.errors.worst_at.y == 0
                                    ? ""
                                    : StrCat(", ", Number(at->result.errors.worst_at.y)),
                                " |")
                       : " |";
    }
    rows += "\n";
  }
  return rows.empty() ? "" : StrCat("\n## ", type, "\n\n", Head(titles), rows);
}

// One row per type: how many functions are right everywhere, and the worst of the others.
std::string Summary(const Backends& backends, const std::vector<Measured>& measured,
                    const std::function<bool(const PieceResult&)>& is_wanted) {
  std::vector<std::string> types, titles = {"type"};
  for (const std::string& name : backends.names) titles.push_back(StrCat("`", name, "`"));
  for (const Measured& one : measured)
    if (is_wanted(one.result) &&
        std::find(types.begin(), types.end(), one.result.argument) == types.end())
      types.push_back(one.result.argument);
  std::string text = Head(titles);
  for (const std::string& type : types) {
    text += StrCat("| ", type, " |");
    for (const std::string& name : backends.names) {
      int64_t all = 0, exact = 0, refused = 0, others = 0;
      const PieceResult* worst = nullptr;
      for (const auto& [subject, one] : backends.columns.at(name)) {
        if (one->result.argument != type || !is_wanted(one->result)) continue;
        ++all;
        const Errors& errors = one->result.errors;
        if (!one->result.refusal.empty()) ++refused;
        if (one->result.refusal.empty() && errors.nearest == errors.inputs) ++exact;
        if (errors.other_class.count > 0) ++others;
        if (worst == nullptr || errors.worst > worst->errors.worst) worst = &one->result;
      }
      text += StrCat(" ", exact, " of ", all, " all nearest");
      if (refused > 0) text += StrCat("; ", refused, " not run");
      if (others > 0) text += StrCat("; ", others, " with NaN or infinity that is wrong");
      if (worst != nullptr && worst->errors.worst > 0)
        text += StrCat("; worst ", Ulps(worst->errors.worst), " (", worst->name,
                       worst->name == "convert" ? StrCat(" to ", worst->result) : "", ")");
      text += " |";
    }
    text += "\n";
  }
  return text;
}

// Figures of JAX's page are given in halves.
double InHalves(double worst) { return std::max(0.5, std::ceil(worst * 2 - 1e-6) / 2); }

absl::StatusOr<std::string> JaxTable(const Backends& backends, const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Published> published, PublishedByJax());
  std::string rows;
  int64_t same = 0, better = 0, worse = 0;
  for (const Published& one : published) {
    const Measured* at = Find(backends, name, StrCat(kJaxPrefix, one.function, " ", one.type));
    if (at == nullptr || !at->result.refusal.empty()) continue;
    const double ulps = InHalves(at->result.errors.worst);
    const bool is_same = ulps >= one.low && ulps <= one.high;
    (is_same ? same : ulps < one.low ? better : worse)++;
    rows += StrCat("| ", one.function, " | ", one.type, " | ", one.low,
                   one.low == one.high ? "" : StrCat(" to ", one.high), " | ", ulps, " | ",
                   is_same          ? "same"
                   : ulps < one.low ? "less here"
                                    : "**more here**",
                   " | ", Number(at->result.errors.worst_at.x), " | ", at->result.errors.inputs,
                   " |\n");
  }
  if (rows.empty()) return std::string();
  return StrCat(
      "\n## JAX's page, on `", name, "`\n\n", backends.versions.at(name), ". Of ", published.size(),
      " figures of JAX's page on accuracy for x86-64 ", same + better + worse,
      " were measured: ", same, " are the same, ", better, " less and ", worse, " more here.\n\n",
      Head({"function", "type", "JAX says", "measured", "", "worst at", "arguments"}), rows);
}

std::string Specials(const Backends& backends) {
  std::string rows;
  for (const std::string& name : backends.names) {
    for (const auto& [subject, one] : backends.columns.at(name)) {
      std::set<std::string> told;
      for (const Sample& sample : one->result.errors.specials) {
        const std::string call = one->result.argument == one->result.result && sample.y == 0
                                     ? Number(sample.x)
                                     : StrCat(Number(sample.x), ", ", Number(sample.y));
        if (told.size() >= 4 || !told.insert(call).second) continue;
        rows += StrCat("| `", name, "` | ", subject, " | ", call, " | ", Number(sample.got), " | ",
                       Number(sample.want), " |\n");
      }
    }
  }
  if (rows.empty()) return "";
  return StrCat("\n## Special values that are wrong\n\nAt most four of a function.\n\n",
                Head({"backend", "function", "at", "got", "right"}), rows);
}

std::string Shapes(const Backends& backends) {
  std::string rows;
  for (const std::string& name : backends.names) {
    for (const auto& [subject, one] : backends.columns.at(name)) {
      const Errors& errors = one->result.errors;
      if (errors.not_monotone.count + errors.not_symmetric.count == 0) continue;
      const auto cell = [](const Noted& noted) {
        return noted.count == 0 ? std::string("-")
                                : StrCat(noted.count, ", first at ", Number(noted.first.x));
      };
      rows += StrCat("| `", name, "` | ", subject, " | ", errors.pairs, " | ",
                     cell(errors.not_monotone), " | ", cell(errors.not_symmetric), " |\n");
    }
  }
  return StrCat(
      "\n## Neighbours and mirror images\n\nFunctions that rise must not fall between "
      "neighbours, and odd and even ones must mirror.\n\n",
      rows.empty()
          ? "All do.\n"
          : Head({"backend", "function", "pairs", "wrong order", "no mirror image"}) + rows);
}

constexpr std::string_view kIntroduction =
    "A cell has the largest error in ulps and the share of results that are the nearest number. An "
    "ulp is the unit in the\nlast place of the true value's binade, as on JAX's page; 0.5 is a "
    "function that is correctly rounded everywhere.\n*Other* counts NaN, infinities and numbers "
    "that stand for one another. Subnormal numbers that a backend takes for zero\nare no error "
    "here, and what else it makes of subnormal arguments is left out. The truth is f64 with a "
    "rounding test,\ndouble-double arithmetic for f64, and MPFR where those do not decide.\n";

}  // namespace

absl::StatusOr<std::vector<PieceResult>> ReadResults(const std::vector<std::string>& files) {
  std::vector<PieceResult> pieces;
  std::set<std::string> keys;
  for (const std::string& path : files) {
    std::ifstream file(path);
    if (!file) return absl::NotFoundError(StrCat(path, ": cannot be read"));
    std::string line;
    for (int64_t number = 1; std::getline(file, line); ++number) {
      const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
      absl::StatusOr<PieceResult> piece = PieceFromJson(json);
      if (!piece.ok()) {
        // A run that was ended by force leaves half a line; what it says is measured again.
        if (file.peek() == EOF && json.is_discarded()) break;
        return absl::InvalidArgumentError(
            StrCat(path, ":", number, ": ", std::string(piece.status().message())));
      }
      if (keys.insert(piece->Key()).second) pieces.push_back(*std::move(piece));
    }
  }
  return pieces;
}

std::vector<Measured> Join(const std::vector<PieceResult>& pieces) {
  std::vector<Measured> joined;
  std::map<std::string, size_t> places;
  for (PieceResult piece : pieces) {
    // The folder of a plug-in is nobody's business.
    const size_t slash = piece.backend.rfind('/');
    if (piece.backend.starts_with("pjrt:") && slash != std::string::npos)
      piece.backend = StrCat("pjrt:", piece.backend.substr(slash + 1));
    const std::string key = StrCat(piece.backend, "|", SubjectOf(piece), "|", piece.pieces, "|",
                                   piece.stride, "|", piece.samples);
    const auto [at, is_new] = places.emplace(key, joined.size());
    if (is_new) {
      joined.push_back({piece, 1});
      continue;
    }
    Measured& measured = joined[at->second];
    measured.result.errors.Merge(piece.errors);
    measured.result.seconds += piece.seconds;
    if (measured.result.refusal.empty()) measured.result.refusal = piece.refusal;
    ++measured.pieces;
  }
  return joined;
}

absl::StatusOr<std::vector<Published>> PublishedByJax() {
  std::vector<Published> published;
  const std::vector<std::string> lines = absl::StrSplit(ToAbsl(PublishedFiles()[0].content), '\n');
  for (const std::string& line : lines) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> parts = absl::StrSplit(line, '\t');
    Published one;
    if (parts.size() != 4 || !absl::SimpleAtod(parts[2], &one.low) ||
        !absl::SimpleAtod(parts[3], &one.high))
      return absl::InternalError(StrCat("jax_published.tsv: ", line));
    one.function = parts[0];
    one.type = parts[1];
    published.push_back(std::move(one));
  }
  return published;
}

absl::StatusOr<std::string> AccuracyPage(const std::vector<Measured>& measured) {
  const Backends backends = ByBackend(measured);
  std::string text = "# Accuracy of functions\n\nWritten by `assay accuracy --page`.\n\n";
  for (const std::string& name : backends.names)
    text += StrCat("- `", name, "`: ", backends.versions.at(name), "\n");
  text += StrCat("\n", kIntroduction);
  for (const char* type : {"f64", "f32", "f16", "bf16", "c64", "c128"})
    text += TypeTable(backends, measured, type);
  text += StrCat("\n## Narrow floats\n\nAll codes, and all pairs of codes.\n\n",
                 Summary(backends, measured, [](const PieceResult& one) {
                   return one.kind == SubjectKind::kReal && one.argument.starts_with("f") &&
                          one.argument != "f16" && one.argument != "f32" && one.argument != "f64" &&
                          one.name != "convert" && !IsOfJax(one);
                 }));
  text += StrCat(
      "\n## Conversions between floats\n\n",
      Summary(backends, measured, [](const PieceResult& one) { return one.name == "convert"; }));
  text += StrCat(
      "\n## Integers of at most eight bits\n\nAll codes and all pairs, held against the "
      "oracle.\n\n",
      Summary(backends, measured,
              [](const PieceResult& one) { return one.kind == SubjectKind::kBits; }));
  text += Shapes(backends);
  text += Specials(backends);
  for (const std::string& name : backends.names) {
    ASSAY_ASSIGN_OR_RETURN(const std::string table, JaxTable(backends, name));
    text += table;
  }
  return text;
}

}  // namespace assay::accuracy
