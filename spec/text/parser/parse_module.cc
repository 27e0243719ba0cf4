// The module level: header, stack frame tables, the sequence of computations. Document: hlo-format
// chapters 1.2, 1.3, 3.12.
#include <algorithm>

#include "spec/base/nearest_word.h"
#include "spec/base/strings.h"
#include "spec/text/parser/parser.h"

namespace assay::text_internal {
namespace {

// Header attributes that are kept as written: shardings' propagation, maps for frontends,
// provenance under its present name and an older one.
constexpr std::string_view kVerbatim[] = {"allow_spmd_sharding_propagation_to_parameters",
                                          "allow_spmd_sharding_propagation_to_output",
                                          "frontend_attributes",
                                          "origin_recovery_table",
                                          "original_value_recovery_table",
                                          "debug_attributes"};

bool IsKeptVerbatim(std::string_view name) {
  return std::find(std::begin(kVerbatim), std::end(kVerbatim), name) != std::end(kVerbatim);
}

// A wrong word changes nothing silently: what stands behind it would be lost with it.
std::string LegalHeaderWords(std::string_view name) {
  std::vector<std::string> words = {"is_scheduled",
                                    "alias_passthrough_params",
                                    "replica_count",
                                    "num_partitions",
                                    "input_output_alias",
                                    "buffer_donor",
                                    "entry_computation_layout"};
  words.insert(words.end(), std::begin(kVerbatim), std::end(kVerbatim));
  const std::string meant = DidYouMean(name, words);
  if (!meant.empty()) return meant;
  std::string list = "; a header has ";
  for (size_t i = 0; i < words.size(); ++i) StrAppend(&list, i == 0 ? "" : ", ", words[i]);
  return list;
}

}  // namespace

std::unique_ptr<Module> Parser::ParseModule() {
  module_ = std::make_unique<Module>("module");
  if (lexer_.AtEnd()) {
    FailHere("the text is empty", "an HLO module, starting with HloModule");
    return nullptr;
  }
  bool has_header = lexer_.PeekWord() == "HloModule";
  if (has_header) {
    if (!ParseHeader()) return nullptr;
  } else if (IsSingleInstruction()) {
    ParseSingleInstruction();
    return diagnostics_.empty() ? std::move(module_) : nullptr;
  }
  while (!lexer_.AtEnd() && !Full()) {
    if (lexer_.PeekWord() == "HloModule") {
      FailHere("a second module starts here; one text is one module");
      break;
    }
    if (!ParseComputation()) break;
  }
  if (diagnostics_.empty() && last_computation_ == nullptr) {
    FailHere("the module has no computation", "a computation, such as 'ENTRY main { ... }'");
  }
  if (!diagnostics_.empty()) return nullptr;
  // Without a mark the last one of the text is the entry.
  module_->set_entry(marked_entry_ == nullptr ? last_computation_ : marked_entry_);
  if (!has_header) module_->set_name(StrCat("module_", module_->entry()->name()));
  return std::move(module_);
}

bool Parser::ParseHeader() {
  lexer_.AcceptWord("HloModule");
  std::string_view name = lexer_.Name();
  if (name.empty()) return Unexpected("the module's name after HloModule");
  module_->set_name(std::string(name));
  lexer_.Accept(':');
  std::vector<std::string_view> seen;
  while (lexer_.Accept(',')) {
    if (!ParseHeaderAttribute(&seen)) return false;
  }
  return lexer_.PeekWord() != "FileNames" || ParseStackTables();
}

bool Parser::ParseHeaderAttribute(std::vector<std::string_view>* seen) {
  size_t position = lexer_.Skip();
  std::string_view name = lexer_.Word();
  if (name.empty()) return Unexpected("the name of a module attribute");
  if (!Expect('=', StrCat("module attribute ", name))) return false;
  if (std::find(seen->begin(), seen->end(), name) != seen->end()) {
    return Fail(position, StrCat("module attribute ", name, " is given twice"));
  }
  seen->push_back(name);
  if (options_.places != nullptr) {
    options_.places->header_attributes[std::string(name)] = position;
  }
  ModuleConfig& config = module_->config();
  if (name == "is_scheduled") return ParseBool(&config.is_scheduled);
  if (name == "alias_passthrough_params") return ParseBool(&config.alias_passthrough_params);
  if (name == "replica_count") return ParsePositive(name, &config.replica_count);
  if (name == "num_partitions") return ParsePositive(name, &config.num_partitions);
  if (name == "input_output_alias") return ParseInputOutputAlias();
  if (name == "buffer_donor") return ParseBufferDonors();
  if (name == "entry_computation_layout") return ParseEntryLayout();
  if (!IsKeptVerbatim(name)) {
    return Fail(position, StrCat("a module has no attribute ", name, LegalHeaderWords(name)));
  }
  std::string value;
  if (!ParseVerbatimValue(/*blank_continues=*/false, &value)) return false;
  config.verbatim.emplace_back(std::string(name), std::move(value));
  return true;
}

bool Parser::ParsePositive(std::string_view what, int64_t* value) {
  size_t position = lexer_.Skip();
  if (!ParseInteger(value)) return false;
  if (*value < 1) return Fail(position, StrCat(what, " must be positive"));
  return true;
}

bool Parser::ParseInputOutputAlias() {
  if (!Expect('{', "input_output_alias=")) return false;
  auto& aliases = module_->config().input_output_alias;
  while (!lexer_.Accept('}')) {
    if (!aliases.empty() && !Expect(',', "an alias entry")) return false;
    if (lexer_.Accept('}')) break;
    InputOutputAlias alias;
    if (!ParseIntegerList(&alias.output_index) || !Expect(':', "the output index of an alias") ||
        !Expect('(', "the ':' of an alias") || !ParseInteger(&alias.parameter) ||
        !Expect(',', "the parameter number of an alias") ||
        !ParseIntegerList(&alias.parameter_index)) {
      return false;
    }
    if (lexer_.Accept(',')) {
      if (lexer_.AcceptWord("must-alias")) {
        alias.must_alias = true;
      } else if (!lexer_.AcceptWord("may-alias")) {
        return Unexpected("may-alias or must-alias");
      }
    }
    if (!Expect(')', "an alias entry")) return false;
    aliases.push_back(std::move(alias));
  }
  return true;
}

bool Parser::ParseBufferDonors() {
  if (!Expect('{', "buffer_donor=")) return false;
  auto& donors = module_->config().buffer_donors;
  while (!lexer_.Accept('}')) {
    if (!donors.empty() && !Expect(',', "a donor entry")) return false;
    if (lexer_.Accept('}')) break;
    BufferDonor donor;
    if (!Expect('(', "buffer_donor={") || !ParseInteger(&donor.parameter) ||
        !Expect(',', "the parameter number of a donor") ||
        !ParseIntegerList(&donor.parameter_index) || !Expect(')', "a donor entry")) {
      return false;
    }
    donors.push_back(std::move(donor));
  }
  return true;
}

bool Parser::ParseEntryLayout() {
  if (!Expect('{', "entry_computation_layout=") || !Expect('(', "entry_computation_layout={")) {
    return false;
  }
  auto layout = std::make_unique<EntryLayout>();
  while (!lexer_.Accept(')')) {
    if (!layout->parameters.empty() && !Expect(',', "a parameter's shape")) return false;
    if (!ParseShape(&layout->parameters.emplace_back())) return false;
  }
  if (!lexer_.Accept("->")) return Unexpected("'->' after the parameters' shapes");
  if (!ParseShape(&layout->result) || !Expect('}', "the result's shape")) return false;
  module_->config().entry_layout = std::move(layout);
  return true;
}

bool Parser::ParseStackTables() {
  size_t start = lexer_.Skip();
  size_t end = start;
  for (std::string_view section : {"FileNames", "FunctionNames", "FileLocations", "StackFrames"}) {
    if (!lexer_.AcceptWord(section)) {
      return Unexpected(StrCat(section, ", the next section of the stack frame tables"));
    }
    end = lexer_.position();
    bool records = section == "FileLocations" || section == "StackFrames";
    std::string unused;
    while (IsDigit(lexer_.Peek())) {
      int64_t number = 0;
      if (!ParseInteger(&number)) return false;
      lexer_.Skip();
      if (records ? lexer_.Balanced().empty() : !lexer_.String(&unused)) {
        return Unexpected(records ? "a record in braces" : "a quoted string");
      }
      end = lexer_.position();
      unused.clear();
    }
  }
  module_->config().stack_tables = std::string(lexer_.text().substr(start, end - start));
  return true;
}

// Any balanced text. Runs of words, brackets and strings without a blank between them belong
// together; after a blank another bracket does ("mesh['a'=2] {'a'}"), and a word too when
// `blank_continues` ("f32[] 1").
bool Parser::ParseVerbatimValue(bool blank_continues, std::string* value) {
  size_t start = lexer_.Skip();
  size_t end = start;
  for (;;) {
    size_t next = lexer_.Skip();
    char c = lexer_.Peek();
    bool adjacent = next == end;
    bool opens = c == '{' || c == '(' || c == '[';
    if (!adjacent && !blank_continues && (!opens || lexer_.text()[start] == '{')) break;
    if (opens) {
      if (lexer_.Balanced().empty()) return FailHere("bracket is not closed");
    } else if (c == '"' || c == '\'') {
      std::string unused;
      if (!lexer_.String(&unused)) return FailHere("string does not end or has a wrong escape");
    } else if (IsWordCharacter(c)) {
      // Two words never follow each other, so that the next instruction stays outside.
      if (!adjacent && lexer_.text()[end - 1] != '}' && lexer_.text()[end - 1] != ']') break;
      lexer_.Seek(next + 1);
      while (lexer_.position() < lexer_.text().size() &&
             IsWordCharacter(lexer_.text()[lexer_.position()])) {
        lexer_.Seek(lexer_.position() + 1);
      }
      if (blank_continues && !adjacent) {
        end = lexer_.position();
        break;
      }
    } else if (adjacent && lexer_.Accept("<=")) {
    } else {
      break;
    }
    end = lexer_.position();
    if (end >= lexer_.text().size()) break;
    if (lexer_.text()[start] == '{') break;
  }
  if (end == start) return Unexpected("a value");
  *value = std::string(lexer_.text().substr(start, end - start));
  lexer_.Seek(end);
  return true;
}

bool Parser::IsSingleInstruction() {
  size_t start = lexer_.Skip();
  bool single = false;
  if (lexer_.PeekWord() != "ENTRY") {
    if (StartsShape()) {
      single = true;
    } else if (!lexer_.Name().empty()) {
      single = lexer_.Peek() == '=';
    }
  }
  lexer_.Seek(start);
  return single;
}

bool Parser::ParseSingleInstruction() {
  BodyScope scope;
  scope.operands_are_parameters = true;
  scope.computation = module_->AddComputation("entry");
  std::string_view name;
  lexer_.AcceptWord("ROOT");
  if (!StartsShape()) {
    size_t position = lexer_.Skip();
    name = lexer_.Name();
    if (!CheckInstructionName(name, position) || !Expect('=', "an instruction's name"))
      return false;
  }
  Instruction* root = ParseRightHandSide(&scope, name, /*attributes=*/true);
  if (root == nullptr) return false;
  if (!lexer_.AtEnd()) {
    return FailHere(
        "text goes on after a single instruction; a module starts with HloModule, ENTRY or a "
        "computation's name and '{'");
  }
  scope.computation->set_root(root);
  scope.computation->IndexParameters();
  module_->config().is_scheduled = true;
  module_->set_name(root->name());
  return true;
}

}  // namespace assay::text_internal
