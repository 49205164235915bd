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
	uint64_t horizon_ns; /* records of later times stay in their buffers */
	bool is_final;       /* no records are taken after this round */
	/* Bytes that are left in this round, for programs above their share. */
	uint64_t extra_left;
	/* Work of comparisons that is left in this round (provider_program_matches()). */
	uint64_t matching_left;
	uint32_t n_tracks; /* tracks of all programs */
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
	/* Bytes that provider_memory_take() has counted for the buffer; 0 = none. */
	uint64_t buffer_bytes;
	/* Bytes of records that were taken since the horizon was set. */
	uint64_t passed_bytes;
	uint64_t n_lost;     /* losses of this buffer that the archive has */
	uint64_t n_garbage;  /* wrong records of the program that the archive has as lost */
	uint64_t n_outside;  /* records from before the start, or after the end */
	uint64_t checked_ns; /* when losses were last read */
	uint64_t asked_ns;   /* when the filter was last asked, or a session was refused */
	uint64_t started_ns; /* just before START; CLOCK_BOOTTIME, as all these times */
	uint64_t image;      /* provider_image_of() when the session began; 0 = unknown */
	uint64_t image_ns;   /* when the process was last known to execute this program */
	/* When the process was first known to execute another program; 0 = it does not. */
	uint64_t changed_ns;
	/*
	 * Records of later times are garbage: they are from after an exec. UINT64_MAX = no exec is
	 * known; 0 = all are garbage, since the program has not started the session.
	 */
	uint64_t until_ns;
	uint64_t last_bytes; /* bytes that may still be read after the end of the program */
	uint64_t n_late;     /* records after until_ns */
	/*
	 * Records whose categories could not be compared with patterns for lack of `matching_left`.
	 */
	uint64_t n_unmatched;
	struct table categories; /* hash of a name -> whether it is recorded */
	unsigned n_failures;     /* sessions that the program could not start */
	bool is_read;            /* up to the horizon */
	bool is_refused;         /* the program was without a session at least once */
	int error;               /* of the output */
};

/*
 * The maximum work of comparisons in one round, or for one list: about the product of the lengths
 * of names and patterns. Without this maximum, hostile names and patterns would take minutes. A
 * thousand categories with 100 bytes of patterns take a small part of it.
 */
#define PROVIDER_MATCHING_MAX (UINT64_C(16) << 20)

/*
 * Whether one of PATTERNS, which commas separate, matches category NAME of N bytes. Takes the work
 * from *LEFT. If *LEFT is not enough, sets *LEFT to 0 and returns false.
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
