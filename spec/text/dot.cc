// Modules as graphs for Graphviz.
#include "spec/text/dot.h"

#include <array>

#include "spec/base/strings.h"
#include "spec/ops/op_table.h"

namespace assay {
namespace {

// DOT strings end at a quote; "\n" in a label is a line.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out + "\"";
}

// Fill colours by what an op does; the first that fits.
struct Colour {
  bool (*fits)(const Instruction& instruction);
  std::string_view colour;
};
constexpr std::array kColours = {
    Colour{[](const Instruction& i) { return i.opcode() == Opcode::kParameter; }, "#ffe0b2"},
    Colour{[](const Instruction& i) { return i.opcode() == Opcode::kConstant; }, "#eeeeee"},
    Colour{[](const Instruction& i) { return !i.callees().empty(); }, "#c5cae9"},
    Colour{[](const Instruction& i) { return Info(i.opcode()).Is(kSideEffect); }, "#ffcdd2"},
    Colour{[](const Instruction& i) { return Info(i.opcode()).Is(kDataMovement); }, "#c8e6c9"},
    Colour{[](const Instruction&) { return true; }, "#fffde7"}};

std::string_view ColourOf(const Instruction& instruction) {
  for (const Colour& row : kColours) {
    if (row.fits(instruction)) return row.colour;
  }
  return "white";
}

std::string NodeOf(const Instruction* instruction) { return StrCat("i", instruction->id()); }

// `notes`: nullptr for colours by what ops do.
void AppendNode(std::string& out, const Instruction& instruction, const DotNotes* notes) {
  const bool root = instruction.parent()->root() == &instruction;
  std::string value;
  if (instruction.literal() != nullptr && instruction.literal()->element_count() == 1 &&
      instruction.shape().IsArray()) {
    value = StrCat(" ", instruction.literal()->ToString());
  }
  std::string label = StrCat(instruction.name(), "  ", Name(instruction.opcode()), value, "  ",
                             instruction.shape().ToString());
  std::string colour(ColourOf(instruction)), frame = root ? ", penwidth=2" : "";
  if (notes != nullptr) {
    const auto found = notes->notes.find(&instruction);
    const DotNote note = found == notes->notes.end() ? DotNote{"white", "", false} : found->second;
    colour = note.colour;
    if (!note.text.empty()) StrAppend(&label, "\n", note.text);
    if (note.is_marked) frame = ", penwidth=4, color=\"#d50000\"";
    if (found == notes->notes.end()) StrAppend(&frame, ", color=\"#9e9e9e\"");
  }
  StrAppend(&out, "    ", NodeOf(&instruction), " [label=", Quoted(label));
  StrAppend(&out, ", fillcolor=\"", colour, "\"", frame, "];\n");
}

void AppendLegend(std::string& out, const DotNotes& notes) {
  out += "  subgraph cluster_legend {\n    label=\"legend\";\n";
  for (size_t k = 0; k < notes.legend.size(); ++k) {
    const auto& [colour, meaning] = notes.legend[k];
    StrAppend(&out, "    legend", k, " [label=", Quoted(meaning), ", fillcolor=\"", colour,
              "\"];\n");
    if (k > 0) StrAppend(&out, "    legend", k - 1, " -> legend", k, " [style=invis];\n");
  }
  out += "  }\n";
}

std::string Write(const Module& module, const DotNotes* notes) {
  std::string out = StrCat("digraph ", Quoted(module.name()), " {\n",
                           "  node [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\", "
                           "fontsize=10];\n");
  if (notes != nullptr) AppendLegend(out, *notes);
  for (const Computation* computation : module.ComputationPostOrder()) {
    StrAppend(&out, "  subgraph cluster_", computation->id(), " {\n    label=",
              Quoted(StrCat(computation == module.entry() ? "ENTRY " : "", computation->name())),
              ";\n");
    for (const Instruction* instruction : *computation) AppendNode(out, *instruction, notes);
    out += "  }\n";
  }
  for (const Computation* computation : module.computations()) {
    for (const Instruction* instruction : *computation) {
      for (int64_t i = 0; i < instruction->operand_count(); ++i) {
        StrAppend(&out, "  ", NodeOf(instruction->operand(i)), " -> ", NodeOf(instruction));
        if (instruction->operand_count() > 1) StrAppend(&out, " [headlabel=\"", i, "\"]");
        out += ";\n";
      }
      for (const Instruction* predecessor : instruction->control_predecessors()) {
        StrAppend(&out, "  ", NodeOf(predecessor), " -> ", NodeOf(instruction),
                  " [style=dashed];\n");
      }
      for (const Computation* callee : instruction->callees()) {
        if (callee->root() == nullptr) continue;
        StrAppend(&out, "  ", NodeOf(callee->root()), " -> ", NodeOf(instruction),
                  " [style=dotted, ltail=cluster_", callee->id(), "];\n");
      }
    }
  }
  return out + "}\n";
}

}  // namespace

std::string WriteDot(const Module& module) { return Write(module, nullptr); }
std::string WriteDot(const Module& module, const DotNotes& notes) { return Write(module, &notes); }

}  // namespace assay
