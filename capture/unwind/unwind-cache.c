/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <zlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/directory.h"
#include "base/outbuf.h"

#define NS_PER_S           UINT64_C(1000000000)
#define CHANGE_TICK_NS     UINT64_C(20000000) /* timestamps of changes have this precision */
#define USED_SECONDS       3600               /* precision of the time of use */
#define UNWIND_CACHE_MAGIC 0x796b776eu        /* in the byte order of this machine */

struct unwind_cache {
	int fd; /* the directory; owned */
	uint64_t bytes_max;
	bool measured; /* `bytes` is known */
	/*
	 * Bytes in the directory when it was last listed, plus bytes that were written since then.
	 */
	uint64_t bytes;
};

/* Comes before a packed table. */
struct unwind_cache_head {
	uint32_t magic, version;
	uint32_t table_bytes; /* sizeof(struct unwind_table) */
	uint32_t checksum;    /* CRC-32 of the bytes that follow */
};

enum { NAME_BYTES = 128 };

/* ---- open and free ---- */

int unwind_cache_open(uint64_t bytes_max, struct unwind_cache **ret)
{
	struct unwind_cache *cache;
	int fd = directory_open_cache("unwind");

	if (fd < 0)
		return fd;
	cache = calloc(1, sizeof(*cache));
	if (!cache) {
		close(fd);
		return -ENOMEM;
	}
	cache->fd = fd;
	cache->bytes_max = bytes_max;
	*ret = cache;
	return 0;
}

struct unwind_cache *unwind_cache_free(struct unwind_cache *cache)
{
	if (!cache)
		return NULL;
	close(cache->fd);
	return free_ptr(cache);
}

/* ---- keys ---- */

struct unwind_cache_key {
	char name[NAME_BYTES];
	uint64_t bytes, changed_ns;
};

static int unwind_cache_key(int fd, struct unwind_cache_key *ret)
{
	struct stat st;
	struct statfs fs;

	if (fstat(fd, &st) < 0 || fstatfs(fd, &fs) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || fs.f_type == FUSE_SUPER_MAGIC)
		return -ENOENT;
	ret->bytes = (uint64_t)st.st_size;
	ret->changed_ns = (uint64_t)st.st_ctim.tv_sec * NS_PER_S + (uint64_t)st.st_ctim.tv_nsec;
	snprintf(ret->name, sizeof(ret->name), "%" PRIx64 "-%" PRIx64 "-%" PRIx64 "-%" PRIx64,
		 (uint64_t)st.st_dev, (uint64_t)st.st_ino, ret->bytes, ret->changed_ns);
	return 0;
}

/* ---- reading ---- */

static int unwind_cache_parse(const struct outbuf *in, uint64_t file_bytes,
			      struct unwind_table *ret)
{
	const uint8_t *table = (const uint8_t *)in->data + sizeof(struct unwind_cache_head);
	size_t n = in->size - sizeof(struct unwind_cache_head);
	struct unwind_cache_head head;

	if (in->size < sizeof(head))
		return -EBADMSG;
	memcpy(&head, in->data, sizeof(head));
	if (head.magic != UNWIND_CACHE_MAGIC || head.version != UNWIND_TABLE_VERSION ||
	    head.table_bytes != sizeof(*ret) || head.checksum != crc32_z(0, table, n))
		return -EBADMSG;
	return unwind_table_unpack(table, n, file_bytes, ret);
}

/* Updates the time of use, so that the table is not removed first. */
static void unwind_cache_mark_used(int fd, const struct stat *st)
{
	if (time(NULL) - st->st_mtim.tv_sec > USED_SECONDS)
		(void)futimens(fd, NULL);
}

static int unwind_cache_read(int fd, struct outbuf *to)
{
	struct stat st;
	size_t n;
	char *at;

	if (fstat(fd, &st) < 0)
		return -errno;
	n = (size_t)st.st_size;
	at = n > 0 && n <= to->limit ? outbuf_reserve(to, n) : NULL;
	if (!at)
		return -EBADMSG;
	while (n > 0) {
		ssize_t m = read(fd, at, n);

		if (m <= 0)
			return m < 0 ? -errno : -EBADMSG;
		at += m;
		n -= (size_t)m;
	}
	unwind_cache_mark_used(fd, &st);
	return 0;
}

int unwind_cache_find(struct unwind_cache *cache, int fd, struct unwind_table *ret)
{
	struct outbuf kept = { .limit =
				       sizeof(struct unwind_cache_head) + UNWIND_TABLE_PACKED_MAX };
	_cleanup_close_ int kept_fd = -1;
	struct unwind_cache_key key;
	int r = unwind_cache_key(fd, &key);

	if (r < 0)
		return r;
	kept_fd = openat(cache->fd, key.name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (kept_fd < 0)
		return -errno;
	r = unwind_cache_read(kept_fd, &kept) ?: unwind_cache_parse(&kept, key.bytes, ret);
	outbuf_deinit(&kept);
	if (r == -EBADMSG)
		(void)unlinkat(cache->fd, key.name, 0);
	return r;
}

/* ---- removal ---- */

struct unwind_cache_entry {
	char name[NAME_BYTES];
	uint64_t bytes;
	struct timespec used;
};

struct unwind_cache_entries {
	struct unwind_cache_entry *all; /* owned */
	size_t n, room;
	uint64_t bytes;
};

static int unwind_cache_list(struct unwind_cache *cache, struct unwind_cache_entries *to)
{
	DIR *dir = directory_list(cache->fd);
	struct dirent *found;
	struct stat st;
	int r = dir ? 0 : -errno;

	while (r == 0 && (found = readdir(dir))) {
		struct unwind_cache_entry entry = { 0 };

		if (fstatat(cache->fd, found->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode) || strlen(found->d_name) >= sizeof(entry.name))
			continue;
		strcpy(entry.name, found->d_name);
		entry.bytes = (uint64_t)st.st_blocks * 512;
		entry.used = st.st_mtim;
		r = GROW(to->all, to->room, to->n + 1);
		if (r == 0)
			to->all[to->n++] = entry;
		to->bytes += entry.bytes;
	}
	if (dir)
		closedir(dir);
	return r;
}

DEFINE_ORDER(unwind_cache_compare, struct unwind_cache_entry,
	     COMPARE(x->used.tv_sec, y->used.tv_sec) ?: COMPARE(x->used.tv_nsec, y->used.tv_nsec))

/* Lists the directory again, since other processes write to it, too. If there is no room for BYTES,
 * removes tables until there is room, and a quarter of the maximum is free. */
static int unwind_cache_sweep(struct unwind_cache *cache, uint64_t bytes)
{
	struct unwind_cache_entries entries = { 0 };
	uint64_t target = cache->bytes_max - cache->bytes_max / 4;
	int r = unwind_cache_list(cache, &entries);

	if (r == 0 && entries.bytes + bytes > cache->bytes_max) {
		SORT(entries.all, entries.n, unwind_cache_compare);
		for (size_t i = 0; i < entries.n && entries.bytes + bytes > target; i++) {
			if (unlinkat(cache->fd, entries.all[i].name, 0) == 0)
				entries.bytes -= entries.all[i].bytes;
		}
	}
	cache->bytes = entries.bytes;
	cache->measured = r == 0;
	free(entries.all);
	return r;
}

/* ---- writing ---- */

static int unwind_cache_write_all(int fd, const void *data, size_t n)
{
	const char *at = data;

	while (n > 0) {
		ssize_t m = write(fd, at, n);

		if (m < 0)
			return -errno;
		at += m;
		n -= (size_t)m;
	}
	return 0;
}

/*
 * Writes a file under a temporary name, and renames it when it is complete. A process that is
 * killed leaves the temporary file, which is removed like other files of the cache.
 */
static int unwind_cache_write(struct unwind_cache *cache, const char *name,
			      const struct outbuf *bytes)
{
	char temporary[NAME_BYTES];
	int fd, r;

	snprintf(temporary, sizeof(temporary), "new-%d", (int)gettid());
	(void)unlinkat(cache->fd, temporary, 0);
	fd = openat(cache->fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return -errno;
	r = unwind_cache_write_all(fd, bytes->data, bytes->size);
	close(fd);
	if (r == 0 && renameat(cache->fd, temporary, cache->fd, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(cache->fd, temporary, 0);
	return r;
}

static int unwind_cache_pack(const struct unwind_table *table, struct outbuf *to)
{
	struct unwind_cache_head head = {
		.magic = UNWIND_CACHE_MAGIC,
		.version = UNWIND_TABLE_VERSION,
		.table_bytes = sizeof(*table),
	};

	outbuf_append(to, &head, sizeof(head));
	unwind_table_pack(table, to);
	if (to->error)
		return to->error;
	head.checksum = (uint32_t)crc32_z(0, (const uint8_t *)to->data + sizeof(head),
					  to->size - sizeof(head));
	memcpy(to->data, &head, sizeof(head));
	return 0;
}

int unwind_cache_put(struct unwind_cache *cache, int fd, uint64_t started_ns,
		     const struct unwind_table *table)
{
	struct outbuf bytes = { .limit = sizeof(struct unwind_cache_head) +
					 UNWIND_TABLE_PACKED_MAX };
	struct unwind_cache_key key;
	int r = unwind_cache_key(fd, &key);

	if (r == -ENOENT || (r == 0 && key.changed_ns + CHANGE_TICK_NS > started_ns))
		return 0;
	r = r ?: unwind_cache_pack(table, &bytes);
	if (r == 0 && (!cache->measured || cache->bytes + bytes.size > cache->bytes_max))
		r = unwind_cache_sweep(cache, bytes.size);
	if (r == 0 && cache->bytes + bytes.size <= cache->bytes_max)
		r = unwind_cache_write(cache, key.name, &bytes);
	cache->bytes += bytes.size;
	outbuf_deinit(&bytes);
	return r;
}

int unwind_cache_make(struct unwind_cache *cache, int fd, struct unwind_table *ret)
{
	uint64_t now_ns = clock_read_ns(CLOCK_REALTIME);
	int r;

	if (cache && unwind_cache_find(cache, fd, ret) == 0)
		return UNWIND_CACHE_FOUND;
	r = unwind_table_read_sandboxed(fd, UNWIND_PARSE_NS_MAX, ret);
	if (r == 0 && cache)
		(void)unwind_cache_put(cache, fd, now_ns, ret);
	return r;
}
