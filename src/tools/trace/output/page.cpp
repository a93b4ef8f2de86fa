// SPDX-License-Identifier: BSD-3-Clause
#include <string_view>

#include "common/whole_file.hpp"
#include "trace/output/outputs.hpp"
#include "trace/output/page/assets.hpp"
#include "trace/output/page_data.hpp"

namespace tessera::trace {

namespace {

using Json = nlohmann::ordered_json;

Json document(const std::vector<Explained>& runs) {
  Json all{{"runs", Json::array()}, {"differences", Json::array()}};
  for (const auto& [run, analysis] : runs) all["runs"].push_back(page_data(run, analysis));
  if (runs.size() == 2) all["differences"] = differences(runs[0].run, runs[0].analysis, runs[1].run, runs[1].analysis);
  return all;
}

/// Escapes JSON for use in a page, where "</script" or "<!--" would end the script or change its meaning. '<' occurs
/// only in JSON strings, where it can be escaped.
std::string for_page(const Json& json) {
  const auto text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text)
    if (c == '<') escaped += "\\u003c";
    else escaped += c;
  return escaped;
}

/// Replaces "{{style}}", "{{data}}" and "{{script}}" in the page, which occur in this order.
std::string filled(std::string_view page, std::string_view style, std::string_view data, std::string_view script) {
  std::string result;
  result.reserve(page.size() + style.size() + data.size() + script.size());
  const std::pair<std::string_view, std::string_view> places[] = {
      {"{{style}}", style}, {"{{data}}", data}, {"{{script}}", script}};
  for (const auto& [place, text] : places) {
    const auto at = page.find(place);
    result.append(page.substr(0, at)).append(text);
    page.remove_prefix(at + place.size());
  }
  return result.append(page);
}

}  // namespace

void write_page(const std::filesystem::path& file, const std::vector<Explained>& runs) {
  detail::write_whole(file, filled(page::html, page::style, for_page(document(runs)), page::script));
}

}  // namespace tessera::trace
