/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text of an option into the field of its type, sets defaults, and says which values an
 * option takes when one is wrong. */
#include "base/opt.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host_port.h"
#include "base/units.h"
#include "base/ascii.h"

#define LAWS                                                                                       \
	"const, rand (also uniform), exp, normal, lognormal, pareto, gpareto, gev, zipf, "         \
	"bimodal, discrete or cdf"

static const struct {
	const char *name, *allowed;
} types[NM_TYPE__COUNT] = {
	[NM_TYPE_FLAG] = {"flag", "yes or no"},
	[NM_TYPE_COUNT] = {"count", "a number and an optional k, m or g (powers of 1000)"},
	[NM_TYPE_COUNTS] = {"counts", "a count, or a law that draws it: " LAWS "; as in rand(1,9), "
				      "without blanks"},
	[NM_TYPE_INTEGER] = {"integer", "digits only, without a suffix"},
	[NM_TYPE_SIZE] =
		{"size",
		 "a number and an optional k, m, g or t, also kb or kib (powers of 1024 bytes)"},
	[NM_TYPE_SIZES] = {"sizes", "a size, or a law that draws it: " LAWS "; as in rand(1k,64k), "
				    "without blanks"},
	[NM_TYPE_DURATION] = {"duration",
			      "a number and an optional ns, us, ms, s, min or h (seconds without "
			      "one)"},
	[NM_TYPE_DURATIONS] = {"durations",
			       "a duration, or a law that draws it: " LAWS "; as in exp(10ms), "
			       "without blanks"},
	[NM_TYPE_DURATION_RANGE] =
		{"duration_range",
		 "a duration, or two of them, as 10ms..1s, the first not above the "
		 "second"},
	[NM_TYPE_RATE] =
		{"rate", "a number and an optional k, m or g (powers of 1000), and an optional /s"},
	[NM_TYPE_BITRATE] = {"bitrate",
			     "a number, an optional k, M or G, and an optional b/s, bps or B/s"},
	[NM_TYPE_PORT] = {"port", "a number from 0 to 65535"},
	[NM_TYPE_STRING] = {"string", "any text"},
	[NM_TYPE_HOST] = {"host", "a name, an IPv4 or IPv6 address, or local"},
	[NM_TYPE_ENUM] = {"enum", "one of the words listed"},
};

const char *nm_type_name(enum nm_type type)
{
	return types[type].name;
}

const char *nm_type_allowed(enum nm_type type)
{
	return types[type].allowed;
}

int nm_type_from_name(const char *name, enum nm_type *ret_type)
{
	for (int i = 0; i < NM_TYPE__COUNT; i++) {
		if (nm_ascii_equals(types[i].name, name)) {
			*ret_type = (enum nm_type)i;
			return 0;
		}
	}
	return -EINVAL;
}

bool nm_type_is_law(enum nm_type type, enum nm_law_of *ret_of)
{
	switch (type) {
	case NM_TYPE_COUNTS:
		*ret_of = NM_LAW_OF_COUNTS;
		return true;
	case NM_TYPE_SIZES:
		*ret_of = NM_LAW_OF_BYTES;
		return true;
	case NM_TYPE_DURATIONS:
		*ret_of = NM_LAW_OF_NS;
		return true;
	default:
		return false;
	}
}

const struct nm_opt *nm_opt_find(const struct nm_opt *table, const char *name)
{
	for (; table && table->name; table++)
		if (nm_ascii_equals(table->name, name) ||
		    (table->alias && nm_ascii_equals(table->alias, name)))
			return table;
	return NULL;
}

static const char *article(enum nm_type type)
{
	return strchr("aeiou", *nm_type_name(type)) ? "an" : "a";
}

/* What is allowed in a reading. */
static const char *allowed_in(enum nm_reading reading, enum nm_type type)
{
	if (reading != NM_READING_UPERF)
		return nm_type_allowed(type);
	switch (type) {
	case NM_TYPE_COUNT:
		return "a number and an optional k, m or g (powers of 1024)";
	case NM_TYPE_DURATION:
		return "a number and an optional s, ms, us or ns (seconds without one); min and h "
		       "with units=\"netmodel\" on <profile>";
	case NM_TYPE_RATE:
		return "a number and an optional k, m or g (powers of 1024), and an optional /s";
	default:
		return nm_type_allowed(type);
	}
}

static int refuse(enum nm_type type, enum nm_reading reading, const char *text, int error,
		  char *why, size_t why_size)
{
	int n_digits = (int)strspn(text, "0123456789.");

	if (error == -ERANGE)
		snprintf(why, why_size, "too large for %s %s", article(type), nm_type_name(type));
	else if (error == -EDOM)
		snprintf(why, why_size,
			 "m alone may mean minutes or milliseconds: write %.*smin or %.*sms",
			 n_digits, text, n_digits, text);
	else
		snprintf(why, why_size, "not %s %s: %s", article(type), nm_type_name(type),
			 allowed_in(reading, type));
	return -EINVAL;
}

/* A bound in words that fit the type. */
static void bound_text(enum nm_type type, uint64_t bound, char *buf, size_t size)
{
	char human[32];

	if (type == NM_TYPE_DURATION || type == NM_TYPE_DURATIONS)
		nm_format_duration((double)bound * 1e-9, buf, size);
	else if ((type == NM_TYPE_SIZE || type == NM_TYPE_SIZES) && bound >= 10240)
		snprintf(buf, size, "%llu (%s)", (unsigned long long)bound,
			 nm_format_size((double)bound, human, sizeof human));
	else
		snprintf(buf, size, "%llu", (unsigned long long)bound);
}

static int check_range(const struct nm_opt *opt, uint64_t value, char *why, size_t why_size)
{
	char low[64], high[64];

	if (!opt->min && !opt->max)
		return 0;
	if (value >= opt->min && (!opt->max || value <= opt->max))
		return 0;
	bound_text(opt->type, opt->min, low, sizeof low);
	bound_text(opt->type, opt->max, high, sizeof high);
	if (opt->max)
		snprintf(why, why_size, "must be %s to %s", low, high);
	else
		snprintf(why, why_size, "must be at least %s", low);
	return -EINVAL;
}

static int parse_whole(enum nm_type type, enum nm_reading reading, const char *text, uint64_t *ret)
{
	int r;

	switch (type) {
	case NM_TYPE_INTEGER:
		return nm_parse_integer(text, ret);
	case NM_TYPE_SIZE:
		return nm_parse_size(text, reading, ret);
	case NM_TYPE_DURATION:
		return nm_parse_duration(text, reading, ret);
	case NM_TYPE_PORT:
		r = nm_parse_integer(text, ret);
		return r == 0 && *ret > 65535 ? -EINVAL : r;
	default:
		return nm_parse_count(text, reading, ret);
	}
}

/* Writes the warning about a value that was taken as uperf takes it. */
static void remark(enum nm_type type, const char *text, char *why, size_t why_size)
{
	const char *suffix = text + strspn(text, "0123456789.");
	int n_digits = (int)(suffix - text);

	if (type != NM_TYPE_DURATION)
		snprintf(why, why_size, "only the first letter of \"%s\" counts; write %.*s%c",
			 suffix, n_digits, text, *suffix);
	else if (nm_ascii_lower(*suffix) == 's')
		snprintf(why, why_size, "only the first letter of \"%s\" counts; write %.*ss",
			 suffix, n_digits, text);
	else if (nm_ascii_lower(*suffix) == 'm')
		snprintf(why, why_size,
			 "%s is %.*s milliseconds, as in uperf; write %.*sms, or with "
			 "units=\"netmodel\" on <profile> %.*smin for minutes",
			 text, n_digits, text, n_digits, text, n_digits, text);
	else
		snprintf(why, why_size, "%s is %.*s %s; write %.*s%cs", text, n_digits, text,
			 nm_ascii_lower(*suffix) == 'u' ? "microseconds" : "nanoseconds", n_digits,
			 text, nm_ascii_lower(*suffix));
}

static int set_whole(const struct nm_opt *opt, enum nm_reading reading, void *field,
		     const char *text, char *why, size_t why_size)
{
	uint64_t value;
	int r = parse_whole(opt->type, reading, text, &value);

	if (r < 0)
		return refuse(opt->type, reading, text, r, why, why_size);
	bool remarkable = r > 0;

	r = check_range(opt, value, why, why_size);
	if (r < 0)
		return r;
	*(uint64_t *)field = value;
	if (remarkable)
		remark(opt->type, text, why, why_size);
	return 0;
}

/* Adds how sizes are drawn, where the text looks like two sizes. */
static void hint_at_range(const char *text, char *why, size_t why_size)
{
	size_t used = strlen(why);

	if (*text && strpbrk(text + 1, "-,:~"))
		snprintf(why + used, why_size - used, "; sizes are drawn with rand(1k,64k)");
}

static int set_law(const struct nm_opt *opt, enum nm_reading reading, void *field, const char *text,
		   char *why, size_t why_size)
{
	static const enum nm_type single[] = {[NM_LAW_OF_BYTES] = NM_TYPE_SIZE,
					      [NM_LAW_OF_NS] = NM_TYPE_DURATION,
					      [NM_LAW_OF_COUNTS] = NM_TYPE_COUNT};
	struct nm_law law = {.kind = NM_LAW_CONST};
	int r;

	(void)nm_type_is_law(opt->type, &law.of);
	const struct nm_opt one = {.type = single[law.of], .min = opt->min, .max = opt->max};

	if (strchr(text, '(')) {
		r = nm_law_parse(text, law.of, reading, opt->min, &law, why, why_size);
		if (r == 0)
			r = check_range(opt, law.min, why, why_size);
		if (r == 0)
			r = check_range(opt, law.max, why, why_size);
	} else {
		r = set_whole(&one, reading, &law.min, text, why, why_size);
		law.max = law.min;
		if (r < 0 && opt->type == NM_TYPE_SIZES)
			hint_at_range(text, why, why_size);
	}
	if (r < 0) {
		nm_law_fini(&law);
		return r;
	}
	nm_law_fini(field);
	*(struct nm_law *)field = law;
	return 0;
}

static int set_duration_range(const struct nm_opt *opt, enum nm_reading reading, void *field,
			      const char *text, char *why, size_t why_size)
{
	const struct nm_opt one = {.type = NM_TYPE_DURATION, .min = opt->min, .max = opt->max};
	const char *dots = strstr(text, "..");
	struct nm_duration_range range;
	char from[64];
	int n = snprintf(from, sizeof from, "%.*s", dots ? (int)(dots - text) : INT_MAX, text);

	if (n >= (int)sizeof from)
		return refuse(opt->type, reading, text, -EINVAL, why, why_size);
	int r = set_whole(&one, reading, &range.from_ns, from, why, why_size);

	range.to_ns = range.from_ns;
	if (r == 0 && dots)
		r = set_whole(&one, reading, &range.to_ns, dots + 2, why, why_size);
	if (r == 0 && range.to_ns < range.from_ns)
		r = refuse(opt->type, reading, text, -EINVAL, why, why_size);
	if (r == 0)
		*(struct nm_duration_range *)field = range;
	return r;
}

static int set_real(const struct nm_opt *opt, enum nm_reading reading, void *field,
		    const char *text, char *why, size_t why_size)
{
	double value;
	int r = opt->type == NM_TYPE_RATE ? nm_parse_rate(text, reading, &value)
					  : nm_parse_bitrate(text, &value);

	if (r < 0)
		return refuse(opt->type, reading, text, r, why, why_size);
	if (opt->min && value <= 0) {
		snprintf(why, why_size, "must be more than 0");
		return -EINVAL;
	}
	*(double *)field = value;
	return 0;
}

static int set_flag(void *field, const char *text, char *why, size_t why_size)
{
	static const char *const yes[] = {"", "yes", "true", "on", "1"};
	static const char *const no[] = {"no", "false", "off", "0"};

	for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
		if (!text || nm_ascii_equals(text, yes[i])) {
			*(bool *)field = true;
			return 0;
		}
	}
	for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
		if (nm_ascii_equals(text, no[i])) {
			*(bool *)field = false;
			return 0;
		}
	}
	return refuse(NM_TYPE_FLAG, NM_READING_NETMODEL, text, -EINVAL, why, why_size);
}

static int set_choice(const struct nm_opt *opt, void *field, const char *text, char *why,
		      size_t why_size)
{
	size_t used = 0;

	for (int i = 0; opt->choices[i]; i++) {
		if (nm_ascii_equals(opt->choices[i], text)) {
			*(int *)field = i;
			return 0;
		}
	}
	used = (size_t)snprintf(why, why_size, "must be");
	for (int i = 0; opt->choices[i] && used < why_size; i++)
		used += (size_t)snprintf(why + used, why_size - used, "%s %s",
					 i == 0		       ? ""
					 : opt->choices[i + 1] ? ","
							       : " or",
					 opt->choices[i]);
	return -EINVAL;
}

/* With or without "%zone". */
static bool is_ipv6(const char *text)
{
	char address[INET6_ADDRSTRLEN];
	struct in6_addr in6;
	size_t length = strcspn(text, "%");

	if (length >= sizeof address || (text[length] && !text[length + 1]))
		return false;
	memcpy(address, text, length);
	address[length] = '\0';
	return inet_pton(AF_INET6, address, &in6) == 1;
}

/* Not a full check: only a look-up shows whether a name is known. But a text that can only be an
 * address must be one. */
static bool is_host(const char *text)
{
	struct in_addr in;
	size_t length = strlen(text);

	if (!length || length > NM_HOST_MAX)
		return false;
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f || strchr("/,;<>\"'[]", *c))
			return false;
	if (strchr(text, ':'))
		return is_ipv6(text);
	if (text[strspn(text, "0123456789.")] == '\0')
		return inet_aton(text, &in) != 0;
	return true;
}

/* Of a host that may have a port: what is wrong with the part behind the last colon, or how an
 * IPv6 address has one. */
static void refuse_port(const char *text, const char *port, char *why, size_t why_size)
{
	char before[NM_HOST_MAX + 1];
	size_t n = (size_t)(port - text);
	uint64_t number = 0;
	bool is_port = nm_parse_integer(port + 1, &number) == 0 && number && number <= UINT16_MAX;
	size_t used =
		(size_t)snprintf(why, why_size, "not a host: %s; also HOST:PORT or [IPv6]:PORT",
				 nm_type_allowed(NM_TYPE_HOST));

	if (n > NM_HOST_MAX || used >= why_size)
		return;
	memcpy(before, text, n);
	before[n] = '\0';
	if (is_port && is_ipv6(before))
		snprintf(why + used, why_size - used, ", did you mean [%s]:%s?", before, port + 1);
	else if (!is_port && (strchr(text, ':') == port || (n && port[-1] == ']')))
		snprintf(why + used, why_size - used, "; %s%s", port[1] ? port + 1 : "the port",
			 port[1] ? " is no port (1 to 65535)" : " is missing");
}

/* Reads a host into `host`, of NM_HOST_MAX + 1 bytes. *ret_kept: the text that is kept. */
static int read_host(const struct nm_opt *opt, const char *text, char *host, const char **ret_kept,
		     char *why, size_t why_size)
{
	uint16_t port;

	if (nm_host_port_split(text, host, &port) < 0 || !is_host(host)) {
		(void)refuse(NM_TYPE_HOST, NM_READING_NETMODEL, text, -EINVAL, why, why_size);
		if (opt->with_port && strchr(text, ':'))
			refuse_port(text, strrchr(text, ':'), why, why_size);
		return -EINVAL;
	}
	*ret_kept = port ? text : host;
	if (!port || (opt->with_port && !nm_ascii_equals(host, "local")))
		return 0;
	if (opt->with_port)
		snprintf(why, why_size, "local has no port: the master starts that slave itself");
	else
		snprintf(why, why_size, "must be a name or an address alone, without a port: %s",
			 host);
	return -EINVAL;
}

static int set_text(const struct nm_opt *opt, void *field, const char *text, char *why,
		    size_t why_size)
{
	char **string = field, host[NM_HOST_MAX + 1];

	if (opt->type == NM_TYPE_HOST && read_host(opt, text, host, &text, why, why_size) < 0)
		return -EINVAL;
	char *copy = strdup(text);

	if (!copy) {
		snprintf(why, why_size, "out of memory");
		return -ENOMEM;
	}
	free(*string);
	*string = copy;
	return 0;
}

int nm_opt_read(const struct nm_opt *opt, enum nm_reading reading, void *base, const char *value,
		char *why, size_t why_size)
{
	void *field = (char *)base + opt->offset;

	*why = '\0';
	if (opt->type == NM_TYPE_FLAG) {
		if (opt->given && value && !*value)
			return 0;
		if (opt->given)
			*(bool *)((char *)base + opt->given) = true;
		return set_flag(field, value, why, why_size);
	}
	if (!value) {
		snprintf(why, why_size, "needs a value: %s", allowed_in(reading, opt->type));
		return -EINVAL;
	}
	switch (opt->type) {
	case NM_TYPE_COUNT:
	case NM_TYPE_INTEGER:
	case NM_TYPE_SIZE:
	case NM_TYPE_DURATION:
	case NM_TYPE_PORT:
		return set_whole(opt, reading, field, value, why, why_size);
	case NM_TYPE_RATE:
	case NM_TYPE_BITRATE:
		return set_real(opt, reading, field, value, why, why_size);
	case NM_TYPE_COUNTS:
	case NM_TYPE_SIZES:
	case NM_TYPE_DURATIONS:
		return set_law(opt, reading, field, value, why, why_size);
	case NM_TYPE_DURATION_RANGE:
		return set_duration_range(opt, reading, field, value, why, why_size);
	case NM_TYPE_ENUM:
		return set_choice(opt, field, value, why, why_size);
	default:
		return set_text(opt, field, value, why, why_size);
	}
}

int nm_opt_set(const struct nm_opt *opt, void *base, const char *value, char *why, size_t why_size)
{
	return nm_opt_read(opt, NM_READING_NETMODEL, base, value, why, why_size);
}

int nm_type_check(enum nm_type type, enum nm_reading reading, const char *value, char *why,
		  size_t why_size)
{
	static const char *const none[] = {NULL};
	union {
		uint64_t whole;
		double real;
		bool flag;
		char *text;
		struct nm_law law;
		struct nm_duration_range range;
	} scratch = {0};
	const struct nm_opt opt = {.name = "", .type = type, .choices = none, .with_port = true};

	if (type == NM_TYPE_ENUM)
		return 0;
	enum nm_law_of of;
	int r = nm_opt_read(&opt, reading, &scratch, value, why, why_size);

	if (r == 0 && (type == NM_TYPE_STRING || type == NM_TYPE_HOST))
		free(scratch.text);
	if (r == 0 && nm_type_is_law(type, &of))
		nm_law_fini(&scratch.law);
	return r;
}

int nm_opts_defaults(const struct nm_opt *table, void *base)
{
	char why[128];

	for (; table->name; table++) {
		int r = table->def ? nm_opt_set(table, base, table->def, why, sizeof why) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
}

void nm_opts_wipe_secrets(const struct nm_opt *table, void *base)
{
	for (; table->name; table++)
		if (table->secret)
			wipe(*(char **)(void *)((char *)base + table->offset));
}

void nm_opts_fini(const struct nm_opt *table, void *base)
{
	enum nm_law_of of;

	for (; table->name; table++) {
		if (nm_type_is_law(table->type, &of))
			nm_law_fini((struct nm_law *)(void *)((char *)base + table->offset));
		if (table->type != NM_TYPE_STRING && table->type != NM_TYPE_HOST)
			continue;
		char **string = (char **)(void *)((char *)base + table->offset);

		if (table->secret)
			wipe(*string);
		free(*string);
		*string = NULL;
	}
}

int nm_why_set(struct nm_why *why, const char *option, const char *fmt, ...)
{
	va_list args;

	why->option = option;
	va_start(args, fmt);
	(void)vsnprintf(why->text, sizeof why->text, fmt, args);
	va_end(args);
	return -EINVAL;
}
