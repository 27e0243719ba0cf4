// Reads and writes answers of probes as JSON.
#include "fuzz/peers/refusals.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "fuzz/generator/recipes/recipes.h"
#include "nlohmann/json.hpp"
#include "spec/base/file.h"
#include "spec/base/strings.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Types = std::bitset<kElementTypeCount>;

constexpr int64_t kMostBytes = 1 << 20;

// FNV-1a: the name of a file must be the same in every process.
uint64_t HashOf(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

fs::path FileFor(const std::string& key) {
  return fs::path(UserCacheFolder()) / "probes" / StrCat(HashOf(key), ".json");
}

Json Encode(const Types& types) {
  Json names = Json::array();
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i]) names.push_back(std::string(Name(static_cast<ElementType>(i))));
  }
  return names;
}

std::optional<Types> DecodeTypes(const Json& names) {
  if (!names.is_array()) return std::nullopt;
  Types types;
  for (const Json& name : names) {
    const std::optional<ElementType> type =
        name.is_string() ? ElementTypeFromName(name.get<std::string>()) : std::nullopt;
    if (!type.has_value()) return std::nullopt;
    types.set(static_cast<size_t>(*type));
  }
  return types;
}

bool IsRecipe(const std::string& name) {
  const absl::Span<const Recipe> all = AllRecipes();
  return std::any_of(all.begin(), all.end(),
                     [&name](const Recipe& recipe) { return recipe.name == name; });
}

}  // namespace

std::string UserCacheFolder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const fs::path base =
      cache != nullptr ? fs::path(cache) : fs::path(home == nullptr ? "." : home) / ".cache";
  return (base / "assay").string();
}

std::string EncodeRefusals(const std::string& key, const GeneratorOptions& options) {
  Json refused = Json::object();
  for (const auto& [recipe, types] : options.refused_types) refused[recipe] = Encode(types);
  const Json json = {{"key", key},
                     {"types", Encode(options.excluded_types)},
                     {"ops", options.ExcludedOps()},
                     {"recipes", options.excluded_recipes},
                     {"refused", std::move(refused)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

bool DecodeRefusals(const std::string& text, const std::string& key, GeneratorOptions& options) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  for (const char* field : {"key", "types", "ops", "recipes", "refused"}) {
    if (!json.is_object() || !json.contains(field)) return false;
  }
  if (!json["key"].is_string() || json["key"].get<std::string>() != key) return false;
  if (!json["recipes"].is_array() || !json["refused"].is_object()) return false;
  if (!json["ops"].is_array()) return false;
  const std::optional<Types> types = DecodeTypes(json["types"]);
  if (!types.has_value()) return false;
  GeneratorOptions read = options;
  read.excluded_types |= *types;
  for (const Json& name : json["ops"]) {
    const std::optional<Opcode> opcode =
        name.is_string() ? OpcodeFromName(name.get<std::string>()) : std::nullopt;
    if (!opcode.has_value()) return false;
    read.excluded_ops.set(static_cast<size_t>(*opcode));
  }
  for (const Json& name : json["recipes"]) {
    if (!name.is_string() || !IsRecipe(name.get<std::string>())) return false;
    read.excluded_recipes.insert(name.get<std::string>());
  }
  for (const auto& [name, names] : json["refused"].items()) {
    const std::optional<Types> refused = DecodeTypes(names);
    if (!refused.has_value() || !IsRecipe(name)) return false;
    read.refused_types[name] |= *refused;
  }
  options = std::move(read);
  return true;
}

std::string RefusalsFile(const std::string& key) { return FileFor(key).string(); }

bool ReadRefusals(const std::string& key, GeneratorOptions& options) {
  const absl::StatusOr<std::string> text = ReadFile(FileFor(key).string(), kMostBytes);
  return text.ok() && DecodeRefusals(*text, key, options);
}

void KeepRefusals(const std::string& key, const GeneratorOptions& options) {
  std::error_code error;
  const fs::path file = FileFor(key);
  fs::create_directories(file.parent_path(), error);
  if (!error) WriteFile(file.string(), EncodeRefusals(key, options)).IgnoreError();
}

}  // namespace assay
