/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"

#include <check.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))
#define UNTOUCHED	0x5a5a5a5a5a5a5a5aULL

#define OURS   NM_READING_NETMODEL
#define UPERFS NM_READING_UPERF

typedef int (*parse_fn)(const char *text, enum nm_reading reading, uint64_t *ret);
typedef int (*parse_real_fn)(const char *text, enum nm_reading reading, double *ret);

/* In the form of the others; these are read in one way only. */
static int parse_integer(const char *text, enum nm_reading reading, uint64_t *ret)
{
	(void)reading;
	return nm_parse_integer(text, ret);
}

static int parse_bitrate(const char *text, enum nm_reading reading, double *ret)
{
	(void)reading;
	return nm_parse_bitrate(text, ret);
}

struct whole {
	const char *text;
	uint64_t value;
};

struct real {
	const char *text;
	double value;
};

static void assert_whole(parse_fn parse, enum nm_reading reading, const struct whole *good)
{
	uint64_t value = UNTOUCHED;
	int r = parse(good->text, reading, &value);

	ck_assert_msg(r == 0 && value == good->value, "\"%s\": %d, %llu", good->text, r,
		      (unsigned long long)value);
}

static void assert_real(parse_real_fn parse, enum nm_reading reading, const struct real *good)
{
	double value = -1;
	int r = parse(good->text, reading, &value);

	ck_assert_msg(r == 0 && fabs(value - good->value) <= 1e-15 * good->value,
		      "\"%s\": %d, %.17g", good->text, r, value);
}

static void assert_refused(parse_fn parse, enum nm_reading reading, const char *text, int expected)
{
	uint64_t value = UNTOUCHED;
	int r = parse(text, reading, &value);

	ck_assert_msg(r == expected && value == UNTOUCHED, "\"%s\": %d, %llu", text, r,
		      (unsigned long long)value);
}

static void assert_real_refused(parse_real_fn parse, enum nm_reading reading, const char *text,
				int expected)
{
	double value = -1;
	int r = parse(text, reading, &value);

	ck_assert_msg(r == expected && fabs(value + 1) < 1e-9, "\"%s\": %d, %g", text, r, value);
}

/* Not a number in any unit. */
static const char *const never[] = {
	"",	    " ",    "-1",	 "+1",	"-0",	    " 1",	  "1 ",	   "1 k",
	"\t1",	    "1\n",  "0x10",	 "1e3", "1E3",	    "inf",	  "nan",   "NaN",
	"infinity", "k",    "s",	 ".",	".k",	    ".s",	  "1.",	   "1.k",
	"1.s",	    "1..5", "1.2.3",	 "1,5", "1,000",    "1'000",	  "1_000", "--1",
	"1-",	    "1k2",  "rand(1,2)", "$x",	"\xd9\xa1", "1\xc2\xa0k", "1k/",   "1%",
};

START_TEST(what_no_parser_takes)
{
	for (int r = OURS; r <= UPERFS; r++) {
		enum nm_reading reading = (enum nm_reading)r;

		assert_refused(nm_parse_size, reading, never[_i], -EINVAL);
		assert_refused(nm_parse_count, reading, never[_i], -EINVAL);
		assert_refused(nm_parse_duration, reading, never[_i], -EINVAL);
		assert_real_refused(nm_parse_rate, reading, never[_i], -EINVAL);
		assert_real_refused(parse_bitrate, reading, never[_i], -EINVAL);
	}
}
END_TEST

static const struct whole sizes[] = {
	{"0", 0},
	{"1", 1},
	{"007", 7},
	{"64", 64},
	{"90b", 90},
	{"90B", 90},
	{"64k", 65536},
	{"64K", 65536},
	{"64kb", 65536},
	{"64KB", 65536},
	{"64KiB", 65536},
	{"64kib", 65536},
	{"5120b", 5120},
	{"1m", 1048576},
	{"1MiB", 1048576},
	{"2g", 2147483648},
	{"2GB", 2147483648},
	{"1t", 1099511627776},
	{"1TiB", 1099511627776},
	{"1.5k", 1536},
	{".5k", 512},
	{"0.5k", 512},
	{"1.0", 1},
	{"1.000b", 1},
	{"0.25m", 262144},
	{"1.0001k", 1024}, /* rounded to a byte */
	{"1.9999k", 2048},
	{"1.99999999999999999999999999999999999999k", 2048},
	{"0.00000000000000000000000000000000000001k", 0},
	{"1.5000000000000000000000000000000000000000000000000000000000000000000000000000000k",
	 1536},
	{"9007199254740993", 9007199254740993}, /* more than a double holds */
	{"9007199254740991.5k", 9223372036854775296U},
	{"18446744073709551615", UINT64_MAX},
	{"18446744073709551615b", UINT64_MAX},
	{"18014398509481983k", 18446744073709550592U},
	{"18014398509481983.5k", 18446744073709551104U},
};

START_TEST(sizes_that_are_right)
{
	assert_whole(nm_parse_size, OURS, &sizes[_i]);
	assert_whole(nm_parse_size, UPERFS, &sizes[_i]);
}
END_TEST

static const char *const not_sizes[] = {
	"12q", "1.5", "0.5b", "1.5B", "1s", "1ib", "1p", "1kB/s", "1k 1", "1k2", "1.5bit",
};

START_TEST(sizes_that_are_wrong)
{
	assert_refused(nm_parse_size, OURS, not_sizes[_i], -EINVAL);
	assert_refused(nm_parse_size, UPERFS, not_sizes[_i], -EINVAL);
}
END_TEST

/* uperf reads one letter of the suffix. */
static const struct whole loose_sizes[] = {
	{"1kbit", 1024}, {"1kk", 1024},	     {"1ms", 1048576},	    {"1.5ki", 1536},
	{"1bb", 1},	 {"3mfoo", 3145728}, {"2Gbit", 2147483648},
};

static void assert_loose(parse_fn parse, const struct whole *loose)
{
	uint64_t value = UNTOUCHED;
	int r = parse(loose->text, UPERFS, &value);

	ck_assert_msg(r == 1 && value == loose->value, "\"%s\": %d, %llu", loose->text, r,
		      (unsigned long long)value);
}

START_TEST(sizes_with_letters_unread)
{
	assert_loose(nm_parse_size, &loose_sizes[_i]);
	assert_refused(nm_parse_size, OURS, loose_sizes[_i].text, -EINVAL);
}
END_TEST

static const char *const large_sizes[] = {
	"18446744073709551616",
	"18446744073709551620",
	"99999999999999999999",
	"18014398509481984k",
	"99999999t",
	"17179869184g",
	"16777216t",
	"18014398509481983.9999k",
	"99999999999999999999999999999999999999999999999999999999k",
};

START_TEST(sizes_that_do_not_fit)
{
	assert_refused(nm_parse_size, OURS, large_sizes[_i], -ERANGE);
	assert_refused(nm_parse_size, UPERFS, large_sizes[_i], -ERANGE);
}
END_TEST

static const struct whole counts[] = {
	{"0", 0},	{"1000", 1000},	 {"1k", 1000},	     {"1K", 1000},
	{"1.5k", 1500}, {"2m", 2000000}, {"1G", 1000000000}, {"18446744073709551615", UINT64_MAX},
};

START_TEST(a_count_is_decimal)
{
	assert_whole(nm_parse_count, OURS, &counts[_i]);
}
END_TEST

static const struct whole uperfs_counts[] = {
	{"0", 0},	{"1000", 1000},	 {"1k", 1024},	     {"1K", 1024},
	{"1.5k", 1536}, {"2m", 2097152}, {"1G", 1073741824}, {"18446744073709551615", UINT64_MAX},
	{"90b", 90},
};

START_TEST(a_count_of_uperfs_is_binary)
{
	assert_whole(nm_parse_count, UPERFS, &uperfs_counts[_i]);
}
END_TEST

static const char *const not_counts[] = {"1.5", ".5", "1t", "1s", "1/s", "1.5b", "1k/s"};

static const struct whole loose_counts[] = {{"1kb", 1024}, {"1kib", 1024}, {"5bytes", 5}};

START_TEST(counts_with_letters_unread)
{
	assert_loose(nm_parse_count, &loose_counts[_i]);
	assert_refused(nm_parse_count, OURS, loose_counts[_i].text, -EINVAL);
}
END_TEST

static const struct {
	const char *text;
	int r;
	uint64_t value; /* in thousandths, of at most 100 */
} decimals[] = {
	{"0", 0, 0},
	{"12", 0, 12000},
	{"12.", 0, 12000},
	{".5", 0, 500},
	{"007.0625", 0, 7062},
	{"100.9999", 0, 100999},
	{"101", -ERANGE, UNTOUCHED},
	{"99999999999999999999999", -ERANGE, UNTOUCHED},
	{"", -EINVAL, UNTOUCHED},
	{".", -EINVAL, UNTOUCHED},
	{"-1", -EINVAL, UNTOUCHED},
	{"1.5x", -EINVAL, UNTOUCHED},
	{"1.2345.", -EINVAL, UNTOUCHED},
	{"1e2", -EINVAL, UNTOUCHED},
	{"1 ", -EINVAL, UNTOUCHED},
};

START_TEST(decimals_are_whole_multiples)
{
	uint64_t value = UNTOUCHED;

	ck_assert_int_eq(nm_parse_decimal(decimals[_i].text, 3, 100, &value), decimals[_i].r);
	ck_assert_uint_eq(value, decimals[_i].value);
}
END_TEST

START_TEST(integers)
{
	static const char *const wrong[] = {"1k", "1b", "1.0", "1.5", "0x1", "1 ", "1s", ".5"};
	static const struct whole right[] = {
		{"0", 0}, {"007", 7}, {"18446744073709551615", UINT64_MAX}};

	for (size_t i = 0; i < COUNT_OF(right); i++)
		assert_whole(parse_integer, OURS, &right[i]);
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		assert_refused(parse_integer, OURS, wrong[i], -EINVAL);
	for (size_t i = 0; i < COUNT_OF(never); i++)
		assert_refused(parse_integer, OURS, never[i], -EINVAL);
	assert_refused(parse_integer, OURS, "18446744073709551616", -ERANGE);
}
END_TEST

START_TEST(counts_that_are_wrong)
{
	assert_refused(nm_parse_count, OURS, not_counts[_i], -EINVAL);
	assert_refused(nm_parse_count, UPERFS, not_counts[_i], -EINVAL);
}
END_TEST

static const struct whole durations[] = {
	{"0", 0},
	{"0s", 0},
	{"2", 2000000000},
	{"1s", 1000000000},
	{"1S", 1000000000},
	{"1.5", 1500000000},
	{"1.5s", 1500000000},
	{".5s", 500000000},
	{"3sec", 3000000000},
	{"10ms", 10000000},
	{"10MS", 10000000},
	{"10msec", 10000000},
	{"250us", 250000},
	{"250u", 250000},
	{"250usec", 250000},
	{"0.5us", 500},
	{"100ns", 100},
	{"100n", 100},
	{"100nsec", 100},
	{"0.1", 100000000},
	{"0.000000001", 1},
	{"1.000000001s", 1000000001},
	{"3600", 3600000000000},
	{"18446744073709551615ns", UINT64_MAX},
	{"18446744073.709551615", UINT64_MAX},
};

START_TEST(durations_that_are_right)
{
	assert_whole(nm_parse_duration, OURS, &durations[_i]);
	assert_whole(nm_parse_duration, UPERFS, &durations[_i]);
}
END_TEST

static const struct whole long_durations[] = {
	{"1min", 60000000000},	 {"5MIN", 300000000000},
	{"1.5min", 90000000000}, {"0.5h", 1800000000000},
	{"24h", 86400000000000}, {"1H", 3600000000000},
	{"0.001min", 60000000},	 {"5124095h", 18446742000000000000U},
};

START_TEST(minutes_and_hours)
{
	assert_whole(nm_parse_duration, OURS, &long_durations[_i]);
}
END_TEST

/* One writes it for minutes, the other for milliseconds. */
START_TEST(a_bare_m_is_no_duration_of_ours)
{
	static const char *const bare[] = {"1m", "2M", "0m", "1.5m", ".5m"};

	for (size_t i = 0; i < COUNT_OF(bare); i++)
		assert_refused(nm_parse_duration, OURS, bare[i], -EDOM);
	assert_refused(nm_parse_duration, OURS, "m", -EINVAL);
	assert_refused(nm_parse_duration, OURS, "1.2.3m", -EINVAL);
	assert_refused(nm_parse_duration, OURS, "99999999999999999999m", -ERANGE);
}
END_TEST

static const char *const not_durations[] = {
	"1d", "1hour", "0.5ns", "0.5nanos", "1k", "1 s", "s1", "1:30", "1m30", "1s500ms",
};

/* m is milliseconds, whatever follows, unless it spells minutes. */
static const struct whole loose_durations[] = {
	{"2m", 2000000},	{"2M", 2000000},     {"1mi", 1000000},	    {"1.5millis", 1500000},
	{"20micros", 20000000}, {"2msecs", 2000000}, {"1secs", 1000000000}, {"1sm", 1000000000},
	{"5usecs", 5000},	{"7nanos", 7},
};

START_TEST(durations_with_letters_unread)
{
	assert_loose(nm_parse_duration, &loose_durations[_i]);
}
END_TEST

START_TEST(minutes_are_no_milliseconds_of_uperfs)
{
	static const char *const minutes[] = {"1min", "2MIN", "1.5minutes", "3mins", "0min"};

	for (size_t i = 0; i < COUNT_OF(minutes); i++)
		assert_refused(nm_parse_duration, UPERFS, minutes[i], -EINVAL);
}
END_TEST

START_TEST(durations_that_are_wrong)
{
	assert_refused(nm_parse_duration, OURS, not_durations[_i], -EINVAL);
	assert_refused(nm_parse_duration, UPERFS, not_durations[_i], -EINVAL);
}
END_TEST

START_TEST(durations_that_do_not_fit)
{
	assert_refused(nm_parse_duration, OURS, "18446744074", -ERANGE);
	assert_refused(nm_parse_duration, OURS, "18446744073.71", -ERANGE);
	assert_refused(nm_parse_duration, OURS, "18446744073709551616ns", -ERANGE);
	assert_refused(nm_parse_duration, OURS, "18446744073709551615s", -ERANGE);
	assert_refused(nm_parse_duration, OURS, "5124096h", -ERANGE);
	assert_refused(nm_parse_duration, UPERFS, "2h", -EINVAL);
}
END_TEST

static const struct real rates[] = {
	{"0", 0},	   {"1000", 1000},    {"0.5", 0.5},	{".5", 0.5},
	{"10k", 10000},	   {"10K/s", 10000},  {"100/s", 100},	{"100/S", 100},
	{"1.5m", 1500000}, {"2m/s", 2000000}, {"0.001", 0.001}, {"1g", 1e9},
};

START_TEST(a_rate_is_decimal)
{
	assert_real(nm_parse_rate, OURS, &rates[_i]);
}
END_TEST

static const struct real uperfs_rates[] = {
	{"0.5", 0.5},	   {"10k", 10240},    {"10K/s", 10240}, {"100/s", 100},
	{"1.5m", 1572864}, {"2m/s", 2097152}, {"1g", 0x1p30},	{"90b", 90},
};

START_TEST(a_rate_of_uperfs_is_binary)
{
	assert_real(nm_parse_rate, UPERFS, &uperfs_rates[_i]);
}
END_TEST

static const char *const not_rates[] = {"1s", "1/", "/s", "1/m", "1ms", "1kb/s", "1ps", "1//s"};

START_TEST(rates_that_are_wrong)
{
	assert_real_refused(nm_parse_rate, OURS, not_rates[_i], -EINVAL);
	assert_real_refused(nm_parse_rate, UPERFS, not_rates[_i], -EINVAL);
}
END_TEST

/* b is bits and B bytes; the case of all other letters says nothing. */
static const struct real bitrates[] = {
	{"0", 0},	    {"1000", 1000},	{"1000b/s", 1000}, {"1000bps", 1000},
	{"100B/s", 800},    {"10k", 1e4},	{"10K", 1e4},	   {"10kb/s", 1e4},
	{"10Kb/s", 1e4},    {"10kB/s", 8e4},	{"10KB/s", 8e4},   {"100m", 1e8},
	{"100M", 1e8},	    {"100Mb/s", 1e8},	{"100mb/s", 1e8},  {"100Mbps", 1e8},
	{"10MB/s", 8e7},    {"2.5Gb/s", 2.5e9}, {"10G", 1e10},	   {"1GB/s", 8e9},
	{"2.5Gb/S", 2.5e9}, {".5g", 5e8},
};

START_TEST(bitrates_that_are_right)
{
	assert_real(parse_bitrate, OURS, &bitrates[_i]);
}
END_TEST

static const char *const not_bitrates[] = {
	"1Mb", "1MB", "10MBps", "1/s", "1B", "1b", "1bs", "1Mib/s", "1G/s", "b/s", "1Mb/", "1Mb/ss",
};

START_TEST(bitrates_that_are_wrong)
{
	assert_real_refused(parse_bitrate, OURS, not_bitrates[_i], -EINVAL);
}
END_TEST

typedef char *(*format_fn)(double value, char *buf, size_t size);

static const struct {
	format_fn format;
	double value;
	const char *text;
} formats[] = {
	{nm_format_bitrate, 0, "0 b/s"},
	{nm_format_bitrate, 999, "999 b/s"},
	{nm_format_bitrate, 1.5, "1.50 b/s"},
	{nm_format_bitrate, 1000, "1.00 kb/s"},
	{nm_format_bitrate, 1.25e9, "1.25 Gb/s"},
	{nm_format_bitrate, 12.34e9, "12.3 Gb/s"},
	{nm_format_bitrate, 123.4e9, "123 Gb/s"},
	{nm_format_bitrate, 999.6e6, "1.00 Gb/s"},
	{nm_format_bitrate, 5e15, "5000 Tb/s"},
	{nm_format_duration, 0, "0 ns"},
	{nm_format_duration, 1e-9, "1 ns"},
	{nm_format_duration, 12.3e-6, "12.3 us"},
	{nm_format_duration, 9.994e-6, "9.99 us"},
	{nm_format_duration, 9.999e-6, "10.0 us"},
	{nm_format_duration, 99.96e-6, "100 us"},
	{nm_format_duration, 999.4e-6, "999 us"},
	{nm_format_duration, 999.6e-6, "1.00 ms"},
	{nm_format_duration, 0.05, "50.0 ms"},
	{nm_format_duration, 1, "1.00 s"},
	{nm_format_duration, 3600, "3600 s"},
	{nm_format_size, 0, "0 B"},
	{nm_format_size, 1023, "1023 B"},
	{nm_format_size, 1024, "1.00 KiB"},
	{nm_format_size, 1.5 * 1024 * 1024, "1.50 MiB"},
	{nm_format_size, 1023 * 1024., "1023 KiB"},
	{nm_format_size, 1023.9 * 1024, "1.00 MiB"},
	{nm_format_size, 2147483647, "2.00 GiB"},
	{nm_format_size, 0x1p50, "1.00 PiB"},
	{nm_format_size, 0x1p70, "1048576 PiB"},
	{nm_format_amount, 999, "999 B"},
	{nm_format_amount, 1e3, "1.00 kB"},
	{nm_format_amount, 1.57e6, "1.57 MB"},
	{nm_format_amount, 1e15, "1.00 PB"},
	{nm_format_count, 0, "0"},
	{nm_format_count, 0.5, "0.50"},
	{nm_format_count, 42, "42"},
	{nm_format_count, 12345, "12.3 k"},
	{nm_format_count, 1e6, "1.00 M"},
	{nm_format_count, -1500, "-1.50 k"},
	{nm_format_count, -0.001, "0.00"},
};

START_TEST(human_forms)
{
	char buf[32];

	ck_assert_ptr_eq(formats[_i].format(formats[_i].value, buf, sizeof buf), buf);
	ck_assert_str_eq(buf, formats[_i].text);
}
END_TEST

START_TEST(what_is_not_a_number)
{
	char buf[32];

	ck_assert_str_eq(nm_format_duration(NAN, buf, sizeof buf), "-");
	ck_assert_str_eq(nm_format_bitrate(INFINITY, buf, sizeof buf), "-");
}
END_TEST

START_TEST(a_small_buffer_cuts_and_terminates)
{
	char buf[8] = "xxxxxxx";

	ck_assert_str_eq(nm_format_bitrate(1.25e9, buf, 5), "1.25");
	ck_assert_int_eq(buf[5], 'x');
}
END_TEST

/* Where the machine has no such locale, the rest of the suite has shown the same in the C
 * locale. */
START_TEST(the_locale_has_no_say)
{
	static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.ISO-8859-9",
					    "tr_TR.UTF-8"};
	char buf[32];
	uint64_t value = 0;
	double real = 0;

	setlocale(LC_ALL, names[_i]);
	ck_assert_str_eq(nm_format_bitrate(1.25e9, buf, sizeof buf), "1.25 Gb/s");
	ck_assert_int_eq(nm_parse_size("1.5KIB", OURS, &value), 0);
	ck_assert_uint_eq(value, 1536);
	ck_assert_int_eq(nm_parse_size("1,5k", OURS, &value), -EINVAL);
	ck_assert_int_eq(nm_parse_bitrate("2.5Gb/s", &real), 0);
	ck_assert_double_eq(real, 2.5e9);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("units");
	TCase *tc = tcase_create("units");

	tcase_add_loop_test(tc, what_no_parser_takes, 0, COUNT_OF(never));
	tcase_add_loop_test(tc, sizes_that_are_right, 0, COUNT_OF(sizes));
	tcase_add_loop_test(tc, sizes_that_are_wrong, 0, COUNT_OF(not_sizes));
	tcase_add_loop_test(tc, sizes_with_letters_unread, 0, COUNT_OF(loose_sizes));
	tcase_add_loop_test(tc, sizes_that_do_not_fit, 0, COUNT_OF(large_sizes));
	tcase_add_loop_test(tc, a_count_is_decimal, 0, COUNT_OF(counts));
	tcase_add_loop_test(tc, a_count_of_uperfs_is_binary, 0, COUNT_OF(uperfs_counts));
	tcase_add_loop_test(tc, counts_that_are_wrong, 0, COUNT_OF(not_counts));
	tcase_add_test(tc, integers);
	tcase_add_loop_test(tc, decimals_are_whole_multiples, 0, COUNT_OF(decimals));
	tcase_add_loop_test(tc, counts_with_letters_unread, 0, COUNT_OF(loose_counts));
	tcase_add_loop_test(tc, durations_that_are_right, 0, COUNT_OF(durations));
	tcase_add_loop_test(tc, durations_that_are_wrong, 0, COUNT_OF(not_durations));
	tcase_add_loop_test(tc, durations_with_letters_unread, 0, COUNT_OF(loose_durations));
	tcase_add_test(tc, durations_that_do_not_fit);
	tcase_add_loop_test(tc, minutes_and_hours, 0, COUNT_OF(long_durations));
	tcase_add_test(tc, minutes_are_no_milliseconds_of_uperfs);
	tcase_add_test(tc, a_bare_m_is_no_duration_of_ours);
	tcase_add_loop_test(tc, a_rate_is_decimal, 0, COUNT_OF(rates));
	tcase_add_loop_test(tc, a_rate_of_uperfs_is_binary, 0, COUNT_OF(uperfs_rates));
	tcase_add_loop_test(tc, rates_that_are_wrong, 0, COUNT_OF(not_rates));
	tcase_add_loop_test(tc, bitrates_that_are_right, 0, COUNT_OF(bitrates));
	tcase_add_loop_test(tc, bitrates_that_are_wrong, 0, COUNT_OF(not_bitrates));
	tcase_add_loop_test(tc, human_forms, 0, COUNT_OF(formats));
	tcase_add_test(tc, what_is_not_a_number);
	tcase_add_test(tc, a_small_buffer_cuts_and_terminates);
	tcase_add_loop_test(tc, the_locale_has_no_say, 0, 4);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
