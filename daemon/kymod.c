/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymod: connects to the bus, adds the manager's object, and serves it until it is stopped.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/capability.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "bus/kymo-bus.h"
#include "capture/sandbox/clean-fd-table.h"
#include "capture/perf/perf-event.h"
#include "capture/probes/probe-cleanup.h"
#include "capture/sandbox/thread.h"
#include "daemon/files/async-close.h"
#include "daemon/common/log.h"
#include "daemon/sessions/manager.h"
#include "daemon/sessions/perf-service.h"
#include "daemon/bus/bus-objects.h"
#include "daemon/bus/private-socket.h"
#include "daemon/bus/service.h"

#define WITHOUT_BUS_IDLE_NS UINT64_C(10000000000)

enum {
	MMAP_FROM_BYTES = 128 << 10,
	/*
	 * Number of descriptors for which the kernel's table gets room at the start. The table
	 * takes 128 KiB.
	 */
	TABLE_FILES = 16 << 10,
};

struct arguments {
	const char *bus; /* NULL = the system bus */
	const char *group;
	uint64_t idle_exit_ns;
	const char *config_dir, *state_dir; /* NULL = the directories of the package */
	const char *socket;                 /* NULL = a socket that systemd passes, if any */
	bool open_perf_events;
};

static void kymod_print_help(void)
{
	puts("Usage: kymod [OPTION ...]\n\n"
	     "The service of kymo, which records this machine for its clients.\n\n"
	     "      --bus=ADDRESS         serve this bus instead of the system bus\n"
	     "      --socket=PATH         also serve root on this socket, which needs no bus\n"
	     "      --group=GROUP         without polkit, members of this group can record (kymo)\n"
	     "      --idle-exit=TIME      exit after this time without a session or a call (0: never)\n"
	     "      --config-dir=DIR      the directory of collections (" COLLECTION_DIRECTORY ")\n"
	     "      --state-dir=DIR       replaces " COLLECTION_DIRECTORY_PREFIX " in collections\n"
	     "      --perf-events=SOCKET  the socket of the process that opens perf events if the kernel\n"
	     "                            refuses them to the service\n"
	     "      --open-perf-events    run as that process, on the socket that systemd passes\n"
	     "      --help                print this help\n"
	     "      --version             print the version");
}

/* Parses the arguments. Returns 1 to continue, 0 to exit with success, or -EINVAL. */
static int kymod_parse_arguments(int argc, char **argv, struct arguments *ret)
{
	enum {
		OPT_BUS = 256,
		OPT_SOCKET,
		OPT_GROUP,
		OPT_IDLE_EXIT,
		OPT_CONFIG,
		OPT_STATE,
		OPT_PERF_EVENTS,
		OPT_OPEN_PERF_EVENTS,
		OPT_VERSION,
	};
	static const struct option options[] = {
		{ "bus", required_argument, NULL, OPT_BUS },
		{ "socket", required_argument, NULL, OPT_SOCKET },
		{ "group", required_argument, NULL, OPT_GROUP },
		{ "idle-exit", required_argument, NULL, OPT_IDLE_EXIT },
		{ "config-dir", required_argument, NULL, OPT_CONFIG },
		{ "state-dir", required_argument, NULL, OPT_STATE },
		{ "perf-events", required_argument, NULL, OPT_PERF_EVENTS },
		{ "open-perf-events", no_argument, NULL, OPT_OPEN_PERF_EVENTS },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		switch (c) {
		case OPT_BUS:
			ret->bus = optarg;
			break;
		case OPT_SOCKET:
			ret->socket = optarg;
			break;
		case OPT_GROUP:
			ret->group = optarg;
			break;
		case OPT_IDLE_EXIT:
			if (text_parse_time(optarg, &ret->idle_exit_ns) < 0) {
				fprintf(stderr,
					"kymod: --idle-exit: '%s' is not a time, such as 60s\n",
					optarg);
				return -EINVAL;
			}
			break;
		case OPT_CONFIG:
			ret->config_dir = optarg;
			break;
		case OPT_STATE:
			ret->state_dir = optarg;
			break;
		case OPT_PERF_EVENTS:
			perf_event_request_at(optarg);
			break;
		case OPT_OPEN_PERF_EVENTS:
			ret->open_perf_events = true;
			break;
		case 'h':
			kymod_print_help();
			return 0;
		case OPT_VERSION:
			puts("kymod " KYMO_VERSION);
			return 0;
		default:
			return -EINVAL;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "kymod: unexpected argument '%s'\n", argv[optind]);
		return -EINVAL;
	}
	return 1;
}

/*
 * Checks that this process has the capabilities to record. Features of the kernel are checked for
 * each session.
 */
static int kymod_check_rights(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	static const unsigned needed[] = { CAP_BPF, CAP_PERFMON };

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	if (data[0].effective & 1u << CAP_SYS_ADMIN)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (!(data[needed[i] / 32].effective & 1u << needed[i] % 32))
			return -EPERM;
	return 0;
}

static int kymod_serve(const struct service_args *args)
{
	_cleanup_(service_freep) struct service *s = NULL;
	int status, r;

	r = service_new(args, &s);
	if (r >= 0 && !args->without_bus)
		r = sd_bus_attach_event(args->bus, args->event, SD_EVENT_PRIORITY_NORMAL);
	if (r < 0)
		return log_error(r, "cannot set up the event loop");
	service_begin(s);
	status = sd_event_loop(args->event);
	async_close_disconnect(args->bus);
	return status < 0 ? log_error(status, "the event loop failed") : status;
}

/*
 * Raises the limit of descriptors to its maximum, since messages bring descriptors, and a session
 * has many. Also makes the kernel's table of descriptors large enough for TABLE_FILES of them,
 * before other processes share the table (daemon/files/async-close.h). The kernel enlarges a shared
 * table only after a grace period, which would block this thread for tens of milliseconds. During
 * that time, the bus's queue of messages to us could become full, so that the bus rejects messages.
 */
static void kymod_allow_descriptors(void)
{
	struct rlimit files;
	int last;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	last = files.rlim_cur < TABLE_FILES ? (int)files.rlim_cur - 1 : TABLE_FILES - 1;
	close_fd(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, last));
}

/*
 * Makes malloc() use separate mappings for large blocks, so that the memory returns to the kernel
 * when the blocks are freed. By default, malloc() raises the size from which blocks get mappings of
 * their own, and then takes large blocks from its heap. A small block above a large one in the heap
 * prevents the return of the large one.
 */
static void kymod_trim_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, MMAP_FROM_BYTES);
}

static void kymod_log_cleanup(const char *text)
{
	log_info("%s", text);
}

static void kymod_leave_busp(sd_bus **bus)
{
	if (*bus)
		async_close_disconnect(*bus);
	sd_bus_unref(*bus);
}

/* Moves the socket FD to a number that children do not get. Returns the number, or -1. */
static int kymod_move_socket(int fd)
{
	int moved;

	if (sd_is_socket_unix(fd, SOCK_STREAM, 1, NULL, 0) <= 0) {
		log_warning(0, "not served: systemd must pass a listening Unix socket");
		return -1;
	}
	moved = fcntl(fd, F_DUPFD_CLOEXEC, CLEAN_FD_TABLE);
	if (moved < 0)
		log_warning(-errno, "cannot move the private socket");
	return moved;
}

/*
 * Returns the socket that systemd passes, or -1. The numbers of passed sockets are low, and all
 * children have the low numbers (capture/sandbox/clean-fd-table.h). So the socket is moved, and no
 * passed socket keeps its low number, even if it is not served.
 */
static int kymod_take_socket(void)
{
	int n = sd_listen_fds(1), fd = -1;

	if (n > 1)
		log_warning(0, "not served: systemd must pass one socket, but has passed %d", n);
	if (n == 1)
		fd = kymod_move_socket(SD_LISTEN_FDS_START);
	for (int i = 0; i < n; i++)
		if (dup3(clean_fd_table_null(), SD_LISTEN_FDS_START + i, O_CLOEXEC) < 0) {
			log_warning(-errno, "cannot take a socket of systemd from children");
			fd = close_fd(fd);
		}
	return fd;
}

/*
 * Opens the private socket: the one of the arguments, or the one that systemd passes. *RET = -1:
 * there is none.
 */
static int kymod_open_socket(const struct arguments *args, int *ret)
{
	if (args->socket) {
		*ret = private_socket_listen(args->socket);
		return *ret < 0 ? log_error(*ret, "cannot listen on %s", args->socket) : 0;
	}
	*ret = kymod_take_socket();
	return 0;
}

/*
 * Connects to the bus. With a private socket, the service also works without a bus: *RET is then
 * not connected.
 */
static int kymod_open_bus(const struct arguments *args, bool has_socket, sd_bus **ret,
			  bool *ret_without)
{
	const char *bus = args->bus ? "bus " : "system bus", *where = args->bus ?: "";
	int r = has_socket ? kymo_bus_try(args->bus, KYMO_BUS_USEC) : 0;

	*ret_without = r < 0;
	if (*ret_without) {
		log_warning(r, "the %s%s does not answer: serving the private socket only", bus,
			    where);
		r = sd_bus_new(ret);
		return r < 0 ? log_error(r, "cannot set up the service") : 0;
	}
	r = kymo_bus_open(args->bus, "kymod", ret);
	return r < 0 ? log_error(r, "cannot connect to the %s%s", bus, where) : 0;
}

/*
 * Returns the idle time of a service without a bus. It is short even if the service otherwise never
 * exits (0), so that the next service soon tries the bus again.
 */
static uint64_t kymod_shorten_idle(uint64_t idle_ns)
{
	return idle_ns && idle_ns < WITHOUT_BUS_IDLE_NS ? idle_ns : WITHOUT_BUS_IDLE_NS;
}

static int kymod_run(const struct arguments *args)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	_cleanup_(kymod_leave_busp) sd_bus *bus = NULL;
	_cleanup_(manager_freep) struct manager *m = NULL;
	_cleanup_close_ int private_fd = -1;
	bool without_bus = false;
	int r;

	if (kymod_check_rights() < 0)
		return log_error(0, "the service needs root, or the capabilities CAP_BPF and "
				    "CAP_PERFMON")
			       ?: -EPERM;
	r = kymod_open_socket(args, &private_fd);
	if (r >= 0)
		r = kymod_open_bus(args, private_fd >= 0, &bus, &without_bus);
	if (r < 0)
		return r;
	r = sd_event_default(&event);
	if (r < 0)
		return log_error(r, "cannot create an event loop");
	r = async_close_attach(event, without_bus ? NULL : bus);
	if (r < 0)
		return log_error(r, "cannot set up the event loop");
	r = without_bus ? 0 : service_request_name(bus);
	if (r < 0)
		return r;
	r = manager_new(event, bus, args->group, &bus_objects, &m);
	if (r < 0)
		return log_error(r, "cannot set up the service");
	if (args->config_dir)
		m->places.config = args->config_dir;
	if (args->state_dir)
		m->places.state = args->state_dir;
	return kymod_serve(&(struct service_args){
		.event = event,
		.bus = bus,
		.manager = m,
		.without_bus = without_bus,
		.private_fd = TAKE_FD(private_fd),
		.idle_exit_ns =
			without_bus ? kymod_shorten_idle(args->idle_exit_ns) : args->idle_exit_ns,
	});
}

int main(int argc, char **argv)
{
	struct arguments args = { .group = "kymo" };
	sigset_t ours;
	int r = kymod_parse_arguments(argc, argv, &args);

	if (r <= 0)
		return r < 0 ? 2 : EXIT_SUCCESS;
	if (args.open_perf_events)
		return perf_service_serve(args.idle_exit_ns) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	/*
	 * Blocks the signals in all threads, so that the event loop receives them. SIGPIPE is
	 * ignored, so that an output without a reader is an error of its session, and does not end
	 * the process.
	 */
	sigemptyset(&ours);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGUSR1);
	sigprocmask(SIG_BLOCK, &ours, NULL);
	signal(SIGPIPE, SIG_IGN);
	kymod_allow_descriptors();
	kymod_trim_memory();
	thread_raise_priority();
	r = clean_fd_table_begin();
	if (r < 0)
		return log_error(r, "cannot keep descriptors for children"), EXIT_FAILURE;
	/*
	 * The cleanup runs in a child. It is started now, before there are descriptors or memory
	 * that this child must not inherit.
	 */
	probe_cleanup_start(kymod_log_cleanup);
	r = async_close_begin();
	if (r < 0)
		return log_error(r, "cannot start a process that closes files of callers"),
		       EXIT_FAILURE;
	r = kymod_run(&args);
	return r < 0 ? EXIT_FAILURE : r;
}
