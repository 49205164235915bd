/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An archive as a native Perfetto trace, for `kymo export` and `kymo open`.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cli/common/open-trace.h"

/* Writes N bytes. Returns CLI_OK, or CLI_FAILED after an error message. */
typedef int (*perfetto_trace_put_fn)(void *userdata, const void *p, size_t n);

/*
 * Reads T to its end, and writes its events. *RET_LEFT_OUT is the number of events that Perfetto
 * cannot show. Returns CLI_OK, or CLI_FAILED after an error message.
 */
int perfetto_trace(struct open_trace *t, perfetto_trace_put_fn put, void *userdata,
		   uint64_t *ret_left_out);

/* Prints a message about N_LEFT_OUT, and returns CLI_DAMAGE. If N_LEFT_OUT is 0, returns STATUS. */
int perfetto_trace_complain(const struct open_trace *t, uint64_t n_left_out, int status);
