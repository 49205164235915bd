/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a child that is no program of its own gives back of what came with the fork.
 */
#pragma once

/*
 * Memory that is shared: rings of collectors, which stay in the kernel as long as anybody has them.
 * Returns 0 or a negative errno.
 */
int after_fork_unmap_shared(void);
