/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the client (perf-event.c) and the server (perf-answer.c) of perf events: their
 * messages, and the call that either makes.
 */
#pragma once

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#define UPROBES "/sys/bus/event_source/devices/uprobe/"

/* In the configuration of a probe, the offset of its semaphore (format/ref_ctr_offset) */
#define PERF_SEMAPHORE_SHIFT 32

/*
 * A request; the file of a probe comes with it, as a descriptor. An answer is an errno or 0
 * (int32_t), with the event as a descriptor.
 */
struct perf_question {
	struct perf_event_attr attr;
	int32_t pid, cpu;
};

/* From here on, waits for the peer for some seconds at most, then fails with -ETIMEDOUT. */
int perf_protocol_be_impatient(int sock);

/*
 * With descriptor FD, which stays the caller's; -1 if there is none. Returns 0 or a negative errno.
 */
int perf_protocol_send(int sock, void *data, size_t size, int fd);

/*
 * The caller owns *RET_FD in each case; it can be -1. -EBADMSG means another size, or more than one
 * descriptor.
 */
int perf_protocol_receive(int sock, void *data, size_t size, int *ret_fd);

/*
 * Opens it in this process. The path of a probe is that of FILE, if there is one. Returns a
 * descriptor or a negative errno.
 */
int perf_protocol_open(struct perf_question *q, int file);

/* A number, at the end of the file PATH. Returns -1 without it. */
int perf_protocol_number(const char *path);
