/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The semaphores of static probes: counters in the data of a program. While the counter is 0, the
 * program skips the probe and the work for its arguments. The kernel raises it in each process that
 * has the file mapped, as long as there is a probe.
 *
 * The kernel would raise any two bytes of the data. So only the file itself says where they are.
 */
#pragma once

#include <stdint.h>

#include "capture/probes/elf-image.h"

/*
 * The semaphore of the static probe at VADDR, as an offset in the file; 0 = there is no such probe,
 * or it has none.
 */
uint64_t probe_semaphore_find(const struct elf_image *image, uint64_t vaddr);
