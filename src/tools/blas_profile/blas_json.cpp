// SPDX-License-Identifier: BSD-3-Clause
#include <nlohmann/json.hpp>
#include <optional>

#include "blas_profile/blas_report.hpp"

namespace tessera::blas_profile {

namespace {

using OrderedJson = nlohmann::ordered_json;

template <typename T>
OrderedJson or_null(const std::optional<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson text_or_null(const std::string& text) { return text.empty() ? OrderedJson(nullptr) : OrderedJson(text); }

OrderedJson to_json(const Process& p) {
  return {{"process", p.id},
          {"program", p.program},
          {"host_blas", p.host_blas},
          {"devices", p.devices},
          {"seconds", p.seconds},
          {"trouble", text_or_null(p.trouble)},
          {"foreign_blas", text_or_null(p.foreign)}};
}

OrderedJson to_json(const Calls& c) {
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
          {"reused_bytes", c.reused_bytes},
          {"host_seconds", or_null(c.host_seconds)}};
}

OrderedJson to_json(const InPlace& place) {
  return {{"calls", place.calls}, {"seconds", place.seconds}, {"flops", place.flops}, {"bytes", place.bytes}};
}

OrderedJson to_json(const Totals& sum) {
  return {{"host", to_json(sum.host)},
          {"devices", to_json(sum.devices)},
          {"gained_seconds", sum.estimated() ? OrderedJson(sum.gained()) : OrderedJson(nullptr)},
          {"not_estimated_calls", sum.not_estimated}};
}

OrderedJson to_json(const Damaged& damaged) { return {{"line", damaged.line}, {"why", damaged.why}}; }

template <typename List>
OrderedJson array(const List& list) {
  auto all = OrderedJson::array();
  for (const auto& item : list) all.push_back(to_json(item));
  return all;
}

}  // namespace

std::string blas_json(const BlasReport& report) {
  const OrderedJson json{{"command", report.words},
                         {"exit_status", report.ended.code()},
                         {"signal", report.ended.signal == 0 ? OrderedJson(nullptr) : OrderedJson(report.ended.signal)},
                         {"processes", array(report.log.processes)},
                         {"calls", array(summed(report.log))},
                         {"totals", to_json(totals(report.log))},
                         {"damaged", array(report.log.damaged)}};
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);  // words may not be UTF-8
}

}  // namespace tessera::blas_profile
