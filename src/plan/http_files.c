/* SPDX-License-Identifier: Apache-2.0 */
/* Files of requests of HTTP: the paths that they draw from, and the body that they send. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/http.h"
#include "app/weights.h"
#include "base/ascii.h"
#include "base/diag.h"
#include "flowop/ask.h"
#include "flowop/open_opts.h"
#include "plan/diag.h"
#include "plan/grow.h"
#include "plan/http_check.h"
#include "plan/ir.h"
#include "plan/lines.h"

/* The largest body, all of which is kept in memory. */
#define BODY_MAX (256u << 20)

#define BLANKS	      " \t\r"
#define SHOWN	      24 /* bytes of what is wrong */
#define WEIGHT_DIGITS 6	 /* behind the point */
#define WEIGHT_MOST   (NM_WEIGHT_LARGEST / 1000000)

/* --- the paths --- */

/* What has been read so far; all of it is owned. */
struct reading {
	char *texts;
	uint64_t *begins, *weights;
	size_t texts_room, begins_room, weights_room, count, used, longest;
};

/* Whether the percent sign has its two digits. */
static bool is_encoded(const char *path, size_t n)
{
	return n > 2 && nm_ascii_hex(path[1]) >= 0 && nm_ascii_hex(path[2]) >= 0;
}

/* What is wrong with a path; *ret_at: where. */
static const char *why_no_path(const char *path, size_t n, size_t *ret_at)
{
	const char *wrong = nm_path_check(path, n, ret_at);

	for (*ret_at = wrong ? *ret_at : 0; !wrong && *ret_at < n; ++*ret_at)
		if (path[*ret_at] == '%' && !is_encoded(path + *ret_at, n - *ret_at))
			return "has a % without two hexadecimal digits";
	return wrong;
}

/* Without a text it is 1. False: it is none. */
static bool read_weight(const char *text, uint64_t *ret)
{
	if (!*text)
		text = "1";
	return nm_parse_decimal(text, WEIGHT_DIGITS, WEIGHT_MOST, ret) == 0 && *ret &&
	       *ret <= NM_WEIGHT_LARGEST;
}

/* Room for one more path, its end, and its weight. */
static bool has_room(struct reading *into)
{
	return (into->texts_room - into->used > NM_HTTP_PATH_MAX ||
		nm_grow((void **)&into->texts, 1, &into->texts_room)) &&
	       (into->begins_room - into->count > 1 ||
		nm_grow((void **)&into->begins, sizeof *into->begins, &into->begins_room)) &&
	       (into->weights_room > into->count ||
		nm_grow((void **)&into->weights, sizeof *into->weights, &into->weights_room));
}

static int take_path(void *reading, char *line, size_t length, unsigned number, char *why,
		     size_t why_size)
{
	struct reading *into = reading;
	char *path = line + strspn(line, BLANKS), *end = path + strcspn(path, BLANKS);
	char *weight = end + strspn(end, BLANKS), *behind = weight + strcspn(weight, BLANKS);
	const size_t n = (size_t)(end - path);
	size_t at;

	(void)length;
	(void)number;
	if (!n || *path == '#')
		return 0;
	const char *wrong = why_no_path(path, n, &at);

	if (wrong) {
		(void)snprintf(why, why_size, "column %zu: a path %s",
			       (size_t)(path - line) + at + 1, wrong);
		return -EINVAL;
	}
	if (behind[strspn(behind, BLANKS)]) {
		(void)snprintf(why, why_size, "column %zu: there is more behind the weight",
			       (size_t)(behind - line) + strspn(behind, BLANKS) + 1);
		return -EINVAL;
	}
	if (into->count == NM_WEIGHTS_MAX) {
		(void)snprintf(why, why_size, "there are more than %u paths", NM_WEIGHTS_MAX);
		return -EINVAL;
	}
	if (!has_room(into))
		return -ENOMEM;
	*behind = '\0';
	if (!read_weight(weight, &into->weights[into->count])) {
		(void)snprintf(why, why_size,
			       "column %zu: weight \"%.*s\": must be a number above 0, up to "
			       "1000000 (a blank of a path is %%20)",
			       (size_t)(weight - line) + 1, SHOWN, weight);
		return -EINVAL;
	}
	memcpy(into->texts + into->used, path, n);
	into->begins[into->count++] = into->used;
	into->used += n;
	into->longest = n > into->longest ? n : into->longest;
	return 0;
}

/* The law by which keys are drawn: 0, -ENOMEM, or -EINVAL with a phrase in why. */
static int read_law(const char *law, struct nm_keyspace *keys, uint64_t count, char *why,
		    size_t why_size)
{
	const bool weighted = nm_ascii_equals(law, "weights");
	int r = nm_keyspace_init(keys, weighted ? "uniform" : law, "", count, 0, why, why_size);

	if (r == -EINVAL)
		(void)snprintf(why, why_size,
			       "law=\"%s\": must be weights, uniform, zipf(S), where S is the "
			       "exponent, from 0 to 10, or sequential",
			       law);
	if (weighted)
		keys->law = NM_KEYS_WEIGHTED;
	else if (keys->law == NM_KEYS_ZIPF)
		keys->law = NM_KEYS_RANKED;
	return r;
}

/* The same memory in as many bytes as there are. */
static void *shrunk(void *memory, size_t bytes)
{
	void *less = realloc(memory, bytes);

	return less ? less : memory;
}

/* Of what has been read, whose memory the arena has then. */
static int keep_paths(struct nm_ir *ir, const struct nm_opts_ask *opts, struct reading *from,
		      struct nm_paths *ret)
{
	struct nm_weights *weights = NULL;
	char unused[256];
	int r = read_law(opts->law, &ret->keys, from->count, unused, sizeof unused);

	if (r == 0 && ret->keys.law == NM_KEYS_WEIGHTED) {
		weights = nm_weights_new(from->weights, from->count);
		r = weights ? nm_arena_keep(ir->arena, weights) : -ENOMEM;
	}
	free(from->weights);
	from->begins[from->count] = from->used;
	ret->keys.weights = weights;
	ret->keys.length = (uint32_t)from->longest;
	ret->texts = shrunk(from->texts, from->used);
	ret->begins = shrunk(from->begins, (from->count + 1) * sizeof *from->begins);
	*from = (struct reading){.count = 0};
	if (nm_arena_keep(ir->arena, (void *)(uintptr_t)ret->texts) < 0)
		r = -ENOMEM;
	if (nm_arena_keep(ir->arena, (void *)(uintptr_t)ret->begins) < 0)
		r = -ENOMEM;
	return r;
}

static void read_paths(struct nm_ir *ir, struct nm_ir_step *step)
{
	/* Its law may have a table, which goes with its options. */
	static const struct nm_opt kept_opts[] = {
		NM_OPT(SIZES, struct nm_paths, keys.ranks, "ranks"),
		NM_OPT_END,
	};
	const struct nm_opts_ask *opts = step->opts;
	struct nm_paths *paths = nm_arena_opts(ir->arena, kept_opts, sizeof *paths);
	struct reading reading = {.count = 0};
	char why[1600] = "has no paths";
	int r = paths ? nm_lines_read(opts->paths, take_path, &reading, why, sizeof why) : -ENOMEM;

	if (r == 0)
		r = reading.count ? keep_paths(ir, opts, &reading, paths) : -EINVAL;
	free(reading.texts);
	free(reading.begins);
	free(reading.weights);
	if (r == -ENOMEM) {
		nm_diag_error(ir->diags, ir->file, step->line, "out of memory");
	} else if (r < 0) {
		nm_option_error(ir, step, "paths", " paths=\"%s\": %s", opts->paths, why);
	} else {
		step->ask.keyspace = &paths->keys;
		nm_ir_check_http_head(ir, step,
				      (uint32_t)strlen(nm_http_methods[opts->method]) + 1 +
					      paths->keys.length + step->ask.http->length);
	}
}

/* --- the body --- */

/* Reads all of the file: 0 with its bytes, which the arena has; -ENOMEM; or another error with a
 * phrase in why. */
static int read_bytes(struct nm_ir *ir, FILE *file, char **ret, size_t *ret_n, char *why,
		      size_t why_size)
{
	struct stat stat;
	int r = fstat(fileno(file), &stat) < 0 ? -errno : 0;

	if (r == 0 && stat.st_size > (off_t)BODY_MAX) {
		(void)snprintf(why, why_size, "has %lld bytes: a body must have %u at most",
			       (long long)stat.st_size, BODY_MAX);
		return -EFBIG;
	}
	/* A body of no bytes is one, too. */
	*ret = r < 0 ? NULL : malloc((size_t)stat.st_size + 1);
	if (r == 0 && (!*ret || nm_arena_keep(ir->arena, *ret) < 0))
		return -ENOMEM;
	if (r == 0) {
		*ret_n = fread(*ret, 1, (size_t)stat.st_size, file);
		r = ferror(file) ? -errno : 0;
	}
	if (r < 0)
		nm_file_error(r, why, why_size);
	return r;
}

static void read_body(struct nm_ir *ir, struct nm_ir_step *step)
{
	const struct nm_opts_ask *opts = step->opts;
	char *body, why[256];
	FILE *file = NULL;
	size_t n = 0;
	int r = nm_file_open(opts->body, &file);

	if (r < 0) {
		nm_file_error(r, why, sizeof why);
	} else {
		r = read_bytes(ir, file, &body, &n, why, sizeof why);
		(void)fclose(file);
	}
	if (r == -ENOMEM) {
		nm_diag_error(ir->diags, ir->file, step->line, "out of memory");
	} else if (r < 0) {
		nm_option_error(ir, step, "body", " body=\"%s\": %s", opts->body, why);
	} else {
		step->ask.http->body = body;
		step->size = n;
	}
}

void nm_ir_check_http_files(struct nm_ir *ir, const struct nm_ir_step *step)
{
	const struct nm_opts_ask *opts = step->opts;
	struct nm_keyspace keys;
	char why[256];
	int r = read_law(opts->law, &keys, 2, why, sizeof why);

	if (r == 0)
		nm_keyspace_fini(&keys);
	else if (r == -ENOMEM)
		nm_diag_error(ir->diags, ir->file, step->line, "out of memory");
	else
		nm_option_error(ir, step, "law", " %s", why);
	if (nm_is_given(opts->body) && opts->size.max)
		nm_option_error(ir, step, "body",
				" body: not with size: the body is the file, or so many bytes");
}

void nm_ir_read_http_files(struct nm_ir *ir, struct nm_ir_step *step)
{
	const struct nm_opts_ask *opts = step->opts;

	if (nm_is_given(opts->paths))
		read_paths(ir, step);
	if (nm_is_given(opts->body))
		read_body(ir, step);
}
