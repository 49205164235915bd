/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that writes events: its buffer, and its provider in the archive.
 */
#pragma once

#include "capture/providers/provider-buffer.h"
#include "capture/providers/provider-links.h"
#include "capture/providers/provider-records.h"
#include "capture/providers/provider-threads.h"
#include "capture/providers/provider-ticks.h"
#include "capture/stages/pipeline.h"

/* Shared by all programs of a recording. */
struct provider_context {
	const struct pipeline *pipe;
	struct provider_links *links; /* borrowed; NULL = programs are not recorded */
	const char *patterns;         /* of the categories that are recorded, separated by commas */
	bool all_categories;
	enum provider_clock clock;
	struct provider_ticks ticks;
	uint64_t horizon_ns;    /* records of later times stay in their buffers */
	bool is_final;          /* no records are taken after this round */
	uint64_t extra_left;    /* bytes of this round, for programs above their share */
	uint64_t matching_left; /* of this round, for categories (provider_program_matches()) */
	uint32_t n_tracks;      /* of all programs */
};

struct provider_program {
	struct provider_context *context;
	struct provider_link *link; /* kept */
	struct provider_seat *seat; /* of LINK; NULL = no session was asked for */
	uint32_t id;                /* of its provider */
	struct provider_threads threads;
	struct table tracks; /* number of a track in the program + 1 -> koid */
	struct provider_records *records;
	struct provider_buffer *buffer; /* NULL = it has no session */
	uint64_t buffer_bytes;          /* 0 = none is counted */
	uint64_t passed_bytes;          /* of the buffer, since the horizon was set */
	uint64_t n_lost;                /* losses that the archive has; of this buffer */
	uint64_t n_garbage;  /* wrong records that the archive has as lost; of the program */
	uint64_t n_outside;  /* records from before the start, or after the end */
	uint64_t checked_ns; /* when losses were last read */
	uint64_t asked_ns;   /* when the filter was last asked, or a session was refused */
	uint64_t started_ns; /* just before START; CLOCK_BOOTTIME, as all these times */
	uint64_t image;      /* provider_image_of() when the session began; 0 = unknown */
	uint64_t image_ns;   /* when the process was last known to execute this program */
	uint64_t changed_ns; /* when it was first known to execute another one; 0 = it does not */
	/* Records of later times are garbage: those after an exec; 0 = it has not started. */
	uint64_t until_ns;
	uint64_t last_bytes;     /* bytes that are still read when the program has ended */
	uint64_t n_late;         /* records after until_ns */
	uint64_t n_unmatched;    /* records whose categories could not be compared with patterns */
	struct table categories; /* hash of a name -> whether it is recorded */
	unsigned n_failures;     /* sessions that the program could not start */
	bool is_read;            /* up to the horizon */
	bool is_refused;         /* it was without a session at least once */
	int error;               /* of the output */
};

/*
 * The work of comparisons in one round, or for one list: about the product of the lengths of names
 * and patterns. Hostile ones would take minutes. Those of a thousand categories with 100 bytes of
 * patterns take a small part of it.
 */
#define PROVIDER_MATCHING_MAX (UINT64_C(16) << 20)

/*
 * Whether one of PATTERNS, which commas separate, matches category NAME of N bytes. Takes the work
 * from *LEFT. If that is not enough, *LEFT is 0, and the result is false.
 */
bool provider_program_matches(const char *patterns, const char *name, size_t n, uint64_t *left);

/*
 * Makes the program of LINK, whose name is known; ID is its provider's. Returns 0 or a negative
 * errno.
 */
int provider_program_new(struct provider_program **ret, struct provider_context *context,
			 struct provider_link *link, uint32_t id);
struct provider_program *provider_program_free(struct provider_program *p);
DEFINE_CLEANUP(struct provider_program *, provider_program_free)

/*
 * Makes a buffer, just before START is sent. Returns 0, -ENOBUFS if too much memory is used
 * already, or another negative errno.
 */
int provider_program_begin(struct provider_program *p, const struct provider_buffer_options *o);

/*
 * The process has executed another program at NS. Records of later times are garbage. The session
 * ends when all earlier records are written.
 */
void provider_program_executed(struct provider_program *p, uint64_t ns);

/*
 * Looks whether the process executes another program now. To be called in each round, after its
 * horizon is set, since this needs no record of the exec.
 */
void provider_program_look(struct provider_program *p);

/*
 * Writes the records up to the horizon, and losses. The archive is then in any section. Returns 0,
 * 1 if the archive's buffer is full, or a negative errno.
 */
int provider_program_read(struct provider_program *p);

/* Whether the session is over since the process has executed another program. */
static inline bool provider_program_has_executed(const struct provider_program *p)
{
	return p->until_ns != UINT64_MAX && p->until_ns != 0;
}

/* Frees the buffer, and leaves the seat, because the program or the recording has ended. */
void provider_program_end(struct provider_program *p);
