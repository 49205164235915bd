/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/pack/pack.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static const struct pack_ops none_ops = { .name = "", .suffix = "" };
static const struct pack_ops brotli_ops = { .name = "brotli", .suffix = "" };

const struct pack_ops *pack_ops(enum pack_method method)
{
	static const struct pack_ops *const rows[PACK_READ_MAX] = {
		[PACK_NONE] = &none_ops,
		[PACK_SNAPPY] = &pack_snappy_ops,
		[PACK_ZSTD] = &pack_zstd_ops,
		[PACK_GZIP] = &pack_gzip_ops,
		[PACK_COLUMNS] = &pack_columns_ops,
		[PACK_BROTLI] = &brotli_ops,
	};

	assert(method < PACK_READ_MAX);
	return rows[method];
}

int pack_parse(const char *name, enum pack_method *ret)
{
	for (enum pack_method m = PACK_NONE + 1; m < PACK_METHOD_MAX; m++) {
		if (strcmp(pack_ops(m)->name, name) == 0) {
			*ret = m;
			return 0;
		}
	}
	return -EINVAL;
}

enum pack_method pack_of_suffix(const char *name)
{
	size_t n = strlen(name);

	for (enum pack_method m = PACK_NONE + 1; m < PACK_METHOD_MAX; m++) {
		const char *suffix = pack_ops(m)->suffix;

		if (n > strlen(suffix) && strcmp(name + n - strlen(suffix), suffix) == 0)
			return m;
	}
	return PACK_NONE;
}

enum pack_method pack_of_bytes(const uint8_t *data, size_t n)
{
	static const char *const magic[PACK_METHOD_MAX] = {
		[PACK_SNAPPY] = PACK_MAGIC_SNAPPY,
		[PACK_ZSTD] = PACK_MAGIC_ZSTD,
		[PACK_GZIP] = PACK_MAGIC_GZIP,
		[PACK_COLUMNS] = PACK_MAGIC_COLUMNS,
	};

	for (enum pack_method m = PACK_NONE + 1; m < PACK_METHOD_MAX; m++)
		if (n >= strlen(magic[m]) && memcmp(data, magic[m], strlen(magic[m])) == 0)
			return m;
	return PACK_NONE;
}

size_t pack_piece_bytes(pack_whole_fn whole, const uint8_t *data, size_t n)
{
	size_t bytes;

	if (n <= PACK_CHUNK_MAX)
		return n;
	bytes = whole(data, PACK_CHUNK_MAX);
	return bytes > 0 ? bytes : PACK_CHUNK_MAX;
}

int pack_init(struct pack *p, enum pack_method method)
{
	*p = (struct pack){ .ops = pack_ops(method) };
	if (p->ops->create)
		p->state = p->ops->create();
	return p->state || !p->ops->create ? 0 : -ENOMEM;
}

void pack_deinit(struct pack *p)
{
	if (p->state)
		p->ops->destroy(p->state);
	*p = (struct pack){ 0 };
}

void pack_restart(struct pack *p)
{
	p->begun = false;
}

int pack_put(struct pack *p, const uint8_t *data, size_t n, struct outbuf *to)
{
	int r;

	assert(n <= PACK_CHUNK_MAX);
	if (n == 0)
		return 0;
	r = p->ops->put ? p->ops->put(p->state, data, n, !p->begun, to)
			: outbuf_append(to, data, n);
	p->begun = true;
	return r;
}
