/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selects the records of an archive that refer to certain processes (with their children) and CPUs.
 *
 * Scheduling records name only threads, so their processes are learned from objects and forks. An
 * unselected side of a switch becomes "other" (docs/FXT-MAPPING.md).
 */
#pragma once

#include "base/cleanup.h"
#include "edit/edit-copy.h"

struct edit_select;

/*
 * Creates a selection. The parameters are those of struct edit_cut_options, and the lists are
 * borrowed. Returns 0 or -ENOMEM.
 */
int edit_select_new(struct edit_select **ret, const uint32_t *pids, size_t n_pids, const bool *cpus,
		    size_t n_cpus);
struct edit_select *edit_select_free(struct edit_select *s);
DEFINE_CLEANUP(struct edit_select *, edit_select_free)

/*
 * Learns from RECORD which process a thread belongs to, which parent a process has, and on which
 * CPU a thread runs. Must be called with every record. Returns 0 or -ENOMEM.
 */
int edit_select_learn(struct edit_select *s, const struct fxt_record *record);

/*
 * Returns true if RECORD is selected. If only one side of a switch is selected, the other side is
 * changed to "other".
 */
bool edit_select_apply(struct edit_select *s, struct fxt_record *record);

/* Returns true if the process with koid PID is selected. */
bool edit_select_process(const struct edit_select *s, uint64_t pid);

/*
 * The function arg() for struct edit_rules. It leaves out or changes the arguments that describe
 * unselected threads. USERDATA is the struct edit_select.
 */
bool edit_select_arg(void *userdata, const struct fxt_record *record, int name,
		     struct fxt_out_arg *arg);

/* Returns true if some processes are not selected, so that "other" is needed. */
bool edit_select_by_process(const struct edit_select *s);
