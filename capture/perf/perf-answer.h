/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that opens perf events for others: it has the capability, and opens only the events
 * of perf-event.h.
 */
#pragma once

/*
 * Answers the client connected by SOCKET: opens the requested event, if its kind is permitted, and
 * passes the descriptor. Waits for the client for some seconds at most; for the file of a probe,
 * whose file system may not answer, without limit. Returns 0 or a negative errno: of the
 * connection, not of the event.
 */
int perf_event_answer(int socket);
