/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The messages between the client (perf-event.c) and the server (perf-answer.c) of perf events, and
 * the system call that both make.
 */
#pragma once

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#define UPROBES "/sys/bus/event_source/devices/uprobe/"

/* The position of the semaphore's offset in a probe's configuration (format/ref_ctr_offset). */
#define PERF_SEMAPHORE_SHIFT 32

/*
 * A request. If it is for a probe, the file comes with it as a descriptor. The answer is an
 * int32_t: 0, with the event as a descriptor, or a negative errno.
 */
struct perf_question {
	struct perf_event_attr attr;
	int32_t pid, cpu;
};

/*
 * Limits all later waits for the peer to some seconds. A wait that lasts longer fails with
 * -ETIMEDOUT.
 */
int perf_protocol_be_impatient(int sock);

/* Sends DATA with descriptor FD (borrowed; -1 = none). Returns 0 or a negative errno. */
int perf_protocol_send(int sock, void *data, size_t size, int fd);

/*
 * Receives SIZE bytes, and a descriptor if one comes; otherwise, *RET_FD is -1. The caller always
 * owns *RET_FD. Returns 0; -EBADMSG if the size differs, or if more than one descriptor comes; or
 * another negative errno.
 */
int perf_protocol_receive(int sock, void *data, size_t size, int *ret_fd);

/*
 * Opens the event in this process. FILE is the file of a probe, or -1. Returns a descriptor or a
 * negative errno.
 */
int perf_protocol_open(struct perf_question *q, int file);

/* Returns the first number in the file PATH, or -1. */
int perf_protocol_number(const char *path);
