/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a report by its name, lists all of them, and makes the line that is shown while a run goes
 * on. */
#include "report/report.h"

#include <stdarg.h>
#include <string.h>

#include "base/units.h"

const struct nm_report *nm_report_find(const char *name)
{
	for (const struct nm_report *const *r = nm_reports; *r; r++)
		if (strcmp((*r)->name, name) == 0)
			return *r;
	return NULL;
}

/* Appends a field where it fits whole; false: the line is full. */
__attribute__((format(printf, 3, 4))) static bool add_field(char *buf, size_t size, const char *fmt,
							    ...)
{
	size_t used = strlen(buf);
	va_list args;

	va_start(args, fmt);
	int length = vsnprintf(buf + used, size - used, fmt, args);
	va_end(args);
	if (length >= 0 && (size_t)length < size - used)
		return true;
	buf[used] = '\0';
	return false;
}

char *nm_report_choices(char *buf, size_t size)
{
	buf[0] = '\0';
	for (const struct nm_report *const *r = nm_reports; *r; r++) {
		const char *before = r == nm_reports ? "" : r[1] ? ", " : " or ";
		const char *help = (*r)->help;

		if (!add_field(buf, size, "%s%s%s%s%s", before, (*r)->name, help ? " (" : "",
			       help ? help : "", help ? ")" : ""))
			break;
	}
	return buf;
}

void nm_report_live_line(const struct nm_result_interval *row, char *buf, size_t size)
{
	static const char *const parts[] = {"  warm-up", "", "  cool-down"};
	const struct nm_window *window = &row->window;
	double seconds = window->seconds > 0 ? window->seconds : 1;
	char text[32];

	if (size == 0)
		return;
	buf[0] = '\0';
	if (!add_field(buf, size, "%6.1f s%s", row->to_s, parts[row->part]))
		return;
	nm_format_count((double)window->counts.iterations / seconds, text, sizeof(text));
	if (!add_field(buf, size, "  %s trans/s", text))
		return;
	nm_format_bitrate((double)window->counts.bytes_sent * 8 / seconds, text, sizeof(text));
	if (!add_field(buf, size, "  out %s", text))
		return;
	nm_format_bitrate((double)window->counts.bytes_received * 8 / seconds, text, sizeof(text));
	if (!add_field(buf, size, "  in %s", text) || window->latency.count == 0)
		return;
	nm_format_duration(window->latency.mean_s, text, sizeof(text));
	if (!add_field(buf, size, "  mean %s", text))
		return;
	nm_format_duration(window->latency.max_s, text, sizeof(text));
	(void)add_field(buf, size, "  max %s", text);
}
