/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * On-CPU samples as Perfetto packets (PerfSample), the source of flame graphs in its UI. Stacks
 * with which threads left their CPU are not included: Perfetto counts samples and would mix the
 * two.
 *
 * Packets collect in self-contained batches. A batch begins by clearing all interned data, and
 * interns the data that it uses. So tables are bounded, and an archive that is cut, merged or
 * damaged loses only whole batches.
 */
#pragma once

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "model/event.h"

struct fxt_perfetto_samples;

int fxt_perfetto_samples_new(struct fxt_perfetto_samples **ret);
struct fxt_perfetto_samples *fxt_perfetto_samples_free(struct fxt_perfetto_samples *s);
DEFINE_CLEANUP(struct fxt_perfetto_samples *, fxt_perfetto_samples_free)

/*
 * Adds EV, if it is a sample, a mapping (maps.h) or a name of an address (EVENT_FRAME). Mappings
 * and names must precede the samples that need them. Other events are ignored. Returns 0 or
 * -ENOMEM.
 */
int fxt_perfetto_samples_add(struct fxt_perfetto_samples *s, const struct event *ev);

/*
 * Returns the function of frame I of EV, an EVENT_SAMPLE, by the names so far, or "". Of inlined
 * functions, it is the one into which the others were inlined.
 */
const char *fxt_perfetto_samples_function(const struct fxt_perfetto_samples *s,
					  const struct event *ev, unsigned i);

/*
 * Returns the batch, if it is large, or four seconds old in the time of samples; with ALL, all data
 * collected so far. NULL if there is no such batch. It is valid until fxt_perfetto_samples_next().
 */
const struct outbuf *fxt_perfetto_samples_batch(const struct fxt_perfetto_samples *s, bool all);

/*
 * Interns the stack of EV, an EVENT_SAMPLE, for another sequence of packets; NULL = an unknown
 * stack. *RET is its callstack, from 1 on. Equal frames have one callstack, and it keeps its
 * meaning. The InternedData of new ones is added to fxt_perfetto_samples_kept(), which the caller
 * empties when it has written it. Returns 0 or -ENOMEM.
 */
int fxt_perfetto_samples_keep_stack(struct fxt_perfetto_samples *s, const struct event *ev,
				    uint64_t *ret);
struct outbuf *fxt_perfetto_samples_kept(struct fxt_perfetto_samples *s);

/* Begins the next batch. */
void fxt_perfetto_samples_next(struct fxt_perfetto_samples *s);
