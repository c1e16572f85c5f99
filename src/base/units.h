/* SPDX-License-Identifier: Apache-2.0 */
/* Values with units, as users write them. The whole string must be used, but for letters that uperf
 * leaves unread, too: those behind the first one of the suffix of a size, count or duration. All
 * parsers return 0, 1 (taken, but it may not mean what the writer meant: such letters, or the bare
 * m of a duration), -EINVAL (not of the form) or -ERANGE (does not fit), and write the value only
 * on success. */
#ifndef NM_BASE_UNITS_H
#define NM_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* "64k", "1.5m", "90b", "64KiB", "2g": bytes; suffixes are powers of 1024, any case. */
int nm_parse_size(const char *text, uint64_t *ret_bytes);
/* A count: as size, but without the byte words: "1000", "1k" (1024). */
int nm_parse_count(const char *text, uint64_t *ret_count);
/* Digits only. */
int nm_parse_integer(const char *text, uint64_t *ret);
/* "10ms", "1.5s", "250us", "100ns", "2" (seconds), "2m" (milliseconds, as uperf has it):
 * nanoseconds. */
int nm_parse_duration(const char *text, uint64_t *ret_ns);
/* Events a second: "1000", "0.5", "10k" (1024 based, as uperf has it), "100/s". */
int nm_parse_rate(const char *text, double *ret_per_s);
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
