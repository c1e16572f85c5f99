/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the parts of the command share: its version, the environment, and how diagnostics
 * are printed. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "cli/cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/key.h"
#include "cli/sink.h"

const char *nm_cli_version(void)
{
	return PACKAGE_VERSION;
}

const char *nm_cli_lookup(const char *name, void *arg)
{
	(void)arg;
	return nm_cli_key_is_variable(name) ? NULL : getenv(name);
}

unsigned nm_cli_columns(int fd)
{
	struct winsize size;

	if (!isatty(fd))
		return 0;
	return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

/* A wrong value is reported once, wherever the profile has it. */
static bool is_told(const struct nm_diags *diags, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (nm_diag_is_repeated(&diags->items[index], &diags->items[i]))
			return true;
	return false;
}

void nm_cli_print_diags(struct nm_diags *diags, const struct nm_wording *wording)
{
	struct nm_sink sink;
	/* Standard error may be a pipe whose reader sleeps. */
	FILE *out = nm_sink_open_fd(&sink, STDERR_FILENO, 0) == 0 ? sink.stream : stderr;

	sink.waits = true;
	for (size_t i = 0; i < diags->count; i++) {
		const struct nm_diag *diag = &diags->items[i];
		char text[4096];

		if (is_told(diags, i))
			continue;
		if (diag->file) {
			nm_diag_format_in(diag, wording, text, sizeof(text));
			fprintf(out, "%s\n", text);
		} else {
			nm_diag_print(diag, wording, text, sizeof(text));
			fprintf(out, "netmodel: %s%s\n",
				diag->severity == NM_SEV_WARNING ? "warning: " : "", text);
		}
	}
	if (diags->n_errors && diags->count == 0)
		fputs("netmodel: out of memory\n", out);
	(void)nm_sink_close(&sink);
	nm_diags_fini(diags);
}

int nm_cli_refuse(struct nm_diags *diags, const char *option, const char *value, const char *fmt,
		  ...)
{
	const struct nm_subject subject = {
		.kind = NM_SUBJECT_OPTION, .name = option, .value = value};
	char *why = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&why, fmt, args) < 0)
		why = NULL;
	va_end(args);
	nm_diag_add(diags, NM_SEV_ERROR, NULL, 0, &subject, ": %s", why ? why : "out of memory");
	free(why);
	return NM_EXIT_USAGE;
}

void nm_cli_tell_limit(struct nm_diags *diags, const char *option, uint64_t limit_ns,
		       const char *fmt, ...)
{
	char value[32], *behind = NULL;
	const struct nm_subject subject = {
		.kind = NM_SUBJECT_OPTION, .name = option, .value = value};
	va_list args;

	snprintf(value, sizeof(value), "%.6gs", (double)limit_ns / 1e9);
	va_start(args, fmt);
	if (vasprintf(&behind, fmt, args) < 0)
		behind = NULL;
	va_end(args);
	nm_diag_add(diags, NM_SEV_ERROR, NULL, 0, &subject, "longer than " NM_THE_SUBJECT "%s",
		    behind ? behind : "");
	free(behind);
}
