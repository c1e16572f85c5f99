/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a figure by its name in a document, which may be a stranger's, and reads its value. */
#include "report/named.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "report/common.h"
#include "plan/shape.h"
#include "report/figures.h"

#define NAME	   160 /* of a group, transaction or host, within a name */
#define CANDIDATES 512
#define MOST	   2048 /* items of a list that are looked at: a run has fewer of each kind */
#define LISTED	   8	/* names in a message */

struct search {
	const struct nm_named_list *list;
	const char *name; /* all of it */
	struct nm_named_at *at;
	char *why;
	size_t why_size;
};

/* --- groups, transactions and hosts --- */

/* As a name is written within another one: without what would end that. */
static void plain_name(const char *name, char buf[NAME])
{
	(void)nm_name_within(name, " =#<>!", buf, NAME);
}

/* Of a verb, its label is the name. */
static const char *name_of(const json_t *item)
{
	const json_t *verb = json_object_get(item, "verb");
	const char *name = json_string_value(verb ? verb : json_object_get(item, "name"));

	return name ? name : "";
}

/* A number at the begin of the text, with the point behind it: its length, or 0. */
static size_t match_digits(const char *text, unsigned long *ret_number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return 0;
	*ret_number = strtoul(text, &end, 10);
	return *end == '.' ? (size_t)(end - text) + 1 : 0;
}

/* How long the name of an item is at the begin of the text, with the point behind it; 0: another
 * name stands there. Of several items with one name the second is NAME#2; a transaction without a
 * name has its number. seen, by the length of a name: of how many items the text has begun with it
 * so far. Names of one length that the text begins with are one name. */
static size_t match(const json_t *item, const char *text, unsigned seen[NAME])
{
	const json_t *phase = json_object_get(item, "phase");
	char plain[NAME];
	unsigned long number = 1;
	size_t length, tail = 1;

	plain_name(name_of(item), plain);
	length = strlen(plain);
	if (length == 0) {
		tail = match_digits(text, &number);
		return json_is_integer(phase) && json_integer_value(phase) == (json_int_t)number
			       ? tail
			       : 0;
	}
	if (strncmp(text, plain, length) != 0)
		return 0;
	seen[length]++;
	if (text[length] == '#') {
		size_t digits = match_digits(text + length + 1, &number);

		if (!digits)
			return 0;
		tail += digits;
	} else if (text[length] != '.') {
		return 0;
	}
	return seen[length] == number ? length + tail : 0;
}

/* Which of the items of its name it is, from 1. */
static unsigned ordinal_of(const json_t *items, size_t index)
{
	char plain[NAME], other[NAME];
	unsigned same = 1;

	plain_name(name_of(json_array_get(items, index)), plain);
	for (size_t i = 0; i < index; i++) {
		plain_name(name_of(json_array_get(items, i)), other);
		same += strcmp(plain, other) == 0;
	}
	return same;
}

void nm_named_group(const json_t *document, size_t index, char buf[NM_NAMED_PREFIX])
{
	const json_t *groups = json_object_get(document, "groups");
	unsigned ordinal = ordinal_of(groups, index);
	char plain[NAME], number[16] = "";

	plain_name(name_of(json_array_get(groups, index)), plain);
	if (ordinal > 1)
		snprintf(number, sizeof(number), "#%u", ordinal);
	snprintf(buf, NM_NAMED_PREFIX, "group.%s%s.", plain, number);
}

/* The names that there are, for a message. */
static void list_names(const json_t *items, char *buf, size_t size)
{
	char name[NAME];
	size_t used = 0, count = json_array_size(items);

	*buf = '\0';
	for (size_t i = 0; i < count && i < LISTED && used < size; i++) {
		const json_t *number = json_object_get(json_array_get(items, i), "phase");

		plain_name(name_of(json_array_get(items, i)), name);
		if (!*name && json_is_integer(number))
			snprintf(name, sizeof(name), "%lld", (long long)json_integer_value(number));
		used += (size_t)snprintf(buf + used, size - used, "%s%.60s", i ? ", " : "", name);
	}
	if (count > LISTED && used < size)
		snprintf(buf + used, size - used, ", ...");
}

/* Finds the item whose name the text begins with, the longest where several do, and moves behind
 * it. NULL: there is none. */
static const json_t *find_item(const struct search *search, const char *kind, const json_t *items,
			       const char **text)
{
	const json_t *found = NULL;
	unsigned seen[NAME] = {0};
	char names[LISTED * 64];
	size_t longest = 0;

	for (size_t i = 0; i < json_array_size(items) && i < MOST; i++) {
		size_t length = match(json_array_get(items, i), *text, seen);

		if (length <= longest)
			continue;
		longest = length;
		found = json_array_get(items, i);
	}
	if (!found) {
		list_names(items, names, sizeof(names));
		snprintf(search->why, search->why_size,
			 "%s: no %s of that name with a figure behind it; the %ss are %s",
			 search->name, kind, kind, *names ? names : "none");
		return NULL;
	}
	*text += longest;
	return found;
}

/* Moves behind the name of an item of the list that the object has of this scope, if the text names
 * one: then *object is that item, or NULL with a phrase in why. */
static bool enter(const struct search *search, const json_t **object, const char *list,
		  enum nm_scope scope, const char **text, enum nm_scope *ret_scope)
{
	const char *kind = nm_scope_name(scope);
	size_t length = strlen(kind);

	if (!*object || strncmp(*text, kind, length) != 0 || (*text)[length] != '.')
		return false;
	*text += length + 1;
	*ret_scope = scope;
	*object = find_item(search, kind, json_object_get(*object, list), text);
	return true;
}

/* Moves behind the prefix of a scope. The object that the rest of the name is a figure of, NULL
 * with a phrase in why. */
static const json_t *find_scope(const struct search *search, const json_t *document,
				const char **text, enum nm_scope *ret_scope)
{
	const json_t *totals = json_object_get(document, "totals"), *item = document;

	*ret_scope = NM_SCOPE_RUN;
	if (enter(search, &item, "hosts", NM_SCOPE_HOST, text, ret_scope))
		return item;
	if (enter(search, &item, "groups", NM_SCOPE_GROUP, text, ret_scope))
		(void)enter(search, &item, "phases", NM_SCOPE_TRANSACTION, text, ret_scope);
	else if (totals)
		item = totals;
	(void)enter(search, &item, "verbs", NM_SCOPE_VERB, text, ret_scope);
	return item;
}

const json_t *nm_named_object(const json_t *document, const char *prefix)
{
	char unused[512];
	const struct search search = {.name = prefix, .why = unused, .why_size = sizeof(unused)};
	enum nm_scope scope;
	const json_t *object = find_scope(&search, document, &prefix, &scope);

	return *prefix ? NULL : object;
}

/* --- figures --- */

/* The number of a percentile, "99.9" or "99_9", NaN: it is none. */
static double percentile_of(const char *text)
{
	static const double tenths[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
	double number = 0;
	size_t digits = 0, decimals = 0;
	bool point = false;

	for (; *text; text++) {
		if ((*text == '.' || *text == '_') && !point && digits) {
			point = true;
			continue;
		}
		if (*text < '0' || *text > '9' || digits == 9)
			return NAN;
		number = number * 10 + (*text - '0');
		digits++;
		decimals += point;
	}
	if (!digits || (point && !decimals))
		return NAN;
	number /= tenths[decimals];
	return number <= 100 ? number : NAN;
}

/* The percentile that a name stands for, where the entry is that of all percentiles. */
static double percentile_in(const struct nm_named *named, const char *name)
{
	size_t length = strlen(named->name) - 1; /* without N */

	return named->percentiles && strncmp(name, named->name, length) == 0
		       ? percentile_of(name + length)
		       : NAN;
}

/* Whether the name is that of a figure, or of some. */
static bool is_of(const struct nm_named *named, const char *name)
{
	size_t length = strlen(name);

	return !isnan(percentile_in(named, name)) ||
	       (strncmp(named->name, name, length) == 0 &&
		(named->name[length] == '.' ||
		 (named->name[length] == '\0' && !named->percentiles)));
}

static bool has_figure(const struct search *search, enum nm_scope scope, const char *name)
{
	for (size_t i = 0; i < search->list->count; i++)
		if (search->list->items[i].scope == scope && is_of(&search->list->items[i], name))
			return true;
	return false;
}

/* Tells where there is a figure of that name, if only elsewhere. */
static bool tell_elsewhere(const struct search *search, enum nm_scope scope, const char *name)
{
	enum nm_scope found[NM_SCOPE__COUNT];
	char list[64] = "";
	size_t count = 0, used = 0;

	for (size_t i = 0; i < NM_SCOPE__COUNT; i++)
		if (has_figure(search, (enum nm_scope)i, name))
			found[count++] = (enum nm_scope)i;
	if (!count)
		return false;
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%ss",
					 i == 0		  ? ""
					 : i + 1 == count ? " and "
							  : ", ",
					 nm_scope_name(found[i]));
	snprintf(search->why, search->why_size, "%s: no figure of %ss, but of %s (%s%s)",
		 search->name, nm_scope_name(scope), list, nm_scope_prefix(found[0]), name);
	return true;
}

/* Of a name that has figures below it, as latency: "latency.min, latency.mean, ..."; "" if it has
 * none. */
static void list_below(const struct search *search, enum nm_scope scope, const char *name,
		       char *buf, size_t size)
{
	size_t length = strlen(name), used = 0, count = 0;

	*buf = '\0';
	for (size_t i = 0; i < search->list->count && used < size; i++) {
		const struct nm_named *named = &search->list->items[i];

		if (named->scope != scope || strncmp(named->name, name, length) != 0 ||
		    named->name[length] != '.')
			continue;
		if (++count > LISTED) {
			snprintf(buf + used, size - used, ", ...");
			return;
		}
		used += (size_t)snprintf(buf + used, size - used, "%s%s", count > 1 ? ", " : "",
					 named->percentiles ? "p50, p99, ..."
							    : named->name + length + 1);
	}
}

/* A percentile as other tools name it, "p99" or "p(99)": that of latency, "latency.p99", in buf. */
static bool guess_percentile(const char *name, char *buf, size_t size)
{
	bool braced = strncmp(name, "p(", 2) == 0;
	size_t skip = braced ? 2 : 1, length = strlen(name);
	char number[16];

	if (*name != 'p' || length <= skip || (braced && name[length - 1] != ')'))
		return false;
	length -= skip + braced;
	if (length >= sizeof(number))
		return false;
	snprintf(number, sizeof(number), "%.*s", (int)length, name + skip);
	snprintf(buf, size, "latency.p%s", number);
	return !isnan(percentile_of(number));
}

/* Whether the name is that of a percentile but for its number, which is larger than any. */
static bool is_beyond(const struct search *search, enum nm_scope scope, const char *name)
{
	for (size_t i = 0; i < search->list->count; i++) {
		const struct nm_named *named = &search->list->items[i];
		size_t length = strlen(named->name) - 1;

		if (named->scope == scope && named->percentiles && strlen(name) > length &&
		    strncmp(name, named->name, length) == 0 &&
		    name[length + strspn(name + length, "0123456789.")] == '\0' &&
		    strtod(name + length, NULL) > 100)
			return true;
	}
	return false;
}

/* Whether the name would be one of a verb, if "verb." stood before it. */
static bool lacks_verb(const struct search *search, const json_t *object, const char *name)
{
	unsigned seen[NAME] = {0};
	const json_t *verbs = json_object_get(object, "verbs");

	for (size_t i = 0; i < json_array_size(verbs) && i < MOST; i++) {
		size_t length = match(json_array_get(verbs, i), name, seen);

		if (length && has_figure(search, NM_SCOPE_VERB, name + length))
			return true;
	}
	return false;
}

static void tell_unknown(const struct search *search, enum nm_scope scope, const char *name)
{
	static const char *const common[] = {"latency.p50", "latency.p90", "latency.p95",
					     "latency.p99", "latency.p99.9"};
	const char *names[CANDIDATES];
	char below[512], guess[32];
	size_t count = 0, before = (size_t)(name - search->name);

	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		if (has_figure(search, scope, common[i]))
			names[count++] = common[i];
	for (size_t i = 0; i < search->list->count && count < CANDIDATES; i++)
		if (search->list->items[i].scope == scope && !search->list->items[i].percentiles)
			names[count++] = search->list->items[i].name;
	const char *nearest = scope != NM_SCOPE_HOST && guess_percentile(name, guess, sizeof(guess))
				      ? guess
				      : nm_nearest(name, names, count);

	list_below(search, scope, name, below, sizeof(below));
	if (*below)
		snprintf(search->why, search->why_size, "%s: it has several figures: %s.%s",
			 search->name, name, below);
	else if (is_beyond(search, scope, name))
		snprintf(search->why, search->why_size,
			 "%s: unknown figure; a percentile is a number from 0 to 100",
			 search->name);
	else if (lacks_verb(search, search->at->object, name))
		snprintf(search->why, search->why_size,
			 "%s: unknown figure; did you mean %.*sverb.%s?", search->name, (int)before,
			 search->name, name);
	else if (tell_elsewhere(search, scope, name))
		return;
	else if (nearest)
		snprintf(search->why, search->why_size, "%s: unknown figure; did you mean %.*s%s?",
			 search->name, (int)before, search->name, nearest);
	else
		snprintf(search->why, search->why_size,
			 "%s: unknown figure; netmodel --describe figures lists them",
			 search->name);
}

static int find_figure(const struct search *search, enum nm_scope scope, const char *name)
{
	for (size_t i = 0; i < search->list->count; i++) {
		const struct nm_named *named = &search->list->items[i];
		double percentile = percentile_in(named, name);

		if (named->scope != scope || (named->percentiles && isnan(percentile)) ||
		    (!named->percentiles && strcmp(named->name, name) != 0))
			continue;
		search->at->named = *named;
		search->at->percentile = percentile;
		return 0;
	}
	tell_unknown(search, scope, name);
	return -EINVAL;
}

int nm_named_find(const struct nm_named_list *list, const json_t *document, const char *name,
		  struct nm_named_at *ret_at, char *why, size_t why_size)
{
	struct nm_named_at at = {.object = NULL};
	const struct search search = {
		.list = list, .name = name, .at = &at, .why = why, .why_size = why_size};
	enum nm_scope scope;

	at.object = find_scope(&search, document, &name, &scope);
	if (!at.object || find_figure(&search, scope, name) != 0)
		return -EINVAL;
	*ret_at = at;
	return 0;
}

/* --- values --- */

/* The member of that percentile, however it is written. */
static const json_t *percentile_member(const json_t *object, double percentile)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		if (*key == 'p' && percentile_of(key + 1) == percentile)
			return value;
	}
	return NULL;
}

/* Whether the object says why it has no figures. */
static bool is_unavailable(const json_t *object, char *why, size_t why_size)
{
	const char *text = json_string_value(json_object_get(object, "unavailable"));

	if (!text)
		return false;
	snprintf(why, why_size, "%s", text);
	nm_make_plain(why);
	return true;
}

bool nm_named_value(const struct nm_named_at *at, double *ret_value, char *why, size_t why_size)
{
	const json_t *value = at->object;
	char member[NM_NAMED_MEMBER], *rest = member, *key;

	*why = '\0';
	snprintf(member, sizeof(member), "%s", at->named.member);
	while (value && (key = strsep(&rest, "."))) {
		if (is_unavailable(value, why, why_size))
			return false;
		value = !rest && !isnan(at->percentile) ? percentile_member(value, at->percentile)
							: json_object_get(value, key);
	}
	if (!json_is_number(value))
		return false;
	*ret_value = json_number_value(value);
	return isfinite(*ret_value);
}

bool nm_named_judged(const struct nm_named_at *at, double *ret_value, char *why, size_t why_size)
{
	struct nm_named_at with = *at;
	char member[NM_NAMED_MEMBER];

	with.object = json_object_get(at->object, "with_failures");
	if (isnan(at->percentile) || !with.object)
		return nm_named_value(at, ret_value, why, why_size);
	snprintf(member, sizeof(member), "%.*s", (int)strcspn(at->named.member, "."),
		 at->named.member);
	if (!json_object_get(with.object, member)) /* completion times and slowdowns */
		return nm_named_value(at, ret_value, why, why_size);
	if (!nm_named_value(&with, ret_value, why, why_size))
		*ret_value = INFINITY;
	return true;
}

/* --- documents --- */

static int add_item(json_t *items, const char *name, json_t **ret_item)
{
	*ret_item = json_pack("{s:o}", "name", nm_json_text(name));
	return json_array_append_new(items, *ret_item);
}

/* Adds the verb where it is not yet. */
static int add_verb(json_t *verbs, const char *name)
{
	for (size_t i = 0; i < json_array_size(verbs); i++)
		if (strcmp(name_of(json_array_get(verbs, i)), name) == 0)
			return 0;
	return json_array_append_new(verbs, json_pack("{s:o}", "verb", nm_json_text(name)));
}

/* The verbs with which a phase asks, into each of the lists. */
static int add_verbs(const struct nm_plan *plan, const struct nm_group *group,
		     const struct nm_phase *phase, json_t *const lists[3])
{
	int error = 0;

	for (uint32_t i = phase->first; i < phase->first + phase->n_instrs; i++)
		for (size_t k = 0; k < 3 && nm_instr_asks(&group->instrs[i]); k++)
			if (k == 0 || phase->measured)
				error |= add_verb(lists[k],
						  plan->verbs[group->instrs[i].ask.verb].name);
	return error;
}

static int add_group(json_t *groups, const struct nm_plan *plan, const struct nm_group *group,
		     json_t *of_run)
{
	json_t *item, *phase, *phases = json_array(), *of_group = json_array();
	int error = add_item(groups, group->name, &item);

	if (!error)
		error = json_object_set(item, "phases", phases) ||
			json_object_set(item, "verbs", of_group);
	for (uint32_t i = 0; i < group->n_phases && !error; i++) {
		json_t *of_phase = json_array();

		error = add_item(phases, group->phases[i].name, &phase);
		if (!error)
			error = json_object_set_new(phase, "phase",
						    json_integer((json_int_t)i + 1)) ||
				json_object_set(phase, "verbs", of_phase) ||
				add_verbs(plan, group, &group->phases[i],
					  (json_t *const[]){of_phase, of_group, of_run});
		json_decref(of_phase);
	}
	json_decref(phases);
	json_decref(of_group);
	return error;
}

json_t *nm_named_of_plan(const struct nm_plan *plan)
{
	json_t *groups = json_array(), *hosts = json_array(), *verbs = json_array(), *item;
	int error = !groups || !hosts || !verbs || add_item(hosts, "master", &item);

	for (uint32_t i = 0; i < plan->n_groups && !error; i++)
		error = add_group(groups, plan, &plan->groups[i], verbs);
	for (uint32_t i = 0; i < plan->n_hosts && !error; i++)
		error = add_item(hosts, plan->hosts[i], &item);
	if (!error)
		return json_pack("{s:o, s:o, s:o}", "groups", groups, "hosts", hosts, "verbs",
				 verbs);
	json_decref(groups);
	json_decref(verbs);
	json_decref(hosts);
	return NULL;
}
