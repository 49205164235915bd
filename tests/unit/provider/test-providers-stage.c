/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stage with programs that do not use the library: programs that flood, programs that execute
 * another program while a child holds the buffer, and programs that get no session at first.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/options/options.h"
#include "capture/providers/provider-image.h"
#include "capture/providers/providers-stage.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-wire.h"

enum { RECORD_WORDS = 6, MANY_BYTES = 36 << 20, ROOM = 1 << 30 };

struct fixture {
	char dir[64];
	struct outbuf out;
	struct fxt_archive archive;
	struct tasks tasks;
	struct pipeline pipe;
	struct provider_links *links;
	struct providers_stage stage;
	uint64_t n_lost;
};

/* A program: its end of the connection, and its buffer. */
struct program {
	int fd;
	uint8_t *data;
	size_t bytes;
	struct provider_message start;
	uint32_t n_blocks; /* blocks that were taken */
};

static int announce(uint32_t tid, void *userdata)
{
	struct fixture *f = userdata;

	tasks_set_announced(&f->tasks, tid);
	return 0;
}

static int count_lost(enum event_class class, const struct rec_lost *lost, void *userdata)
{
	struct fixture *f = userdata;

	assert_int_equal(class, CLASS_APP);
	f->n_lost += lost->count;
	return 0;
}

FIXTURE(set_up)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct session_options o = { .ring_bytes = 1 << 20 };
	char why[VALUE_WHY_MAX];

	*state = f;
	snprintf(f->dir, sizeof(f->dir), "/tmp/test-providers-stage-XXXXXX");
	if (!mkdtemp(f->dir) || setenv("KYMO_PROVIDER_DIR", f->dir, 1) < 0 ||
	    provider_links_new(&f->links, "test", why) < 0 || tasks_init(&f->tasks) < 0 ||
	    fxt_archive_init(&f->archive, &f->out, 1) < 0)
		return -1;
	f->pipe = (struct pipeline){
		.archive = &f->archive,
		.tasks = &f->tasks,
		.collector = (struct collector *)&f->pipe, /* (not used) */
		.n_cpus = 1,
		.to_ns = UINT64_MAX,
		.links = { .announce = announce, .lost = count_lost, .userdata = f }
	};
	providers_stage_init(&f->stage, &f->pipe);
	providers_stage_set_links(&f->stage, f->links, &(struct providers_owner){ 0 });
	if (providers_stage.begin(&f->stage, &o) < 0)
		return -1;
	f->stage.context.clock = PROVIDER_CLOCK_BOOTTIME;
	f->stage.buffer = (struct provider_buffer_options){ PROVIDER_STREAMING, 16, 4096 };
	return fxt_archive_begin(&f->archive);
}

FIXTURE(tear_down)
{
	static const char *const names[] = { PROVIDER_DOORBELL, PROVIDER_SOCKET ".lock" };
	struct fixture *f = *state;
	char path[128];

	providers_stage.deinit(&f->stage);
	provider_links_free(f->links);
	fxt_archive_deinit(&f->archive);
	tasks_deinit(&f->tasks);
	outbuf_deinit(&f->out);
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", f->dir, names[i]);
		unlink(path);
	}
	rmdir(f->dir);
	free(f);
	return 0;
}

static void serve(struct fixture *f)
{
	provider_links_poll(f->links);
	f->stage.listener.fn(f->stage.listener.userdata);
}

/* ---- programs ---- */

static int make_socket(void)
{
	return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
}

static bool connect_socket(const struct fixture *f, int fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/" PROVIDER_SOCKET, f->dir);
	return connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
}

static void send_message(int fd, enum provider_message_kind kind, uint64_t session, int error)
{
	struct provider_message m = {
		.kind = kind, .version = PROVIDER_WIRE_VERSION, .session = session, .error = error
	};

	if (kind == PROVIDER_HELLO) {
		m.text_bytes = 4;
		memcpy(m.text, "test", 4);
	}
	send(fd, &m, PROVIDER_MESSAGE_HEAD + m.text_bytes, MSG_NOSIGNAL);
}

/* Receives START, if it has come, and maps the buffer. */
static bool receive_start(struct fixture *f, struct program *p)
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr head;
	} control;
	struct iovec part = { &p->start, sizeof(p->start) };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	int fds[2];

	serve(f);
	assert_int_equal(f->stage.error, 0);
	if (recvmsg(p->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
		return false;
	assert_int_equal(p->start.kind, PROVIDER_START);
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fds));
	p->bytes = PROVIDER_BLOCKS_OFFSET + (size_t)p->start.n_blocks * p->start.block_bytes;
	p->data = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	assert_ptr_not_equal(p->data, MAP_FAILED);
	close(fds[0]);
	close(fds[1]);
	return true;
}

/* Begins a program in this process. */
static void begin_program(struct fixture *f, struct program *p)
{
	*p = (struct program){ .fd = make_socket() };
	assert_true(connect_socket(f, p->fd));
	send_message(p->fd, PROVIDER_HELLO, 0, 0);
	assert_soon(receive_start(f, p));
	send_message(p->fd, PROVIDER_STARTED, p->start.session, 0);
}

static void end_program(struct program *p)
{
	if (p->data)
		munmap(p->data, p->bytes);
	close(p->fd);
}

/* Writes N instants of this process's main thread, with the time NS. */
static void write_instants(struct program *p, unsigned n, uint64_t ns, uint32_t tid)
{
	const uint64_t words[RECORD_WORDS] = {
		fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(RECORD_WORDS) |
			fxt_put_event_type(FXT_EVENT_INSTANT) | fxt_put_event_category(0x8001) |
			fxt_put_event_name(0x8001),
		ns,
		0,
		tid,
		'c',
		'n',
	};
	unsigned fit = p->start.block_bytes / sizeof(words);
	struct provider_block *row;

	for (unsigned part; n > 0; n -= part) {
		part = n < fit ? n : fit;
		assert_true(p->n_blocks < p->start.n_blocks);
		for (unsigned i = 0; i < part; i++)
			memcpy(p->data + PROVIDER_BLOCKS_OFFSET +
				       (size_t)p->n_blocks * p->start.block_bytes +
				       i * sizeof(words),
			       words, sizeof(words));
		row = (struct provider_block *)(p->data + PROVIDER_TABLE_OFFSET) + p->n_blocks++;
		row->end = part * sizeof(words) + 1;
		__atomic_store_n(&row->number, p->n_blocks, __ATOMIC_RELEASE);
	}
}

static void do_round(struct fixture *f)
{
	assert_int_equal(providers_stage.advance(&f->stage, clock_boot_ns()), 0);
}

static bool is_closed(struct fixture *f, const struct program *p)
{
	char byte;

	do_round(f);
	return recv(p->fd, &byte, 1, MSG_DONTWAIT) == 0;
}

static bool has_read(struct fixture *f, uint64_t n)
{
	do_round(f);
	return f->stage.n_events >= n;
}

static bool has_refused(struct fixture *f)
{
	do_round(f);
	return f->stage.n_refused > 0;
}

/* Returns the bytes of P that were read in this round. */
static uint64_t bytes_of_round(const struct fixture *f, const struct program *p)
{
	for (size_t i = 0; i < PROVIDERS_MAX; i++) {
		const struct provider_program *one = f->stage.programs[i];

		if (one && one->seat && one->seat->session == p->start.session)
			return one->passed_bytes;
	}
	fail_msg("the program has no session");
	return 0;
}

/* Returns the number of the program of a thread in STATE with ADDRESSES of code and stack. */
static uint64_t image_of_stat(const struct fixture *f, char state, const char *addresses)
{
	char path[128];
	uint64_t ret;
	FILE *file;

	snprintf(path, sizeof(path), "%s/stat", f->dir);
	file = fopen(path, "we");
	assert_non_null(file);
	fprintf(file,
		"7 (a ) R 1) %c 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 9 4096 1 "
		"18446744073709551615 %s 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		state, addresses);
	fclose(file);
	ret = provider_image_read(path);
	unlink(path);
	return ret;
}

/* ---- tests ---- */

/* A thread that ends has no memory, before it is a zombie. */
TEST(tells_an_end_from_an_exec)
{
	struct fixture *f = *state;
	uint64_t image = image_of_stat(f, 'S', "4198400 4199000 140730000");

	assert_int_not_equal(image, 0);
	assert_int_equal(image_of_stat(f, 'R', "4198400 4199000 140730000"), image);
	assert_int_not_equal(image_of_stat(f, 'S', "4198400 4199000 140740000"), image);
	assert_int_not_equal(image_of_stat(f, 'S', "4298400 4299000 140730000"), image);
	assert_int_equal(image_of_stat(f, 'R', "0 0 0"), 0);
	assert_int_equal(image_of_stat(f, 'D', "0 0 0"), 0);
	assert_int_equal(image_of_stat(f, 'Z', "0 0 0"), 0);
	assert_int_not_equal(provider_image_of((uint32_t)getpid()), 0);
}

/* Each round takes 16 MiB from all programs together, and 128 KiB from each. */
LARGE_TEST(floods_take_turns)
{
	struct fixture *f = *state;
	struct program floods[2], modest;
	uint64_t bytes[2] = { 0 }, ns;

	f->stage.buffer = (struct provider_buffer_options){ PROVIDER_STREAMING, 640, 65536 };
	begin_program(f, &floods[0]);
	begin_program(f, &floods[1]);
	begin_program(f, &modest);
	ns = clock_boot_ns();
	for (unsigned i = 0; i < 2; i++)
		write_instants(&floods[i], MANY_BYTES / RECORD_WORDS / 8, ns, (uint32_t)getpid());
	for (unsigned round = 0; round < 2; round++) {
		write_instants(&modest, 10, ns, (uint32_t)getpid());
		do_round(f);
		for (unsigned i = 0; i < 2; i++)
			bytes[i] += bytes_of_round(f, &floods[i]);
		assert_int_equal(bytes_of_round(f, &modest), 10 * RECORD_WORDS * 8);
	}
	assert_true(bytes[0] > 1 << 20);
	assert_true(bytes[1] > 1 << 20);
	assert_int_equal(f->n_lost, 0);
	end_program(&floods[0]);
	end_program(&floods[1]);
	end_program(&modest);
}

static void put_exec(struct fixture *f, uint64_t ns)
{
	struct rec_exec exec = { .head = { .ts_ns = ns, .kind = REC_EXEC } };

	exec.task.pid = exec.task.tid = (uint32_t)getpid();
	assert_int_equal(providers_stage.record(&f->stage, &exec.head), 0);
}

/* A child of the earlier program writes on. */
TEST(ends_at_the_record_of_an_exec)
{
	struct fixture *f = *state;
	uint64_t before_ns = clock_boot_ns(), ns;
	struct program p;

	begin_program(f, &p);
	/* (an exec from before START is that of the program itself) */
	put_exec(f, before_ns);
	do_round(f);
	ns = clock_boot_ns();
	write_instants(&p, 10, ns, (uint32_t)getpid());
	while (clock_boot_ns() == ns)
		;
	put_exec(f, clock_boot_ns());
	write_instants(&p, 7, clock_boot_ns() + 1, (uint32_t)getpid());
	assert_soon(is_closed(f, &p));
	assert_int_equal(f->stage.n_events, 10);
	assert_int_equal(f->n_lost, 7);
	assert_int_equal(provider_links_memory(f->links)->bytes, 0);
	end_program(&p);
}

/*
 * Begins a program in a child, which shares the connection with this process. Each byte that comes
 * at *RET_GO makes it do the next step: answer START of SESSION, and execute another program.
 */
static pid_t fork_program(const struct fixture *f, struct program *p, int *ret_go)
{
	int go[2];
	uint64_t session;
	char byte;
	pid_t pid;

	*p = (struct program){ .fd = make_socket() };
	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		if (connect_socket(f, p->fd))
			send_message(p->fd, PROVIDER_HELLO, 0, 0);
		if (read(go[0], &session, sizeof(session)) == sizeof(session))
			send_message(p->fd, PROVIDER_STARTED, session, 0);
		if (read(go[0], &byte, 1) == 1 && dup2(go[0], STDIN_FILENO) == 0)
			execlp("cat", "cat", NULL);
		_exit(0);
	}
	close(go[0]);
	*ret_go = go[1];
	return pid;
}

static bool has_executed(pid_t pid)
{
	char path[32], name[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_non_null(fgets(name, sizeof(name), file));
	fclose(file);
	return strcmp(name, "cat\n") == 0;
}

/* The filter does not select the new program, so there is no record of its exec. */
TEST(ends_at_an_exec_without_a_record)
{
	struct fixture *f = *state;
	struct program p;
	uint64_t ns;
	int go;
	pid_t pid = fork_program(f, &p, &go);

	assert_soon(receive_start(f, &p));
	assert_int_equal(write(go, &p.start.session, 8), 8);
	ns = clock_boot_ns();
	write_instants(&p, 10, ns, (uint32_t)pid);
	assert_soon(has_read(f, 10));
	assert_int_equal(write(go, "", 1), 1);
	assert_soon(has_executed(pid));
	write_instants(&p, 7, clock_boot_ns(), (uint32_t)pid);
	assert_soon(is_closed(f, &p));
	assert_int_equal(f->stage.n_events, 10);
	assert_int_equal(f->n_lost, 7);
	close(go);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	end_program(&p);
}

/* A child holds the buffer, but not the connection. */
TEST(takes_no_records_from_after_the_end)
{
	struct fixture *f = *state;
	struct program p;

	begin_program(f, &p);
	assert_false(has_read(f, 1));
	write_instants(&p, 10, clock_boot_ns(), (uint32_t)getpid());
	close(p.fd);
	p.fd = -1;
	serve(f);
	write_instants(&p, 7, clock_boot_ns(), (uint32_t)getpid());
	assert_soon(has_read(f, 10));
	assert_int_equal(f->stage.n_events, 10);
	assert_int_equal(f->n_lost, 7);
	end_program(&p);
}

/* A process that is not the program, but holds its connection since before an exec, sends KIND. */
static void answer_for_program(struct fixture *f, enum provider_message_kind kind)
{
	struct program p;
	int go;
	pid_t pid = fork_program(f, &p, &go);

	assert_soon(receive_start(f, &p));
	write_instants(&p, 10, clock_boot_ns(), (uint32_t)pid);
	do_round(f);
	send_message(p.fd, kind, p.start.session, 0);
	assert_soon(is_closed(f, &p));
	assert_int_equal(provider_links_counts(f->links)->dropped, 1);
	for (unsigned i = 0; i < 2; i++)
		do_round(f);
	assert_int_equal(f->stage.n_events, 0);
	assert_int_equal(f->n_lost, 10);
	close(go);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	end_program(&p);
}

TEST(takes_nothing_if_another_process_answers)
{
	answer_for_program(*state, PROVIDER_STARTED);
}

TEST(takes_nothing_if_another_process_stops)
{
	answer_for_program(*state, PROVIDER_STOPPED);
}

/* A program that runs seldom answers START after a pause of the recording. */
TEST(ignores_the_answer_to_an_earlier_start)
{
	struct fixture *f = *state;
	struct program p = { .fd = make_socket() };
	struct provider_message stop;
	uint64_t first;

	assert_true(connect_socket(f, p.fd));
	send_message(p.fd, PROVIDER_HELLO, 0, 0);
	assert_soon(receive_start(f, &p));
	munmap(p.data, p.bytes);
	first = p.start.session;
	assert_int_equal(providers_stage.advance(&f->stage, UINT64_MAX), 0);
	assert_true(recv(p.fd, &stop, sizeof(stop), 0) > 0);
	assert_int_equal(stop.kind, PROVIDER_STOP);
	assert_int_equal(providers_stage.resume(&f->stage), 0);
	assert_soon(receive_start(f, &p));
	send_message(p.fd, PROVIDER_STARTED, first, 0);
	send_message(p.fd, PROVIDER_STOPPED, first, 0);
	send_message(p.fd, PROVIDER_STARTED, p.start.session, 0);
	write_instants(&p, 10, clock_boot_ns(), (uint32_t)getpid());
	assert_soon(has_read(f, 10));
	assert_int_equal(provider_links_counts(f->links)->dropped, 0);
	end_program(&p);
}

TEST(starts_when_there_is_room)
{
	struct fixture *f = *state;
	struct program p = { .fd = make_socket() };

	provider_links_memory(f->links)->bytes = ROOM;
	assert_true(connect_socket(f, p.fd));
	send_message(p.fd, PROVIDER_HELLO, 0, 0);
	for (unsigned i = 0; i < 3; i++)
		assert_false(receive_start(f, &p));
	assert_int_equal(f->stage.n_refused, 1);
	provider_links_memory(f->links)->bytes = 0;
	assert_soon(receive_start(f, &p));
	send_message(p.fd, PROVIDER_STARTED, p.start.session, 0);
	write_instants(&p, 10, clock_boot_ns(), (uint32_t)getpid());
	assert_soon(has_read(f, 10));
	assert_int_equal(f->stage.n_refused, 1);
	end_program(&p);
}

/* For example, the program is in as many sessions as the library can have. */
TEST(repeats_a_start_that_failed)
{
	struct fixture *f = *state;
	struct program p = { .fd = make_socket() };

	assert_true(connect_socket(f, p.fd));
	send_message(p.fd, PROVIDER_HELLO, 0, 0);
	assert_soon(receive_start(f, &p));
	send_message(p.fd, PROVIDER_STARTED, p.start.session, -EBUSY);
	munmap(p.data, p.bytes);
	assert_soon(has_refused(f));
	assert_int_equal(provider_links_memory(f->links)->bytes, 0);
	assert_false(receive_start(f, &p));
	assert_soon(receive_start(f, &p));
	send_message(p.fd, PROVIDER_STARTED, p.start.session, 0);
	write_instants(&p, 10, clock_boot_ns(), (uint32_t)getpid());
	assert_soon(has_read(f, 10));
	end_program(&p);
}

/* ---- sessions that share programs ---- */

static bool have_read(struct fixture *f, struct providers_stage *other, uint64_t n)
{
	do_round(f);
	assert_int_equal(providers_stage.advance(other, clock_boot_ns()), 0);
	return f->stage.n_events + other->n_events >= n;
}

/* Two sessions of one program have buffers of their own, and one can end without the other. */
TEST(sessions_share_a_program)
{
	const struct session_options o = { .ring_bytes = 1 << 20 };
	struct fixture *f = *state;
	struct providers_stage other;
	struct program p, q;
	struct provider_message stop;

	providers_stage_init(&other, &f->pipe);
	providers_stage_set_links(&other, f->links, &(struct providers_owner){ .uid = 1 });
	assert_int_equal(providers_stage.begin(&other, &o), 0);
	other.context.clock = PROVIDER_CLOCK_BOOTTIME;
	begin_program(f, &p);
	q = (struct program){ .fd = p.fd };
	assert_soon(receive_start(f, &q));
	assert_int_not_equal(q.start.session, p.start.session);
	send_message(q.fd, PROVIDER_STARTED, q.start.session, 0);
	write_instants(&p, 10, clock_boot_ns(), (uint32_t)getpid());
	write_instants(&q, 7, clock_boot_ns(), (uint32_t)getpid());
	assert_soon(have_read(f, &other, 17));
	assert_true(f->stage.n_events == 10 || f->stage.n_events == 7);
	assert_int_equal(f->n_lost, 0);
	assert_int_equal(f->stage.n_events + other.n_events, 17);
	providers_stage.deinit(&other);
	assert_true(recv(p.fd, &stop, sizeof(stop), MSG_DONTWAIT) > 0);
	assert_int_equal(stop.kind, PROVIDER_STOP);
	assert_int_equal(recv(p.fd, &stop, sizeof(stop), MSG_DONTWAIT), -1);
	munmap(q.data, q.bytes);
	end_program(&p);
}

/* ---- patterns ---- */

TEST(records_categories_that_match)
{
	struct fixture *f = *state;
	struct program p;

	f->stage.context.all_categories = false;
	f->stage.context.patterns = "x,[a-c]";
	begin_program(f, &p);
	write_instants(&p, 10, clock_boot_ns(), (uint32_t)getpid());
	assert_soon(has_read(f, 10));
	end_program(&p);
	f->stage.context.patterns = "x,y";
	begin_program(f, &p);
	write_instants(&p, 7, clock_boot_ns(), (uint32_t)getpid());
	for (unsigned i = 0; i < 2; i++)
		do_round(f);
	assert_int_equal(f->stage.n_events, 10);
	assert_int_equal(f->n_lost, 0);
	end_program(&p);
}

/* Patterns and names that take long can use up the time of a round, but no more. */
TEST(limits_comparisons)
{
	uint64_t left = 150;

	(void)state;
	assert_true(provider_program_matches("x,ab*", "abc", 3, &left));
	assert_int_equal(left, 95);
	assert_false(provider_program_matches("x,ab*", "xyz", 3, &left));
	assert_int_equal(left, 40);
	assert_false(provider_program_matches("x,ab*", "abc", 3, &left));
	assert_int_equal(left, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tells_an_end_from_an_exec, set_up, tear_down),
		cmocka_unit_test_setup_teardown(floods_take_turns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ends_at_the_record_of_an_exec, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ends_at_an_exec_without_a_record, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(takes_no_records_from_after_the_end, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(takes_nothing_if_another_process_answers, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(takes_nothing_if_another_process_stops, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(ignores_the_answer_to_an_earlier_start, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(starts_when_there_is_room, set_up, tear_down),
		cmocka_unit_test_setup_teardown(repeats_a_start_that_failed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sessions_share_a_program, set_up, tear_down),
		cmocka_unit_test_setup_teardown(records_categories_that_match, set_up, tear_down),
		cmocka_unit_test(limits_comparisons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
