/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file and the code that an argument of --call names: FILE:FUNCTION, FILE:SOURCE:LINE,
 * FILE:0xADDRESS or FILE:usdt:PROVIDER:NAME, before the arguments (kymo.1, "--call").
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/options/call-spec.h"
#include "reader/places/places.h"

/* The form in which the code is named. */
enum call_target_kind {
	CALL_TARGET_NAME,
	CALL_TARGET_LINE,
	CALL_TARGET_ADDRESS,
	CALL_TARGET_USDT,
};

struct call_target {
	char file[CALL_FILE_MAX];
	enum call_target_kind kind;
	char name[PLACES_NAME_MAX]; /* name of a function or source file, or PROVIDER:NAME */
	uint64_t number;            /* number of the line, or the address */
	const char *tail;           /* text of the arguments and of the rest; in the parsed text */
	bool is_source_name;        /* the linker cannot have such a name */
};

/*
 * Parses TEXT. Returns 1 with *RET; 0 if TEXT need not be resolved (a system call, an offset, or no
 * file); or -EINVAL with the reason in WHY.
 */
int call_target_parse(const char *text, struct call_target *ret, char why[static PLACES_WHY_MAX]);
