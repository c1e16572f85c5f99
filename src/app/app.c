/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and lists application protocols and their verbs, puts requests together, and notes what
 * belongs to none. */
#include "app/app.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"

const struct nm_app *nm_app_find(const char *name)
{
	for (const struct nm_app *const *app = nm_apps; *app; app++)
		if (nm_ascii_equals((*app)->name, name))
			return *app;
	return NULL;
}

enum nm_took nm_app_answer(struct nm_app_served *served, enum nm_verb verb, enum nm_class class,
			   const char *text)
{
	nm_rope_add(&served->out, text, strlen(text));
	served->state = 0;
	served->verb = (uint8_t)verb;
	served->class = (uint8_t) class;
	return NM_TOOK_REQUEST;
}

void nm_app_fail(struct nm_app_served *served, const char *text)
{
	nm_rope_clear(&served->out);
	nm_rope_add(&served->out, text, strlen(text));
	served->class = NM_CLASS_REFUSED;
}

static size_t add(char *buf, size_t size, size_t used, const char *name)
{
	int n = used < size ? snprintf(buf + used, size - used, "%s%s", used ? ", " : "", name) : 0;

	return used + (n > 0 ? (size_t)n : 0);
}

char *nm_app_names(char *buf, size_t size)
{
	size_t used = 0;

	*buf = '\0';
	for (const struct nm_app *const *app = nm_apps; *app; app++)
		used = add(buf, size, used, (*app)->name);
	return buf;
}

char *nm_app_verbs(uint64_t verbs, char *buf, size_t size)
{
	size_t used = 0;

	*buf = '\0';
	for (unsigned verb = 0; verb < NM_VERB__COUNT; verb++)
		if (verbs & NM_VERB_BIT(verb))
			used = add(buf, size, used, nm_verb_name((enum nm_verb)verb));
	return buf;
}

size_t nm_app_compose(const struct nm_app *app, struct nm_app_request *request, uint64_t from,
		      char *buf, size_t size, uint64_t *ret_total)
{
	struct nm_app_encoded encoded;

	app->encode(request, buf, &encoded);
	*ret_total = encoded.head + encoded.payload + encoded.tail;
	size_t n = encoded.head;

	/* The rest of one that the kernel has not taken whole is rare. */
	if (from) {
		n = from < n ? n - (size_t)from : 0;
		memmove(buf, buf + encoded.head - n, n);
		from -= encoded.head - n;
	}
	if (from < encoded.payload) {
		uint64_t left = encoded.payload - from;
		size_t some = left < size - n ? (size_t)left : size - n;

		if (encoded.pool)
			nm_pool_copy(encoded.pool, request->at + from, buf + n, some);
		else
			memcpy(buf + n, encoded.bytes + from, some);
		n += some;
		from += some;
	}
	if (from >= encoded.payload) {
		size_t done = (size_t)(from - encoded.payload), some = encoded.tail - done;

		some = some < size - n ? some : size - n;
		memcpy(buf + n, encoded.tail_text + done, some);
		n += some;
	}
	return n;
}

void nm_app_note(char said[NM_SAID_MAX], const char *data, size_t n)
{
	size_t i = 0;

	for (; i < n && i + 1 < NM_SAID_MAX && data[i] != '\r' && data[i] != '\n'; i++)
		said[i] = data[i] >= ' ' && data[i] < 127 ? data[i] : '?';
	said[i] = '\0';
}
