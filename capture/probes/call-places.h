/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places of probes on the functions of a program's file. Functions are found by name in the
 * symbols of the ELF file; the places are found in their code. The file can belong to another user,
 * so a privileged process calls call_places_find_sandboxed().
 *
 * A function has one place at its entry, where stack pointer and arguments are still those of the
 * caller, and one on each `ret` that ends the function. The `ret` can be in another function that a
 * tail call reaches. There, the stack pointer has its value of the entry, and the result is in its
 * register. A jump to a function that is chosen at run time (such as memcpy) is a place, too, if no
 * function that can be chosen calls another function: a return probe is safe there. A flag marks
 * functions with unknown exits (such as a jump to an address in memory).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CALL_PLACES_MAX = 1024, /* functions that one pattern matches in one file */
	CALL_RETS_MAX = 64,     /* places on a `ret` of one function */
	CALL_TAILS_MAX = 8,     /* jumps of one function to functions that are chosen at run time */
	CALL_PLACE_NAME_MAX = 256,
	CALL_REFUSED_NAMES_MAX = 3, /* maximum number of names of functions that are left out */
};

#define CALL_PLACE_PARTIAL (1U << 0) /* the function can have exits that were not found */
/* The function calls no function, so no exception leaves it, and its calls do not nest. */
#define CALL_PLACE_LEAF (1U << 1)
/* The place is an instruction, not a function, and has no returns. */
#define CALL_PLACE_POINT (1U << 2)
/* The function jumps to its own beginning, so not each pass is a call. */
#define CALL_PLACE_LOOPS (1U << 3)
/*
 * A return probe, which replaces the return address on the stack, would break the function: the
 * function switches stacks, stores its return address, or has none.
 */
#define CALL_PLACE_FRAGILE (1U << 4)
#define CALL_PLACE_ALL     ((1U << 5) - 1)

struct call_place {
	/* Where the function or point begins; an offset in the file, like all members below. */
	uint64_t begin;
	uint64_t entry;     /* where the probe is: at the beginning, or after the prologue */
	uint64_t semaphore; /* the counter of a static probe, which tracers raise; 0 = no counter */
	uint64_t rets[CALL_RETS_MAX];
	/* Jumps that end the function and lead to leaf functions that are chosen at run time. */
	uint64_t tails[CALL_TAILS_MAX];
	uint32_t n_rets, n_tails;
	uint32_t flags, pad_0;          /* CALL_PLACE_* */
	char name[CALL_PLACE_NAME_MAX]; /* from the symbol table, without a version */
};

#define CALL_PLACES_GO         (1U << 0) /* built by Go: its stacks move, so it has no probes */
#define CALL_PLACES_NO_SYMBOLS (1U << 1) /* no symbol table: its functions have no names */
#define CALL_PLACES_FOREIGN    (1U << 2) /* the file is for another machine */
#define CALL_PLACES_FULL       (1U << 3) /* more than CALL_PLACES_MAX: the rest is left out */
/* The name stands for several functions, of which the program chooses one at run time. */
#define CALL_PLACES_INDIRECT (1U << 4)
#define CALL_PLACES_NO_CODE  (1U << 5) /* code of this machine is not supported: no probes */
#define CALL_PLACES_NO_START (1U << 6) /* no function begins where the range begins */
#define CALL_PLACES_NO_POINT (1U << 7) /* no instruction begins at the point of the range */
/*
 * The file switches stacks or generates code at run time. A call can return in another thread, or
 * through code that does not support return probes. `nearest` is the function by which kymo knows
 * this.
 */
#define CALL_PLACES_SWITCHES (1U << 8)
#define CALL_PLACES_STRIPPED (1U << 9) /* the file has only the names of exported functions */
/* Like CALL_PLACES_INDIRECT, and the function is in the kernel's vDSO. */
#define CALL_PLACES_VDSO (1U << 10)
/* The kernel refuses a probe on some functions: these are left out. */
#define CALL_PLACES_REFUSED (1U << 11)
/*
 * The file has code that loads the stack pointer to continue on another stack. `nearest` is the
 * function with this code, or its address.
 */
#define CALL_PLACES_LOADS_STACK (1U << 12)
/*
 * The file cannot be searched for stack switches: its segments have code, but its sections have
 * none.
 */
#define CALL_PLACES_NO_SECTIONS (1U << 13)
/* The file has too much code to be searched for stack switches. */
#define CALL_PLACES_UNSEARCHED (1U << 14)
#define CALL_PLACES_ALL        ((1U << 15) - 1)

struct call_places {
	struct call_place *places; /* owned; sorted by `begin`, without duplicates */
	size_t n;
	uint32_t flags; /* CALL_PLACES_* */
	/*
	 * With CALL_PLACES_REFUSED: the number of functions that are left out, and their first
	 * names
	 */
	uint32_t n_refused;
	char refused[CALL_REFUSED_NAMES_MAX][CALL_PLACE_NAME_MAX];
	/* If no function was found: a similar name, or "" */
	char nearest[CALL_PLACE_NAME_MAX];
};

void call_places_deinit(struct call_places *p);

/*
 * A function that was found in another way, as offsets in the file; or the instruction at offset AT
 * of this function.
 */
struct call_places_range {
	uint64_t begin, bytes, at;
	bool is_used, is_point;
};

struct call_places_query {
	/*
	 * A name with wildcards `*` and `?`, or the name of a place with an offset. Not used if
	 * there is a range
	 */
	const char *pattern;
	unsigned n_args; /* number of arguments to read at the entry */
	/*
	 * For return probes: find no place if the file has CALL_PLACES_SWITCHES, _LOADS_STACK,
	 * _NO_SECTIONS or _UNSEARCHED
	 */
	bool refuses_switches;
	struct call_places_range range; /* if set, the place has the name "-" */
};

/*
 * Finds the functions in the N bytes at DATA. Returns 0, -ENOEXEC (not a program or library),
 * -EBADMSG (damaged) or -ENOMEM; *RET is set only on success, and the caller owns it.
 */
int call_places_find_in(const void *data, size_t n, const struct call_places_query *query,
			struct call_places *ret);

/*
 * Like call_places_find_in(), for the file FD (borrowed), in a process without privileges, which is
 * killed after TIMEOUT_NS. The answer of this process is checked. -EBADMSG and -ETIME mean that the
 * process crashed or was too slow.
 */
int call_places_find_sandboxed(int fd, const struct call_places_query *query, uint64_t timeout_ns,
			       struct call_places *ret);

/* Returns true if P is valid for a file of FILE_BYTES. P comes from an untrusted process. */
bool call_places_are_valid(const struct call_places *p, uint64_t file_bytes);

/*
 * Writes a sentence to WHY, of SIZE bytes, that says why the search for PATTERN in FILE has no
 * usable result. ERROR is the result of the search; P is set if ERROR is 0. Returns false if the
 * result is usable.
 */
bool call_places_explain(const struct call_places *p, int error, const char *file,
			 const char *pattern, char *why, size_t size);
