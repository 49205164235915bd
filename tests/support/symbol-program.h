/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that are built and run by a test, from tests/support/sample-program.c: what they say of
 * themselves, and what other tools say of them, is the truth that names for addresses are held to.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "reader/symbols/symbols.h"

#define SAMPLE SOURCE_ROOT "/tests/support/sample-program.c"

/* ---- the directory, and commands in it ---- */

/* For a group of tests: a directory of their own with the program as "pie", "fixed", "stripped" and
 * "pie.debug", if there are the tools. It goes with own_directory_tear_down(). */
int programs_set_up(void **state);

/* Skips the test if there are no programs. */
void need_program(void);

/* The path of NAME in the directory; good for the next three calls, too. */
const char *directory_path(const char *name);

/*
 * Runs a command in the directory; what it says goes to the file "log" there. Returns as system().
 */
__attribute__((format(printf, 1, 2))) int try_command(const char *format, ...);
#define command(...) assert_int_equal(try_command(__VA_ARGS__), 0)

bool have_command(const char *name);

/* One line of what a command in the directory prints, to TO of ROOM bytes. */
__attribute__((format(printf, 3, 4))) void read_command(char *to, int room, const char *format,
							...);

/* The build id that another tool finds in a file of the directory, to ID (SYMBOL_BUILD_ID_MAX
 * bytes). Returns its size. */
size_t read_build_id(const char *name, uint8_t *id);

/* ---- a program that runs ---- */

enum { POINTS_MAX = 16 };

struct program {
	pid_t pid;
	FILE *input;
	/* What it says of itself. */
	struct point {
		char name[64];
		uint64_t address;
	} points[POINTS_MAX];
	size_t n_points;
	char path[4096];
	struct symbol_mapping mapping; /* of its code */
};

/* Starts the program NAME of the directory. It waits until it is stopped. */
void program_start(struct program *p, const char *name);
void program_stop(struct program *p);

/* Of what it says of itself. */
uint64_t program_address(const struct program *p, const char *name);

/* Puts the mapping of process P->pid that ADDRESS is in to P. */
void program_find_mapping(struct program *p, uint64_t address);

/* ---- asking ---- */

struct symbols *open_symbols(const struct symbols_options *options);

/* The answer of symbols_resolve(), the innermost frame first; RET_N may be NULL. */
const struct symbol_frame *ask_symbols(struct symbols *s, const struct symbol_query *query,
				       size_t *ret_n);

/* The function that was not inlined at ADDRESS of P, whose process has ended as far as anybody
 * knows. */
const struct symbol_frame *ask_program(struct symbols *s, const struct program *p,
				       uint64_t address);

void assert_function(const struct symbol_frame *frame, const char *name, uint64_t offset);

/* All that the program says of itself is found, at its first byte and behind that. */
void assert_all_points(struct symbols *s, const struct program *p);

bool has_problem(const struct symbols *s, const char *file, const char *what);
size_t count_problems(const struct symbols *s);
