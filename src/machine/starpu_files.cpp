// SPDX-License-Identifier: BSD-3-Clause
#include "starpu_files.hpp"

#include <algorithm>
#include <functional>
#include <sstream>

#include "bus_files.hpp"
#include "common/whole_file.hpp"

namespace tessera::machine {

namespace {

struct Wire {
  std::string name;
  double rate, latency;
};

/// The links that a copy uses, in order.
using Route = std::vector<Wire>;

/// The links of the machine. A link shared by several kinds of copies has the same name in all their routes.
class Wires {
 public:
  Wires(const device::simulated::Machine& machine, bool pageable) : machine_(machine), pageable_(pageable) {}

  Route in(int gpu) const {
    const auto& g = at(gpu);
    Route route{{host_link(gpu, true), g.in, g.latency}};
    append_both_ways(route, gpu);
    if (const double rate = bus_rate(gpu); rate > 0) route.push_back({name(gpu) + " bus in", rate, 0});
    append_shared(route, [&](const device::simulated::SharedLink& link) { return link.contains(gpu) ? 1 : 0; });
    return route;
  }

  Route out(int gpu) const {
    const auto& g = at(gpu);
    Route route{{host_link(gpu, false), g.out, g.latency}};
    append_both_ways(route, gpu);
    if (const double rate = bus_rate(gpu); rate > 0) route.push_back({name(gpu) + " bus out", rate, 0});
    append_shared(route, [&](const device::simulated::SharedLink& link) { return link.contains(gpu) ? -1 : 0; });
    return route;
  }

  /// Without direct access, a copy between GPUs goes to the host and from there to the other GPU. It gets half the rate
  /// of one hop, so StarPU prefers the host's own copy if there is one.
  Route peer(int from, int to) const {
    const auto& link = machine_.peer(from, to);
    Route route{{name(from) + "-" + name(to), peer_rate(from, to),
                 link.latency}};  // without direct access, the two hops limit the rate
    if (link.way == device::simulated::PeerLink::Way::None) {
      for (const auto& part : {out(from), in(to)}) route.insert(route.end(), part.begin(), part.end());
      return route;
    }
    if (link.way == device::simulated::PeerLink::Way::Bus) {
      route.push_back({name(from) + " bus out", bus_rate(from), 0});
      route.push_back({name(to) + " bus in", bus_rate(to), 0});
    }
    if (link.way == device::simulated::PeerLink::Way::NvLink && machine_.peers_together > 0) {
      route.push_back({name(from) + " peers out", machine_.peers_together, 0});
      route.push_back({name(to) + " peers in", machine_.peers_together, 0});
    }
    append_shared(route, [&](const device::simulated::SharedLink& shared) {
      return shared.contains(to) - shared.contains(from);
    });
    return route;
  }

  double peer_rate(int from, int to) const {
    const auto& link = machine_.peer(from, to);
    return link.way == device::simulated::PeerLink::Way::None ? std::min(at(from).out, at(to).in) / 2 : link.rate;
  }
  double peer_latency(int from, int to) const {
    const auto& link = machine_.peer(from, to);
    return link.way == device::simulated::PeerLink::Way::None ? at(from).latency + at(to).latency : link.latency;
  }

  const device::simulated::Gpu& at(int gpu) const { return machine_.gpus[static_cast<std::size_t>(gpu)]; }
  static std::string name(int gpu) { return "CUDA" + std::to_string(gpu); }

 private:
  /// The rate of the bus link that a GPU uses for copies to peers and to the host: the rate of the fastest of these
  /// copies. 0 if the GPU has no peers over the bus.
  double bus_rate(int gpu) const {
    double rate = 0;
    for (int other = 0; other < machine_.gpu_count(); other++)
      if (machine_.peer(gpu, other).way == device::simulated::PeerLink::Way::Bus)
        rate = std::max({rate, machine_.peer(gpu, other).rate, at(gpu).in, at(gpu).out});
    return rate;
  }

  /// Appends the links that copies in both directions share: a half-duplex link, and the threads that copy to and from
  /// staging buffers.
  void append_both_ways(Route& route, int gpu) const {
    const auto& g = at(gpu);
    if (g.half_duplex) route.push_back({name(gpu) + " both ways", std::max(g.in, g.out), 0});
    if (pageable_) route.push_back({"staging", machine_.staging->rate, 0});
  }

  /// @param direction  1: into the group, -1: out of it, 0: neither
  void append_shared(Route& route, const std::function<int(const device::simulated::SharedLink&)>& direction) const {
    for (std::size_t i = 0; i < machine_.shared.size(); i++) {
      const auto& link = machine_.shared[i];
      const auto wire = "shared link " + std::to_string(i);
      const int d = direction(link);
      if (d > 0) route.push_back({wire + " in", link.in, 0});
      else if (d < 0) route.push_back({wire + " out", link.out, 0});
      if (d != 0 && link.both > 0) route.push_back({wire + " both", link.both, 0});
    }
  }

  const device::simulated::Machine& machine_;
  const bool pageable_;
};

class Platform {
 public:
  /// @param prefix  start of the names of hosts and links
  Platform(const device::simulated::Machine& machine, bool pageable, std::string prefix = "")
      : machine_(machine), wires_(machine, pageable), prefix_(std::move(prefix)) {}

  std::string xml() { return head + zone("AS0") + "</platform>\n"; }

  std::string zone(const std::string& name) {
    for (int from = 0; from < machine_.gpu_count(); from++) {
      add("RAM", Wires::name(from), wires_.in(from));
      add(Wires::name(from), "RAM", wires_.out(from));
    }
    for (int from = 0; from < machine_.gpu_count(); from++)
      for (int to = 0; to < machine_.gpu_count(); to++)
        if (to != from) add(Wires::name(from), Wires::name(to), wires_.peer(from, to));
    std::ostringstream text;
    text.precision(15);
    text << " <AS id=\"" << name << "\" routing=\"Full\">\n   <host id=\"" << prefix_ << "MAIN\" speed=\"1f\"/>\n";
    for (int core = 0; core < machine_.cores; core++)
      text << "   <host id=\"" << prefix_ << "CPU" << core << "\" speed=\"2000000000f\"/>\n";
    for (int gpu = 0; gpu < machine_.gpu_count(); gpu++)
      text << "   <host id=\"" << prefix_ << Wires::name(gpu)
           << "\" speed=\"2000000000f\">\n     <prop id=\"model\" value=\"" << machine_.kind_of(gpu).name
           << "\"/>\n     <prop id=\"memsize\" value=\"" << static_cast<long long>(machine_.kind_of(gpu).memory)
           << "\"/>\n     <prop id=\"memcpy_peer\" value=\"1\"/>\n   </host>\n";
    text << "   <host id=\"" << prefix_ << "RAM\" speed=\"1f\"/>\n";
    for (const auto& wire : all_)
      text << "   <link id=\"" << prefix_ << wire.name << "\" bandwidth=\"" << wire.rate << "Bps\" latency=\""
           << std::fixed << wire.latency << "s\"/>\n"
           << std::defaultfloat;
    text << routes_ << " </AS>\n";
    return text.str();
  }

 private:
  /// SimGrid's settings: full bandwidth of the links, and no interference of copies in opposite directions.
  static constexpr const char* head =
      R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM 'http://simgrid.gforge.inria.fr/simgrid/simgrid.dtd'>
<platform version="4">
 <config id="General">
   <prop id="network/TCP-gamma" value="-1"></prop>
   <prop id="network/latency-factor" value="1"></prop>
   <prop id="network/bandwidth-factor" value="1"></prop>
   <prop id="network/crosstraffic" value="0"></prop>
   <prop id="network/weight-S" value="0.0"></prop>
 </config>
)";

  void add(const std::string& from, const std::string& to, const Route& route) {
    routes_ += "   <route src=\"" + prefix_ + from + "\" dst=\"" + prefix_ + to + "\" symmetrical=\"NO\">";
    std::vector<std::string> passed;
    for (const auto& wire : route) {
      if (std::ranges::find(all_, wire.name, &Wire::name) == all_.end()) all_.push_back(wire);
      if (std::ranges::find(passed, wire.name) != passed.end()) continue;
      passed.push_back(wire.name);
      routes_ += "<link_ctn id=\"" + prefix_ + wire.name + "\"/>";
    }
    routes_ += "</route>\n";
  }

  const device::simulated::Machine& machine_;
  Wires wires_;
  std::string prefix_;
  std::vector<Wire> all_;
  std::string routes_;
};

}  // namespace

std::string starpu_zone(const device::simulated::Machine& machine, const std::string& name) {
  return Platform(machine, false, name + "-").zone(name);
}

std::string host_link(int gpu, bool in) { return in ? "RAM-" + Wires::name(gpu) : Wires::name(gpu) + "-RAM"; }

void write_starpu_files(const device::simulated::Machine& machine, const std::filesystem::path& folder,
                        const std::string& host, bool pageable) {
  const Wires wires(machine, pageable);
  Bus bus;
  bus.cores = machine.cores, bus.gpus = machine.gpu_count();
  bus.nodes_of.assign(static_cast<std::size_t>(bus.gpus), {0});
  bus.rate = [&](int from, int to) {
    if (from == 0) return wires.at(to - 1).in;
    return to == 0 ? wires.at(from - 1).out : wires.peer_rate(from - 1, to - 1);
  };
  bus.latency = [&](int from, int to) {
    if (from == 0 || to == 0) return wires.at(std::max(from, to) - 1).latency;
    return wires.peer_latency(from - 1, to - 1);
  };
  bus.platform = Platform(machine, pageable).xml();
  std::filesystem::create_directories(folder / "bus");
  for (const auto& file : bus_files(bus)) common::write_whole(folder / "bus" / (host + file.ending), file.text);
}

}  // namespace tessera::machine
