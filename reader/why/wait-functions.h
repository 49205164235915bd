/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that show the cause of a wait: X(name, cause, rank). The ranks (wait-cause.h):
 *
 *	1	the loop of a kernel thread, which calls all its other functions
 *	2	any part of the kernel can wait for it: a device, a completion, a work item
 *	3	a lock of the kernel, which can be held during a wait of rank 2
 *	4	the object for which the program waits
 *	5	the service of a file: its journal, its server, a page of it
 *	6	memory, for which waits of lower ranks can wait, too
 *	7	control of the thread: a signal, a debugger, the freezer, a quota
 *
 * Names are those of Linux 6.1 to 6.18 and of their modules; most kernels have only some of them.
 * Compilers inline others: kernel_clone() waits for vfork(), get_signal() in the freezer.
 */
#pragma once

#define WAIT_KERNEL_FUNCTIONS(X)                                                                   \
	X("worker_thread", WORK, 1)                                                                \
	X("kthread_worker_fn", WORK, 1)                                                            \
	X("smpboot_thread_fn", WORK, 1)                                                            \
	X("rcu_gp_kthread", WORK, 1)                                                               \
	X("rcu_tasks_kthread", WORK, 1)                                                            \
	X("rcu_nocb_*", WORK, 1)                                                                   \
	X("kthreadd", WORK, 1)                                                                     \
	X("kswapd", WORK, 1)                                                                       \
	X("kcompactd", WORK, 1)                                                                    \
	X("khugepaged", WORK, 1)                                                                   \
	X("ksm_scan_thread", WORK, 1)                                                              \
	X("kauditd_thread", WORK, 1)                                                               \
	X("oom_reaper", WORK, 1)                                                                   \
	X("kjournald2", WORK, 1)                                                                   \
	X("io_wq_worker", WORK, 1)                                                                 \
	X("vhost_task_fn", WORK, 1)                                                                \
	X("irq_thread", WORK, 1)                                                                   \
	X("watchdog", WORK, 1)                                                                     \
                                                                                                   \
	X("io_schedule", DISK, 2)                                                                  \
	X("io_schedule_timeout", DISK, 2)                                                          \
	X("bit_wait_io", DISK, 2)                                                                  \
	X("folio_wait_bit_common", DISK, 2)                                                        \
	X("folio_wait_bit", DISK, 2)                                                               \
	X("__wait_on_buffer", DISK, 2)                                                             \
	X("wait_for_completion_io*", DISK, 2)                                                      \
	X("submit_bio_wait", DISK, 2)                                                              \
	X("blk_mq_get_tag", DISK, 2)                                                               \
	X("rq_qos_wait", DISK, 2)                                                                  \
	X("blk_execute_rq", DISK, 2)                                                               \
	X("process_one_work", KERNEL, 2)                                                           \
	X("wait_for_completion*", KERNEL, 2)                                                       \
	X("synchronize_rcu*", KERNEL, 2)                                                           \
	X("synchronize_srcu*", KERNEL, 2)                                                          \
	X("__wait_rcu_gp", KERNEL, 2)                                                              \
	X("rcu_barrier", KERNEL, 2)                                                                \
	X("flush_work", KERNEL, 2)                                                                 \
	X("__flush_work", KERNEL, 2)                                                               \
	X("__flush_workqueue", KERNEL, 2)                                                          \
	X("stop_one_cpu", KERNEL, 2)                                                               \
	X("stop_machine*", KERNEL, 2)                                                              \
	X("synchronize_irq", KERNEL, 2)                                                            \
	X("call_usermodehelper_exec", KERNEL, 2)                                                   \
	X("kthread_stop", KERNEL, 2)                                                               \
	X("msleep*", KERNEL, 2)                                                                    \
	X("usleep_range_state", KERNEL, 2)                                                         \
                                                                                                   \
	X("get_signal", FROZEN, 2)                                                                 \
	X("kernel_clone", CHILD, 3)                                                                \
	X("__mutex_lock*", KERNEL_LOCK, 3)                                                         \
	X("mutex_lock*", KERNEL_LOCK, 3)                                                           \
	X("rwsem_down_*", KERNEL_LOCK, 3)                                                          \
	X("down_read*", KERNEL_LOCK, 3)                                                            \
	X("down_write*", KERNEL_LOCK, 3)                                                           \
	X("__down*", KERNEL_LOCK, 3)                                                               \
	X("down", KERNEL_LOCK, 3)                                                                  \
	X("percpu_rwsem_wait", KERNEL_LOCK, 3)                                                     \
	X("percpu_down_write", KERNEL_LOCK, 3)                                                     \
	X("rt_mutex_slowlock*", KERNEL_LOCK, 3)                                                    \
	X("__lock_sock", KERNEL_LOCK, 3)                                                           \
                                                                                                   \
	X("futex_lock_pi", LOCK, 4)                                                                \
	X("__futex_wait", CONDITION, 4)                                                            \
	X("futex_wait", CONDITION, 4)                                                              \
	X("futex_wait_queue*", CONDITION, 4)                                                       \
	X("futex_wait_multiple", CONDITION, 4)                                                     \
	X("futex_wait_requeue_pi", CONDITION, 4)                                                   \
	X("do_wait", CHILD, 4)                                                                     \
	X("__do_wait", CHILD, 4)                                                                   \
	X("kernel_wait4", CHILD, 4)                                                                \
	X("hrtimer_nanosleep", TIMER, 4)                                                           \
	X("do_nanosleep", TIMER, 4)                                                                \
	X("alarm_timer_nsleep", TIMER, 4)                                                          \
	X("timerfd_read*", TIMER, 4)                                                               \
	X("do_sigtimedwait", SIGNAL, 4)                                                            \
	X("sigsuspend", SIGNAL, 4)                                                                 \
	X("__do_sys_pause", SIGNAL, 4)                                                             \
	X("__x64_sys_pause", SIGNAL, 4)                                                            \
	X("__x64_sys_rt_sigsuspend", SIGNAL, 4)                                                    \
	X("signalfd_read*", SIGNAL, 4)                                                             \
	X("fcntl_setlk", FILE_LOCK, 4)                                                             \
	X("locks_lock_inode_wait", FILE_LOCK, 4)                                                   \
	X("pipe_read", PIPE, 4)                                                                    \
	X("pipe_write", PIPE, 4)                                                                   \
	X("anon_pipe_read", PIPE, 4)                                                               \
	X("anon_pipe_write", PIPE, 4)                                                              \
	X("fifo_pipe_read", PIPE, 4)                                                               \
	X("fifo_pipe_write", PIPE, 4)                                                              \
	X("pipe_wait_*", PIPE, 4)                                                                  \
	X("fifo_open", PIPE, 4)                                                                    \
	X("wait_for_partner", PIPE, 4)                                                             \
	X("n_tty_read", TERMINAL, 4)                                                               \
	X("n_tty_write", PIPE, 4)                                                                  \
	X("tty_wait_until_sent", PIPE, 4)                                                          \
	X("eventfd_read", PIPE, 4)                                                                 \
	X("eventfd_write", PIPE, 4)                                                                \
	X("do_msgrcv", PIPE, 4)                                                                    \
	X("do_msgsnd", PIPE, 4)                                                                    \
	X("wq_sleep", PIPE, 4)                                                                     \
	X("do_semtimedop", CONDITION, 4)                                                           \
	X("__do_semtimedop", CONDITION, 4)                                                         \
	X("unix_stream_read_generic", LOCAL, 4)                                                    \
	X("unix_stream_connect", LOCAL, 4)                                                         \
	X("unix_wait_for_peer", LOCAL, 4)                                                          \
	X("__unix_dgram_recvmsg", LOCAL, 4)                                                        \
	X("unix_stream_sendmsg", LOCAL, 4)                                                         \
	X("unix_dgram_sendmsg", LOCAL, 4)                                                          \
	X("netlink_recvmsg", LOCAL, 4)                                                             \
	X("sk_wait_data", SOCKET, 4)                                                               \
	X("tcp_recvmsg*", SOCKET, 4)                                                               \
	X("sk_stream_wait_memory", SOCKET, 4)                                                      \
	X("sk_stream_wait_connect", SOCKET, 4)                                                     \
	X("sk_stream_wait_close", SOCKET, 4)                                                       \
	X("__inet_stream_connect", SOCKET, 4)                                                      \
	X("udp_recvmsg", SOCKET, 4)                                                                \
	X("__skb_wait_for_more_packets", SOCKET, 4)                                                \
	X("sock_alloc_send_pskb", SOCKET, 4)                                                       \
	X("vsock_connectible_wait_data", SOCKET, 4)                                                \
	X("inet_csk_accept", POLL, 4)                                                              \
	X("unix_accept", POLL, 4)                                                                  \
	X("do_accept", POLL, 4)                                                                    \
	X("poll_schedule_timeout", POLL, 4)                                                        \
	X("do_sys_poll", POLL, 4)                                                                  \
	X("do_select", POLL, 4)                                                                    \
	X("do_epoll_wait", POLL, 4)                                                                \
	X("io_cqring_wait", POLL, 4)                                                               \
	X("inotify_read", POLL, 4)                                                                 \
	X("fuse_dev_do_read", POLL, 4)                                                             \
	X("userfaultfd_read*", POLL, 4)                                                            \
                                                                                                   \
	X("request_wait_answer", SERVER, 5)                                                        \
	X("__fuse_simple_request", SERVER, 5)                                                      \
	X("fuse_simple_request", SERVER, 5)                                                        \
	X("fuse_get_req", SERVER, 5)                                                               \
	X("jbd2_log_wait_commit", FILE_SYSTEM, 5)                                                  \
	X("jbd2_complete_transaction", FILE_SYSTEM, 5)                                             \
	X("wait_transaction_locked", FILE_SYSTEM, 5)                                               \
	X("add_transaction_credits", FILE_SYSTEM, 5)                                               \
	X("xfs_log_force*", FILE_SYSTEM, 5)                                                        \
	X("xlog_wait*", FILE_SYSTEM, 5)                                                            \
	X("btrfs_wait_for_commit", FILE_SYSTEM, 5)                                                 \
	X("btrfs_commit_transaction", FILE_SYSTEM, 5)                                              \
	X("nfs_wait_bit_killable", FILE_SYSTEM, 5)                                                 \
	X("rpc_wait_bit_killable", FILE_SYSTEM, 5)                                                 \
	X("handle_userfault", FAULT, 5)                                                            \
	X("handle_mm_fault", FAULT, 5)                                                             \
	X("filemap_fault", FAULT, 5)                                                               \
                                                                                                   \
	X("do_swap_page", MEMORY, 6)                                                               \
	X("try_to_free_pages", MEMORY, 6)                                                          \
	X("try_to_free_mem_cgroup_pages", MEMORY, 6)                                               \
	X("mem_cgroup_handle_over_high", MEMORY, 6)                                                \
	X("__mem_cgroup_handle_over_high", MEMORY, 6)                                              \
	X("mem_cgroup_oom_synchronize", MEMORY, 6)                                                 \
	X("try_to_compact_pages", MEMORY, 6)                                                       \
	X("throttle_direct_reclaim", MEMORY, 6)                                                    \
	X("reclaim_throttle", MEMORY, 6)                                                           \
	X("balance_dirty_pages*", WRITEBACK, 6)                                                    \
                                                                                                   \
	X("do_signal_stop", STOPPED, 7)                                                            \
	X("__refrigerator", FROZEN, 7)                                                             \
	X("ptrace_stop", TRACED, 7)                                                                \
	X("seccomp_do_user_notification", SECCOMP, 7)                                              \
	X("throttle_cfs_rq_work", THROTTLED, 7)

/* Functions of programs and libraries: X(name, cause). The innermost one with a row decides. */
#define WAIT_USER_FUNCTIONS(X)                                                                     \
	X("pthread_mutex_lock", LOCK)                                                              \
	X("pthread_mutex_timedlock", LOCK)                                                         \
	X("pthread_mutex_clocklock", LOCK)                                                         \
	X("__pthread_mutex_lock", LOCK)                                                            \
	X("___pthread_mutex_lock", LOCK)                                                           \
	X("__lll_lock_wait*", LOCK)                                                                \
	X("__GI___lll_lock_wait*", LOCK)                                                           \
	X("pthread_rwlock_rdlock", LOCK)                                                           \
	X("pthread_rwlock_wrlock", LOCK)                                                           \
	X("___pthread_rwlock_*", LOCK)                                                             \
	X("pthread_spin_lock", LOCK)                                                               \
	X("pthread_cond_*", CONDITION)                                                             \
	X("___pthread_cond_*", CONDITION)                                                          \
	X("__pthread_cond_*", CONDITION)                                                           \
	X("pthread_barrier_wait", CONDITION)                                                       \
	X("sem_wait", CONDITION)                                                                   \
	X("sem_timedwait", CONDITION)                                                              \
	X("sem_clockwait", CONDITION)                                                              \
	X("__new_sem_wait*", CONDITION)                                                            \
	X("pthread_join", JOIN)                                                                    \
	X("__pthread_clockjoin_ex", JOIN)                                                          \
	X("pthread_timedjoin_np", JOIN)                                                            \
	X("thrd_join", JOIN)                                                                       \
	X("wait", CHILD)                                                                           \
	X("wait3", CHILD)                                                                          \
	X("wait4", CHILD)                                                                          \
	X("__wait4", CHILD)                                                                        \
	X("waitpid", CHILD)                                                                        \
	X("__waitpid", CHILD)                                                                      \
	X("waitid", CHILD)                                                                         \
	X("sleep", TIMER)                                                                          \
	X("usleep", TIMER)                                                                         \
	X("nanosleep", TIMER)                                                                      \
	X("__nanosleep", TIMER)                                                                    \
	X("clock_nanosleep", TIMER)                                                                \
	X("__clock_nanosleep*", TIMER)                                                             \
	X("pause", SIGNAL)                                                                         \
	X("sigsuspend", SIGNAL)                                                                    \
	X("sigwait", SIGNAL)                                                                       \
	X("sigwaitinfo", SIGNAL)                                                                   \
	X("sigtimedwait", SIGNAL)                                                                  \
	X("flock", FILE_LOCK)                                                                      \
	X("lockf", FILE_LOCK)                                                                      \
	X("poll", POLL)                                                                            \
	X("__poll", POLL)                                                                          \
	X("ppoll", POLL)                                                                           \
	X("select", POLL)                                                                          \
	X("__select", POLL)                                                                        \
	X("pselect", POLL)                                                                         \
	X("epoll_wait", POLL)                                                                      \
	X("epoll_pwait", POLL)                                                                     \
	X("accept", POLL)                                                                          \
	X("accept4", POLL)                                                                         \
	X("recv", SOCKET)                                                                          \
	X("recvfrom", SOCKET)                                                                      \
	X("recvmsg", SOCKET)                                                                       \
	X("connect", SOCKET)                                                                       \
	X("fsync", FILE_SYSTEM)                                                                    \
	X("fdatasync", FILE_SYSTEM)                                                                \
	X("syncfs", FILE_SYSTEM)                                                                   \
	X("msync", FILE_SYSTEM)

/* System calls whose name is enough: X(name, cause). */
#define WAIT_SYSCALLS(X)                                                                           \
	X("futex", CONDITION)                                                                      \
	X("futex_wait", CONDITION)                                                                 \
	X("futex_waitv", CONDITION)                                                                \
	X("wait4", CHILD)                                                                          \
	X("waitid", CHILD)                                                                         \
	X("vfork", CHILD)                                                                          \
	X("nanosleep", TIMER)                                                                      \
	X("clock_nanosleep", TIMER)                                                                \
	X("pause", SIGNAL)                                                                         \
	X("rt_sigsuspend", SIGNAL)                                                                 \
	X("rt_sigtimedwait", SIGNAL)                                                               \
	X("flock", FILE_LOCK)                                                                      \
	X("poll", POLL)                                                                            \
	X("ppoll", POLL)                                                                           \
	X("select", POLL)                                                                          \
	X("pselect6", POLL)                                                                        \
	X("epoll_wait", POLL)                                                                      \
	X("epoll_pwait", POLL)                                                                     \
	X("epoll_pwait2", POLL)                                                                    \
	X("accept", POLL)                                                                          \
	X("accept4", POLL)                                                                         \
	X("io_uring_enter", POLL)                                                                  \
	X("connect", SOCKET)                                                                       \
	X("recvfrom", SOCKET)                                                                      \
	X("recvmsg", SOCKET)                                                                       \
	X("sendto", SOCKET)                                                                        \
	X("sendmsg", SOCKET)                                                                       \
	X("msgrcv", PIPE)                                                                          \
	X("semop", CONDITION)                                                                      \
	X("semtimedop", CONDITION)                                                                 \
	X("fsync", FILE_SYSTEM)                                                                    \
	X("fdatasync", FILE_SYSTEM)                                                                \
	X("syncfs", FILE_SYSTEM)                                                                   \
	X("sync_file_range", FILE_SYSTEM)                                                          \
	X("msync", FILE_SYSTEM)

/* Kinds of files: X(kind, cause). */
#define WAIT_OBJECTS(X)                                                                            \
	X("pipe", PIPE)                                                                            \
	X("fifo", PIPE)                                                                            \
	X("tty", TERMINAL)                                                                         \
	X("eventfd", PIPE)                                                                         \
	X("timerfd", TIMER)                                                                        \
	X("signalfd", SIGNAL)                                                                      \
	X("inotify", POLL)                                                                         \
	X("eventpoll", POLL)                                                                       \
	X("unix", LOCAL)                                                                           \
	X("netlink", LOCAL)                                                                        \
	X("tcp", SOCKET)                                                                           \
	X("udp", SOCKET)

/* The sources of interrupts that wake threads, by functions of the kernel: X(name, source). */
#define WAIT_SOURCE_FUNCTIONS(X)                                                                   \
	X("hrtimer_wakeup", TIMER)                                                                 \
	X("process_timeout", TIMER)                                                                \
	X("timerfd_tmrproc", TIMER)                                                                \
	X("it_real_fn", TIMER)                                                                     \
	X("posix_timer_fn", TIMER)                                                                 \
	X("bio_endio", DISK)                                                                       \
	X("blk_mq_complete_request", DISK)                                                         \
	X("blk_mq_end_request*", DISK)                                                             \
	X("blk_update_request", DISK)                                                              \
	X("tcp_v4_rcv", NETWORK)                                                                   \
	X("tcp_v6_rcv", NETWORK)                                                                   \
	X("udp_rcv", NETWORK)                                                                      \
	X("sock_def_readable", NETWORK)                                                            \
	X("net_rx_action", NETWORK)

/* ... and softirqs, and handlers of interrupts. */
#define WAIT_SOURCE_NAMES(X)                                                                       \
	X("TIMER", TIMER)                                                                          \
	X("HRTIMER", TIMER)                                                                        \
	X("BLOCK", DISK)                                                                           \
	X("NET_RX", NETWORK)                                                                       \
	X("NET_TX", NETWORK)                                                                       \
	X("ahci*", DISK)                                                                           \
	X("nvme*", DISK)                                                                           \
	X("eth*", NETWORK)                                                                         \
	X("en*", NETWORK)
