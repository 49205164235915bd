/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tfile/tfile-copy.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "cli/common/verb.h"
#include "writer/tfile/tfile-writer.h"

/* The number of frames stands before them, so they are all kept until it is known. */
#define COPY_BYTES_MAX ((size_t)1 << 30)

void tfile_copy_deinit(struct tfile_copy *c)
{
	outbuf_deinit(&c->head);
	outbuf_deinit(&c->frames);
}

void tfile_copy_found(void *userdata, enum tfile_finding_id id, uint64_t offset)
{
	struct tfile_copy *c = userdata;

	(void)offset;
	c->shortened += id == TFILE_FINDING_UNKNOWN_BLOCK;
}

static int tfile_copy_failed(const struct open_trace *t, int e)
{
	switch (e) {
	case -EMSGSIZE:
		return cli_failed("%s: the result would be larger than %s", t->name,
				  TEXT_SIZE(COPY_BYTES_MAX));
	case -EOVERFLOW:
		return cli_failed("%s: a line of it is longer than GDB takes", t->name);
	case -EINVAL:
		return cli_failed("%s: its head is damaged; no file can be made of it", t->name);
	}
	return cli_failed("%s: %s", t->name, strerror(-e));
}

/*
 * Returns 0, 1 at the end of T (also where reading failed: -1), or a negative errno of the writer's
 * to *RET_ERROR.
 */
static int tfile_copy_frames(struct tfile_copy *c, struct open_trace *t, tfile_copy_fn wanted,
			     void *userdata, struct tfile_writer *w)
{
	const struct tfile_frame *frame;
	int r;

	for (uint64_t no = 0; (r = open_trace_next_frame(t, &frame)) > 0; no++) {
		if (wanted && !wanted(userdata, no, frame)) {
			c->left_out++;
			continue;
		}
		r = tfile_writer_frame(w, frame);
		if (r < 0)
			return tfile_copy_failed(t, r);
	}
	return r < 0 ? CLI_FAILED : CLI_OK;
}

int tfile_copy(struct tfile_copy *c, struct open_trace *t, tfile_copy_fn wanted, void *userdata)
{
	struct tfile_head head = *tfile_reader_head(t->frames);
	struct tfile_writer w;
	int r;

	c->frames.limit = COPY_BYTES_MAX;
	tfile_writer_init(&w, &c->frames, head.register_bytes,
			  tfile_reader_is_big_endian(t->frames) ? TFILE_BIG : TFILE_LITTLE);
	r = tfile_copy_frames(c, t, wanted, userdata, &w);
	if (r != CLI_OK)
		return r;
	c->n_frames = w.frames;
	head.status.frames = w.frames;
	head.status.has |= TFILE_HAS_FRAMES;
	head.keep_order = true;
	/* What is left out was not dropped. */
	head.status.created -= c->left_out < head.status.created ? c->left_out : 0;
	r = tfile_writer_end(&w) ?: tfile_writer_head(&c->head, &head);
	return r < 0 ? tfile_copy_failed(t, r) : CLI_OK;
}

void tfile_copy_say_missing(const struct tfile_copy *c, const char *name)
{
	if (c->shortened > 0)
		cli_error("%s: of %" PRIu64 " frame%s a part is missing, which could not be read",
			  name, c->shortened, text_s(c->shortened));
}
