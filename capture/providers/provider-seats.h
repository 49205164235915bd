/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sessions of one program. A program has room for some sessions at once, each with a buffer of
 * its own. Sessions of different users share the seats, so the sessions of one user cannot take all
 * seats. Also counts the memory of the buffers of all programs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "capture/providers/provider-packet.h"

/*
 * The number of seats is that of the library. Sessions of a user other than root take at most half.
 */
enum { PROVIDER_SEATS = 8 };

enum provider_seat_state {
	PROVIDER_SEAT_FREE,
	PROVIDER_SEAT_ASKED,   /* START was sent */
	PROVIDER_SEAT_STARTED, /* the program writes to its buffer */
	PROVIDER_SEAT_STOPPED, /* the program could not start the session, or has ended it */
	PROVIDER_SEAT_LEFT,    /* STOP was sent, but the program has not answered */
};

struct provider_seat {
	enum provider_seat_state state;
	uint64_t session;
	uint32_t uid;     /* of the user whose session it is */
	int error;        /* the program's answer to START: 0 or a negative errno */
	bool is_answered; /* START was answered */
};

struct provider_seats {
	struct provider_seat seats[PROVIDER_SEATS];
};

/* Whether a session of user UID can have a seat. */
bool provider_seats_have_room(const struct provider_seats *s, uint32_t uid);

/*
 * Takes a seat for SESSION of user UID (PROVIDER_SEAT_ASKED). Returns the seat; NULL = none is
 * free.
 */
struct provider_seat *provider_seats_take(struct provider_seats *s, uint64_t session, uint32_t uid);

/* Whether a program can send PACKET, an answer, now. */
bool provider_seats_expect(const struct provider_seats *s, const struct provider_packet *packet);

/* Takes an answer that was expected, or ignores it. Returns true if this has freed a seat. */
bool provider_seats_answer(struct provider_seats *s, const struct provider_packet *packet);

/* Leaves SEAT, whose session is over. Returns true if STOP must be sent. */
bool provider_seat_leave(struct provider_seat *seat);

/* ---- memory ---- */

#define PROVIDER_BUFFERS_BYTES_MAX (UINT64_C(1) << 30)
/* Of these bytes, the part that only programs of root can use. */
#define PROVIDER_BUFFERS_BYTES_ROOT (PROVIDER_BUFFERS_BYTES_MAX / 8)

/*
 * The size of all buffers, and the size of the buffers of each user. A zeroed structure has no
 * buffers.
 */
struct provider_memory {
	uint64_t bytes;
	struct table of_users; /* uid + 1 -> bytes, as a pointer */
};

/*
 * Counts BYTES for a buffer of a program of user UID. The buffers of a user other than root take at
 * most half of the memory, and no more than is free before; but one buffer is always permitted. The
 * buffers leave the part of root free. Returns 0, -ENOBUFS or -ENOMEM.
 */
int provider_memory_take(struct provider_memory *m, uint32_t uid, uint64_t bytes);
void provider_memory_give(struct provider_memory *m, uint32_t uid, uint64_t bytes);
