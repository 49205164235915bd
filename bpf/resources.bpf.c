/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * System calls of watched processes that acquire or release resources: descriptors, mappings,
 * shared memory; and ends of their threads. User space tracks the resources
 * (capture/stages/resources.h). User space gets the calls in order of time.
 *
 * These programs run on every system call, system-wide. A table selects the calls of interest. Only
 * for these calls, the eBPF program checks whether the process is watched.
 *
 * Releases are recorded at the entry: after a release, another thread can get the same number or
 * address, and its record could come before the release returns. Acquisitions are recorded at the
 * exit.
 *
 * A mapping belongs to the program only if neither an allocator nor a library has made it for
 * internal use. A library that calls its own mmap() directly (glibc's allocator, its thread stacks,
 * the dynamic linker) is recognised by the call instruction; other allocators by their probes.
 */
#include "bpf/context.bpf.h"
#include "bpf/cost.bpf.h"
#include "bpf/memory.bpf.h"
#include "bpf/rec-ring.bpf.h"
#include "bpf/record.h"
#include "bpf/stack.bpf.h"

#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* By number of the system call: RESOURCE_OP_*, 0 = not recorded. */
const volatile __u8 resource_calls[RESOURCE_CALLS_MAX] = { 0 };
/* 1 = all descriptors are recorded; 0 = only those of shared memory. */
const volatile __u32 resource_fds = 0;

/* Numbers from the kernel's interface. */
#define AT_ENTRY_NESTED_BYTES (64 << 10)
#define MAP_FIXED             0x10 /* MAP_FIXED_NOREPLACE is another bit */
#define MAP_STACK             0x20000
#define F_DUPFD               0
#define F_SETFD               2
#define F_DUPFD_CLOEXEC       1030
#define FIONCLEX              0x5450
#define FIOCLEX               0x5451
#define TIOCGPTPEER           0x5441
#define NS_GET_USERNS         0xb701
#define NS_GET_PARENT         0xb702
#define FLAG_CLOEXEC          02000000
#define SOL_SOCKET            1
#define SCM_RIGHTS            1
#define SCM_PIDFD             4
#define MSG_CMSG_CLOEXEC      0x40000000
#define SECCOMP_SET_MODE      1
#define SECCOMP_NEW_LISTENER  8
#define CONTROL_MESSAGES_MAX  4
#define MESSAGES_MAX          16
#define EINTR                 4
#define ERESTART_FIRST        512
#define ERESTART_LAST         516
#if defined(__TARGET_ARCH_x86)
#define NR_EXIT_GROUP 231
#elif defined(__TARGET_ARCH_arm64)
#define NR_EXIT_GROUP 94
#endif

/*
 * The callers of the system call that is handled on this CPU. They are in a map, since Linux 6.1
 * leaves no room for them on the stack of the eBPF program.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack_callers);
} resource_callers SEC(".maps");

struct call {
	__u64 args[5];
	__s64 result;
	__u64 sp, ip, bp;
	__u64 text; /* the address of its record's text in user space; 0 = none */
	__u16 operation, resource;
	bool has_stack;
	struct memory_process *process;
};

/* Structures of user space, in their 64-bit layout. */
struct message {
	__u64 name;
	__u32 name_bytes, pad_0;
	__u64 data, n_data;
	__u64 control, control_bytes;
	__u32 flags, pad_1;
};
struct message_of_many {
	struct message message;
	__u32 bytes, pad_0;
};
struct control {
	__u64 bytes;
	__s32 level, type;
};

/* ---- registers ---- */

static __always_inline void resources_read_registers(struct pt_regs *regs, struct call *call)
{
#if defined(__TARGET_ARCH_x86)
	call->args[0] = regs->di;
	call->args[1] = regs->si;
	call->args[2] = regs->dx;
	call->args[3] = regs->r10;
	call->args[4] = regs->r8;
	call->sp = regs->sp;
	call->ip = regs->ip;
	call->bp = regs->bp;
#elif defined(__TARGET_ARCH_arm64)
	call->args[0] = regs->orig_x0;
	call->args[1] = regs->regs[1];
	call->args[2] = regs->regs[2];
	call->args[3] = regs->regs[3];
	call->args[4] = regs->regs[4];
	call->sp = regs->sp;
	call->ip = regs->pc;
	call->bp = regs->regs[29];
#endif
}

static __always_inline bool is_at_entry(__u32 operation)
{
	return operation == RESOURCE_OP_CLOSE || operation == RESOURCE_OP_CLOSE_RANGE ||
	       operation == RESOURCE_OP_MUNMAP || operation == RESOURCE_OP_SHMDT;
}

/* Fills the common part of CALL. Returns false if the process is not watched. */
static __always_inline bool resources_begin(struct call *call, struct pt_regs *regs)
{
	call->process = memory_process();
	if (!call->process)
		return false;
	resources_read_registers(regs, call);
	return true;
}

static __always_inline bool resources_is_failed(long result)
{
	return result < 0 && result >= -4095;
}

/*
 * A call with the 32-bit ABI or of x32 has returned RESULT. Its number belongs to another table, so
 * the call may have acquired or released something. The call is counted unless it failed. (On most
 * kernels, all calls of x32 fail.)
 */
static __always_inline void resources_count_foreign(long result)
{
	struct memory_process *process = resources_is_failed(result) ? NULL : memory_process();

	if (process)
		memory_count(&process->lost);
}

static __always_inline __u32 operation_of(long number)
{
	if (number < 0 || number >= RESOURCE_CALLS_MAX)
		return 0;
	return resource_calls[number];
}

/* ---- stacks ---- */

static __always_inline bool is_inside(const struct memory_call *outer, const struct call *call)
{
	return outer->function != 0 && outer->instance == call->process->instance &&
	       call->sp < outer->sp && outer->sp - call->sp <= AT_ENTRY_NESTED_BYTES;
}

/* Returns true if the current thread is in a function of an allocator, or in pthread_create(). */
static __always_inline bool is_in_allocator(struct memory_thread *t, const struct call *call)
{
	return is_inside(&t->call, call) || is_inside(&t->thread_call, call);
}

/* Returns the callers of CALL. The result is never NULL, but the verifier does not know that. */
static __always_inline struct stack_callers *find_callers(const struct call *call)
{
	__u32 zero = 0;
	struct stack_callers *callers = bpf_map_lookup_elem(&resource_callers, &zero);

	if (callers)
		stack_find_callers(call->sp, call->ip, callers);
	return callers;
}

/*
 * Returns the id of the stack of CALL, whose callers are CALLERS. The stack begins with the caller
 * of the function that made the call. If the callers are unknown, the stack begins with the call
 * itself.
 */
static __always_inline __u64 stack_of(void *ctx, const struct call *call, struct memory_thread *t,
				      struct stack_callers *callers)
{
	__u32 n = callers->n, walked;

	walked = memory_walk_tables(t, n > 0, call->process);
	if (walked != STACK_NOT_WALKED) {
		n = walked;
	} else if (n == 0) {
		n = stack_walk_user_memory(ctx, &t->stack, false);
	} else {
		for (__u32 i = 0; i < STACK_CALLERS_MAX; i++)
			t->stack.frames[i] = callers->frames[i];
		stack_find_frame(call->sp, call->bp, callers);
		n = stack_walk_from(callers->bp, n, &t->stack);
	}
	return memory_keep_stack(call->process, t, n, call->resource, 1, 0);
}

/* ---- records ---- */

static __always_inline struct rec_resource *record_of(const struct call *call)
{
	struct rec_resource *rec = memory_call_record(call->process, call->operation);

	if (!rec)
		return NULL;
	for (int i = 0; i < 4; i++)
		rec->args[i] = call->args[i];
	rec->result = call->result;
	return rec;
}

static __always_inline void resources_send(struct rec_resource *rec)
{
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
}

static __always_inline bool is_in_shm_directory(__u64 address)
{
	const char directory[] = RESOURCE_SHM_DIRECTORY;
	char path[sizeof(directory) + 1] = { 0 };

	if (bpf_probe_read_user_str(path, sizeof(path), (const void *)address) < 0)
		return false;
	for (__u32 i = 0; i < sizeof(directory) - 1; i++)
		if (path[i] != directory[i])
			return false;
	return path[sizeof(directory) - 1] != '\0';
}

/*
 * ---- meanings of calls: each function fills CALL for its record, and returns whether to send it
 * ----
 */

static __always_inline bool resources_opened(struct call *call)
{
	__u64 flags = 0;

	call->text = call->args[1];
	if (call->operation == RESOURCE_OP_OPEN || call->operation == RESOURCE_OP_CREAT)
		call->text = call->args[0];
	if (call->operation == RESOURCE_OP_OPENAT2) {
		bpf_probe_read_user(&flags, sizeof(flags), (const void *)call->args[2]);
		call->args[2] = flags;
	}
	return resource_fds || is_in_shm_directory(call->text);
}

/* Reads the two descriptors that a call has stored at ADDRESS. */
static __always_inline bool made_two(struct call *call, __u64 address, __u64 flags)
{
	__s32 fds[2];

	if (bpf_probe_read_user(fds, sizeof(fds), (const void *)address) < 0)
		return false;
	call->args[0] = (__u64)fds[0];
	call->args[1] = (__u64)fds[1];
	call->args[2] = flags;
	return true;
}

/* Returns true if COMMAND of bpf() returns a descriptor. */
static __always_inline bool is_bpf_maker(__u64 command)
{
	const __u64 makers = 1ull << 0 | 1ull << 5 | 1ull << 7 | 1ull << 13 | 1ull << 14 |
			     1ull << 17 | 1ull << 18 | 1ull << 19 | 1ull << 28 | 1ull << 30 |
			     1ull << 32 | 1ull << 33 | 1ull << 36;

	return command < 64 && makers >> command & 1;
}

static __always_inline bool set_cloexec(struct call *call, bool on)
{
	call->operation = RESOURCE_OP_SETFD;
	call->args[1] = on;
	call->has_stack = false;
	return true;
}

static __always_inline bool resources_controlled(struct call *call)
{
	if (call->args[1] == F_SETFD)
		return set_cloexec(call, call->args[2] & 1);
	return call->args[1] == F_DUPFD || call->args[1] == F_DUPFD_CLOEXEC;
}

/*
 * An ioctl(). Most of the ioctls that return a descriptor are not known here: drivers define their
 * own, and there are further ones for namespaces (SIOCGSKNS, PIDFD_GET_*_NAMESPACE).
 */
static __always_inline bool resources_ioctl(struct call *call)
{
	__u32 command = (__u32)call->args[1];

	if (command == FIOCLEX || command == FIONCLEX)
		return set_cloexec(call, command == FIOCLEX);
	/* exec closes the descriptor of a namespace. */
	if (command == NS_GET_USERNS || command == NS_GET_PARENT)
		call->args[2] = FLAG_CLOEXEC;
	else if (command != TIOCGPTPEER)
		return false;
	call->operation = RESOURCE_OP_IOCTL;
	return true;
}

/* Handles the removal of a shared memory object, if PATH is one. */
static __always_inline bool resources_unlinked(struct call *call, __u64 path)
{
	call->has_stack = false;
	call->text = path;
	return is_in_shm_directory(path);
}

static __always_inline bool without_stack(struct call *call)
{
	call->has_stack = false;
	return true;
}

static __always_inline bool of_resource(struct call *call, __u32 resource)
{
	call->resource = resource;
	return true;
}

static __always_inline bool resources_understand(struct call *call)
{
	call->has_stack = true;
	call->resource = MEMORY_RESOURCE_FD;
	switch (call->operation) {
	case RESOURCE_OP_OPEN:
	case RESOURCE_OP_OPENAT:
	case RESOURCE_OP_OPENAT2:
	case RESOURCE_OP_CREAT:
		return resources_opened(call);
	case RESOURCE_OP_MEMFD_CREATE:
		call->text = call->args[0];
		return true;
	case RESOURCE_OP_BPF:
		return is_bpf_maker(call->args[0]);
	case RESOURCE_OP_SIGNALFD:
	case RESOURCE_OP_SIGNALFD4:
		return (__s32)call->args[0] == -1;
	case RESOURCE_OP_SECCOMP:
		return call->args[0] == SECCOMP_SET_MODE && call->args[1] & SECCOMP_NEW_LISTENER;
	case RESOURCE_OP_LANDLOCK:
		return call->args[2] == 0;
	case RESOURCE_OP_DUP2:
		return call->args[0] != call->args[1];
	case RESOURCE_OP_FCNTL:
		return resources_controlled(call);
	case RESOURCE_OP_SETFD: /* ioctl() */
		return resources_ioctl(call);
	case RESOURCE_OP_PIPE:
		return made_two(call, call->args[0], 0);
	case RESOURCE_OP_PIPE2:
		return made_two(call, call->args[0], call->args[1]);
	case RESOURCE_OP_SOCKETPAIR:
		return made_two(call, call->args[3], call->args[1]);
	case RESOURCE_OP_SHMGET:
		return of_resource(call, MEMORY_RESOURCE_SEGMENT);
	case RESOURCE_OP_SHMAT:
		return of_resource(call, MEMORY_RESOURCE_ATTACHMENT);
	case RESOURCE_OP_SHMCTL:
		return ((__u32)call->args[1] & 0xff) == 0 && without_stack(call); /* IPC_RMID */
	case RESOURCE_OP_UNLINK:
		return resources_unlinked(call, call->args[0]);
	case RESOURCE_OP_UNLINKAT:
		return resources_unlinked(call, call->args[1]);
	case RESOURCE_OP_MREMAP:
	case RESOURCE_OP_FTRUNCATE:
		return without_stack(call);
	default:
		return true;
	}
}

/* ---- descriptors in received messages ---- */

/* Flags of the search. */
#define FDS_MESSAGE_COUNT   (1u << 0) /* only count the descriptors */
#define FDS_MESSAGE_CLOEXEC (1u << 1)
#define FDS_MESSAGE_MANY    (1u << 2) /* for recvmmsg() */

/* Received descriptors that are not reported yet. */
struct fds_message {
	__u64 address, stack;
	__u32 n, flags;
};

/* Sends a record with as many descriptors as fit. Returns 1 after the last one. */
static int send_some_fds(__u32 i, struct fds_message *p)
{
	struct memory_process *process = memory_process();
	struct rec_resource *rec;
	__u32 n = p->n;
	__u64 bytes;

	if (n == 0 || !process)
		return 1;
	if (n > RESOURCE_FDS_MAX)
		n = RESOURCE_FDS_MAX;
	rec = memory_call_record(process, p->flags & FDS_MESSAGE_MANY ? RESOURCE_OP_RECVMMSG
								      : RESOURCE_OP_RECVMSG);
	if (!rec)
		return 1;
	rec->args[0] = n;
	rec->args[1] = !!(p->flags & FDS_MESSAGE_CLOEXEC);
	rec->stack = p->stack;
	/* The verifier of Linux 6.1 only knows the limit immediately after the comparison. */
	bytes = n * sizeof(__s32);
	barrier_var(bytes);
	if (bytes > RESOURCE_FDS_MAX * sizeof(__s32) ||
	    bpf_probe_read_user(rec->text, bytes, (const void *)p->address) < 0)
		rec->args[0] = 0;
	resources_send(rec);
	p->address += n * sizeof(__s32);
	p->n -= n;
	return 0;
}

/* Sends the BYTES of descriptors at ADDRESS, up to the maximum of a message. Always returns 0. */
__noinline int resource_send_fds(__u64 address, __u64 bytes, __u64 stack, __u32 flags)
{
	struct fds_message p = {
		.address = address,
		.stack = stack,
		.n = (__u32)(bytes / sizeof(__s32)),
		.flags = flags,
	};

	bpf_loop(17, send_some_fds, &p, 0);
	return 0;
}

/*
 * Handles the messages about descriptors in the LEFT bytes of control messages at AT. Returns the
 * number of these messages.
 */
__noinline int resource_scan_control(__u64 at, __u64 left, __u64 stack, __u32 flags)
{
	struct control c;
	int n = 0;

#pragma clang loop unroll(disable)
	for (int i = 0; i < CONTROL_MESSAGES_MAX; i++) {
		if (left < sizeof(c) || bpf_probe_read_user(&c, sizeof(c), (const void *)at) < 0 ||
		    c.bytes < sizeof(c) || c.bytes > left)
			break;
		if (c.level == SOL_SOCKET && (c.type == SCM_RIGHTS || c.type == SCM_PIDFD)) {
			n++;
			if (!(flags & FDS_MESSAGE_COUNT))
				resource_send_fds(at + sizeof(c), c.bytes - sizeof(c), stack,
						  flags);
		}
		c.bytes = (c.bytes + 7) & ~7ull;
		if (c.bytes > left)
			break;
		at += c.bytes;
		left -= c.bytes;
	}
	return n;
}

/* Handles the messages about descriptors in N messages at AT. */
__noinline int resource_scan_messages(__u64 at, __u32 n, __u64 stack, __u32 flags)
{
	/*
	 * Reads only the control messages: with Linux 6.1, the stack is too small for a whole
	 * message.
	 */
	__u64 control[2];
	const __u64 where = __builtin_offsetof(struct message_of_many, message.control);
	int found = 0;

#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < MESSAGES_MAX; i++) {
		if (i >= n ||
		    bpf_probe_read_user(control, sizeof(control), (const void *)(at + where)) < 0)
			break;
		if (control[0] && control[1])
			found += resource_scan_control(control[0], control[1], stack, flags);
		at += sizeof(struct message_of_many);
	}
	return found;
}

static __always_inline bool is_receive(__u32 operation)
{
	return operation == RESOURCE_OP_RECVMSG || operation == RESOURCE_OP_RECVMMSG;
}

static __always_inline __u32 n_messages(const struct call *call)
{
	return call->operation == RESOURCE_OP_RECVMSG ? 1 : (__u32)call->result;
}

static __always_inline __u32 fds_message_flags(const struct call *call)
{
	bool many = call->operation == RESOURCE_OP_RECVMMSG;

	return (call->args[many ? 3 : 2] & MSG_CMSG_CLOEXEC ? FDS_MESSAGE_CLOEXEC : 0) |
	       (many ? FDS_MESSAGE_MANY : 0);
}

/* Returns true if CALL has received any descriptors. */
static __always_inline bool resources_received(struct call *call)
{
	call->has_stack = true;
	call->resource = MEMORY_RESOURCE_FD;
	if (n_messages(call) > MESSAGES_MAX)
		memory_count(&call->process->lost);
	return resource_scan_messages(call->args[1], n_messages(call), 0, FDS_MESSAGE_COUNT) > 0;
}

/* ---- mappings ---- */

/* Returns true if the CALLERS are in the same file as mmap(), and this file is not the program. */
static __always_inline bool is_librarys_own(const struct stack_callers *callers)
{
	struct task_struct *p = bpf_get_current_task_btf();
	__u64 caller = callers->frames[0];

	return callers->n > 0 && callers->direct &&
	       (caller < BPF_CORE_READ(p, mm, start_code) ||
		caller >= BPF_CORE_READ(p, mm, end_code));
}

/*
 * Returns true if a mapping must be recorded: the mapping is the program's own, or it replaces
 * another mapping.
 */
static __always_inline bool resources_mapped(struct call *call, struct memory_thread *t,
					     const struct stack_callers *callers)
{
	__u64 flags = call->args[3], fd = call->args[4];
	bool own = flags & MAP_STACK || (t && is_in_allocator(t, call)) || is_librarys_own(callers);

	call->resource = MEMORY_RESOURCE_MAPPING;
	call->has_stack = !own;
	call->args[0] = call->args[1];
	call->args[1] = flags;
	call->args[2] = fd;
	call->args[3] = own;
	return !own || flags & MAP_FIXED;
}

/* ---- programs ---- */

SEC("?tp_btf/sys_enter")
int TIMED_PROG(COST_CALLS, on_resource_enter, struct pt_regs *regs, long number)
{
	__u32 operation = operation_of(number);
	struct call call = { .operation = operation };
	struct rec_resource *rec;

	if (!operation || (!is_at_entry(operation) && operation != RESOURCE_OP_MREMAP))
		return 0;
	/* (calls of the 32-bit ABI are counted at their exit; calls of x32 have no operation) */
	if (syscall_is_32bit())
		return 0;
	if (!resources_begin(&call, regs))
		return 0;
	if (operation == RESOURCE_OP_MREMAP)
		call.operation = RESOURCE_OP_MREMAP_BEGIN;
	rec = record_of(&call);
	if (rec)
		resources_send(rec);
	return 0;
}

SEC("?tp_btf/sys_exit")
int TIMED_PROG(COST_CALLS, on_resource_exit, struct pt_regs *regs, long result)
{
	long number = syscall_number(regs);
	__u32 operation = operation_of(number);
	struct call call = { .operation = operation, .result = result };
	struct stack_callers *callers;
	struct memory_thread *t = NULL;
	struct rec_resource *rec;
	__u64 stack = 0;

	if (syscall_is_32bit() || syscall_is_x32(number)) {
		resources_count_foreign(result);
		return 0;
	}
	/* A failed call has changed nothing. */
	if (!operation || is_at_entry(operation) || resources_is_failed(result))
		return 0;
	if (!resources_begin(&call, regs))
		return 0;
	if (!(is_receive(operation) ? resources_received(&call) : resources_understand(&call)))
		return 0;
	if (call.has_stack) {
		t = memory_thread(true);
		callers = find_callers(&call);
		if (!callers ||
		    (operation == RESOURCE_OP_MMAP && !resources_mapped(&call, t, callers)))
			return 0;
		if (!t)
			memory_count(&call.process->no_stack);
		else if (call.has_stack)
			stack = stack_of(ctx, &call, t, callers);
	}
	if (is_receive(operation)) {
		resource_scan_messages(call.args[1], n_messages(&call), stack,
				       fds_message_flags(&call));
		return 0;
	}
	rec = record_of(&call);
	if (!rec)
		return 0;
	rec->stack = stack;
	if (call.text)
		bpf_probe_read_user_str(rec->text, sizeof(rec->text), (const void *)call.text);
	rec->text[sizeof(rec->text) - 1] = '\0';
	resources_send(rec);
	return 0;
}

/*
 * Records a thread that pthread_create() makes. An allocator that pthread_create() calls can also
 * make threads; such threads do not belong to the program.
 */
SEC("?tp_btf/sched_process_fork")
int TIMED_PROG(COST_LIFECYCLE, on_resource_fork, struct task_struct *parent,
	       struct task_struct *child)
{
	struct memory_process *process;
	struct rec_resource *rec;
	struct memory_thread *t;
	struct pt_regs *regs;

	if (child->tgid != parent->tgid)
		return 0;
	process = memory_process();
	t = process ? memory_thread(false) : NULL;
	if (!t || t->thread_call.function != MEMORY_FN_PTHREAD_CREATE ||
	    t->thread_call.instance != process->instance)
		return 0;
	regs = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	if (memory_is_nested(&t->call, process->instance, MEMORY_FN_PTHREAD_CREATE,
			     PT_REGS_SP_CORE(regs)))
		return 0;
	rec = memory_call_record(process, RESOURCE_OP_THREAD_FORK);
	if (!rec)
		return 0;
	rec->args[0] = (__u64)child->pid;
	resources_send(rec);
	return 0;
}

/*
 * Returns true if P, which ends only because its process exits, would have continued otherwise: it
 * waits in a system call, or has called exit itself. Other threads have not begun yet, or would end
 * soon.
 */
static __always_inline bool resources_would_continue(struct task_struct *p)
{
#if defined(__TARGET_ARCH_x86) || defined(__TARGET_ARCH_arm64)
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(p);
	long number = syscall_number(regs), result = (long)PT_REGS_RC_CORE(regs);

	return number == NR_EXIT_GROUP ||
	       (number >= 0 &&
		(result == -EINTR || (result <= -ERESTART_FIRST && result >= -ERESTART_LAST)));
#else
	return true;
#endif
}

/*
 * Records the end of a thread, if the thread ends by itself, or if its process ends it before the
 * thread has waited for anything.
 */
SEC("?tp_btf/sched_process_exit")
int TIMED_PROG(COST_LIFECYCLE, on_resource_thread_end, struct task_struct *p)
{
	struct signal_struct *signal = p->signal;
	struct memory_process *process;
	struct rec_resource *rec;
	bool killed = signal->flags & SIGNAL_GROUP_EXIT;

	/*
	 * For a killed thread, only the low bits of the exit code count. They contain the number of
	 * a signal.
	 */
	if (p->exit_code & (killed ? 0x7f : ~0) || (killed && resources_would_continue(p)) ||
	    (bpf_core_field_exists(signal->group_exec_task) && signal->group_exec_task))
		return 0;
	process = memory_process();
	if (!process)
		return 0;
	rec = memory_call_record(process, RESOURCE_OP_THREAD_END);
	if (!rec)
		return 0;
	rec->args[0] = killed;
	resources_send(rec);
	return 0;
}
