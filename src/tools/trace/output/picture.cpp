// SPDX-License-Identifier: BSD-3-Clause
#include <cairo-svg.h>
#include <cairo.h>

#include <cmath>
#include <memory>
#include <ostream>

#include "common/whole_file.hpp"
#include "tessera/error.hpp"
#include "trace/output/draw.hpp"
#include "trace/output/outputs.hpp"

namespace tessera::trace {

namespace {

using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;
using Context = std::unique_ptr<cairo_t, decltype(&cairo_destroy)>;

cairo_status_t write(void* stream, const unsigned char* bytes, unsigned count) {
  auto& output = *static_cast<std::ostream*>(stream);
  output.write(reinterpret_cast<const char*>(bytes), count);
  return output ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

/// Throws if cairo failed. Ignores failed writes, because committing the file reports a better reason.
void check(cairo_status_t status, const std::filesystem::path& file) {
  if (status == CAIRO_STATUS_SUCCESS || status == CAIRO_STATUS_WRITE_ERROR) return;
  throw RuntimeError(file.string() + " cannot be written: " + cairo_status_to_string(status));
}

void draw(cairo_surface_t* surface, const Chart& chart, const std::filesystem::path& file) {
  const Context context(cairo_create(surface), cairo_destroy);
  chart.draw(context.get());
  check(cairo_status(context.get()), file);
}

}  // namespace

void write_svg(const std::filesystem::path& file, const Explained& run) {
  const Chart chart(run);
  common::WholeFile whole(file);
  const Surface surface(cairo_svg_surface_create_for_stream(write, &whole.stream(), Chart::width, chart.height()),
                        cairo_surface_destroy);
  draw(surface.get(), chart, file);
  cairo_surface_finish(surface.get());
  check(cairo_surface_status(surface.get()), file);
  whole.commit();
}

void write_png(const std::filesystem::path& file, const Explained& run) {
  constexpr double pixels = 200.0 / 72;  // per point
  const Chart chart(run);
  common::WholeFile whole(file);
  const Surface surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::lround(Chart::width * pixels)),
                                 static_cast<int>(std::ceil(chart.height() * pixels))),
      cairo_surface_destroy);
  cairo_surface_set_device_scale(surface.get(), pixels, pixels);
  draw(surface.get(), chart, file);
  check(cairo_surface_write_to_png_stream(surface.get(), write, &whole.stream()), file);
  whole.commit();
}

}  // namespace tessera::trace
