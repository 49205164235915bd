/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record of an archive as an event for Perfetto, with its own name and arguments.
 */
#pragma once

#include "base/outbuf.h"
#include "reader/fxt/fxt-reader.h"
#include "writer/perfetto/perfetto-plain.h"

enum { PERFETTO_RECORD_ARGS = 15 };

struct perfetto_record {
	struct outbuf texts;
	char *next; /* free room in `texts` */
	struct perfetto_plain_arg args[PERFETTO_RECORD_ARGS];
};

void perfetto_record_deinit(struct perfetto_record *r);

/*
 * Makes *RET from RECORD; *RET is valid until the next call. Returns 1; 0 if RECORD is no event, or
 * cannot be shown; or -ENOMEM.
 */
int perfetto_record_get(struct perfetto_record *r, const struct fxt_record *record,
			struct perfetto_plain *ret);
