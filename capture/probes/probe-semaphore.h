/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The semaphores of static probes: counters in the data of a program. While the counter is 0, the
 * program skips the probe and the preparation of its arguments. As long as a tracer has a probe
 * there, the kernel raises the counter in each process that maps the file.
 *
 * The kernel does not check which two bytes of the data it raises. So the offset must come from the
 * file itself.
 */
#pragma once

#include <stdint.h>

#include "capture/probes/elf-image.h"

/*
 * Returns the semaphore of the static probe at VADDR, as an offset in the file; 0 = no static probe
 * is there, or it has no semaphore.
 */
uint64_t probe_semaphore_find(const struct elf_image *image, uint64_t vaddr);
