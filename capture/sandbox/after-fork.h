/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The resources that a forked child without exec releases.
 */
#pragma once

/*
 * Unmaps shared memory: rings of collectors, which stay in the kernel as long as a process maps
 * them. Returns 0 or a negative errno.
 */
int after_fork_unmap_shared(void);
