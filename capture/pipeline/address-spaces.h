/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What executable code each process has mapped, as the archive has said it: for recordings that are split, since the head of a chunk
 * says it again (docs/ARCHITECTURE.md, "Chunks").
 *
 * It follows the rules by which readers follow the archive (writer/maps.h): a mapping holds until others cover it or
 * the process calls exec, and a child has what its parent has. Mappings that were covered in part are kept whole, in the order
 * in which they came: said again in that order they mean the same.
 *
 * Memory is bounded. A process that has too many loses its oldest; when all have too many, new ones are not kept.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "bpf/record.h"
#include "capture/proc/proc-records.h"

/* Of one process; of all, with what it takes to keep them. */
enum { ADDRESS_SPACE_MAX = 16384, ADDRESS_SPACES_BYTES_MAX = 32 << 20 };

struct address_spaces;

int address_spaces_new(struct address_spaces **ret);
struct address_spaces *address_spaces_free(struct address_spaces *s);
DEFINE_CLEANUP(struct address_spaces *, address_spaces_free)

/* The process of REC, which is copied, has mapped it, as MODULE_ID. Returns how many mappings are not kept any more because of
 * it, or -ENOMEM. */
int address_spaces_add(struct address_spaces *s, const struct rec_mapping *rec, uint32_t module_id);

/* CHILD, a new process, has what PARENT has. Returns 0 or -ENOMEM. */
int address_spaces_fork(struct address_spaces *s, uint32_t parent, uint32_t child);

/* PID has called exec, or has ended. */
void address_spaces_forget(struct address_spaces *s, uint32_t pid);

/* Calls FN with all mappings, those of a process behind each other; PID is whose it is, which REC does not say.
 * Returns what FN returned when that is not 0. */
typedef int (*address_space_fn)(uint32_t pid, const struct rec_mapping *rec, uint32_t module_id,
				void *userdata);
int address_spaces_each(const struct address_spaces *s, address_space_fn fn, void *userdata);
