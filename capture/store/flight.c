/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chunks are reference-counted: the recorder and its snapshots share them. A snapshot contains the
 * bytes that its chunks had when the snapshot was taken. Files only grow, with one exception: after
 * a failed write, an incomplete record is truncated before its bytes are counted. The mutex guards
 * the list of chunks and their sizes. The mutex is not held while bytes are copied.
 */
#include "capture/store/flight.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/directory.h"
#include "base/string-table.h"
#include "capture/store/whole-blocks.h"
#include "writer/fxt/fxt-writer.h"

enum side { SIDE_HEAD, SIDE_BODY, SIDE_MAX };

static const char *const side_suffixes[SIDE_MAX] = { ".head", ".body" };

enum { FILE_NAME_MAX = 32 }; /* room for 20 digits, a suffix, and the NUL */

struct chunk {
	atomic_uint n_refs;
	uint64_t number;
	struct store_moment begin;
	int fds[SIDE_MAX];
	uint64_t bytes[SIDE_MAX];
};

struct flight {
	struct store store;
	struct flight_options options; /* a duplicate of the directory is stored here */

	/* The members below are only used by the output's thread. */
	uint64_t n_begun;
	struct store *writers[SIDE_MAX]; /* write to the files of the last chunk */

	pthread_mutex_t lock;
	struct chunk *chunks[FLIGHT_CHUNKS_MAX]; /* the oldest chunk is first */
	unsigned n_chunks;
	uint64_t bytes;
	uint64_t limit;     /* the current limit of `bytes` */
	bool broken;        /* the rest of the last chunk was dropped */
	struct outbuf tail; /* tail of the last chunk, when it has ended */
};

struct part {
	struct chunk *chunk;
	uint64_t bytes[SIDE_MAX];
};

struct flight_snapshot {
	struct part parts[FLIGHT_CHUNKS_MAX];
	unsigned n_parts;
	struct outbuf tail;
	struct store_moment end;
};

/* ---- chunks ---- */

static void flight_name_of(char ret[static FILE_NAME_MAX], uint64_t number, enum side side)
{
	snprintf(ret, FILE_NAME_MAX, "%" PRIu64 "%s", number, side_suffixes[side]);
}

static void flight_chunk_unref(struct chunk *c)
{
	if (!c || atomic_fetch_sub(&c->n_refs, 1) > 1)
		return;
	for (enum side i = 0; i < SIDE_MAX; i++)
		close_fd(c->fds[i]);
	free(c);
}

static struct chunk *flight_chunk_new(uint64_t number)
{
	struct chunk *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	*c = (struct chunk){ .n_refs = 1, .number = number, .fds = { -1, -1 } };
	return c;
}

static uint64_t flight_chunk_bytes(const struct chunk *c)
{
	return c->bytes[SIDE_HEAD] + c->bytes[SIDE_BODY];
}

static void flight_unlink_chunk(int dir_fd, uint64_t number)
{
	char name[FILE_NAME_MAX];

	/* The head is removed first: a head without a body could be used by mistake, but a body
	 * without a head is useless. */
	for (enum side i = 0; dir_fd >= 0 && i < SIDE_MAX; i++) {
		flight_name_of(name, number, i);
		unlinkat(dir_fd, name, 0);
	}
}

/* Called with the lock held. */
static void flight_drop_oldest(struct flight *f)
{
	struct chunk *c = f->chunks[0];

	flight_unlink_chunk(f->options.dir_fd, c->number);
	f->bytes -= flight_chunk_bytes(c);
	memmove(f->chunks, f->chunks + 1, --f->n_chunks * sizeof(*f->chunks));
	flight_chunk_unref(c);
}

/* ---- the store ---- */

/* Creates a new file that no other process writes to. */
static int flight_make_file(struct flight *f, uint64_t number, enum side side)
{
	char name[FILE_NAME_MAX];
	int fd;

	flight_name_of(name, number, side);
	if (f->options.dir_fd < 0)
		fd = memfd_create(name, MFD_CLOEXEC);
	else
		fd = openat(f->options.dir_fd, name,
			    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? -errno : fd;
}

/* Creates the files of C and their writers. */
static int flight_make_files(struct flight *f, struct chunk *c)
{
	for (enum side i = 0; i < SIDE_MAX; i++) {
		int r, fd = flight_make_file(f, c->number, i);

		if (fd < 0)
			return fd;
		c->fds[i] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		r = c->fds[i] < 0 ? -errno : store_fd_new(fd, &f->writers[i]);
		if (r < 0) {
			close(fd);
			return r;
		}
	}
	return 0;
}

static void flight_close_writers(struct flight *f)
{
	for (enum side i = 0; i < SIDE_MAX; i++)
		f->writers[i] = store_free(f->writers[i]);
}

/* Drops the chunks that need not be kept when a chunk begins at NOW_NS. Called with the lock
 * held. */
static void flight_retain(struct flight *f, uint64_t now_ns)
{
	uint64_t keep_ns = f->options.keep_ns;

	while (f->n_chunks > 0 && (f->broken || f->n_chunks == FLIGHT_CHUNKS_MAX))
		flight_drop_oldest(f);
	while (keep_ns && now_ns > keep_ns && f->n_chunks > 1 &&
	       f->chunks[1]->begin.boot_ns <= now_ns - keep_ns)
		flight_drop_oldest(f);
	f->broken = false;
}

static int flight_begin(struct store *store, const struct store_moment *at)
{
	struct flight *f = (struct flight *)store;
	struct chunk *c = flight_chunk_new(f->n_begun++);
	int r;

	if (!c)
		return -ENOMEM;
	c->begin = *at;
	flight_close_writers(f);
	r = flight_make_files(f, c);
	if (r < 0) {
		flight_unlink_chunk(f->options.dir_fd, c->number);
		flight_chunk_unref(c);
		return r;
	}
	pthread_mutex_lock(&f->lock);
	flight_retain(f, at->boot_ns);
	outbuf_deinit(&f->tail);
	f->chunks[f->n_chunks++] = c;
	pthread_mutex_unlock(&f->lock);
	return 0;
}

/* Returns the last chunk. The output's thread can read it without the lock, since no other thread
 * adds or drops chunks. */
static struct chunk *flight_last(const struct flight *f)
{
	return f->n_chunks > 0 ? f->chunks[f->n_chunks - 1] : NULL;
}

/*
 * Returns the number of bytes that can be kept: at most half of the sum of the recorder's own data
 * and the free space. So several recorders never fill the file system, and they release space when
 * other programs need it. Called with the lock held.
 */
static uint64_t flight_find_limit(struct flight *f)
{
	uint64_t max_bytes = f->options.max_bytes, half;
	struct statvfs st;

	f->limit = max_bytes;
	/* A tmpfs without a size limit reports 0 blocks. */
	if (f->options.dir_fd < 0 || fstatvfs(f->options.dir_fd, &st) < 0 || st.f_blocks == 0)
		return max_bytes;
	half = (f->bytes + (uint64_t)st.f_bavail * st.f_frsize) / 2;
	if (half < max_bytes)
		f->limit = half;
	return f->limit;
}

/* Drops older chunks until there is room for SIZE more bytes. Returns false if there is no room. */
static bool flight_make_room(struct flight *f, size_t size)
{
	bool room;

	pthread_mutex_lock(&f->lock);
	while (f->bytes + size > flight_find_limit(f) && f->n_chunks > 1)
		flight_drop_oldest(f);
	room = f->bytes + size <= f->limit;
	if (!room)
		f->broken = true;
	pthread_mutex_unlock(&f->lock);
	return room;
}

/* Writes to the last chunk. Drops the oldest chunks as long as the file system is full. */
static int flight_write_side(struct flight *f, enum side side, const uint8_t *data, size_t size,
			     store_whole_fn whole, size_t *ret_kept)
{
	struct store *writer = f->writers[side];
	size_t kept = 0;
	int r;

	for (;;) {
		kept = 0;
		r = writer->ops->write(writer, STORE_BODY, data + *ret_kept, size - *ret_kept,
				       whole, &kept);
		*ret_kept += kept;
		pthread_mutex_lock(&f->lock);
		flight_last(f)->bytes[side] += kept;
		f->bytes += kept;
		if (r != -ENOSPC || f->n_chunks < 2)
			break;
		flight_drop_oldest(f);
		pthread_mutex_unlock(&f->lock);
	}
	pthread_mutex_unlock(&f->lock);
	return r;
}

/*
 * Drops the rest of the last chunk, because the file system is full. The next chunk tries again. An
 * incomplete head is removed, since readers could mistake it for a complete one.
 */
static int flight_drop_rest(struct flight *f, enum store_part part, size_t *ret_kept)
{
	struct chunk *c = flight_last(f);
	int r = 0;

	pthread_mutex_lock(&f->lock);
	f->broken = true;
	if (part == STORE_HEAD) {
		f->bytes -= c->bytes[SIDE_HEAD];
		c->bytes[SIDE_HEAD] = 0;
		*ret_kept = 0;
		r = ftruncate(c->fds[SIDE_HEAD], 0) < 0 ? -errno : 0;
	}
	pthread_mutex_unlock(&f->lock);
	return r;
}

static int flight_write(struct store *store, enum store_part part, const uint8_t *data, size_t size,
			store_whole_fn whole, size_t *ret_kept)
{
	struct flight *f = (struct flight *)store;

	*ret_kept = 0;
	if (part == STORE_TAIL) {
		int r;

		pthread_mutex_lock(&f->lock);
		r = outbuf_append(&f->tail, data, size);
		pthread_mutex_unlock(&f->lock);
		*ret_kept = r == 0 ? size : 0;
		return r;
	}
	if (f->broken)
		return 0;
	if (flight_make_room(f, size)) {
		int r = flight_write_side(f, part == STORE_HEAD ? SIDE_HEAD : SIDE_BODY, data, size,
					  whole, ret_kept);

		return r == -ENOSPC ? flight_drop_rest(f, part, ret_kept) : r;
	}
	/* A chunk is useless without its head. If the limit is not due to the file system, the next
	 * chunk would fail, too. */
	if (part == STORE_HEAD && f->limit >= f->options.max_bytes)
		return -EFBIG;
	return part == STORE_HEAD ? flight_drop_rest(f, part, ret_kept) : 0;
}

static int flight_end(struct store *store, const struct store_moment *at)
{
	flight_close_writers((struct flight *)store);
	return 0;
}

/* Does nothing, since writes to memory do not block. */
static void flight_cancel(struct store *store)
{
}

static void flight_free(struct store *store)
{
	struct flight *f = (struct flight *)store;

	flight_close_writers(f);
	for (unsigned i = 0; i < f->n_chunks; i++)
		flight_chunk_unref(f->chunks[i]);
	outbuf_deinit(&f->tail);
	pthread_mutex_destroy(&f->lock);
	close_fd(f->options.dir_fd);
	free(f);
}

static const struct store_ops flight_ops = {
	.begin = flight_begin,
	.write = flight_write,
	.end = flight_end,
	.cancel = flight_cancel,
	.free = flight_free,
};

int flight_new(const struct flight_options *o, struct store **ret)
{
	struct flight *f;

	if (o->max_bytes == 0)
		return -EINVAL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->store.ops = &flight_ops;
	f->options = *o;
	pthread_mutex_init(&f->lock, NULL);
	if (o->dir_fd >= 0)
		f->options.dir_fd = fcntl(o->dir_fd, F_DUPFD_CLOEXEC, 3);
	if (o->dir_fd >= 0 && f->options.dir_fd < 0) {
		int r = -errno;

		flight_free(&f->store);
		return r;
	}
	flight_find_limit(f);
	*ret = &f->store;
	return 0;
}

bool flight_is(const struct store *s)
{
	return s->ops == &flight_ops;
}

/* ---- snapshots ---- */

static struct store_moment flight_this_moment(void)
{
	return (struct store_moment){ clock_boot_ns(), clock_read_ns(CLOCK_REALTIME) };
}

static void flight_add_part(struct flight_snapshot *s, struct chunk *c)
{
	struct part *p = &s->parts[s->n_parts++];

	atomic_fetch_add(&c->n_refs, 1);
	p->chunk = c;
	memcpy(p->bytes, c->bytes, sizeof(p->bytes));
}

int flight_take_snapshot(struct store *store, struct flight_snapshot **ret)
{
	struct flight *f = (struct flight *)store;
	struct flight_snapshot *s = calloc(1, sizeof(*s));
	int r = 0;

	if (!s)
		return -ENOMEM;
	s->end = flight_this_moment();
	pthread_mutex_lock(&f->lock);
	for (unsigned i = 0; i < f->n_chunks; i++)
		flight_add_part(s, f->chunks[i]);
	if (f->broken)
		r = -EAGAIN;
	else if (s->n_parts == 0 || s->parts[0].bytes[SIDE_HEAD] == 0)
		r = -ENODATA;
	else if (f->tail.size > 0)
		r = outbuf_append(&s->tail, f->tail.data, f->tail.size);
	pthread_mutex_unlock(&f->lock);
	if (r < 0)
		flight_snapshot_free(s);
	else
		*ret = s;
	return r;
}

uint64_t flight_limit(struct store *store)
{
	struct flight *f = (struct flight *)store;
	uint64_t limit;

	pthread_mutex_lock(&f->lock);
	limit = f->limit;
	pthread_mutex_unlock(&f->lock);
	return limit;
}

uint64_t flight_oldest(struct store *store)
{
	struct flight *f = (struct flight *)store;
	uint64_t number;

	pthread_mutex_lock(&f->lock);
	number = f->n_chunks > 0 ? f->chunks[0]->number : UINT64_MAX;
	pthread_mutex_unlock(&f->lock);
	return number;
}

void flight_snapshot_set_tail(struct flight_snapshot *s, struct outbuf *tail)
{
	outbuf_deinit(&s->tail);
	s->tail = *tail;
	*tail = (struct outbuf){ 0 };
}

/* Returns 0: the beginning of packed data is unknown here, so no part of it counts as whole. */
static size_t flight_none_whole(const uint8_t *data, size_t n)
{
	return 0;
}

static int flight_write_whole(struct store *to, enum store_part part, enum pack_method method,
			      const uint8_t *data, size_t n)
{
	size_t kept = 0;

	return to->ops->write(to, part, data, n,
			      method == PACK_NONE ? fxt_whole_records : flight_none_whole, &kept);
}

/* Writes the whole blocks among the first BYTES of FD. */
static int flight_write_file(int fd, uint64_t bytes, enum pack_method method, enum store_part part,
			     struct store *to)
{
	const uint8_t *data;
	struct whole_blocks p;
	size_t n;
	int r;

	whole_blocks_init(&p, fd, bytes, method, part == STORE_HEAD);
	do {
		r = whole_blocks_next(&p, &data, &n);
		if (r == 0 && n > 0)
			r = flight_write_whole(to, part, method, data, n);
	} while (r == 0 && n > 0);
	whole_blocks_deinit(&p);
	return r;
}

int flight_snapshot_packed(const struct flight_snapshot *s, enum pack_method *ret)
{
	return whole_blocks_detect(s->parts[0].chunk->fds[SIDE_HEAD], ret);
}

static int flight_write_parts(const struct flight_snapshot *s, struct store *to)
{
	const struct part *first = &s->parts[0];
	enum pack_method method;
	int r = flight_snapshot_packed(s, &method)
			?: flight_write_file(first->chunk->fds[SIDE_HEAD], first->bytes[SIDE_HEAD],
					     method, STORE_HEAD, to);

	for (unsigned i = 0; r == 0 && i < s->n_parts; i++)
		r = flight_write_file(s->parts[i].chunk->fds[SIDE_BODY],
				      s->parts[i].bytes[SIDE_BODY], method, STORE_BODY, to);
	if (r == 0 && s->tail.size > 0)
		r = flight_write_whole(to, STORE_TAIL, method, s->tail.data, s->tail.size);
	return r;
}

int flight_snapshot_write(const struct flight_snapshot *s, struct store *to)
{
	int r = to->ops->begin(to, &s->parts[0].chunk->begin), e;

	if (r < 0)
		return r;
	r = flight_write_parts(s, to);
	e = to->ops->end(to, &s->end);
	return r < 0 ? r : e;
}

uint64_t flight_snapshot_bytes(const struct flight_snapshot *s)
{
	uint64_t bytes = s->parts[0].bytes[SIDE_HEAD] + s->tail.size;

	for (unsigned i = 0; i < s->n_parts; i++)
		bytes += s->parts[i].bytes[SIDE_BODY];
	return bytes;
}

struct flight_snapshot *flight_snapshot_free(struct flight_snapshot *s)
{
	if (!s)
		return NULL;
	for (unsigned i = 0; i < s->n_parts; i++)
		flight_chunk_unref(s->parts[i].chunk);
	outbuf_deinit(&s->tail);
	return free_ptr(s);
}

/* ---- files of a dead process ---- */

/* Returns true if NAME is the name of a chunk's file. */
static bool flight_parse_name(const char *name, uint64_t *ret_number, enum side *ret_side)
{
	size_t n = strspn(name, "0123456789");
	char digits[FILE_NAME_MAX];
	int side;

	if (n == 0 || n > 20 || (n > 1 && *name == '0'))
		return false;
	memcpy(digits, name, n);
	digits[n] = '\0';
	side = STRING_TABLE_FIND(side_suffixes, name + n);
	if (side < 0)
		return false;
	*ret_side = (enum side)side;
	return text_parse_u64(digits, UINT64_MAX - 1, ret_number) == 0;
}

void flight_clear(int dir_fd)
{
	const struct dirent *entry;
	DIR *dir = directory_list(dir_fd);
	uint64_t number;
	enum side side;

	while (dir && (entry = readdir(dir)))
		if (flight_parse_name(entry->d_name, &number, &side))
			unlinkat(dir_fd, entry->d_name, 0);
	if (dir)
		closedir(dir);
}

/*
 * Opens a regular file. *RET_BYTES is its size, and *RET_REAL_NS is the time of its last
 * modification.
 */
static int flight_open_side(int dir_fd, uint64_t number, enum side side, uint64_t *ret_bytes,
			    uint64_t *ret_real_ns)
{
	char name[FILE_NAME_MAX];
	_cleanup_close_ int fd = -1;
	struct stat st;

	flight_name_of(name, number, side);
	fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENODATA;
	*ret_bytes = (uint64_t)st.st_size;
	*ret_real_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	return TAKE_FD(fd);
}

/* Opens chunk NUMBER. Either its head or its body can be missing. */
static int flight_open_chunk(int dir_fd, uint64_t number, struct chunk **ret, uint64_t *ret_end_ns)
{
	struct chunk *c = flight_chunk_new(number);
	uint64_t real_ns = 0;

	if (!c)
		return -ENOMEM;
	for (enum side i = 0; i < SIDE_MAX; i++) {
		c->fds[i] = flight_open_side(dir_fd, number, i, &c->bytes[i], &real_ns);
		if (c->fds[i] < 0)
			continue;
		if (i == SIDE_HEAD)
			c->begin.real_ns = real_ns;
		*ret_end_ns = real_ns;
	}
	if (c->fds[SIDE_HEAD] < 0 && c->fds[SIDE_BODY] < 0) {
		flight_chunk_unref(c);
		return -ENODATA;
	}
	*ret = c;
	return 0;
}

/* Finds the number of the newest chunk that has a file. */
static int flight_find_newest(int dir_fd, uint64_t *ret)
{
	const struct dirent *entry;
	DIR *dir = directory_list(dir_fd);
	uint64_t number;
	enum side side;
	struct stat st;
	int r = -ENODATA;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (!flight_parse_name(entry->d_name, &number, &side) ||
		    fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		if (r < 0 || number > *ret)
			*ret = number;
		r = 0;
	}
	closedir(dir);
	return r;
}

/* Collects the chunks from the newest chunk back to the first missing number. The result is in
 * order, the oldest chunk first. */
static void flight_collect(int dir_fd, uint64_t newest, struct flight_snapshot *s)
{
	struct chunk *found[FLIGHT_CHUNKS_MAX];
	unsigned n = 0, first = 0;
	uint64_t end_ns = 0;

	while (n < FLIGHT_CHUNKS_MAX && n <= newest &&
	       flight_open_chunk(dir_fd, newest - n, &found[n], &end_ns) == 0) {
		if (n == 0)
			s->end.real_ns = end_ns;
		n++;
	}
	/* The result begins with the oldest chunk that has a head. The chunks before it were being
	 * dropped when the process died. */
	for (unsigned i = 0; i < n; i++)
		if (found[i]->bytes[SIDE_HEAD] > 0)
			first = i + 1;
	for (unsigned i = n; i-- > 0;) {
		if (i < first)
			flight_add_part(s, found[i]);
		flight_chunk_unref(found[i]);
	}
}

int flight_recover(int dir_fd, struct flight_snapshot **ret)
{
	struct flight_snapshot *s;
	uint64_t newest = 0;
	int r = flight_find_newest(dir_fd, &newest);

	if (r < 0)
		return r;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	flight_collect(dir_fd, newest, s);
	if (s->n_parts == 0) {
		flight_snapshot_free(s);
		return -ENODATA;
	}
	*ret = s;
	return 0;
}
