/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/pack/unpack.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader/pack/unpack-method.h"

enum { FIRST_ROOM = 128 * 1024 };

/* ---- the input ---- */

static ssize_t get(struct unpack_input *in, void *to, size_t room)
{
	ssize_t n;

	if (in->fd < 0) {
		n = (ssize_t)(room < in->memory_left ? room : in->memory_left);
		if (n > 0)
			memcpy(to, in->memory, (size_t)n);
		in->memory += n;
		in->memory_left -= (size_t)n;
		return n;
	}
	do
		n = read(in->fd, to, room);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static int make_room(struct unpack_input *in)
{
	uint8_t *data;

	memmove(in->data, in->data + in->begin, in->end - in->begin);
	in->end -= in->begin;
	in->begin = 0;
	if (in->end < in->room)
		return 0;
	data = realloc(in->data, 2 * in->room);
	if (!data)
		return -ENOMEM;
	in->data = data;
	in->room *= 2;
	return 0;
}

int unpack_need(struct unpack_input *in, size_t n)
{
	while (unpack_ready(in) < n) {
		ssize_t got;

		if (in->eof)
			return 0;
		if (in->end == in->room || in->begin + n > in->room) {
			int r = make_room(in);

			if (r < 0)
				return r;
		}
		got = get(in, in->data + in->end, in->room - in->end);
		if (got < 0)
			return (int)got;
		in->eof = got == 0;
		in->end += (size_t)got;
	}
	return 1;
}

/* ---- not packed ---- */

static ssize_t read_plain(void *state, struct unpack *u, uint8_t *to, size_t n)
{
	struct unpack_input *in = &u->input;
	size_t ready = unpack_ready(in);

	(void)state;
	if (ready == 0)
		return in->eof ? 0 : get(in, to, n);
	if (n > ready)
		n = ready;
	memcpy(to, unpack_peek(in), n);
	unpack_take(in, n);
	return (ssize_t)n;
}

static const struct unpack_ops plain_ops = { .read = read_plain };

/* ---- the unpacker ---- */

static bool starts_with(const struct unpack_input *in, const char *magic)
{
	size_t n = strlen(magic);

	return unpack_ready(in) >= n && memcmp(unpack_peek(in), magic, n) == 0;
}

bool unpack_at_zstd_frame(const struct unpack_input *in)
{
	const uint8_t *p = unpack_peek(in);

	if (starts_with(in, PACK_MAGIC_ZSTD))
		return true;
	return unpack_ready(in) >= PACK_MAGIC_BYTES_MAX &&
	       (p[0] & PACK_MAGIC_ZSTD_SKIP_MASK) == (uint8_t)PACK_MAGIC_ZSTD_SKIP[0] &&
	       memcmp(p + 1, &PACK_MAGIC_ZSTD_SKIP[1], PACK_MAGIC_BYTES_MAX - 1) == 0;
}

static enum pack_method detect(const struct unpack_input *in)
{
	if (starts_with(in, PACK_MAGIC_SNAPPY))
		return PACK_SNAPPY;
	if (unpack_at_zstd_frame(in))
		return PACK_ZSTD;
	if (starts_with(in, PACK_MAGIC_GZIP))
		return PACK_GZIP;
	return PACK_NONE;
}

static int make(struct unpack **ret, const struct unpack_input *input)
{
	static const struct unpack_ops *const rows[PACK_METHOD_MAX] = {
		[PACK_NONE] = &plain_ops,
		[PACK_SNAPPY] = &unpack_snappy_ops,
		[PACK_ZSTD] = &unpack_zstd_ops,
		[PACK_GZIP] = &unpack_gzip_ops,
	};
	_cleanup_(unpack_freep) struct unpack *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return -ENOMEM;
	u->ops = &plain_ops;
	u->input = *input;
	u->input.room = FIRST_ROOM;
	u->input.data = malloc(FIRST_ROOM);
	if (!u->input.data)
		return -ENOMEM;
	r = unpack_need(&u->input, PACK_MAGIC_BYTES_MAX);
	if (r < 0)
		return r;
	u->method = detect(&u->input);
	u->ops = rows[u->method];
	if (u->ops->create) {
		u->state = u->ops->create();
		if (!u->state)
			return -ENOMEM;
	}
	*ret = TAKE_PTR(u);
	return 0;
}

int unpack_new_fd(struct unpack **ret, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return make(ret, &(struct unpack_input){ .fd = fd });
}

int unpack_new_memory(struct unpack **ret, const void *p, size_t n)
{
	return make(ret, &(struct unpack_input){ .fd = -1, .memory = p, .memory_left = n });
}

struct unpack *unpack_free(struct unpack *u)
{
	if (!u)
		return NULL;
	if (u->state)
		u->ops->destroy(u->state);
	free(u->input.data);
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
