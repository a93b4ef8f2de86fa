// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

/// The files of this folder, as they are: report.html, report.css, and all scripts after each other.
namespace tessera::trace::page {

extern const std::string_view html, style, script;

}  // namespace tessera::trace::page
