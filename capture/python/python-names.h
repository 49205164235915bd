/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of Python in stacks (docs/architecture/python.md): keeps the code objects that the
 * eBPF programs have sent, puts the frames of Python between the native ones, and names them.
 *
 * A function at a line has an address of its own in each process, where no code can be. The archive
 * gets its name (EVENT_FRAME) before the first stack that has the address.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "bpf/record.h"
#include "model/event.h"

/* Limits: code objects of a generation, in bytes; and addresses that are remembered. */
enum { PYTHON_CODES_BYTES_MAX = 16 << 20, PYTHON_PLACES_MAX = 1 << 17 };

/* The names of frames without a name: a function, and any number of functions that are missing. */
#define PYTHON_NAME_UNKNOWN "[unknown function of Python]"
#define PYTHON_NAME_CUT     "[missing functions of Python]"

/*
 * The lowest of the made-up addresses that stand for places in code of Python. No program has
 * memory there.
 */
#define PYTHON_FIRST_ADDRESS UINT64_C(0x2000000000000000)

struct python_names {
	struct table now, before; /* id -> struct python_code, owned: two generations */
	size_t bytes;             /* of `now` */
	struct table places;      /* hash -> struct python_place, owned */
	uint64_t next_address;    /* of the next place; 0 = there was none */
	uint32_t chunk;           /* incremented when all names must be written again */
	uint64_t n_unknown;       /* frames whose function is unknown */
};

/* A walked stack of a program. */
struct python_stack {
	const uint64_t *frames; /* as the eBPF programs have sent them (bpf/record-python.h) */
	unsigned n;
	uint32_t koid; /* of the process */
	bool returns;  /* the first frame is a return address */
	uint64_t ts_ns;
	/* Writes EV, the name of an address. Returns 0 or a negative errno. */
	int (*write)(void *userdata, const struct event *ev);
	/*
	 * If the stack will be repeated, otherwise NULL: notes EV, the name of an address in the
	 * stack. Also writes EV if necessary. Returns like WRITE.
	 */
	int (*hold)(void *userdata, const struct event *ev);
	void *userdata;
};

/*
 * Returns true if FRAME is a native frame that executes Python. A walk by frame pointers can take
 * other values for addresses, so the other bits must be an address of a program.
 */
static inline bool python_names_is_eval(uint64_t frame)
{
	return (frame & PYTHON_WORD_MASK) == PYTHON_EVAL &&
	       (frame & ~PYTHON_EVAL_FLAGS) < PYTHON_NATIVE_END;
}

/*
 * Returns true if python_names_expand() must handle the N FRAMES: one of them executes Python. (Its
 * function can be unknown.)
 */
static inline bool python_names_are_in(const uint64_t *frames, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (python_names_is_eval(frames[i]))
			return true;
	return false;
}

/*
 * Returns the number of native frames among the N FRAMES. The words of Python, if one of the frames
 * executes Python, are behind them.
 */
static inline unsigned python_names_end_of_native(const uint64_t *frames, unsigned n)
{
	bool is_in = python_names_are_in(frames, n);

	while (is_in && n > 0 && (frames[n - 1] & PYTHON_WORD_MASK) == PYTHON_WORD)
		n--;
	return n;
}

void python_names_deinit(struct python_names *p);

/*
 * Keeps the code object REC, which was checked. REC replaces an earlier copy whose name was
 * unreadable. Returns 0 or -ENOMEM.
 */
int python_names_add(struct python_names *p, const struct rec_python_code *rec);

/*
 * Returns true if too many code objects are kept. The caller must then make the eBPF programs send
 * all code objects again, and the oldest generation is freed.
 */
bool python_names_turn(struct python_names *p);

/* Makes all names be written again, since a new part of the archive begins. */
void python_names_forget_written(struct python_names *p);

/*
 * Writes the frames of S to TO, which has room for S->n. Returns their number, which is at most
 * S->n, or a negative errno.
 */
int python_names_expand(struct python_names *p, const struct python_stack *s, uint64_t *to);
