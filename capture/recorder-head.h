/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the heads of all chunks have, and their tails. Internal to recorder*.c.
 */
#pragma once

#include "capture/recorder.h"

/* What heads of chunks say is kept from now on. Returns 0 or -ENOMEM. */
int recorder_will_split(struct recorder *r);

/* Each writes to TO, as of TS_NS, and returns 0 or a negative errno. */
int recorder_write_start(const struct recorder *r, struct fxt_archive *to,
			 const struct session_options *o, uint64_t ts_ns);
int recorder_write_clock(struct fxt_archive *to, uint64_t ts_ns);
int recorder_write_sampling(const struct recorder *r, struct fxt_archive *to,
			    const struct session_options *o, uint64_t ts_ns);
int recorder_write_stop(const struct recorder *r, struct fxt_archive *to, uint64_t ts_ns,
			const struct recorder_end *end);
