/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the events of programs that use libkymo-provider (docs/architecture/providers.md). Each
 * program has a provider of its own in the archive. Its records up to the horizon of a round are
 * written when all records of the kernel up to the horizon are written, so the threads of the
 * program are known.
 */
#pragma once

#include "capture/providers/provider-program.h"
#include "capture/stages/stage.h"

struct providers_stage {
	struct provider_links *links; /* owned; NULL = programs are not recorded */
	char *patterns;               /* owned; context.patterns */
	struct provider_context context;
	struct provider_buffer_options buffer; /* of each program */
	bool begun;
	uint64_t last_session;  /* the number of the last session of any program */
	uint32_t last_provider; /* the id of the last provider */
	size_t first;           /* the place of the link that is first in this round */
	size_t taker; /* the place behind the first program above its share in this round; 0 = none
		       */
	uint64_t buffers_bytes; /* size of all buffers */
	uint64_t n_events;      /* records that were written */
	uint64_t n_refused;     /* programs that were without a session for a time, or could not
				   start one */
	int error;
};

/* PIPE is that of the recorder. */
void providers_stage_init(struct providers_stage *s, const struct pipeline *pipe);

/* Records programs that connect to LINKS, which is then owned by S. */
void providers_stage_set_links(struct providers_stage *s, struct provider_links *links);

/* Accepts programs and starts their sessions, between two rounds. */
void providers_stage_serve(struct providers_stage *s);

extern const struct stage providers_stage;
