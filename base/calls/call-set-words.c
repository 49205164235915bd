/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/calls/call-set-words.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/futex.h>
#include <linux/kcmp.h>
#include <linux/keyctl.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
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

#include "base/cleanup.h"

/* (rows are filled like text: one word a line would take pages) */
/* clang-format off */

/* (each by itself: a macro that passed its argument on would have it expanded) */
#define WORD(name)        { #name, (uint64_t)(uint32_t)(name), (uint64_t)(uint32_t)(name) }
#define FIELD(name, mask) { #name, (uint64_t)(uint32_t)(name), (uint64_t)(uint32_t)(mask) }
/* The word for 0, which says nothing beside others. */
#define NOTHING(name)     { #name, 0, UINT64_MAX }
#define WORDS(array)      array, ARRAY_SIZE(array)

/* Not in the headers: what is left of a type of socket without the flags. */
#define SOCK_TYPES (~(SOCK_CLOEXEC | SOCK_NONBLOCK))

static const struct call_set_word words_accept[] = {
	WORD(SOCK_CLOEXEC), WORD(SOCK_NONBLOCK)
};

static const struct call_set_word words_access[] = {
	NOTHING(F_OK), WORD(R_OK), WORD(W_OK), WORD(X_OK)
};

static const struct call_set_word words_af[] = {
	WORD(AF_UNSPEC), WORD(AF_UNIX), WORD(AF_INET), WORD(AF_AX25), WORD(AF_IPX),
	WORD(AF_APPLETALK), WORD(AF_NETROM), WORD(AF_X25), WORD(AF_INET6), WORD(AF_KEY),
	WORD(AF_NETLINK), WORD(AF_PACKET), WORD(AF_RDS), WORD(AF_PPPOX), WORD(AF_CAN),
	WORD(AF_TIPC), WORD(AF_BLUETOOTH), WORD(AF_ALG), WORD(AF_NFC), WORD(AF_VSOCK),
	WORD(AF_KCM), WORD(AF_QIPCRTR), WORD(AF_SMC), WORD(AF_XDP)
};

#ifdef __x86_64__
static const struct call_set_word words_arch_prctl[] = {
	WORD(ARCH_SET_GS), WORD(ARCH_SET_FS), WORD(ARCH_GET_FS), WORD(ARCH_GET_GS),
	WORD(ARCH_GET_CPUID), WORD(ARCH_SET_CPUID)
};
#endif

static const struct call_set_word words_at[] = {
	WORD(AT_SYMLINK_NOFOLLOW), WORD(AT_SYMLINK_FOLLOW), WORD(AT_NO_AUTOMOUNT),
	WORD(AT_EMPTY_PATH)
};

static const struct call_set_word words_bpf[] = {
	WORD(BPF_MAP_CREATE), WORD(BPF_MAP_LOOKUP_ELEM), WORD(BPF_MAP_UPDATE_ELEM),
	WORD(BPF_MAP_DELETE_ELEM), WORD(BPF_MAP_GET_NEXT_KEY), WORD(BPF_PROG_LOAD),
	WORD(BPF_OBJ_PIN), WORD(BPF_OBJ_GET), WORD(BPF_PROG_ATTACH), WORD(BPF_PROG_DETACH),
	WORD(BPF_PROG_TEST_RUN), WORD(BPF_PROG_GET_NEXT_ID), WORD(BPF_MAP_GET_NEXT_ID),
	WORD(BPF_PROG_GET_FD_BY_ID), WORD(BPF_MAP_GET_FD_BY_ID), WORD(BPF_OBJ_GET_INFO_BY_FD),
	WORD(BPF_PROG_QUERY), WORD(BPF_RAW_TRACEPOINT_OPEN), WORD(BPF_BTF_LOAD),
	WORD(BPF_BTF_GET_FD_BY_ID), WORD(BPF_TASK_FD_QUERY), WORD(BPF_MAP_LOOKUP_AND_DELETE_ELEM),
	WORD(BPF_MAP_FREEZE), WORD(BPF_BTF_GET_NEXT_ID), WORD(BPF_MAP_LOOKUP_BATCH),
	WORD(BPF_MAP_LOOKUP_AND_DELETE_BATCH), WORD(BPF_MAP_UPDATE_BATCH),
	WORD(BPF_MAP_DELETE_BATCH), WORD(BPF_LINK_CREATE), WORD(BPF_LINK_UPDATE),
	WORD(BPF_LINK_GET_FD_BY_ID), WORD(BPF_LINK_GET_NEXT_ID), WORD(BPF_ENABLE_STATS),
	WORD(BPF_ITER_CREATE), WORD(BPF_LINK_DETACH), WORD(BPF_PROG_BIND_MAP)
};

static const struct call_set_word words_clock[] = {
	WORD(CLOCK_REALTIME), WORD(CLOCK_MONOTONIC), WORD(CLOCK_PROCESS_CPUTIME_ID),
	WORD(CLOCK_THREAD_CPUTIME_ID), WORD(CLOCK_MONOTONIC_RAW), WORD(CLOCK_REALTIME_COARSE),
	WORD(CLOCK_MONOTONIC_COARSE), WORD(CLOCK_BOOTTIME), WORD(CLOCK_REALTIME_ALARM),
	WORD(CLOCK_BOOTTIME_ALARM), WORD(CLOCK_TAI)
};

static const struct call_set_word words_clone[] = {
	WORD(CLONE_VM), WORD(CLONE_FS), WORD(CLONE_FILES), WORD(CLONE_SIGHAND), WORD(CLONE_PIDFD),
	WORD(CLONE_PTRACE), WORD(CLONE_VFORK), WORD(CLONE_PARENT), WORD(CLONE_THREAD),
	WORD(CLONE_NEWNS), WORD(CLONE_SYSVSEM), WORD(CLONE_SETTLS), WORD(CLONE_PARENT_SETTID),
	WORD(CLONE_CHILD_CLEARTID), WORD(CLONE_DETACHED), WORD(CLONE_UNTRACED),
	WORD(CLONE_CHILD_SETTID), WORD(CLONE_NEWCGROUP), WORD(CLONE_NEWUTS), WORD(CLONE_NEWIPC),
	WORD(CLONE_NEWUSER), WORD(CLONE_NEWPID), WORD(CLONE_NEWNET), WORD(CLONE_IO),
	FIELD(SIGCHLD, CSIGNAL)
};

static const struct call_set_word words_close_range[] = {
	WORD(CLOSE_RANGE_UNSHARE), WORD(CLOSE_RANGE_CLOEXEC)
};

static const struct call_set_word words_dirfd[] = {
	WORD(AT_FDCWD)
};

static const struct call_set_word words_dlopen[] = {
	WORD(RTLD_LAZY), WORD(RTLD_NOW), WORD(RTLD_NOLOAD), WORD(RTLD_DEEPBIND),
	WORD(RTLD_GLOBAL), WORD(RTLD_NODELETE)
};

static const struct call_set_word words_eai[] = {
	WORD(EAI_BADFLAGS), WORD(EAI_NONAME), WORD(EAI_AGAIN), WORD(EAI_FAIL), WORD(EAI_NODATA),
	WORD(EAI_FAMILY), WORD(EAI_SOCKTYPE), WORD(EAI_SERVICE), WORD(EAI_ADDRFAMILY),
	WORD(EAI_MEMORY), WORD(EAI_SYSTEM), WORD(EAI_OVERFLOW)
};

static const struct call_set_word words_epoll[] = {
	WORD(EPOLL_CLOEXEC)
};

static const struct call_set_word words_epoll_ctl[] = {
	WORD(EPOLL_CTL_ADD), WORD(EPOLL_CTL_DEL), WORD(EPOLL_CTL_MOD)
};

static const struct call_set_word words_errno[] = {
	WORD(EPERM), WORD(ENOENT), WORD(ESRCH), WORD(EINTR), WORD(EIO), WORD(ENXIO), WORD(E2BIG),
	WORD(ENOEXEC), WORD(EBADF), WORD(ECHILD), WORD(EAGAIN), WORD(ENOMEM), WORD(EACCES),
	WORD(EFAULT), WORD(ENOTBLK), WORD(EBUSY), WORD(EEXIST), WORD(EXDEV), WORD(ENODEV),
	WORD(ENOTDIR), WORD(EISDIR), WORD(EINVAL), WORD(ENFILE), WORD(EMFILE), WORD(ENOTTY),
	WORD(ETXTBSY), WORD(EFBIG), WORD(ENOSPC), WORD(ESPIPE), WORD(EROFS), WORD(EMLINK),
	WORD(EPIPE), WORD(EDOM), WORD(ERANGE), WORD(EDEADLK), WORD(ENAMETOOLONG), WORD(ENOLCK),
	WORD(ENOSYS), WORD(ENOTEMPTY), WORD(ELOOP), WORD(ENOMSG), WORD(EIDRM), WORD(ECHRNG),
	WORD(EL2NSYNC), WORD(EL3HLT), WORD(EL3RST), WORD(ELNRNG), WORD(EUNATCH), WORD(ENOCSI),
	WORD(EL2HLT), WORD(EBADE), WORD(EBADR), WORD(EXFULL), WORD(ENOANO), WORD(EBADRQC),
	WORD(EBADSLT), WORD(EBFONT), WORD(ENOSTR), WORD(ENODATA), WORD(ETIME), WORD(ENOSR),
	WORD(ENONET), WORD(ENOPKG), WORD(EREMOTE), WORD(ENOLINK), WORD(EADV), WORD(ESRMNT),
	WORD(ECOMM), WORD(EPROTO), WORD(EMULTIHOP), WORD(EDOTDOT), WORD(EBADMSG), WORD(EOVERFLOW),
	WORD(ENOTUNIQ), WORD(EBADFD), WORD(EREMCHG), WORD(ELIBACC), WORD(ELIBBAD), WORD(ELIBSCN),
	WORD(ELIBMAX), WORD(ELIBEXEC), WORD(EILSEQ), WORD(ERESTART), WORD(ESTRPIPE), WORD(EUSERS),
	WORD(ENOTSOCK), WORD(EDESTADDRREQ), WORD(EMSGSIZE), WORD(EPROTOTYPE), WORD(ENOPROTOOPT),
	WORD(EPROTONOSUPPORT), WORD(ESOCKTNOSUPPORT), WORD(EOPNOTSUPP), WORD(EPFNOSUPPORT),
	WORD(EAFNOSUPPORT), WORD(EADDRINUSE), WORD(EADDRNOTAVAIL), WORD(ENETDOWN),
	WORD(ENETUNREACH), WORD(ENETRESET), WORD(ECONNABORTED), WORD(ECONNRESET), WORD(ENOBUFS),
	WORD(EISCONN), WORD(ENOTCONN), WORD(ESHUTDOWN), WORD(ETOOMANYREFS), WORD(ETIMEDOUT),
	WORD(ECONNREFUSED), WORD(EHOSTDOWN), WORD(EHOSTUNREACH), WORD(EALREADY),
	WORD(EINPROGRESS), WORD(ESTALE), WORD(EUCLEAN), WORD(ENOTNAM), WORD(ENAVAIL),
	WORD(EISNAM), WORD(EREMOTEIO), WORD(EDQUOT), WORD(ENOMEDIUM), WORD(EMEDIUMTYPE),
	WORD(ECANCELED), WORD(ENOKEY), WORD(EKEYEXPIRED), WORD(EKEYREVOKED), WORD(EKEYREJECTED),
	WORD(EOWNERDEAD), WORD(ENOTRECOVERABLE), WORD(ERFKILL), WORD(EHWPOISON)
};

static const struct call_set_word words_eventfd[] = {
	WORD(EFD_SEMAPHORE), WORD(EFD_CLOEXEC), WORD(EFD_NONBLOCK)
};

static const struct call_set_word words_faccessat[] = {
	WORD(AT_SYMLINK_NOFOLLOW), WORD(AT_EACCESS), WORD(AT_EMPTY_PATH)
};

static const struct call_set_word words_fadvise[] = {
	WORD(POSIX_FADV_NORMAL), WORD(POSIX_FADV_RANDOM), WORD(POSIX_FADV_SEQUENTIAL),
	WORD(POSIX_FADV_WILLNEED), WORD(POSIX_FADV_DONTNEED), WORD(POSIX_FADV_NOREUSE)
};

static const struct call_set_word words_fallocate[] = {
	WORD(FALLOC_FL_KEEP_SIZE), WORD(FALLOC_FL_PUNCH_HOLE), WORD(FALLOC_FL_COLLAPSE_RANGE),
	WORD(FALLOC_FL_ZERO_RANGE), WORD(FALLOC_FL_INSERT_RANGE), WORD(FALLOC_FL_UNSHARE_RANGE)
};

static const struct call_set_word words_fanotify_init[] = {
	WORD(FAN_CLOEXEC), WORD(FAN_NONBLOCK), WORD(FAN_CLASS_CONTENT),
	WORD(FAN_CLASS_PRE_CONTENT), WORD(FAN_UNLIMITED_QUEUE), WORD(FAN_UNLIMITED_MARKS),
	WORD(FAN_ENABLE_AUDIT), WORD(FAN_REPORT_TID), WORD(FAN_REPORT_FID),
	WORD(FAN_REPORT_DIR_FID), WORD(FAN_REPORT_NAME)
};

static const struct call_set_word words_fanotify_mark[] = {
	WORD(FAN_MARK_ADD), WORD(FAN_MARK_REMOVE), WORD(FAN_MARK_DONT_FOLLOW),
	WORD(FAN_MARK_ONLYDIR), WORD(FAN_MARK_MOUNT), WORD(FAN_MARK_IGNORED_MASK),
	WORD(FAN_MARK_IGNORED_SURV_MODIFY), WORD(FAN_MARK_FLUSH), WORD(FAN_MARK_FILESYSTEM)
};

static const struct call_set_word words_fcntl[] = {
	WORD(F_DUPFD), WORD(F_GETFD), WORD(F_SETFD), WORD(F_GETFL), WORD(F_SETFL), WORD(F_GETLK),
	WORD(F_SETLK), WORD(F_SETLKW), WORD(F_SETOWN), WORD(F_GETOWN), WORD(F_SETSIG),
	WORD(F_GETSIG), WORD(F_SETOWN_EX), WORD(F_GETOWN_EX), WORD(F_OFD_GETLK),
	WORD(F_OFD_SETLK), WORD(F_OFD_SETLKW), WORD(F_SETLEASE), WORD(F_GETLEASE), WORD(F_NOTIFY),
	WORD(F_DUPFD_CLOEXEC), WORD(F_SETPIPE_SZ), WORD(F_GETPIPE_SZ), WORD(F_ADD_SEALS),
	WORD(F_GET_SEALS), WORD(F_GET_RW_HINT), WORD(F_SET_RW_HINT), WORD(F_GET_FILE_RW_HINT),
	WORD(F_SET_FILE_RW_HINT)
};

static const struct call_set_word words_flock[] = {
	WORD(LOCK_SH), WORD(LOCK_EX), WORD(LOCK_NB), WORD(LOCK_UN)
};

static const struct call_set_word words_futex[] = {
	FIELD(FUTEX_WAIT, FUTEX_CMD_MASK), FIELD(FUTEX_WAKE, FUTEX_CMD_MASK),
	FIELD(FUTEX_FD, FUTEX_CMD_MASK), FIELD(FUTEX_REQUEUE, FUTEX_CMD_MASK),
	FIELD(FUTEX_CMP_REQUEUE, FUTEX_CMD_MASK), FIELD(FUTEX_WAKE_OP, FUTEX_CMD_MASK),
	FIELD(FUTEX_LOCK_PI, FUTEX_CMD_MASK), FIELD(FUTEX_UNLOCK_PI, FUTEX_CMD_MASK),
	FIELD(FUTEX_TRYLOCK_PI, FUTEX_CMD_MASK), FIELD(FUTEX_WAIT_BITSET, FUTEX_CMD_MASK),
	FIELD(FUTEX_WAKE_BITSET, FUTEX_CMD_MASK), FIELD(FUTEX_WAIT_REQUEUE_PI, FUTEX_CMD_MASK),
	FIELD(FUTEX_CMP_REQUEUE_PI, FUTEX_CMD_MASK), FIELD(FUTEX_LOCK_PI2, FUTEX_CMD_MASK),
	WORD(FUTEX_PRIVATE_FLAG), WORD(FUTEX_CLOCK_REALTIME)
};

static const struct call_set_word words_getrandom[] = {
	WORD(GRND_NONBLOCK), WORD(GRND_RANDOM), WORD(GRND_INSECURE)
};

static const struct call_set_word words_idtype[] = {
	WORD(P_ALL), WORD(P_PID), WORD(P_PGID), WORD(P_PIDFD)
};

static const struct call_set_word words_inotify[] = {
	WORD(IN_NONBLOCK), WORD(IN_CLOEXEC)
};

static const struct call_set_word words_inotify_mask[] = {
	WORD(IN_ALL_EVENTS), WORD(IN_ACCESS), WORD(IN_MODIFY), WORD(IN_ATTRIB),
	WORD(IN_CLOSE_WRITE), WORD(IN_CLOSE_NOWRITE), WORD(IN_OPEN), WORD(IN_MOVED_FROM),
	WORD(IN_MOVED_TO), WORD(IN_CREATE), WORD(IN_DELETE), WORD(IN_DELETE_SELF),
	WORD(IN_MOVE_SELF), WORD(IN_UNMOUNT), WORD(IN_Q_OVERFLOW), WORD(IN_IGNORED),
	WORD(IN_ONLYDIR), WORD(IN_DONT_FOLLOW), WORD(IN_EXCL_UNLINK), WORD(IN_MASK_CREATE),
	WORD(IN_MASK_ADD), WORD(IN_ISDIR), WORD(IN_ONESHOT)
};

static const struct call_set_word words_ioctl[] = {
	WORD(TCGETS), WORD(TCSETS), WORD(TCSETSW), WORD(TCSETSF), WORD(TCGETA), WORD(TCSETA),
	WORD(TCSBRK), WORD(TCXONC), WORD(TCFLSH), WORD(TIOCEXCL), WORD(TIOCNXCL), WORD(TIOCSCTTY),
	WORD(TIOCGPGRP), WORD(TIOCSPGRP), WORD(TIOCOUTQ), WORD(TIOCSTI), WORD(TIOCGWINSZ),
	WORD(TIOCSWINSZ), WORD(TIOCMGET), WORD(TIOCMSET), WORD(FIONREAD), WORD(TIOCPKT),
	WORD(FIONBIO), WORD(TIOCNOTTY), WORD(TIOCGETD), WORD(TIOCSETD), WORD(TIOCSBRK),
	WORD(TIOCCBRK), WORD(TIOCGSID), WORD(TIOCGPTN), WORD(TIOCSPTLCK), WORD(TIOCGPTPEER),
	WORD(FIONCLEX), WORD(FIOCLEX), WORD(FIOASYNC), WORD(SIOCGIFNAME), WORD(SIOCGIFCONF),
	WORD(SIOCGIFFLAGS), WORD(SIOCSIFFLAGS), WORD(SIOCGIFADDR), WORD(SIOCGIFMTU),
	WORD(SIOCGIFHWADDR), WORD(SIOCGIFINDEX), WORD(SIOCATMARK), WORD(SIOCETHTOOL)
};

static const struct call_set_word words_ipc_ctl[] = {
	WORD(IPC_RMID), WORD(IPC_SET), WORD(IPC_STAT), WORD(IPC_INFO)
};

static const struct call_set_word words_ipc_get[] = {
	WORD(IPC_CREAT), WORD(IPC_EXCL), WORD(IPC_NOWAIT)
};

static const struct call_set_word words_ipproto[] = {
	WORD(IPPROTO_IP), WORD(IPPROTO_ICMP), WORD(IPPROTO_IGMP), WORD(IPPROTO_TCP),
	WORD(IPPROTO_UDP), WORD(IPPROTO_IPV6), WORD(IPPROTO_GRE), WORD(IPPROTO_ESP),
	WORD(IPPROTO_AH), WORD(IPPROTO_ICMPV6), WORD(IPPROTO_SCTP), WORD(IPPROTO_UDPLITE),
	WORD(IPPROTO_RAW)
};

static const struct call_set_word words_itimer[] = {
	WORD(ITIMER_REAL), WORD(ITIMER_VIRTUAL), WORD(ITIMER_PROF)
};

static const struct call_set_word words_kcmp[] = {
	WORD(KCMP_FILE), WORD(KCMP_VM), WORD(KCMP_FILES), WORD(KCMP_FS), WORD(KCMP_SIGHAND),
	WORD(KCMP_IO), WORD(KCMP_SYSVSEM), WORD(KCMP_EPOLL_TFD)
};

static const struct call_set_word words_keyctl[] = {
	WORD(KEYCTL_GET_KEYRING_ID), WORD(KEYCTL_JOIN_SESSION_KEYRING), WORD(KEYCTL_UPDATE),
	WORD(KEYCTL_REVOKE), WORD(KEYCTL_CHOWN), WORD(KEYCTL_SETPERM), WORD(KEYCTL_DESCRIBE),
	WORD(KEYCTL_CLEAR), WORD(KEYCTL_LINK), WORD(KEYCTL_UNLINK), WORD(KEYCTL_SEARCH),
	WORD(KEYCTL_READ), WORD(KEYCTL_INSTANTIATE), WORD(KEYCTL_NEGATE),
	WORD(KEYCTL_SET_REQKEY_KEYRING), WORD(KEYCTL_SET_TIMEOUT), WORD(KEYCTL_ASSUME_AUTHORITY),
	WORD(KEYCTL_GET_SECURITY), WORD(KEYCTL_SESSION_TO_PARENT), WORD(KEYCTL_REJECT),
	WORD(KEYCTL_INSTANTIATE_IOV), WORD(KEYCTL_INVALIDATE), WORD(KEYCTL_GET_PERSISTENT)
};

static const struct call_set_word words_linkat[] = {
	WORD(AT_SYMLINK_FOLLOW), WORD(AT_EMPTY_PATH)
};

static const struct call_set_word words_lockf[] = {
	WORD(F_ULOCK), WORD(F_LOCK), WORD(F_TLOCK), WORD(F_TEST)
};

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

static const struct call_set_word words_open[] = {
	FIELD(O_RDONLY, O_ACCMODE), FIELD(O_WRONLY, O_ACCMODE), FIELD(O_RDWR, O_ACCMODE),
	WORD(O_CREAT), WORD(O_EXCL), WORD(O_NOCTTY), WORD(O_TRUNC), WORD(O_APPEND),
	WORD(O_NONBLOCK), WORD(O_SYNC), WORD(O_DSYNC), WORD(O_ASYNC), WORD(O_DIRECT),
	WORD(O_TMPFILE), WORD(O_DIRECTORY), WORD(O_NOFOLLOW), WORD(O_NOATIME), WORD(O_CLOEXEC),
	WORD(O_PATH)
};

static const struct call_set_word words_perf[] = {
	WORD(PERF_FLAG_FD_NO_GROUP), WORD(PERF_FLAG_FD_OUTPUT), WORD(PERF_FLAG_PID_CGROUP),
	WORD(PERF_FLAG_FD_CLOEXEC)
};

static const struct call_set_word words_pidfd[] = {
	WORD(PIDFD_NONBLOCK)
};

static const struct call_set_word words_pipe[] = {
	WORD(O_CLOEXEC), WORD(O_NONBLOCK), WORD(O_DIRECT)
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

static const struct call_set_word words_sighow[] = {
	WORD(SIG_BLOCK), WORD(SIG_UNBLOCK), WORD(SIG_SETMASK)
};

static const struct call_set_word words_signal[] = {
	WORD(SIGHUP), WORD(SIGINT), WORD(SIGQUIT), WORD(SIGILL), WORD(SIGTRAP), WORD(SIGABRT),
	WORD(SIGBUS), WORD(SIGFPE), WORD(SIGKILL), WORD(SIGUSR1), WORD(SIGSEGV), WORD(SIGUSR2),
	WORD(SIGPIPE), WORD(SIGALRM), WORD(SIGTERM), WORD(SIGSTKFLT), WORD(SIGCHLD),
	WORD(SIGCONT), WORD(SIGSTOP), WORD(SIGTSTP), WORD(SIGTTIN), WORD(SIGTTOU), WORD(SIGURG),
	WORD(SIGXCPU), WORD(SIGXFSZ), WORD(SIGVTALRM), WORD(SIGPROF), WORD(SIGWINCH), WORD(SIGIO),
	WORD(SIGPWR), WORD(SIGSYS)
};

static const struct call_set_word words_signalfd[] = {
	WORD(SFD_CLOEXEC), WORD(SFD_NONBLOCK)
};

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

static const struct call_set_word words_statx[] = {
	WORD(AT_STATX_FORCE_SYNC), WORD(AT_STATX_DONT_SYNC), WORD(AT_SYMLINK_NOFOLLOW),
	WORD(AT_NO_AUTOMOUNT), WORD(AT_EMPTY_PATH)
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
	WORD(WNOHANG), WORD(WUNTRACED), WORD(WEXITED), WORD(WCONTINUED), WORD(WNOWAIT),
	WORD(__WNOTHREAD), WORD(__WALL), WORD(__WCLONE)
};

static const struct call_set_word words_xattr[] = {
	WORD(XATTR_CREATE), WORD(XATTR_REPLACE)
};

/* clang-format on */

/* Sorted by name. */
const struct call_set call_set_rows[] = {
	{ "accept", CALL_SET_FLAGS, 32, WORDS(words_accept) },
	{ "access", CALL_SET_FLAGS, 32, WORDS(words_access) },
	{ "af", CALL_SET_ENUM, 32, WORDS(words_af) },
#ifdef __x86_64__
	{ "arch_prctl", CALL_SET_ENUM, 32, WORDS(words_arch_prctl) },
#endif
	{ "at", CALL_SET_FLAGS, 32, WORDS(words_at) },
	{ "bpf", CALL_SET_ENUM, 32, WORDS(words_bpf) },
	{ "clock", CALL_SET_ENUM, 32, WORDS(words_clock) },
	{ "clone", CALL_SET_FLAGS, 32, WORDS(words_clone) },
	{ "close_range", CALL_SET_FLAGS, 32, WORDS(words_close_range) },
	{ "dirfd", CALL_SET_ENUM, 32, WORDS(words_dirfd) },
	{ "dlopen", CALL_SET_FLAGS, 32, WORDS(words_dlopen) },
	{ "eai", CALL_SET_ENUM, 32, WORDS(words_eai) },
	{ "epoll", CALL_SET_FLAGS, 32, WORDS(words_epoll) },
	{ "epoll_ctl", CALL_SET_ENUM, 32, WORDS(words_epoll_ctl) },
	{ "errno", CALL_SET_ENUM, 32, WORDS(words_errno) },
	{ "eventfd", CALL_SET_FLAGS, 32, WORDS(words_eventfd) },
	{ "faccessat", CALL_SET_FLAGS, 32, WORDS(words_faccessat) },
	{ "fadvise", CALL_SET_ENUM, 32, WORDS(words_fadvise) },
	{ "fallocate", CALL_SET_FLAGS, 32, WORDS(words_fallocate) },
	{ "fanotify_init", CALL_SET_FLAGS, 32, WORDS(words_fanotify_init) },
	{ "fanotify_mark", CALL_SET_FLAGS, 32, WORDS(words_fanotify_mark) },
	{ "fcntl", CALL_SET_ENUM, 32, WORDS(words_fcntl) },
	{ "flock", CALL_SET_FLAGS, 32, WORDS(words_flock) },
	{ "futex", CALL_SET_FLAGS, 32, WORDS(words_futex) },
	{ "getrandom", CALL_SET_FLAGS, 32, WORDS(words_getrandom) },
	{ "idtype", CALL_SET_ENUM, 32, WORDS(words_idtype) },
	{ "inotify", CALL_SET_FLAGS, 32, WORDS(words_inotify) },
	{ "inotify_mask", CALL_SET_FLAGS, 32, WORDS(words_inotify_mask) },
	{ "ioctl", CALL_SET_ENUM, 32, WORDS(words_ioctl) },
	{ "ipc_ctl", CALL_SET_ENUM, 32, WORDS(words_ipc_ctl) },
	{ "ipc_get", CALL_SET_MODE, 32, WORDS(words_ipc_get) },
	{ "ipproto", CALL_SET_ENUM, 32, WORDS(words_ipproto) },
	{ "itimer", CALL_SET_ENUM, 32, WORDS(words_itimer) },
	{ "kcmp", CALL_SET_ENUM, 32, WORDS(words_kcmp) },
	{ "keyctl", CALL_SET_ENUM, 32, WORDS(words_keyctl) },
	{ "linkat", CALL_SET_FLAGS, 32, WORDS(words_linkat) },
	{ "lockf", CALL_SET_ENUM, 32, WORDS(words_lockf) },
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
	{ "open", CALL_SET_FLAGS, 32, WORDS(words_open) },
	{ "perf", CALL_SET_FLAGS, 32, WORDS(words_perf) },
	{ "pidfd", CALL_SET_FLAGS, 32, WORDS(words_pidfd) },
	{ "pipe", CALL_SET_FLAGS, 32, WORDS(words_pipe) },
	{ "prctl", CALL_SET_ENUM, 32, WORDS(words_prctl) },
	{ "priority", CALL_SET_ENUM, 32, WORDS(words_priority) },
	{ "ptrace", CALL_SET_ENUM, 32, WORDS(words_ptrace) },
	{ "rename", CALL_SET_FLAGS, 32, WORDS(words_rename) },
	{ "rlimit", CALL_SET_ENUM, 32, WORDS(words_rlimit) },
	{ "rusage", CALL_SET_ENUM, 32, WORDS(words_rusage) },
	{ "rwf", CALL_SET_FLAGS, 32, WORDS(words_rwf) },
	{ "sched", CALL_SET_ENUM, 32, WORDS(words_sched) },
	{ "seccomp", CALL_SET_ENUM, 32, WORDS(words_seccomp) },
	{ "seek", CALL_SET_ENUM, 32, WORDS(words_seek) },
	{ "setvbuf", CALL_SET_ENUM, 32, WORDS(words_setvbuf) },
	{ "shmat", CALL_SET_FLAGS, 32, WORDS(words_shmat) },
	{ "shut", CALL_SET_ENUM, 32, WORDS(words_shut) },
	{ "sighow", CALL_SET_ENUM, 32, WORDS(words_sighow) },
	{ "signal", CALL_SET_ENUM, 32, WORDS(words_signal) },
	{ "signalfd", CALL_SET_FLAGS, 32, WORDS(words_signalfd) },
	{ "socktype", CALL_SET_FLAGS, 32, WORDS(words_socktype) },
	{ "sol", CALL_SET_ENUM, 32, WORDS(words_sol) },
	{ "splice", CALL_SET_FLAGS, 32, WORDS(words_splice) },
	{ "statx", CALL_SET_FLAGS, 32, WORDS(words_statx) },
	{ "statx_mask", CALL_SET_FLAGS, 32, WORDS(words_statx_mask) },
	{ "swap", CALL_SET_FLAGS, 32, WORDS(words_swap) },
	{ "sync_range", CALL_SET_FLAGS, 32, WORDS(words_sync_range) },
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

const size_t call_set_n_rows = ARRAY_SIZE(call_set_rows);
