/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processes are watched (capture/heap/memory.h): those that the filter selects, or those that grow (capture/heap/triage.h).
 */
#pragma once

#include <stdint.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "capture/programs/collector.h"
#include "capture/heap/memory.h"
#include "capture/options/options.h"

struct watching;

/* TASKS, struct rec_task, are those that live; OPTIONS and COLLECTOR are borrowed, SINK is copied. Takes its time. Returns 0 or a negative errno. */
int watching_new(const struct session_options *options, struct collector *collector,
		 const struct memory_sink *sink, const struct outbuf *tasks, struct watching **ret);

/* Detaches what is attached. Returns NULL. */
struct watching *watching_free(struct watching *w);

DEFINE_CLEANUP(struct watching *, watching_free)

/* Those that are watched; borrowed. */
struct memory *watching_memory(const struct watching *w);

/* Watches whoever has come, or has grown, and no longer who has not. To be called when memory_fd() is readable, and at times. */
void watching_attend(struct watching *w);

/* When watching_attend() or memory_tick() is to be called again: CLOCK_MONOTONIC. */
uint64_t watching_next_ns(const struct watching *w);
