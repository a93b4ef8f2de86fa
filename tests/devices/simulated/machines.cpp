// SPDX-License-Identifier: BSD-3-Clause
// Machine descriptions: reading valid ones, refusing invalid ones, and writing the files for StarPU.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "devices/simulated/machine_description.hpp"
#include "machine/starpu_files.hpp"
#include "support/error_of.hpp"
#include "support/files.hpp"

namespace tessera::test {
namespace {

using device::simulated::Machine;
using device::simulated::PeerLink;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const nlohmann::json good = nlohmann::json::parse(R"({
  "source": ["here"], "assumed": [],
  "cpu": {"cores": 4, "core_gflops": 10},
  "kinds": {
    "fast": {"memory_gb": 16, "memory_gbps": 900, "task_overhead_us": 5,
             "kernels_ms": {"gemm": [[512, 0.1], [1024, 0.4]], "trsm": [[1024, 0.5]]},
             "types": {"s": 0.5, "c": 0.5, "z": 1}},
    "slow": {"memory_gb": 8, "memory_gbps": 300, "task_overhead_us": 0,
             "kernels_ms": {"gemm": [[1024, 2]]}, "types": {"s": 0.25, "c": 0.25, "z": 1}}},
  "gpus": ["fast", "fast", "slow"],
  "host_links": [{"gpus": [0, 1], "in_gbps": 12, "out_gbps": 10, "latency_us": 8},
                 {"gpus": [2], "in_gbps": 6, "out_gbps": 6, "latency_us": 9}],
  "shared_links": [{"name": "memory", "gpus": [0, 1, 2], "in_gbps": 15, "out_gbps": 14}],
  "peer_links": [{"gpus": [0, 1], "gbps": 40, "latency_us": 7, "over": "nvlink"}]
})");

Machine read(const std::string& text) {
  const Scratch folder;
  const auto file = folder / "machine.json";
  write_file(file, text);
  return device::simulated::read_machine(file);
}

TEST(MachineFile, IsRead) {
  const auto machine = read(good.dump());
  EXPECT_EQ(machine.name, "machine");
  EXPECT_EQ(machine.cores, 4);
  EXPECT_EQ(machine.core_rate, 10e9);
  ASSERT_EQ(machine.gpu_count(), 3);
  EXPECT_EQ(machine.kind_of(1).name, "fast");
  EXPECT_EQ(machine.kind_of(2).name, "slow");
  EXPECT_EQ(machine.kind_of(2).memory, 8e9);
  EXPECT_EQ(machine.gpus[0].in, 12e9);
  EXPECT_EQ(machine.gpus[2].out, 6e9);
  EXPECT_EQ(machine.peer(0, 1).way, PeerLink::Way::NvLink);
  EXPECT_EQ(machine.peer(1, 0).rate, 40e9);
  EXPECT_EQ(machine.peer(0, 2).way, PeerLink::Way::None);
}

TEST(MachineFile, GivesTheRatesOfAllLinksTogether) {
  const auto machine = read(good.dump());
  EXPECT_DOUBLE_EQ(machine.total_in(1), 12e9);
  EXPECT_DOUBLE_EQ(machine.total_in(3), 15e9);  // limited by the shared link: the GPUs' own links have 30e9
  EXPECT_DOUBLE_EQ(machine.total_out(3), 14e9);
  EXPECT_DOUBLE_EQ(machine.total_both(3), 15e9 + 14e9);
  auto json = good;
  json["shared_links"][0]["both_gbps"] = 20;
  EXPECT_DOUBLE_EQ(read(json.dump()).total_both(3), 20e9);
  EXPECT_EQ(machine.peers_together, 0);
  json["peer_links"][0]["together_gbps"] = 60;
  EXPECT_DOUBLE_EQ(read(json.dump()).peers_together, 60e9);
}

TEST(MachineFile, GivesTheTimesOfTasks) {
  const auto machine = read(good.dump());
  const auto& fast = machine.kind_of(0);
  const double flops = 2.0 * 1024 * 1024 * 1024, triangle = flops / 2;
  EXPECT_DOUBLE_EQ(fast.task_seconds("gemm", {flops, 'd'}), 5e-6 + 0.4e-3);
  EXPECT_DOUBLE_EQ(fast.task_seconds("gemm", {flops, 's'}), 5e-6 + 0.2e-3);
  EXPECT_DOUBLE_EQ(fast.task_seconds("trsm", {triangle, 'd'}), 5e-6 + 0.5e-3);
  EXPECT_DOUBLE_EQ(fast.task_seconds("symm", {flops, 'd'}), 5e-6 + 0.4e-3);  // not in the file: takes as long as gemm
  EXPECT_DOUBLE_EQ(fast.task_seconds("add", {1e6, 'd'}), 5e-6 + 3 * 8e6 / 900e9);
  EXPECT_DOUBLE_EQ(fast.task_seconds("inspect", {1e6, 'd'}), 5e-6 + 8e6 / 900e9);
  EXPECT_DOUBLE_EQ(fast.best_rate('d'), flops / 0.4e-3);
}

TEST(MachineFile, GivesTheTimesOfColumns) {
  auto json = good;
  json["kinds"]["fast"]["columns_gbps"] = {{"in", {{"idle", {{4096, 4}, {8192, 8}}}, {"computing", {{4096, 2}}}}},
                                           {"out", {{"idle", {{4096, 3}}}, {"computing", {{4096, 1}}}}}};
  const auto machine = read(json.dump());
  const auto& fast = machine.kind_of(0);
  ASSERT_TRUE(fast.in && fast.out);
  EXPECT_DOUBLE_EQ(fast.in->idle.seconds(8192), 8192 / 8e9);
  EXPECT_DOUBLE_EQ(fast.in->computing.seconds(8192), 8192 / 2e9);
  EXPECT_DOUBLE_EQ(fast.out->idle.seconds(4096), 4096 / 3e9);
  EXPECT_DOUBLE_EQ(fast.out->computing.seconds(4096), 4096 / 1e9);
  EXPECT_FALSE(machine.kind_of(2).in || machine.kind_of(2).out);
}

nlohmann::json with_panels(nlohmann::json panels) {
  auto json = good;
  json["kinds"]["fast"]["panels_us"] = std::move(panels);
  return json;
}

TEST(MachineFile, GivesTheTimesOfPanels) {
  const nlohmann::json alone{{1000, 4}, {2000, 6}};
  const double products = 2.0 * 1024 * 1024 * 1024;  // 0.4 ms on the whole GPU
  const auto seconds = [](const Machine& machine, double rows, double beside) {
    return machine.kind_of(0).task_seconds(
        beside > 0 ? "getrf_beside_updates" : "getrf",
        {.flops = 1e9 + beside, .type = 'd', .rows = rows, .columns = 100, .beside = beside});
  };
  const auto without = read(with_panels({{"alone", alone}}).dump());
  EXPECT_DOUBLE_EQ(seconds(without, 1000, 0), 5e-6 + 100 * 4e-6);
  EXPECT_DOUBLE_EQ(seconds(without, 1500, 0), 5e-6 + 100 * 5e-6);
  EXPECT_DOUBLE_EQ(seconds(without, 10, 0), 5e-6 + 100 * 4e-6) << "no shorter than the shortest";
  EXPECT_DOUBLE_EQ(seconds(without, 4000, 0), 5e-6 + 100 * 12e-6) << "in proportion to the rows";
  EXPECT_DOUBLE_EQ(seconds(without, 1000, products), 5e-6 + 100 * 4e-6 + 0.4e-3) << "one after the other";
  const auto both = read(with_panels({{"alone", alone}, {"beside_products", {{1000, 10}}}, {"products", 0.8}}).dump());
  EXPECT_DOUBLE_EQ(seconds(both, 1000, 0), 5e-6 + 100 * 4e-6);
  // Half of the panel, 0.5 ms, overlaps products that take as long; the rest runs alone.
  EXPECT_DOUBLE_EQ(seconds(both, 1000, products), 5e-6 + 0.5e-3 + 0.5 * 100 * 4e-6);
  EXPECT_DOUBLE_EQ(seconds(both, 1000, 4 * products), 5e-6 + 4 * 0.5e-3) << "the products take longer";
  EXPECT_FALSE(both.kind_of(2).panels);
}

TEST(MachineFile, GivesTheTimesOfExchangedRows) {
  const auto machine = read(good.dump());
  const auto& fast = machine.kind_of(0);
  const double exchange = 2 * 32 * 1e6 / 900e9;  // an element takes a sector of 32 bytes, in and out
  EXPECT_DOUBLE_EQ(fast.task_seconds("laswp", {.flops = 1e6, .type = 's', .moved = 1e6}), 5e-6 + exchange);
  const double flops = 2.0 * 1024 * 1024 * 1024;
  EXPECT_DOUBLE_EQ(fast.task_seconds("panel_update", {.flops = flops, .type = 'd', .moved = 1e6}),
                   5e-6 + 0.4e-3 + exchange);
}

struct Mistake {
  const char* at;     ///< a JSON pointer
  const char* value;  ///< "": removes the field
  const char* field;  ///< its name in the message
  const char* reason;
};

class Mistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreNamed) {
  const auto& mistake = GetParam();
  auto json = good;
  const nlohmann::json::json_pointer at(mistake.at);
  if (*mistake.value == '\0') json[at.parent_pointer()].erase(at.back());
  else json[at] = nlohmann::json::parse(mistake.value);
  try {
    read(json.dump());
    ADD_FAILURE() << "accepted";
  } catch (const RuntimeError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("machine.json: "), HasSubstr(mistake.field), HasSubstr(mistake.reason)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    MachineFile, Mistakes,
    ::testing::Values(
        Mistake{"/source", "", "source", "is missing"}, Mistake{"/source", "\"x\"", "source", "must be a list"},
        Mistake{"/assumed/0", "1", "assumed[0] is 1", "must be a string"}, Mistake{"/cpu", "", "cpu", "is missing"},
        Mistake{"/cpu", "3", "cpu is 3", "must be an object"},
        Mistake{"/cpu/cores", "0", "cpu.cores is 0", "must be a whole number from 1"},
        Mistake{"/cpu/cores", "2.5", "cpu.cores is 2.5", "must be a whole number"},
        Mistake{"/cpu/cores", "100000", "cpu.cores is 100000", "must be a whole number"},
        Mistake{"/cpu/core_gflops", "\"fast\"", "cpu.core_gflops is \"fast\"", "must be a number above 0"},
        Mistake{"/cpu/panel_gflops", "0", "cpu.panel_gflops is 0", "must be a number above 0"},
        Mistake{"/cpu/sockets", "2", "cpu.sockets is not a field", "cores, core_gflops"},
        Mistake{"/kinds", "[]", "kinds is []", "must be an object"},
        Mistake{"/kinds/<x>", "{}", "kinds.<x> is {}", "must be under a name made of letters"},
        Mistake{"/kinds/fast/memory_gb", "-1", "kinds.fast.memory_gb is -1", "must be a number above 0"},
        Mistake{"/kinds/fast/memory_gb", "1e10", "kinds.fast.memory_gb is 1", "must be at most 1000000000"},
        Mistake{"/kinds/fast/memory_gbps", "", "kinds.fast.memory_gbps", "is missing"},
        Mistake{"/kinds/fast/task_overhead_us", "-1", "task_overhead_us is -1", "must be a number, 0 or more"},
        Mistake{"/kinds/fast/task_overhead_us", "1e30", "task_overhead_us is 1e+30", "must be at most 1000000000000"},
        Mistake{"/kinds/fast/kernels_ms/gemm", "", "kinds.fast.kernels_ms.gemm", "is missing"},
        Mistake{"/kinds/fast/kernels_ms/getrf", "[[1, 1]]", "kernels_ms.getrf is not a field", "gemm, gemmt"},
        Mistake{"/kinds/fast/panels_us", "{}", "kinds.fast.panels_us.alone", "is missing"},
        Mistake{"/kinds/fast/panels_us", R"({"alone": [[1, 2]], "products": 0.5})", "panels_us.beside_products",
                "is missing"},
        Mistake{"/kinds/fast/panels_us", R"({"alone": [[1, 2]], "beside_products": [[1, 2]]})", "panels_us.products",
                "is missing"},
        Mistake{"/kinds/fast/panels_us", R"({"alone": [[1, 2]], "beside_products": [[1, 2]], "products": 2})",
                "panels_us.products is 2", "must be at most 1"},
        Mistake{"/kinds/fast/panels_us", R"({"alone": [[1]]})", "alone[0] is [1]", "[rows, microseconds of a column]"},
        Mistake{"/kinds/fast/columns_gbps", "[[4096, 5]]", "columns_gbps is [[4096,5]]", "must be an object"},
        Mistake{"/kinds/fast/columns_gbps", "{}", "kinds.fast.columns_gbps.in", "is missing"},
        Mistake{"/kinds/fast/columns_gbps", R"({"in": {"idle": [[1, 1]]}})", "columns_gbps.in.computing", "is missing"},
        Mistake{"/kinds/fast/columns_gbps", R"({"in": {"idle": [[4096]]}})", "idle[0] is [4096]", "GB/s"},
        Mistake{"/kinds/fast/columns_gbps", R"({"in": {"idle": [[4, 1], [4, 2]]}})", "idle[1][0] is 4", "larger than"},
        Mistake{"/kinds/fast/kernels_ms/gemm", "[]", "kernels_ms.gemm is []", "at least one point"},
        Mistake{"/kinds/fast/kernels_ms/gemm/0", "[1]", "kernels_ms.gemm[0] is [1]",
                "[order of the tile, milliseconds]"},
        Mistake{"/kinds/fast/kernels_ms/gemm/1/0", "512", "kernels_ms.gemm[1][0] is 512",
                "larger than the previous one"},
        Mistake{"/kinds/fast/kernels_ms/gemm/1/1", "0", "kernels_ms.gemm[1][1] is 0", "must be a number above 0"},
        Mistake{"/kinds/fast/types/z", "", "kinds.fast.types.z", "is missing"},
        Mistake{"/kinds/fast/types/d", "1", "kinds.fast.types.d is not a field", "s, c, z"},
        Mistake{"/gpus", "[]", "gpus is []", "must be a list of 1 to"},
        Mistake{"/gpus/1", "\"faster\"", "gpus[1] is \"faster\"", "must be a name from kinds"},
        Mistake{"/gpus/1", "null", "gpus[1] is null", "must be a string"},
        Mistake{"/host_links/1/gpus/0", "3", "host_links[1].gpus[0] is 3", "must be a whole number from 0 to 2"},
        Mistake{"/host_links/1/gpus", "[]", "host_links[1].gpus is []", "at least one GPU"},
        Mistake{"/host_links/1/gpus/0", "0", "host_links", "GPU 2 does not"},
        Mistake{"/host_links/0/in_gbps", "true", "host_links[0].in_gbps is true", "must be a number above 0"},
        Mistake{"/host_links/0/half_duplex", "1", "host_links[0].half_duplex is 1", "must be true or false"},
        Mistake{"/shared_links", "", "shared_links", "is missing"},
        Mistake{"/shared_links/0/both_gbps", "0", "shared_links[0].both_gbps is 0", "must be a number above 0"},
        Mistake{"/peer_links/0/together_gbps", "-1", "peer_links[0].together_gbps is -1", "must be a number above 0"},
        Mistake{"/shared_links/0/name", "7", "shared_links[0].name is 7", "must be a string"},
        Mistake{"/peer_links/0/over", "\"air\"", "peer_links[0].over is \"air\"", "\"nvlink\" or \"bus\""},
        Mistake{"/peer_links/0/with", "[9]", "peer_links[0].with[0] is 9", "must be a whole number from 0 to 2"},
        Mistake{"/peer_links/0/latency_us", "", "peer_links[0].latency_us", "is missing"},
        Mistake{"/staging", "{}", "staging.gbps", "is missing"},
        Mistake{"/staging", R"({"gbps": 5, "core_gbps": 0})", "staging.core_gbps is 0", "must be a number above 0"},
        Mistake{"/staging", R"({"gbps": 5, "rate": 1})", "staging.rate is not a field", "gbps, core_gbps"},
        Mistake{
            "/network",
            R"({"processes_per_node": 2, "in_gbps": 1, "out_gbps": 1, "inside_gbps": 1, "latency_us": 1, "core_gbps": 0})",
            "network.core_gbps is 0", "must be a number above 0"},
        Mistake{"/comment", "1", "comment is not a field", "source, assumed"}));

TEST(MachineFile, IsRefusedIfItIsNotJson) {
  for (const std::string text : {"", "{", "[1, 2", "{\"cpu\": }", "nonsense"})
    EXPECT_THAT(error_of([&] { read(text); }), HasSubstr("machine.json is not JSON")) << text;
  EXPECT_THROW(read("[]"), RuntimeError);
  EXPECT_THROW(read("3"), RuntimeError);
}

TEST(MachineFile, IsNamedIfItDoesNotExist) {
  EXPECT_THAT(error_of([] { device::simulated::read_machine("/nowhere/machine.json"); }),
              HasSubstr("/nowhere/machine.json cannot be read"));
}

/// The files that describe a machine to StarPU.
class StarpuFiles : public ::testing::Test {
 protected:
  void SetUp() override { machine::write_starpu_files(read(good.dump()), folder_.path(), "here"); }
  std::string text(const std::string& ending) const { return read_file(folder_ / ("bus/here" + ending)); }
  /// The words of a table without its comments.
  std::vector<std::string> words(const char* ending) const {
    std::istringstream lines(text(ending));
    std::vector<std::string> all;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream row(line.starts_with('#') ? "" : line);
      for (std::string word; row >> word;) all.push_back(word);
    }
    return all;
  }

  const Scratch folder_;
};

// Rows are sources: the host, then the GPUs. StarPU ignores the last column and the last row.
TEST_F(StarpuFiles, TellTheRates) {
  EXPECT_THAT(words(".bandwidth"), ::testing::ElementsAre("0", "12000", "12000", "6000", "nan",  //
                                                          "10000", "0", "40000", "3000",
                                                          "nan",  // without a direct link, half of a hop's rate
                                                          "10000", "40000", "0", "3000", "nan",  //
                                                          "6000", "3000", "3000", "0", "nan", "nan", "nan"));
}

TEST_F(StarpuFiles, TellTheLatencies) {
  EXPECT_THAT(words(".latency"), ::testing::ElementsAre("0", "8", "8", "9", "nan", "8", "0", "7", "17", "nan", "8", "7",
                                                        "0", "17", "nan", "9", "17", "17", "0", "nan", "nan", "nan"));
}

TEST_F(StarpuFiles, CountTheDevices) {
  EXPECT_THAT(text(".config"), AllOf(HasSubstr("4 # Number of CPUs"), HasSubstr("3 # Number of CUDA nodes")));
}

TEST_F(StarpuFiles, DescribeThePlatform) {
  const auto xml = text(".platform.v4.xml");
  EXPECT_THAT(xml, AllOf(HasSubstr("<host id=\"CPU3\""), Not(HasSubstr("<host id=\"CPU4\"")),
                         HasSubstr("<host id=\"CUDA2\""), HasSubstr("value=\"slow\"")));
  const auto route = [&xml](const char* from, const char* to) {
    const auto begin = xml.find("<route src=\"" + std::string(from) + "\" dst=\"" + to + "\"");
    return begin == std::string::npos ? "" : xml.substr(begin, xml.find("</route>", begin) - begin);
  };
  // All copies from the host share a link; peers with their own links share nothing.
  EXPECT_THAT(route("RAM", "CUDA0"), AllOf(HasSubstr("\"RAM-CUDA0\""), HasSubstr("\"shared link 0 in\"")));
  EXPECT_THAT(route("CUDA0", "RAM"), HasSubstr("\"shared link 0 out\""));
  EXPECT_THAT(route("CUDA0", "CUDA1"), AllOf(HasSubstr("\"CUDA0-CUDA1\""), Not(HasSubstr("shared"))));
  EXPECT_THAT(route("CUDA0", "CUDA2"), AllOf(HasSubstr("\"CUDA0-RAM\""), HasSubstr("\"RAM-CUDA2\"")));
}

}  // namespace
}  // namespace tessera::test
