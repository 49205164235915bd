/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that is asked for perf events: it has the capability for them, and opens only what
 * perf-event.h opens.
 */
#pragma once

/*
 * Answers who has connected by SOCKET: opens what it asks for, if it is of the kind that is opened
 * here, and hands the descriptor over. Waits for it for some seconds at most; for the file of a
 * probe, whose file system may not answer, as long as that takes. Returns 0 or a negative errno: of
 * the talk, not of the event.
 */
int perf_event_answer(int socket);
