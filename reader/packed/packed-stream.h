/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The decompressed data of a trace as a stream. The trace can also be uncompressed. The first bytes
 * of the stream can be inspected. Damage of the container and of the archive at one place is
 * reported once (docs/architecture/damage.md).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/input.h"
#include "reader/fxt/fxt-reader.h"
#include "reader/pack/unpack.h"

struct packed_stream {
	struct unpack *unpack;
	struct input head; /* decompressed data that was not consumed */
	bool damaged;      /* the container has damage that was not taken */
	char text[256];    /* text of the damage that was taken last */
};

/*
 * Start to read from FD, or from N bytes at P, both borrowed, like unpack_new_fd_detecting()
 * (DETECT can be NULL). *S must not be moved. Return 0 or a negative errno; S must be deinitialised
 * in any case.
 */
int packed_stream_init_fd(struct packed_stream *s, int fd, unpack_detect_fn detect);
int packed_stream_init_memory(struct packed_stream *s, const void *p, size_t n,
			      unpack_detect_fn detect);

void packed_stream_deinit(struct packed_stream *s);

/* An input_read_fn for the reader of an archive. */
ssize_t packed_stream_read(void *stream, void *to, size_t n);

/*
 * An input_read_fn for readers that cannot continue after a gap: the stream ends at the first one.
 */
ssize_t packed_stream_read_to_gap(void *stream, void *to, size_t n);

/*
 * Returns true if P begins an archive: it has the first half of the magic number, in either byte
 * order.
 */
bool packed_stream_is_archive(const uint8_t *p, size_t n);

/*
 * READER reads from S. Returns its next record, like fxt_reader_next(). With FXT_READER_DAMAGE,
 * *RET_DAMAGE is set. Data that could not be decompressed is reported as damage, once, at the place
 * where it is missing.
 */
int packed_stream_next_record(struct packed_stream *s, struct fxt_reader *reader,
			      const struct fxt_record **ret, struct fxt_damage *ret_damage);
