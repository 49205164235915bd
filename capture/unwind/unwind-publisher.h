/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds tables to the map where programs find them. Programs see a new entry at once. But the kernel
 * lets the thread that changes such a map (a map of maps) wait until no program has the old entry:
 * 10 to 30 ms. So the threads of a pool wait. Without work, the pool has no threads.
 *
 * For one thread.
 */
#pragma once

#include <stdint.h>

#include "base/cleanup.h"

struct unwind_publisher;

/* For the map TABLES_FD (borrowed, for as long as the publisher lives). */
struct unwind_publisher *unwind_publisher_new(int tables_fd);

/* Discards waiting changes, and waits for those in progress. Returns NULL. */
struct unwind_publisher *unwind_publisher_free(struct unwind_publisher *p);
DEFINE_CLEANUP(struct unwind_publisher *, unwind_publisher_free)

/*
 * Puts table BLOCKS_FD (takes ownership; -1: none) at NUMBER. Two changes of one number are
 * unordered, unless unwind_publisher_drain() is called between them. A change that the kernel
 * refuses for lack of memory is lost: the file has no table. Returns 0 or -ENOMEM.
 */
int unwind_publisher_put(struct unwind_publisher *p, uint32_t number, int blocks_fd);

/* Waits until all programs see only the current tables. */
void unwind_publisher_drain(struct unwind_publisher *p);
