// SPDX-License-Identifier: BSD-3-Clause
// A target with precompiled headers needs a source file.
