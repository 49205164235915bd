/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two accounts are kept of the same switches. The CPU's account says who ran: the records of one
 * CPU are in order, so it is exact. The thread's account says what it did between its runs, from
 * switch-outs, wakeups and switch-ins of different CPUs, where one may come late by a little.
 */
#pragma once

#include "reader/views/summary.h"

/* The thread TID (not 0), made if it is new; NULL without memory. */
struct summary_thread *summary_thread(struct summary *s, uint32_t tid);

/*
 * How much of the recording lies between the two, and how much of this part; only damaged files
 * have times outside of it.
 */
uint64_t summary_recorded(const struct summary *s, uint64_t from, uint64_t to);
uint64_t summary_counted(const struct summary *s, uint64_t from, uint64_t to);

/* EVENT_SWITCH and EVENT_WAKE. Return 0 or -ENOMEM. */
int summary_account_switch(struct summary *s, const struct event *ev);
int summary_account_wake(struct summary *s, const struct event *ev);

/* The thread OLD_TID that runs is called TID from TS_NS on. Likewise. */
int summary_account_new_tid(struct summary *s, uint32_t old_tid, uint32_t tid, uint64_t ts_ns);

/* Closes both at END_NS, where the part ends; its duration is known. */
void summary_account_end(struct summary *s, uint64_t end_ns);
