// SPDX-License-Identifier: BSD-3-Clause
#include <nlohmann/json.hpp>
#include <optional>

#include "blas_profile/blas_report.hpp"

namespace tessera::blas_profile {

namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json to_json(const Process& p) {
  return {{"process", p.id},
          {"program", p.program},
          {"host_blas", p.host_blas},
          {"devices", p.devices},
          {"seconds", p.seconds},
          {"trouble", text_or_null(p.trouble)},
          {"foreign_blas", text_or_null(p.foreign)}};
}

Json to_json(const Calls& c) {
  return {{"routine", c.routine},
          {"m", or_null(c.shape[0])},
          {"n", or_null(c.shape[1])},
          {"k", or_null(c.shape[2])},
          {"nrhs", or_null(c.shape[3])},
          {"place", c.place == Place::Host ? "host" : "devices"},
          {"calls", c.calls},
          {"seconds", or_null(c.seconds)},
          {"flops", c.flops},
          {"bytes", c.bytes},
          {"host_seconds", or_null(c.host_seconds)}};
}

Json to_json(const InPlace& place) {
  return {{"calls", place.calls}, {"seconds", place.seconds}, {"flops", place.flops}, {"bytes", place.bytes}};
}

Json to_json(const Totals& sum) {
  return {{"host", to_json(sum.host)},
          {"devices", to_json(sum.devices)},
          {"gained_seconds", sum.estimated() ? Json(sum.gained()) : Json(nullptr)},
          {"not_estimated_calls", sum.not_estimated}};
}

Json to_json(const Damaged& damaged) { return {{"line", damaged.line}, {"why", damaged.why}}; }

template <typename List>
Json array(const List& list) {
  auto all = Json::array();
  for (const auto& item : list) all.push_back(to_json(item));
  return all;
}

}  // namespace

std::string blas_json(const BlasReport& report) {
  const Json json{{"command", report.words},
                  {"exit_status", report.ended.code()},
                  {"signal", report.ended.signal == 0 ? Json(nullptr) : Json(report.ended.signal)},
                  {"processes", array(report.log.processes)},
                  {"calls", array(summed(report.log))},
                  {"totals", to_json(totals(report.log))},
                  {"damaged", array(report.log.damaged)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);  // a word of the command need not be UTF-8
}

}  // namespace tessera::blas_profile
