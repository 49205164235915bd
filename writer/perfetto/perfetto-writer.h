/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A native Perfetto trace: packets for the events of an archive (docs/architecture/perfetto.md).
 */
#pragma once

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "model/event.h"
#include "writer/perfetto/perfetto-plain.h"

struct perfetto_writer;

int perfetto_writer_new(struct perfetto_writer **ret);
struct perfetto_writer *perfetto_writer_free(struct perfetto_writer *w);
DEFINE_CLEANUP(struct perfetto_writer *, perfetto_writer_free)

/* Adds EV. Kinds that perfetto.md does not list are ignored. Returns 0 or -ENOMEM. */
int perfetto_writer_add(struct perfetto_writer *w, const struct event *ev);

/* Adds P, an event without a packet of its own. Returns 0 or -ENOMEM. */
int perfetto_writer_add_plain(struct perfetto_writer *w, const struct perfetto_plain *p);

/*
 * Adds the reason of the wait whose stack is EV, an EVENT_SAMPLE of SAMPLE_OFF_CPU. FUNCTIONS are
 * the names of its N_FUNCTIONS innermost kernel frames, innermost first; unknown names are "".
 * Nothing is added if no function shows the reason and the thread does not wait for I/O, or if the
 * switch is unknown. Returns 0 or -ENOMEM.
 */
int perfetto_writer_add_wait(struct perfetto_writer *w, const struct event *ev,
			     const char *const *functions, size_t n_functions);

/* Returns the CPU on which TID runs after the last event, or ran last; 0 = unknown. */
uint32_t perfetto_writer_cpu_of(const struct perfetto_writer *w, uint32_t tid);

/* Returns the number of events that were left out: those of CPUs from 1024 on. */
uint64_t perfetto_writer_left_out(const struct perfetto_writer *w);

/* Writes the packets that were held back for more events of their kind. Returns 0 or -ENOMEM. */
int perfetto_writer_flush(struct perfetto_writer *w);

/* Returns the buffer of the finished packets; the caller writes and empties it (outbuf_reset()). */
struct outbuf *perfetto_writer_packets(struct perfetto_writer *w);
