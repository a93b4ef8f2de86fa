// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/cluster.hpp"

#include <fmt/format.h>

#include <string>

#include "common/whole_file.hpp"
#include "machine/simulation/starpu_files.hpp"

namespace tessera::simulate {

namespace {

std::string host(int process) { return fmt::format("process{}", process); }

std::string link(const std::string& name, double rate, double latency) {
  return fmt::format("   <link id=\"{}\" bandwidth=\"{}Bps\" latency=\"{:.9f}s\"/>\n", name, rate, latency);
}

/// The processes, and the routes of their messages: within a node, or from node to node.
std::string network_zone(const simulation::Network& network, int processes) {
  const auto node_of = [&](int process) { return process / network.processes_per_node; };
  std::string text = " <AS id=\"network\" routing=\"Full\">\n";
  for (int process = 0; process < processes; process++)
    text += fmt::format("   <host id=\"{}\" speed=\"1Gf\"/>\n", host(process));
  for (int process = 0; process < processes; process++)
    text += link("into " + host(process), network.inside, network.latency);
  for (int node = 0; node <= node_of(processes - 1); node++) {
    text += link(fmt::format("into node{}", node), network.in, 0);
    text += link(fmt::format("out of node{}", node), network.out, network.latency);
  }
  for (int from = 0; from < processes; from++)
    for (int to = 0; to < processes; to++) {
      if (from == to) continue;
      text += fmt::format("   <route src=\"{}\" dst=\"{}\" symmetrical=\"NO\">", host(from), host(to));
      if (node_of(from) == node_of(to)) text += fmt::format("<link_ctn id=\"into {}\"/>", host(to));
      else
        text +=
            fmt::format("<link_ctn id=\"out of node{}\"/><link_ctn id=\"into node{}\"/>", node_of(from), node_of(to));
      text += "</route>\n";
    }
  return text + " </AS>\n";
}

}  // namespace

void write_cluster(const simulation::Machine& machine, int processes, const std::filesystem::path& platform,
                   const std::filesystem::path& hosts) {
  std::string text =
      "<?xml version='1.0'?>\n"
      "<!DOCTYPE platform SYSTEM 'http://simgrid.gforge.inria.fr/simgrid/simgrid.dtd'>\n"
      "<platform version=\"4\">\n<AS id=\"root\" routing=\"None\">\n";
  text += network_zone(*machine.network, processes);
  std::string names;
  for (int process = 0; process < processes; process++) {
    text += simulation::starpu_zone(machine, fmt::format("StarPU-MPI{}", process));  // StarPU looks for this name
    names += host(process) + "\n";
  }
  detail::write_whole(platform, text + "</AS>\n</platform>\n");
  detail::write_whole(hosts, names);
}

}  // namespace tessera::simulate
