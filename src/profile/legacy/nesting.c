/* SPDX-License-Identifier: Apache-2.0 */
/* The second pass over the text of a profile: finds the tags that are missing, or too many. */
#include <stdlib.h>
#include <string.h>

#include "profile/legacy/normalise_priv.h"

/* An element that is open. */
struct open {
	size_t element;
	const char *name; /* borrowed */
	size_t name_length;
	unsigned line; /* 0: assumed, there is no tag of it */
};

struct nesting {
	const struct nm_tags *tags;
	struct nm_text *out;
	struct nm_remarks *remarks;
	struct open *open;
	size_t n_open;
	size_t n_of[NM_N_KNOWN + 1]; /* how many of each element are open */
};

static const char *name_of(const struct nm_tags *tags, const struct nm_tag *tag)
{
	return tags->text.data + tag->name;
}

static int level_of(size_t element)
{
	return element == NM_NOT_KNOWN ? -1 : nm_known_elements[element].level;
}

static void push(struct nesting *n, size_t element, const char *name, size_t length, unsigned line)
{
	n->open[n->n_open++] = (struct open){element, name, length, line};
	n->n_of[element]++;
}

static void push_tag(struct nesting *n, const struct nm_tag *tag)
{
	push(n, tag->element, name_of(n->tags, tag), tag->name_length, tag->line);
}

static void pop(struct nesting *n)
{
	n->n_of[n->open[--n->n_open].element]--;
}

static const struct open *top(const struct nesting *n)
{
	return n->n_open ? &n->open[n->n_open - 1] : NULL;
}

/* As XML compares names. */
static bool ends(const struct nesting *n, const struct nm_tag *tag)
{
	const struct open *last = top(n);

	return last && last->name_length == tag->name_length &&
	       memcmp(last->name, name_of(n->tags, tag), tag->name_length) == 0;
}

/* Whether each start tag has its end tag, as XML wants it. */
static bool is_nested(struct nesting *n)
{
	bool nested = !n->tags->broken;

	for (size_t i = 0; i < n->tags->count && nested; i++) {
		const struct nm_tag *tag = &n->tags->items[i];

		if (tag->kind == NM_TAG_OPEN)
			push_tag(n, tag);
		else if (tag->kind == NM_TAG_CLOSE && (nested = ends(n, tag)))
			pop(n);
	}
	nested = nested && !n->n_open;
	while (n->n_open)
		pop(n);
	return nested;
}

/* The first start tag when it belongs inside a <profile>; or NULL. */
static const struct nm_tag *first_without_profile(const struct nm_tags *tags)
{
	for (size_t i = 0; i < tags->count; i++)
		if (tags->items[i].kind != NM_TAG_CLOSE)
			return level_of(tags->items[i].element) == 1 ? &tags->items[i] : NULL;
	return NULL;
}

static void put_end(struct nesting *n, const struct open *last)
{
	nm_text_put_word(n->out, "</");
	nm_text_put(n->out, last->name, last->name_length);
	nm_text_put_word(n->out, ">");
}

/* Ends the innermost element, which has no end tag, before `tag`, or at the end of the file. */
static void end_open(struct nesting *n, const struct nm_tag *tag)
{
	const struct open *last = top(n);
	const char *name = nm_known_elements[last->element].name;

	put_end(n, last);
	if (last->line && tag)
		nm_remark(n->remarks, tag->line,
			  "no </%s> for the <%s> of line %u: it is taken to end before this <%s%s>",
			  name, name, last->line, tag->kind == NM_TAG_CLOSE ? "/" : "",
			  nm_known_elements[tag->element].name);
	else if (last->line)
		nm_remark(n->remarks, n->tags->last_line,
			  "no </%s> for the <%s> of line %u: it is taken to end with the file",
			  name, name, last->line);
	pop(n);
}

static void copy_tag(struct nesting *n, const struct nm_tag *tag)
{
	nm_text_put(n->out, n->tags->text.data + tag->at, tag->end - tag->at);
}

static void start(struct nesting *n, const struct nm_tag *tag, bool nested)
{
	int level = level_of(tag->element);

	while (!nested && level > 0 && n->n_open && !n->n_of[NM_NOT_KNOWN] &&
	       level_of(top(n)->element) >= level)
		end_open(n, tag);
	copy_tag(n, tag);
	if (tag->kind == NM_TAG_OPEN)
		push_tag(n, tag);
}

static void end(struct nesting *n, const struct nm_tag *tag)
{
	const char *text = n->tags->text.data + tag->at;

	if (ends(n, tag)) {
		copy_tag(n, tag);
		pop(n);
		return;
	}
	/* The inside of an unknown element has no order that could be mended. */
	if (tag->element == NM_NOT_KNOWN || n->n_of[NM_NOT_KNOWN]) {
		copy_tag(n, tag);
		return;
	}
	if (!n->n_of[tag->element]) {
		nm_remark(n->remarks, tag->line, "</%s> ends nothing: it is left out",
			  nm_known_elements[tag->element].name);
		nm_text_put_lines(n->out, text, tag->end - tag->at);
		return;
	}
	while (top(n)->element != tag->element)
		end_open(n, tag);
	/* Only its case may differ. */
	if (!ends(n, tag) && top(n)->line)
		nm_remark(n->remarks, tag->line, "</%.*s> is taken for the end of <%.*s>",
			  (int)tag->name_length, name_of(n->tags, tag), (int)top(n)->name_length,
			  top(n)->name);
	put_end(n, top(n));
	nm_text_put_lines(n->out, text, tag->end - tag->at);
	pop(n);
}

static void mend(struct nesting *n, const struct nm_tag *wrap, bool nested)
{
	const struct nm_text *text = &n->tags->text;
	size_t at = 0;

	for (size_t i = 0; i < n->tags->count; i++) {
		const struct nm_tag *tag = &n->tags->items[i];

		nm_text_put(n->out, text->data + at, tag->at - at);
		at = tag->end;
		if (tag == wrap) {
			nm_remark(n->remarks, tag->line,
				  "no <profile> before this <%s>: it is taken to begin here",
				  nm_known_elements[tag->element].name);
			nm_text_put_word(n->out, "<profile>");
			push(n, 0, nm_known_elements[0].name, strlen(nm_known_elements[0].name), 0);
		}
		if (tag->kind == NM_TAG_CLOSE)
			end(n, tag);
		else
			start(n, tag, nested);
	}
	nm_text_put(n->out, text->data + at, text->used - at);
	while (n->n_open && !n->tags->broken && !n->n_of[NM_NOT_KNOWN])
		end_open(n, NULL);
}

bool nm_nesting_mend(const struct nm_tags *tags, struct nm_text *ret_text,
		     struct nm_remarks *ret_remarks)
{
	struct nesting n = {.tags = tags, .out = ret_text, .remarks = ret_remarks};
	const struct nm_tag *wrap = first_without_profile(tags);

	n.open = calloc(tags->count + 1, sizeof(*n.open));
	if (!n.open) {
		ret_text->failed = true;
		return false;
	}
	bool nested = is_nested(&n), mending = wrap || !nested;

	if (mending)
		mend(&n, wrap, nested);
	free(n.open);
	return mending && ret_remarks->count;
}
