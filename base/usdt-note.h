/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The notes of static probes (.note.stapsdt, as <sys/sdt.h> makes them), one after the other. They
 * come from untrusted files.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct usdt_note {
	uint64_t vaddr;     /* of the instruction, as of the time when the file was linked */
	uint64_t base;      /* of .stapsdt.base, likewise */
	uint64_t semaphore; /* of its counter, likewise; 0 = none */
	const char *provider, *name, *arguments; /* in the notes */
};

/*
 * Reads the next note from the N bytes at NOTES. *AT is where to begin, and moves behind it.
 * Returns 1, 0 (there is none), or -EBADMSG.
 */
int usdt_note_next(const char *notes, size_t n, size_t *at, struct usdt_note *ret);

/*
 * VADDR, an address of NOTE, in the file as it is: a file that was moved after it was linked has
 * its section .stapsdt.base at BASE. 0 = it has none, and was not moved.
 */
uint64_t usdt_note_vaddr(const struct usdt_note *note, uint64_t vaddr, uint64_t base);
