// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cairo.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "shared/formatting.hpp"

namespace tessera::trace {

/// A rectangle [points]. The origin is the upper left corner of the page.
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

inline constexpr std::uint32_t black = 0x000000, grey = 0x595959, rule = 0xd4d4d4;

enum class Align { Left, Middle, Right };

/// Converts external bytes to valid UTF-8, because cairo stops drawing at the first invalid byte.
inline std::string as_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto length = tools::character_length(text);
    const bool valid = length > 0 && static_cast<unsigned char>(text.front()) >= 0x20;
    if (valid) result += text.substr(0, length);
    else result += '?';
    text.remove_prefix(valid ? length : 1);
  }
  return result;
}

/// The drawing operations that the chart needs.
class Canvas {
 public:
  static constexpr double small = 7, large = 9;  ///< font sizes; journals require at least 7 points

  explicit Canvas(cairo_t* cairo) : cairo_(cairo) {
    // Glyphs have the same positions on paper and on a screen.
    const std::unique_ptr<cairo_font_options_t, decltype(&cairo_font_options_destroy)> options(
        cairo_font_options_create(), cairo_font_options_destroy);
    cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(cairo_, options.get());
    letters(small);
  }

  void clear() {
    colour(0xffffff);
    cairo_paint(cairo_);
  }

  void colour(std::uint32_t rgb) {
    const auto part = [rgb](int shift) { return ((rgb >> shift) & 0xff) / 255.0; };
    cairo_set_source_rgb(cairo_, part(16), part(8), part(0));
  }

  void letters(double size, bool bold = false) {
    cairo_select_font_face(cairo_, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cairo_, size);
  }

  double width_of(const std::string& text) {
    cairo_text_extents_t extents;
    cairo_text_extents(cairo_, text.c_str(), &extents);
    return extents.x_advance;
  }

  /// @param y  the baseline
  void text(std::string_view words, double x, double y, Align align = Align::Left) {
    const auto text = as_utf8(words);
    if (align != Align::Left) x -= width_of(text) / (align == Align::Middle ? 2 : 1);
    cairo_move_to(cairo_, x, y);
    cairo_show_text(cairo_, text.c_str());
  }

  /// Shortens the text with "…" if it does not fit.
  void text_within(std::string_view words, double x, double y, double room) {
    auto text = as_utf8(words);
    if (width_of(text) > room) {
      while (!text.empty() && width_of(text + "…") > room) {
        while (!text.empty() && (text.back() & 0xc0) == 0x80) text.pop_back();
        if (!text.empty()) text.pop_back();
      }
      text += "…";
    }
    this->text(text, x, y);
  }

  /// Adds a box to the path, which fill() or stroke() draws.
  void box(const Box& box) { cairo_rectangle(cairo_, box.x, box.y, box.width, box.height); }
  void line(double x0, double y0, double x1, double y1) {
    cairo_move_to(cairo_, x0, y0);
    cairo_line_to(cairo_, x1, y1);
  }
  void move_to(double x, double y) { cairo_move_to(cairo_, x, y); }
  void line_to(double x, double y) { cairo_line_to(cairo_, x, y); }
  void fill() { cairo_fill(cairo_); }
  void stroke(double width) {
    cairo_set_line_width(cairo_, width);
    cairo_set_line_join(cairo_, CAIRO_LINE_JOIN_MITER);
    cairo_stroke(cairo_);
  }

 private:
  cairo_t* cairo_;
};

}  // namespace tessera::trace
