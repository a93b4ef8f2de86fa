// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "state.hpp"

/// Workers that join and leave a scheduling context.
namespace tessera::scheduler {

/// Adds a worker, which may have left before.
/// @param node  the memory node where it computes
/// @param cpu   whether it computes on a processor core
void add_worker(State& state, int id, unsigned node, bool cpu);

/// Sets the device that a worker drives. Workers with identical devices share measured times. Otherwise a GPU on which
/// a task happened to be slow would leave such tasks to the others, and never measure them again.
/// @param name  the worker's name, such as "CUDA 0.0 (NVIDIA H200 139.8 GiB 1b:00.0)". The model and the size of the
///              memory identify the device. A worker whose name has another form shares nothing
void set_device(State& state, Worker& worker, std::string_view name);

/// Removes a worker. Its chains lose their home, and its tasks go to other workers.
void remove_worker(State& state, Worker& worker);

/// Gives the tasks of a worker that has left to other workers, except tasks whose tiles the worker's thread is
/// requesting.
void hand_back(State& state, Worker& worker);

/// Places the tasks of the shared queues again. Call this when workers have joined that may be able to execute them.
void place_shared_again(State& state);

/// Whether there are ready tasks that no worker could execute when they were last placed, because their codelet refused
/// all workers.
bool has_refused(const State& state);

constexpr double look_interval = 0.01;  // s

/// Detects workers that have left the context, and places refused tasks again, at most once per `look_interval`. StarPU
/// reports neither that a worker leaves, nor that a codelet changes its answer, so workers without tasks call this.
void look_around(State& state, double now);

}  // namespace tessera::scheduler
