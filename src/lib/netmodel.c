/* SPDX-License-Identifier: Apache-2.0 */
/* The object of the library: how it is made and freed, stops its run, loads a profile, takes
 * parameters and options, and keeps its diagnostics. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "lib/netmodel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "host/wake.h"
#include "lib/netmodel_priv.h"

#define MAX_OPTIONS 32

const char *netmodel_version(void)
{
	return PACKAGE_VERSION;
}

/* A descriptor from 0 to 2, if the caller has closed those, would get the output that others write
 * to standard error. */
static int keep_off_standard(int *fd)
{
	if (*fd < 0)
		return -EMFILE;
	if (*fd > STDERR_FILENO)
		return 0;
	int moved = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (moved < 0)
		return -errno;
	close(*fd);
	*fd = moved;
	return 0;
}

static int open_descriptors(struct netmodel *nm)
{
	int ends[2];

	/* A pipe and not an eventfd: each byte is one request, however it is read. */
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return -errno;
	nm->run.stop_read = ends[0];
	nm->run.stop_write = ends[1];
	nm->run.done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int error = keep_off_standard(&nm->run.stop_read);
	if (!error)
		error = keep_off_standard(&nm->run.stop_write);
	return error ? error : keep_off_standard(&nm->run.done_fd);
}

struct netmodel *netmodel_new(void)
{
	struct netmodel *nm = calloc(1, sizeof(*nm));

	if (!nm)
		return NULL;
	nm->run.stop_read = nm->run.stop_write = nm->run.done_fd = -1;
	nm->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (nm->locale && open_descriptors(nm) == 0 && nm_settings_init(&nm->settings) == 0)
		return nm;
	netmodel_free(nm);
	return NULL;
}

void nm_diags_begin(struct netmodel *nm)
{
	for (size_t i = 0; i < nm->lines.count; i++)
		free(nm->lines.items[i]);
	free(nm->lines.items);
	nm->lines.items = NULL;
	nm->lines.count = nm->lines.n_told = 0;
	nm_diags_fini(&nm->diags);
	nm->diags = (struct nm_diags){.count = 0};
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

void netmodel_stop(struct netmodel *nm)
{
	int saved = errno; /* may be called by a signal handler */

	if (atomic_load(&nm->run.state) == NM_RUNNING)
		nm_wake_with(nm->run.stop_write, "", 1);
	errno = saved;
}

/* Ends a run with a thread of its own. */
static void end_run(struct netmodel *nm)
{
	if (!nm->run.thread.started)
		return;
	netmodel_stop(nm);
	netmodel_stop(nm);
	nm_thread_join(&nm->run.thread);
}

void netmodel_free(struct netmodel *nm)
{
	if (!nm)
		return;
	end_run(nm);
	nm_diags_begin(nm);
	nm_result_free(nm->result);
	nm_requirements_fini(&nm->required);
	nm_requirements_fini(&nm->judged);
	nm_loaded_fini(&nm->loaded);
	nm_settings_fini(&nm->settings);
	for (size_t i = 0; i < nm->n_defines; i++) {
		free((char *)nm->defines[i].name);
		free((char *)nm->defines[i].value);
	}
	free(nm->defines);
	free(nm->load_failed);
	close_if_open(nm->run.stop_read);
	close_if_open(nm->run.stop_write);
	close_if_open(nm->run.done_fd);
	if (nm->locale)
		freelocale(nm->locale);
	free(nm);
}

void nm_locale_enter(struct netmodel *nm)
{
	nm->callers_locale = uselocale(nm->locale);
}

void nm_locale_leave(struct netmodel *nm)
{
	(void)uselocale(nm->callers_locale);
}

void nm_log_tell(struct netmodel *nm, enum netmodel_level level, const char *line)
{
	if (!nm->on.log)
		return;
	nm_locale_leave(nm);
	nm->on.log(nm->on.log_arg, level, line);
	nm_locale_enter(nm);
}

/* Keeps a diagnostic as text, so that handing it out cannot fail. Without memory it is left out. */
static void keep_line(struct netmodel *nm, const char *line)
{
	char *copy = strdup(line);
	char **lines =
		copy ? realloc(nm->lines.items, (nm->lines.count + 1) * sizeof(*lines)) : NULL;

	if (!lines) {
		free(copy);
		return;
	}
	nm->lines.items = lines;
	nm->lines.items[nm->lines.count++] = copy;
}

void nm_diags_tell(struct netmodel *nm)
{
	for (; nm->lines.n_told < nm->diags.count; nm->lines.n_told++) {
		const struct nm_diag *diag = &nm->diags.items[nm->lines.n_told];
		char line[4096];

		nm_diag_format(diag, line, sizeof(line));
		keep_line(nm, line);
		nm_log_tell(nm, diag->severity == NM_SEV_ERROR ? NETMODEL_ERROR : NETMODEL_WARNING,
			    line);
	}
}

/* Keeps why no profile could be loaded: a program may ask only after it has tried to run one. */
static void note_load(struct netmodel *nm)
{
	free(nm->load_failed);
	nm->load_failed = nm->loaded.text || !nm->lines.count ? NULL : strdup(nm->lines.items[0]);
}

int netmodel_load_file(struct netmodel *nm, const char *path)
{
	nm_diags_begin(nm);
	nm_locale_enter(nm);
	int error = nm_loaded_read(&nm->loaded, path, &nm->diags);
	nm_diags_tell(nm);
	note_load(nm);
	nm_locale_leave(nm);
	return error;
}

int netmodel_load_text(struct netmodel *nm, const char *name, const char *text, size_t length)
{
	nm_diags_begin(nm);
	nm_locale_enter(nm);
	int error = nm_loaded_copy(&nm->loaded, name, text, length, &nm->diags);
	nm_diags_tell(nm);
	note_load(nm);
	nm_locale_leave(nm);
	return error;
}

int netmodel_set_param(struct netmodel *nm, const char *name, const char *value)
{
	nm_diags_begin(nm);
	if (*name == '\0')
		return -EINVAL;
	char *copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < nm->n_defines; i++) {
		if (strcmp(nm->defines[i].name, name) == 0) {
			free((char *)nm->defines[i].value);
			nm->defines[i].value = copy;
			return 0;
		}
	}
	char *key = strdup(name);
	struct nm_define *defines =
		key ? realloc(nm->defines, (nm->n_defines + 1) * sizeof(*defines)) : NULL;
	if (!defines) {
		free(key);
		free(copy);
		return -ENOMEM;
	}
	nm->defines = defines;
	nm->defines[nm->n_defines++] = (struct nm_define){.name = key, .value = copy};
	return 0;
}

static int refuse_unknown(struct netmodel *nm, const char *name)
{
	const char *names[MAX_OPTIONS];
	size_t count = 0;

	for (; count < MAX_OPTIONS && nm_settings_table[count].name; count++)
		names[count] = nm_settings_table[count].name;
	const char *nearest = nm_nearest(name, names, count);
	nm_diag_error(&nm->diags, NULL, 0, "%s: unknown option%s%s%s", name,
		      nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
	return -ENOENT;
}

int netmodel_set_option(struct netmodel *nm, const char *name, const char *value)
{
	const struct nm_opt *opt = nm_opt_find(nm_settings_table, name);
	char why[256] = "";
	int error;

	nm_diags_begin(nm);
	nm_locale_enter(nm);
	if (!opt) {
		error = refuse_unknown(nm, name);
	} else {
		error = nm_settings_set(&nm->settings, opt, value, why, sizeof(why));
		if (error)
			nm_diag_error(&nm->diags, NULL, 0, "%s=\"%s\": %s", name, value,
				      *why ? why : strerror(-error));
		else if (*why)
			nm_diag_warn(&nm->diags, NULL, 0, "%s=\"%s\": %s", name, value, why);
	}
	nm_diags_tell(nm);
	nm_locale_leave(nm);
	return error;
}

int netmodel_set_key(struct netmodel *nm, const char *text)
{
	char why[128];
	struct nm_key *key = text ? nm_key_new(text, why, sizeof(why)) : NULL;
	int error = text && !key ? -EINVAL : 0;

	nm_diags_begin(nm);
	if (error)
		nm_diag_error(&nm->diags, NULL, 0, "not a key: %s", why);
	else
		nm_settings_take_key(&nm->settings, key);
	nm_diags_tell(nm);
	return error;
}

int nm_netmodel_compile(struct netmodel *nm)
{
	struct nm_param_values values = {.defines = nm->defines, .n_defines = nm->n_defines};

	nm_requirements_fini(&nm->required);
	if (!nm->loaded.text) {
		nm_diag_error(&nm->diags, NULL, 0, "no profile is loaded%s%s",
			      nm->load_failed ? ": " : "", nm->load_failed ? nm->load_failed : "");
		return -EINVAL;
	}
	nm->loaded.warmup = nm->settings.warmup;
	nm->loaded.warmup_text = nm->settings.warmup_text;
	int error = nm_loaded_compile(&nm->loaded, &values, &nm->diags);

	return error ? error : nm_loaded_requirements(&nm->loaded, &nm->required, &nm->diags);
}

int netmodel_check(struct netmodel *nm)
{
	nm_diags_begin(nm);
	nm_locale_enter(nm);
	int error = nm_netmodel_compile(nm);
	nm_diags_tell(nm);
	nm_locale_leave(nm);
	return error;
}

size_t netmodel_n_diagnostics(const struct netmodel *nm)
{
	return nm->lines.count;
}

const char *netmodel_diagnostic(const struct netmodel *nm, size_t index)
{
	return index < nm->lines.count ? nm->lines.items[index] : NULL;
}

void netmodel_on_log(struct netmodel *nm, netmodel_log_fn fn, void *arg)
{
	nm->on.log = fn;
	nm->on.log_arg = arg;
}

void netmodel_on_result(struct netmodel *nm, netmodel_result_fn fn, void *arg)
{
	nm->on.result = fn;
	nm->on.result_arg = arg;
}
