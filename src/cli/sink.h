/* SPDX-License-Identifier: Apache-2.0 */
/* A sink: a descriptor that is written without its reader holding the program up. Regular files
 * take all at once. Of a pipe, a terminal or a socket, whole lines that do not fit are dropped and
 * counted, or, for what must not be lost, their reader is waited for until a deadline. */
#ifndef NM_CLI_SINK_H
#define NM_CLI_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum nm_sink_way { NM_SINK_REGULAR, NM_SINK_SOCKET, NM_SINK_NONBLOCKING, NM_SINK_POLLED };

/* Zero-initialised and with a stream of NULL: not open. */
struct nm_sink {
	FILE *stream; /* to be written; buffered until nm_sink_flush; NULL: not open */
	int fd;
	bool owns_fd;
	enum nm_sink_way way;
	bool terminal;	      /* its reader sits there, and is not timed */
	bool waits;	      /* for its reader: nothing is dropped. May be set at any time */
	uint64_t patience_ns; /* how long, while nothing is taken; 10 s at first */
	uint64_t begin_ns;    /* when it was first waited for; 0: not yet */
	size_t room;	      /* how many bytes of lines may stand in the queue */
	char *queue;	      /* owned; what has not been taken yet: */
	size_t from, to, capacity;
	bool in_line, dropping; /* what came last has not ended its line; this line is dropped */
	uint64_t dropped;	/* lines */
	int error;		/* errno of the first failure; nothing is written after it */
};

/* Opens a sink on a descriptor of the process, which stays open, for lines of which `room` bytes
 * may wait: 0 or -errno. Call nm_sink_close. */
int nm_sink_open_fd(struct nm_sink *sink, int fd, size_t room);
/* As nm_sink_open_fd, on a descriptor that the sink closes; it is closed after an error, too. */
int nm_sink_take_fd(struct nm_sink *sink, int fd, size_t room);
/* Opens a file that is there and is not a regular one. A FIFO's reader is waited for as long as
 * patience_ns allows; -ENXIO: none came. */
int nm_sink_open_path(struct nm_sink *sink, const char *path, size_t room, uint64_t patience_ns);
/* Ends what the stream has: gives it to the queue, and as much of that to the reader as it takes
 * now; with `waits`, all. 0, or -errno of the sink. */
int nm_sink_flush(struct nm_sink *sink);
/* Writes bytes in one piece, behind what the stream has: 0, or -errno of the sink. */
int nm_sink_write(struct nm_sink *sink, const char *bytes, size_t size);
/* Waits until the reader has taken all: 0, or -errno of the sink; -ETIMEDOUT: nobody reads, -EINTR:
 * nobody did after a signal. What is not taken is lost. */
int nm_sink_drain(struct nm_sink *sink);
/* Flushes and closes: 0 or -errno. What has not been taken is dropped, unless the sink waits.
 * Accepts one that is not open. */
int nm_sink_close(struct nm_sink *sink);

/* How long a reader is waited for in a program with such a --timeout. */
uint64_t nm_sink_patience_ns(uint64_t timeout_ns);

/* When a writer whose reader takes nothing gives up. */
struct nm_sink_wait {
	uint64_t begin_ns, taken_ns; /* of the wait, and when something was taken last */
	uint64_t patience_ns;	     /* UINT64_MAX: only signals end it */
	unsigned signals;	     /* that ask the program to end */
	uint64_t signal_ns;	     /* when the last of them came */
};
uint64_t nm_sink_wait_until_ns(const struct nm_sink_wait *wait);

#endif
