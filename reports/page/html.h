// Pieces of HTML text. Everything that comes from data goes through EscapeHtml.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/base/html.h"

namespace assay {

// A path as the value of href: percent-encoded where a URL needs it, then escaped.
std::string Href(std::string_view path);

struct HtmlColumn {
  std::string title;
  bool number = false;  // right aligned, tabular digits
};
// Cells are HTML already.
std::string HtmlTable(const std::vector<HtmlColumn>& columns,
                      const std::vector<std::vector<std::string>>& rows);
// A word in the colour of its meaning: passed, failed, crashed, inconclusive, unsupported, ...
std::string StatusBadge(std::string_view status);
// One large figure with its name under it.
std::string Tile(std::string_view figure, std::string_view name, std::string_view tone = "");

// The whole style sheet: light and dark, screen and paper.
std::string_view StyleSheet();

}  // namespace assay
