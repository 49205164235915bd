/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that opens perf events for other processes: it has the capability that they lack, and
 * opens only the events of perf-event.h.
 */
#pragma once

/*
 * Answers the client connected by SOCKET: opens the requested event, if its kind is permitted, and
 * passes the descriptor. Waits for the client for some seconds at most. Opening a probe can take
 * forever, since the file system of its file may not answer. Returns 0, or a negative errno if the
 * connection failed. An event that cannot be opened is no failure.
 */
int perf_event_answer(int socket);
