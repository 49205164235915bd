/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A space is a list of mappings in the order in which they came. Forked processes share one until one of them changes it; mappings are
 * shared by lists.
 */
#include "capture/pipeline/address-spaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

struct kept {
	unsigned n_refs;
	uint32_t module_id;
	struct rec_mapping rec; /* with its path behind it */
};

/* Where it lies stands here, too: lists are searched. */
struct entry {
	uint64_t first, last;
	struct kept *kept; /* a reference */
};

struct space {
	unsigned n_refs;
	size_t n, room;
	struct entry *list; /* owned */
};

struct user {
	uint32_t pid;
	struct space *space; /* a reference */
};

struct address_spaces {
	struct table users; /* pid + 1 -> struct user, owned */
	size_t bytes;
};

int address_spaces_new(struct address_spaces **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

static size_t kept_bytes(const struct kept *kept)
{
	return sizeof(*kept) - sizeof(kept->rec) + kept->rec.head.size;
}

static void unref_kept(struct address_spaces *s, struct kept *kept)
{
	if (--kept->n_refs > 0)
		return;
	s->bytes -= kept_bytes(kept);
	free(kept);
}

static void unref_space(struct address_spaces *s, struct space *space)
{
	if (--space->n_refs > 0)
		return;
	for (size_t i = 0; i < space->n; i++)
		unref_kept(s, space->list[i].kept);
	s->bytes -= space->room * sizeof(*space->list);
	free(space->list);
	free(space);
}

static struct user *find_user(const struct address_spaces *s, uint32_t pid)
{
	return table_get(&s->users, (uint64_t)pid + 1);
}

void address_spaces_forget(struct address_spaces *s, uint32_t pid)
{
	struct user *user = table_remove(&s->users, (uint64_t)pid + 1);

	if (!user)
		return;
	unref_space(s, user->space);
	free(user);
}

struct address_spaces *address_spaces_free(struct address_spaces *s)
{
	struct user *user;

	if (!s)
		return NULL;
	for (size_t pos = 0; (user = table_next(&s->users, &pos));) {
		unref_space(s, user->space);
		free(user);
	}
	table_deinit(&s->users);
	free(s);
	return NULL;
}

/* PID gets SPACE, a reference that is its own then; on failure it is the caller's still. */
static int add_user(struct address_spaces *s, uint32_t pid, struct space *space)
{
	struct user *user = malloc(sizeof(*user));

	if (!user)
		return -ENOMEM;
	*user = (struct user){ pid, space };
	if (table_set(&s->users, (uint64_t)pid + 1, user) < 0) {
		free(user);
		return -ENOMEM;
	}
	return 0;
}

static int set_room(struct address_spaces *s, struct space *space, size_t room)
{
	struct entry *list = realloc(space->list, room * sizeof(*list));

	if (!list)
		return -ENOMEM;
	s->bytes += (room - space->room) * sizeof(*list);
	space->list = list;
	space->room = room;
	return 0;
}

static struct space *copy_space(struct address_spaces *s, const struct space *from)
{
	struct space *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return NULL;
	copy->n_refs = 1;
	if (from && from->n > 0 && set_room(s, copy, from->n + 1) < 0) {
		free(copy);
		return NULL;
	}
	for (size_t i = 0; from && i < from->n; i++) {
		copy->list[copy->n++] = from->list[i];
		from->list[i].kept->n_refs++;
	}
	return copy;
}

/* The space of PID, which is nobody else's. NULL without memory. */
static struct space *own_space(struct address_spaces *s, uint32_t pid)
{
	struct user *user = find_user(s, pid);
	struct space *space;

	if (user && user->space->n_refs == 1)
		return user->space;
	space = copy_space(s, user ? user->space : NULL);
	if (!space)
		return NULL;
	if (user) {
		unref_space(s, user->space);
		user->space = space;
	} else if (add_user(s, pid, space) < 0) {
		unref_space(s, space);
		return NULL;
	}
	return space;
}

/* Takes out the N entries from AT on. */
static void remove_entries(struct address_spaces *s, struct space *space, size_t at, size_t n)
{
	for (size_t i = at; i < at + n; i++)
		unref_kept(s, space->list[i].kept);
	space->n -= n;
	memmove(&space->list[at], &space->list[at + n], (space->n - at) * sizeof(*space->list));
}

/* Those that lie within FIRST..LAST mean nothing any more. */
static void remove_covered(struct address_spaces *s, struct space *space, uint64_t first,
			   uint64_t last)
{
	size_t n = 0;

	for (size_t i = 0; i < space->n; i++) {
		struct entry *e = &space->list[i];

		if (e->first >= first && e->last <= last)
			unref_kept(s, e->kept);
		else
			space->list[n++] = *e;
	}
	space->n = n;
}

static struct kept *make_kept(struct address_spaces *s, const struct rec_mapping *rec,
			      uint32_t module_id)
{
	struct kept *kept = malloc(sizeof(*kept) - sizeof(kept->rec) + rec->head.size);

	if (!kept)
		return NULL;
	kept->n_refs = 1;
	kept->module_id = module_id;
	memcpy(&kept->rec, rec, rec->head.size);
	s->bytes += kept_bytes(kept);
	return kept;
}

int address_spaces_add(struct address_spaces *s, const struct rec_mapping *rec, uint32_t module_id)
{
	uint64_t first = rec->start, last = first + rec->bytes - 1;
	struct space *space;
	struct kept *kept;
	int n_lost = 0;

	if (rec->bytes == 0 || last < first)
		return 0;
	if (s->bytes + rec->head.size > ADDRESS_SPACES_BYTES_MAX)
		return 1;
	space = own_space(s, rec->head.pid);
	if (!space)
		return -ENOMEM;
	remove_covered(s, space, first, last);
	if (space->n == ADDRESS_SPACE_MAX) {
		/* (not one by one: each time all others move) */
		n_lost = ADDRESS_SPACE_MAX / 8;
		remove_entries(s, space, 0, (size_t)n_lost);
	}
	if (space->n == space->room && set_room(s, space, space->room ? 2 * space->room : 8) < 0)
		return -ENOMEM;
	kept = make_kept(s, rec, module_id);
	if (!kept)
		return -ENOMEM;
	space->list[space->n++] = (struct entry){ first, last, kept };
	return n_lost;
}

int address_spaces_fork(struct address_spaces *s, uint32_t parent, uint32_t child)
{
	struct user *from;
	int r;

	address_spaces_forget(s, child); /* the earlier owner of this id */
	from = find_user(s, parent);
	if (!from)
		return 0;
	r = add_user(s, child, from->space);
	if (r == 0)
		from->space->n_refs++;
	return r;
}

int address_spaces_each(const struct address_spaces *s, address_space_fn fn, void *userdata)
{
	const struct user *user;
	int r = 0;

	for (size_t pos = 0; r == 0 && (user = table_next(&s->users, &pos));)
		for (size_t i = 0; r == 0 && i < user->space->n; i++)
			r = fn(user->pid, &user->space->list[i].kept->rec,
			       user->space->list[i].kept->module_id, userdata);
	return r;
}
