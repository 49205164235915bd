/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/calls/call-syscalls.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/cleanup.h"

/* System calls that are newer than some headers. Since Linux 5.1, new calls have one number on all
 * architectures. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_map_shadow_stack
#define SYS_map_shadow_stack 453
#endif
#ifndef SYS_futex_wake
#define SYS_futex_wake 454
#endif
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif
#ifndef SYS_futex_requeue
#define SYS_futex_requeue 456
#endif
#ifndef SYS_statmount
#define SYS_statmount 457
#endif
#ifndef SYS_listmount
#define SYS_listmount 458
#endif
#ifndef SYS_lsm_get_self_attr
#define SYS_lsm_get_self_attr 459
#endif
#ifndef SYS_lsm_set_self_attr
#define SYS_lsm_set_self_attr 460
#endif
#ifndef SYS_lsm_list_modules
#define SYS_lsm_list_modules 461
#endif
#ifndef SYS_mseal
#define SYS_mseal 462
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#endif
#ifndef SYS_getxattrat
#define SYS_getxattrat 464
#endif
#ifndef SYS_listxattrat
#define SYS_listxattrat 465
#endif
#ifndef SYS_removexattrat
#define SYS_removexattrat 466
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif
#ifndef SYS_file_getattr
#define SYS_file_getattr 468
#endif
#ifndef SYS_file_setattr
#define SYS_file_setattr 469
#endif
#ifdef __x86_64__
#ifndef SYS_uretprobe
#define SYS_uretprobe 335
#endif
#ifndef SYS_uprobe
#define SYS_uprobe 336
#endif
#endif
#define CALL(name, signature) [SYS_##name] = { SYS_##name, #name, signature }

/* By number. Unused numbers have no name. */
/* clang-format off */
static const struct call_syscall syscalls[] = {
	CALL(read, "(fd fd, out buf[count] to, size_t count) -> errno"),
	CALL(write, "(fd fd, buf[count] from, size_t count) -> errno"),
	CALL(close, "(fd fd) -> errno"),
	CALL(fstat, "(fd fd, out struct:stat to) -> errno"),
	CALL(lseek, "(fd fd, int64 offset, enum:seek whence) -> errno64"),
	CALL(mmap,
	     "(ptr address, ulong n, flags:mmap_prot prot, flags:mmap flags, fd fd, "
	     "hex offset) -> ptr"),
	CALL(mprotect, "(ptr address, size_t n, flags:mmap_prot prot) -> errno"),
	CALL(munmap, "(ptr address, size_t n) -> errno"),
	CALL(brk, "(ptr end) -> ptr"),
	CALL(rt_sigaction, "(enum:signal signal, struct:sigaction action, out struct:sigaction old, size_t set_size) -> errno"),
	CALL(rt_sigprocmask, "(enum:sighow how, struct:sigset set, out struct:sigset old, size_t set_size) -> errno"),
	CALL(rt_sigreturn, "()"),
	CALL(ioctl, "(fd fd, enum:ioctl request, out struct:raw arg) -> errno"),
	CALL(pread64, "(fd fd, out buf[count] to, size_t count, int64 offset) -> errno"),
	CALL(pwrite64, "(fd fd, buf[count] from, size_t count, int64 offset) -> errno"),
	CALL(readv, "(fd fd, struct:iovec[n_parts] parts, ulong n_parts) -> errno"),
	CALL(writev, "(fd fd, struct:iovec[n_parts] parts, ulong n_parts) -> errno"),
	CALL(sched_yield, "() -> errno"),
	CALL(mremap, "(ptr address, ulong old_n, ulong n, flags:mremap flags, ptr to) -> ptr"),
	CALL(msync, "(ptr address, size_t n, flags:msync flags) -> errno"),
	CALL(mincore, "(ptr address, size_t n, ptr to) -> errno"),
	CALL(madvise, "(ptr address, size_t n, enum:madvise advice) -> errno"),
	CALL(shmget, "(hex32 key, size_t size, flags:ipc_get flags) -> errno"),
	CALL(shmat, "(int id, ptr address, flags:shmat flags) -> ptr"),
	CALL(shmctl, "(int id, enum:ipc_ctl command, ptr buf) -> errno"),
	CALL(dup, "(fd fd) -> errno"),
	CALL(nanosleep, "(struct:timespec value, ptr rest) -> errno"),
	CALL(getitimer, "(enum:itimer timer, out struct:itimerval to) -> errno"),
	CALL(setitimer, "(enum:itimer timer, struct:itimerval value, out struct:itimerval old) -> errno"),
	CALL(getpid, "() -> errno"),
	CALL(sendfile, "(fd to, fd from, inout struct:int64[1] offset, size_t count) -> errno"),
	CALL(socket, "(enum:af domain, flags:socktype type, int protocol) -> errno"),
	CALL(connect, "(fd fd, struct:sockaddr[n] address, int n) -> errno"),
	CALL(accept, "(fd fd, out struct:sockaddr[n] to, inout struct:int[1] n) -> errno"),
	CALL(sendto,
	     "(fd fd, buf[n] from, size_t n, flags:msg flags, struct:sockaddr[n_to] to, int n_to) -> errno"),
	CALL(recvfrom,
	     "(fd fd, out buf[size] to, size_t size, flags:msg flags, out struct:sockaddr[n] address, inout struct:int[1] n) -> errno"),
	CALL(sendmsg, "(fd fd, ptr message, flags:msg flags) -> errno"),
	CALL(recvmsg, "(fd fd, ptr message, flags:msg flags) -> errno"),
	CALL(shutdown, "(fd fd, enum:shut how) -> errno"),
	CALL(bind, "(fd fd, struct:sockaddr[n] address, int n) -> errno"),
	CALL(listen, "(fd fd, int backlog) -> errno"),
	CALL(getsockname, "(fd fd, out struct:sockaddr[n] to, inout struct:int[1] n) -> errno"),
	CALL(getpeername, "(fd fd, out struct:sockaddr[n] to, inout struct:int[1] n) -> errno"),
	CALL(socketpair, "(enum:af domain, flags:socktype type, int protocol, out struct:int[2] fds) -> errno"),
	CALL(setsockopt, "(fd fd, enum:sol level, int option, buf[n] value, int n) -> errno"),
	CALL(getsockopt, "(fd fd, enum:sol level, int option, out struct:int[1] value, inout struct:int[1] n) -> errno"),
	CALL(clone,
	     "(flags:clone flags, ptr stack, ptr parent_tid, ptr child_tid, ptr tls) -> errno"),
	CALL(execve, "(str path, ptr argv, ptr envp) -> errno"),
	CALL(exit, "(int status)"),
	CALL(wait4, "(int pid, out struct:status[1] status, flags:wait options, ptr usage) -> errno"),
	CALL(kill, "(int pid, enum:signal signal) -> errno"),
	CALL(uname, "(out struct:utsname name) -> errno"),
	CALL(semget, "(hex32 key, int n, flags:ipc_get flags) -> errno"),
	CALL(semop, "(int id, ptr operations, uint n) -> errno"),
	CALL(semctl, "(int id, int number, int command, hex arg) -> errno"),
	CALL(shmdt, "(ptr address) -> errno"),
	CALL(msgget, "(hex32 key, flags:ipc_get flags) -> errno"),
	CALL(msgsnd, "(int id, ptr message, size_t n, flags:ipc_get flags) -> errno"),
	CALL(msgrcv, "(int id, ptr message, size_t n, long type, flags:ipc_get flags) -> errno"),
	CALL(msgctl, "(int id, enum:ipc_ctl command, ptr buf) -> errno"),
	CALL(fcntl, "(fd fd, enum:fcntl command, inout struct:raw arg) -> errno"),
	CALL(flock, "(fd fd, flags:flock operation) -> errno"),
	CALL(fsync, "(fd fd) -> errno"),
	CALL(fdatasync, "(fd fd) -> errno"),
	CALL(truncate, "(str path, long length) -> errno"),
	CALL(ftruncate, "(fd fd, int64 length) -> errno"),
	CALL(getcwd, "(out str to, ulong size) -> errno"),
	CALL(chdir, "(str path) -> errno"),
	CALL(fchdir, "(fd fd) -> errno"),
	CALL(fchmod, "(fd fd, flags:perm mode) -> errno"),
	CALL(fchown, "(fd fd, enum:id user, enum:id group) -> errno"),
	CALL(umask, "(flags:perm mask) -> flags:perm"),
	CALL(gettimeofday, "(ptr to, ptr zone) -> errno"),
	CALL(getrlimit, "(enum:rlimit resource, out struct:rlimit to) -> errno"),
	CALL(getrusage, "(enum:rusage who, out struct:rusage to) -> errno"),
	CALL(sysinfo, "(out struct:sysinfo info) -> errno"),
	CALL(times, "(out struct:tms to) -> errno64"),
	CALL(ptrace, "(enum:ptrace request, long pid, hex address, hex data) -> errno64"),
	CALL(getuid, "() -> uint"),
	CALL(syslog, "(int type, ptr to, int size) -> errno"),
	CALL(getgid, "() -> uint"),
	CALL(setuid, "(uint uid) -> errno"),
	CALL(setgid, "(uint gid) -> errno"),
	CALL(geteuid, "() -> uint"),
	CALL(getegid, "() -> uint"),
	CALL(setpgid, "(int pid, int pgid) -> errno"),
	CALL(getppid, "() -> errno"),
	CALL(setsid, "() -> errno"),
	CALL(setreuid, "(enum:id ruid, enum:id euid) -> errno"),
	CALL(setregid, "(enum:id rgid, enum:id egid) -> errno"),
	CALL(getgroups, "(int n, out struct:uint[n] to) -> errno"),
	CALL(setgroups, "(int n, struct:uint[n] gids) -> errno"),
	CALL(setresuid, "(enum:id ruid, enum:id euid, enum:id suid) -> errno"),
	CALL(getresuid, "(out struct:uint[1] ruid, out struct:uint[1] euid, out struct:uint[1] suid) -> errno"),
	CALL(setresgid, "(enum:id rgid, enum:id egid, enum:id sgid) -> errno"),
	CALL(getresgid, "(out struct:uint[1] rgid, out struct:uint[1] egid, out struct:uint[1] sgid) -> errno"),
	CALL(getpgid, "(int pid) -> errno"),
	CALL(setfsuid, "(uint uid) -> uint"),
	CALL(setfsgid, "(uint gid) -> uint"),
	CALL(getsid, "(int pid) -> errno"),
	CALL(capget, "(ptr header, ptr data) -> errno"),
	CALL(capset, "(ptr header, ptr data) -> errno"),
	CALL(rt_sigpending, "(out struct:sigset to, size_t set_size) -> errno"),
	CALL(rt_sigtimedwait, "(struct:sigset set, ptr info, struct:timespec timeout, size_t set_size) -> errno"),
	CALL(rt_sigqueueinfo, "(int pid, enum:signal signal, ptr info) -> errno"),
	CALL(rt_sigsuspend, "(struct:sigset set, size_t set_size) -> errno"),
	CALL(sigaltstack, "(struct:stack stack, out struct:stack old) -> errno"),
	CALL(personality, "(hex32 personality) -> hex32"),
	CALL(statfs, "(str path, out struct:statfs to) -> errno"),
	CALL(fstatfs, "(fd fd, out struct:statfs to) -> errno"),
	CALL(getpriority, "(enum:priority which, int id) -> errno"),
	CALL(setpriority, "(enum:priority which, int id, int priority) -> errno"),
	CALL(sched_setparam, "(int pid, struct:int[1] param) -> errno"),
	CALL(sched_getparam, "(int pid, out struct:int[1] param) -> errno"),
	CALL(sched_setscheduler, "(int pid, enum:sched policy, struct:int[1] param) -> errno"),
	CALL(sched_getscheduler, "(int pid) -> errno"),
	CALL(sched_get_priority_max, "(enum:sched policy) -> errno"),
	CALL(sched_get_priority_min, "(enum:sched policy) -> errno"),
	CALL(sched_rr_get_interval, "(int pid, ptr to) -> errno"),
	CALL(mlock, "(ptr address, size_t n) -> errno"),
	CALL(munlock, "(ptr address, size_t n) -> errno"),
	CALL(mlockall, "(flags:mlockall flags) -> errno"),
	CALL(munlockall, "() -> errno"),
	CALL(vhangup, "() -> errno"),
	CALL(pivot_root, "(str root, str old) -> errno"),
	CALL(prctl, "(enum:prctl option, inout struct:raw a, hex b, hex c, hex d) -> errno"),
	CALL(adjtimex, "(ptr fields) -> errno"),
	CALL(setrlimit, "(enum:rlimit resource, struct:rlimit value) -> errno"),
	CALL(chroot, "(str path) -> errno"),
	CALL(sync, "() -> errno"),
	CALL(acct, "(str name) -> errno"),
	CALL(settimeofday, "(ptr value, ptr zone) -> errno"),
	CALL(mount, "(str source, str target, str type, flags:mount flags, ptr data) -> errno"),
	CALL(umount2, "(str target, flags:umount flags) -> errno"),
	CALL(swapon, "(str path, flags:swap flags) -> errno"),
	CALL(swapoff, "(str path) -> errno"),
	CALL(reboot, "(hex32 magic1, hex32 magic2, hex32 command, ptr arg) -> errno"),
	CALL(sethostname, "(buf[n] name, int n) -> errno"),
	CALL(setdomainname, "(buf[n] name, int n) -> errno"),
	CALL(init_module, "(ptr image, ulong n, str parameters) -> errno"),
	CALL(delete_module, "(str name, hex32 flags) -> errno"),
	CALL(quotactl, "(hex32 command, str special, uint id, ptr address) -> errno"),
	CALL(nfsservctl, "(int command, ptr arg, ptr to) -> errno"),
	CALL(gettid, "() -> errno"),
	CALL(readahead, "(fd fd, int64 offset, size_t count) -> errno"),
	CALL(setxattr,
	     "(str path, str name, buf[size] value, size_t size, flags:xattr flags) -> errno"),
	CALL(lsetxattr,
	     "(str path, str name, buf[size] value, size_t size, flags:xattr flags) -> errno"),
	CALL(fsetxattr,
	     "(fd fd, str name, buf[size] value, size_t size, flags:xattr flags) -> errno"),
	CALL(getxattr, "(str path, str name, out buf[size] to, size_t size) -> errno"),
	CALL(lgetxattr, "(str path, str name, out buf[size] to, size_t size) -> errno"),
	CALL(fgetxattr, "(fd fd, str name, out buf[size] to, size_t size) -> errno"),
	CALL(listxattr, "(str path, ptr to, size_t size) -> errno"),
	CALL(llistxattr, "(str path, ptr to, size_t size) -> errno"),
	CALL(flistxattr, "(fd fd, ptr to, size_t size) -> errno"),
	CALL(removexattr, "(str path, str name) -> errno"),
	CALL(lremovexattr, "(str path, str name) -> errno"),
	CALL(fremovexattr, "(fd fd, str name) -> errno"),
	CALL(tkill, "(int pid, enum:signal signal) -> errno"),
	CALL(futex,
	     "(ptr address, flags:futex operation, uint value, struct:timespec timeout, ptr address2, "
	     "uint value3) -> errno"),
	CALL(sched_setaffinity, "(int pid, uint n, struct:bits[n] cpus) -> errno"),
	CALL(sched_getaffinity, "(int pid, uint n, out struct:bits[n] cpus) -> errno"),
	CALL(io_setup, "(uint n, ptr to) -> errno"),
	CALL(io_destroy, "(hex context) -> errno"),
	CALL(io_getevents, "(hex context, long min, long n, ptr events, ptr timeout) -> errno"),
	CALL(io_submit, "(hex context, long n, ptr requests) -> errno"),
	CALL(io_cancel, "(hex context, ptr request, ptr to) -> errno"),
	CALL(lookup_dcookie, "(uint64 cookie, ptr to, size_t size) -> errno"),
	CALL(remap_file_pages,
	     "(ptr address, ulong size, flags:mmap_prot prot, ulong page, "
	     "flags:mmap flags) -> errno"),
	CALL(getdents64, "(fd fd, ptr to, uint count) -> errno"),
	CALL(set_tid_address, "(ptr tid) -> errno"),
	CALL(restart_syscall, "() -> errno"),
	CALL(semtimedop, "(int id, ptr operations, uint n, ptr timeout) -> errno"),
	CALL(fadvise64, "(fd fd, int64 offset, size_t n, enum:fadvise advice) -> errno"),
	CALL(timer_create, "(enum:clock clock, ptr event, ptr to) -> errno"),
	CALL(timer_settime, "(int timer, flags:timer flags, struct:itimerspec value, out struct:itimerspec old) -> errno"),
	CALL(timer_gettime, "(int timer, out struct:itimerspec to) -> errno"),
	CALL(timer_getoverrun, "(int timer) -> errno"),
	CALL(timer_delete, "(int timer) -> errno"),
	CALL(clock_settime, "(enum:clock clock, struct:timespec value) -> errno"),
	CALL(clock_gettime, "(enum:clock clock, out struct:timespec to) -> errno"),
	CALL(clock_getres, "(enum:clock clock, out struct:timespec to) -> errno"),
	CALL(clock_nanosleep,
	     "(enum:clock clock, flags:timer flags, struct:timespec value, ptr rest) -> errno"),
	CALL(exit_group, "(int status)"),
	CALL(epoll_ctl, "(fd epoll, enum:epoll_ctl operation, fd fd, struct:epoll_event event) -> errno"),
	CALL(tgkill, "(int tgid, int tid, enum:signal signal) -> errno"),
	CALL(mbind,
	     "(ptr address, ulong n, ulong mode, ptr nodes, ulong n_nodes, hex32 flags) -> errno"),
	CALL(set_mempolicy, "(int mode, ptr nodes, ulong n_nodes) -> errno"),
	CALL(get_mempolicy, "(ptr to, ptr nodes, ulong n_nodes, ptr address, hex flags) -> errno"),
	CALL(mq_open, "(str name, flags:open flags, flags:perm mode, ptr attributes) -> errno"),
	CALL(mq_unlink, "(str name) -> errno"),
	CALL(mq_timedsend,
	     "(fd queue, buf[n] message, size_t n, uint priority, ptr until) -> errno"),
	CALL(mq_timedreceive, "(fd queue, ptr to, size_t size, ptr priority, ptr until) -> errno"),
	CALL(mq_notify, "(fd queue, ptr event) -> errno"),
	CALL(mq_getsetattr, "(fd queue, ptr value, ptr old) -> errno"),
	CALL(kexec_load, "(hex entry, ulong n, ptr segments, hex flags) -> errno"),
	CALL(waitid, "(enum:idtype type, int id, ptr to, flags:wait options, ptr usage) -> errno"),
	CALL(add_key,
	     "(str type, str description, buf[n] payload, size_t n, int keyring) -> errno"),
	CALL(request_key, "(str type, str description, str callout, int keyring) -> errno"),
	CALL(keyctl, "(enum:keyctl operation, hex a, hex b, hex c, hex d) -> errno64"),
	CALL(ioprio_set, "(int which, int id, hex32 priority) -> errno"),
	CALL(ioprio_get, "(int which, int id) -> errno"),
	CALL(inotify_add_watch, "(fd fd, str path, flags:inotify_mask mask) -> errno"),
	CALL(inotify_rm_watch, "(fd fd, int watch) -> errno"),
	CALL(migrate_pages, "(int pid, ulong maxnode, ptr old_nodes, ptr new_nodes) -> errno"),
	CALL(openat, "(dirfd dir, str path, flags:open flags, flags:perm mode) -> errno"),
	CALL(mkdirat, "(dirfd dir, str path, flags:perm mode) -> errno"),
	CALL(mknodat, "(dirfd dir, str path, flags:mode mode, hex32 device) -> errno"),
	CALL(fchownat, "(dirfd dir, str path, enum:id user, enum:id group, flags:at flags) -> errno"),
	CALL(newfstatat, "(dirfd dir, str path, out struct:stat to, flags:at flags) -> errno"),
	CALL(unlinkat, "(dirfd dir, str path, flags:unlinkat flags) -> errno"),
	CALL(renameat, "(dirfd from_dir, str from, dirfd to_dir, str to) -> errno"),
	CALL(linkat,
	     "(dirfd from_dir, str from, dirfd to_dir, str to, flags:linkat flags) -> errno"),
	CALL(symlinkat, "(str target, dirfd dir, str path) -> errno"),
	CALL(readlinkat, "(dirfd dir, str path, out buf[size] to, int size) -> errno"),
	CALL(fchmodat, "(dirfd dir, str path, flags:perm mode) -> errno"),
	CALL(faccessat, "(dirfd dir, str path, flags:access mode) -> errno"),
	CALL(pselect6,
	     "(int n, struct:fds[n] to_read, struct:fds[n] to_write, ptr except, struct:timespec timeout, ptr signals) -> errno"),
	CALL(ppoll, "(struct:pollfd[n] fds, uint n, struct:timespec timeout, struct:sigset signals, size_t set_size) -> errno"),
	CALL(unshare, "(flags:clone flags) -> errno"),
	CALL(set_robust_list, "(ptr head, size_t n) -> errno"),
	CALL(get_robust_list, "(int pid, ptr head, ptr n) -> errno"),
	CALL(splice,
	     "(fd from, ptr from_offset, fd to, ptr to_offset, size_t n, "
	     "flags:splice flags) -> errno"),
	CALL(tee, "(fd from, fd to, size_t n, flags:splice flags) -> errno"),
	CALL(sync_file_range, "(fd fd, int64 offset, int64 n, flags:sync_range flags) -> errno"),
	CALL(vmsplice, "(fd fd, ptr parts, ulong n_parts, flags:splice flags) -> errno"),
	CALL(move_pages,
	     "(int pid, ulong n, ptr pages, ptr nodes, ptr status, hex32 flags) -> errno"),
	CALL(utimensat, "(dirfd dir, str path, ptr times, flags:at flags) -> errno"),
	CALL(epoll_pwait,
	     "(fd epoll, out struct:epoll_event[max] events, int max, int timeout_ms, struct:sigset signals, "
	     "size_t set_size) -> errno"),
	CALL(timerfd_create, "(enum:clock clock, flags:timerfd flags) -> errno"),
	CALL(fallocate, "(fd fd, flags:fallocate mode, int64 offset, int64 n) -> errno"),
	CALL(timerfd_settime, "(fd fd, flags:timerfd_settime flags, struct:itimerspec value, out struct:itimerspec old) -> errno"),
	CALL(timerfd_gettime, "(fd fd, out struct:itimerspec to) -> errno"),
	CALL(accept4, "(fd fd, out struct:sockaddr[n] to, inout struct:int[1] n, flags:accept flags) -> errno"),
	CALL(signalfd4, "(fd fd, struct:sigset mask, size_t mask_size, flags:signalfd flags) -> errno"),
	CALL(eventfd2, "(uint value, flags:eventfd flags) -> errno"),
	CALL(epoll_create1, "(flags:epoll flags) -> errno"),
	CALL(dup3, "(fd fd, fd to, flags:pipe flags) -> errno"),
	CALL(pipe2, "(out struct:int[2] fds, flags:pipe flags) -> errno"),
	CALL(inotify_init1, "(flags:inotify flags) -> errno"),
	CALL(preadv, "(fd fd, ptr parts, ulong n_parts, int64 offset, int64 offset_high) -> errno"),
	CALL(pwritev,
	     "(fd fd, ptr parts, ulong n_parts, int64 offset, int64 offset_high) -> errno"),
	CALL(rt_tgsigqueueinfo, "(int tgid, int tid, enum:signal signal, ptr info) -> errno"),
	CALL(perf_event_open,
	     "(ptr attributes, int pid, int cpu, fd group, flags:perf flags) -> errno"),
	CALL(recvmmsg, "(fd fd, ptr messages, uint n, flags:msg flags, ptr timeout) -> errno"),
	CALL(fanotify_init, "(flags:fanotify_init flags, flags:open event_flags) -> errno"),
	CALL(fanotify_mark,
	     "(fd fd, flags:fanotify_mark flags, hex mask, dirfd dir, str path) -> errno"),
	CALL(prlimit64, "(int pid, enum:rlimit resource, struct:rlimit value, out struct:rlimit old) -> errno"),
	CALL(name_to_handle_at,
	     "(dirfd dir, str path, ptr handle, ptr mount, flags:at flags) -> errno"),
	CALL(open_by_handle_at, "(fd mount, ptr handle, flags:open flags) -> errno"),
	CALL(clock_adjtime, "(enum:clock clock, ptr value) -> errno"),
	CALL(syncfs, "(fd fd) -> errno"),
	CALL(sendmmsg, "(fd fd, ptr messages, uint n, flags:msg flags) -> errno"),
	CALL(setns, "(fd fd, flags:clone type) -> errno"),
	CALL(getcpu, "(ptr cpu, ptr node, ptr unused) -> errno"),
	CALL(process_vm_readv,
	     "(int pid, ptr local, ulong n_local, ptr remote, ulong n_remote, hex flags) -> errno"),
	CALL(process_vm_writev,
	     "(int pid, ptr local, ulong n_local, ptr remote, ulong n_remote, hex flags) -> errno"),
	CALL(kcmp, "(int pid1, int pid2, enum:kcmp type, ulong fd1, ulong fd2) -> errno"),
	CALL(finit_module, "(fd fd, str parameters, hex32 flags) -> errno"),
	CALL(sched_setattr, "(int pid, ptr attributes, hex32 flags) -> errno"),
	CALL(sched_getattr, "(int pid, ptr attributes, uint size, hex32 flags) -> errno"),
	CALL(renameat2,
	     "(dirfd from_dir, str from, dirfd to_dir, str to, flags:rename flags) -> errno"),
	CALL(seccomp, "(enum:seccomp operation, hex32 flags, ptr args) -> errno"),
	CALL(getrandom, "(out bytes[size] to, size_t size, flags:getrandom flags) -> errno"),
	CALL(memfd_create, "(str name, flags:memfd flags) -> errno"),
	CALL(kexec_file_load,
	     "(fd kernel, fd initrd, ulong n, str command_line, hex flags) -> errno"),
	CALL(bpf, "(enum:bpf command, ptr attributes, uint size) -> errno"),
	CALL(execveat, "(dirfd dir, str path, ptr argv, ptr envp, flags:at flags) -> errno"),
	CALL(userfaultfd, "(flags:userfaultfd flags) -> errno"),
	CALL(membarrier, "(enum:membarrier command, hex32 flags, int cpu) -> errno"),
	CALL(mlock2, "(ptr address, size_t n, flags:mlock flags) -> errno"),
	CALL(copy_file_range,
	     "(fd from, ptr from_offset, fd to, ptr to_offset, size_t n, hex32 flags) -> errno"),
	CALL(preadv2,
	     "(fd fd, ptr parts, ulong n_parts, int64 offset, int64 offset_high, "
	     "flags:rwf flags) -> errno"),
	CALL(pwritev2,
	     "(fd fd, ptr parts, ulong n_parts, int64 offset, int64 offset_high, "
	     "flags:rwf flags) -> errno"),
	CALL(pkey_mprotect, "(ptr address, size_t n, flags:mmap_prot prot, int pkey) -> errno"),
	CALL(pkey_alloc, "(hex flags, ulong init_val) -> errno"),
	CALL(pkey_free, "(int pkey) -> errno"),
	CALL(statx,
	     "(dirfd dir, str path, flags:statx flags, flags:statx_mask mask, out struct:statx to) -> errno"),
	CALL(io_pgetevents,
	     "(hex context, long min, long n, ptr events, ptr timeout, ptr signals) -> errno"),
	CALL(rseq, "(ptr rseq, hex32 n, hex32 flags, hex32 signature) -> errno"),
	CALL(pidfd_send_signal, "(fd pidfd, enum:signal signal, ptr info, hex32 flags) -> errno"),
	CALL(io_uring_setup, "(uint entries, ptr params) -> errno"),
	CALL(io_uring_enter,
	     "(fd fd, uint to_submit, uint min_complete, hex32 flags, ptr arg, size_t n) -> errno"),
	CALL(io_uring_register, "(fd fd, uint opcode, ptr arg, uint n) -> errno"),
	CALL(open_tree, "(dirfd dir, str path, hex32 flags) -> errno"),
	CALL(move_mount, "(dirfd from_dir, str from, dirfd to_dir, str to, hex32 flags) -> errno"),
	CALL(fsopen, "(str name, hex32 flags) -> errno"),
	CALL(fsconfig, "(fd fd, uint command, str key, ptr value, int aux) -> errno"),
	CALL(fsmount, "(fd fd, hex32 flags, hex32 attr_flags) -> errno"),
	CALL(fspick, "(dirfd dir, str path, hex32 flags) -> errno"),
	CALL(pidfd_open, "(int pid, flags:pidfd flags) -> errno"),
	CALL(clone3, "(struct:clone_args args, size_t size) -> errno"),
	CALL(close_range, "(uint first, uint last, flags:close_range flags) -> errno"),
	CALL(openat2, "(dirfd dir, str path, ptr how, size_t size) -> errno"),
	CALL(pidfd_getfd, "(fd pidfd, fd fd, hex32 flags) -> errno"),
	CALL(faccessat2,
	     "(dirfd dir, str path, flags:access mode, flags:faccessat flags) -> errno"),
	CALL(process_madvise,
	     "(fd pidfd, ptr parts, size_t n_parts, enum:madvise advice, hex32 flags) -> errno"),
	CALL(epoll_pwait2,
	     "(fd epoll, ptr events, int max, ptr timeout, ptr signals, size_t set_size) -> errno"),
	CALL(mount_setattr,
	     "(dirfd dir, str path, hex32 flags, ptr attributes, size_t size) -> errno"),
	CALL(quotactl_fd, "(fd fd, hex32 command, uint id, ptr address) -> errno"),
	CALL(landlock_create_ruleset, "(ptr attributes, size_t size, hex32 flags) -> errno"),
	CALL(landlock_add_rule, "(fd ruleset, int type, ptr rule, hex32 flags) -> errno"),
	CALL(landlock_restrict_self, "(fd ruleset, hex32 flags) -> errno"),
	CALL(memfd_secret, "(flags:pipe flags) -> errno"),
	CALL(process_mrelease, "(fd pidfd, hex32 flags) -> errno"),
	CALL(futex_waitv,
	     "(ptr waiters, uint n, hex32 flags, ptr timeout, enum:clock clock) -> errno"),
	CALL(set_mempolicy_home_node,
	     "(ptr address, ulong n, ulong home_node, hex flags) -> errno"),
	CALL(cachestat, "(fd fd, ptr range, ptr to, hex32 flags) -> errno"),
	CALL(fchmodat2, "(dirfd dir, str path, flags:perm mode, flags:at flags) -> errno"),
	CALL(map_shadow_stack, "(ptr address, ulong n, hex32 flags) -> ptr"),
	CALL(futex_wake, "(ptr address, ulong mask, int n, hex32 flags) -> errno"),
	CALL(futex_wait,
	     "(ptr address, ulong value, ulong mask, hex32 flags, ptr timeout, "
	     "enum:clock clock) -> errno"),
	CALL(futex_requeue, "(ptr waiters, hex32 flags, int nr_wake, int nr_requeue) -> errno"),
	CALL(statmount, "(ptr request, ptr to, size_t bufsize, hex32 flags) -> errno"),
	CALL(listmount, "(ptr request, ptr to, size_t n, hex32 flags) -> errno"),
	CALL(lsm_get_self_attr, "(uint attribute, ptr context, ptr size, hex32 flags) -> errno"),
	CALL(lsm_set_self_attr, "(uint attribute, ptr context, uint size, hex32 flags) -> errno"),
	CALL(lsm_list_modules, "(ptr ids, ptr size, hex32 flags) -> errno"),
	CALL(mseal, "(ptr address, size_t n, hex flags) -> errno"),
	CALL(setxattrat,
	     "(dirfd dir, str path, flags:at flags, str name, ptr args, size_t size) -> errno"),
	CALL(getxattrat,
	     "(dirfd dir, str path, flags:at flags, str name, ptr args, size_t size) -> errno"),
	CALL(listxattrat, "(dirfd dir, str path, flags:at flags, ptr list, size_t size) -> errno"),
	CALL(removexattrat, "(dirfd dir, str path, flags:at flags, str name) -> errno"),
	CALL(open_tree_attr,
	     "(dirfd dir, str path, hex32 flags, ptr attributes, size_t size) -> errno"),
	CALL(file_getattr,
	     "(dirfd dir, str path, ptr attributes, size_t size, flags:at flags) -> errno"),
	CALL(file_setattr,
	     "(dirfd dir, str path, ptr attributes, size_t size, flags:at flags) -> errno"),
#ifdef __x86_64__
	CALL(open, "(str path, flags:open flags, flags:perm mode) -> errno"),
	CALL(stat, "(str path, out struct:stat to) -> errno"),
	CALL(lstat, "(str path, out struct:stat to) -> errno"),
	CALL(poll, "(struct:pollfd[n] fds, uint n, int timeout_ms) -> errno"),
	CALL(access, "(str path, flags:access mode) -> errno"),
	CALL(pipe, "(out struct:int[2] fds) -> errno"),
	CALL(select, "(int n, struct:fds[n] to_read, struct:fds[n] to_write, ptr except, struct:timeval timeout) -> errno"),
	CALL(dup2, "(fd fd, fd to) -> errno"),
	CALL(pause, "() -> errno"),
	CALL(alarm, "(uint seconds) -> uint"),
	CALL(fork, "() -> errno"),
	CALL(vfork, "() -> errno"),
	CALL(getdents, "(fd fd, ptr to, uint count) -> errno"),
	CALL(rename, "(str from, str to) -> errno"),
	CALL(mkdir, "(str path, flags:perm mode) -> errno"),
	CALL(rmdir, "(str path) -> errno"),
	CALL(creat, "(str path, flags:perm mode) -> errno"),
	CALL(link, "(str from, str to) -> errno"),
	CALL(unlink, "(str path) -> errno"),
	CALL(symlink, "(str target, str path) -> errno"),
	CALL(readlink, "(str path, out buf[size] to, int size) -> errno"),
	CALL(chmod, "(str path, flags:perm mode) -> errno"),
	CALL(chown, "(str path, enum:id user, enum:id group) -> errno"),
	CALL(lchown, "(str path, enum:id user, enum:id group) -> errno"),
	CALL(getpgrp, "() -> errno"),
	CALL(utime, "(str path, ptr times) -> errno"),
	CALL(mknod, "(str path, flags:mode mode, hex32 device) -> errno"),
	CALL(uselib, "(str path) -> errno"),
	CALL(ustat, "(hex32 device, ptr to) -> errno"),
	CALL(sysfs, "(int option, hex a, hex b) -> errno"),
	CALL(modify_ldt, "(int func, ptr to, ulong size) -> errno"),
	CALL(_sysctl, "(ptr args) -> errno"),
	CALL(arch_prctl, "(enum:arch_prctl option, hex address) -> errno"),
	CALL(iopl, "(uint level) -> errno"),
	CALL(ioperm, "(ulong first, ulong n, int turn_on) -> errno"),
	CALL(create_module, "(str name, size_t size) -> errno"),
	CALL(get_kernel_syms, "(ptr table) -> errno"),
	CALL(query_module, "(str name, int which, ptr to, size_t size, ptr needed) -> errno"),
	CALL(getpmsg, "() -> errno"),
	CALL(putpmsg, "() -> errno"),
	CALL(afs_syscall, "() -> errno"),
	CALL(tuxcall, "() -> errno"),
	CALL(security, "() -> errno"),
	CALL(time, "(ptr to) -> errno64"),
	CALL(set_thread_area, "(ptr area) -> errno"),
	CALL(get_thread_area, "(ptr area) -> errno"),
	CALL(epoll_create, "(int size) -> errno"),
	CALL(epoll_ctl_old, "() -> errno"),
	CALL(epoll_wait_old, "() -> errno"),
	CALL(epoll_wait, "(fd epoll, out struct:epoll_event[max] events, int max, int timeout_ms) -> errno"),
	CALL(utimes, "(str path, ptr times) -> errno"),
	CALL(vserver, "() -> errno"),
	CALL(inotify_init, "() -> errno"),
	CALL(futimesat, "(dirfd dir, str path, ptr times) -> errno"),
	CALL(signalfd, "(fd fd, ptr mask, size_t mask_size) -> errno"),
	CALL(eventfd, "(uint value) -> errno"),
	CALL(uretprobe, "() -> errno"),
	CALL(uprobe, "() -> errno"),
#endif
};
/* clang-format on */

const struct call_syscall *call_syscall_by_number(long number)
{
	if (number < 0 || (size_t)number >= ARRAY_SIZE(syscalls) || !syscalls[number].name)
		return NULL;
	return &syscalls[number];
}

const struct call_syscall *call_syscall_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(syscalls); i++)
		if (syscalls[i].name && strcmp(syscalls[i].name, name) == 0)
			return &syscalls[i];
	return NULL;
}

/* Whether return probes make CALL, and not the program. Only its full name selects it. */
static bool syscalls_is_of_probes(const struct call_syscall *call, const char *pattern)
{
	return call->name == syscalls[SYS_uretprobe].name && strcmp(pattern, call->name) != 0;
}

int call_syscall_match(const char *pattern, call_syscall_fn *fn, void *context)
{
	int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(syscalls); i++) {
		int r;

		if (!syscalls[i].name || fnmatch(pattern, syscalls[i].name, 0) != 0 ||
		    syscalls_is_of_probes(&syscalls[i], pattern))
			continue;
		r = fn(&syscalls[i], context);
		if (r < 0)
			return r;
		n++;
	}
	return n;
}
