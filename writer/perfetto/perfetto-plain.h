/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events as they are in an archive, with any name and any arguments: those of programs, and those
 * of kymo that have no packet of their own.
 */
#pragma once

#include "writer/perfetto/perfetto-tracks.h"

enum perfetto_plain_form {
	PLAIN_INSTANT,
	PLAIN_BEGIN,
	PLAIN_END,
	PLAIN_COMPLETE,
	PLAIN_COUNTER,
	PLAIN_ASYNC_BEGIN,
	PLAIN_ASYNC_INSTANT,
	PLAIN_ASYNC_END,
	PLAIN_FLOW_BEGIN,
	PLAIN_FLOW_STEP,
	PLAIN_FLOW_END,
	PLAIN_LOG, /* NAME is the line */
};

struct perfetto_plain_arg {
	const char *name;
	enum {
		PLAIN_ARG_INT,
		PLAIN_ARG_UINT,
		PLAIN_ARG_POINTER,
		PLAIN_ARG_BOOL,
		PLAIN_ARG_DOUBLE,
		PLAIN_ARG_TEXT,
	} form;
	union {
		int64_t i64;
		uint64_t u64; /* number or pointer */
		bool yes;
		double f64;
		const char *text;
	};
};

/* Borrows everything. Texts are valid UTF-8. */
struct perfetto_plain {
	enum perfetto_plain_form form;
	uint32_t pid, tid; /* koids */
	uint64_t ts_ns;    /* CLOCK_BOOTTIME */
	uint64_t end_ns;   /* of PLAIN_COMPLETE */
	uint64_t id;       /* id of a counter, async event or flow; otherwise 0 */
	const char *category, *name;
	const struct perfetto_plain_arg *args;
	size_t n_args;
};

/*
 * Writes P to TO. REALTIME_NS is CLOCK_REALTIME - CLOCK_BOOTTIME; 0 = unknown: then log lines
 * become instants on their threads, since Perfetto's table of log lines needs CLOCK_REALTIME.
 * Returns 0 or -ENOMEM.
 */
int perfetto_plain_add(struct perfetto_tracks *t, const struct perfetto_plain *p,
		       uint64_t realtime_ns, struct outbuf *to);
