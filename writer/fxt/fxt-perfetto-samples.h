/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * On-CPU samples as Perfetto packets (PerfSample), from which Perfetto's UI makes flame graphs.
 * Stacks of times off CPU are left out: Perfetto counts samples, and would add both kinds up.
 *
 * Packets collect in self-contained batches. A batch first clears all interned data, and then
 * interns the data that it uses itself. So tables are bounded, and a cut, a merge or damage of an
 * archive only costs whole batches.
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
 * Returns the function of frame I of EV, an EVENT_SAMPLE, by the names so far; "" = unknown. If
 * functions are inlined there, returns the outermost one.
 */
const char *fxt_perfetto_samples_function(const struct fxt_perfetto_samples *s,
					  const struct event *ev, unsigned i);

/*
 * Returns the batch if it is due (it is large, or has samples of four seconds) or if ALL is set;
 * NULL = it is not due, or is empty. It is valid until fxt_perfetto_samples_next().
 */
const struct outbuf *fxt_perfetto_samples_batch(const struct fxt_perfetto_samples *s, bool all);

/*
 * Interns the stack of EV, an EVENT_SAMPLE, for another sequence of packets; EV NULL = an unknown
 * stack. *RET is the iid of its callstack, from 1. Stacks with equal frames have the same
 * callstack, and its iid never changes its meaning. The InternedData of new callstacks is added to
 * fxt_perfetto_samples_kept(); the caller writes this buffer and empties it. Returns 0 or -ENOMEM.
 */
int fxt_perfetto_samples_keep_stack(struct fxt_perfetto_samples *s, const struct event *ev,
				    uint64_t *ret);
struct outbuf *fxt_perfetto_samples_kept(struct fxt_perfetto_samples *s);

/* Begins the next batch. */
void fxt_perfetto_samples_next(struct fxt_perfetto_samples *s);
