/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On-CPU samples as Perfetto packets (PerfSample), which is where its UI takes flame graphs from.
 * Stacks with which threads left their CPU are none of its samples: Perfetto counts samples and
 * would mix the two.
 *
 * Packets collect in batches. Each batch stands for itself: it begins by forgetting all that was
 * interned before it, and interns anew what it uses. So tables are bounded, and an archive
 * that is cut, merged or damaged loses whole batches and nothing else.
 */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "writer/event.h"

struct fxt_perfetto_samples;

int fxt_perfetto_samples_new(struct fxt_perfetto_samples **ret);
struct fxt_perfetto_samples *fxt_perfetto_samples_free(struct fxt_perfetto_samples *s);
DEFINE_CLEANUP(struct fxt_perfetto_samples *, fxt_perfetto_samples_free)

/*
 * Takes EV in: samples, and what says where code is mapped (maps.h) and what it is called
 * (EVENT_FRAME), which are to come before the samples that need them. What is of no use here is
 * passed over. Returns 0 or -ENOMEM.
 */
int fxt_perfetto_samples_add(struct fxt_perfetto_samples *s, const struct event *ev);

/*
 * The batch, once it is large or four seconds old by the time of samples; with ALL, whatever has
 * collected. NULL if there is nothing yet. It stays until fxt_perfetto_samples_next().
 */
const struct outbuf *fxt_perfetto_samples_batch(const struct fxt_perfetto_samples *s, bool all);

/* Begins the next batch. */
void fxt_perfetto_samples_next(struct fxt_perfetto_samples *s);
