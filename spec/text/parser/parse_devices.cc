// Replica groups, shardings, meshes. Document: hlo-format chapters 3.6, 4.2.5.
#include <algorithm>

#include "spec/base/strings.h"
#include "spec/text/parser/parser.h"

namespace assay::text_internal {
namespace {

std::optional<Sharding::Kind> SubgroupKind(std::string_view word) {
  if (word == "replicated") return Sharding::Kind::kReplicated;
  if (word == "manual") return Sharding::Kind::kManual;
  if (word == "maximal") return Sharding::Kind::kMaximal;
  if (word == "unreduced") return Sharding::Kind::kUnreduced;
  return std::nullopt;
}

}  // namespace

// "(1,0)" or "[2,4]", with the given brackets.
bool Parser::ParseNumbersIn(char open, char close, Int64List* numbers) {
  if (!Expect(open, "a list of device numbers or sizes")) return false;
  while (!lexer_.Accept(close)) {
    if (!numbers->empty() && !Expect(',', "a number of a list")) return false;
    int64_t number = 0;
    if (!ParseInteger(&number)) return false;
    numbers->push_back(number);
  }
  return true;
}

// Reads what follows the sizes of an iota, "<=[4,2]T(1,0)", whose arrow has been read.
bool Parser::ParseIota(IotaDevices* iota) {
  if (!ParseNumbersIn('[', ']', &iota->reshape)) return false;
  if (!lexer_.AcceptWord("T")) return true;
  if (!ParseNumbersIn('(', ')', &iota->permutation)) return false;
  // The identity is the same list.
  if (std::is_sorted(iota->permutation.begin(), iota->permutation.end()) &&
      iota->reshape.size() == 1) {
    iota->permutation.clear();
  }
  return true;
}

// Behind the word mesh or maximal_mesh.
bool Parser::ParseMesh(std::string_view word, Mesh* mesh) {
  if (!Expect('[', word)) return false;
  if (word == "maximal_mesh") {
    return (lexer_.AcceptWord("device_id") || Unexpected("device_id=")) &&
           Expect('=', "device_id") && ParseInteger(&mesh->maximal_device) &&
           (mesh->maximal_device >= 0 || FailHere("the device of a mesh is negative")) &&
           Expect(']', "the device of a mesh");
  }
  while (!lexer_.Accept(']')) {
    if (!mesh->axes.empty() && !Expect(',', "an axis of a mesh")) return false;
    Mesh::Axis axis;
    lexer_.Skip();
    if (!lexer_.String(&axis.name)) return Unexpected("the quoted name of a mesh axis");
    if (!Expect('=', "the name of a mesh axis") || !ParseInteger(&axis.size)) return false;
    mesh->axes.push_back(std::move(axis));
  }
  const size_t before = lexer_.position();
  if (!lexer_.Accept(',') || !lexer_.AcceptWord("device_ids")) {
    lexer_.Seek(before);
    return true;
  }
  if (!Expect('=', "device_ids")) return false;
  const size_t list = lexer_.Skip();
  if (!Expect('(', "device_ids=")) return false;
  if (lexer_.Peek() == '[') {
    if (!ParseIota(&mesh->iota)) return false;
    mesh->iota.dims = mesh->iota.reshape;
    return Expect(')', "an iota of devices");
  }
  lexer_.Seek(list);
  return ParseNumbersIn('(', ')', &mesh->device_ids);
}

// "{'a','b':(2)2}", with "?" at its end when `open` may be set.
bool Parser::ParseMeshAxes(const Mesh& mesh, std::vector<MeshAxis>* axes, bool* open) {
  if (!Expect('{', "a list of mesh axes")) return false;
  while (!lexer_.Accept('}')) {
    if ((!axes->empty() || (open != nullptr && *open)) && !Expect(',', "a mesh axis")) return false;
    if (open != nullptr && *open) return FailHere("an axis stands behind '?'", "'}'");
    if (open != nullptr && lexer_.Accept('?')) {
      *open = true;
      continue;
    }
    const size_t position = lexer_.Skip();
    std::string name;
    if (!lexer_.String(&name)) return Unexpected("the quoted name of a mesh axis");
    MeshAxis axis;
    const auto at = std::find_if(mesh.axes.begin(), mesh.axes.end(),
                                 [&](const Mesh::Axis& known) { return known.name == name; });
    if (at != mesh.axes.end()) {
      axis.axis = at - mesh.axes.begin();
    } else {
      // An axis may also be given by its number.
      Lexer number(name);
      const std::optional<int64_t> index = number.Integer();
      if (!index.has_value() || !number.AtEnd())
        return Fail(position, StrCat("the mesh has no axis '", name.substr(0, 40), "'"));
      if (*index < 0 || *index >= static_cast<int64_t>(mesh.axes.size())) {
        return Fail(position, StrCat("axis ", *index, " is out of the bounds of a mesh of ",
                                     mesh.axes.size(), " axes"));
      }
      axis.axis = *index;
    }
    if (lexer_.Accept(':')) {
      if (!Expect('(', "the ':' of a sub-axis") || !ParseInteger(&axis.pre) ||
          !Expect(')', "the size before a sub-axis") || !ParseInteger(&axis.size)) {
        return false;
      }
      if (axis.size < 1) return Fail(position, "a sub-axis needs a positive size");
    }
    axes->push_back(axis);
  }
  return true;
}

bool Parser::ParseReplicaGroups(ReplicaGroups* groups) {
  const size_t position = lexer_.Skip();
  if (lexer_.Peek() == '{') return ParseIntegerLists(&groups->lists);
  if (lexer_.Peek() == '[') {
    groups->form = ReplicaGroups::Form::kIota;
    if (!ParseNumbersIn('[', ']', &groups->iota.dims)) return false;
    if (!lexer_.Accept("<=")) return Unexpected("'<=' and the iota of the devices");
    if (!ParseIota(&groups->iota)) return false;
  } else {
    groups->form = ReplicaGroups::Form::kMesh;
    const std::string_view word = lexer_.Word();
    if (word != "mesh" && word != "maximal_mesh")
      return Fail(position, "no replica groups stand here",
                  "{{0,1},{2,3}}, [2,2]<=[4] or mesh[...]");
    if (!ParseMesh(word, &groups->mesh) || !ParseMeshAxes(groups->mesh, &groups->axes, nullptr))
      return false;
  }
  const absl::Status status = CheckReplicaGroups(*groups);
  return status.ok() || Fail(position, std::string(ToStd(status.message())));
}

bool Parser::ParseSharding(Sharding* sharding) {
  const size_t position = lexer_.Skip();
  if (!Expect('{', "a sharding")) return false;
  if (lexer_.Peek() == '{' || lexer_.Peek() == '}') {
    sharding->kind = Sharding::Kind::kTuple;
    while (!lexer_.Accept('}')) {
      if (!sharding->elements.empty() && !Expect(',', "a sharding of a tuple")) return false;
      if (!Expect('{', "a tuple of shardings") ||
          !ParseSingleSharding(&sharding->elements.emplace_back())) {
        return false;
      }
    }
  } else if (!ParseSingleSharding(sharding)) {
    return false;
  }
  const absl::Status status = CheckSharding(*sharding);
  return status.ok() || Fail(position, std::string(ToStd(status.message())));
}

// Behind the '{', to the '}' included.
bool Parser::ParseSingleSharding(Sharding* sharding) {
  const size_t position = lexer_.Skip();
  if (const std::string_view word = lexer_.PeekWord(); word == "mesh" || word == "maximal_mesh") {
    lexer_.Word();
    sharding->kind = Sharding::Kind::kNamed;
    return ParseMesh(word, &sharding->mesh) && ParseNamedSharding(sharding);
  }
  bool has_kind = false, has_device = false, replicates_last = false;
  while (!lexer_.Accept('}')) {
    if (has_kind) lexer_.Accept(',');
    const size_t here = lexer_.Skip();
    const std::string_view word = lexer_.Word();
    if (word.empty()) return Unexpected("a part of a sharding");
    auto kind = [&](Sharding::Kind given) {
      if (has_kind) return Fail(here, StrCat("the sharding has a second kind, '", word, "'"));
      has_kind = true;
      sharding->kind = given;
      return true;
    };
    bool ok = true;
    if (word == "replicated") {
      ok = kind(Sharding::Kind::kReplicated);
    } else if (word == "manual") {
      ok = kind(Sharding::Kind::kManual);
    } else if (word == "unknown") {
      ok = kind(Sharding::Kind::kUnknown);
    } else if (word == "unreduced") {
      ok = kind(Sharding::Kind::kUnreduced);
    } else if (word == "maximal") {
      ok = kind(Sharding::Kind::kMaximal);
      sharding->device = -1;
    } else if (word == "device") {
      if (has_kind && sharding->kind != Sharding::Kind::kMaximal)
        return Fail(here, "only a maximal sharding has a device");
      has_device = true;
      ok = Expect('=', "device") && ParseInteger(&sharding->device);
    } else if (word == "devices") {
      ok = kind(Sharding::Kind::kTiled) && Expect('=', "devices") && ParseTileDevices(sharding);
    } else if (word == "last_tile_dim_replicate") {
      replicates_last = true;
    } else if (word == "last_tile_dims") {
      if (!Expect('=', "last_tile_dims") || !Expect('{', "last_tile_dims=")) return false;
      while (!lexer_.Accept('}')) {
        if (!sharding->subgroups.empty() && !Expect(',', "a kind of subgroup")) return false;
        const std::optional<Sharding::Kind> subgroup = SubgroupKind(lexer_.Word());
        if (!subgroup.has_value()) return Unexpected("replicated, manual, maximal or unreduced");
        sharding->subgroups.push_back(*subgroup);
      }
    } else {
      ok = ParseShardingSuffix(here, word, sharding);
    }
    if (!ok) return false;
  }
  if (has_device && sharding->kind != Sharding::Kind::kMaximal)
    return Fail(position, "only a maximal sharding has a device");
  if (has_kind && sharding->kind == Sharding::Kind::kMaximal && !has_device)
    return Fail(position, "a maximal sharding needs one device=N");
  if (!has_kind)
    return Fail(position, "the sharding has no kind", "replicated, devices=[...], ...");
  if (replicates_last) {
    if (!sharding->subgroups.empty())
      return Fail(position, "last_tile_dim_replicate and last_tile_dims exclude each other");
    sharding->subgroups = {Sharding::Kind::kReplicated};
  }
  if (!sharding->subgroups.empty() && sharding->kind != Sharding::Kind::kTiled)
    return Fail(position, "only a sharding with devices=[...] has subgroups");
  return true;
}

// "[2,1]0,1" or "[2,1]<=[2]", behind "devices=".
bool Parser::ParseTileDevices(Sharding* sharding) {
  if (!ParseNumbersIn('[', ']', &sharding->tile)) return false;
  if (lexer_.Accept("<=")) {
    sharding->iota.dims = sharding->tile;
    return ParseIota(&sharding->iota);
  }
  do {
    int64_t device = 0;
    if (!ParseInteger(&device)) return false;
    sharding->devices.push_back(device);
  } while (lexer_.Accept(','));
  return true;
}

bool Parser::ParseShardingSuffix(size_t position, std::string_view word, Sharding* sharding) {
  if (word == "shard_as" || word == "shard_like") {
    if (sharding->group != Sharding::Group::kNone)
      return Fail(position, "the sharding has a second group");
    sharding->group = word == "shard_as" ? Sharding::Group::kAs : Sharding::Group::kLike;
    return ParseInteger(&sharding->group_id);
  }
  if (word == "metadata") {
    if (!Expect('=', "metadata")) return false;
    lexer_.Skip();
    const std::string_view text = lexer_.Peek() == '{' ? lexer_.Balanced() : std::string_view();
    if (text.empty()) return Unexpected("metadata in braces");
    sharding->metadata = std::string(text);
    return true;
  }
  return Fail(position, StrCat("'", word.substr(0, 40), "' is no part of a sharding"),
              "replicated, manual, unknown, unreduced, maximal, devices=, last_tile_dims=, "
              "last_tile_dim_replicate, shard_as, shard_like or metadata=");
}

// Behind the mesh, to the '}' included.
bool Parser::ParseNamedSharding(Sharding* sharding) {
  while (!lexer_.Accept('}')) {
    if (!Expect(',', "a part of a sharding")) return false;
    const size_t position = lexer_.Skip();
    if (lexer_.Accept('[')) {
      if (sharding->dims.has_value())
        return Fail(position, "the sharding has a second list of dimensions");
      std::vector<Sharding::Dim>& dims = sharding->dims.emplace();
      while (!lexer_.Accept(']')) {
        if (!dims.empty() && !Expect(',', "the axes of a dimension")) return false;
        Sharding::Dim& dim = dims.emplace_back();
        if (!ParseMeshAxes(sharding->mesh, &dim.axes, &dim.open)) return false;
      }
      continue;
    }
    const std::string_view word = lexer_.Word();
    struct Part {
      std::string_view word;
      Sharding::Kind kind;
      std::vector<MeshAxis>* axes;
    };
    const Part parts[] = {
        {"replicated", Sharding::Kind::kReplicated, &sharding->replicated},
        {"unreduced", Sharding::Kind::kUnreduced, &sharding->unreduced},
        {"manual", Sharding::Kind::kManual, &sharding->manual},
    };
    const Part* part = nullptr;
    for (const Part& candidate : parts)
      if (candidate.word == word) part = &candidate;
    if (part == nullptr) {
      if (!ParseShardingSuffix(position, word, sharding)) return false;
      continue;
    }
    const bool has_value = lexer_.Accept('=');
    if (has_value && lexer_.Peek() == '{') {
      if (!part->axes->empty()) return Fail(position, StrCat(word, " is given twice"));
      if (!ParseMeshAxes(sharding->mesh, part->axes, nullptr)) return false;
      continue;
    }
    if (sharding->whole.has_value()) return Fail(position, "the sharding has a second kind");
    sharding->whole = part->kind;
    if (!has_value) continue;
    const std::string_view reduction = lexer_.Word();
    if (part->kind != Sharding::Kind::kUnreduced ||
        (reduction != "sum" && reduction != "max" && reduction != "min")) {
      return Fail(position, StrCat("'", reduction.substr(0, 40), "' is no reduction"),
                  "unreduced=sum, max or min");
    }
    sharding->reduction = std::string(reduction);
  }
  return true;
}

bool Parser::ParseDomain(DomainMetadata* domain) {
  if (!Expect('{', "domain=")) return false;
  bool has_entry = false, has_exit = false;
  bool first = true;
  while (!lexer_.Accept('}')) {
    if (!first && !Expect(',', "a part of a domain")) return false;
    first = false;
    const size_t position = lexer_.Skip();
    const std::string_view word = lexer_.Word();
    if (!Expect('=', "a part of a domain")) return false;
    if (word == "kind") {
      std::string kind;
      lexer_.Skip();
      if (!lexer_.String(&kind)) return Unexpected("a quoted kind of domain");
      if (kind != "sharding")
        return Fail(position, StrCat("unknown kind of domain '", kind.substr(0, 40), "'"),
                    "sharding");
    } else if (word == "entry" || word == "exit") {
      bool& has = word == "entry" ? has_entry : has_exit;
      if (has) return Fail(position, StrCat(word, " is given twice"));
      has = true;
      if (!ParseSharding(word == "entry" ? &domain->entry : &domain->exit)) return false;
    } else {
      return Fail(position, StrCat("'", word.substr(0, 40), "' is no part of a domain"),
                  "kind, entry or exit");
    }
  }
  return (has_entry && has_exit) || FailHere("a domain needs entry={...} and exit={...}");
}

bool Parser::ParseStringMap(StringMap* map) {
  if (!Expect('{', "the attribute's name: a map")) return false;
  while (!lexer_.Accept('}')) {
    if (!map->empty() && !Expect(',', "an entry of a map")) return false;
    const std::string_view key = lexer_.Word();
    if (key.empty()) return Unexpected("a key");
    if (!Expect('=', "a key")) return false;
    map->emplace_back(std::string(key), std::string());
    if (!ParseBlob(&map->back().second)) return false;
  }
  std::sort(map->begin(), map->end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 1; i < map->size(); ++i) {
    if ((*map)[i].first == (*map)[i - 1].first)
      return FailHere(StrCat("the key ", (*map)[i].first, " is given twice"));
  }
  return true;
}

bool Parser::ParseShapes(std::vector<Shape>* shapes) {
  if (!Expect('{', "the attribute's name: a list of shapes")) return false;
  while (!lexer_.Accept('}')) {
    if (!shapes->empty() && !Expect(',', "a shape of a list")) return false;
    if (!ParseShape(&shapes->emplace_back())) return false;
  }
  return true;
}

}  // namespace assay::text_internal
