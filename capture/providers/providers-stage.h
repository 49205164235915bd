/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the events of programs that use libkymo-provider (docs/architecture/providers.md). Each
 * program has a provider of its own in the archive. The records of a program up to the horizon of a
 * round are written when all records of the kernel up to the horizon are written, so the threads of
 * the program are known.
 */
#pragma once

#include "capture/providers/provider-program.h"
#include "capture/stages/stage.h"

/* The user of a session. */
struct providers_owner {
	uint32_t uid;
	/* Whether the session can have BYTES more for buffers. NULL = always. */
	bool (*has_room)(void *userdata, uint64_t bytes);
	void *userdata;
};

/* Readers have room for 256 providers, so ids of ended programs are used again. */
enum { PROVIDERS_MAX = PROVIDER_LINKS_MAX + 64 };

struct providers_stage {
	struct provider_listener listener;
	struct providers_owner owner;
	struct provider_program *programs[PROVIDERS_MAX]; /* by the ids of their providers */
	/* Places that were tried so far for new programs; the next place is tried first. */
	unsigned n_met;
	size_t first; /* the place of the program that is first in this round */
	/*
	 * The place after the first program, from `first` on, that had more than its share; 0 =
	 * none.
	 */
	size_t taker;
	char *patterns; /* owned; context.patterns */
	struct provider_context context;
	struct provider_buffer_options buffer; /* of each program */
	bool begun;
	unsigned n_asks;    /* questions to the filter in this round */
	size_t next_link;   /* the place of the first link that was not asked about */
	uint64_t n_events;  /* records that were written */
	uint64_t n_refused; /* programs that were without a session for a time, or could not
			       start one */
	int error;
};

/* The records of one program in a session. */
struct providers_figures {
	uint64_t written, lost;
};

/* PIPE is the pipeline of the recorder. */
void providers_stage_init(struct providers_stage *s, const struct pipeline *pipe);

/*
 * Records programs that connect to LINKS, which must stay until providers_stage_leave(). The
 * session belongs to OWNER.
 */
void providers_stage_set_links(struct providers_stage *s, struct provider_links *links,
			       const struct providers_owner *owner);

/* Leaves all programs. */
void providers_stage_leave(struct providers_stage *s);

/* Bytes of all buffers. */
uint64_t providers_stage_bytes(const struct providers_stage *s);

/*
 * Whether the session records the program of the link NUMBER; *RET has its records so far.
 */
bool providers_stage_figures(const struct providers_stage *s, uint64_t number,
			     struct providers_figures *ret);

/*
 * Whether the session records category NAME of programs, as far as LEFT allows
 * (provider_program_matches()).
 */
bool providers_stage_has_category(const struct providers_stage *s, const char *name,
				  uint64_t *left);

extern const struct stage providers_stage;
