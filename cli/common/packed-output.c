/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/packed-output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "cli/common/verb.h"

int packed_output_open(struct packed_output *o, const struct packed_output_args *args)
{
	int r;

	*o = PACKED_OUTPUT_NULL;
	o->whole = args->whole;
	r = output_file_open(args->path, pack_ops(args->method)->suffix, args->force, &o->file);
	if (r < 0)
		return r;
	for (size_t i = 0; i < args->n_inputs; i++) {
		if (!output_file_is(&o->file, args->inputs[i]))
			continue;
		cli_error("%s is the input; write to another file", o->file.path);
		output_file_deinit(&o->file);
		return -EINVAL;
	}
	output_file_watch_signals(&o->file);
	r = output_file_begin(&o->file);
	if (r == 0) {
		r = pack_init(&o->packer, args->method);
		if (r < 0)
			cli_error("out of memory");
	}
	if (r < 0)
		packed_output_deinit(o);
	return r;
}

int packed_output_open_fd(struct packed_output *o, int fd, const char *name)
{
	*o = PACKED_OUTPUT_NULL;
	o->file.path = strdup(name);
	o->file.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (o->file.path && o->file.fd >= 0)
		return 0;
	cli_error("cannot write %s: %m", name);
	packed_output_deinit(o);
	return -ENOMEM;
}

void packed_output_deinit(struct packed_output *o)
{
	output_file_abandon(&o->file);
	output_file_deinit(&o->file);
	pack_deinit(&o->packer);
	outbuf_deinit(&o->waiting);
	outbuf_deinit(&o->packed);
}

static int packed_output_failed(const struct packed_output *o, int e)
{
	cli_error("cannot write %s: %s%s", o->file.path, strerror(-e), output_file_advice(e));
	return e;
}

static int packed_output_write_all(struct packed_output *o, const uint8_t *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(o->file.fd, data, size);

		if (n < 0 && errno == EAGAIN) {
			struct pollfd p = { .fd = o->file.fd, .events = POLLOUT };

			poll(&p, 1, -1);
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return packed_output_failed(o, -errno);
		data += n;
		size -= (size_t)n;
		o->file_bytes += (uint64_t)n;
	}
	return 0;
}

/* Writes the first block of the waiting data. */
static int packed_output_write_piece(struct packed_output *o)
{
	struct outbuf *b = &o->waiting;
	size_t n = pack_piece_bytes(o->whole, b->data, b->size);
	int r;

	outbuf_reset(&o->packed);
	r = pack_put(&o->packer, b->data, n, &o->packed);
	if (r < 0)
		return packed_output_failed(o, r);
	memmove(b->data, b->data + n, b->size - n);
	b->size -= n;
	return packed_output_write_all(o, o->packed.data, o->packed.size);
}

int packed_output_write(struct packed_output *o, const void *data, size_t n)
{
	const uint8_t *from = data;
	int r = 0;

	o->bytes += n;
	/* Uncompressed data has no blocks. */
	if (!o->packer.state)
		return packed_output_write_all(o, from, n);
	while (r == 0 && n > 0) {
		size_t some = n < PACK_CHUNK_MAX ? n : PACK_CHUNK_MAX;

		if (outbuf_append(&o->waiting, from, some) < 0)
			return packed_output_failed(o, o->waiting.error);
		from += some;
		n -= some;
		/*
		 * More than the maximum size of a block must be waiting, since only then the end of
		 * the block is known.
		 */
		while (r == 0 && o->waiting.size > PACK_CHUNK_MAX)
			r = packed_output_write_piece(o);
	}
	return r;
}

int packed_output_finish(struct packed_output *o)
{
	sigset_t before;
	int r = 0;

	while (r == 0 && o->waiting.size > 0)
		r = packed_output_write_piece(o);
	if (r < 0)
		return r;
	output_file_hold_signals(&before);
	/* Some file systems report a full disk only at this point. */
	if (close(o->file.fd) < 0 && errno != EINTR) {
		r = packed_output_failed(o, -errno);
		output_file_discard(&o->file);
	}
	o->file.fd = -1;
	r = r ?: output_file_keep(&o->file);
	output_file_watch_signals(NULL);
	output_file_admit_signals(&before);
	return r;
}

int packed_output_put(const struct packed_output_args *args, const void *data, size_t n)
{
	struct packed_output o = PACKED_OUTPUT_NULL;
	int r = packed_output_open(&o, args) ?: packed_output_write(&o, data, n)
			?: packed_output_finish(&o);

	packed_output_deinit(&o);
	return r;
}

size_t packed_output_any_bytes(const uint8_t *data, size_t n)
{
	return n;
}
