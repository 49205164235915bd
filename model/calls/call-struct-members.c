/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/calls/call-struct-members.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <linux/netlink.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/cleanup.h"

/* Each line holds several members, since one member per line would take pages. */
/* clang-format off */

#define SIZE(type, member)  sizeof(((type *)NULL)->member)
#define PLACE(type, member) offsetof(type, member), SIZE(type, member)
#define INT(type, member)   { #member, CALL_MEMBER_INT, PLACE(type, member), 0, NULL }
#define UINT(type, member)  { #member, CALL_MEMBER_UINT, PLACE(type, member), 0, NULL }
#define HEX(type, member)   { #member, CALL_MEMBER_HEX, PLACE(type, member), 0, NULL }
#define PTR(type, member)   { #member, CALL_MEMBER_PTR, PLACE(type, member), 0, NULL }
#define TEXT(type, member)  { #member, CALL_MEMBER_TEXT, PLACE(type, member), 0, NULL }
#define LIMIT(type, member) { #member, CALL_MEMBER_LIMIT, PLACE(type, member), 0, NULL }
#define SET(type, member, set) { #member, CALL_MEMBER_SET, PLACE(type, member), 0, set }
#define STRUCT(type, member, of) { #member, CALL_MEMBER_STRUCT, PLACE(type, member), 0, of }
#define SIGNALS(type, member) { #member, CALL_MEMBER_SIGNALS, PLACE(type, member), 0, NULL }
#define ARRAY(type, member, kind, n) \
	{ #member, kind, offsetof(type, member), SIZE(type, member[0]), n, NULL }
/* A structure that consists of one value. */
#define ONLY(kind, bytes, of) { "", kind, 0, bytes, 0, of }

#define MEMBERS(array) array, ARRAY_SIZE(array)
#define ROW(name, bytes, array) { name, bytes, false, false, false, { 0 }, MEMBERS(array) }
#define PART(name, bytes, array) { name, bytes, false, true, false, { 0 }, MEMBERS(array) }
#define KEY(type, member, mask, value) \
	{ offsetof(type, member), SIZE(type, member), (uint32_t)(mask), (uint32_t)(value) }
#define KEYED(name, bytes, key, array) \
	{ name, bytes, false, false, false, key, MEMBERS(array) }

/* The kernel's structure; the C library's differs. */
struct kernel_sigaction {
	uint64_t handler, flags, restorer, mask;
};

struct kernel_termios {
	uint32_t c_iflag, c_oflag, c_cflag, c_lflag;
	uint8_t c_line;
	char c_cc[19];
};

struct kernel_termios_window {
	uint16_t ws_row, ws_col, ws_xpixel, ws_ypixel;
};

static const struct call_member members_byte[] = { ONLY(CALL_MEMBER_UINT, 1, NULL) };
static const struct call_member members_int[] = { ONLY(CALL_MEMBER_INT, 4, NULL) };
static const struct call_member members_uint[] = { ONLY(CALL_MEMBER_UINT, 4, NULL) };
static const struct call_member members_int64[] = { ONLY(CALL_MEMBER_INT, 8, NULL) };
static const struct call_member members_bits[] = { ONLY(CALL_MEMBER_BITS, 128, NULL) };
static const struct call_member members_fds[] = { ONLY(CALL_MEMBER_FDS, 128, NULL) };
static const struct call_member members_sigset[] = { ONLY(CALL_MEMBER_SIGNALS, 8, NULL) };
static const struct call_member members_sigreturn[] = {
	{ "mask", CALL_MEMBER_SIGNALS, 0, 8, 0, NULL }
};
static const struct call_member members_status[] = { ONLY(CALL_MEMBER_STATUS, 4, NULL) };

static const struct call_member members_clone[] = {
	SET(struct clone_args, flags, "flags:clone3"),
	SET(struct clone_args, exit_signal, "enum:signal"), HEX(struct clone_args, stack),
	HEX(struct clone_args, stack_size)
};

static const struct call_member members_clone_thread[] = {
	SET(struct clone_args, flags, "flags:clone3"), HEX(struct clone_args, child_tid),
	HEX(struct clone_args, parent_tid), SET(struct clone_args, exit_signal, "enum:signal"),
	HEX(struct clone_args, stack), HEX(struct clone_args, stack_size),
	HEX(struct clone_args, tls)
};

static const struct call_member members_epoll_data[] = {
	{ "u32", CALL_MEMBER_UINT, 0, 4, 0, NULL }, { "u64", CALL_MEMBER_UINT, 0, 8, 0, NULL }
};

static const struct call_member members_epoll_event[] = {
	SET(struct epoll_event, events, "flags:epoll_events"),
	STRUCT(struct epoll_event, data, "struct:epoll_data")
};

static const struct call_member members_flock[] = {
	SET(struct flock, l_type, "enum:lock"), SET(struct flock, l_whence, "enum:seek"),
	INT(struct flock, l_start), INT(struct flock, l_len)
};

static const struct call_member members_flock_pid[] = {
	SET(struct flock, l_type, "enum:lock"), SET(struct flock, l_whence, "enum:seek"),
	INT(struct flock, l_start), INT(struct flock, l_len), INT(struct flock, l_pid)
};

static const struct call_member members_argv[] = { ONLY(CALL_MEMBER_STRINGS, 8, NULL) };
static const struct call_member members_envp[] = { ONLY(CALL_MEMBER_POINTERS, 8, NULL) };
static const struct call_member members_dirents[] = { ONLY(CALL_MEMBER_ENTRIES, 8, NULL) };
static const struct call_member members_iovec[] = {
	ONLY(CALL_MEMBER_PARTS, sizeof(struct iovec), NULL)
};

/* (struct ucred, in the order of strace) */
static const struct call_member members_ucred[] = {
	{ "pid", CALL_MEMBER_INT, 0, 4, 0, NULL }, { "uid", CALL_MEMBER_UINT, 4, 4, 0, NULL },
	{ "gid", CALL_MEMBER_UINT, 8, 4, 0, NULL }
};
static const struct call_member members_msghdr[] = {
	ONLY(CALL_MEMBER_MESSAGE, sizeof(struct msghdr), NULL)
};
static const struct call_member members_mmsghdr[] = {
	ONLY(CALL_MEMBER_MESSAGES, sizeof(struct mmsghdr), NULL)
};
static const struct call_member members_mmsghdr_sent[] = {
	ONLY(CALL_MEMBER_SENT, sizeof(struct mmsghdr), NULL)
};
/*
 * A copy that the eBPF programs make: the address, the size, and then the mask (CALL_MEMORY_MASK).
 */
static const struct call_member members_sigmask[] = {
	{ "sigmask", CALL_MEMBER_SIGNALS, 16, 8, 0, NULL },
	{ "sigsetsize", CALL_MEMBER_UINT, 8, 8, 0, NULL }
};
static const struct call_member members_sigmask_none[] = {
	{ "sigmask", CALL_MEMBER_PTR, 0, 8, 0, NULL },
	{ "sigsetsize", CALL_MEMBER_UINT, 8, 8, 0, NULL }
};

static const struct call_member members_itimerspec[] = {
	STRUCT(struct itimerspec, it_interval, "struct:timespec"),
	STRUCT(struct itimerspec, it_value, "struct:timespec")
};

static const struct call_member members_itimerval[] = {
	STRUCT(struct itimerval, it_interval, "struct:timeval"),
	STRUCT(struct itimerval, it_value, "struct:timeval")
};

static const struct call_member members_linger[] = {
	INT(struct linger, l_onoff), INT(struct linger, l_linger)
};

static const struct call_member members_pollfd[] = {
	INT(struct pollfd, fd), SET(struct pollfd, events, "flags:poll")
};

static const struct call_member members_pollfd_none[] = { INT(struct pollfd, fd) };

static const struct call_member members_rlimit[] = {
	LIMIT(struct rlimit, rlim_cur), LIMIT(struct rlimit, rlim_max)
};

static const struct call_member members_rusage[] = {
	STRUCT(struct rusage, ru_utime, "struct:timeval"),
	STRUCT(struct rusage, ru_stime, "struct:timeval")
};

#define ACTION(name, kind, member, of) \
	{ name, kind, PLACE(struct kernel_sigaction, member), 0, of }
#define HANDLER(name) ACTION(name, CALL_MEMBER_SET, handler, "enum:sighandler")
#define MASK          ACTION("sa_mask", CALL_MEMBER_SIGNALS, mask, NULL)
#define FLAGS         ACTION("sa_flags", CALL_MEMBER_SET, flags, "flags:sigaction")
#define RESTORER      ACTION("sa_restorer", CALL_MEMBER_PTR, restorer, NULL)

static const struct call_member members_sigaction[] = { HANDLER("sa_handler"), MASK, FLAGS };
static const struct call_member members_sigaction_restorer[] = {
	HANDLER("sa_handler"), MASK, FLAGS, RESTORER
};

static const struct call_member members_sockaddr_un[] = {
	SET(struct sockaddr, sa_family, "enum:af"),
	{ "sun_path", CALL_MEMBER_PATH, PLACE(struct sockaddr_un, sun_path), 0, NULL }
};

static const struct call_member members_sockaddr_in[] = {
	SET(struct sockaddr, sa_family, "enum:af"),
	{ "sin_port", CALL_MEMBER_PORT, PLACE(struct sockaddr_in, sin_port), 0, NULL },
	{ "sin_addr", CALL_MEMBER_ADDRESS4, PLACE(struct sockaddr_in, sin_addr), 0, NULL }
};

static const struct call_member members_sockaddr_in6[] = {
	SET(struct sockaddr, sa_family, "enum:af"),
	{ "sin6_port", CALL_MEMBER_PORT, PLACE(struct sockaddr_in6, sin6_port), 0, NULL },
	{ "sin6_flowinfo", CALL_MEMBER_LABEL, PLACE(struct sockaddr_in6, sin6_flowinfo), 0, NULL },
	{ "sin6_addr", CALL_MEMBER_ADDRESS6, PLACE(struct sockaddr_in6, sin6_addr), 0, NULL },
	UINT(struct sockaddr_in6, sin6_scope_id)
};

static const struct call_member members_sockaddr_nl[] = {
	SET(struct sockaddr, sa_family, "enum:af"), INT(struct sockaddr_nl, nl_pid),
	{ "nl_groups", CALL_MEMBER_GROUPS, PLACE(struct sockaddr_nl, nl_groups), 0, NULL }
};

static const struct call_member members_sockaddr[] = {
	SET(struct sockaddr, sa_family, "enum:af"),
	{ "sa_data", CALL_MEMBER_DATA, offsetof(struct sockaddr, sa_data), 126, 0, NULL }
};

static const struct call_member members_stack[] = {
	PTR(stack_t, ss_sp), SET(stack_t, ss_flags, "flags:sigaltstack"), UINT(stack_t, ss_size)
};

static const struct call_member members_stat[] = {
	SET(struct stat, st_mode, "flags:mode"), INT(struct stat, st_size)
};

static const struct call_member members_stat_device[] = {
	SET(struct stat, st_mode, "flags:mode"),
	{ "st_rdev", CALL_MEMBER_DEVICE, PLACE(struct stat, st_rdev), 0, NULL }
};

static const struct call_member members_fsid[] = {
	{ "val", CALL_MEMBER_HEX, 0, 4, 2, NULL }
};

static const struct call_member members_statfs[] = {
	SET(struct statfs, f_type, "enum:fs_magic"), INT(struct statfs, f_bsize),
	UINT(struct statfs, f_blocks), UINT(struct statfs, f_bfree), UINT(struct statfs, f_bavail),
	UINT(struct statfs, f_files), UINT(struct statfs, f_ffree),
	STRUCT(struct statfs, f_fsid, "struct:fsid"), INT(struct statfs, f_namelen),
	INT(struct statfs, f_frsize), SET(struct statfs, f_flags, "flags:statfs")
};

static const struct call_member members_statx[] = {
	SET(struct statx, stx_mask, "flags:statx_mask"),
	SET(struct statx, stx_attributes, "flags:statx_attributes"),
	SET(struct statx, stx_mode, "flags:mode"), UINT(struct statx, stx_size)
};

static const struct call_member members_sysinfo[] = {
	INT(struct sysinfo, uptime), ARRAY(struct sysinfo, loads, CALL_MEMBER_UINT, 3),
	UINT(struct sysinfo, totalram), UINT(struct sysinfo, freeram),
	UINT(struct sysinfo, sharedram), UINT(struct sysinfo, bufferram),
	UINT(struct sysinfo, totalswap), UINT(struct sysinfo, freeswap),
	UINT(struct sysinfo, procs), UINT(struct sysinfo, totalhigh),
	UINT(struct sysinfo, freehigh), UINT(struct sysinfo, mem_unit)
};

static const struct call_member members_timespec[] = {
	INT(struct timespec, tv_sec), INT(struct timespec, tv_nsec)
};

static const struct call_member members_timeval[] = {
	INT(struct timeval, tv_sec), INT(struct timeval, tv_usec)
};

static const struct call_member members_termios[] = {
	HEX(struct kernel_termios, c_iflag), HEX(struct kernel_termios, c_oflag),
	HEX(struct kernel_termios, c_cflag), HEX(struct kernel_termios, c_lflag),
	UINT(struct kernel_termios, c_line), { "c_cc", CALL_MEMBER_DATA,
					       offsetof(struct kernel_termios, c_cc), 19 },
};

#define TICKS(type, member) { #member, CALL_MEMBER_TICKS, PLACE(type, member), 0, NULL }
static const struct call_member members_tms[] = {
	TICKS(struct tms, tms_utime), TICKS(struct tms, tms_stime),
	TICKS(struct tms, tms_cutime), TICKS(struct tms, tms_cstime)
};

static const struct call_member members_utsname[] = {
	TEXT(struct utsname, sysname), TEXT(struct utsname, nodename)
};

static const struct call_member members_winsize[] = {
	UINT(struct kernel_termios_window, ws_row), UINT(struct kernel_termios_window, ws_col),
	UINT(struct kernel_termios_window, ws_xpixel), UINT(struct kernel_termios_window, ws_ypixel)
};

static const struct call_member members_offset[] = { ONLY(CALL_MEMBER_OFFSET, 8, NULL) };
static const struct call_member members_name[] = { ONLY(CALL_MEMBER_NAME, 16, NULL) };
static const struct call_member members_date[] = {
	ONLY(CALL_MEMBER_DATE, sizeof(struct timespec), NULL)
};

#define SIGINFO(code) \
	SET(siginfo_t, si_signo, "enum:signal"), SET(siginfo_t, si_code, code), \
	INT(siginfo_t, si_pid), UINT(siginfo_t, si_uid)

static const struct call_member members_siginfo[] = { SIGINFO("enum:si_code") };
static const struct call_member members_siginfo_exited[] = {
	SIGINFO("enum:cld"), INT(siginfo_t, si_status), TICKS(siginfo_t, si_utime),
	TICKS(siginfo_t, si_stime)
};
static const struct call_member members_siginfo_killed[] = {
	SIGINFO("enum:cld"), SET(siginfo_t, si_status, "enum:signal"), TICKS(siginfo_t, si_utime),
	TICKS(siginfo_t, si_stime)
};

#define SOCKADDR(family, array)                                                                    \
	{ "sockaddr", sizeof(struct sockaddr_storage), true, false, false,                         \
	  KEY(struct sockaddr, sa_family, 0xffff, family), MEMBERS(array) }
#define STAT(type)                                                                                 \
	{ "stat", sizeof(struct stat), false, true, false,                                         \
	  KEY(struct stat, st_mode, S_IFMT, type), MEMBERS(members_stat_device) }

/* Not in user space headers. */
#define WITH_RESTORER 0x04000000

const struct call_struct call_struct_rows[] = {
	ROW("argv", 8, members_argv),
	{ "bits", 128, true, false, false, { 0 }, MEMBERS(members_bits) },
	ROW("byte", 1, members_byte),
	KEYED("clone_args", sizeof(struct clone_args),
	      KEY(struct clone_args, flags, CLONE_SETTLS, CLONE_SETTLS), members_clone_thread),
	ROW("clone_args", sizeof(struct clone_args), members_clone),
	ROW("date", sizeof(struct timespec), members_date),
	ROW("dirents", 8, members_dirents),
	ROW("envp", 8, members_envp),
	ROW("epoll_data", 8, members_epoll_data),
	ROW("epoll_event", sizeof(struct epoll_event), members_epoll_event),
	{ "fds", 128, true, false, false, { 0 }, MEMBERS(members_fds) },
	ROW("flock", sizeof(struct flock), members_flock),
	ROW("flock_pid", sizeof(struct flock), members_flock_pid),
	ROW("fsid", 8, members_fsid),
	ROW("int", 4, members_int),
	ROW("int64", 8, members_int64),
	ROW("iovec", sizeof(struct iovec), members_iovec),
	ROW("itimerspec", sizeof(struct itimerspec), members_itimerspec),
	ROW("itimerval", sizeof(struct itimerval), members_itimerval),
	ROW("linger", sizeof(struct linger), members_linger),
	ROW("mmsghdr", sizeof(struct mmsghdr), members_mmsghdr),
	ROW("mmsghdr_sent", sizeof(struct mmsghdr), members_mmsghdr_sent),
	ROW("msghdr", sizeof(struct msghdr), members_msghdr),
	ROW("name", 16, members_name),
	ROW("offset", 8, members_offset),
	KEYED("pollfd", sizeof(struct pollfd), KEY(struct pollfd, fd, 1U << 31, 1U << 31),
	      members_pollfd_none),
	ROW("pollfd", sizeof(struct pollfd), members_pollfd),
	/* Memory whose content only the variants of a call describe (call-variants.h). */
	{ "raw", 256, false, false, false, { 0 }, NULL, 0 },
	ROW("rlimit", sizeof(struct rlimit), members_rlimit),
	PART("rusage", sizeof(struct rusage), members_rusage),
	{ "rusage_child", sizeof(struct rusage), false, true, true, { 0 }, MEMBERS(members_rusage) },
	KEYED("sigaction", sizeof(struct kernel_sigaction),
	      KEY(struct kernel_sigaction, flags, WITH_RESTORER, WITH_RESTORER),
	      members_sigaction_restorer),
	ROW("sigaction", sizeof(struct kernel_sigaction), members_sigaction),
	ROW("siginfo", sizeof(siginfo_t), members_siginfo),
	KEYED("siginfo_child", sizeof(siginfo_t),
	      KEY(siginfo_t, si_code, UINT32_MAX, CLD_EXITED), members_siginfo_exited),
	ROW("siginfo_child", sizeof(siginfo_t), members_siginfo_killed),
	{ "sigmask", 24, false, false, false, { 0, 4, UINT32_MAX, 0 },
	  MEMBERS(members_sigmask_none) },
	ROW("sigmask", 24, members_sigmask),
	ROW("sigreturn", 8, members_sigreturn),
	ROW("sigset", 8, members_sigset),
	SOCKADDR(AF_UNIX, members_sockaddr_un),
	SOCKADDR(AF_INET, members_sockaddr_in),
	SOCKADDR(AF_INET6, members_sockaddr_in6),
	SOCKADDR(AF_NETLINK, members_sockaddr_nl),
	{ "sockaddr", sizeof(struct sockaddr_storage), true, false, false, { 0 },
	  MEMBERS(members_sockaddr) },
	ROW("stack", sizeof(stack_t), members_stack),
	STAT(S_IFCHR), STAT(S_IFBLK),
	PART("stat", sizeof(struct stat), members_stat),
	ROW("statfs", sizeof(struct statfs), members_statfs),
	{ "status", 4, false, false, true, { 0 }, MEMBERS(members_status) },
	PART("statx", sizeof(struct statx), members_statx),
	ROW("sysinfo", sizeof(struct sysinfo), members_sysinfo),
	ROW("termios", sizeof(struct kernel_termios), members_termios),
	ROW("timespec", sizeof(struct timespec), members_timespec),
	ROW("timeval", sizeof(struct timeval), members_timeval),
	ROW("tms", sizeof(struct tms), members_tms),
	ROW("ucred", 12, members_ucred),
	ROW("uint", 4, members_uint),
	PART("utsname", sizeof(struct utsname), members_utsname),
	ROW("winsize", sizeof(struct kernel_termios_window), members_winsize),
};
/* clang-format on */

const size_t call_struct_n_rows = ARRAY_SIZE(call_struct_rows);
