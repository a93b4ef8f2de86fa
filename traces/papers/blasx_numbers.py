# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of BLASX's paper (Wang et al., 2016)."""

# The paper's Table III: mean parallel efficiency of BLASX, and of the best other library [%].
EFFICIENCY = {
    "gemm": (93.53, "PaRSEC 92.85"),
    "symm": (90.36, "XT 57.96"),
    "trmm": (88.99, "XT 82.11"),
    "trsm": (81.58, "MAGMA 77.3"),
    "syr2k": (85.54, "MAGMA 79.58"),
    "syrk": (85.54, "XT 64.21"),
}
# The paper's Table V: megabytes from and to the host, and from and to a peer, of GPU 1 to 3.
BLASX_HOST = {
    "gemm": (6895, 4768, 4462),
    "symm": (5628, 5318, 3758),
    "trmm": (4966, 4353, 2365),
    "trsm": (2751, 4622, 2575),
    "syr2k": (7281, 5905, 2969),
    "syrk": (4278, 3410, 2536),
}
BLASX_PEER = {
    "gemm": (0, 1811, 721),
    "symm": (0, 1249, 343),
    "trmm": (0, 1694, 327),
    "trsm": (0, 981, 300),
    "syr2k": (0, 2231, 1308),
    "syrk": (0, 1363, 1213),
}
OTHERS_HOST = {
    "gemm": {"XT": (24528, 24243, 24243), "PaRSEC": (7563, 7160, 6160)},
    "symm": {"XT": (18865, 18865, 18102)},
    "trmm": {"XT": (8885, 2020, 8922)},
    "trsm": {"XT": (12985, 12792, 12876), "MAGMA": (15130, 2768, 1587)},
    "syr2k": {"XT": (15910, 15910, 15900), "MAGMA": (5738, 5720, 5720)},
    "syrk": {"XT": (12314, 12834, 11492)},
}
# The paper's Table I: share of GEMM tasks [%] at N = 5K, 10K, 20K.
GEMM_SHARE = {
    "syrk": (74.5, 86.3, 92.8),
    "trsm": (68.5, 80.4, 89),
    "trmm": (69, 81.5, 92.8),
    "syr2k": (74.4, 85.4, 92.9),
    "symm": (71.7, 84.9, 92.1),
}
