/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An archive that is being written, for tests of what events become.
 */
#pragma once

#include "base/outbuf.h"
#include "writer/fxt/fxt-archive.h"

struct fixture {
	struct outbuf out;
	struct fxt_archive a;
};

/* Set up and tear down a struct fixture of EVENT_SET_CPUS CPUs, begun, for cmocka. */
int archive_set_up(void **state);
int archive_tear_down(void **state);

/* Writes N events; the test fails if one is refused. */
void archive_write(struct fixture *f, const struct event *events, size_t n);

/* An EVENT_START; F: with a filter. */
#define START_EVENT(f)                                                                             \
	{                                                                                          \
		.kind = EVENT_START, .ts_ns = 5, .start = {                                        \
			.session = "s",                                                            \
			.command = "c",                                                            \
			.options = "o",                                                            \
			.kernel = "6.1.0",                                                         \
			.machine = "x86_64",                                                       \
			.host = "h",                                                               \
			.version = "v",                                                            \
			.n_cpus = 4,                                                               \
			.filtered = (f)                                                            \
		}                                                                                  \
	}
