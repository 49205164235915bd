/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file is text: a line for each counter, and for each chunk. It is small, since the retention
 * of a collection keeps few chunks.
 */
#include "cli/ship/ship-state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/outbuf.h"
#include "cli/ship/ship-copy.h"

#define SHIP_STATE_FILE  "state"
#define SHIP_STATE_FIRST "kymo-ship 1"

void ship_state_deinit(struct ship_state *s)
{
	free(s->chunks);
	*s = (struct ship_state){ 0 };
}

/* ---- file ---- */

struct reading {
	struct ship_state s;
	size_t room;
	const char *name;
};

static int ship_state_add_line(struct reading *k, const char *word, uint64_t bytes,
			       const char *file)
{
	struct ship_chunk c = { .taken = strcmp(word, "taken") == 0 };

	if ((!c.taken && strcmp(word, "waits") != 0) ||
	    !chunk_name_parse(file, k->name, &c.chunk.name) ||
	    (k->s.n && strcmp(k->s.chunks[k->s.n - 1].chunk.file, file) >= 0))
		return -EBADMSG;
	if (GROW(k->s.chunks, k->room, k->s.n + 1) < 0)
		return -ENOMEM;
	snprintf(c.chunk.file, sizeof(c.chunk.file), "%s", file);
	c.chunk.bytes = bytes;
	k->s.chunks[k->s.n++] = c;
	return 0;
}

static int ship_state_read_line(struct reading *k, const char *line)
{
	char word[8], file[NAME_MAX + 1];
	uint64_t bytes;

	if (sscanf(line, "all %" SCNu64 " %" SCNu64 " %" SCNu64, &k->s.n_taken, &k->s.n_lost,
		   &k->s.lost_bytes) == 3)
		return 0;
	if (sscanf(line, "directory %" SCNu64 " %" SCNu64, &k->s.directory.device,
		   &k->s.directory.inode) == 2)
		return 0;
	if (sscanf(line, "%7s %" SCNu64 " %255s", word, &bytes, file) != 3)
		return -EBADMSG;
	return ship_state_add_line(k, word, bytes, file);
}

static int ship_state_read_lines(struct reading *k, FILE *f)
{
	char line[NAME_MAX + 64];
	bool first = true;
	int r = 0;

	for (; r == 0 && fgets(line, sizeof(line), f); first = false) {
		line[strcspn(line, "\n")] = '\0';
		if (!first)
			r = ship_state_read_line(k, line);
		else if (strcmp(line, SHIP_STATE_FIRST) != 0)
			r = -EBADMSG;
	}
	return r ?: ferror(f) ? -EIO : first ? -EBADMSG : 0;
}

int ship_state_load(struct ship_state *s, int dir_fd, const char *name)
{
	_cleanup_close_ int fd = openat(dir_fd, SHIP_STATE_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct reading k = { .name = name };
	FILE *f;
	int r;

	if (fd < 0 && errno == ENOENT)
		return 0;
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f)
		return -errno;
	TAKE_FD(fd);
	r = ship_state_read_lines(&k, f);
	fclose(f);
	if (r < 0)
		ship_state_deinit(&k.s);
	else
		*s = k.s;
	return r;
}

int ship_state_save(const struct ship_state *s, int dir_fd)
{
	_cleanup_(outbuf_deinit) struct outbuf text = { 0 };

	outbuf_print(&text, "%s\nall %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", SHIP_STATE_FIRST,
		     s->n_taken, s->n_lost, s->lost_bytes);
	outbuf_print(&text, "directory %" PRIu64 " %" PRIu64 "\n", s->directory.device,
		     s->directory.inode);
	for (size_t i = 0; i < s->n; i++)
		outbuf_print(&text, "%s %" PRIu64 " %s\n", s->chunks[i].taken ? "taken" : "waits",
			     s->chunks[i].chunk.bytes, s->chunks[i].chunk.file);
	return text.error ?: ship_copy_put(dir_fd, SHIP_STATE_FILE, &text, 0600);
}

bool ship_state_is_saved(int dir_fd)
{
	return faccessat(dir_fd, SHIP_STATE_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
	       errno != ENOENT;
}

/* ---- chunks ---- */

static void ship_state_lose(struct ship_state *s, const struct ship_chunk *c)
{
	if (c->taken)
		return;
	s->n_lost++;
	s->lost_bytes += c->chunk.bytes;
}

static bool ship_state_has_one_of(const struct ship_state *s, const struct chunk *chunks, size_t n)
{
	size_t old = 0;

	for (size_t i = 0; i < n; i++) {
		int order = -1;

		while (old < s->n &&
		       (order = strcmp(s->chunks[old].chunk.file, chunks[i].file)) < 0)
			old++;
		if (old < s->n && order == 0)
			return true;
	}
	return false;
}

/*
 * Returns 0 if DIRECTORY is the known directory; 1 if it takes the place of the known one; or
 * -ESTALE if chunks are known, and DIRECTORY has none of them.
 */
static int ship_state_enter(struct ship_state *s, const struct ship_directory *directory,
			    const struct chunk *chunks, size_t n)
{
	if (s->directory.device == directory->device && s->directory.inode == directory->inode)
		return 0;
	if (s->n && !ship_state_has_one_of(s, chunks, n))
		return -ESTALE;
	s->directory = *directory;
	return 1;
}

int ship_state_update(struct ship_state *s, const struct ship_directory *directory,
		      const struct chunk *chunks, size_t n)
{
	_cleanup_free_ struct ship_chunk *merged = n ? calloc(n, sizeof(*merged)) : NULL;
	size_t old = 0;
	int changed;

	if (n && !merged)
		return -ENOMEM;
	changed = ship_state_enter(s, directory, chunks, n);
	if (changed < 0)
		return changed;
	for (size_t i = 0; i < n; i++) {
		int order = 1;

		while (old < s->n &&
		       (order = strcmp(s->chunks[old].chunk.file, chunks[i].file)) < 0) {
			ship_state_lose(s, &s->chunks[old++]);
			changed = 1;
		}
		merged[i] = (struct ship_chunk){ .chunk = chunks[i] };
		if (old < s->n && order == 0) {
			merged[i].taken = s->chunks[old].taken;
			merged[i].n_failed = s->chunks[old++].n_failed;
		} else {
			changed = 1;
		}
	}
	for (; old < s->n; old++) {
		ship_state_lose(s, &s->chunks[old]);
		changed = 1;
	}
	free(s->chunks);
	s->chunks = TAKE_PTR(merged);
	s->n = n;
	return changed;
}

void ship_state_forget(struct ship_state *s)
{
	for (size_t i = 0; i < s->n; i++)
		ship_state_lose(s, &s->chunks[i]);
	s->n = 0;
}

void ship_state_take(struct ship_state *s, struct ship_chunk *c)
{
	c->taken = true;
	s->n_taken++;
}

const struct ship_chunk *ship_state_waiting(const struct ship_state *s, uint64_t *ret_n,
					    uint64_t *ret_bytes)
{
	const struct ship_chunk *oldest = NULL;

	*ret_n = *ret_bytes = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (s->chunks[i].taken)
			continue;
		oldest = oldest ?: &s->chunks[i];
		++*ret_n;
		*ret_bytes += s->chunks[i].chunk.bytes;
	}
	return oldest;
}
