// Shapes and layouts. Document: hlo-format chapter 2.6.
#include "spec/base/strings.h"
#include "spec/text/parser/parser.h"

namespace assay::text_internal {

bool Parser::StartsShape() {
  if (lexer_.Peek() == '(') return true;
  std::string_view word = lexer_.PeekWord();
  if (word.empty()) return false;
  size_t behind = lexer_.position() + word.size();
  // Some printers put a blank behind the type, but no name has a '[' behind it.
  while (behind < lexer_.text().size() && lexer_.text()[behind] == ' ') ++behind;
  char next = behind < lexer_.text().size() ? lexer_.text()[behind] : '\0';
  return next == (word == "b" ? '(' : '[');
}

bool Parser::ParseShape(Shape* shape) {
  if (lexer_.Peek() == '(') return ParseTupleShape(shape);
  // Only a buffer's shape begins with a word of one letter.
  if (lexer_.Peek() == 'b' && lexer_.PeekWord() == "b") {
    size_t position = lexer_.position();
    lexer_.Word();
    if (!Expect('(', "b: a buffer")) return false;
    Shape array;
    if (!ParseArrayShape(&array)) return false;
    if (!array.IsArray()) return Fail(position, "a buffer holds one array");
    if (!Expect(')', "the array of a buffer")) return false;
    *shape = Shape::Buffer(std::move(array));
    return true;
  }
  return ParseArrayShape(shape);
}

bool Parser::ParseTupleShape(Shape* shape) {
  Nesting nesting(this);
  if (nesting.TooDeep()) return TooDeep();
  lexer_.Accept('(');
  std::vector<Shape> elements;
  while (!lexer_.Accept(')')) {
    if (!elements.empty() && !lexer_.Accept(',')) return Unexpected("',' or ')' in a tuple shape");
    Shape element;
    if (!ParseShape(&element)) return false;
    elements.push_back(std::move(element));
  }
  *shape = Shape::Tuple(std::move(elements));
  return true;
}

bool Parser::ParseArrayShape(Shape* shape) {
  std::string_view word = lexer_.PeekWord();
  size_t position = lexer_.position();
  std::optional<ElementType> type = ElementTypeFromName(word);
  bool usable = type.has_value() && (IsArrayType(*type) || *type == ElementType::kToken ||
                                     *type == ElementType::kOpaque);
  if (!usable) {
    if (word.empty()) return Unexpected("a shape, such as f32[2,3]{1,0}");
    return Fail(position, StrCat("unknown element type '", word, "'"),
                "a shape, such as f32[2,3]{1,0}");
  }
  lexer_.Seek(position + word.size());
  if (!Expect('[', "an element type")) return false;
  DimVector dimensions;
  std::vector<bool> dynamic;
  if (!ParseDimensions(&dimensions, &dynamic)) return false;
  if (!IsArrayType(*type)) {
    if (!dimensions.empty()) return Fail(position, StrCat(word, " has no dimensions"));
    *shape = *type == ElementType::kToken ? Shape::Token() : Shape::Opaque();
    return true;
  }
  *shape = Shape::Array(*type, dimensions);
  for (size_t i = 0; i < dynamic.size(); ++i) {
    if (dynamic[i]) shape->set_dynamic(static_cast<int64_t>(i), true);
  }
  return ParseLayout(shape);
}

bool Parser::ParseDimensions(DimVector* dimensions, std::vector<bool>* dynamic) {
  bool any_dynamic = false;
  while (!lexer_.Accept(']')) {
    if (!dimensions->empty() && !lexer_.Accept(',')) return Unexpected("',' or ']' in a shape");
    size_t position = lexer_.Skip();
    if (lexer_.Accept('?')) {
      dimensions->push_back(Shape::kUnbounded);
      any_dynamic = true;
      dynamic->resize(dimensions->size());
      dynamic->back() = true;
      continue;
    }
    bool bounded = lexer_.Accept("<=");
    int64_t size = 0;
    if (!IsDigit(lexer_.Peek()) && lexer_.Peek() != '-') {
      return Unexpected("the size of a dimension, '<=' with a bound, or '?'");
    }
    if (!ParseInteger(&size)) return false;
    if (size < 0) return Fail(position, "the size of a dimension is negative or above 2^63-1");
    dimensions->push_back(size);
    if (bounded || any_dynamic) {
      any_dynamic = true;
      dynamic->resize(dimensions->size());
      dynamic->back() = bounded;
    }
  }
  return true;
}

bool Parser::ParseLayout(Shape* shape) {
  size_t start = lexer_.position();
  bool is_layout = false;
  if (lexer_.Accept('{')) {
    char next = lexer_.Peek();
    is_layout = IsDigit(next) || next == ':' || next == '-';
    // "{}" of a scalar is a layout only where nothing else can follow; XLA never prints it.
  }
  if (!is_layout) {
    lexer_.Seek(start);
    if (shape->rank() > 0) shape->mark_layout_written(false);
    return true;
  }
  DimVector order;
  while (lexer_.Peek() != '}' && lexer_.Peek() != ':') {
    if (!order.empty() && !Expect(',', "a dimension of a layout")) return false;
    int64_t dimension = 0;
    if (!ParseInteger(&dimension)) return false;
    order.push_back(dimension);
  }
  int64_t rank = shape->rank();
  if (static_cast<int64_t>(order.size()) != rank) {
    return Fail(start,
                StrCat("layout of ", order.size(), " dimensions on an array of rank ", rank));
  }
  absl::InlinedVector<bool, 8> seen(rank);
  for (int64_t dimension : order) {
    if (dimension < 0 || dimension >= rank || seen[dimension]) {
      return Fail(start, StrCat("layout is no permutation of the dimensions 0 to ", rank - 1));
    }
    seen[dimension] = true;
  }
  Layout layout(order);
  if (lexer_.Accept(':')) {
    LayoutExtras extras;
    if (!ParseLayoutExtras(&extras)) return false;
    layout.set_extras(std::move(extras));
  }
  if (!Expect('}', "a layout")) return false;
  shape->set_layout(std::move(layout));
  return true;
}

bool Parser::ParseParenthesised(int64_t* value) {
  return Expect('(', "a layout property") && ParseInteger(value) &&
         Expect(')', "the value of a layout property");
}

bool Parser::ParseUnsignedType(ElementType* type) {
  if (!Expect('(', "a layout's index or pointer type")) return false;
  size_t position = lexer_.Skip();
  std::optional<ElementType> named = ElementTypeFromName(lexer_.Word());
  if (!named.has_value() || !IsUnsigned(*named)) {
    return Fail(position, "index and pointer types of a layout are unsigned integers", "u32");
  }
  *type = *named;
  return Expect(')', "a layout's index or pointer type");
}

bool Parser::ParseLayoutExtras(LayoutExtras* extras) {
  while (lexer_.Peek() != '}') {
    size_t position = lexer_.Skip();
    if (lexer_.Accept('#')) {
      if (!ParseUnsignedType(&extras->index_type)) return false;
      continue;
    }
    if (lexer_.Accept('*')) {
      if (!ParseUnsignedType(&extras->pointer_type)) return false;
      continue;
    }
    std::string_view word = lexer_.Word();
    if (word == "T") {
      if (lexer_.Peek() != '(') return Unexpected("'(' after T: the tiles of a layout");
      while (lexer_.Accept('(')) {
        LayoutExtras::Tile tile;
        while (!lexer_.Accept(')')) {
          if (!tile.dims.empty() && !Expect(',', "a tile's dimension")) return false;
          int64_t size = LayoutExtras::Tile::kCombine;
          if (!lexer_.Accept('*') && !ParseInteger(&size)) return false;
          if (size != LayoutExtras::Tile::kCombine && size < 0) {
            return Fail(position, "a tile's dimension is negative");
          }
          tile.dims.push_back(size);
        }
        extras->tiles.push_back(std::move(tile));
      }
    } else if (word == "SC") {
      if (lexer_.Peek() != '(') return Unexpected("'(' after SC: the splits of a layout");
      while (lexer_.Accept('(')) {
        LayoutExtras::SplitConfig split;
        if (!ParseInteger(&split.dimension) || !Expect(':', "the split dimension")) return false;
        do {
          int64_t index = 0;
          if (!ParseInteger(&index)) return false;
          split.split_indices.push_back(index);
        } while (lexer_.Accept(','));
        if (!Expect(')', "a split of a layout")) return false;
        extras->split_configs.push_back(std::move(split));
      }
    } else if (word == "L") {
      if (!ParseParenthesised(&extras->tail_padding_alignment)) return false;
    } else if (word == "E") {
      if (!ParseParenthesised(&extras->element_size_in_bits)) return false;
    } else if (word == "S") {
      if (!ParseParenthesised(&extras->memory_space)) return false;
    } else if (word == "M") {
      if (!ParseParenthesised(&extras->dynamic_shape_metadata_prefix_bytes)) return false;
    } else if (word == "D") {
      // Dimension level types: obsolete, accepted and dropped as XLA does.
      std::string_view levels = lexer_.Balanced();
      if (levels.size() < 2 || levels.find_first_not_of("DCSH+~, ", 1) != levels.size() - 1) {
        return Fail(position, "unknown dimension level type", "D, C, S or H");
      }
    } else if (word == "P") {
      return Fail(position, "a dense array has no physical shape");
    } else {
      return Fail(position, StrCat("unknown layout property '", word, "'"),
                  "one of T L # * E S SC M");
    }
  }
  return true;
}

}  // namespace assay::text_internal
