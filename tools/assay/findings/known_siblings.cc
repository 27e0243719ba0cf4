// Tries a program with other types in the place of its own.
#include "tools/assay/findings/known_siblings.h"

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_replace.h"
#include "fuzz/backends/releases.h"
#include "spec/base/strings.h"
#include "spec/text/reader.h"
#include "spec/text/writer.h"
#include "spec/verifier/verifier.h"

namespace assay {
namespace {

using enum ElementType;

// Types that may stand for each other in most programs.
constexpr ElementType kFamilies[][4] = {{kF16, kBF16, kF32, kF64},
                                        {kS8, kS16, kS32, kS64},
                                        {kU8, kU16, kU32, kU64},
                                        {kC64, kC128, kC64, kC128}};

// The program with `to` wherever it has `from`; nothing where that is no program.
std::unique_ptr<Module> WithType(const std::string& text, ElementType from, ElementType to) {
  const std::string before = StrCat(Name(from), "["), after = StrCat(Name(to), "[");
  std::string changed = text;
  for (const char* mark : {" ", "(", ","}) {
    changed = absl::StrReplaceAll(changed, {{StrCat(mark, before), StrCat(mark, after)}});
  }
  if (changed == text) return nullptr;
  absl::StatusOr<std::unique_ptr<Module>> module = ReadModule(changed);
  if (!module.ok() || !Verify(**module).ok()) return nullptr;
  return *std::move(module);
}

// Gives the numbers in the type that the parameter has now, as far as it holds them.
std::vector<Literal> Converted(const Module& module, const std::vector<Literal>& inputs) {
  std::vector<Literal> converted;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape& shape = module.entry()->parameter(static_cast<int64_t>(i))->shape();
    const Literal& input = inputs[i];
    if (!shape.IsArray() || shape.element_type() == input.element_type()) {
      converted.push_back(input);
      continue;
    }
    Literal other(shape);
    if (!IsComplex(shape.element_type())) {
      for (int64_t k = 0; k < input.element_count(); ++k) {
        if (IsInteger(shape.element_type())) {
          other.SetInteger(k, input.GetInteger(k));
        } else {
          other.SetDouble(k, input.GetDouble(k));
        }
      }
    }
    converted.push_back(std::move(other));
  }
  return converted;
}

}  // namespace

void NoteSiblings(const CheckSubject& subject, const Module& module,
                  const std::vector<Literal>& inputs, Outcome::Kind kind, MeasuredCause& measured) {
  measured.fails.clear();
  measured.passes.clear();
  const std::string text = WriteModule(module, WriteOptions::Long());
  for (const auto& family : kFamilies) {
    for (size_t i = 0; i < std::size(family); ++i) {
      for (size_t k = 0; k < std::size(family); ++k) {
        if (i == k || (IsComplex(family[i]) && (i > 1 || k > 1))) continue;
        const std::unique_ptr<Module> sibling = WithType(text, family[i], family[k]);
        if (sibling == nullptr) continue;
        const std::string state = StateOn(subject, *sibling, Converted(*sibling, inputs), kind);
        const std::string what = StrCat(Name(family[k]), " for ", Name(family[i]));
        if (state == "fail") measured.fails.push_back(what);
        if (state == "pass") measured.passes.push_back(what);
      }
    }
  }
}

}  // namespace assay
