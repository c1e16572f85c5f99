/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms in the format of HdrHistogram's logs, compressed and in base64. */
#include "report/hdr.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

/* The cookies of HdrHistogram's V2, with a word size of 1. */
#define COOKIE		  0x1c849313u
#define COMPRESSED_COOKIE 0x1c849314u
#define HEADER		  40
#define DIGITS		  2
#define HIGHEST_NS	  UINT64_C(86400000000000)
#define MAX_VARINT	  9
#define MS		  1e6

/* Two digits: 256 values one by one, then 128 buckets for each power of two. */
static_assert(NM_HIST_SUB_BITS == 7, "the buckets of HdrHistogram with two digits");

static void put32(unsigned char *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(value >> (24 - 8 * i));
}

static void put64(unsigned char *to, uint64_t value)
{
	put32(to, (uint32_t)(value >> 32));
	put32(to + 4, (uint32_t)value);
}

/* ZigZag and LEB128; the ninth byte takes eight bits. */
static size_t put_count(unsigned char *to, int64_t value)
{
	uint64_t left = ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
	size_t n = 0;

	while (n < MAX_VARINT - 1 && left > 0x7f) {
		to[n++] = (unsigned char)(left | 0x80);
		left >>= 7;
	}
	to[n++] = (unsigned char)left;
	return n;
}

/* The counts up to the last that is not 0; a run of zeros is one negative number. */
static size_t put_counts(unsigned char *to, const struct nm_hist_snap *hist)
{
	unsigned last = nm_hist_index(HIGHEST_NS);
	uint64_t beyond = 0;
	int64_t zeros = 0;
	size_t used = 0;

	for (unsigned i = last + 1; i < NM_HIST_BUCKETS; i++)
		beyond += hist->bucket[i];
	for (unsigned i = 0; i <= last; i++) {
		uint64_t count = hist->bucket[i] + (i == last ? beyond : 0);

		if (!count) {
			zeros++;
			continue;
		}
		if (zeros)
			used += put_count(to + used, -zeros);
		zeros = 0;
		used += put_count(to + used, (int64_t)count);
	}
	return used;
}

static char *base64(const unsigned char *data, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *text = malloc((size + 2) / 3 * 4 + 1), *to = text;

	for (size_t i = 0; text && i < size; i += 3) {
		size_t left = size - i;
		uint32_t bits = (uint32_t)data[i] << 16 |
				(left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
				(left > 2 ? data[i + 2] : 0);

		*to++ = digits[bits >> 18];
		*to++ = digits[bits >> 12 & 63];
		*to++ = '=';
		*to++ = '=';
		if (left > 1)
			to[-2] = digits[bits >> 6 & 63];
		if (left > 2)
			to[-1] = digits[bits & 63];
	}
	if (text)
		*to = '\0';
	return text;
}

char *nm_hdr_encode(const struct nm_hist_snap *hist)
{
	const size_t room = HEADER + (size_t)NM_HIST_BUCKETS * MAX_VARINT;
	unsigned char *plain = calloc(1, room);
	uLongf packed_size = compressBound((uLong)room);
	unsigned char *packed = malloc(8 + packed_size);
	char *text = NULL;

	if (plain && packed) {
		size_t counts = put_counts(plain + HEADER, hist);
		const double ratio = 1;
		uint64_t ratio_bits;

		memcpy(&ratio_bits, &ratio, sizeof(ratio_bits));
		put32(plain, COOKIE);
		put32(plain + 4, (uint32_t)counts);
		put32(plain + 8, 0); /* not shifted */
		put32(plain + 12, DIGITS);
		put64(plain + 16, 1); /* the lowest value that can be told from 0 */
		put64(plain + 24, HIGHEST_NS);
		put64(plain + 32, ratio_bits);
		if (compress2(packed + 8, &packed_size, plain, (uLong)(HEADER + counts),
			      Z_DEFAULT_COMPRESSION) == Z_OK) {
			put32(packed, COMPRESSED_COOKIE);
			put32(packed + 4, (uint32_t)packed_size);
			text = base64(packed, 8 + packed_size);
		}
	}
	free(plain);
	free(packed);
	return text;
}

void nm_hdr_head(FILE *out, uint64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / 1000000000u);
	struct tm tm;
	char date[64] = "";

	if (gmtime_r(&seconds, &tm))
		strftime(date, sizeof(date), "%a %b %d %H:%M:%S UTC %Y", &tm);
	fprintf(out,
		"#[Logged by netmodel; values are nanoseconds]\n"
		"#[Histogram log format version 1.3]\n"
		"#[StartTime: %" PRIu64 ".%03" PRIu64 " (seconds since epoch), %s]\n"
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_"
		"Histogram\"\n",
		wall_ns / 1000000000u, wall_ns % 1000000000u / 1000000u, date);
}

int nm_hdr_line(FILE *out, const char *tag, double at_s, double seconds,
		const struct nm_hist_snap *hist)
{
	char *text = nm_hdr_encode(hist);

	if (!text)
		return -ENOMEM;
	if (*tag)
		fprintf(out, "Tag=%s,", tag);
	fprintf(out, "%.3f,%.3f,%.3f,%s\n", at_s, seconds,
		hist->count ? (double)hist->max_ns / MS : 0, text);
	free(text);
	return 0;
}
