/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/symbols/perf-map.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/outbuf.h"
#include "reader/symbols/open-below.h"
#include "reader/symbols/range-clash.h"
#include "reader/symbols/range-list.h"

/*
 * A process can seem to begin later than it did, and a file to be written earlier: both times are
 * rounded.
 */
#define ROUNDED_NS UINT64_C(1000000000)

enum { MAP_BYTES_MAX = 64 << 20, PIECE = 64 * 1024 };

struct perf_map {
	struct outbuf text;
	struct range_list ranges; /* the value of a range is the offset of its name in the text */
	struct range_clashes clashes;
	bool unsure;
	uint64_t created_ns; /* by the wall clock; 0 = unknown */
};

/* ---- owner of the file ---- */

struct process {
	uid_t uid;
	uint32_t pid; /* the pid in the innermost pid namespace of the process */
};

/* Reads /proc/PID/status. Returns false if this fails. */
static bool perf_map_read_process(uint32_t pid, struct process *ret)
{
	_cleanup_free_ char *line = NULL;
	bool has_uid = false;
	unsigned int uid;
	size_t room = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	ret->pid = pid;
	while (getline(&line, &room, f) > 0) {
		const char *last = strrchr(line, '\t');

		if (sscanf(line, "Uid: %*u %u", &uid) == 1) {
			ret->uid = uid;
			has_uid = true;
		}
		if (strncmp(line, "NSpid:", 6) == 0 && last)
			ret->pid = (uint32_t)strtoul(last, NULL, 10);
	}
	fclose(f);
	return has_uid;
}

/* Opens the map. The caller must check that root or *RET_UID owns the map. Returns a descriptor or
 * a negative errno. */
static int perf_map_open_map(const struct find_places *places, const struct symbol_query *query,
			     const char *dir, uid_t *ret_uid)
{
	_cleanup_close_ int root_fd = -1;
	struct process process;
	char path[PATH_MAX];

	if (!query->lives) {
		*ret_uid = geteuid();
		if (snprintf(path, sizeof(path), "%s/perf-%u.map", dir, query->pid) >=
		    (int)sizeof(path))
			return -ENAMETOOLONG;
		return open_below(places->root_fd, path);
	}
	snprintf(path, sizeof(path), "/proc/%u/root", query->pid);
	root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0 || !perf_map_read_process(query->pid, &process))
		return -ESRCH;
	*ret_uid = process.uid;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", process.pid);
	return open_below(root_fd, path);
}

/* ---- content ---- */

/* Reads the text, and drops an incomplete last line: the process may still be writing. */
static int perf_map_read_text(struct perf_map *m, int fd)
{
	const char *end;
	ssize_t n;

	m->text.limit = MAP_BYTES_MAX;
	do {
		uint8_t *to = outbuf_reserve(&m->text, PIECE);

		if (!to)
			return m->text.error == -ENOMEM ? -ENOMEM : -EFBIG;
		do
			n = read(fd, to, PIECE);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return -errno;
		m->text.size -= PIECE - (size_t)n;
	} while (n > 0);
	end = memrchr(m->text.data, '\n', m->text.size);
	m->text.size = end ? (size_t)(end + 1 - (const char *)m->text.data) : 0;
	return 0;
}

/* Adds the function in LINE, which has the number NUMBER, and ends its name with a NUL. Ignores
 * lines of other forms. Returns 0 or -ENOMEM. */
static int perf_map_add_line(struct perf_map *m, char *line, char *end, uint32_t number)
{
	unsigned long long start, size;
	char *at;

	*end = '\0';
	start = strtoull(line, &at, 16);
	if (at == line || *at != ' ')
		return 0;
	line = at + 1;
	size = strtoull(line, &at, 16);
	if (at == line || *at != ' ' || at[1] == '\0' || size == 0 || start > ULLONG_MAX - size)
		return 0;
	return range_list_add(&m->ranges, start, start + size,
			      (uint32_t)(at + 1 - (const char *)m->text.data), UINT32_MAX - number);
}

static int perf_map_read_lines(struct perf_map *m)
{
	char *line = (char *)m->text.data, *stop = line + m->text.size, *end;

	for (uint32_t i = 0; line < stop; line = end + 1, i++) {
		int r;

		end = memchr(line, '\n', (size_t)(stop - line));
		r = perf_map_add_line(m, line, end, i);
		if (r < 0)
			return r;
	}
	return range_list_sort(&m->ranges)
		       ?: range_clashes_find(&m->clashes, &m->ranges, (const char *)m->text.data);
}

/* Returns when the file FD was created; 0 = unknown. */
static uint64_t perf_map_read_creation(int fd)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &st) < 0 || !(st.stx_mask & STATX_BTIME) ||
	    st.stx_btime.tv_sec < 0)
		return 0;
	return (uint64_t)st.stx_btime.tv_sec * 1000000000 + st.stx_btime.tv_nsec;
}

/* Returns true if a file with the status ST was last written before BEGAN_NS (0 = unknown). */
static bool perf_map_is_of_earlier_process(const struct stat *st, uint64_t began_ns)
{
	uint64_t written_ns =
		(uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec;

	return began_ns && st->st_mtim.tv_sec >= 0 && written_ns + ROUNDED_NS < began_ns;
}

static int perf_map_read_map(struct perf_map *m, int fd, uid_t uid, uint64_t began_ns,
			     const char **reterr_what)
{
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0 || (st.st_uid != 0 && st.st_uid != uid)) {
		*reterr_what =
			"it belongs neither to root nor to the user of the process (or to you, "
			"if the process has ended)";
		return -EBADMSG;
	}
	if (perf_map_is_of_earlier_process(&st, began_ns)) {
		*reterr_what = "it was last written before its process began: an earlier process "
			       "with the same id left it";
		return -EBADMSG;
	}
	m->created_ns = perf_map_read_creation(fd);
	r = perf_map_read_text(m, fd) ?: perf_map_read_lines(m);
	if (r == -ENOMEM || r == 0)
		return r;
	*reterr_what = r == -EFBIG ? "it is larger than 64 MiB" : "it cannot be read";
	return -EBADMSG;
}

int perf_map_open(struct perf_map **ret, const struct find_places *places,
		  const struct symbol_query *query, const char *dir, const char **reterr_what)
{
	_cleanup_(perf_map_freep) struct perf_map *m = NULL;
	_cleanup_close_ int fd = -1;
	uid_t uid = 0;
	int r;

	if (query->pid == 0)
		return 0;
	fd = perf_map_open_map(places, query, dir, &uid);
	if (fd < 0)
		return 0;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->unsure = !query->lives;
	r = perf_map_read_map(m, fd, uid, query->began_ns, reterr_what);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(m);
	return 1;
}

struct perf_map *perf_map_free(struct perf_map *m)
{
	if (!m)
		return NULL;
	outbuf_deinit(&m->text);
	range_list_deinit(&m->ranges);
	range_clashes_deinit(&m->clashes);
	return free_ptr(m);
}

const char *perf_map_find(const struct perf_map *m, uint64_t address, size_t *ret_n,
			  uint64_t *ret_offset)
{
	const struct range *range = range_list_find(&m->ranges, address);
	const char *name;

	if (!range || perf_map_is_reused(m, address))
		return NULL;
	name = (const char *)m->text.data + range->value;
	*ret_n = strlen(name);
	*ret_offset = address - range->start;
	return name;
}

bool perf_map_is_reused(const struct perf_map *m, uint64_t address)
{
	return range_clashes_at(&m->clashes, address);
}

bool perf_map_is_unsure(const struct perf_map *m)
{
	return m->unsure;
}

bool perf_map_is_late(const struct perf_map *m, uint64_t mapped_ns)
{
	return mapped_ns && m->created_ns > mapped_ns + ROUNDED_NS;
}

uint64_t perf_map_bytes(const struct perf_map *m)
{
	return m->text.room + range_list_bytes(&m->ranges) +
	       m->clashes.room * sizeof(*m->clashes.list);
}
