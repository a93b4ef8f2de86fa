// SPDX-License-Identifier: BSD-3-Clause
#include "blas_profile/blas_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

namespace tessera::blas_profile {

namespace {

using Json = nlohmann::json;

/// Why a line is invalid.
class Damage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Null if the member is null or missing.
const Json* member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

const Json& required(const Json& object, const char* name) {
  const auto* value = member(object, name);
  if (value == nullptr) throw Damage(fmt::format("\"{}\" is missing", name));
  return *value;
}

std::string text(const Json& value, const char* name) {
  if (!value.is_string()) throw Damage(fmt::format("\"{}\" is {}, must be a string", name, value.dump()));
  return value.get<std::string>();
}

double number(const Json& value, const char* name) {
  if (!value.is_number() || value.get<double>() < 0)
    throw Damage(fmt::format("\"{}\" is {}, must be a number, 0 or more", name, value.dump()));
  return value.get<double>();
}

std::int64_t whole(const Json& value, const char* name) {
  constexpr double most = 9.2e18;
  const double x = number(value, name);
  if (x > most || (!value.is_number_integer() && x != static_cast<double>(static_cast<std::int64_t>(x))))
    throw Damage(fmt::format("\"{}\" is {}, must be a whole number", name, value.dump()));
  return value.is_number_integer() ? value.get<std::int64_t>() : static_cast<std::int64_t>(x);
}

Place place(const Json& value) {
  const auto name = text(value, "place");
  if (name != "host" && name != "devices")
    throw Damage(fmt::format("\"place\" is \"{}\", must be \"host\" or \"devices\"", name));
  return name == "host" ? Place::Host : Place::Devices;
}

std::string optional_text(const Json& object, const char* name) {
  const auto* value = member(object, name);
  return value == nullptr ? "" : text(*value, name);
}

std::optional<double> optional_number(const Json& object, const char* name) {
  const auto* value = member(object, name);
  return value == nullptr ? std::nullopt : std::optional(number(*value, name));
}

Process process(const Json& line) {
  Process process;
  process.id = whole(required(line, "process"), "process");
  process.program = text(required(line, "program"), "program");
  process.host_blas = optional_text(line, "host_blas");
  process.devices = optional_text(line, "devices");
  process.trouble = optional_text(line, "trouble");
  process.foreign = optional_text(line, "foreign_blas");
  process.seconds = number(required(line, "seconds"), "seconds");
  return process;
}

Calls calls(const Json& line) {
  Calls calls;
  calls.routine = text(required(line, "routine"), "routine");
  constexpr const char* names[] = {"m", "n", "k", "nrhs"};
  for (std::size_t i = 0; i < calls.shape.size(); i++)
    if (const auto* size = member(line, names[i])) calls.shape[i] = whole(*size, names[i]);
  calls.place = place(required(line, "place"));
  calls.calls = static_cast<std::uint64_t>(whole(required(line, "calls"), "calls"));
  calls.seconds = optional_number(line, "seconds");
  calls.flops = number(required(line, "flops"), "flops");
  calls.bytes = number(required(line, "bytes"), "bytes");
  calls.reused_bytes = optional_number(line, "reused_bytes").value_or(0);
  calls.host_seconds = optional_number(line, "host_seconds");
  return calls;
}

/// The latest process with that number: a program that loads the library twice writes two headers.
Process& process_of(Log& log, std::int64_t id) {
  const auto found = std::find_if(log.processes.rbegin(), log.processes.rend(), [=](auto& p) { return p.id == id; });
  if (found == log.processes.rend()) throw Damage(fmt::format("process {} has no header before this line", id));
  return *found;
}

void read_line(std::string_view text, Log& log) {
  const auto line = Json::parse(text);
  if (!line.is_object()) throw Damage("it is not a JSON object");
  if (line.contains("program")) log.processes.push_back(process(line));
  else if (line.contains("routine"))
    process_of(log, whole(required(line, "process"), "process")).calls.push_back(calls(line));
  else throw Damage("it has neither a program nor a routine");
}

}  // namespace

Log read_log(std::string_view text, std::size_t first_line) {
  Log log;
  for (std::size_t number = first_line; !text.empty(); number++) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    try {
      read_line(line, log);
    } catch (const Damage& damage) {
      log.damaged.push_back({number, damage.what()});
    } catch (const Json::exception&) {  // the parser's message describes its internal states
      log.damaged.push_back({number, "it is not JSON"});
    }
  }
  return log;
}

void add(Calls& sum, const Calls& more) {
  const auto add_known = [](std::optional<double>& time, const std::optional<double>& further) {
    if (time && further) *time += *further;
    else time.reset();
  };
  sum.calls += more.calls, sum.flops += more.flops, sum.bytes += more.bytes;
  sum.reused_bytes += more.reused_bytes;
  add_known(sum.seconds, more.seconds), add_known(sum.host_seconds, more.host_seconds);
}

std::vector<Calls> summed(const Log& log) {
  std::map<std::tuple<std::string, Shape, Place>, Calls> groups;
  for (const auto& process : log.processes)
    for (const auto& calls : process.calls) {
      const auto [group, is_new] = groups.try_emplace({calls.routine, calls.shape, calls.place}, calls);
      if (!is_new) add(group->second, calls);
    }
  std::vector<Calls> all;
  all.reserve(groups.size());
  for (auto& [key, calls] : groups) all.push_back(std::move(calls));
  std::ranges::stable_sort(all, std::greater{}, &Calls::seconds);
  return all;
}

}  // namespace tessera::blas_profile
