/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/allocator-cache.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/*
 * The minimum timeout. A slow file delays each recording of a process that maps it, so after a
 * timeout, the time limit of all later files is halved.
 */
#define TIMEOUT_NS_MIN (UINT64_C(250) * 1000000)

struct file_key {
	uint64_t device, inode, size;
	int64_t mtime_s, ctime_s;
	int64_t mtime_ns, ctime_ns;
};

struct entry {
	struct file_key key;
	uint64_t used; /* when it was used last, as a number of calls */
	int error;     /* 0, or the reason why the entry has no list */
	struct allocator_list list;
};

struct allocator_cache {
	struct entry entries[ALLOCATOR_CACHE_MAX];
	size_t n;
	uint64_t calls, reads;
	uint64_t timeout_ns; /* the time limit of the next file */
};

int allocator_cache_new(uint64_t timeout_ns, struct allocator_cache **ret)
{
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	(*ret)->timeout_ns = timeout_ns;
	return 0;
}

struct allocator_cache *allocator_cache_free(struct allocator_cache *c)
{
	for (size_t i = 0; c && i < c->n; i++)
		allocator_list_deinit(&c->entries[i].list);
	return free_ptr(c);
}

uint64_t allocator_cache_reads(const struct allocator_cache *c)
{
	return c->reads;
}

static bool allocator_cache_same(const struct file_key *a, const struct file_key *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->mtime_s == b->mtime_s && a->mtime_ns == b->mtime_ns && a->ctime_s == b->ctime_s &&
	       a->ctime_ns == b->ctime_ns;
}

static struct entry *allocator_cache_entry(struct allocator_cache *c, const struct file_key *key)
{
	for (size_t i = 0; i < c->n; i++)
		if (allocator_cache_same(&c->entries[i].key, key))
			return &c->entries[i];
	return NULL;
}

/* Returns an empty entry or the least recently used one. */
static struct entry *allocator_cache_make_room(struct allocator_cache *c)
{
	struct entry *oldest = &c->entries[0];

	if (c->n < ALLOCATOR_CACHE_MAX)
		return &c->entries[c->n++];
	for (size_t i = 1; i < c->n; i++)
		if (c->entries[i].used < oldest->used)
			oldest = &c->entries[i];
	allocator_list_deinit(&oldest->list);
	return oldest;
}

int allocator_cache_find(struct allocator_cache *c, int fd, const struct allocator_list **ret)
{
	struct allocator_list list = { 0 };
	struct file_key key;
	struct entry *e;
	struct statx st;
	int r;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &st) < 0)
		return -errno;
	key = (struct file_key){
		.device = makedev(st.stx_dev_major, st.stx_dev_minor),
		.inode = st.stx_ino,
		.size = st.stx_size,
		.mtime_s = st.stx_mtime.tv_sec,
		.mtime_ns = st.stx_mtime.tv_nsec,
		.ctime_s = st.stx_ctime.tv_sec,
		.ctime_ns = st.stx_ctime.tv_nsec,
	};
	e = allocator_cache_entry(c, &key);
	if (!e) {
		r = allocators_find_sandboxed(fd, c->timeout_ns, &list);
		c->reads++;
		if (r == -ETIME && c->timeout_ns / 2 >= TIMEOUT_NS_MIN)
			c->timeout_ns /= 2;
		/* Cache only errors that the file has caused. */
		if (r < 0 && r != -EBADMSG && r != -ENOEXEC && r != -ETIME)
			return r;
		e = allocator_cache_make_room(c);
		*e = (struct entry){ .key = key, .error = r, .list = list };
	}
	e->used = ++c->calls;
	if (e->error == 0)
		*ret = &e->list;
	return e->error;
}
