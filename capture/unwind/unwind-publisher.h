/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds tables to the map where eBPF programs find them. The eBPF programs see a new entry at once.
 * But the map is a map of maps, and the kernel lets a thread that changes such a map wait until no
 * eBPF program uses the old entry: 10 to 30 ms. So the threads of a pool wait. Without work, the
 * pool has no threads.
 *
 * One thread may call these functions.
 */
#pragma once

#include <stdint.h>

#include "base/cleanup.h"

struct unwind_publisher;

/* Makes a publisher for the map TABLES_FD (borrowed as long as the publisher exists). */
struct unwind_publisher *unwind_publisher_new(int tables_fd);

/* Discards changes that wait, and waits for changes in progress. Returns NULL. */
struct unwind_publisher *unwind_publisher_free(struct unwind_publisher *p);
DEFINE_CLEANUP(struct unwind_publisher *, unwind_publisher_free)

/*
 * Puts table BLOCKS_FD (takes ownership; -1 = no table) at NUMBER. Two changes of one number have
 * no order, unless unwind_publisher_drain() is called between them. If the kernel refuses a change
 * for lack of memory, the file has no table. Returns 0 or -ENOMEM.
 */
int unwind_publisher_put(struct unwind_publisher *p, uint32_t number, int blocks_fd);

/* Waits until all eBPF programs see only the current tables. */
void unwind_publisher_drain(struct unwind_publisher *p);
