/* SPDX-License-Identifier: Apache-2.0 */
/* Values with units, as users write them. The whole string must be used, but for letters that
 * uperf leaves unread, too. All parsers return 0, 1 (taken, but it may not mean what the writer
 * meant: such letters, or the bare m of a duration of uperf's), -EINVAL (not of the form), -EDOM
 * (the bare m of a duration of netmodel's, which may mean two things) or -ERANGE (does not fit),
 * and write the value only on success. */
#ifndef NM_BASE_UNITS_H
#define NM_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* How suffixes are read. */
enum nm_reading {
	/* k of a count or a rate is 1000; a duration has min and h, and no bare m */
	NM_READING_NETMODEL,
	/* k of a count or a rate is 1024; m of a duration is milliseconds, and there is no min; of
	 * any other suffix of letters the first one counts */
	NM_READING_UPERF,
};

/* "64k", "1.5m", "90b", "64KiB", "2g": bytes; suffixes are powers of 1024 in both readings, any
 * case. */
int nm_parse_size(const char *text, enum nm_reading reading, uint64_t *ret_bytes);
/* A count: as size, but without the byte words: "1000", "1k". */
int nm_parse_count(const char *text, enum nm_reading reading, uint64_t *ret_count);
/* Digits only. */
int nm_parse_integer(const char *text, uint64_t *ret);
/* "12", "12.", "12.5", ".5": in units of 10^-digits; further digits of the fraction are left out.
 * What is before the point is `most` at most, which leaves room for so many digits. */
int nm_parse_decimal(const char *text, unsigned digits, uint64_t most, uint64_t *ret);
/* "10ms", "1.5s", "250us", "100ns", "2" (seconds), "5min", "1h": nanoseconds. */
int nm_parse_duration(const char *text, enum nm_reading reading, uint64_t *ret_ns);
/* Events a second: "1000", "0.5", "10k", "100/s". */
int nm_parse_rate(const char *text, enum nm_reading reading, double *ret_per_s);
/* Bit rate: "2.5Gb/s", "100Mb/s", "10MB/s" (bytes, 1000 based), "1000" (bits a second): bits per
 * second. */
int nm_parse_bitrate(const char *text, double *ret_bps);

/* Human forms into buf, alike in every locale; they return buf. "1.25 Gb/s", "12.3 us", "1.50 MiB",
 * and of amounts that stand beside bit rates, in their powers of 1000, "1.57 MB"; "-" for a value
 * that is not a number. */
char *nm_format_bitrate(double bps, char *buf, size_t size);
char *nm_format_duration(double seconds, char *buf, size_t size);
char *nm_format_size(double bytes, char *buf, size_t size);
char *nm_format_amount(double bytes, char *buf, size_t size);
char *nm_format_count(double value, char *buf, size_t size);

#endif
