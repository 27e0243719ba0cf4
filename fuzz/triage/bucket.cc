// Fingerprints of crashes and of reduced programs.
#include "fuzz/triage/bucket.h"

#include <cctype>
#include <cstdio>
#include <set>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

constexpr size_t kMaxSignature = 120;

uint64_t Mix(uint64_t hash, std::string_view text) {
  for (char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
  return (hash ^ 0xFF) * 0x100000001B3u;
}

// The graph, blind to sizes, values and names: opcode, class of the type and where the operands
// stand. Ranks are left out: the same bug shows at several.
uint64_t StructureHash(const Module& module) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const Computation* computation : module.ComputationPostOrder()) {
    absl::flat_hash_map<const Instruction*, uint64_t> hashes;
    uint64_t root = 0;
    for (const Instruction* at : computation->PostOrder()) {
      bool leaf = at->opcode() == Opcode::kParameter || at->opcode() == Opcode::kConstant;
      uint64_t own = Mix(0xCBF29CE484222325u, leaf ? "leaf" : Name(at->opcode()));
      own = Mix(own, std::to_string(static_cast<int>(ClassOf(at->shape().element_type()))));
      for (const Instruction* operand : at->operands()) own = own * 31 + hashes[operand];
      hashes[at] = own;
      if (at == computation->root()) root = own;
    }
    hash = hash * 31 + root;
  }
  return hash;
}

bool Telling(std::string_view line) {
  for (char c : line) {
    if (std::isalpha(static_cast<unsigned char>(c))) return true;
  }
  return false;
}

// Words that change from case to case become '#'.
std::string NormaliseWord(std::string_view word) {
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
    } else if (out.empty() || out.back() != '#') {
      out.push_back('#');
    }
  }
  return out;
}

}  // namespace

std::string CrashSignature(const std::string& text) {
  // The class in front is no part of it: the same assertion kills compilers at several points.
  for (const char* prefix : {"compile crash: ", "run crash: ", "rejected: "}) {
    if (text.rfind(prefix, 0) == 0) return CrashSignature(text.substr(std::string(prefix).size()));
  }
  std::string signature;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    if (!Telling(line)) continue;
    for (const std::string& word : std::vector<std::string>(
             absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty()))) {
      StrAppend(&signature, signature.empty() ? "" : " ", NormaliseWord(word));
    }
    // The line that says how it died is followed by the one that says where.
    if (signature.find(':') != std::string::npos) break;
    signature += ";";
  }
  if (signature.size() > kMaxSignature) signature.resize(kMaxSignature);
  return signature;
}

std::string OpcodeSet(const Module& module) {
  std::set<std::string> names;
  for (const Computation* computation : module.computations()) {
    for (const Instruction* at : *computation) {
      Opcode opcode = at->opcode();
      if (opcode == Opcode::kParameter || opcode == Opcode::kConstant) continue;
      if (opcode == Opcode::kTuple || opcode == Opcode::kGetTupleElement) continue;
      names.insert(std::string(Name(opcode)));
    }
  }
  return absl::StrJoin(names, "+");
}

std::string BackendFamily(const std::string& name) { return name.substr(0, name.find(':')); }

std::string BucketOf(const BucketKey& key) {
  std::string bucket = StrCat(key.backend_family, "/", Name(key.kind));
  if (!key.rule.empty()) return StrCat(bucket, "/", key.rule);
  if (!key.pass.empty()) StrAppend(&bucket, "/", key.pass);
  if (!key.culprits.empty()) return StrCat(bucket, "/", key.culprits);
  bool crash = key.kind == Outcome::kCompileCrash || key.kind == Outcome::kRunCrash ||
               key.kind == Outcome::kRejected;
  if (crash && !key.crash.empty()) {
    StrAppend(&bucket, "/", CrashSignature(key.crash));
    // A bare signal says little: what is in the program tells one crash from another.
    return key.reduced == nullptr ? bucket : StrCat(bucket, "/", OpcodeSet(*key.reduced));
  }
  if (key.reduced != nullptr) {
    char hash[9];
    snprintf(hash, sizeof(hash), "%08x", static_cast<uint32_t>(StructureHash(*key.reduced)));
    StrAppend(&bucket, "/", OpcodeSet(*key.reduced), "/", std::string(hash));
  }
  return bucket;
}

}  // namespace assay
