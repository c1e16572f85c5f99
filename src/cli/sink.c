/* SPDX-License-Identifier: Apache-2.0 */
/* Writes to pipes, terminals and sockets without being held up by a slow reader. */
#include "cli/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/signals.h"
#include "host/clock.h"

#define FIRST_CAPACITY 4096u
#define LOOK_NS	       50000000u    /* between two looks whether a signal or a reader has come */
#define SIGNALLED_NS   2000000000u  /* for a reader when the program is to end */
#define PATIENCE_NS    10000000000u /* for a reader that takes nothing */
#define AT_ONCE_NS     1000000000u  /* for a reader when the program is to end at once */
#define PATIENCES      5u	    /* for a reader that may lose lines, in all */

uint64_t nm_sink_wait_until_ns(const struct nm_sink_wait *wait)
{
	uint64_t begin_ns = wait->begin_ns, taken_ns = wait->taken_ns;
	uint64_t until_ns =
		wait->patience_ns == UINT64_MAX ? UINT64_MAX : taken_ns + wait->patience_ns;

	if (wait->total_ns && begin_ns + wait->total_ns < until_ns)
		until_ns = begin_ns + wait->total_ns;
	if (wait->signals) {
		uint64_t from_ns = wait->signal_ns > taken_ns ? wait->signal_ns : taken_ns;

		until_ns = from_ns + SIGNALLED_NS < until_ns ? from_ns + SIGNALLED_NS : until_ns;
	}
	/* From here on a reader that takes a little now and then does not keep the program. */
	if (wait->signals >= 2) {
		uint64_t from_ns = wait->signal_ns > begin_ns ? wait->signal_ns : begin_ns;

		until_ns = from_ns + AT_ONCE_NS < until_ns ? from_ns + AT_ONCE_NS : until_ns;
	}
	return until_ns;
}

uint64_t nm_sink_patience_ns(uint64_t timeout_ns)
{
	return timeout_ns > PATIENCE_NS ? timeout_ns : PATIENCE_NS;
}

/* Waits a moment for the descriptor (-1: for none): 0, or -errno when the wait is over. */
static int wait_a_moment(struct nm_sink_wait *wait, int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLOUT};
	uint64_t now_ns = nm_clock_ns();

	wait->signals = nm_signals_count(&wait->signal_ns);
	uint64_t until_ns = nm_sink_wait_until_ns(wait);

	if (now_ns >= until_ns)
		return wait->signals ? -EINTR : -ETIMEDOUT;
	uint64_t rest_ns = until_ns - now_ns < LOOK_NS ? until_ns - now_ns : LOOK_NS;

	(void)poll(&pfd, 1, (int)(rest_ns / 1000000) + 1);
	return 0;
}

/* Writes as much as the descriptor takes now: the number of bytes, or -errno. */
static ssize_t write_now(const struct nm_sink *sink, const char *bytes, size_t size)
{
	struct pollfd pfd = {.fd = sink->fd, .events = POLLOUT};
	ssize_t n;

	do {
		if (sink->way == NM_SINK_SOCKET) {
			n = send(sink->fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
		} else if (sink->way != NM_SINK_POLLED) {
			n = write(sink->fd, bytes, size);
		} else if (poll(&pfd, 1, 0) > 0) {
			/* A pipe that can be written takes so much. */
			n = write(sink->fd, bytes, size < PIPE_BUF ? size : PIPE_BUF);
		} else {
			return -EAGAIN;
		}
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Counts a line of the present part. */
static void drop_line(struct nm_sink *sink)
{
	sink->dropped++;
	if (sink->n_parts)
		sink->parts[sink->n_parts - 1].dropped++;
}

/* Counts the lines in the queue, each in its part, and empties it. */
static void drop_queue(struct nm_sink *sink)
{
	size_t part = sink->n_parts;

	for (size_t i = sink->to; i-- > sink->from;) {
		uint64_t at_bytes = sink->left_bytes + (i - sink->from);

		if (sink->queue[i] != '\n')
			continue;
		while (part && sink->parts[part - 1].begin_bytes > at_bytes)
			part--;
		sink->dropped++;
		if (part)
			sink->parts[part - 1].dropped++;
	}
	sink->left_bytes += sink->to - sink->from;
	sink->from = sink->to = 0;
}

static int open_to_write(const char *path)
{
	return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Opens the descriptor's file once more, without blocking: O_NONBLOCK on the descriptor itself
 * would concern every process that shares it. -1: that cannot be done. */
static int open_again(int fd)
{
	char path[32];

	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return open_to_write(path);
}

/* Whether the reader of a sink that forgives has gone. */
static bool has_gone(const struct nm_sink *sink, ssize_t error)
{
	return sink->forgives && (error == -EPIPE || error == -ECONNRESET || error == -ENOTCONN ||
				  (error == -EIO && sink->terminal));
}

/* Whether there is no reader, and none can come. */
static bool is_deserted(const struct nm_sink *sink)
{
	return sink->fd < 0 && sink->fifo_fd < 0;
}

/* Another reader of a FIFO may come; it begins with a whole line. */
static void lose_reader(struct nm_sink *sink)
{
	drop_queue(sink);
	if (sink->in_line && !sink->dropping)
		drop_line(sink);
	sink->dropping = sink->in_line;
	if (sink->owns_fd)
		(void)close(sink->fd);
	sink->owns_fd = false;
	sink->fd = -1;
}

/* The same FIFO again, whatever its path names now. */
static bool find_reader(struct nm_sink *sink)
{
	int fd = sink->fifo_fd >= 0 ? open_again(sink->fifo_fd) : -1;

	sink->fd = fd;
	sink->owns_fd = fd >= 0;
	sink->way = fd >= 0 ? NM_SINK_NONBLOCKING : sink->way;
	return fd >= 0;
}

/* Writes as much of the queue as the reader takes now. */
static void push(struct nm_sink *sink)
{
	if (sink->fd < 0 && !find_reader(sink))
		return;
	while (sink->from < sink->to && !sink->error) {
		ssize_t n = write_now(sink, sink->queue + sink->from, sink->to - sink->from);

		if (n == -EAGAIN)
			return;
		if (has_gone(sink, n)) {
			lose_reader(sink);
			return;
		}
		if (n < 0) {
			sink->error = (int)-n;
			continue;
		}
		sink->from += (size_t)n;
		sink->left_bytes += (uint64_t)n;
		if (n > 0)
			nm_signals_alive();
	}
	sink->from = sink->to = 0;
}

static bool append(struct nm_sink *sink, const char *bytes, size_t size)
{
	if (sink->from && sink->to + size > sink->capacity) {
		memmove(sink->queue, sink->queue + sink->from, sink->to - sink->from);
		sink->to -= sink->from;
		sink->from = 0;
	}
	if (sink->to + size > sink->capacity) {
		size_t capacity = sink->capacity;

		while (capacity < sink->to + size)
			capacity *= 2;
		char *grown = realloc(sink->queue, capacity);

		if (!grown)
			return false;
		sink->queue = grown;
		sink->capacity = capacity;
	}
	memcpy(sink->queue + sink->to, bytes, size);
	sink->to += size;
	return true;
}

/* Whether a line is kept is decided at its begin. */
static void queue_lines(struct nm_sink *sink, const char *bytes, size_t size)
{
	while (size) {
		const char *end = memchr(bytes, '\n', size);
		size_t n = end ? (size_t)(end - bytes) + 1 : size;

		if (!sink->in_line) {
			sink->dropping =
				is_deserted(sink) || sink->to - sink->from + n > sink->room;
			if (sink->dropping)
				drop_line(sink);
		}
		if (!sink->dropping && !append(sink, bytes, n)) {
			sink->dropping = true;
			drop_line(sink);
		}
		sink->in_line = !end;
		bytes += n;
		size -= n;
	}
}

/* The write function of the stream. */
static ssize_t take(void *cookie, const char *bytes, size_t size)
{
	struct nm_sink *sink = cookie;

	push(sink);
	if (!sink->error && sink->waits && !is_deserted(sink)) {
		if (!append(sink, bytes, size))
			sink->error = ENOMEM;
		else
			(void)nm_sink_drain(sink);
	} else if (!sink->error) {
		queue_lines(sink, bytes, size);
		push(sink);
	}
	errno = sink->error;
	return sink->error ? 0 : (ssize_t)size;
}

static int open_stream(struct nm_sink *sink)
{
	static const cookie_io_functions_t functions = {.write = take};

	/* So that no memory is needed for what is told first. */
	sink->queue = malloc(FIRST_CAPACITY);
	sink->capacity = FIRST_CAPACITY;
	sink->stream = sink->queue ? fopencookie(sink, "w", functions) : NULL;
	if (sink->stream)
		return 0;
	free(sink->queue);
	sink->queue = NULL;
	return -ENOMEM;
}

static int open_on(struct nm_sink *sink, int fd, size_t room, bool owns_fd)
{
	struct stat st;

	*sink = (struct nm_sink){.fd = fd,
				 .owns_fd = owns_fd,
				 .room = room,
				 .patience_ns = PATIENCE_NS,
				 .fifo_fd = -1};
	if (fstat(fd, &st) != 0)
		return -errno;
	if (S_ISREG(st.st_mode)) {
		sink->way = NM_SINK_REGULAR;
	} else if (S_ISSOCK(st.st_mode)) {
		sink->way = NM_SINK_SOCKET;
	} else {
		/* A descriptor that is only read is not made writable. */
		bool is_read = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
		int again = is_read ? -1 : open_again(fd);

		sink->terminal = isatty(fd);
		sink->way = again >= 0 ? NM_SINK_NONBLOCKING : NM_SINK_POLLED;
		if (again >= 0 && owns_fd)
			(void)close(fd);
		if (again >= 0) {
			sink->fd = again;
			sink->owns_fd = true;
		}
	}
	return open_stream(sink);
}

int nm_sink_open_fd(struct nm_sink *sink, int fd, size_t room)
{
	int error = open_on(sink, fd, room, false);

	if (error && sink->owns_fd)
		(void)close(sink->fd);
	return error;
}

int nm_sink_take_fd(struct nm_sink *sink, int fd, size_t room)
{
	int error = open_on(sink, fd, room, true);

	if (error)
		(void)close(sink->fd);
	return error;
}

/* A descriptor that only stands for the FIFO, or -1: the path names none. */
static int hold_fifo(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISFIFO(st.st_mode))) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

static bool is_fifo(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

int nm_sink_open_path(struct nm_sink *sink, const char *path, size_t room, uint64_t patience_ns)
{
	uint64_t now_ns = nm_clock_ns();
	struct nm_sink_wait wait = {
		.begin_ns = now_ns, .taken_ns = now_ns, .patience_ns = patience_ns};
	int fd;

	*sink = (struct nm_sink){.stream = NULL};
	/* A FIFO without a reader cannot be opened for writing. */
	while ((fd = open_to_write(path)) < 0) {
		int error = -errno;

		if (error == -ENXIO && !is_fifo(path))
			return -ENODEV;
		if (error != -EINTR && error != -ENXIO)
			return error;
		if (wait_a_moment(&wait, -1) != 0)
			return error;
	}
	int error = nm_sink_take_fd(sink, fd, room);

	sink->patience_ns = patience_ns;
	return error;
}

int nm_sink_open_for_follower(struct nm_sink *sink, const char *path, size_t room,
			      uint64_t patience_ns)
{
	int fifo_fd = hold_fifo(path);
	int error = nm_sink_open_path(sink, path, room, patience_ns);

	if (error == -ENXIO && fifo_fd >= 0) {
		*sink = (struct nm_sink){.fd = -1,
					 .way = NM_SINK_NONBLOCKING,
					 .room = room,
					 .patience_ns = patience_ns};
		error = open_stream(sink);
	}
	if (error && fifo_fd >= 0)
		(void)close(fifo_fd);
	sink->fifo_fd = fifo_fd;
	sink->forgives = true;
	return error;
}

int nm_sink_flush(struct nm_sink *sink)
{
	if (!sink->stream)
		return 0;
	if (fflush(sink->stream) != 0 && !sink->error)
		sink->error = errno ? errno : EIO;
	/* A text without an end of line, such as a live line, ends here. */
	sink->in_line = false;
	if (!sink->error)
		push(sink);
	return -sink->error;
}

int nm_sink_write(struct nm_sink *sink, const char *bytes, size_t size)
{
	(void)nm_sink_flush(sink);
	(void)take(sink, bytes, size);
	return -sink->error;
}

int nm_sink_drain(struct nm_sink *sink)
{
	uint64_t now_ns = nm_clock_ns();
	bool endless = sink->terminal && !sink->forgives;
	struct nm_sink_wait wait = {.taken_ns = now_ns,
				    .patience_ns = endless ? UINT64_MAX : sink->patience_ns,
				    .total_ns = sink->forgives ? PATIENCES * sink->patience_ns : 0};
	size_t left = sink->to - sink->from;

	sink->begin_ns = sink->begin_ns ? sink->begin_ns : now_ns;
	wait.begin_ns = sink->begin_ns;
	push(sink);
	while (!sink->error && sink->from < sink->to) {
		if (sink->to - sink->from < left)
			wait.taken_ns = nm_clock_ns();
		left = sink->to - sink->from;
		int error = wait_a_moment(&wait, sink->fd);

		if (error && sink->forgives)
			return 0;
		sink->error = -error;
		push(sink);
	}
	return -sink->error;
}

int nm_sink_begin_part(struct nm_sink *sink)
{
	int error = nm_sink_flush(sink);

	if (error)
		return error;
	struct nm_sink_part *parts =
		reallocarray(sink->parts, sink->n_parts + 1, sizeof(*sink->parts));

	if (!parts)
		return -ENOMEM;
	sink->parts = parts;
	sink->parts[sink->n_parts++] =
		(struct nm_sink_part){.begin_bytes = sink->left_bytes + (sink->to - sink->from)};
	return 0;
}

uint64_t nm_sink_part_dropped(const struct nm_sink *sink, size_t part)
{
	return part < sink->n_parts ? sink->parts[part].dropped : 0;
}

int nm_sink_finish(struct nm_sink *sink)
{
	if (!sink->stream)
		return 0;
	int error = nm_sink_flush(sink);

	if (!error && sink->waits)
		error = nm_sink_drain(sink);
	drop_queue(sink);
	return error;
}

int nm_sink_close(struct nm_sink *sink)
{
	int error = nm_sink_finish(sink);

	if (!sink->stream)
		return 0;
	(void)fclose(sink->stream);
	if (sink->owns_fd && close(sink->fd) != 0 && !error)
		error = -errno;
	if (sink->fifo_fd >= 0)
		(void)close(sink->fifo_fd);
	free(sink->queue);
	free(sink->parts);
	sink->queue = NULL;
	sink->parts = NULL;
	sink->n_parts = 0;
	sink->stream = NULL;
	sink->from = sink->to = sink->capacity = 0;
	return error;
}
