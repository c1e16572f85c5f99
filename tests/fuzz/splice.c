/* SPDX-License-Identifier: Apache-2.0 */
/* A part of a text replaced by another. */
#include <string.h>

#include "fuzz.h"

size_t fuzz_splice(uint8_t *data, size_t size, size_t max_size, size_t at, size_t length,
		   const char *by, size_t by_length)
{
	if (size - length + by_length > max_size)
		return size;
	memmove(data + at + by_length, data + at + length, size - at - length);
	memcpy(data + at, by, by_length);
	return size - length + by_length;
}
