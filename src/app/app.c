/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and lists application protocols and their verbs. */
#include "app/app.h"

#include <stdio.h>

#include "base/ascii.h"

static const char *const verbs[NM_VERB__COUNT] = {
	[NM_VERB_PING] = "ping",
	[NM_VERB_ECHO] = "echo",
};

const struct nm_app *nm_app_find(const char *name)
{
	for (const struct nm_app *const *app = nm_apps; *app; app++)
		if (nm_ascii_equals((*app)->name, name))
			return *app;
	return NULL;
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

char *nm_app_verbs(const struct nm_app *app, char *buf, size_t size)
{
	size_t used = 0;

	*buf = '\0';
	for (unsigned verb = 0; verb < NM_VERB__COUNT; verb++)
		if (app->verbs & NM_VERB_BIT(verb))
			used = add(buf, size, used, verbs[verb]);
	return buf;
}
