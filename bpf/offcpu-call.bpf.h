/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The system call in which a thread waits, and the owner of the lock for which it waits. Part of
 * offcpu.bpf.c.
 */
#pragma once

#include "bpf/context.bpf.h"
#include "bpf/record.h"

#if defined(__TARGET_ARCH_x86)
#define STACK_CS_USER 3 /* the privilege level of user space, in the lowest bits of CS */

/* ---- owners of locks ---- */

#define CALL_FUTEX         202
#define FUTEX_WAIT         0
#define FUTEX_LOCK_PI      6
#define FUTEX_WAIT_BITSET  9
#define FUTEX_LOCK_PI2     13
#define FUTEX_COMMAND      0x7f
#define FUTEX_IS_PRIVATE   0x80
#define FUTEX_HAS_WAITERS  0x80000000u
#define FUTEX_TID          0x3fffffffu
#define MUTEX_HAS_WAITERS  2 /* the value of the word of a mutex, if threads wait for it */
#define MUTEX_TYPE         3 /* in `kind`: timed, recursive, with error checks, adaptive */
#define MUTEX_IS_RECURSIVE 1
#define MUTEX_IS_ROBUST    0x10
#define MUTEX_IS_SHARED    0x80
#define MUTEX_ELISION      0x300 /* in `kind`: whether transactional memory may be used */

/* A mutex of glibc (pthread_mutex_t of x86-64). */
struct offcpu_mutex {
	__u32 word, count, owner, n_users, kind;
};

/*
 * Returns true if M is a mutex that another thread holds. VALUE was the word of M when the thread
 * began to wait.
 *
 * Condition variables, semaphores and locks of other libraries have other data here. So all members
 * must fit a mutex: the word is still VALUE, and says that threads wait; the kind is known; the
 * number of recursive locks fits the kind; and there is a user. User space checks that the owner is
 * a thread.
 */
static __always_inline bool offcpu_is_mutex(const struct offcpu_mutex *m, __u32 value)
{
	bool is_recursive = (m->kind & MUTEX_TYPE) == MUTEX_IS_RECURSIVE;

	if (m->word != value || m->n_users == 0)
		return false;
	/* (glibc sets the count of all robust mutexes) */
	if (m->kind & MUTEX_IS_ROBUST)
		return m->count != 0 &&
		       !(m->kind & ~(MUTEX_TYPE | MUTEX_IS_ROBUST | MUTEX_IS_SHARED)) &&
		       value & FUTEX_HAS_WAITERS && (value & FUTEX_TID) == m->owner;
	return value == MUTEX_HAS_WAITERS && is_recursive == (m->count != 0) &&
	       !(m->kind & ~(MUTEX_TYPE | MUTEX_IS_SHARED | MUTEX_ELISION));
}

/* Returns true if P waits, in CALL, for a futex that can be a lock. */
static __always_inline bool offcpu_may_be_lock(struct task_struct *p,
					       const struct offcpu_call *call)
{
	/* (in other PID namespaces, the tids in locks differ from the kernel's tids) */
	return call->table == OFFCPU_CALL_OWN && call->number == CALL_FUTEX &&
	       BPF_CORE_READ(p, thread_pid, level) == 0;
}

/* Sets the owner in CALL from M, which has the futex word and the memory after this word. */
static __always_inline void offcpu_set_owner(struct task_struct *p, struct offcpu_call *call,
					     const struct offcpu_mutex *m)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(p);
	__u32 operation = (__u32)regs->si, command = operation & FUTEX_COMMAND;

	if (command == FUTEX_LOCK_PI || command == FUTEX_LOCK_PI2) {
		/* The kernel itself keeps the owner there. */
		call->owner_tid = m->word & FUTEX_TID;
	} else if ((command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) &&
		   offcpu_is_mutex(m, (__u32)regs->dx)) {
		call->owner_tid = m->owner;
	}
	call->is_shared = !(operation & FUTEX_IS_PRIVATE);
	if (call->owner_tid == (__u32)p->pid)
		call->owner_tid = 0;
}

/*
 * Reads the owner of the lock for which P, the current task, waits. If the memory of the lock is
 * not present, there is no owner, since this function does not wait for memory.
 */
static __always_inline void offcpu_read_owner(struct task_struct *p, struct offcpu_call *call)
{
	struct offcpu_mutex m = {};

	if (!offcpu_may_be_lock(p, call))
		return;
	/* (a priority-inheriting futex is a single word, which can be the last one of its page) */
	if (bpf_probe_read_user(&m, sizeof(m), (const void *)call->argument) < 0 &&
	    bpf_probe_read_user(&m.word, sizeof(m.word), (const void *)call->argument) < 0)
		return;
	offcpu_set_owner(p, call, &m);
}

/* ---- system calls ---- */

/*
 * Fills CALL for P, which leaves its CPU or waits. The registers at the entry into the kernel are
 * at the end of P's kernel stack. If P entered the kernel by an interrupt or a fault, they contain
 * no number of a system call.
 */
static __always_inline void offcpu_read_call(struct task_struct *p, struct offcpu_call *call)
{
	struct pt_regs *regs;
	long number;

	call->table = OFFCPU_CALL_NONE;
	call->owner_tid = 0;
	call->is_shared = 0;
	if (p->flags & PF_KTHREAD)
		return;
	regs = (struct pt_regs *)bpf_task_pt_regs(p);
	number = syscall_number(regs);
	/* (workers of io_uring were never in user space, so their registers are 0) */
	if (number < 0 || (regs->cs & STACK_CS_USER) != STACK_CS_USER)
		return;
	call->number = (__u32)number;
	if (syscall_is_32bit_of(p)) {
		call->table = OFFCPU_CALL_32;
		call->argument = (__u32)regs->bx;
		return;
	}
	call->table = OFFCPU_CALL_OWN;
	call->argument = regs->di;
	if (syscall_is_x32(number)) {
		call->table = OFFCPU_CALL_X32;
		call->number &= ~X32_CALL_BIT;
	}
}
#else
static __always_inline void offcpu_read_owner(struct task_struct *p, struct offcpu_call *call)
{
}

static __always_inline void offcpu_read_call(struct task_struct *p, struct offcpu_call *call)
{
	call->table = OFFCPU_CALL_NONE;
}
#endif
