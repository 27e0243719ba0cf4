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
    out += c;
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

void AppendNode(std::string& out, const Instruction& instruction) {
  const bool root = instruction.parent()->root() == &instruction;
  std::string value;
  if (instruction.literal() != nullptr && instruction.literal()->element_count() == 1 &&
      instruction.shape().IsArray()) {
    value = StrCat(" ", instruction.literal()->ToString());
  }
  StrAppend(&out, "    ", NodeOf(&instruction), " [label=",
            Quoted(StrCat(instruction.name(), "  ", Name(instruction.opcode()), value, "  ",
                          instruction.shape().ToString())));
  StrAppend(&out, ", fillcolor=\"", ColourOf(instruction), "\"", root ? ", penwidth=2" : "",
            "];\n");
}

}  // namespace

std::string WriteDot(const Module& module) {
  std::string out = StrCat("digraph ", Quoted(module.name()), " {\n",
                           "  node [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\", "
                           "fontsize=10];\n");
  for (const Computation* computation : module.ComputationPostOrder()) {
    StrAppend(&out, "  subgraph cluster_", computation->id(), " {\n    label=",
              Quoted(StrCat(computation == module.entry() ? "ENTRY " : "", computation->name())),
              ";\n");
    for (const Instruction* instruction : *computation) AppendNode(out, *instruction);
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

}  // namespace assay
