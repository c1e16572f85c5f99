/* SPDX-License-Identifier: Apache-2.0 */
/* A sink: a descriptor that is written without its reader holding the program up. Regular files
 * take all at once. For a pipe, a terminal or a socket, whole lines that do not fit are dropped and
 * counted or, if none may be lost, wait for the reader until a deadline. */
#ifndef NM_CLI_SINK_H
#define NM_CLI_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum nm_sink_way { NM_SINK_REGULAR, NM_SINK_SOCKET, NM_SINK_NONBLOCKING, NM_SINK_POLLED };

/* Lines that are counted apart from those before and behind them. */
struct nm_sink_part {
	uint64_t begin_bytes; /* what had been queued before it */
	uint64_t dropped;     /* lines */
};

/* Zero-initialised and with a stream of NULL: not open. */
struct nm_sink {
	FILE *stream; /* to be written; buffered until nm_sink_flush; NULL: not open */
	int fd;	      /* -1: there is no reader */
	bool owns_fd;
	enum nm_sink_way way;
	bool terminal;	      /* its reader is a person; not timed, unless the sink forgives */
	bool waits;	      /* for its reader: nothing is dropped. May be set at any time */
	uint64_t patience_ns; /* how long, while nothing is taken; 10 s at first */
	uint64_t begin_ns;    /* when the first wait for the reader began; 0: not yet */
	size_t room;	      /* bytes of lines that may stand in the queue */
	char *queue;	      /* owned; the bytes that the reader has not taken yet: */
	size_t from, to, capacity;
	uint64_t left_bytes;	    /* what has left the queue */
	struct nm_sink_part *parts; /* owned */
	size_t n_parts;
	bool in_line, dropping; /* the last bytes have not ended their line; it is dropped */
	uint64_t dropped;	/* lines */
	bool forgives; /* a reader that is not there, or goes away, is no error: it loses lines */
	int fifo_fd;   /* stands for a FIFO that more readers may open; -1: there is none */
	int error;     /* errno of the first failure; nothing is written after it */
};

/* Opens a sink on a descriptor of the process, which stays open, for lines of which `room` bytes
 * may wait: 0 or -errno. Call nm_sink_close. */
int nm_sink_open_fd(struct nm_sink *sink, int fd, size_t room);
/* As nm_sink_open_fd, on a descriptor that the sink closes; it is closed after an error, too. */
int nm_sink_take_fd(struct nm_sink *sink, int fd, size_t room);
/* Opens a file that is there and is not a regular one. A FIFO's reader is waited for as long as
 * patience_ns allows; -ENXIO: none came, -ENODEV: nothing can be written there. */
int nm_sink_open_path(struct nm_sink *sink, const char *path, size_t room, uint64_t patience_ns);
/* As nm_sink_open_path, but a sink that forgives: lines wait in the queue for a FIFO's reader that
 * has not come in time, or for the next one. It is looked for at the FIFO that path names now. */
int nm_sink_open_for_follower(struct nm_sink *sink, const char *path, size_t room,
			      uint64_t patience_ns);
/* Flushes the stream into the queue, and gives the reader as much of that as it takes now; with
 * `waits`, all. 0, or -errno of the sink. */
int nm_sink_flush(struct nm_sink *sink);
/* Writes bytes in one piece, behind those in the stream: 0, or -errno of the sink. */
int nm_sink_write(struct nm_sink *sink, const char *bytes, size_t size);
/* Waits until the reader has taken all: 0, or -errno of the sink; -ETIMEDOUT: the reader takes
 * nothing, -EINTR: it took nothing after a signal. The bytes that are left are lost. */
int nm_sink_drain(struct nm_sink *sink);
/* Begins the next part, number 0 first: lines from here on are counted there too. 0, or -errno: the
 * present part goes on. */
int nm_sink_begin_part(struct nm_sink *sink);
/* Lines of a part that were dropped so far. */
uint64_t nm_sink_part_dropped(const struct nm_sink *sink, size_t part);
/* Flushes, and drops what nm_sink_close would drop, which then only closes: all that was dropped is
 * counted. 0 or -errno. */
int nm_sink_finish(struct nm_sink *sink);
/* Flushes and closes: 0 or -errno. Bytes that the reader has not taken are dropped, unless the sink
 * waits; of a sink that forgives they are dropped after the wait, too. Accepts one that is not
 * open. */
int nm_sink_close(struct nm_sink *sink);

/* How long a program with that --timeout waits for a reader. */
uint64_t nm_sink_patience_ns(uint64_t timeout_ns);

/* When a writer whose reader takes nothing gives up. */
struct nm_sink_wait {
	uint64_t begin_ns, taken_ns; /* when the wait began, and when bytes were taken last */
	uint64_t patience_ns;	     /* UINT64_MAX: only signals end it */
	unsigned signals;	     /* that ask the program to end */
	uint64_t signal_ns;	     /* when the last signal came */
	uint64_t total_ns;	     /* the end, however much is taken; 0: there is none */
};
uint64_t nm_sink_wait_until_ns(const struct nm_sink_wait *wait);

#endif
