/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the functions of a program's file are probed so that their calls are seen: by name, from
 * the symbols of the ELF file, and by the code of each function. What is read may be somebody
 * else's file, so a process with rights to lose asks call_places_find_sandboxed().
 *
 * A function has one place at its entry, where stack pointer and arguments are as the caller left
 * them, and one on each `ret` that it leaves by, also those that a tail call leads to. There the
 * stack pointer is what it was at the entry, and what is returned is in its register. A way out
 * that was not found (a jump to an address in memory, say) is said by a flag.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CALL_PLACES_MAX = 1024, /* functions, of one pattern in one file */
	CALL_RETS_MAX = 64,     /* of one function */
	CALL_PLACE_NAME_MAX = 256,
};

#define CALL_PLACE_PARTIAL (1U << 0) /* it may be left by a way that was not found */
#define CALL_PLACE_LEAF    (1U << 1) /* calls nothing: no exception passes, and it does not nest */
#define CALL_PLACE_POINT   (1U << 2) /* an instruction, not a function: nothing returns */
#define CALL_PLACE_ALL     ((1U << 3) - 1)

struct call_place {
	uint64_t entry; /* offsets in the file, here and below */
	uint64_t rets[CALL_RETS_MAX];
	uint32_t n_rets;
	uint32_t flags;                 /* CALL_PLACE_* */
	char name[CALL_PLACE_NAME_MAX]; /* as in the table of symbols, without a version */
};

#define CALL_PLACES_GO         (1U << 0) /* built by Go: its stacks move, so none of it is probed */
#define CALL_PLACES_NO_SYMBOLS (1U << 1) /* no table of symbols: its functions have no names */
#define CALL_PLACES_FOREIGN    (1U << 2) /* for another machine */
#define CALL_PLACES_FULL       (1U << 3) /* more than CALL_PLACES_MAX: the rest is left out */
#define CALL_PLACES_INDIRECT   (1U << 4) /* a name belongs to one of several, chosen when it runs */
#define CALL_PLACES_NO_CODE    (1U << 5) /* of this machine no code can be read: none is probed */
#define CALL_PLACES_NO_START   (1U << 6) /* no function begins where the range does */
#define CALL_PLACES_NO_POINT   (1U << 7) /* no instruction begins at its point */
#define CALL_PLACES_ALL        ((1U << 8) - 1)

struct call_places {
	struct call_place *places; /* owned; by entry, no two the same */
	size_t n;
	uint32_t flags;                    /* CALL_PLACES_* */
	char nearest[CALL_PLACE_NAME_MAX]; /* where there is none: a name that is like it, or "" */
};

void call_places_deinit(struct call_places *p);

/*
 * A function that was found elsewhere, as offsets in the file; or the instruction AT behind its
 * begin.
 */
struct call_places_range {
	uint64_t begin, bytes, at;
	bool is_used, is_point;
};

struct call_places_query {
	const char *pattern; /* a name, in which `*` and `?` stand for others; unless there is... */
	unsigned n_args;     /* that are to be read at the entry */
	struct call_places_range range; /* ... a range. Its place has the name "-" */
};

/*
 * Finds the functions of the N bytes at DATA. Returns 0, -ENOEXEC (no program or library), -EBADMSG
 * (damaged) or -ENOMEM; *RET is set only on success and is the caller's.
 */
int call_places_find_in(const void *data, size_t n, const struct call_places_query *query,
			struct call_places *ret);

/*
 * The same of the file that FD refers to (borrowed), in a process without rights, which is killed
 * when it takes longer than TIMEOUT_NS. What it says is checked: -EBADMSG and -ETIME say that it
 * died or was too slow.
 */
int call_places_find_sandboxed(int fd, const struct call_places_query *query, uint64_t timeout_ns,
			       struct call_places *ret);

/* False if P cannot be of a file of that size, or is nonsense: it is somebody else's word. */
bool call_places_are_valid(const struct call_places *p, uint64_t file_bytes);

/*
 * Why FILE, in which PATTERN was looked for, is of no use: one sentence into WHY, of SIZE bytes.
 * ERROR is what the search returned; P is set if that was 0. Returns false if it is of use.
 */
bool call_places_explain(const struct call_places *p, int error, const char *file,
			 const char *pattern, char *why, size_t size);
