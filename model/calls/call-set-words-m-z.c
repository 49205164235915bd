/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The words of all sets whose names begin with m to z (call-sets.h), and the table of these sets.
 */
#include "model/calls/call-set-words.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/futex.h>
#include <linux/kcmp.h>
#include <linux/keyctl.h>
#include <linux/magic.h>
#include <linux/membarrier.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/swap.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <asm/prctl.h>
#endif

#include "model/calls/call-set-macros.h"
#include "base/cleanup.h"

/* Each line holds several words, since one word per line would take pages. */
/* clang-format off */

static const struct call_set_word words_madvise[] = {
	WORD(MADV_NORMAL), WORD(MADV_RANDOM), WORD(MADV_SEQUENTIAL), WORD(MADV_WILLNEED),
	WORD(MADV_DONTNEED), WORD(MADV_FREE), WORD(MADV_REMOVE), WORD(MADV_DONTFORK),
	WORD(MADV_DOFORK), WORD(MADV_MERGEABLE), WORD(MADV_UNMERGEABLE), WORD(MADV_HUGEPAGE),
	WORD(MADV_NOHUGEPAGE), WORD(MADV_DONTDUMP), WORD(MADV_DODUMP), WORD(MADV_WIPEONFORK),
	WORD(MADV_KEEPONFORK), WORD(MADV_COLD), WORD(MADV_PAGEOUT), WORD(MADV_HWPOISON),
#ifdef MADV_POPULATE_READ
	WORD(MADV_POPULATE_READ),
#endif
#ifdef MADV_POPULATE_WRITE
	WORD(MADV_POPULATE_WRITE),
#endif
#ifdef MADV_DONTNEED_LOCKED
	WORD(MADV_DONTNEED_LOCKED),
#endif
#ifdef MADV_COLLAPSE
	WORD(MADV_COLLAPSE),
#endif
};

static const struct call_set_word words_membarrier[] = {
	WORD(MEMBARRIER_CMD_QUERY), WORD(MEMBARRIER_CMD_GLOBAL),
	WORD(MEMBARRIER_CMD_GLOBAL_EXPEDITED), WORD(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED),
	WORD(MEMBARRIER_CMD_PRIVATE_EXPEDITED), WORD(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED),
	WORD(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE),
	WORD(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE),
	WORD(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ),
	WORD(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ)
};

static const struct call_set_word words_memfd[] = {
	WORD(MFD_CLOEXEC), WORD(MFD_ALLOW_SEALING), WORD(MFD_HUGETLB)
};

static const struct call_set_word words_mlock[] = {
	WORD(MLOCK_ONFAULT)
};

static const struct call_set_word words_mlockall[] = {
	WORD(MCL_CURRENT), WORD(MCL_FUTURE), WORD(MCL_ONFAULT)
};

static const struct call_set_word words_mmap[] = {
	FIELD(MAP_SHARED_VALIDATE, MAP_TYPE), FIELD(MAP_SHARED, MAP_TYPE),
	FIELD(MAP_PRIVATE, MAP_TYPE), WORD(MAP_FIXED), WORD(MAP_ANONYMOUS),
#ifdef MAP_32BIT
	WORD(MAP_32BIT),
#endif
	WORD(MAP_GROWSDOWN), WORD(MAP_DENYWRITE), WORD(MAP_EXECUTABLE), WORD(MAP_LOCKED),
	WORD(MAP_NORESERVE), WORD(MAP_POPULATE), WORD(MAP_NONBLOCK), WORD(MAP_STACK),
	WORD(MAP_HUGETLB), WORD(MAP_SYNC), WORD(MAP_FIXED_NOREPLACE)
};

static const struct call_set_word words_mmap_prot[] = {
	NOTHING(PROT_NONE), WORD(PROT_READ), WORD(PROT_WRITE), WORD(PROT_EXEC),
	WORD(PROT_GROWSDOWN), WORD(PROT_GROWSUP)
};

static const struct call_set_word words_mode[] = {
	FIELD(S_IFSOCK, S_IFMT), FIELD(S_IFLNK, S_IFMT), FIELD(S_IFREG, S_IFMT),
	FIELD(S_IFBLK, S_IFMT), FIELD(S_IFDIR, S_IFMT), FIELD(S_IFCHR, S_IFMT),
	FIELD(S_IFIFO, S_IFMT), WORD(S_ISUID), WORD(S_ISGID), WORD(S_ISVTX)
};

static const struct call_set_word words_mount[] = {
	WORD(MS_RDONLY), WORD(MS_NOSUID), WORD(MS_NODEV), WORD(MS_NOEXEC), WORD(MS_SYNCHRONOUS),
	WORD(MS_REMOUNT), WORD(MS_MANDLOCK), WORD(MS_DIRSYNC), WORD(MS_NOATIME),
	WORD(MS_NODIRATIME), WORD(MS_BIND), WORD(MS_MOVE), WORD(MS_REC), WORD(MS_SILENT),
	WORD(MS_POSIXACL), WORD(MS_UNBINDABLE), WORD(MS_PRIVATE), WORD(MS_SLAVE), WORD(MS_SHARED),
	WORD(MS_RELATIME), WORD(MS_KERNMOUNT), WORD(MS_I_VERSION), WORD(MS_STRICTATIME),
	WORD(MS_LAZYTIME)
};

static const struct call_set_word words_mremap[] = {
	WORD(MREMAP_MAYMOVE), WORD(MREMAP_FIXED), WORD(MREMAP_DONTUNMAP)
};

static const struct call_set_word words_msg[] = {
	WORD(MSG_OOB), WORD(MSG_PEEK), WORD(MSG_DONTROUTE), WORD(MSG_CTRUNC), WORD(MSG_PROXY),
	WORD(MSG_TRUNC), WORD(MSG_DONTWAIT), WORD(MSG_EOR), WORD(MSG_WAITALL), WORD(MSG_FIN),
	WORD(MSG_SYN), WORD(MSG_CONFIRM), WORD(MSG_RST), WORD(MSG_ERRQUEUE), WORD(MSG_NOSIGNAL),
	WORD(MSG_MORE), WORD(MSG_WAITFORONE), WORD(MSG_BATCH), WORD(MSG_ZEROCOPY),
	WORD(MSG_FASTOPEN), WORD(MSG_CMSG_CLOEXEC)
};

static const struct call_set_word words_msync[] = {
	WORD(MS_ASYNC), WORD(MS_INVALIDATE), WORD(MS_SYNC)
};

static const struct call_set_word words_netlink[] = {
	WORD(NETLINK_ROUTE), WORD(NETLINK_USERSOCK), WORD(NETLINK_SOCK_DIAG), WORD(NETLINK_XFRM),
	WORD(NETLINK_SELINUX), WORD(NETLINK_AUDIT), WORD(NETLINK_NETFILTER),
	WORD(NETLINK_KOBJECT_UEVENT), WORD(NETLINK_GENERIC), WORD(NETLINK_CRYPTO)
};

static const struct call_set_word words_open[] = {
	FIELD(O_RDONLY, O_ACCMODE), FIELD(O_WRONLY, O_ACCMODE), FIELD(O_RDWR, O_ACCMODE),
	WORD(O_CREAT), WORD(O_EXCL), WORD(O_NOCTTY), WORD(O_TRUNC), WORD(O_APPEND),
	WORD(O_NONBLOCK), WORD(O_SYNC), WORD(O_ASYNC), WORD(O_DSYNC), WORD(O_DIRECT),
	WORD(O_NOFOLLOW), WORD(O_NOATIME), WORD(O_CLOEXEC), WORD(O_PATH), WORD(O_TMPFILE),
	WORD(O_DIRECTORY)
};

static const struct call_set_word words_open_status[] = {
	FIELD(O_RDONLY, O_ACCMODE), FIELD(O_WRONLY, O_ACCMODE), FIELD(O_RDWR, O_ACCMODE),
	WORD(O_CREAT), WORD(O_EXCL), WORD(O_NOCTTY), WORD(O_TRUNC), WORD(O_APPEND),
	WORD(O_NONBLOCK), WORD(O_SYNC), WORD(O_ASYNC), WORD(O_DSYNC), WORD(O_DIRECT),
	{ "O_LARGEFILE", 0100000, 0100000 }, WORD(O_NOFOLLOW), WORD(O_NOATIME), WORD(O_CLOEXEC),
	WORD(O_PATH), WORD(O_TMPFILE), WORD(O_DIRECTORY)
};

static const struct call_set_word words_perf[] = {
	WORD(PERF_FLAG_FD_NO_GROUP), WORD(PERF_FLAG_FD_OUTPUT), WORD(PERF_FLAG_PID_CGROUP),
	WORD(PERF_FLAG_FD_CLOEXEC)
};

static const struct call_set_word words_pidfd[] = {
	WORD(PIDFD_NONBLOCK)
};

static const struct call_set_word words_pipe[] = {
	WORD(O_NONBLOCK), WORD(O_CLOEXEC), WORD(O_DIRECT)
};

static const struct call_set_word words_poll[] = {
	WORD(POLLIN), WORD(POLLPRI), WORD(POLLOUT), WORD(POLLERR), WORD(POLLHUP), WORD(POLLNVAL),
	WORD(POLLRDNORM), WORD(POLLRDBAND), WORD(POLLWRNORM), WORD(POLLWRBAND), WORD(POLLMSG),
	WORD(POLLRDHUP)
};

static const struct call_set_word words_prctl[] = {
	WORD(PR_SET_PDEATHSIG), WORD(PR_GET_PDEATHSIG), WORD(PR_GET_DUMPABLE),
	WORD(PR_SET_DUMPABLE), WORD(PR_GET_KEEPCAPS), WORD(PR_SET_KEEPCAPS), WORD(PR_SET_NAME),
	WORD(PR_GET_NAME), WORD(PR_GET_SECCOMP), WORD(PR_SET_SECCOMP), WORD(PR_CAPBSET_READ),
	WORD(PR_CAPBSET_DROP), WORD(PR_GET_TSC), WORD(PR_SET_TSC), WORD(PR_GET_SECUREBITS),
	WORD(PR_SET_SECUREBITS), WORD(PR_SET_TIMERSLACK), WORD(PR_GET_TIMERSLACK),
	WORD(PR_MCE_KILL), WORD(PR_SET_MM), WORD(PR_SET_PTRACER), WORD(PR_SET_CHILD_SUBREAPER),
	WORD(PR_GET_CHILD_SUBREAPER), WORD(PR_SET_NO_NEW_PRIVS), WORD(PR_GET_NO_NEW_PRIVS),
	WORD(PR_GET_TID_ADDRESS), WORD(PR_SET_THP_DISABLE), WORD(PR_GET_THP_DISABLE),
	WORD(PR_CAP_AMBIENT), WORD(PR_GET_SPECULATION_CTRL), WORD(PR_SET_SPECULATION_CTRL),
	WORD(PR_SET_IO_FLUSHER), WORD(PR_GET_IO_FLUSHER),
#ifdef PR_SET_VMA
	WORD(PR_SET_VMA),
#endif
};

static const struct call_set_word words_priority[] = {
	WORD(PRIO_PROCESS), WORD(PRIO_PGRP), WORD(PRIO_USER)
};

static const struct call_set_word words_ptrace[] = {
	WORD(PTRACE_TRACEME), WORD(PTRACE_PEEKTEXT), WORD(PTRACE_PEEKDATA), WORD(PTRACE_PEEKUSER),
	WORD(PTRACE_POKETEXT), WORD(PTRACE_POKEDATA), WORD(PTRACE_POKEUSER), WORD(PTRACE_CONT),
	WORD(PTRACE_KILL), WORD(PTRACE_SINGLESTEP), WORD(PTRACE_ATTACH), WORD(PTRACE_DETACH),
	WORD(PTRACE_SYSCALL), WORD(PTRACE_SETOPTIONS), WORD(PTRACE_GETEVENTMSG),
	WORD(PTRACE_GETSIGINFO), WORD(PTRACE_SETSIGINFO), WORD(PTRACE_GETREGSET),
	WORD(PTRACE_SETREGSET), WORD(PTRACE_SEIZE), WORD(PTRACE_INTERRUPT), WORD(PTRACE_LISTEN),
	WORD(PTRACE_PEEKSIGINFO), WORD(PTRACE_GETSIGMASK), WORD(PTRACE_SETSIGMASK),
	WORD(PTRACE_GET_SYSCALL_INFO)
};

static const struct call_set_word words_rename[] = {
	WORD(RENAME_NOREPLACE), WORD(RENAME_EXCHANGE), WORD(RENAME_WHITEOUT)
};

static const struct call_set_word words_rlimit[] = {
	WORD(RLIMIT_CPU), WORD(RLIMIT_FSIZE), WORD(RLIMIT_DATA), WORD(RLIMIT_STACK),
	WORD(RLIMIT_CORE), WORD(RLIMIT_RSS), WORD(RLIMIT_NPROC), WORD(RLIMIT_NOFILE),
	WORD(RLIMIT_MEMLOCK), WORD(RLIMIT_AS), WORD(RLIMIT_LOCKS), WORD(RLIMIT_SIGPENDING),
	WORD(RLIMIT_MSGQUEUE), WORD(RLIMIT_NICE), WORD(RLIMIT_RTPRIO), WORD(RLIMIT_RTTIME)
};

static const struct call_set_word words_rusage[] = {
	WORD(RUSAGE_SELF), WORD(RUSAGE_CHILDREN), WORD(RUSAGE_THREAD)
};

static const struct call_set_word words_rwf[] = {
	WORD(RWF_HIPRI), WORD(RWF_DSYNC), WORD(RWF_SYNC), WORD(RWF_NOWAIT), WORD(RWF_APPEND)
};

static const struct call_set_word words_sched[] = {
	WORD(SCHED_OTHER), WORD(SCHED_FIFO), WORD(SCHED_RR), WORD(SCHED_BATCH), WORD(SCHED_IDLE),
	WORD(SCHED_DEADLINE)
};

static const struct call_set_word words_seccomp[] = {
	WORD(SECCOMP_SET_MODE_STRICT), WORD(SECCOMP_SET_MODE_FILTER),
	WORD(SECCOMP_GET_ACTION_AVAIL), WORD(SECCOMP_GET_NOTIF_SIZES)
};

static const struct call_set_word words_seek[] = {
	WORD(SEEK_SET), WORD(SEEK_CUR), WORD(SEEK_END), WORD(SEEK_DATA), WORD(SEEK_HOLE)
};

static const struct call_set_word words_setvbuf[] = {
	WORD(_IOFBF), WORD(_IOLBF), WORD(_IONBF)
};

static const struct call_set_word words_shmat[] = {
	WORD(SHM_RDONLY), WORD(SHM_RND), WORD(SHM_REMAP), WORD(SHM_EXEC)
};

static const struct call_set_word words_shut[] = {
	WORD(SHUT_RD), WORD(SHUT_WR), WORD(SHUT_RDWR)
};

static const struct call_set_word words_sigaction[] = {
	{ "SA_RESTORER", 0x04000000, 0x04000000 }, WORD(SA_ONSTACK), WORD(SA_RESTART),
	WORD(SA_NODEFER), WORD(SA_RESETHAND), WORD(SA_SIGINFO), WORD(SA_NOCLDSTOP),
	WORD(SA_NOCLDWAIT)
};

static const struct call_set_word words_sigaltstack[] = {
	WORD(SS_ONSTACK), WORD(SS_DISABLE)
};

static const struct call_set_word words_sighandler[] = {
	{ "SIG_DFL", 0, 0 }, { "SIG_IGN", 1, 0 }
};

static const struct call_set_word words_sighow[] = {
	WORD(SIG_BLOCK), WORD(SIG_UNBLOCK), WORD(SIG_SETMASK)
};

/* The kernel's numbers. The C library reserves some of them. */
#define RT(name, number) { "SIGRT" #name, number, number }

static const struct call_set_word words_si_code[] = {
	WORD(SI_USER), WORD(SI_KERNEL), WORD(SI_QUEUE), WORD(SI_TIMER), WORD(SI_MESGQ),
	WORD(SI_ASYNCIO), WORD(SI_SIGIO), WORD(SI_TKILL)
};

static const struct call_set_word words_signal[] = {
	WORD(SIGHUP), WORD(SIGINT), WORD(SIGQUIT), WORD(SIGILL), WORD(SIGTRAP), WORD(SIGABRT),
	WORD(SIGBUS), WORD(SIGFPE), WORD(SIGKILL), WORD(SIGUSR1), WORD(SIGSEGV), WORD(SIGUSR2),
	WORD(SIGPIPE), WORD(SIGALRM), WORD(SIGTERM), WORD(SIGSTKFLT), WORD(SIGCHLD),
	WORD(SIGCONT), WORD(SIGSTOP), WORD(SIGTSTP), WORD(SIGTTIN), WORD(SIGTTOU), WORD(SIGURG),
	WORD(SIGXCPU), WORD(SIGXFSZ), WORD(SIGVTALRM), WORD(SIGPROF), WORD(SIGWINCH), WORD(SIGIO),
	WORD(SIGPWR), WORD(SIGSYS),
	RT(MIN, 32), RT(_1, 33), RT(_2, 34), RT(_3, 35), RT(_4, 36),
	RT(_5, 37), RT(_6, 38), RT(_7, 39), RT(_8, 40), RT(_9, 41),
	RT(_10, 42), RT(_11, 43), RT(_12, 44), RT(_13, 45), RT(_14, 46),
	RT(_15, 47), RT(_16, 48), RT(_17, 49), RT(_18, 50), RT(_19, 51),
	RT(_20, 52), RT(_21, 53), RT(_22, 54), RT(_23, 55), RT(_24, 56),
	RT(_25, 57), RT(_26, 58), RT(_27, 59), RT(_28, 60), RT(_29, 61),
	RT(_30, 62), RT(_31, 63), RT(_32, 64)
};

static const struct call_set_word words_scm[] = {
	WORD(SCM_RIGHTS), WORD(SCM_CREDENTIALS), { "SCM_SECURITY", 3, 0 }, { "SCM_PIDFD", 4, 0 },
	{ "SO_TIMESTAMP_OLD", 29, 0 }, { "SO_TIMESTAMPNS_OLD", 35, 0 },
	{ "SO_TIMESTAMPING_OLD", 37, 0 }
};

static const struct call_set_word words_signalfd[] = {
	WORD(SFD_CLOEXEC), WORD(SFD_NONBLOCK)
};

static const struct call_set_word words_so[] = {
	WORD(SO_DEBUG), WORD(SO_REUSEADDR), WORD(SO_TYPE), WORD(SO_ERROR), WORD(SO_DONTROUTE),
	WORD(SO_BROADCAST), WORD(SO_SNDBUF), WORD(SO_RCVBUF), WORD(SO_KEEPALIVE),
	WORD(SO_OOBINLINE), WORD(SO_PRIORITY), WORD(SO_LINGER), WORD(SO_REUSEPORT),
	WORD(SO_PASSCRED), WORD(SO_PEERCRED), WORD(SO_RCVLOWAT), WORD(SO_SNDLOWAT),
	WORD(SO_BINDTODEVICE), WORD(SO_ATTACH_FILTER), WORD(SO_DETACH_FILTER), WORD(SO_PEERNAME),
	WORD(SO_ACCEPTCONN), WORD(SO_PEERSEC), WORD(SO_SNDBUFFORCE), WORD(SO_RCVBUFFORCE),
	WORD(SO_PASSSEC), WORD(SO_MARK), WORD(SO_PROTOCOL), WORD(SO_DOMAIN), WORD(SO_BUSY_POLL),
	WORD(SO_INCOMING_CPU), WORD(SO_ZEROCOPY), { "SO_RCVTIMEO_OLD", 20, 0 },
	{ "SO_SNDTIMEO_OLD", 21, 0 }, { "SO_TIMESTAMP_OLD", 29, 0 }
};

/* The headers do not define this: the mask for the type of a socket without the flags. */
#define SOCK_TYPES (~(SOCK_CLOEXEC | SOCK_NONBLOCK))

static const struct call_set_word words_socktype[] = {
	FIELD(SOCK_STREAM, SOCK_TYPES), FIELD(SOCK_DGRAM, SOCK_TYPES),
	FIELD(SOCK_RAW, SOCK_TYPES), FIELD(SOCK_RDM, SOCK_TYPES),
	FIELD(SOCK_SEQPACKET, SOCK_TYPES), FIELD(SOCK_DCCP, SOCK_TYPES),
	FIELD(SOCK_PACKET, SOCK_TYPES), WORD(SOCK_CLOEXEC), WORD(SOCK_NONBLOCK)
};

static const struct call_set_word words_sol[] = {
	WORD(SOL_IP), WORD(SOL_SOCKET), WORD(SOL_TCP), WORD(SOL_UDP), WORD(SOL_IPV6),
	WORD(SOL_RAW), WORD(SOL_PACKET), WORD(SOL_NETLINK), WORD(SOL_ALG)
};

static const struct call_set_word words_splice[] = {
	WORD(SPLICE_F_MOVE), WORD(SPLICE_F_NONBLOCK), WORD(SPLICE_F_MORE), WORD(SPLICE_F_GIFT)
};

static const struct call_set_word words_statfs[] = {
	WORD(ST_RDONLY), WORD(ST_NOSUID), WORD(ST_NODEV), WORD(ST_NOEXEC), WORD(ST_SYNCHRONOUS),
	{ "ST_VALID", 0x20, 0x20 }, WORD(ST_MANDLOCK), WORD(ST_NOATIME), WORD(ST_NODIRATIME),
	WORD(ST_RELATIME)
};

static const struct call_set_word words_statx[] = {
	FIELD(AT_STATX_SYNC_AS_STAT, AT_STATX_SYNC_TYPE),
	FIELD(AT_STATX_FORCE_SYNC, AT_STATX_SYNC_TYPE),
	FIELD(AT_STATX_DONT_SYNC, AT_STATX_SYNC_TYPE), WORD(AT_SYMLINK_NOFOLLOW),
	WORD(AT_NO_AUTOMOUNT), WORD(AT_EMPTY_PATH)
};

static const struct call_set_word words_statx_attributes[] = {
	WORD(STATX_ATTR_COMPRESSED), WORD(STATX_ATTR_IMMUTABLE), WORD(STATX_ATTR_APPEND),
	WORD(STATX_ATTR_NODUMP), WORD(STATX_ATTR_ENCRYPTED), WORD(STATX_ATTR_AUTOMOUNT),
	WORD(STATX_ATTR_MOUNT_ROOT)
};

static const struct call_set_word words_statx_mask[] = {
	WORD(STATX_ALL), WORD(STATX_BASIC_STATS), WORD(STATX_TYPE), WORD(STATX_MODE),
	WORD(STATX_NLINK), WORD(STATX_UID), WORD(STATX_GID), WORD(STATX_ATIME), WORD(STATX_MTIME),
	WORD(STATX_CTIME), WORD(STATX_INO), WORD(STATX_SIZE), WORD(STATX_BLOCKS),
	WORD(STATX_BTIME),
#ifdef STATX_MNT_ID
	WORD(STATX_MNT_ID),
#endif
};

static const struct call_set_word words_swap[] = {
	WORD(SWAP_FLAG_PREFER), WORD(SWAP_FLAG_DISCARD)
};

static const struct call_set_word words_sync_range[] = {
	WORD(SYNC_FILE_RANGE_WAIT_BEFORE), WORD(SYNC_FILE_RANGE_WRITE),
	WORD(SYNC_FILE_RANGE_WAIT_AFTER)
};

static const struct call_set_word words_tcp[] = {
	WORD(TCP_NODELAY), WORD(TCP_MAXSEG), WORD(TCP_CORK), WORD(TCP_KEEPIDLE),
	WORD(TCP_KEEPINTVL), WORD(TCP_KEEPCNT), WORD(TCP_SYNCNT), WORD(TCP_LINGER2),
	WORD(TCP_DEFER_ACCEPT), WORD(TCP_WINDOW_CLAMP), WORD(TCP_INFO), WORD(TCP_QUICKACK),
	WORD(TCP_CONGESTION), WORD(TCP_MD5SIG), WORD(TCP_USER_TIMEOUT), WORD(TCP_FASTOPEN),
	WORD(TCP_FASTOPEN_CONNECT), WORD(TCP_ULP)
};

static const struct call_set_word words_tcsetattr[] = {
	WORD(TCSANOW), WORD(TCSADRAIN), WORD(TCSAFLUSH)
};

static const struct call_set_word words_timer[] = {
	WORD(TIMER_ABSTIME)
};

static const struct call_set_word words_timerfd[] = {
	WORD(TFD_CLOEXEC), WORD(TFD_NONBLOCK)
};

static const struct call_set_word words_timerfd_settime[] = {
	WORD(TFD_TIMER_ABSTIME), WORD(TFD_TIMER_CANCEL_ON_SET)
};

static const struct call_set_word words_umount[] = {
	WORD(MNT_FORCE), WORD(MNT_DETACH), WORD(MNT_EXPIRE), WORD(UMOUNT_NOFOLLOW)
};

static const struct call_set_word words_unlinkat[] = {
	WORD(AT_REMOVEDIR)
};

static const struct call_set_word words_userfaultfd[] = {
	WORD(O_CLOEXEC), WORD(O_NONBLOCK)
};

static const struct call_set_word words_wait[] = {
	WORD(WNOHANG), WORD(WSTOPPED), WORD(WEXITED), WORD(WCONTINUED), WORD(WNOWAIT),
	WORD(__WNOTHREAD), WORD(__WALL), WORD(__WCLONE)
};

static const struct call_set_word words_xattr[] = {
	WORD(XATTR_CREATE), WORD(XATTR_REPLACE)
};

/* clang-format on */

/* Sorted by name. */
const struct call_set call_set_rows_m_to_z[] = {
	{ "madvise", CALL_SET_ENUM, 32, WORDS(words_madvise) },
	{ "membarrier", CALL_SET_ENUM, 32, WORDS(words_membarrier) },
	{ "memfd", CALL_SET_FLAGS, 32, WORDS(words_memfd) },
	{ "mlock", CALL_SET_FLAGS, 32, WORDS(words_mlock) },
	{ "mlockall", CALL_SET_FLAGS, 32, WORDS(words_mlockall) },
	{ "mmap", CALL_SET_FLAGS, 32, WORDS(words_mmap) },
	{ "mmap_prot", CALL_SET_FLAGS, 32, WORDS(words_mmap_prot) },
	{ "mode", CALL_SET_MODE, 32, WORDS(words_mode) },
	{ "mount", CALL_SET_FLAGS, 32, WORDS(words_mount) },
	{ "mremap", CALL_SET_FLAGS, 32, WORDS(words_mremap) },
	{ "msg", CALL_SET_FLAGS, 32, WORDS(words_msg) },
	{ "msync", CALL_SET_FLAGS, 32, WORDS(words_msync) },
	{ "netlink", CALL_SET_ENUM, 32, WORDS(words_netlink) },
	{ "open", CALL_SET_FLAGS, 32, WORDS(words_open) },
	{ "open_status", CALL_SET_FLAGS, 32, WORDS(words_open_status) },
	{ "perf", CALL_SET_FLAGS, 32, WORDS(words_perf) },
	{ "perm", CALL_SET_MODE, 32, NULL, 0 },
	{ "pidfd", CALL_SET_FLAGS, 32, WORDS(words_pidfd) },
	{ "pipe", CALL_SET_FLAGS, 32, WORDS(words_pipe) },
	{ "poll", CALL_SET_FLAGS, 32, WORDS(words_poll) },
	{ "prctl", CALL_SET_ENUM, 32, WORDS(words_prctl) },
	{ "priority", CALL_SET_ENUM, 32, WORDS(words_priority) },
	{ "ptrace", CALL_SET_ENUM, 32, WORDS(words_ptrace) },
	{ "rename", CALL_SET_FLAGS, 32, WORDS(words_rename) },
	{ "rlimit", CALL_SET_ENUM, 32, WORDS(words_rlimit) },
	{ "rusage", CALL_SET_ENUM, 32, WORDS(words_rusage) },
	{ "rwf", CALL_SET_FLAGS, 32, WORDS(words_rwf) },
	{ "sched", CALL_SET_ENUM, 32, WORDS(words_sched) },
	{ "scm", CALL_SET_ENUM, 32, WORDS(words_scm) },
	{ "seccomp", CALL_SET_ENUM, 32, WORDS(words_seccomp) },
	{ "seek", CALL_SET_ENUM, 32, WORDS(words_seek) },
	{ "setvbuf", CALL_SET_ENUM, 32, WORDS(words_setvbuf) },
	{ "shmat", CALL_SET_FLAGS, 32, WORDS(words_shmat) },
	{ "shut", CALL_SET_ENUM, 32, WORDS(words_shut) },
	{ "si_code", CALL_SET_ENUM, 32, WORDS(words_si_code) },
	{ "sigaction", CALL_SET_FLAGS, 64, WORDS(words_sigaction) },
	{ "sigaltstack", CALL_SET_FLAGS, 32, WORDS(words_sigaltstack) },
	{ "sighandler", CALL_SET_ENUM, 64, WORDS(words_sighandler) },
	{ "sighow", CALL_SET_ENUM, 32, WORDS(words_sighow) },
	{ "signal", CALL_SET_ENUM, 32, WORDS(words_signal) },
	{ "signalfd", CALL_SET_FLAGS, 32, WORDS(words_signalfd) },
	{ "so", CALL_SET_ENUM, 32, WORDS(words_so) },
	{ "socktype", CALL_SET_FLAGS, 32, WORDS(words_socktype) },
	{ "sol", CALL_SET_ENUM, 32, WORDS(words_sol) },
	{ "splice", CALL_SET_FLAGS, 32, WORDS(words_splice) },
	{ "statfs", CALL_SET_FLAGS, 64, WORDS(words_statfs) },
	{ "statx", CALL_SET_FLAGS, 32, WORDS(words_statx) },
	{ "statx_attributes", CALL_SET_FLAGS, 64, WORDS(words_statx_attributes) },
	{ "statx_mask", CALL_SET_FLAGS, 32, WORDS(words_statx_mask) },
	{ "swap", CALL_SET_FLAGS, 32, WORDS(words_swap) },
	{ "sync_range", CALL_SET_FLAGS, 32, WORDS(words_sync_range) },
	{ "tcp", CALL_SET_ENUM, 32, WORDS(words_tcp) },
	{ "tcsetattr", CALL_SET_ENUM, 32, WORDS(words_tcsetattr) },
	{ "timer", CALL_SET_FLAGS, 32, WORDS(words_timer) },
	{ "timerfd", CALL_SET_FLAGS, 32, WORDS(words_timerfd) },
	{ "timerfd_settime", CALL_SET_FLAGS, 32, WORDS(words_timerfd_settime) },
	{ "umount", CALL_SET_FLAGS, 32, WORDS(words_umount) },
	{ "unlinkat", CALL_SET_FLAGS, 32, WORDS(words_unlinkat) },
	{ "userfaultfd", CALL_SET_FLAGS, 32, WORDS(words_userfaultfd) },
	{ "wait", CALL_SET_FLAGS, 32, WORDS(words_wait) },
	{ "xattr", CALL_SET_FLAGS, 32, WORDS(words_xattr) },
};

const size_t call_set_n_rows_m_to_z = ARRAY_SIZE(call_set_rows_m_to_z);
