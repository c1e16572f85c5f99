/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a stream of bytes into frames, and puts frames into a queue of bytes. */
#include "control/wire/frame.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 4096u

/* Frames may contain secrets: freed memory keeps nothing of them. */
static void drop(char *data, size_t size)
{
	if (data)
		explicit_bzero(data, size);
	free(data);
}

/* Makes room for `more` bytes after `end`: moves the bytes that are there to the front, then
 * grows. */
static int make_room(char **data, size_t *begin, size_t *end, size_t *capacity, size_t more)
{
	if (*begin > 0) {
		memmove(*data, *data + *begin, *end - *begin);
		explicit_bzero(*data + *end - *begin, *begin);
		*end -= *begin;
		*begin = 0;
	}
	if (*capacity - *end >= more)
		return 0;
	size_t wanted = *capacity ? *capacity : FIRST_CAPACITY;

	while (wanted - *end < more)
		wanted *= 2;
	char *grown = malloc(wanted);
	if (!grown)
		return -ENOMEM;
	if (*end)
		memcpy(grown, *data, *end);
	drop(*data, *end);
	*data = grown;
	*capacity = wanted;
	return 0;
}

void nm_frame_reader_init(struct nm_frame_reader *reader, size_t max)
{
	*reader = (struct nm_frame_reader){.max = max};
}

void nm_frame_reader_fini(struct nm_frame_reader *reader)
{
	drop(reader->data, reader->end);
	*reader = (struct nm_frame_reader){.max = reader->max};
}

int nm_frame_reader_space(struct nm_frame_reader *reader, void **ret_space, size_t *ret_size)
{
	if (reader->end == reader->capacity) {
		int error = make_room(&reader->data, &reader->begin, &reader->end,
				      &reader->capacity, FIRST_CAPACITY / 2);
		if (error)
			return error;
	}
	*ret_space = reader->data + reader->end;
	*ret_size = reader->capacity - reader->end;
	return 0;
}

void nm_frame_reader_added(struct nm_frame_reader *reader, size_t size)
{
	reader->end += size;
}

int nm_frame_reader_look(const struct nm_frame_reader *reader, const char **ret_payload,
			 size_t *ret_there, size_t *ret_size)
{
	size_t there = reader->end - reader->begin;

	if (there < NM_FRAME_HEADER)
		return 0;
	const unsigned char *header = (const unsigned char *)reader->data + reader->begin;
	size_t size = (size_t)header[0] << 24 | (size_t)header[1] << 16 | (size_t)header[2] << 8 |
		      (size_t)header[3];
	if (size == 0)
		return -EBADMSG;
	there -= NM_FRAME_HEADER;
	*ret_payload = reader->data + reader->begin + NM_FRAME_HEADER;
	*ret_there = there < size ? there : size;
	*ret_size = size;
	return 1;
}

int nm_frame_reader_next(struct nm_frame_reader *reader, const char **ret_payload, size_t *ret_size)
{
	const char *payload;
	size_t there, size;
	int answer = nm_frame_reader_look(reader, &payload, &there, &size);

	if (answer <= 0)
		return answer;
	if (size > reader->max)
		return -EMSGSIZE;
	if (there < size)
		return 0;
	*ret_payload = payload;
	*ret_size = size;
	reader->begin += NM_FRAME_HEADER + size;
	return 1;
}

void nm_frame_reader_done(struct nm_frame_reader *reader, size_t size)
{
	explicit_bzero(reader->data + reader->begin - size, size);
}

void nm_frame_queue_fini(struct nm_frame_queue *queue)
{
	drop(queue->data, queue->end);
	*queue = (struct nm_frame_queue){.data = NULL};
}

int nm_frame_queue_add(struct nm_frame_queue *queue, const char *payload, size_t size)
{
	if (size == 0 || size > NM_FRAME_MAX)
		return -EMSGSIZE;
	if (queue->end - queue->begin + size > NM_FRAME_MAX_QUEUE)
		return -ENOBUFS;
	int error = make_room(&queue->data, &queue->begin, &queue->end, &queue->capacity,
			      NM_FRAME_HEADER + size);
	if (error)
		return error;
	unsigned char *to = (unsigned char *)queue->data + queue->end;

	to[0] = (unsigned char)(size >> 24);
	to[1] = (unsigned char)(size >> 16);
	to[2] = (unsigned char)(size >> 8);
	to[3] = (unsigned char)size;
	memcpy(to + NM_FRAME_HEADER, payload, size);
	queue->end += NM_FRAME_HEADER + size;
	return 0;
}

size_t nm_frame_queue_data(const struct nm_frame_queue *queue, const char **ret_data)
{
	*ret_data = queue->data ? queue->data + queue->begin : NULL;
	return queue->end - queue->begin;
}

void nm_frame_queue_sent(struct nm_frame_queue *queue, size_t size)
{
	explicit_bzero(queue->data + queue->begin, size);
	queue->begin += size;
	if (queue->begin == queue->end)
		queue->begin = queue->end = 0;
}
