// Tables, badges and the style sheet of the page.
#include "reports/page/html.h"

#include "absl/strings/str_format.h"
#include "spec/base/strings.h"

namespace assay {

std::string Href(std::string_view path) {
  std::string out;
  for (char c : path) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 std::string_view("/-._~").find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out += absl::StrFormat("%%%02X", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string HtmlTable(const std::vector<HtmlColumn>& columns,
                      const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<div class=\"scroll\"><table><thead><tr>";
  for (const HtmlColumn& column : columns) {
    StrAppend(&out, column.number ? "<th class=\"n\">" : "<th>", EscapeHtml(column.title), "</th>");
  }
  out += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    out += "<tr>";
    for (size_t i = 0; i < row.size() && i < columns.size(); ++i) {
      StrAppend(&out, columns[i].number ? "<td class=\"n\">" : "<td>", row[i], "</td>");
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string StatusBadge(std::string_view status) {
  std::string_view tone = "bad";
  if (status == "passed" || status == "killed") tone = "good";
  if (status == "inconclusive" || status == "unsupported" || status == "nothing to judge") {
    tone = "mild";
  }
  return StrCat("<span class=\"badge ", tone, "\">", EscapeHtml(status), "</span>");
}

std::string Tile(std::string_view figure, std::string_view name, std::string_view tone) {
  return StrCat("<div class=\"tile ", tone, "\"><b>", EscapeHtml(figure), "</b><span>",
                EscapeHtml(name), "</span></div>");
}

std::string_view StyleSheet() {
  return R"css(
:root{--paper:#fbfaf7;--card:#fff;--ink:#1c2126;--soft:#667079;--line:#e3e0d8;--accent:#1f5f8b;
--good:#2b7a4b;--bad:#b3261e;--mild:#9a6b00;--goodbg:#e4f2e9;--badbg:#fbe6e4;--mildbg:#faf0d7;
--c0:#1f5f8b;--c1:#4f9cc0;--c2:#7a6fb0;--c3:#c27c3a;--c4:#3f9b7f;--c5:#b65c7c;--c6:#9aa3ab}
@media (prefers-color-scheme:dark){:root{--paper:#15181c;--card:#1d2126;--ink:#e7e9ea;--soft:#9aa5ae;
--line:#31373e;--accent:#7cb8e0;--good:#6fca92;--bad:#ff8a80;--mild:#e6bd5a;--goodbg:#1c3526;
--badbg:#44211f;--mildbg:#3b311a;--c0:#6aaedb;--c1:#9bd0ea;--c2:#b0a5e6;--c3:#e2a970;--c4:#79cdb2;
--c5:#e39ab6;--c6:#7f8a93}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.55 system-ui,-apple-system,
"Segoe UI","Noto Sans","Liberation Sans",Helvetica,Arial,sans-serif;-webkit-print-color-adjust:exact;print-color-adjust:exact}
main,header,footer{max-width:66rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2.4rem}
h1{font-size:1.9rem;letter-spacing:-.02em;margin:0 0 .2rem;line-height:1.2}
h2{font-size:1.2rem;margin:2.6rem 0 .8rem;letter-spacing:-.01em}
h3{font-size:1rem;margin:0 0 .6rem}
p{margin:.3rem 0 .8rem}.soft,small{color:var(--soft)}
a{color:var(--accent)}
.verdict{font-size:1.1rem;margin:.6rem 0 0}
nav{display:flex;flex-wrap:wrap;gap:.35rem 1.1rem;margin-top:1rem;font-size:.92rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:.7rem;padding:1.1rem 1.2rem;
margin:0 0 1rem;break-inside:avoid}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(7.2rem,1fr));gap:.7rem;margin:.2rem 0 1rem}
.tile{border:1px solid var(--line);border-radius:.55rem;padding:.55rem .75rem}
.tile b{display:block;font-size:1.35rem;font-weight:640;letter-spacing:-.02em;font-variant-numeric:tabular-nums}
.tile span{color:var(--soft);font-size:.82rem}
.tile.good b{color:var(--good)}.tile.bad b{color:var(--bad)}.tile.mild b{color:var(--mild)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem}
th{text-align:left;font-weight:600;color:var(--soft);font-size:.8rem;border-bottom:1px solid var(--line);
padding:.35rem .9rem .35rem 0;white-space:nowrap}
td{padding:.34rem .9rem .34rem 0;border-bottom:1px solid var(--line);vertical-align:top}
tr:last-child td{border-bottom:0}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.badge{display:inline-block;border-radius:1rem;padding:0 .6rem;font-size:.82rem;white-space:nowrap}
.badge.good{color:var(--good);background:var(--goodbg)}
.badge.bad{color:var(--bad);background:var(--badbg)}
.badge.mild{color:var(--mild);background:var(--mildbg)}
code,pre{font:13px/1.5 ui-monospace,SFMono-Regular,"DejaVu Sans Mono","Liberation Mono",Menlo,monospace}
pre{background:var(--paper);border:1px solid var(--line);border-radius:.5rem;padding:.7rem .9rem;
overflow-x:auto;white-space:pre-wrap;margin:.4rem 0 .8rem}
details{margin:.5rem 0}summary{cursor:pointer;color:var(--accent)}
svg{display:block;width:100%;height:auto}svg text{fill:var(--ink);font-size:12px}
svg .soft{fill:var(--soft)}svg .axis{stroke:var(--line)}
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1.1rem;font-size:.85rem;margin:.4rem 0 .9rem}
.legend i{display:inline-block;width:.75em;height:.75em;border-radius:2px;margin-right:.4em}
h3,.verdict,p code{overflow-wrap:anywhere}
@media(max-width:40rem){main,header,footer{padding-left:.8rem;padding-right:.8rem}.card{padding:.9rem}
td:first-child:not(.n){min-width:9rem}.tiles{grid-template-columns:repeat(auto-fit,minmax(5.4rem,1fr))}}
footer{padding-top:1.5rem;padding-bottom:3rem;font-size:.85rem;color:var(--soft)}
@media print{body{font-size:11px;background:#fff}.card{border-color:#ccc}nav,summary{display:none}
h2{margin-top:1.4rem}header{padding-top:0}}
)css";
}

}  // namespace assay
