/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of the control connection: 4 bytes of length, big-endian, then so many bytes. No I/O here:
 * the caller puts bytes that arrive into a reader, and takes bytes to be sent from a queue, both in
 * pieces of any size. */
#ifndef NM_CONTROL_WIRE_FRAME_H
#define NM_CONTROL_WIRE_FRAME_H

#include <stddef.h>

#define NM_FRAME_HEADER	   4u
#define NM_FRAME_MAX	   (64u << 20)	       /* of any message; see limits.h */
#define NM_FRAME_MAX_QUEUE (2u * NM_FRAME_MAX) /* for a peer which does not read */

struct nm_frame_reader {
	char *data; /* owned; grows with the bytes that arrive, not with the length in a header */
	size_t begin, end, capacity;
	size_t max; /* longest payload taken; may be changed between frames */
};

/* An empty reader that takes payloads of at most max bytes. */
void nm_frame_reader_init(struct nm_frame_reader *reader, size_t max);
/* Frees the memory of the reader, which may be used again. */
void nm_frame_reader_fini(struct nm_frame_reader *reader);
/* Where the next bytes go and how many fit (at least one). 0 or -ENOMEM. */
int nm_frame_reader_space(struct nm_frame_reader *reader, void **ret_space, size_t *ret_size);
/* Tells that so many bytes were put into the space. */
void nm_frame_reader_added(struct nm_frame_reader *reader, size_t size);
/* Looks at the next frame: 1 with the length that its header announces and the *ret_there bytes of
 * its payload that are there (borrowed until the next call of space), 0 when its header is not
 * there yet, -EBADMSG when it is empty. */
int nm_frame_reader_look(const struct nm_frame_reader *reader, const char **ret_payload,
			 size_t *ret_there, size_t *ret_size);
/* 1 with a payload (borrowed until the next call of space), 0 when there is no whole frame yet,
 * -EMSGSIZE when one is announced that is longer than allowed, -EBADMSG when it is empty. */
int nm_frame_reader_next(struct nm_frame_reader *reader, const char **ret_payload,
			 size_t *ret_size);
/* Wipes the payload that the last call of nm_frame_reader_next has given, of `size` bytes. */
void nm_frame_reader_done(struct nm_frame_reader *reader, size_t size);

struct nm_frame_queue {
	char *data; /* owned */
	size_t begin, end, capacity;
};

/* Frees the bytes that wait; the queue is empty then, and may be used again. */
void nm_frame_queue_fini(struct nm_frame_queue *queue);
/* Copies one frame to the end. 0, -ENOMEM, -EMSGSIZE (not a payload that a peer takes) or -ENOBUFS
 * (too much waits). */
int nm_frame_queue_add(struct nm_frame_queue *queue, const char *payload, size_t size);
/* The bytes to be sent next; the size is 0 when there are none. */
size_t nm_frame_queue_data(const struct nm_frame_queue *queue, const char **ret_data);
/* Tells that so many bytes of the queue were sent. */
void nm_frame_queue_sent(struct nm_frame_queue *queue, size_t size);

#endif
