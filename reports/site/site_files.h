// The page, scripts and style of the site, which are built into the program.
#pragma once

#include "absl/types/span.h"
#include "spec/base/embedded.h"

namespace assay {

// index.html, site.css and the scripts of reports/site/assets.
absl::Span<const Embedded> SiteFiles();

}  // namespace assay
