/* SPDX-License-Identifier: Apache-2.0 */
/* The options string of a flowop. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/diag.h"
#include "base/ascii.h"
#include "flowop/ask.h"
#include "plan/diag.h"
#include "plan/ir.h"
#include "plan/params.h"

#define BLANKS	  " \t\r\n"
#define MAX_NAMES 128

struct reading {
	struct nm_ir *ir;
	struct nm_ir_step *step;
	void *opts, *mirror_opts, *transport_opts, *message_opts;
	struct nm_common_opts *common;
	const struct nm_opt *seen[MAX_NAMES]; /* options given, to notice repetitions */
	size_t n_seen;
	bool lacks_values; /* an option has no value: only that is reported */
	bool has_comma; /* a word that may hold several options is wrong: they may not be missing */
};

static void tell_no_memory(const struct reading *r)
{
	nm_diag_error(r->ir->diags, r->ir->file, r->step->line, "out of memory");
}

/* The next word of *text, copied; NULL at the end, or when out of memory, which is reported. */
static char *next_word(const struct reading *r, const char **text)
{
	*text += strspn(*text, BLANKS);
	size_t n = strcspn(*text, BLANKS);
	char *word = n ? strndup(*text, n) : NULL;

	if (n && !word)
		tell_no_memory(r);
	*text += n;
	return word;
}

static bool has_too_many(struct reading *r, const char *options)
{
	size_t count = 0;

	while (*(options += strspn(options, BLANKS)) && count <= NM_OPTIONS_MAX) {
		options += strcspn(options, BLANKS);
		count++;
	}
	if (count > NM_OPTIONS_MAX)
		nm_step_error(r->ir, r->step, ": has more than %d options", NM_OPTIONS_MAX);
	return count > NM_OPTIONS_MAX;
}

/* Appends a name that is not there yet. */
static size_t add_name(const char *name, const char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return count;
	if (count < MAX_NAMES)
		names[count++] = name;
	return count;
}

static size_t add_names(const struct nm_opt *table, const char **names, size_t count)
{
	for (; table && table->name; table++) {
		count = add_name(table->name, names, count);
		if (table->alias)
			count = add_name(table->alias, names, count);
	}
	return count;
}

/* "connect and accept over tcp, udp": the transports with an option of that name, of connections or
 * of messages. Returns how much of buf is used. */
static size_t whose_transports(const char *name, bool of_messages, char *buf, size_t size,
			       size_t used)
{
	const char *what = of_messages ? "reading and writing over " : "connect and accept over ";
	const char *before = used ? ", " : "";

	for (const struct nm_transport *const *t = nm_transports; *t && used < size; t++) {
		if (!nm_opt_find(of_messages ? nm_transport_message_opts(*t) : (*t)->opts, name))
			continue;
		used += (size_t)snprintf(buf + used, size - used, "%s%s%s", before, what,
					 (*t)->name);
		before = ", ";
		what = "";
	}
	return used;
}

/* The flowops that have an option of that name: "size is an option of read and write". */
static void whose(const char *name, char *buf, size_t size)
{
	size_t used = 0;

	*buf = '\0';
	for (const struct nm_flowop *const *op = nm_flowops; *op; op++)
		if (nm_opt_find((*op)->opts, name) && used < size)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "",
						 (*op)->name);
	used = whose_transports(name, false, buf, size, used);
	(void)whose_transports(name, true, buf, size, used);
}

static void list_names(const char **names, size_t count, char *buf, size_t size)
{
	size_t used = (size_t)snprintf(buf, size, "%s", count ? "" : "it has none");

	for (size_t i = 0; i < count && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "", names[i]);
}

static void unknown_option(struct reading *r, const char *name)
{
	const char *names[MAX_NAMES];
	char others[256], allowed[512];
	const struct nm_flowop *op = r->step->op;
	const struct nm_transport *transport =
		op->flags & NM_FLOWOP_OPENS ? r->step->transport : NULL;
	size_t count = add_names(op->opts, names, 0);

	/* uperf takes no notice of such words, and people leave some out that way. */
	if (*name && *name != '$' && !isalpha((unsigned char)*name)) {
		nm_step_warn(r->ir, r->step,
			     ": \"%s\" is left out: the name of an option begins with a letter",
			     name);
		return;
	}
	count = add_names(nm_common_opts, names, count);
	whose(name, others, sizeof others);
	/* The transport is not known: it may have the option. */
	if ((op->flags & NM_FLOWOP_OPENS) && !r->step->transport && *others)
		return;
	if (*others) {
		/* uperf takes every option everywhere, and so profiles have them everywhere. */
		nm_option_warn(r->ir, r->step, name,
			       ": \"%s\" has no effect: it is not an option of %s%s%s, but of %s",
			       name, op->name,
			       (op->flags & NM_FLOWOP_OPENS) && r->step->transport ? " over " : "",
			       (op->flags & NM_FLOWOP_OPENS) && r->step->transport
				       ? r->step->transport->name
				       : "",
			       others);
		return;
	}
	const struct nm_element *owner = nm_element_of_attr(name);

	if (owner) {
		nm_origin_named(
			nm_step_unknown(
				r->ir, r->step,
				": \"%s\" is not an option: it belongs on <%s>, as an attribute",
				name, owner->name),
			r->step, name, NULL);
		return;
	}
	list_names(names, count, allowed, sizeof allowed);
	if (transport)
		count = add_names(transport->opts, names, count);
	const char *nearest = nm_nearest(name, names, count);

	nm_origin_named(nm_step_unknown(r->ir, r->step,
					": unknown option \"%s\"%s%s%s; options: %s%s%s", name,
					nearest ? ", did you mean \"" : "", nearest ? nearest : "",
					nearest ? "\"?" : "", allowed,
					transport ? ", and those of --describe " : "",
					transport ? transport->name : ""),
			r->step, name, NULL);
}

static void note_seen(struct reading *r, const struct nm_opt *opt, const char *name)
{
	for (size_t i = 0; i < r->n_seen; i++) {
		if (r->seen[i] == opt) {
			nm_step_warn(r->ir, r->step,
				     ": option \"%s\" is given twice; the last one counts", name);
			return;
		}
	}
	if (r->n_seen < MAX_NAMES)
		r->seen[r->n_seen++] = opt;
}

/* In the profile's reading. */
static int set_option(const struct reading *r, const struct nm_opt *opt, void *base,
		      const char *value, char *why, size_t why_size)
{
	return nm_opt_read(opt, (enum nm_reading)r->ir->attrs.units, base, value, why, why_size);
}

static void set_mirror(struct reading *r, const char *name, const char *value)
{
	const struct nm_flowop *mirror = r->mirror_opts ? r->step->op->mirror_op : NULL;
	const struct nm_opt *opt = mirror ? nm_opt_find(mirror->opts, name) : NULL;
	char why[160];

	if (opt)
		(void)set_option(r, opt, r->mirror_opts, value, why, sizeof why);
}

/* Whether a comma stands where a blank is meant: at the end, or before the name of an option.
 * Commas between parentheses are meant, and those of a list of servers, which is read later. */
static bool has_comma(const struct reading *r, const char *word)
{
	if (strchr(word, '(') || strncasecmp(word, "server=", strlen("server=")) == 0)
		return false;
	for (const char *comma = strchr(word, ','); comma; comma = strchr(comma + 1, ',')) {
		char name[64];
		size_t n = strcspn(comma + 1, "=,");

		if (n == 0)
			return true;
		if (n >= sizeof name)
			continue;
		memcpy(name, comma + 1, n);
		name[n] = '\0';
		if (nm_opt_find(r->step->op->opts, name) || nm_opt_find(nm_common_opts, name) ||
		    (r->transport_opts && nm_opt_find(r->step->transport->opts, name)))
			return true;
	}
	return false;
}

/* An option of single messages decides over which transport they must go: the connection is not
 * known yet. */
static const struct nm_opt *find_message_option(struct reading *r, const char *name)
{
	const struct nm_opt *opt = NULL;

	if (!(r->step->op->flags & NM_FLOWOP_MOVES))
		return NULL;
	if (r->step->message.transport)
		return nm_opt_find(r->step->message.transport->message->opts, name);
	for (const struct nm_transport *const *t = nm_transports; *t && !opt; t++) {
		opt = nm_transport_message_opts(*t) ? nm_opt_find((*t)->message->opts, name) : NULL;
		if (opt) {
			r->message_opts = nm_arena_opts(r->ir->arena, (*t)->message->opts,
							(*t)->message->opts_size);
			r->step->message.transport = *t;
		}
	}
	return r->message_opts ? opt : NULL;
}

/* The option of that name, and the struct that it is a part of. */
static const struct nm_opt *find_option(struct reading *r, const char *name, void **ret_base)
{
	const struct nm_opt *opt = nm_opt_find(r->step->op->opts, name);

	*ret_base = r->opts;
	if (!opt && r->transport_opts) {
		opt = nm_opt_find(r->step->transport->opts, name);
		*ret_base = r->transport_opts;
	}
	if (!opt) {
		opt = nm_opt_find(nm_common_opts, name);
		*ret_base = r->common;
	}
	if (!opt) {
		opt = find_message_option(r, name);
		*ret_base = r->message_opts;
	}
	return opt;
}

/* Blanks between parentheses, as in rand(1k, 2k), tear one word into several. */
static bool read_torn(struct reading *r, char *word, const char **rest)
{
	const char *open = strchr(word, '('), *close = strchr(*rest, ')');
	char *equals = strchr(word, '=');
	char whole[128];
	void *base;

	if (!open || !equals || strchr(open, ')') || !close ||
	    memchr(*rest, '=', (size_t)(close - *rest)))
		return false;
	size_t used = (size_t)snprintf(whole, sizeof whole, "%s", word);

	for (const char *c = *rest; c <= close; c++)
		if (!strchr(BLANKS, *c) && used < sizeof whole)
			used += (size_t)snprintf(whole + used, sizeof whole - used, "%c", *c);
	nm_step_error(r->ir, r->step,
		      " %s%.*s: has blanks inside, and options are separated by blanks; write %s",
		      word, (int)(close + 1 - *rest), *rest, whole);
	*equals = '\0';
	const struct nm_opt *opt = find_option(r, word, &base);

	if (opt) /* the wrong option is not reported as missing, too */
		note_seen(r, opt, word);
	*rest = close + 1;
	return true;
}

/* Where the value of an option begins that has blanks around its "=", NULL: it has none. `rest` is
 * behind the word. */
static const char *value_apart(struct reading *r, const char *word, const char *rest)
{
	const char *equals = strchr(word, '=');
	char next[128];
	void *base;

	rest += strspn(rest, BLANKS);
	if (equals ? equals[1] != '\0' : *rest != '=')
		return NULL;
	if (!equals)
		rest += 1 + strspn(rest + 1, BLANKS);
	size_t n = strcspn(rest, BLANKS);

	if (!n || n >= sizeof next || equals == word)
		return NULL;
	memcpy(next, rest, n);
	next[n] = '\0';
	/* What follows may be the next option, and the value be missing. */
	return strchr(next, '=') || find_option(r, next, &base) ? NULL : rest;
}

/* Blanks around "=" tear an option into two words or three. uperf's profiles have them read as
 * uperf reads them. */
static bool read_apart(struct reading *r, char *word, const char **rest)
{
	const char *begin =
		r->ir->attrs.units == NM_READING_UPERF ? NULL : value_apart(r, word, *rest);
	char *value, why[256];
	void *base;

	if (!begin)
		return false;
	*rest = begin;
	value = next_word(r, rest);
	if (!value)
		return true;
	word[strcspn(word, "=")] = '\0';
	nm_step_error(r->ir, r->step, ": no blanks around =: %s=%s", word, value);
	const struct nm_opt *opt = find_option(r, word, &base);

	if (opt) { /* neither reported as missing, nor missed by later code */
		note_seen(r, opt, word);
		(void)set_option(r, opt, base, value, why, sizeof why);
		set_mirror(r, word, value);
	}
	free(value);
	return true;
}

/* Whether the word has no value, as reported before. The option counts as given. */
static bool read_without_value(struct reading *r, char *word)
{
	char *value = strchr(word, '='), why[160];
	void *base;

	if (!strstr(word, NM_NO_VALUE))
		return false;
	r->lacks_values = r->ir->lacks_values = true;
	if (!value || strstr(word, NM_NO_VALUE) < value)
		return true;
	*value = '\0';
	const struct nm_opt *opt = find_option(r, word, &base);

	if (!opt)
		return true;
	note_seen(r, opt, word);
	/* Later code relies on the host and the sizes of a flowop. */
	if (opt->type == NM_TYPE_HOST || opt->type == NM_TYPE_SIZES) {
		(void)set_option(r, opt, base, "1", why, sizeof why);
		set_mirror(r, word, "1");
	}
	return true;
}

static void read_word(struct reading *r, char *word)
{
	char *value = strchr(word, '=');
	char why[256];

	if (has_comma(r, word)) {
		r->has_comma = true;
		nm_step_error(r->ir, r->step,
			      ": \"%s\": options are separated by blanks, not commas", word);
		return;
	}
	if (value)
		*value++ = '\0';
	void *base;
	const struct nm_opt *opt = find_option(r, word, &base);

	if (!opt) {
		unknown_option(r, word);
		return;
	}
	note_seen(r, opt, word);
	if (set_option(r, opt, base, value, why, sizeof why) < 0)
		nm_option_error(r->ir, r->step, word, " %s%s%s%s: %s", word, value ? "=\"" : "",
				value ? value : "", value ? "\"" : "", why);
	else {
		if (*why)
			nm_step_warn(r->ir, r->step, " %s=\"%s\": %s", word, value, why);
		set_mirror(r, word, value);
	}
}

/* The protocols that uperf has and netmodel does not. */
static const struct {
	const char *name, *why;
} of_uperf[] = {
	{"rds", "RDS (CONFIG_RDS) is missing in most kernels, and netmodel does not have it; sctp "
		"is near to it"},
	{"udapl", "uDAPL is the interface of RDMA adapters, and netmodel does not have it"},
};

static void unknown_protocol(struct reading *r, const char *name)
{
	const char *names[MAX_NAMES];
	char allowed[256];
	size_t count = 0;

	for (size_t i = 0; i < sizeof of_uperf / sizeof *of_uperf; i++) {
		if (!nm_ascii_equals(name, of_uperf[i].name))
			continue;
		nm_option_error(r->ir, r->step, "protocol", " protocol=\"%s\": %s", name,
				of_uperf[i].why);
		return;
	}
	for (const struct nm_transport *const *t = nm_transports; *t; t++) {
		count = add_name((*t)->name, names, count);
		if ((*t)->alias)
			count = add_name((*t)->alias, names, count);
	}
	const char *nearest = nm_nearest(name, names, count);

	list_names(names, count, allowed, sizeof allowed);
	nm_option_error(r->ir, r->step, "protocol",
			" protocol=\"%s\": unknown protocol%s%s%s; must be one of: %s", name,
			nearest ? ", did you mean \"" : "", nearest ? nearest : "",
			nearest ? "\"?" : "", allowed);
}

/* The protocol decides which other options there are, so it is looked up first. */
static void choose_transport(struct reading *r, const char *options)
{
	const struct nm_opt *opt = nm_opt_find(r->step->op->opts, "protocol");
	const char *name = opt && opt->def ? opt->def : "";
	char *found = NULL, *word;

	while ((word = next_word(r, &options))) {
		if (strncasecmp(word, "protocol=", 9) == 0) {
			free(found);
			found = strdup(word + 9);
			if (!found)
				tell_no_memory(r);
		}
		free(word);
	}
	if (found)
		name = found;
	if (strstr(name, NM_NO_VALUE)) {
		free(found);
		return;
	}
	r->step->transport = nm_transport_find(name);
	if (!r->step->transport) {
		unknown_protocol(r, name);
	} else {
		r->transport_opts = nm_arena_opts(r->ir->arena, r->step->transport->opts,
						  r->step->transport->opts_size);
		if (!r->transport_opts)
			tell_no_memory(r);
	}
	free(found);
}

static bool was_given(const struct reading *r, const struct nm_opt *opt)
{
	for (size_t i = 0; i < r->n_seen; i++)
		if (r->seen[i] == opt)
			return true;
	return false;
}

/* Counts the flags that are yes, and all flags. Complains of words that are none. */
static bool count_flags(struct reading *r, const char *name, const char *text, size_t *ret_yes,
			size_t *ret_all)
{
	*ret_yes = *ret_all = 0;
	for (const char *at = text; at;) {
		const struct nm_opt one = {.name = name, .type = NM_TYPE_FLAG};
		size_t length = strcspn(at, ",");
		char word[16] = "?", why[160];
		bool yes = false;

		if (length && length < sizeof word) {
			memcpy(word, at, length);
			word[length] = '\0';
		}
		if (nm_opt_set(&one, &yes, word, why, sizeof why) < 0) {
			nm_option_error(r->ir, r->step, name, " %s=\"%s\": %s", name, text, why);
			return false;
		}
		*ret_yes += yes;
		++*ret_all;
		at = at[length] ? at + length + 1 : NULL;
	}
	return true;
}

/* Whether when= and unless= leave the flowop out. */
static bool is_absent(struct reading *r)
{
	size_t yes, all;

	if (r->common->unless && count_flags(r, "unless", r->common->unless, &yes, &all) && yes)
		return true;
	return r->common->when && count_flags(r, "when", r->common->when, &yes, &all) && yes < all;
}

/* Whether another option spares the profile this one, which is required otherwise. */
static bool is_spared(const struct reading *r, const struct nm_opt *opt)
{
	const char *given = NULL;

	for (size_t i = 0; i < NM_OPT_UNLESS && opt->unless[i] && !(given && *given); i++)
		memcpy(&given,
		       (const char *)r->opts +
			       nm_opt_find(r->step->op->opts, opt->unless[i])->offset,
		       sizeof given);
	return given && *given;
}

static void check_whole(struct reading *r)
{
	const struct nm_flowop *op = r->step->op;
	struct nm_why complaint = {.option = NULL};
	char why[256];

	for (const struct nm_opt *opt = op->opts; opt->name; opt++)
		if (opt->required && !was_given(r, opt) && !is_spared(r, opt) && !r->has_comma)
			nm_step_error(r->ir, r->step, ": needs %s=...: %s", opt->name, opt->help);
	if (r->lacks_values || r->has_comma)
		return;
	if (op->check && op->check(r->opts, why, sizeof why) < 0)
		nm_step_error(r->ir, r->step, ": %s", why);
	if (!r->transport_opts)
		return;
	if ((nm_flowop_is_to_server(op, r->opts) &&
	     nm_transport_set_server(r->step->transport, r->transport_opts, &complaint) < 0) ||
	    nm_transport_prepare(r->step->transport, r->transport_opts, &complaint) < 0)
		nm_option_error(r->ir, r->step, complaint.option, " %s", complaint.text);
	else if (*complaint.text)
		nm_step_warn(r->ir, r->step, " %s", complaint.text);
}

/* The options of the transport at the other end. */
static void mirror_transport_options(struct reading *r)
{
	static const struct nm_opt none[] = {NM_OPT_END};
	const struct nm_transport *transport = r->step->transport;
	void *opts = r->transport_opts;

	if (opts && transport->checks && transport->checks->mirror) {
		/* The strings belong to the original. */
		opts = nm_arena_opts(r->ir->arena, none, transport->opts_size);
		if (opts) {
			memcpy(opts, r->transport_opts, transport->opts_size);
			transport->checks->mirror(opts);
		} else {
			tell_no_memory(r);
		}
	}
	r->step->mirror_transport_opts = opts;
}

static bool make_structs(struct reading *r)
{
	const struct nm_flowop *op = r->step->op;
	const struct nm_flowop *mirror = op->mirror_op;

	r->opts = nm_arena_opts(r->ir->arena, op->opts, op->opts_size);
	if (mirror && mirror->opts != op->opts)
		r->mirror_opts = nm_arena_opts(r->ir->arena, mirror->opts, mirror->opts_size);
	r->common = nm_arena_opts(r->ir->arena, nm_common_opts, sizeof *r->common);
	if (r->opts && r->common && (!mirror || mirror->opts == op->opts || r->mirror_opts))
		return true;
	tell_no_memory(r);
	return false;
}

/* The size of what the flowop moves at a time, where it has one. */
static void take_size(struct nm_ir_step *step)
{
	const bool asks = step->op->flags & NM_FLOWOP_ASKS;
	const struct nm_law *size = asks ? &((const struct nm_opts_ask *)step->opts)->size
					 : &((const struct nm_opts_message *)step->opts)->size;

	step->size = size->max;
	step->law = size->max == 0 || size->kind == NM_LAW_CONST ? NULL : size;
	if (!asks)
		step->rsize = ((const struct nm_opts_message *)step->opts)->rsize_bytes;
}

void nm_ir_options(struct nm_ir *ir, struct nm_ir_step *step)
{
	const char *options = step->written.options ? step->written.options->value : "";
	struct reading r = {.ir = ir, .step = step};
	const char *rest = options;
	char *word;

	if (!make_structs(&r))
		return;
	/* After so many mistakes no more are reported. */
	if (has_too_many(&r, options) || ir->diags->n_errors > NM_DIAGS_MAX)
		options = rest = "";
	step->opts = r.opts;
	if (step->op->flags & NM_FLOWOP_OPENS)
		choose_transport(&r, options);
	while ((word = next_word(&r, &rest))) {
		if (!read_without_value(&r, word) && !read_torn(&r, word, &rest) &&
		    !read_apart(&r, word, &rest))
			read_word(&r, word);
		free(word);
	}
	step->absent = is_absent(&r);
	/* A flowop that is left out may lack options, or have some that this host cannot serve. */
	if (!step->absent)
		check_whole(&r);
	step->mirror_opts = r.mirror_opts ? r.mirror_opts : r.opts;
	step->transport_opts = r.transport_opts;
	mirror_transport_options(&r);
	step->message.opts = r.message_opts;
	step->common = r.common;
	if ((step->op->flags & (NM_FLOWOP_MOVES | NM_FLOWOP_ASKS)) &&
	    !(step->op->flags & NM_FLOWOP_FILES))
		take_size(step);
}
