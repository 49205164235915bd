/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper that opens perf events for the service opens only events that the service uses,
 * whatever the kernel would allow; and it keeps no descriptor that it receives.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/perf/perf-answer.h"
#include "capture/perf/perf-protocol.h"
#include "tests/support/unit.h"

enum { SENT_MAX = 4 }; /* descriptors */

/*
 * Sends N descriptors (each a copy of FD) with Q to the helper. Returns the result of
 * perf_event_answer(). *RET_ANSWER is 1 if there was no answer.
 */
static int ask(const struct perf_question *q, size_t size, int fd, size_t n, int32_t *ret_answer)
{
	const struct cmsghdr head = { CMSG_LEN(n * sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(SENT_MAX * sizeof(int))] = "";
	struct iovec part = { (void *)q, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	_cleanup_close_ int here = -1, there = -1, event = -1;
	int fds[2], r;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	here = fds[0];
	there = fds[1];
	memcpy(control, &head, sizeof(head));
	for (size_t i = 0; i < n && i < SENT_MAX; i++)
		memcpy(control + CMSG_LEN(i * sizeof(int)), &fd, sizeof(fd));
	if (n > 0) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(n * sizeof(int));
	}
	assert_int_equal(sendmsg(here, &message, 0), size);
	r = perf_event_answer(there);
	there = close_fd(there);
	if (perf_protocol_receive(here, ret_answer, sizeof(*ret_answer), &event) < 0)
		*ret_answer = 1;
	return r;
}

static int next_fd(void)
{
	_cleanup_close_ int fd = dup(0);

	return fd;
}

static struct perf_question clock_question(void)
{
	return (struct perf_question){
		.attr = { .type = PERF_TYPE_SOFTWARE,
			  .size = sizeof(struct perf_event_attr),
			  .config = PERF_COUNT_SW_CPU_CLOCK },
		.pid = -1,
	};
}

static struct perf_question probe_question(void)
{
	return (struct perf_question){
		.attr = { .type = (uint32_t)perf_protocol_number(UPROBES "type"),
			  .size = sizeof(struct perf_event_attr) },
		.pid = getpid(),
		.cpu = -1,
	};
}

static void assert_refused(struct perf_question q, int file)
{
	int32_t answer;

	assert_int_equal(ask(&q, sizeof(q), file, file >= 0, &answer), 0);
	assert_int_equal(answer, -EINVAL);
}

TEST(test_kinds)
{
	_cleanup_close_ int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct perf_question q = clock_question();
	int32_t answer;

	assert_true(file >= 0);
	/* This one is valid: the kernel decides. */
	assert_int_equal(ask(&q, sizeof(q), -1, 0, &answer), 0);
	assert_int_not_equal(answer, -EINVAL);
	q.pid = getpid();
	assert_refused(q, -1);
	q = clock_question();
	q.attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	assert_refused(q, -1);
	q = clock_question();
	q.attr.type = PERF_TYPE_TRACEPOINT;
	assert_refused(q, -1);
	/* A tracepoint that takes no samples is valid: the kernel decides. */
	q.attr = (struct perf_event_attr){ .type = PERF_TYPE_TRACEPOINT,
					   .size = sizeof(q.attr),
					   .config = 1 };
	assert_int_equal(ask(&q, sizeof(q), -1, 0, &answer), 0);
	assert_int_not_equal(answer, -EINVAL);
	q.attr.sample_type = PERF_SAMPLE_RAW;
	assert_refused(q, -1);
	/* So are events of page faults without data. */
	q.attr = (struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE,
					   .size = sizeof(q.attr),
					   .config = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
					   .sample_period = 1,
					   .disabled = 1 };
	assert_int_equal(ask(&q, sizeof(q), -1, 0, &answer), 0);
	assert_int_not_equal(answer, -EINVAL);
	q.attr.sample_type = PERF_SAMPLE_ADDR;
	assert_refused(q, -1);
	assert_refused(clock_question(), file);
	q = clock_question();
	q.attr.size = 0;
	assert_refused(q, -1);
}

TEST(test_probes)
{
	_cleanup_close_ int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct perf_question q = probe_question();
	int bit = perf_protocol_number(UPROBES "format/retprobe");
	int32_t answer;

	if ((int)q.attr.type < 0 || bit < 0)
		skip();
	assert_true(file >= 0);
	/* These are valid: the kernel decides. */
	assert_int_equal(ask(&q, sizeof(q), file, 1, &answer), 0);
	assert_int_not_equal(answer, -EINVAL);
	q.attr.config = UINT64_C(1) << bit;
	assert_int_equal(ask(&q, sizeof(q), file, 1, &answer), 0);
	assert_int_not_equal(answer, -EINVAL);
	q = probe_question();
	assert_refused(q, -1);
	q.pid = -1;
	assert_refused(q, file);
	/* A counter in the memory of the process (ref_ctr_offset). */
	q = probe_question();
	q.attr.config = UINT64_C(4096) << 32;
	assert_refused(q, file);
	q = probe_question();
	q.attr.sigtrap = 1;
	assert_refused(q, file);
	q = probe_question();
	q.attr.inherit = 1;
	assert_refused(q, file);
}

TEST(test_descriptors)
{
	struct perf_question q = clock_question();
	int before = next_fd();
	int32_t answer;

	for (size_t n = 2; n <= 4; n++) {
		assert_int_equal(ask(&q, sizeof(q), 0, n, &answer), -EBADMSG);
		assert_int_equal(answer, 1);
		assert_int_equal(next_fd(), before);
	}
	assert_int_equal(ask(&q, sizeof(q) - 1, 0, 1, &answer), -EBADMSG);
	assert_int_equal(next_fd(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_probes),
		cmocka_unit_test(test_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
