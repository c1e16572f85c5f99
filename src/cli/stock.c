/* SPDX-License-Identifier: Apache-2.0 */
/* Searches the folders of stock profiles for a name, lists what they hold, and suggests the nearest
 * name for one that is not found. */
#include "cli/stock.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "lib/load.h"
#include "profile/tree.h"
#include "report/table.h"

#define SUFFIX	  ".xml"
#define MAX_DIRS  32
#define MAX_STOCK 1024

struct dirs {
	char *items[MAX_DIRS];
	size_t count;
};

struct stock {
	char *name; /* without the suffix */
	char *path;
};

struct stocks {
	struct stock items[MAX_STOCK];
	size_t count;
};

/* Takes the path over; a path that the list has already is dropped. */
static void add_dir(struct dirs *dirs, char *path)
{
	for (size_t i = 0; path && i < dirs->count; i++) {
		if (strcmp(dirs->items[i], path) == 0) {
			free(path);
			return;
		}
	}
	if (path && dirs->count < MAX_DIRS)
		dirs->items[dirs->count++] = path;
	else
		free(path);
}

static void add_environment(struct dirs *dirs)
{
	const char *list = getenv("NETMODEL_PROFILES");

	while (list && *list) {
		size_t length = strcspn(list, ":");
		if (length)
			add_dir(dirs, strndup(list, length));
		list += length + (list[length] == ':');
	}
}

/* By the effective ids, as opening the file would be. */
static bool may_read(const char *path)
{
	return faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0;
}

/* A tree that was moved after it was installed still finds its own, and so does a build tree. */
static void add_beside_program(struct dirs *dirs)
{
	char program[4096];
	char *path;
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	for (int i = 0; i < 2 && length > 0; i++) {
		program[length] = '\0';
		char *slash = strrchr(program, '/');
		if (!slash)
			return;
		length = slash - program;
	}
	if (length < 0)
		return;
	program[length] = '\0';
	if (asprintf(&path, "%s/share/netmodel/profiles", program) < 0)
		return;
	if (may_read(path)) /* of a build tree it is a link into that of the source */
		add_dir(dirs, realpath(path, NULL));
	free(path);
}

static void dirs_find(struct dirs *ret_dirs)
{
	*ret_dirs = (struct dirs){.count = 0};
	add_environment(ret_dirs);
	add_beside_program(ret_dirs);
#ifdef NM_PKGDATADIR
	add_dir(ret_dirs, strdup(NM_PKGDATADIR "/profiles"));
#endif
}

static void dirs_fini(struct dirs *dirs)
{
	for (size_t i = 0; i < dirs->count; i++)
		free(dirs->items[i]);
}

static bool has_suffix(const char *name)
{
	size_t length = strlen(name);

	return length > strlen(SUFFIX) && strcmp(name + length - strlen(SUFFIX), SUFFIX) == 0;
}

/* The first directory that has a name hides the others. */
static void add_stock(struct stocks *stocks, const char *dir, const char *file)
{
	struct stock item = {.name = strndup(file, strlen(file) - strlen(SUFFIX))};

	if (asprintf(&item.path, "%s/%s", dir, file) < 0)
		item.path = NULL;
	bool wanted = item.name && item.path && stocks->count < MAX_STOCK;
	for (size_t i = 0; wanted && i < stocks->count; i++)
		wanted = strcmp(stocks->items[i].name, item.name) != 0;
	if (wanted) {
		stocks->items[stocks->count++] = item;
		return;
	}
	free(item.name);
	free(item.path);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct stock *)a)->name, ((const struct stock *)b)->name);
}

/* All stock profiles by name; owned, NULL when out of memory. */
static struct stocks *stocks_find(const struct dirs *dirs)
{
	struct stocks *stocks = calloc(1, sizeof(*stocks));

	for (size_t i = 0; stocks && i < dirs->count; i++) {
		DIR *dir = opendir(dirs->items[i]);
		struct dirent *entry;
		while (dir && (entry = readdir(dir)))
			if (has_suffix(entry->d_name) && entry->d_name[0] != '.')
				add_stock(stocks, dirs->items[i], entry->d_name);
		if (dir)
			closedir(dir);
	}
	if (stocks)
		qsort(stocks->items, stocks->count, sizeof(stocks->items[0]), by_name);
	return stocks;
}

static void stocks_free(struct stocks *stocks)
{
	for (size_t i = 0; stocks && i < stocks->count; i++) {
		free(stocks->items[i].name);
		free(stocks->items[i].path);
	}
	free(stocks);
}

/* Names without the suffix that a mistaken one is compared with: files of its directory, then stock
 * profiles. */
struct near {
	const char *names[2 * MAX_STOCK];
	size_t count, n_files;
};

static void add_near_files(struct near *near, const struct stocks *files)
{
	for (size_t i = 0; i < files->count; i++)
		near->names[near->count++] = files->items[i].name;
	near->n_files = near->count;
}

/* The existing name or path that a mistaken one may mean, as a user would type it: owned, NULL when
 * none is near. */
static char *near_name(const char *name, const struct stocks *stocks)
{
	const char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;
	int dir_length = slash ? (int)(base - name) : 0;
	struct dirs here = {.count = 0};
	struct near near = {.count = 0};
	char *stem = strndup(base, strlen(base) - (has_suffix(base) ? strlen(SUFFIX) : 0));
	char *meant = NULL;

	add_dir(&here, slash ? strndup(name, (size_t)dir_length) : strdup("."));
	struct stocks *files = stocks_find(&here);

	if (files)
		add_near_files(&near, files);
	for (size_t i = 0; stocks && i < stocks->count; i++)
		near.names[near.count++] = stocks->items[i].name;
	const char *nearest = stem ? nm_nearest(stem, near.names, near.count) : NULL;
	bool is_file = false;

	for (size_t i = 0; nearest && i < near.n_files; i++)
		is_file |= near.names[i] == nearest;
	if (nearest && asprintf(&meant, "%.*s%s%s", is_file ? dir_length : 0, name, nearest,
				is_file ? SUFFIX : "") < 0)
		meant = NULL;
	stocks_free(files);
	dirs_fini(&here);
	free(stem);
	return meant;
}

static void not_found(const char *name, const struct dirs *dirs, const struct stocks *stocks,
		      struct nm_diags *diags)
{
	char places[2048] = "";
	size_t used = 0;
	char *nearest = near_name(name, stocks);

	for (size_t i = 0; i < dirs->count && used < sizeof(places); i++)
		used += (size_t)snprintf(places + used, sizeof(places) - used, "%s%s",
					 i ? ", " : "", dirs->items[i]);
	if (nearest)
		nm_diag_error(diags, NULL, 0,
			      "-m %s: no such profile; did you mean %s? (looked in %s)", name,
			      nearest, used ? places : "no directory");
	else
		nm_diag_error(diags, NULL, 0,
			      "-m %s: no such file, nor a stock profile (--list shows them; looked "
			      "in %s)",
			      name, used ? places : "no directory");
	free(nearest);
}

/* A path to nothing, where the path that is meant can be guessed. */
static bool is_mistaken_path(const char *path, const struct stocks *stocks, struct nm_diags *diags)
{
	struct stat st;
	char *nearest = stat(path, &st) < 0 && errno == ENOENT ? near_name(path, stocks) : NULL;
	bool mistaken = nearest != NULL;

	if (mistaken)
		nm_diag_error(diags, NULL, 0, "-m %s: no such file; did you mean %s?", path,
			      nearest);
	free(nearest);
	return mistaken;
}

/* The path of the stock profile of that name; owned, NULL: there is none. */
static char *find_stock(const char *name, const struct stocks *stocks)
{
	for (size_t i = 0; stocks && i < stocks->count; i++)
		if (strcmp(stocks->items[i].name, name) == 0)
			return strdup(stocks->items[i].path);
	return NULL;
}

/* Whether the name is that of a file, as the user sees it. A program in the current directory may
 * have the name of a stock profile: a link to netmodel, or another tool's. */
static bool is_file(const char *name, bool is_path, const char *stock)
{
	struct stat st;

	if (stat(name, &st) != 0)
		return false;
	return is_path || (S_ISREG(st.st_mode) && !(stock && (st.st_mode & 0111)));
}

/* The path of the profile that is meant; NULL with an error when there is none. */
static char *find(const char *name, struct nm_diags *diags)
{
	struct dirs dirs;

	if (*name == '\0') {
		nm_diag_error(diags, NULL, 0, "-m: must be the name of a profile or a file");
		return NULL;
	}
	if (strcmp(name, "-") == 0)
		return strdup("/dev/stdin");
	bool is_path = strchr(name, '/') || has_suffix(name);

	dirs_find(&dirs);
	struct stocks *stocks = stocks_find(&dirs);
	char *path = is_path ? NULL : find_stock(name, stocks);

	if (is_file(name, is_path, path)) {
		free(path);
		path = strdup(name);
	} else if (is_path && !is_mistaken_path(name, stocks, diags)) {
		path = strdup(name); /* the error of reading it says why that fails */
	} else if (!path && stocks && !is_path) {
		not_found(name, &dirs, stocks, diags);
	}
	stocks_free(stocks);
	dirs_fini(&dirs);
	return path;
}

char *nm_stock_find(const char *name, struct nm_diags *diags)
{
	size_t errors = diags->n_errors;
	char *path = find(name, diags);

	if (!path && diags->n_errors == errors)
		nm_diag_error(diags, NULL, 0, "-m: out of memory");
	return path;
}

bool nm_stock_has(const char *name)
{
	struct nm_diags ignored = {0};
	struct stat st;
	char *path = nm_stock_find(name, &ignored);
	bool has = path && stat(path, &st) == 0;

	nm_diags_fini(&ignored);
	free(path);
	return has;
}

bool nm_stock_has_param(const char *profile, const char *name)
{
	struct nm_loaded loaded = {0};
	struct nm_diags ignored = {0};
	const struct nm_param_values none = {.n_defines = 0};
	char *path = nm_stock_find(profile, &ignored);
	bool found = false;

	if (path && nm_loaded_read(&loaded, path, &ignored) == 0) {
		(void)nm_loaded_params(&loaded, &none, &ignored);
		for (size_t i = 0; i < loaded.params.count; i++)
			found |= strcmp(loaded.params.items[i].name, name) == 0;
	}
	nm_loaded_fini(&loaded);
	nm_diags_fini(&ignored);
	free(path);
	return found;
}

char *nm_stock_near(const char *name)
{
	struct dirs dirs;

	dirs_find(&dirs);
	struct stocks *stocks = stocks_find(&dirs);
	char *nearest = near_name(name, stocks);

	stocks_free(stocks);
	dirs_fini(&dirs);
	return nearest;
}

/* The first sentence of the profile's first comment; owned, NULL when there is none. */
static char *help_of(const char *path)
{
	struct nm_diags ignored = {0};
	size_t length, used = 0;
	char help[128];

	char *text = nm_profile_slurp(path, &length, &ignored);
	const char *c = text ? strstr(text, "<!--") : NULL;
	for (c = c ? c + 4 : ""; *c && used < sizeof(help) - 1; c++) {
		bool space = isspace((unsigned char)*c);
		if (strncmp(c, "-->", 3) == 0)
			break;
		if (strchr(".:", *c) && isspace((unsigned char)c[1]))
			break;
		if (!space)
			help[used++] = *c;
		else if (used && help[used - 1] != ' ')
			help[used++] = ' ';
	}
	while (used && help[used - 1] == ' ')
		used--;
	help[used] = '\0';
	free(text);
	nm_diags_fini(&ignored);
	return used ? strdup(help) : NULL;
}

int nm_stock_list(FILE *out, struct nm_diags *diags)
{
	struct dirs dirs;
	struct nm_table table = {.align = "ll", .width = nm_cli_columns(fileno(out))};

	dirs_find(&dirs);
	struct stocks *stocks = stocks_find(&dirs);
	for (size_t i = 0; stocks && i < stocks->count; i++) {
		char *help = help_of(stocks->items[i].path);
		nm_table_text(&table, stocks->items[i].name);
		nm_table_text(&table, help ? help : "");
		free(help);
	}
	nm_table_print(&table, 0, out);
	int code = stocks && stocks->count ? NM_EXIT_OK : NM_EXIT_FAILED;
	if (code)
		nm_diag_error(diags, NULL, 0, "--list: no stock profile found");
	nm_table_fini(&table);
	stocks_free(stocks);
	dirs_fini(&dirs);
	return code;
}
