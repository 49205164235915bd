/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The versions of Python that walks have passed, and whose layouts are unknown.
 *
 * The eBPF programs note in the map of files that a walk has passed an interpreter. A file can lose
 * its table, or its number. So the notes are collected before the number gets another table, and
 * each version is stored once, separately from the files.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record-unwind.h"

enum { UNWIND_PYTHONS_MAX = 16 };

struct unwind_pythons {
	struct unwind_python_version {
		uint32_t version; /* Py_Version; 0 = it has none */
		bool is_passed;
	} versions[UNWIND_PYTHONS_MAX];
	unsigned n;
	/* For each file: 1 + the number of its version, or 0 = none. */
	uint8_t of_file[UNWIND_FILES_MAX];
};

/* To be called before file NUMBER of FILES gets a table. */
void unwind_pythons_collect(struct unwind_pythons *p, const struct unwind_file *files,
			    uint32_t number);

/*
 * Notes that file NUMBER has got a table, with an interpreter of VERSION whose layout is unknown.
 */
void unwind_pythons_add(struct unwind_pythons *p, uint32_t number, uint32_t version);

/* Stores the versions that walks have passed, at most MAX. Returns their number. */
unsigned unwind_pythons_list(struct unwind_pythons *p, const struct unwind_file *files,
			     uint32_t *versions, unsigned max);
