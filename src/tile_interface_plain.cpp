// SPDX-License-Identifier: BSD-3-Clause
// Without CUDA, or where GPUs are simulated.
#include <starpu.h>

#include "tile_interface.hpp"

namespace tessera::detail::tile_interface {

starpu_data_interface_ops* pinned() { return &starpu_interface_matrix_ops; }
starpu_data_interface_ops* pageable(std::size_t /*column*/) { return &starpu_interface_matrix_ops; }
void start(std::size_t /*pinned_memory*/) {}
void stop() {}

}  // namespace tessera::detail::tile_interface
