/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What elfutils' libdw says of a frame, and what a row of an unwind table says of it: both are
 * carried out with the same registers, and with a memory in which each word has a value of its own.
 */
#pragma once

#include <elfutils/libdw.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/unwind/unwind-table.h"

struct unwind_truth {
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_CFI *eh_frame, *debug_frame; /* NULL where there is none */
};

/* Of the file that FD refers to (borrowed until the end). */
int unwind_truth_init(struct unwind_truth *truth, int fd);
void unwind_truth_deinit(struct unwind_truth *truth);

/* What comes out at an address. */
struct unwind_caller {
	bool known; /* there is such code */
	bool last;  /* there is no caller */
	uint64_t cfa, ip, bp;
};

/* By libdw. False if it says something that nobody here understands. */
bool unwind_truth_caller(const struct unwind_truth *truth, uint64_t address,
			 struct unwind_caller *ret);

/* By the rule of a row; it has to be one that is supported. */
void unwind_rule_caller(uint32_t rule, uint64_t address, struct unwind_caller *ret);
