/* SPDX-License-Identifier: Apache-2.0 */
#include "base/opt.h"

#include <check.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../suite.h"
#include "base/law.h"
#include "base/rng.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

struct options {
	uint64_t before; /* must never change */
	uint64_t count, size, duration_ns, port, any, least, integer;
	double rate, bitrate;
	char *text, *host;
	int color;
	bool flag;
	struct nm_law sizes;
	struct nm_duration_range range;
	uint64_t after;
};

static const char *const colors[] = {"red", "green", "blue", NULL};

static const struct nm_opt table[] = {
	{.name = "count",
	 .type = NM_TYPE_COUNT,
	 .offset = offsetof(struct options, count),
	 .min = 1,
	 .max = 65535,
	 .def = "1k"},
	{.name = "size",
	 .type = NM_TYPE_SIZE,
	 .offset = offsetof(struct options, size),
	 .min = 1,
	 .max = 1 << 20,
	 .alias = "bytes"},
	{.name = "duration",
	 .type = NM_TYPE_DURATION,
	 .offset = offsetof(struct options, duration_ns),
	 .min = 1000,
	 .max = 60000000000,
	 .def = "10ms"},
	{.name = "range",
	 .type = NM_TYPE_DURATION_RANGE,
	 .offset = offsetof(struct options, range),
	 .min = 1000,
	 .max = 60000000000,
	 .def = "10ms..1s"},
	{.name = "port", .type = NM_TYPE_PORT, .offset = offsetof(struct options, port)},
	{.name = "any", .type = NM_TYPE_SIZE, .offset = offsetof(struct options, any)},
	{.name = "least",
	 .type = NM_TYPE_COUNT,
	 .offset = offsetof(struct options, least),
	 .min = 2},
	{.name = "integer",
	 .type = NM_TYPE_INTEGER,
	 .offset = offsetof(struct options, integer),
	 .min = 1},
	{.name = "rate", .type = NM_TYPE_RATE, .offset = offsetof(struct options, rate), .min = 1},
	{.name = "bitrate", .type = NM_TYPE_BITRATE, .offset = offsetof(struct options, bitrate)},
	{.name = "text",
	 .type = NM_TYPE_STRING,
	 .offset = offsetof(struct options, text),
	 .def = "as it is"},
	{.name = "host",
	 .type = NM_TYPE_HOST,
	 .offset = offsetof(struct options, host),
	 .def = "local"},
	{.name = "color",
	 .type = NM_TYPE_ENUM,
	 .offset = offsetof(struct options, color),
	 .choices = colors,
	 .def = "green"},
	{.name = "flag", .type = NM_TYPE_FLAG, .offset = offsetof(struct options, flag)},
	{.name = "sizes",
	 .type = NM_TYPE_SIZES,
	 .offset = offsetof(struct options, sizes),
	 .min = 1,
	 .max = 1 << 20},
	NM_OPT_END,
};

#define GUARD 0x1122334455667788ULL

static struct options options;
static char why[160];

static void setup(void)
{
	options = (struct options){.before = GUARD, .after = GUARD};
	memset(why, 0, sizeof why);
}

static void teardown(void)
{
	nm_opts_fini(table, &options);
	ck_assert(options.before == GUARD && options.after == GUARD);
}

static int set(const char *name, const char *value)
{
	const struct nm_opt *opt = nm_opt_find(table, name);

	ck_assert_ptr_nonnull(opt);
	return nm_opt_set(opt, &options, value, why, sizeof why);
}

static int set_as_uperf(const char *name, const char *value)
{
	const struct nm_opt *opt = nm_opt_find(table, name);

	ck_assert_ptr_nonnull(opt);
	return nm_opt_read(opt, NM_READING_UPERF, &options, value, why, sizeof why);
}

START_TEST(names_and_aliases)
{
	ck_assert_ptr_eq(nm_opt_find(table, "count"), &table[0]);
	ck_assert_ptr_eq(nm_opt_find(table, "size"), &table[1]);
	ck_assert_ptr_eq(nm_opt_find(table, "bytes"), &table[1]);
	ck_assert_ptr_eq(nm_opt_find(table, "Size"), &table[1]);
	ck_assert_ptr_eq(nm_opt_find(table, "BYTES"), &table[1]);
	ck_assert_ptr_null(nm_opt_find(table, "siz"));
	ck_assert_ptr_null(nm_opt_find(table, ""));
}
END_TEST

START_TEST(every_type_has_its_words)
{
	enum nm_type type = (enum nm_type)_i, back = NM_TYPE__COUNT;

	ck_assert_ptr_nonnull(nm_type_name(type));
	ck_assert_ptr_nonnull(nm_type_allowed(type));
	ck_assert_int_eq(nm_type_from_name(nm_type_name(type), &back), 0);
	ck_assert_int_eq(back, type);
}
END_TEST

START_TEST(unknown_type_names)
{
	enum nm_type type = NM_TYPE_PORT;

	ck_assert_int_eq(nm_type_from_name("sise", &type), -EINVAL);
	ck_assert_int_eq(nm_type_from_name("", &type), -EINVAL);
	ck_assert_int_eq(type, NM_TYPE_PORT);
	ck_assert_int_eq(nm_type_from_name("SIZE", &type), 0);
	ck_assert_int_eq(type, NM_TYPE_SIZE);
}
END_TEST

START_TEST(defaults_are_set)
{
	ck_assert_int_eq(nm_opts_defaults(table, &options), 0);
	ck_assert_uint_eq(options.count, 1000);
	ck_assert_uint_eq(options.size, 0);
	ck_assert_uint_eq(options.duration_ns, 10000000);
	ck_assert_str_eq(options.text, "as it is");
	ck_assert_str_eq(options.host, "local");
	ck_assert_int_eq(options.color, 1);
	ck_assert(!options.flag);
	nm_opts_fini(table, &options);
	ck_assert_ptr_null(options.text);
	ck_assert_ptr_null(options.host);
}
END_TEST

START_TEST(a_wrong_default_is_told)
{
	static const struct nm_opt wrong[] = {{.name = "n",
					       .type = NM_TYPE_COUNT,
					       .offset = offsetof(struct options, any),
					       .def = "x"},
					      NM_OPT_END};

	ck_assert_int_eq(nm_opts_defaults(wrong, &options), -EINVAL);
}
END_TEST

static const struct {
	const char *name, *value;
	size_t offset;
	uint64_t expected;
} wholes[] = {
	{"count", "1", offsetof(struct options, count), 1},
	{"count", "65535", offsetof(struct options, count), 65535},
	{"count", "2k", offsetof(struct options, count), 2000},
	{"size", "64k", offsetof(struct options, size), 65536},
	{"bytes", "1m", offsetof(struct options, size), 1048576},
	{"duration", "1us", offsetof(struct options, duration_ns), 1000},
	{"duration", "60", offsetof(struct options, duration_ns), 60000000000},
	{"port", "0", offsetof(struct options, port), 0},
	{"port", "65535", offsetof(struct options, port), 65535},
	{"any", "0", offsetof(struct options, any), 0},
	{"any", "18446744073709551615", offsetof(struct options, any), UINT64_MAX},
	{"least", "2", offsetof(struct options, least), 2},
	{"integer", "007", offsetof(struct options, integer), 7},
	{"integer", "18446744073709551615", offsetof(struct options, integer), UINT64_MAX},
	{"least", "18446744073709551615", offsetof(struct options, least), UINT64_MAX},
};

START_TEST(whole_values)
{
	ck_assert_msg(set(wholes[_i].name, wholes[_i].value) == 0, "%s", why);
	ck_assert_uint_eq(*(uint64_t *)(void *)((char *)&options + wholes[_i].offset),
			  wholes[_i].expected);
}
END_TEST

/* Taken as uperf takes them. */
static const struct {
	const char *name, *value;
	size_t offset;
	uint64_t expected;
	const char *why;
} remarkable[] = {
	{"size", "3kfoo", offsetof(struct options, size), 3072,
	 "only the first letter of \"kfoo\" counts; write 3k"},
	{"size", "1.5KBIT", offsetof(struct options, size), 1536,
	 "only the first letter of \"KBIT\" counts; write 1.5K"},
	{"count", "2kib", offsetof(struct options, count), 2048,
	 "only the first letter of \"kib\" counts; write 2k"},
	{"duration", "2m", offsetof(struct options, duration_ns), 2000000,
	 "2m is 2 milliseconds, as in uperf; write 2ms, or with units=\"netmodel\" on "
	 "<profile> 2min for minutes"},
	{"duration", ".5M", offsetof(struct options, duration_ns), 500000,
	 ".5M is .5 milliseconds, as in uperf; write .5ms, or with units=\"netmodel\" on "
	 "<profile> .5min for minutes"},
	{"duration", "20micros", offsetof(struct options, duration_ns), 20000000,
	 "20micros is 20 milliseconds, as in uperf; write 20ms, or with units=\"netmodel\" on "
	 "<profile> 20min for minutes"},
	{"duration", "5usecs", offsetof(struct options, duration_ns), 5000,
	 "5usecs is 5 microseconds; write 5us"},
	{"duration", "5000nanos", offsetof(struct options, duration_ns), 5000,
	 "5000nanos is 5000 nanoseconds; write 5000ns"},
	{"duration", "2seconds", offsetof(struct options, duration_ns), 2000000000,
	 "only the first letter of \"seconds\" counts; write 2s"},
	/* Nothing to be said. */
	{"size", "64KiB", offsetof(struct options, size), 65536, ""},
	{"count", "90b", offsetof(struct options, count), 90, ""},
	{"duration", "2ms", offsetof(struct options, duration_ns), 2000000, ""},
	{"duration", "2sec", offsetof(struct options, duration_ns), 2000000000, ""},
	{"duration", "20u", offsetof(struct options, duration_ns), 20000, ""},
};

START_TEST(remarkable_values)
{
	memset(why, 'x', sizeof why - 1);
	ck_assert_int_eq(set_as_uperf(remarkable[_i].name, remarkable[_i].value), 0);
	ck_assert_uint_eq(*(uint64_t *)(void *)((char *)&options + remarkable[_i].offset),
			  remarkable[_i].expected);
	ck_assert_str_eq(why, remarkable[_i].why);
}
END_TEST

START_TEST(real_values)
{
	ck_assert_int_eq(set("rate", "1.5k"), 0);
	ck_assert_double_eq(options.rate, 1500);
	ck_assert_int_eq(set("rate", "0.25"), 0); /* a min is no bound, it only refuses zero */
	ck_assert_double_eq(options.rate, 0.25);
	ck_assert_int_eq(set("bitrate", "2.5Gb/s"), 0);
	ck_assert_double_eq(options.bitrate, 2.5e9);
	ck_assert_int_eq(set("bitrate", "0"), 0);
	ck_assert_double_eq(options.bitrate, 0);
}
END_TEST

static const struct {
	const char *value;
	bool expected;
} flags[] = {
	{NULL, true}, {"", true},    {"yes", true},    {"true", true},	 {"on", true},
	{"1", true},  {"YES", true}, {"no", false},    {"false", false}, {"off", false},
	{"0", false}, {"No", false}, {"FALSE", false},
};

START_TEST(flags_with_and_without_a_value)
{
	options.flag = !flags[_i].expected;
	ck_assert_int_eq(set("flag", flags[_i].value), 0);
	ck_assert_int_eq(options.flag, flags[_i].expected);
}
END_TEST

START_TEST(choices)
{
	for (int i = 0; colors[i]; i++) {
		ck_assert_int_eq(set("color", colors[i]), 0);
		ck_assert_int_eq(options.color, i);
	}
	ck_assert_int_eq(set("color", "RED"), 0);
	ck_assert_int_eq(options.color, 0);
}
END_TEST

static const char *const hosts[] = {
	"local",
	"h",
	"web-1.example.org",
	"127.0.0.1",
	"::1",
	"fe80::1%eth0",
	"10.0.0.1",
	"host_1",
	"b\303\274cher.example",
	"10.0.0.255",
	"127.1",
	"1",
	"1.example",
	"fd00::7",
	"::ffff:10.0.0.7",
	"10.0.0.256.example",
};

START_TEST(hosts_that_are_right)
{
	ck_assert_msg(set("host", hosts[_i]) == 0, "%s: %s", hosts[_i], why);
	ck_assert_str_eq(options.host, hosts[_i]);
}
END_TEST

static const char *const not_hosts[] = {
	"",	  " ",	      "a b",   "a/b",	  "/",		"a\n",	      "\ta",   "a,b",
	"a;b",	  "<a>",      "\"a\"", "a\x7f",	  "10.0.0.256", "10.0.0.1.2", "1..2",  ".",
	"::g",	  "fd00:::7", "[h]",   "::1%",	  "host:",	"host:http",  "1:2:3", "[::1",
	"[::1]x", "[::1]:",   "h:0",   "h:65536", "[::1%]",	"[]:1",	      ":1"};

START_TEST(hosts_that_are_wrong)
{
	ck_assert_int_eq(set("host", not_hosts[_i]), -EINVAL);
	ck_assert_str_eq(why, "not a host: a name, an IPv4 or IPv6 address, or local");
	ck_assert_ptr_null(options.host);
}
END_TEST

static const char *const with_port[] = {"10.0.0.7:20000", "web:80", "[::1]:20000", "local:1"};

START_TEST(a_host_has_no_port)
{
	ck_assert_int_eq(set("host", with_port[_i]), -EINVAL);
	ck_assert_msg(strstr(why, "must be a name or an address alone, without a port: ") == why,
		      "%s", why);
	ck_assert_ptr_null(options.host);
}
END_TEST

START_TEST(a_port_is_kept_where_it_may_be)
{
	static const struct nm_opt slave = {.name = "remotehost",
					    .type = NM_TYPE_HOST,
					    .offset = offsetof(struct options, host),
					    .with_port = true};
	bool local = strcmp(with_port[_i], "local:1") == 0;
	int r = nm_opt_set(&slave, &options, with_port[_i], why, sizeof why);

	ck_assert_int_eq(r, local ? -EINVAL : 0);
	ck_assert_str_eq(local ? why : options.host,
			 local ? "local has no port: the master starts that slave itself"
			       : with_port[_i]);
}
END_TEST

#define HOST_AND_PORT                                                                              \
	"not a host: a name, an IPv4 or IPv6 address, or local; also HOST:PORT or [IPv6]:PORT"

static const struct {
	const char *text, *why;
} wrong_ports[] = {
	{"127.0.0.1:99999", HOST_AND_PORT "; 99999 is no port (1 to 65535)"},
	{"[::1]:0", HOST_AND_PORT "; 0 is no port (1 to 65535)"},
	{"web:http", HOST_AND_PORT "; http is no port (1 to 65535)"},
	{"127.0.0.1:", HOST_AND_PORT "; the port is missing"},
	{"[::1]:", HOST_AND_PORT "; the port is missing"},
	{"::1:20000", HOST_AND_PORT ", did you mean [::1]:20000?"},
	{"fd00:::7", HOST_AND_PORT ", did you mean [fd00::]:7?"},
	{"::g", HOST_AND_PORT},
	{":", HOST_AND_PORT "; the port is missing"},
	{"a/b", "not a host: a name, an IPv4 or IPv6 address, or local"},
};

START_TEST(what_is_wrong_with_a_port_is_told_where_it_may_be)
{
	static const struct nm_opt slave = {.name = "remotehost",
					    .type = NM_TYPE_HOST,
					    .offset = offsetof(struct options, host),
					    .with_port = true};

	ck_assert_int_eq(nm_opt_set(&slave, &options, wrong_ports[_i].text, why, sizeof why),
			 -EINVAL);
	ck_assert_str_eq(why, wrong_ports[_i].why);
}
END_TEST

START_TEST(brackets_of_an_address_are_left_out)
{
	ck_assert_int_eq(set("host", "[::1]"), 0);
	ck_assert_str_eq(options.host, "::1");
	ck_assert_int_eq(set("host", "[fe80::1%eth0]"), 0);
	ck_assert_str_eq(options.host, "fe80::1%eth0");
}
END_TEST

START_TEST(a_host_is_no_longer_than_a_name_can_be)
{
	char name[257];

	memset(name, 'a', 256);
	name[256] = '\0';
	ck_assert_int_eq(set("host", name), -EINVAL);
	name[255] = '\0';
	ck_assert_int_eq(set("host", name), 0);
}
END_TEST

START_TEST(strings_are_copied_and_replaced)
{
	char value[] = "one";

	ck_assert_int_eq(set("text", value), 0);
	value[0] = 'x';
	ck_assert_str_eq(options.text, "one");
	ck_assert_int_eq(set("text", ""), 0);
	ck_assert_str_eq(options.text, "");
	ck_assert_int_eq(set("text", "any, text = \"at all\""), 0);
	ck_assert_str_eq(options.text, "any, text = \"at all\"");
}
END_TEST

static const struct {
	const char *name, *value, *why;
} wrong[] = {
	{"count", "0", "must be 1 to 65535"},
	{"count", "66k", "must be 1 to 65535"},
	{"count", "-1", "not a count: a number and an optional k, m or g (powers of 1000)"},
	{"count", "99999999999999999999", "too large for a count"},
	{"count", NULL, "needs a value: a number and an optional k, m or g (powers of 1000)"},
	{"size", "12q",
	 "not a size: a number and an optional k, m, g or t, also kb or kib (powers of 1024 "
	 "bytes)"},
	{"size", "",
	 "not a size: a number and an optional k, m, g or t, also kb or kib (powers of 1024 "
	 "bytes)"},
	{"size", "0", "must be 1 to 1048576 (1.00 MiB)"},
	{"size", "2m", "must be 1 to 1048576 (1.00 MiB)"},
	{"size", "99999999t", "too large for a size"},
	{"duration", "2d",
	 "not a duration: a number and an optional ns, us, ms, s, min or h (seconds without one)"},
	{"duration", "2m", "m alone may mean minutes or milliseconds: write 2min or 2ms"},
	{"duration", "1.5M", "m alone may mean minutes or milliseconds: write 1.5min or 1.5ms"},
	{"duration", "2h", "must be 1.00 us to 60.0 s"},
	{"duration", "1ns", "must be 1.00 us to 60.0 s"},
	{"duration", "61", "must be 1.00 us to 60.0 s"},
	{"duration", "99999999999", "too large for a duration"},
	{"range", "1ns..1s", "must be 1.00 us to 60.0 s"},
	{"range", "1ms..2h", "must be 1.00 us to 60.0 s"},
	{"range", "1s..1ms",
	 "not a duration_range: a duration, or two of them, as 10ms..1s, the first not above the "
	 "second"},
	{"range", "1ms..",
	 "not a duration: a number and an optional ns, us, ms, s, min or h (seconds without one)"},
	{"range", "1ms..2m", "m alone may mean minutes or milliseconds: write 2min or 2ms"},
	{"port", "65536", "not a port: a number from 0 to 65535"},
	{"port", "1k", "not a port: a number from 0 to 65535"},
	{"port", "1.5", "not a port: a number from 0 to 65535"},
	{"port", "", "not a port: a number from 0 to 65535"},
	{"port", "http", "not a port: a number from 0 to 65535"},
	{"least", "1", "must be at least 2"},
	{"integer", "1k", "not an integer: digits only, without a suffix"},
	{"integer", "1b", "not an integer: digits only, without a suffix"},
	{"integer", "1.5", "not an integer: digits only, without a suffix"},
	{"integer", "-1", "not an integer: digits only, without a suffix"},
	{"integer", "", "not an integer: digits only, without a suffix"},
	{"integer", "0", "must be at least 1"},
	{"integer", "99999999999999999999", "too large for an integer"},
	{"rate", "0", "must be more than 0"},
	{"rate", "1h",
	 "not a rate: a number and an optional k, m or g (powers of 1000), and an optional /s"},
	{"bitrate", "1Mb",
	 "not a bitrate: a number, an optional k, M or G, and an optional b/s, bps or B/s"},
	{"bitrate", NULL,
	 "needs a value: a number, an optional k, M or G, and an optional b/s, bps or B/s"},
	{"text", NULL, "needs a value: any text"},
	{"color", "pink", "must be red, green or blue"},
	{"color", "Redd", "must be red, green or blue"},
	{"color", "", "must be red, green or blue"},
	{"color", NULL, "needs a value: one of the words listed"},
	{"flag", "maybe", "not a flag: yes or no"},
	{"flag", "2", "not a flag: yes or no"},
	{"flag", "yes ", "not a flag: yes or no"},
};

START_TEST(ranges_of_durations)
{
	static const struct {
		const char *text;
		struct nm_duration_range range;
	} ranges[] = {{"10ms..1s", {10000000, 1000000000}},
		      {"5ms", {5000000, 5000000}},
		      {"1..1.5", {1000000000, 1500000000}}};

	for (size_t i = 0; i < COUNT_OF(ranges); i++) {
		ck_assert_int_eq(set("range", ranges[i].text), 0);
		ck_assert_uint_eq(options.range.from_ns, ranges[i].range.from_ns);
		ck_assert_uint_eq(options.range.to_ns, ranges[i].range.to_ns);
	}
	ck_assert_int_eq(set_as_uperf("range", "10m..1s"), 0);
	ck_assert_uint_eq(options.range.from_ns, 10000000);
	ck_assert(strstr(why, "milliseconds"));
}
END_TEST

/* What is said about values is of their reading. */
static const struct {
	const char *name, *value, *why;
} uperfs_wrong[] = {
	{"count", "1q", "not a count: a number and an optional k, m or g (powers of 1024)"},
	{"count", NULL, "needs a value: a number and an optional k, m or g (powers of 1024)"},
	{"duration", "2h",
	 "not a duration: a number and an optional s, ms, us or ns (seconds without one); min and "
	 "h with units=\"netmodel\" on <profile>"},
	{"duration", "1min",
	 "not a duration: a number and an optional s, ms, us or ns (seconds without one); min and "
	 "h with units=\"netmodel\" on <profile>"},
	{"rate", "1h",
	 "not a rate: a number and an optional k, m or g (powers of 1024), and an optional /s"},
	{"size", "2m", "must be 1 to 1048576 (1.00 MiB)"},
};

START_TEST(what_uperf_does_not_read)
{
	ck_assert_int_eq(set_as_uperf(uperfs_wrong[_i].name, uperfs_wrong[_i].value), -EINVAL);
	ck_assert_str_eq(why, uperfs_wrong[_i].why);
}
END_TEST

START_TEST(wrong_values_change_nothing)
{
	ck_assert_int_eq(nm_opts_defaults(table, &options), 0);
	struct options before = options;

	ck_assert_int_eq(set(wrong[_i].name, wrong[_i].value), -EINVAL);
	ck_assert_str_eq(why, wrong[_i].why);
	ck_assert(options.count == before.count && options.size == before.size &&
		  options.duration_ns == before.duration_ns &&
		  options.range.from_ns == before.range.from_ns &&
		  options.range.to_ns == before.range.to_ns && options.port == before.port &&
		  options.least == before.least && options.text == before.text &&
		  options.host == before.host && options.color == before.color &&
		  options.flag == before.flag);
	ck_assert_double_eq(options.rate, before.rate);
	ck_assert_double_eq(options.bitrate, before.bitrate);
}
END_TEST

START_TEST(a_small_buffer_cuts_and_terminates)
{
	for (size_t size = 1; size < 30; size++) {
		for (size_t i = 0; i < COUNT_OF(wrong); i++) {
			const struct nm_opt *opt = nm_opt_find(table, wrong[i].name);

			memset(why, 'x', sizeof why);
			nm_opt_set(opt, &options, wrong[i].value, why, size);
			ck_assert_uint_lt(strlen(why), size);
			ck_assert_int_eq(strncmp(why, wrong[i].why, strlen(why)), 0);
			ck_assert_int_eq(why[size], 'x');
		}
	}
}
END_TEST

static const struct {
	enum nm_type type;
	const char *good, *bad;
} checks[] = {
	{NM_TYPE_FLAG, "yes", "perhaps"},  {NM_TYPE_COUNT, "1k", "1s"},
	{NM_TYPE_INTEGER, "1", "1k"},	   {NM_TYPE_SIZE, "64KiB", "64q"},
	{NM_TYPE_DURATION, "10h", "10d"},  {NM_TYPE_RATE, "0", "fast"},
	{NM_TYPE_BITRATE, "1Gb/s", "1Gb"}, {NM_TYPE_PORT, "20000", "200000"},
	{NM_TYPE_HOST, "::1", "a b"},	   {NM_TYPE_DURATION_RANGE, "10ms..1s", "1s..10ms"},
};

START_TEST(a_type_alone)
{
	const enum nm_reading ours = NM_READING_NETMODEL;
	enum nm_type type = checks[_i].type;

	ck_assert_int_eq(nm_type_check(type, ours, checks[_i].good, why, sizeof why), 0);
	ck_assert_str_eq(why, "");
	ck_assert_int_eq(nm_type_check(type, ours, checks[_i].bad, why, sizeof why), -EINVAL);
	ck_assert_str_ne(why, "");
}
END_TEST

static const struct {
	const char *text;
	enum nm_law_kind kind;
	uint64_t min, max;
} sizes[] = {
	{"1", NM_LAW_CONST, 1, 1},
	{"1.5k", NM_LAW_CONST, 1536, 1536},
	{"rand(1,2)", NM_LAW_UNIFORM, 1, 2},
	{"rand(4k,1m)", NM_LAW_UNIFORM, 4096, 1048576},
	{"RAND(7,7)", NM_LAW_UNIFORM, 7, 7},
	{"uniform(1,2)", NM_LAW_UNIFORM, 1, 2},
	{"const(2k)", NM_LAW_CONST, 2048, 2048},
	{"discrete(1:2,9:1)", NM_LAW_DISCRETE, 1, 9},
};

START_TEST(sizes_and_how_to_draw_them)
{
	ck_assert_int_eq(set("sizes", sizes[_i].text), 0);
	ck_assert_int_eq(options.sizes.kind, sizes[_i].kind);
	ck_assert_uint_eq(options.sizes.min, sizes[_i].min);
	ck_assert_uint_eq(options.sizes.max, sizes[_i].max);
}
END_TEST

static const char *const not_sizes[] = {
	"",
	"x",
	"0",
	"2m",
	"rand",
	"rand(",
	"rand()",
	"rand(1)",
	"rand(,)",
	"rand(1,)",
	"rand(,2)",
	"rand(1,2",
	"rand(1,2)x",
	"rand(2,1)",
	"rand(0,1)",
	"rand(1,2m)",
	"rand(1,2,3)",
	"rand(1, 2)",
	"rand(a,b)",
	"exp(1,2)",
	"const(0)",
	"discrete(0:1,2:1)",
	"random(1k,64k)",
	"(1,2)",
	"rand(1111111111111111111111111111111111,2)",
};

START_TEST(what_is_no_size_changes_nothing)
{
	ck_assert_int_eq(set("sizes", "5"), 0);
	ck_assert_int_eq(set("sizes", not_sizes[_i]), -EINVAL);
	ck_assert_uint_gt(strlen(why), 0);
	ck_assert_uint_eq(options.sizes.min, 5);
	ck_assert_uint_eq(options.sizes.max, 5);
}
END_TEST

/* One size that is none says nothing about drawing. */
START_TEST(two_sizes_lead_to_how_they_are_drawn)
{
	static const char *const two[] = {"1-64k", "1k,64k", "1k:64k"};
	static const char *const one[] = {"", "-1", "12q"};

	for (size_t i = 0; i < COUNT_OF(two); i++) {
		ck_assert_int_eq(set("sizes", two[i]), -EINVAL);
		ck_assert_msg(strstr(why, "not a size: ") == why && strstr(why, "rand(1k,64k)"),
			      "%s: %s", two[i], why);
	}
	for (size_t i = 0; i < COUNT_OF(one); i++) {
		ck_assert_int_eq(set("sizes", one[i]), -EINVAL);
		ck_assert_msg(!strstr(why, "rand("), "%s: %s", one[i], why);
	}
}
END_TEST

START_TEST(types_that_take_any_text)
{
	const enum nm_reading ours = NM_READING_NETMODEL;

	ck_assert_int_eq(nm_type_check(NM_TYPE_STRING, ours, "", why, sizeof why), 0);
	ck_assert_int_eq(nm_type_check(NM_TYPE_STRING, ours, "a b", why, sizeof why), 0);
	/* Its words are in its option, which is not asked here. */
	ck_assert_int_eq(nm_type_check(NM_TYPE_ENUM, ours, "red", why, sizeof why), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("opt");
	TCase *tc = tcase_create("opt");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, names_and_aliases);
	tcase_add_loop_test(tc, every_type_has_its_words, 0, NM_TYPE__COUNT);
	tcase_add_test(tc, unknown_type_names);
	tcase_add_test(tc, defaults_are_set);
	tcase_add_test(tc, a_wrong_default_is_told);
	tcase_add_loop_test(tc, whole_values, 0, COUNT_OF(wholes));
	tcase_add_loop_test(tc, remarkable_values, 0, COUNT_OF(remarkable));
	tcase_add_test(tc, real_values);
	tcase_add_loop_test(tc, flags_with_and_without_a_value, 0, COUNT_OF(flags));
	tcase_add_test(tc, choices);
	tcase_add_loop_test(tc, hosts_that_are_right, 0, COUNT_OF(hosts));
	tcase_add_loop_test(tc, hosts_that_are_wrong, 0, COUNT_OF(not_hosts));
	tcase_add_loop_test(tc, a_host_has_no_port, 0, COUNT_OF(with_port));
	tcase_add_loop_test(tc, a_port_is_kept_where_it_may_be, 0, COUNT_OF(with_port));
	tcase_add_loop_test(tc, what_is_wrong_with_a_port_is_told_where_it_may_be, 0,
			    COUNT_OF(wrong_ports));
	tcase_add_test(tc, brackets_of_an_address_are_left_out);
	tcase_add_test(tc, a_host_is_no_longer_than_a_name_can_be);
	tcase_add_test(tc, strings_are_copied_and_replaced);
	tcase_add_loop_test(tc, wrong_values_change_nothing, 0, COUNT_OF(wrong));
	tcase_add_loop_test(tc, what_uperf_does_not_read, 0, COUNT_OF(uperfs_wrong));
	tcase_add_test(tc, a_small_buffer_cuts_and_terminates);
	tcase_add_test(tc, ranges_of_durations);
	tcase_add_loop_test(tc, a_type_alone, 0, COUNT_OF(checks));
	tcase_add_loop_test(tc, sizes_and_how_to_draw_them, 0, COUNT_OF(sizes));
	tcase_add_test(tc, two_sizes_lead_to_how_they_are_drawn);
	tcase_add_loop_test(tc, what_is_no_size_changes_nothing, 0, COUNT_OF(not_sizes));
	tcase_add_test(tc, types_that_take_any_text);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
