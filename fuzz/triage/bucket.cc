// Words of crashes without what differs from case to case; ops and types of programs.
#include "fuzz/triage/bucket.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "fuzz/backends/peer.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr size_t kMaxSignature = 160;

// True of an instruction that has a line to itself, as alarms of compilers tell which one takes
// long.
bool IsInstruction(std::string_view line) {
  return line.starts_with("%") && line.find(" = ") != line.npos;
}

// False of a line without a word, of an alarm, and of those by which a worker's Python says where
// in the worker an exception ended it: the exception's own line follows.
bool Telling(std::string_view line) {
  const std::string_view text = line.substr(std::min(line.size(), line.find_first_not_of(" \t")));
  if (text.starts_with("Traceback (most recent call last)") ||
      text.starts_with("File \"<string>\"") || IsInstruction(text) || IsAlarmOfPeers(text))
    return false;
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
}

// Finds where the words for a heap that was written over begin, the C library's or those of the
// kernel that is given a result's address; npos: they are not there. Who notices, and by which
// check, depends on what lies where.
size_t CorruptedHeap(const std::string& signature) {
  constexpr std::string_view kWords[] = {"double free or corruption",
                                         "corrupted double-linked list",
                                         "corrupted size vs. prev_size",
                                         "corrupted unsorted chunks",
                                         "invalid fastbin entry",
                                         "break adjusted to free malloc space",
                                         "free():",
                                         "malloc():",
                                         "malloc_consolidate():",
                                         "Fatal glibc error: malloc assertion",
                                         "munmap_chunk():",
                                         "realloc():",
                                         "OSError: [Errno #] Bad address"};
  size_t first = std::string::npos;
  for (const std::string_view words : kWords) first = std::min(first, signature.find(words));
  return first;
}

// "while.1_computation": a name of the program, which a number makes different from others.
bool IsNumberedName(std::string_view word) {
  for (size_t dot = word.find('.'); dot != word.npos; dot = word.find('.', dot + 1)) {
    const bool is_numbered = dot > 0 && dot + 1 < word.size() &&
                             std::isalpha(static_cast<unsigned char>(word[dot - 1])) != 0 &&
                             std::isdigit(static_cast<unsigned char>(word[dot + 1])) != 0;
    if (is_numbered) return true;
  }
  return false;
}

// "while_computation", the name that XLA's import gives the only one of its kind; others are
// numbered.
bool IsNameOfComputation(std::string_view word) {
  while (!word.empty() && (word.back() == ',' || word.back() == '.')) word.remove_suffix(1);
  return word.ends_with("_computation");
}

// Words that change from case to case become '#'.
std::string NormaliseWord(std::string_view word) {
  // Messages of protobuf begin with a name that is drawn, so that nobody parses them.
  if (word.rfind("goo.gle/", 0) == 0 || IsNumberedName(word) || IsNameOfComputation(word))
    return "#";
  if (word.find('/') != std::string_view::npos) {
    word.remove_prefix(word.rfind('/') + 1);  // a path: its last part
  }
  if (!word.empty() && (word[0] == '%' || word[0] == '\'' || word[0] == '"' || word[0] == '`')) {
    return "#";
  }
  std::string out;
  for (char c : word) {
    bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) {
      out.push_back(c);
    } else if (out.ends_with("#,")) {
      out.pop_back();  // a list of numbers, such as the sizes of dimensions, may have any length
    } else if (out.empty() || out.back() != '#') {
      out.push_back('#');
    }
  }
  return out;
}

// The number of the first operand that says where; the number of operands where none does.
int64_t FirstIndex(const Instruction& at) {
  switch (at.opcode()) {
    case Opcode::kDynamicSlice:
    case Opcode::kGather:
    case Opcode::kScatter:
      return 1;
    case Opcode::kDynamicUpdateSlice:
      return 2;
    default:
      return at.operand_count();
  }
}

}  // namespace

bool IsCrash(Outcome::Kind kind) {
  return kind == Outcome::kCompileCrash || kind == Outcome::kRunCrash || kind == Outcome::kRejected;
}

char ClassLetter(ElementType type) {
  return IsFloat(type) ? 'f' : IsComplex(type) ? 'c' : IsPred(type) ? 'p' : 'i';
}

char ClassLetterOf(const Module& module) {
  const Shape* shape = &module.entry()->root()->shape();
  while (shape->IsTuple() && !shape->elements().empty()) shape = &shape->elements()[0];
  return ClassLetter(shape->element_type());
}

char ClassLetterOfNumbers(const Module& module) {
  const Instruction* root = module.entry()->root();
  return root->opcode() == Opcode::kCompare ? ClassLetter(root->operand(0)->shape().element_type())
                                            : ClassLetterOf(module);
}

std::string CrashSignature(const std::string& text) {
  // The class in front is no part of it: the same assertion kills compilers at several points.
  for (const char* prefix : {"compile crash: ", "run crash: ", "rejected: "}) {
    if (text.rfind(prefix, 0) == 0) return CrashSignature(text.substr(std::string(prefix).size()));
  }
  std::string signature;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    if (!Telling(line)) continue;
    std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    // The text of an instruction, "%add.1 = f32[2]{0} add(...)", is one case's.
    const auto equals = std::find(words.begin(), words.end(), "=");
    if (equals > words.begin() && equals != words.end() && equals[-1][0] == '%')
      words.erase(equals, words.end());
    for (size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      // "not assigned for instruction while": the only one of its kind has no number.
      if (i > 0 && words[i - 1] == "instruction") {
        signature += " #";
        continue;
      }
      // This is the place where MLIR found it, if it knows: an instruction by its name.
      if (word.rfind("loc(", 0) == 0 || word.rfind("<unknown>:", 0) == 0) continue;
      StrAppend(&signature, signature.empty() ? "" : " ", NormaliseWord(word));
    }
    // The line that says how it died is followed by the one that says where; one that ends with a
    // colon announces the line that says it.
    if (signature.find(':') != std::string::npos && signature.back() != ':') break;
    signature += ";";
  }
  if (const size_t heap = CorruptedHeap(signature); heap != std::string::npos) {
    signature.replace(heap, std::string::npos, "corrupted heap");
  }
  if (signature.size() > kMaxSignature) signature.resize(kMaxSignature);
  return signature;
}

std::set<std::string> OpcodeSet(const Module& module) {
  std::set<const Computation*> combiners;
  for (const Computation* computation : module.computations()) {
    for (const Instruction* at : *computation) {
      if (at->opcode() != Opcode::kScatter) continue;
      combiners.insert(at->callees().begin(), at->callees().end());
    }
  }
  std::set<std::string> names;
  for (const Computation* computation : module.computations()) {
    if (combiners.contains(computation)) continue;
    for (const Instruction* at : *computation) {
      Opcode opcode = at->opcode();
      if (opcode == Opcode::kParameter || opcode == Opcode::kConstant) continue;
      if (opcode == Opcode::kTuple || opcode == Opcode::kGetTupleElement) continue;
      names.insert(std::string(Name(opcode)));
    }
  }
  return names;
}

std::string VariantOf(const Module& module, int64_t leaf) {
  const Shape* shape = &module.entry()->root()->shape();
  const auto count = static_cast<int64_t>(shape->IsTuple() ? shape->elements().size() : 0);
  if (leaf > 0 && leaf < count) shape = &shape->elements()[static_cast<size_t>(leaf)];
  while (shape->IsTuple() && !shape->elements().empty()) shape = &shape->elements()[0];
  const ElementType type = shape->element_type();
  std::string variant(1, ClassLetter(type));
  if (shape->IsArray() && !IsPred(type) && BitWidth(type) < 8) variant += " of few bits";
  std::set<std::string> indices;
  for (const Computation* computation : module.computations()) {
    for (const Instruction* at : *computation) {
      const int64_t first = FirstIndex(*at);
      if (first < at->operand_count())
        indices.emplace(Name(at->operand(first)->shape().element_type()));
    }
  }
  return indices.empty() ? variant : StrCat(variant, " by ", absl::StrJoin(indices, ", "));
}

}  // namespace assay
