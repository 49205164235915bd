/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/calls/call-variants.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "base/cleanup.h"

#define BITS(call, arg, mask, value, signature)                                                    \
	{                                                                                          \
#call, arg, mask, value, signature " -> errno"                                     \
	}
#define IS(call, arg, value, signature) BITS(call, arg, UINT32_MAX, (uint32_t)(value), signature)

/* The same, if argument AND_ARG is AND_VALUE, too. */
#define BOTH(call, arg, value, and_arg, and_value, signature)                                      \
	{                                                                                          \
#call, arg, UINT32_MAX, (uint32_t)(value), signature " -> errno", and_arg,         \
			and_value                                                                  \
	}
/*
 * Options of sockets that are not an int: only the address of the value is shown, and not the
 * value.
 */
#define GETS(level, names, option)                                                                 \
	BOTH(getsockopt, 1, level, 2, option,                                                      \
	     "(fd fd, enum:sol level, enum:" names " option, ptr value, inout struct:int[1] n)")

/* The flags with which open() creates a file. */
#define CREATES   (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))
#define PRIVATE   (FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME)
#define COMMAND   (UINT32_MAX & ~PRIVATE)
#define OPERATION "(ptr address, flags:futex operation"

/* All rows of a call are consecutive. */
static const struct call_variant variants[] = {
	BITS(openat, 2, CREATES, 0, "(dirfd dir, str path, flags:open flags)"),
#ifdef __x86_64__
	BITS(open, 1, CREATES, 0, "(str path, flags:open flags)"),
#endif
	IS(fcntl, 1, F_GETFD, "(fd fd, enum:fcntl command)"),
	IS(fcntl, 1, F_GETFL, "(fd fd, enum:fcntl command)"),
	IS(fcntl, 1, F_GETOWN, "(fd fd, enum:fcntl command)"),
	IS(fcntl, 1, F_GETSIG, "(fd fd, enum:fcntl command)"),
	IS(fcntl, 1, F_GETLEASE, "(fd fd, enum:fcntl command)"),
	IS(fcntl, 1, F_GETPIPE_SZ, "(fd fd, enum:fcntl command)"),
	IS(fcntl, 1, F_GET_SEALS, "(fd fd, enum:fcntl command)"),
	IS(fcntl, 1, F_SETFD, "(fd fd, enum:fcntl command, flags:fd_flags flags)"),
	IS(fcntl, 1, F_SETFL, "(fd fd, enum:fcntl command, flags:open_status flags)"),
	IS(fcntl, 1, F_DUPFD, "(fd fd, enum:fcntl command, int64 from)"),
	IS(fcntl, 1, F_DUPFD_CLOEXEC, "(fd fd, enum:fcntl command, int64 from)"),
	IS(fcntl, 1, F_SETPIPE_SZ, "(fd fd, enum:fcntl command, int64 size)"),
	IS(fcntl, 1, F_GETLK, "(fd fd, enum:fcntl command, out struct:flock_pid lock)"),
	IS(fcntl, 1, F_SETLK, "(fd fd, enum:fcntl command, struct:flock lock)"),
	IS(fcntl, 1, F_SETLKW, "(fd fd, enum:fcntl command, struct:flock lock)"),
	IS(fcntl, 1, F_OFD_GETLK, "(fd fd, enum:fcntl command, out struct:flock_pid lock)"),
	IS(fcntl, 1, F_OFD_SETLK, "(fd fd, enum:fcntl command, struct:flock lock)"),
	IS(fcntl, 1, F_OFD_SETLKW, "(fd fd, enum:fcntl command, struct:flock lock)"),
	/* Requests without the size of their memory in the number, or with a wrong one. */
	IS(ioctl, 1, TCGETS, "(fd fd, enum:ioctl request, out struct:termios settings)"),
	IS(ioctl, 1, TCSETS, "(fd fd, enum:ioctl request, struct:termios settings)"),
	IS(ioctl, 1, TCSETSW, "(fd fd, enum:ioctl request, struct:termios settings)"),
	IS(ioctl, 1, TCSETSF, "(fd fd, enum:ioctl request, struct:termios settings)"),
	IS(ioctl, 1, TIOCGWINSZ, "(fd fd, enum:ioctl request, out struct:winsize size)"),
	IS(ioctl, 1, TIOCSWINSZ, "(fd fd, enum:ioctl request, struct:winsize size)"),
	IS(ioctl, 1, TIOCGPGRP, "(fd fd, enum:ioctl request, out struct:int[1] group)"),
	IS(ioctl, 1, TIOCSPGRP, "(fd fd, enum:ioctl request, struct:int[1] group)"),
	IS(ioctl, 1, TIOCGSID, "(fd fd, enum:ioctl request, out struct:int[1] session)"),
	IS(ioctl, 1, TIOCOUTQ, "(fd fd, enum:ioctl request, out struct:int[1] bytes)"),
	IS(ioctl, 1, TIOCGETD, "(fd fd, enum:ioctl request, out struct:int[1] discipline)"),
	IS(ioctl, 1, TIOCSETD, "(fd fd, enum:ioctl request, struct:int[1] discipline)"),
	IS(ioctl, 1, TIOCPKT, "(fd fd, enum:ioctl request, struct:int[1] on)"),
	IS(ioctl, 1, FIONREAD, "(fd fd, enum:ioctl request, out struct:int[1] bytes)"),
	IS(ioctl, 1, FIONBIO, "(fd fd, enum:ioctl request, struct:int[1] on)"),
	IS(ioctl, 1, FIOASYNC, "(fd fd, enum:ioctl request, struct:int[1] on)"),
	IS(ioctl, 1, FS_IOC_GETFLAGS, "(fd fd, enum:ioctl request, out struct:uint[1] flags)"),
	IS(ioctl, 1, FS_IOC_SETFLAGS, "(fd fd, enum:ioctl request, struct:uint[1] flags)"),
	IS(ioctl, 1, FIOCLEX, "(fd fd, enum:ioctl request)"),
	IS(ioctl, 1, FIONCLEX, "(fd fd, enum:ioctl request)"),
	IS(ioctl, 1, FICLONE, "(fd fd, enum:ioctl request, fd from)"),
	IS(ioctl, 1, TIOCNOTTY, "(fd fd, enum:ioctl request)"),
	BITS(futex, 1, COMMAND, FUTEX_WAKE, OPERATION ", uint value)"),
	BITS(futex, 1, COMMAND, FUTEX_WAIT, OPERATION ", uint value, struct:timespec timeout)"),
	BITS(futex, 1, COMMAND, FUTEX_WAIT_BITSET,
	     OPERATION ", uint value, struct:timespec timeout, "
		       "enum:futex_bits bits@r5)"),
	BITS(futex, 1, COMMAND, FUTEX_WAKE_BITSET,
	     OPERATION ", uint value, enum:futex_bits bits@r5)"),
	BITS(futex, 1, COMMAND, FUTEX_REQUEUE,
	     OPERATION ", uint value, uint value2, ptr address2)"),
	BITS(futex, 1, COMMAND, FUTEX_CMP_REQUEUE,
	     OPERATION ", uint value, uint value2, ptr address2, uint value3)"),
	BITS(futex, 1, COMMAND, FUTEX_LOCK_PI, OPERATION ", struct:timespec timeout@r3)"),
	BITS(futex, 1, COMMAND, FUTEX_UNLOCK_PI, OPERATION ")"),
	BITS(futex, 1, COMMAND, FUTEX_TRYLOCK_PI, OPERATION ")"),
	BITS(mremap, 3, MREMAP_FIXED, 0, "(ptr address, ulong old_n, ulong n, flags:mremap flags)"),
	IS(prctl, 0, PR_SET_NAME, "(enum:prctl option, struct:name name)"),
	IS(prctl, 0, PR_GET_NAME, "(enum:prctl option, out struct:name name)"),
	IS(prctl, 0, PR_SET_PDEATHSIG, "(enum:prctl option, enum:signal signal)"),
	IS(prctl, 0, PR_GET_PDEATHSIG, "(enum:prctl option, out struct:int[1] signal)"),
	IS(prctl, 0, PR_CAPBSET_READ, "(enum:prctl option, enum:cap capability)"),
	IS(prctl, 0, PR_CAPBSET_DROP, "(enum:prctl option, enum:cap capability)"),
	IS(prctl, 0, PR_GET_DUMPABLE, "(enum:prctl option)"),
	IS(prctl, 0, PR_GET_KEEPCAPS, "(enum:prctl option)"),
	IS(prctl, 0, PR_SET_KEEPCAPS, "(enum:prctl option, ulong on)"),
	IS(prctl, 0, PR_SET_NO_NEW_PRIVS, "(enum:prctl option, ulong on, hex b, hex c, hex d)"),
	IS(epoll_ctl, 1, EPOLL_CTL_DEL, "(fd epoll, enum:epoll_ctl operation, fd fd, ptr event)"),
	GETS(SOL_SOCKET, "so", SO_LINGER),
	GETS(SOL_SOCKET, "so", SO_RCVTIMEO),
	GETS(SOL_SOCKET, "so", SO_SNDTIMEO),
	GETS(SOL_SOCKET, "so", SO_PEERCRED),
	GETS(SOL_SOCKET, "so", SO_PEERSEC),
	GETS(SOL_SOCKET, "so", SO_BINDTODEVICE),
	GETS(IPPROTO_TCP, "tcp", TCP_INFO),
	GETS(IPPROTO_TCP, "tcp", TCP_CONGESTION),
	IS(getsockopt, 1, SOL_SOCKET,
	   "(fd fd, enum:sol level, enum:so option, out struct:int[1] value, "
	   "inout struct:int[1] n)"),
	IS(getsockopt, 1, IPPROTO_TCP,
	   "(fd fd, enum:sol level, enum:tcp option, out struct:int[1] value, "
	   "inout struct:int[1] n)"),
	IS(getsockopt, 1, IPPROTO_IP,
	   "(fd fd, enum:sol level, enum:ip option, out struct:int[1] value, "
	   "inout struct:int[1] n)"),
	IS(getsockopt, 1, IPPROTO_IPV6,
	   "(fd fd, enum:sol level, enum:ipv6 option, out struct:int[1] value, "
	   "inout struct:int[1] n)"),
	BOTH(setsockopt, 1, SOL_SOCKET, 2, SO_BINDTODEVICE,
	     "(fd fd, enum:sol level, enum:so option, buf[n] value, int n)"),
	BOTH(setsockopt, 1, IPPROTO_TCP, 2, TCP_CONGESTION,
	     "(fd fd, enum:sol level, enum:tcp option, buf[n] value, int n)"),
	BOTH(setsockopt, 1, SOL_SOCKET, 4, sizeof(int),
	     "(fd fd, enum:sol level, enum:so option, struct:int[1] value, int n)"),
	IS(setsockopt, 1, SOL_SOCKET,
	   "(fd fd, enum:sol level, enum:so option, buf[n] value, int n)"),
	BOTH(setsockopt, 1, IPPROTO_TCP, 4, sizeof(int),
	     "(fd fd, enum:sol level, enum:tcp option, struct:int[1] value, int n)"),
	IS(setsockopt, 1, IPPROTO_TCP,
	   "(fd fd, enum:sol level, enum:tcp option, buf[n] value, int n)"),
	BOTH(setsockopt, 1, IPPROTO_IP, 4, sizeof(int),
	     "(fd fd, enum:sol level, enum:ip option, struct:int[1] value, int n)"),
	IS(setsockopt, 1, IPPROTO_IP,
	   "(fd fd, enum:sol level, enum:ip option, buf[n] value, int n)"),
	BOTH(setsockopt, 1, IPPROTO_IPV6, 4, sizeof(int),
	     "(fd fd, enum:sol level, enum:ipv6 option, struct:int[1] value, int n)"),
	IS(setsockopt, 1, IPPROTO_IPV6,
	   "(fd fd, enum:sol level, enum:ipv6 option, buf[n] value, int n)"),
	IS(socket, 0, AF_INET, "(enum:af domain, flags:socktype type, enum:ipproto protocol)"),
	IS(socket, 0, AF_INET6, "(enum:af domain, flags:socktype type, enum:ipproto protocol)"),
	IS(socket, 0, AF_NETLINK, "(enum:af domain, flags:socktype type, enum:netlink protocol)"),
	/* The arguments are in the order of the C library's clone(); @r is the kernel's
	 * position. */
	BITS(clone, 0,
	     CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID,
	     CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID,
	     "(ptr child_stack@r1, flags:clone flags@r0, ptr child_tidptr@r3)"),
	BITS(clone, 0,
	     CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID, 0,
	     "(ptr child_stack@r1, flags:clone flags@r0)"),
};

const struct call_variant *call_variants_of(const char *name, size_t *ret_n)
{
	const struct call_variant *first = NULL;

	*ret_n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
		if (strcmp(variants[i].call, name) != 0)
			continue;
		first = first ?: &variants[i];
		++*ret_n;
	}
	return first;
}

bool call_variant_shows_names(const char *name)
{
	return strcmp(name, "clone") == 0;
}
