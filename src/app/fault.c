/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and draws the faults of netmodel's own servers, and spoils their answers. */
#include "app/fault.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "app/app.h"
#include "base/ascii.h"
#include "base/rng.h"
#include "base/units.h"

#define NAME(id, name, help)   [NM_FAULT_##id] = name,
#define LISTED(id, name, help) ", " name
static const char *const names[] = {NM_FAULTS(NAME)};
static const char list[] = NM_FAULTS(LISTED);
#undef NAME
#undef LISTED

/* No answer of any protocol begins so, whether it is text, or has its length or its kind first; it
 * is as long as the longest head of those. */
static const char garbage[] = "\0\2?????????????????????????????\r\n";

#define WORD_MAX 64u
#define EVERY	 "every="

/* The fault of that name; NM_FAULT_NONE: there is none. */
static enum nm_fault find(const char *name)
{
	for (unsigned i = NM_FAULT_NONE + 1; i < NM_FAULT__COUNT; i++)
		if (nm_ascii_equals(names[i], name))
			return (enum nm_fault)i;
	return NM_FAULT_NONE;
}

static int read_when(const char *text, struct nm_fault_when *ret)
{
	const size_t prefix = strlen(EVERY);

	if (strncmp(text, EVERY, prefix) == 0)
		return nm_parse_count(text + prefix, NM_READING_NETMODEL, &ret->every) < 0 ||
				       !ret->every
			       ? -EINVAL
			       : 0;
	return nm_parse_decimal(text, 9, 1, &ret->share) < 0 || ret->share > NM_FAULT_ALL ? -EINVAL
											  : 0;
}

/* "NAME(WHEN[,DURATION])", which is cut into pieces. */
static int read_one(char *text, struct nm_faults *ret, char *why, size_t why_size)
{
	char *open = strchr(text, '('), *close = open ? strchr(open, ')') : NULL;
	char *time = open ? strchr(open, ',') : NULL;

	if (!close || close[1]) {
		snprintf(why, why_size, "\"%s\" is none of " NM_FAULTS_FORM, text);
		return -EINVAL;
	}
	*open = *close = '\0';
	if (time)
		*time++ = '\0';
	const enum nm_fault fault = find(text);
	struct nm_fault_when *when = &ret->when[fault];

	if (fault == NM_FAULT_NONE)
		snprintf(why, why_size, "\"%s\" is no fault; there are: %s", text,
			 list + strlen(", "));
	else if (nm_faults_has(ret, fault))
		snprintf(why, why_size, "%s is there twice", text);
	else if (read_when(open + 1, when) < 0)
		snprintf(why, why_size,
			 "%s(%s): must be a share of the requests, 0 to 1, or every=N with an N of "
			 "1 or more",
			 text, open + 1);
	else if (time && fault != NM_FAULT_STALL)
		snprintf(why, why_size, "%s has no duration, as stall has", text);
	else if (time && (nm_parse_duration(time, NM_READING_NETMODEL, &ret->stall_ns) < 0 ||
			  !ret->stall_ns))
		snprintf(why, why_size, "stall: \"%s\" is no duration, as 200ms", time);
	else
		return 0;
	return -EINVAL;
}

/* The end of the fault that begins there: a comma behind it, or the end of the text. */
static const char *end_of(const char *at)
{
	const char *close = strchr(at, ')');

	at = close ? close : at;
	return at + strcspn(at, ",");
}

int nm_faults_read(const char *text, struct nm_faults *ret, char *why, size_t why_size)
{
	uint64_t sum = 0;

	memset(ret, 0, sizeof *ret);
	for (const char *at = text; at;) {
		const char *end = end_of(at);
		char one[WORD_MAX];

		snprintf(one, sizeof one, "%.*s", (int)(end - at), at);
		if (read_one(one, ret, why, why_size) < 0)
			return -EINVAL;
		at = *end ? end + 1 : NULL;
	}
	for (unsigned i = 0; i < NM_FAULT__COUNT; i++)
		sum += ret->when[i].share;
	if (sum <= NM_FAULT_ALL)
		return 0;
	snprintf(why, why_size, "the shares are more than 1 together");
	return -EINVAL;
}

enum nm_fault nm_fault_draw(const struct nm_faults *faults, uint64_t key, uint64_t n)
{
	uint64_t drawn = nm_rng_below(key, n, NM_FAULT_ALL);

	for (unsigned i = NM_FAULT_NONE + 1; i < NM_FAULT__COUNT; i++) {
		const struct nm_fault_when *when = &faults->when[i];

		if (drawn < when->share || (when->every && (n + 1) % when->every == 0))
			return (enum nm_fault)i;
		drawn -= when->share;
	}
	return NM_FAULT_NONE;
}

/* Where the answer has values, in the last of them. */
static void lengthen(struct nm_rope *out)
{
	if (!out->n_bodies) {
		nm_rope_add_body(out, &(struct nm_rope_body){
					      .data = garbage, .wrap = sizeof garbage, .bytes = 1});
		return;
	}
	out->bodies[out->n_bodies - 1].bytes++;
	out->total++;
}

void nm_fault_spoil(enum nm_fault fault, const struct nm_app *app, struct nm_app_served *served)
{
	struct nm_rope *out = &served->out;

	if (fault == NM_FAULT_SHORT)
		out->total -= out->total / 2;
	else if (fault == NM_FAULT_LONG)
		lengthen(out);
	else if (fault == NM_FAULT_ERROR)
		app->fail(served);
	if (fault != NM_FAULT_GARBAGE)
		return;
	nm_rope_clear(out);
	nm_rope_add_body(out, &(struct nm_rope_body){.data = garbage,
						     .wrap = sizeof garbage,
						     .bytes = sizeof garbage - 1});
}
