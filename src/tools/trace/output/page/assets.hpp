// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

/// The files of this folder: report.html, report.css, and all scripts concatenated.
namespace tessera::trace::page {

extern const std::string_view html, style, script;

}  // namespace tessera::trace::page
