/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of processes over time, for Perfetto's heap flame graphs: the sums during the
 * recording, and at the end of each watch the live blocks, as in the report of `kymo leaks`.
 */
#pragma once

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "model/event.h"
#include "writer/fxt/fxt-perfetto-samples.h"

struct perfetto_leaks;

/* SAMPLES interns the stacks, and is borrowed. */
int perfetto_leaks_new(struct perfetto_leaks **ret, struct fxt_perfetto_samples *samples);
struct perfetto_leaks *perfetto_leaks_free(struct perfetto_leaks *p);
DEFINE_CLEANUP(struct perfetto_leaks *, perfetto_leaks_free)

/* Adds an event of any kind. Packets that are due are written to TO. Returns 0 or -ENOMEM. */
int perfetto_leaks_add(struct perfetto_leaks *p, const struct event *ev, struct outbuf *to);

/* Writes the state at the ends of all watches to TO, after the last event. Returns 0 or -ENOMEM. */
int perfetto_leaks_finish(struct perfetto_leaks *p, struct outbuf *to);
