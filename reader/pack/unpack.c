/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/pack/unpack.h"

#include <errno.h>
#include <string.h>

#include "reader/pack/unpack-method.h"

/* ---- not packed ---- */

static ssize_t read_plain(void *state, struct unpack *u, uint8_t *to, size_t n)
{
	(void)state;
	return input_read(&u->input, to, n);
}

static const struct unpack_ops plain_ops = { .read = read_plain };

/* ---- the unpacker ---- */

static bool starts_with(const struct input *in, const char *magic)
{
	size_t n = strlen(magic);

	return input_ready(in) >= n && memcmp(input_peek(in), magic, n) == 0;
}

bool unpack_at_zstd_frame(const struct input *in)
{
	const uint8_t *p = input_peek(in);

	if (starts_with(in, PACK_MAGIC_ZSTD))
		return true;
	return input_ready(in) >= PACK_MAGIC_BYTES_MAX &&
	       (p[0] & PACK_MAGIC_ZSTD_SKIP_MASK) == (uint8_t)PACK_MAGIC_ZSTD_SKIP[0] &&
	       memcmp(p + 1, &PACK_MAGIC_ZSTD_SKIP[1], PACK_MAGIC_BYTES_MAX - 1) == 0;
}

static enum pack_method detect(const struct input *in)
{
	if (starts_with(in, PACK_MAGIC_SNAPPY))
		return PACK_SNAPPY;
	if (unpack_at_zstd_frame(in))
		return PACK_ZSTD;
	if (starts_with(in, PACK_MAGIC_GZIP))
		return PACK_GZIP;
	return PACK_NONE;
}

/* Looks at the first bytes, once it is known where from. */
static int start(struct unpack *u)
{
	static const struct unpack_ops *const rows[PACK_METHOD_MAX] = {
		[PACK_NONE] = &plain_ops,
		[PACK_SNAPPY] = &unpack_snappy_ops,
		[PACK_ZSTD] = &unpack_zstd_ops,
		[PACK_GZIP] = &unpack_gzip_ops,
	};
	int r = input_need(&u->input, PACK_MAGIC_BYTES_MAX);

	if (r < 0)
		return r;
	u->method = detect(&u->input);
	u->ops = rows[u->method];
	if (!u->ops->create)
		return 0;
	u->state = u->ops->create();
	return u->state ? 0 : -ENOMEM;
}

int unpack_new_fd(struct unpack **ret, int fd)
{
	_cleanup_(unpack_freep) struct unpack *u = calloc(1, sizeof(*u));
	int r = u ? input_init_fd(&u->input, fd) : -ENOMEM;

	if (r == 0)
		r = start(u);
	if (r == 0)
		*ret = TAKE_PTR(u);
	return r;
}

int unpack_new_memory(struct unpack **ret, const void *p, size_t n)
{
	_cleanup_(unpack_freep) struct unpack *u = calloc(1, sizeof(*u));
	int r = u ? input_init_memory(&u->input, p, n) : -ENOMEM;

	if (r == 0)
		r = start(u);
	if (r == 0)
		*ret = TAKE_PTR(u);
	return r;
}

struct unpack *unpack_free(struct unpack *u)
{
	if (!u)
		return NULL;
	if (u->state)
		u->ops->destroy(u->state);
	input_deinit(&u->input);
	free(u);
	return NULL;
}

enum pack_method unpack_method(const struct unpack *u)
{
	return u->method;
}

int unpack_give_up(struct unpack *u, bool cut, const char *what)
{
	u->damage = (struct unpack_damage){
		.what = what,
		.cut = cut,
		.packed_offset = u->piece_offset,
		.unpacked_offset = u->given,
	};
	return -EBADMSG;
}

ssize_t unpack_read(struct unpack *u, void *to, size_t n)
{
	ssize_t got;

	if (n == 0 || u->damage.what)
		return 0;
	got = u->ops->read(u->state, u, to, n);
	if (got > 0)
		u->given += (uint64_t)got;
	return got == -EBADMSG && u->damage.what ? 0 : got;
}

const struct unpack_damage *unpack_damage(const struct unpack *u)
{
	return u->damage.what ? &u->damage : NULL;
}
