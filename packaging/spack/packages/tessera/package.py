# SPDX-License-Identifier: BSD-3-Clause
from spack.package import *


class Tessera(CMakePackage, CudaPackage):
    """Level-3 BLAS over all GPUs of a machine, or all its cores, on StarPU."""

    # There is no release to download yet. In the folder of the sources:
    #   spack repo add packaging/spack && spack dev-build tessera@0.1.0 +cuda cuda_arch=90
    version("0.1.0")

    variant("mpi", default=True, description="Matrices over many processes")
    variant("opencl", default=False, description="GPUs without CUDA")
    variant("tools", default=True, description="Programs that measure, explain and show what there is")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")  # makes the Fortran module and the manual pages
    depends_on("googletest@1.12:", type="test")

    depends_on("starpu@1.4: +fxt ~cuda", when="~cuda")
    depends_on("starpu@1.4: +fxt +cuda", when="+cuda")
    depends_on("starpu +mpi", when="+mpi")
    depends_on("mpi", when="+mpi")
    depends_on("cuda@11.8:", when="+cuda")
    with when("+opencl"):
        depends_on("starpu +opencl")
        depends_on("opencl@1.2:")
        depends_on("clblast")
    depends_on("hwloc@2:")
    depends_on("openblas")
    depends_on("nlohmann-json@3:", type="build")
    with when("+tools"):
        depends_on("cli11@2:", type="build")
        depends_on("fmt@9:", type="build")
        depends_on("cairo +svg")

    conflicts("^openblas threads=none", msg="several threads of Tessera call OpenBLAS at the same time")
    conflicts("%gcc@:10", msg="Tessera is written in C++20")
    conflicts("cuda_arch=none", when="+cuda", msg="cuda_arch says for which GPUs to compile, for example 90")

    def cmake_args(self):
        cuda = "+cuda" in self.spec
        args = [
            self.define("TESSERA_CUDA", "ON" if cuda else "OFF"),
            self.define("TESSERA_MPI", "ON" if "+mpi" in self.spec else "OFF"),
            self.define("TESSERA_OPENCL", "ON" if "+opencl" in self.spec else "OFF"),
            self.define_from_variant("TESSERA_TOOLS", "tools"),
            self.define("TESSERA_EXAMPLES", False),
            self.define("TESSERA_TESTS", self.run_tests),
            self.define("TESSERA_INSTALL_STARPU", False),  # Spack's StarPU is not copied
            self.define("TESSERA_SIMULATION_BUILD", ""),
        ]
        if cuda:
            args.append(self.define("TESSERA_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args
