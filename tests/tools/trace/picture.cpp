// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>

#include "file_size_limit.hpp"
#include "generated_run.hpp"
#include "trace/output/draw.hpp"
#include "trace/output/draw_parts.hpp"
#include "trace_test.hpp"

namespace tessera::trace::picture_cpp {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Picture : public testing::Test {
 protected:
  static int big_endian(const std::string& bytes, std::size_t at) {
    int value = 0;
    for (std::size_t i = at; i < at + 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes.at(i));
    return value;
  }

  /// Draws on a surface of size 0, on which rectangles are still counted.
  static Drawn drawn(const Explained& run) {
    const Chart chart(run);
    auto* surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1);
    auto* context = cairo_create(surface);
    const auto result = chart.draw(context);
    EXPECT_EQ(cairo_status(context), CAIRO_STATUS_SUCCESS);
    cairo_destroy(context);
    cairo_surface_destroy(surface);
    return result;
  }

  const Scratch folder_;
};

TEST_F(Picture, SvgIsWhole) {
  write_svg(folder_ / "report.svg", generated({}));
  const auto svg = read_file(folder_ / "report.svg");
  EXPECT_THAT(svg, AllOf(HasSubstr("<svg"), HasSubstr("width=\"510.")));  // 180 mm
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("26.666667%,46.666667%,66.666667%"));  // the colour of gemm
}

TEST_F(Picture, PngHas200DotsAnInch) {
  const auto run = generated({});
  write_png(folder_ / "report.png", run);
  const auto png = read_file(folder_ / "report.png");
  ASSERT_TRUE(png.starts_with("\x89PNG\r\n\x1a\n"));
  EXPECT_EQ(big_endian(png, 16), 1417);
  EXPECT_EQ(big_endian(png, 20), std::ceil(Chart(run).height() * 200 / 72));
  EXPECT_GT(png.size(), 20'000u);
}

TEST_F(Picture, NothingElseIsLeft) {
  write_svg(folder_ / "report.svg", generated({}));
  write_png(folder_ / "report.png", generated({}));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 2);
}

TEST_F(Picture, EveryTaskIsARectangleIfThereIsRoom) {
  const auto run = generated({});
  EXPECT_EQ(drawn(run).tasks, run.run.tasks.size());
  EXPECT_EQ(drawn(run).transfers, run.run.transfers.size());
}

TEST_F(Picture, ManyTasksAreMerged) {
  Generated large;
  large.grid = 46;
  large.cores = 60;
  const auto run = generated(large);
  ASSERT_GT(run.run.tasks.size(), 90'000u);
  EXPECT_LE(drawn(run).tasks + drawn(run).transfers, 15'000u);
  write_svg(folder_ / "large.svg", run);
  EXPECT_LE(fs::file_size(folder_ / "large.svg"), 3'000'000u);
}

TEST_F(Picture, ManyWorkersStayOnAPage) {
  Generated cores;
  cores.gpus = 0;
  cores.cores = 256;
  cores.grid = 16;
  EXPECT_LT(Chart(generated(cores)).height(), 297 / 25.4 * 72);
}

TEST_F(Picture, UnfinishedTasksAreDrawnToTheEnd) {
  auto run = generated({});
  run.run.tasks.back().end = never;
  run.run.tasks.front().start = run.run.tasks.front().end = never;  // never started
  EXPECT_EQ(drawn(run).tasks, run.run.tasks.size() - 1);
}

TEST_F(Picture, RunsWithoutAnythingAreDrawn) {
  EXPECT_NO_THROW(write_svg(folder_ / "empty.svg", Explained{}));
  auto stray = generated({});
  stray.run.title = "\xff\xfe <\"&\n";  // not UTF-8
  stray.run.tasks.front().routine = none;
  stray.run.tasks.front().worker = none;
  stray.run.span = 0;
  EXPECT_NO_THROW(write_png(folder_ / "stray.png", stray));
}

TEST_F(Picture, SaysWhichFileCannotBeWritten) {
  const auto file = folder_ / "none/report.svg";
  for (const auto write : {write_svg, write_png})
    EXPECT_THAT(error_of([&] { write(file, generated({})); }),
                AllOf(HasSubstr(file.string()), HasSubstr("No such file or directory")));
}

TEST_F(Picture, IsWholeOrNotThere) {
  const FileSizeLimit limit(8192);
  for (const auto write : {write_svg, write_png})
    EXPECT_THAT(error_of([&] { write(folder_ / "report", generated({})); }), HasSubstr("File too large"));
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST(Bars, ThoseTooNarrowShareColumnsByTheirTime) {
  // The column from 10 to 11 is half gemm, a quarter add and a quarter idle.
  const std::vector<Span> spans = {{0, 5, 1}, {10, 10.25, 1}, {10.25, 10.5, 2}, {10.75, 11, 1}, {20.25, 20.5, 2}};
  const auto result = bars(spans, 0, 8, 1);
  ASSERT_EQ(result.size(), 4u);
  EXPECT_DOUBLE_EQ(result[0].box.height, 8);  // unchanged
  EXPECT_DOUBLE_EQ(result[1].box.x, 20.25);   // without a close neighbour
  EXPECT_DOUBLE_EQ(result[1].box.height, 8);
  EXPECT_DOUBLE_EQ(result[2].box.height, 4);
  EXPECT_DOUBLE_EQ(result[2].box.width, 1);
  EXPECT_DOUBLE_EQ(result[3].box.height, 2);
  EXPECT_EQ(result[3].colour, 2u);
}

TEST(TimeScale, HasRoundTicks) {
  const auto labels = [](double seconds) {
    const auto scale = time_scale(seconds, 5);
    std::string text;
    for (const double tick : scale.ticks) text += scale.label(tick) + " ";
    return text + scale.unit;
  };
  EXPECT_EQ(labels(0.414), "0 100 200 300 400 ms");
  EXPECT_EQ(labels(4.2e-4), "0 100 200 300 400 µs");
  EXPECT_EQ(labels(1), "0.0 0.2 0.4 0.6 0.8 1.0 s");
  EXPECT_EQ(labels(3661), "0 1000 2000 3000 s");
  EXPECT_EQ(labels(2e-9), "0.0000 0.0005 0.0010 0.0015 0.0020 µs");
}

}  // namespace
}  // namespace tessera::trace::picture_cpp
