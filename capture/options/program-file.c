/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options/program-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"

/*
 * The format of glibc 2.2 and later. Before this part, a file can have a list in an older format.
 */
#define CACHE_MAGIC "glibc-ld.so.cache1.1"

struct cache_head {
	char magic[20];
	uint32_t n, string_bytes;
	uint8_t pad[20];
};
_Static_assert(sizeof(struct cache_head) == 48, "format");

struct cache_entry {
	int32_t flags;
	uint32_t key, value; /* offsets of the name and of the path, counted from the head */
	uint32_t version;
	uint64_t capabilities;
};
_Static_assert(sizeof(struct cache_entry) == 24, "format");

#if defined(__x86_64__)
enum { CACHE_FLAGS = 0x0303 };
#elif defined(__aarch64__)
enum { CACHE_FLAGS = 0x0a03 };
#else
enum { CACHE_FLAGS = 0 }; /* entries of any machine */
#endif

static int program_file_join_path(const char *directory, size_t n, const char *name, char *path,
				  size_t size)
{
	int used = snprintf(path, size, "%.*s%s%s", (int)n, directory, n > 0 ? "/" : "", name);

	return used < 0 || (size_t)used >= size ? -ENAMETOOLONG : 0;
}

static bool program_file_is(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* ---- the dynamic linker's cache ---- */

/* Returns the string at offset AT of the N bytes at HEAD, or NULL. */
static const char *program_file_cache_text(const uint8_t *head, size_t n, uint32_t at)
{
	return at < n && memchr(head + at, '\0', n - at) ? (const char *)head + at : NULL;
}

/* A search of the cache. */
struct cache_query {
	const char *name;
	bool shortened; /* the name ends before ".so", and the whole name is wanted, not the path */
};

static bool program_file_cache_matches(const struct cache_query *q, const char *key)
{
	size_t n = strlen(q->name);

	if (!q->shortened)
		return strcmp(key, q->name) == 0;
	return strncmp(key, q->name, n) == 0 && strncmp(key + n, ".so", 3) == 0 &&
	       (key[n + 3] == '.' || key[n + 3] == '\0');
}

static int program_file_cache_search(const uint8_t *head, size_t n, const struct cache_query *q,
				     char *ret, size_t size)
{
	struct cache_head h;
	struct cache_entry e;

	memcpy(&h, head, sizeof(h));
	for (size_t i = 0; i < h.n && (i + 1) * sizeof(e) <= n - sizeof(h); i++) {
		const char *key, *value;

		memcpy(&e, head + sizeof(h) + i * sizeof(e), sizeof(e));
		key = program_file_cache_text(head, n, e.key);
		value = program_file_cache_text(head, n, e.value);
		if (!key || !value || !program_file_cache_matches(q, key) ||
		    (CACHE_FLAGS != 0 && e.flags != CACHE_FLAGS) || e.capabilities != 0)
			continue;
		return program_file_join_path("", 0, q->shortened ? key : value, ret, size);
	}
	return -ENOENT;
}

static int program_file_cache_find(const char *cache, const struct cache_query *q, char *ret,
				   size_t size)
{
	_cleanup_close_ int fd = open(cache, O_RDONLY | O_CLOEXEC);
	const uint8_t *head;
	struct stat st;
	void *data;
	int r = -ENOENT;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size < (off_t)sizeof(struct cache_head))
		return -ENOENT;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return -ENOENT;
	head = memmem(data, (size_t)st.st_size, CACHE_MAGIC, strlen(CACHE_MAGIC));
	if (head) {
		size_t n = (size_t)st.st_size - (size_t)(head - (const uint8_t *)data);

		r = n < sizeof(struct cache_head)
			    ? -ENOENT
			    : program_file_cache_search(head, n, q, ret, size);
	}
	munmap(data, (size_t)st.st_size);
	return r;
}

/* ---- directories ---- */

/* Searches the directories in SEARCH. */
static int program_file_search_find(const char *search, const char *name, char *path, size_t size)
{
	size_t n;

	for (const char *p = search; p && *p; p += n + (p[n] == ':')) {
		n = strcspn(p, ":");
		if (n > 0 && program_file_join_path(p, n, name, path, size) == 0 &&
		    program_file_is(path))
			return 0;
	}
	return -ENOENT;
}

int program_file_find(const char *name, const char *cache, const char *search, char *path,
		      size_t size)
{
	if (strchr(name, '/'))
		return program_file_join_path("", 0, name, path, size);
	if (program_file_cache_find(cache, &(struct cache_query){ .name = name }, path, size) ==
		    0 &&
	    program_file_is(path))
		return 0;
	if (program_file_search_find("/lib64:/usr/lib64:/lib:/usr/lib", name, path, size) == 0)
		return 0;
	return program_file_search_find(search, name, path, size);
}

int program_file_library(const char *name, const char *cache, char *ret, size_t size)
{
	const struct cache_query q = { .name = name, .shortened = true };

	return strchr(name, '/') ? -ENOENT : program_file_cache_find(cache, &q, ret, size);
}
