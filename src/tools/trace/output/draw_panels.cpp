// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "trace/output/draw.hpp"
#include "trace/output/draw_scale.hpp"

namespace tessera::trace {

namespace {

/// Colours from dark violet to light green. Their lightness differs, too.
std::uint32_t node_colour(std::size_t i, std::size_t count) {
  constexpr std::uint32_t ramp[] = {0x440154, 0x3b528b, 0x21908c, 0x5dc863, 0xb5c918};
  const double at = count < 2 ? 1 : 4.0 * static_cast<double>(i) / static_cast<double>(count - 1);
  const auto from = std::min<std::size_t>(static_cast<std::size_t>(at), 3);
  const double part = at - static_cast<double>(from);
  std::uint32_t mixed = 0;
  for (const int shift : {0, 8, 16}) {
    const double a = (ramp[from] >> shift) & 0xff, b = (ramp[from + 1] >> shift) & 0xff;
    mixed |= static_cast<std::uint32_t>(std::lround(a + part * (b - a))) << shift;
  }
  return mixed;
}

}  // namespace

std::vector<const MemoryUse*> memory_shown(const Run& run) {
  std::vector<const MemoryUse*> gpus, hosts;
  for (const auto& use : run.memory) {
    if (use.time.empty() || use.node < 0 || use.node >= static_cast<int>(run.nodes.size())) continue;
    (run.nodes[static_cast<std::size_t>(use.node)].kind == Kind::Gpu ? gpus : hosts).push_back(&use);
  }
  return gpus.empty() ? hosts : gpus;
}

void Chart::draw_panels(Canvas& canvas) const {
  if (memory_.height > 0) {
    std::vector<Curve> curves;
    const auto shown = memory_shown(run_.run);
    for (const auto* use : shown) {
      auto& curve = curves.emplace_back();
      curve.name = run_.run.nodes[static_cast<std::size_t>(use->node)].name;
      curve.colour = node_colour(curves.size() - 1, shown.size());
      for (const double time : use->time) curve.x.push_back(x(time));
      curve.value = use->bytes;
    }
    const auto scale = byte_scale(std::max(highest(curves), 1.0), 3);
    draw_panel(canvas, memory_, "memory", std::string("[") + scale.unit + "]", scale, margin, curves);
  }
  const auto counts = [&](const Panel& panel, const Series& series, const char* name) {
    if (panel.height <= 0) return;
    Curve curve{{}, 0x8a8a8a, {}, {series.count.begin(), series.count.end()}};
    for (const double time : series.time) curve.x.push_back(x(time));
    draw_panel(canvas, panel, name, "tasks", count_scale(std::max(highest({curve}), 1.0), 2), margin, {curve});
  };
  counts(ready_, run_.analysis.ready, "ready");
  counts(running_, run_.analysis.running, "running");
}

}  // namespace tessera::trace
