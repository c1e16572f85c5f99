/* SPDX-License-Identifier: Apache-2.0 */
/* The first pass over the text of a profile: mends the inside of tags, comments and
 * declarations. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "profile/legacy/normalise_priv.h"

#define MAX_QUOTED 40 /* bytes of the text in a message */

struct scan {
	const char *text;
	size_t length, at;
	unsigned line;
	bool begun; /* there was a start tag */
	struct nm_tags *made;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The character `ahead` of the next one; 0 at the end, and nowhere else. */
static char peek(const struct scan *s, size_t ahead)
{
	return ahead < s->length - s->at ? s->text[s->at + ahead] : '\0';
}

static bool next_is(const struct scan *s, size_t ahead, const char *word)
{
	size_t n = strlen(word);

	return s->length - s->at >= ahead + n && memcmp(s->text + s->at + ahead, word, n) == 0;
}

static size_t count_blanks(const struct scan *s, size_t ahead)
{
	size_t n = 0;

	while (is_blank(peek(s, ahead + n)))
		n++;
	return n;
}

/* Where `word` begins, counted from the next character; SIZE_MAX when it does not come. */
static size_t find(const struct scan *s, size_t ahead, const char *word)
{
	size_t left = s->length - s->at;
	const char *found =
		ahead <= left ? memmem(s->text + s->at + ahead, left - ahead, word, strlen(word))
			      : NULL;

	return found ? (size_t)(found - s->text) - s->at : SIZE_MAX;
}

static void pass(struct scan *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		s->line += s->text[s->at + i] == '\n';
	s->at += n;
}

static void copy(struct scan *s, size_t n)
{
	nm_text_put(&s->made->text, s->text + s->at, n);
	pass(s, n);
}

static void drop(struct scan *s, size_t n)
{
	nm_text_put_lines(&s->made->text, s->text + s->at, n);
	pass(s, n);
}

/* For messages: whole characters. */
static int quoted(const char *text, size_t length)
{
	if (length <= MAX_QUOTED)
		return (int)length;
	for (length = MAX_QUOTED; length && ((unsigned char)text[length] & 0xc0) == 0x80;)
		length--;
	return (int)length;
}

/* ---- comments and declarations ---- */

/* XML allows no "--" inside a comment. */
static void comment(struct scan *s)
{
	size_t end = find(s, 4, "-->");
	size_t inner = find(s, 4, "--");

	if (end == SIZE_MAX) {
		s->made->broken = true;
		return;
	}
	if (inner == end && (end == 4 || peek(s, end - 1) != '-')) {
		copy(s, end + 3);
		return;
	}
	nm_remark(&s->made->remarks, s->line,
		  "a comment with \"--\" inside: it ends at the first \"-->\"");
	copy(s, 4);
	drop(s, end - 4);
	copy(s, 3);
}

static void copy_through(struct scan *s, size_t ahead, const char *word)
{
	size_t end = find(s, ahead, word);

	if (end == SIZE_MAX)
		s->made->broken = true;
	else
		copy(s, end + strlen(word));
}

struct slice {
	const char *text;
	size_t length;
};

static const char *const declared[] = {"version", "encoding", "standalone"};

#define N_DECLARED (sizeof declared / sizeof *declared)

struct declaration {
	struct slice values[N_DECLARED]; /* the last ones given */
	size_t next; /* the first of declared that may still come, as XML has it */
	bool loose;  /* not as XML has it */
};

static size_t skip_blanks(const char *text, size_t at, size_t end)
{
	while (at < end && is_blank(text[at]))
		at++;
	return at;
}

static size_t find_declared(struct declaration *d, struct slice name)
{
	char word[16] = "";

	if (name.length < sizeof word)
		memcpy(word, name.text, name.length);
	for (size_t i = 0; i < N_DECLARED; i++) {
		if (!nm_ascii_equals(word, declared[i]))
			continue;
		d->loose |= i < d->next || strcmp(word, declared[i]) != 0;
		d->next = i + 1;
		return i;
	}
	return N_DECLARED;
}

/* Reads one name=value of the declaration in text[at, end). Returns where it ends, 0 when it is
 * none. */
static size_t read_pair(struct declaration *d, const char *text, size_t at, size_t end)
{
	size_t begin = at;

	while (at < end && !is_blank(text[at]) && !strchr("=\"'<>", text[at]))
		at++;
	size_t which = find_declared(d, (struct slice){text + begin, at - begin});

	at = skip_blanks(text, at, end);
	if (which == N_DECLARED || at == end || text[at] != '=')
		return 0;
	at = skip_blanks(text, at + 1, end);
	char quote = at < end ? text[at] : '\0';
	bool bare = quote != '"' && quote != '\'';

	begin = bare ? at : at + 1;
	for (at = begin; at < end && (bare ? !is_blank(text[at]) : text[at] != quote); at++)
		if (strchr("\"'<>&\n", text[at]))
			return 0;
	d->values[which] = (struct slice){text + begin, at - begin};
	if (at == begin || (!bare && at == end))
		return 0;
	d->loose |= bare;
	return bare ? at : at + 1;
}

/* Reads the declaration between "<?xml" and "?>"; false when that fails. */
static bool read_declaration(struct declaration *d, const char *text, size_t at, size_t end)
{
	*d = (struct declaration){.next = 0};
	while ((at = skip_blanks(text, at, end)) < end) {
		size_t next = read_pair(d, text, at, end);

		if (!next)
			return false;
		d->loose |= next < end && !is_blank(text[next]);
		at = next;
	}
	d->loose |= !d->values[0].text;
	return true;
}

/* <?xml ...?> with a version, and all values in quotes. */
static void write_declaration(struct scan *s, const struct declaration *d, size_t end)
{
	struct nm_text *out = &s->made->text;

	nm_text_put_word(out, d->values[0].text ? "<?xml" : "<?xml version=\"1.0\"");
	for (size_t i = 0; i < N_DECLARED; i++) {
		if (!d->values[i].text)
			continue;
		nm_text_put_word(out, " ");
		nm_text_put_word(out, declared[i]);
		nm_text_put_word(out, "=\"");
		nm_text_put(out, d->values[i].text, d->values[i].length);
		nm_text_put_word(out, "\"");
	}
	drop(s, end);
	copy(s, 2);
}

/* <?...?>; only an XML declaration is of interest. */
static void instruction(struct scan *s)
{
	size_t end = find(s, 2, "?>");
	struct declaration d;

	if (end == SIZE_MAX) {
		s->made->broken = true;
		return;
	}
	bool is_xml = nm_ascii_lower(peek(s, 2)) == 'x' && nm_ascii_lower(peek(s, 3)) == 'm' &&
		      nm_ascii_lower(peek(s, 4)) == 'l' && (end == 5 || is_blank(peek(s, 5)));

	if (!is_xml || !read_declaration(&d, s->text, s->at + 5, s->at + end)) {
		copy(s, end + 2);
	} else if (s->at != 0) {
		nm_remark(&s->made->remarks, s->line,
			  "<?xml ...?> is not at the very beginning: it is not read");
		drop(s, end + 2);
	} else if (d.loose || !next_is(s, 2, "xml")) {
		nm_remark(&s->made->remarks, s->line,
			  "%.*s: not well-formed XML; read as if it were", quoted(s->text, end + 2),
			  s->text);
		write_declaration(s, &d, end);
	} else {
		copy(s, end + 2);
	}
}

static bool is_doctype(const struct scan *s)
{
	static const char word[] = "<!doctype";

	for (size_t i = 0; word[i]; i++)
		if (nm_ascii_lower(peek(s, i)) != word[i])
			return false;
	return true;
}

/* A document type without declarations of its own is of no interest; any other is for the parser to
 * refuse. */
static void doctype(struct scan *s)
{
	char quote = '\0';
	size_t n = 0;

	for (; peek(s, n) && (quote || peek(s, n) != '>'); n++) {
		char c = peek(s, n);

		if (!quote && (c == '[' || (c == '<' && n)))
			break;
		if (quote ? c == quote : c == '"' || c == '\'')
			quote = quote ? '\0' : c;
	}
	if (peek(s, n) != '>' || quote || s->begun) {
		s->made->broken = true;
		return;
	}
	nm_remark(&s->made->remarks, s->line, "<!DOCTYPE ...>: a document type is not looked at");
	drop(s, n + 1);
}

/* ---- inside a tag ---- */

static bool begins_name(char c)
{
	return (nm_ascii_lower(c) >= 'a' && nm_ascii_lower(c) <= 'z') || c == '_' || c == ':' ||
	       (unsigned char)c >= 0x80;
}

static size_t name_length(const struct scan *s, size_t ahead)
{
	size_t n = 0;

	while (begins_name(peek(s, ahead + n)) ||
	       (n && peek(s, ahead + n) && strchr("-.0123456789", peek(s, ahead + n))))
		n++;
	return n;
}

/* Whether text (at an '&') begins a reference: &name; or &#number; */
static bool is_reference(const char *text, size_t length)
{
	size_t n = 1;

	if (length > 1 && text[1] == '#')
		n++;
	size_t begin = n;

	while (n < length && (begins_name(text[n]) || strchr("-.0123456789", text[n])))
		n++;
	return n > begin && n < length && text[n] == ';';
}

/* The next n characters, as a value between quotes. Returns whether an '&' had to be written
 * out. */
static bool copy_value(struct scan *s, size_t n)
{
	bool bare = false;

	for (size_t end = s->at + n; s->at < end;) {
		const char *and = memchr(s->text + s->at, '&', end - s->at);

		copy(s, and? (size_t)(and-s->text) - s->at : end - s->at);
		if (!and)
			break;
		if (is_reference(and, end - s->at)) {
			copy(s, 1);
			continue;
		}
		bare = true;
		nm_text_put_word(&s->made->text, "&amp;");
		pass(s, 1);
	}
	return bare;
}

struct attribute {
	size_t name_length;
	size_t value, value_length; /* from the next character on, without quotes */
	bool bare;		    /* it has none */
};

/* Looks at the attribute that begins `ahead`. False when there is none that could be read. */
static bool look_at_attribute(const struct scan *s, size_t ahead, struct attribute *attr)
{
	size_t n = ahead + name_length(s, ahead);

	attr->name_length = n - ahead;
	n += count_blanks(s, n);
	if (!attr->name_length || peek(s, n) != '=')
		return false;
	n++;
	n += count_blanks(s, n);
	char quote = peek(s, n);

	attr->bare = quote != '"' && quote != '\'';
	attr->value = attr->bare ? n : n + 1;
	for (n = attr->value;; n++) {
		char c = peek(s, n);

		if (attr->bare && (is_blank(c) || c == '>' || c == '<' || !c ||
				   (c == '/' && peek(s, n + 1) == '>')))
			break;
		if (!attr->bare && c == quote)
			break;
		/* The quote of another value, or an end that never comes. */
		if (!c || c == '<' || (attr->bare && (c == '"' || c == '\'')))
			return false;
	}
	attr->value_length = n - attr->value;
	return !attr->bare || attr->value_length;
}

static void write_attribute(struct scan *s, const struct attribute *attr)
{
	const char *name = s->text + s->at, *value = name + attr->value;
	int n_name = quoted(name, attr->name_length);
	int n_value = quoted(value, attr->value_length);
	unsigned line = s->line;

	copy(s, attr->value);
	if (attr->bare) {
		nm_remark(&s->made->remarks, line, "%.*s=%.*s: no quotes, read as %.*s=\"%.*s\"",
			  n_name, name, n_value, value, n_name, name, n_value, value);
		nm_text_put(&s->made->text, "\"", 1);
	}
	if (copy_value(s, attr->value_length))
		nm_remark(&s->made->remarks, line, "%.*s=\"%.*s\": \"&\" alone, read as \"&amp;\"",
			  n_name, name, n_value, value);
	if (attr->bare)
		nm_text_put(&s->made->text, "\"", 1);
	else
		copy(s, 1);
}

/* A value that ends with '=' and has something right behind it lacks its quote: type="write
 * options="size=1" */
static bool lacks_quote(const struct scan *s, const struct attribute *attr)
{
	size_t n = attr->value_length;

	while (n && is_blank(peek(s, attr->value + n - 1)))
		n--;
	return n && peek(s, attr->value + n - 1) == '=';
}

/* The next attribute of a tag; false when there is none that could be read. */
static bool attribute(struct scan *s)
{
	struct attribute attr, next;

	if (!look_at_attribute(s, 0, &attr))
		return false;
	size_t end = attr.value + attr.value_length + !attr.bare;
	char c = peek(s, end);
	bool touches = !attr.bare && c && !is_blank(c) && !strchr("/><", c);

	if (touches && (lacks_quote(s, &attr) || !look_at_attribute(s, end, &next)))
		return false;
	write_attribute(s, &attr);
	if (touches) {
		nm_remark(&s->made->remarks, s->line,
			  "no blank before %.*s=: read as if there were one",
			  quoted(s->text + s->at, next.name_length), s->text + s->at);
		nm_text_put(&s->made->text, " ", 1);
	}
	return true;
}

/* A comment or an instruction behind blanks, from its `begin` through its `end`. */
static void comment_in_tag(struct scan *s, size_t blanks, const char *begin, const char *end)
{
	size_t n = find(s, blanks + strlen(begin), end);

	copy(s, blanks);
	if (n == SIZE_MAX) {
		s->made->broken = true;
		return;
	}
	nm_remark(&s->made->remarks, s->line, "a comment inside a tag: it is left out");
	nm_text_put_word(&s->made->text, " ");
	drop(s, n - blanks + strlen(end));
}

static void unended_tag(struct scan *s, const struct nm_tag *tag, const char *end)
{
	const char *name = nm_known_elements[tag->element].name;

	nm_remark(&s->made->remarks, s->line,
		  "<%s%s: no \"%s\" behind it, read as if there were one",
		  tag->kind == NM_TAG_CLOSE ? "/" : "", name, end);
	nm_text_put_word(&s->made->text, end);
}

static size_t find_element(const char *name, size_t length)
{
	char word[16];

	if (length >= sizeof word)
		return NM_NOT_KNOWN;
	memcpy(word, name, length);
	word[length] = '\0';
	for (size_t i = 0; i < NM_N_KNOWN; i++)
		if (nm_ascii_equals(nm_known_elements[i].name, word))
			return i;
	return NM_NOT_KNOWN;
}

/* The text behind the name of a start tag, through its end. */
static void attributes(struct scan *s, struct nm_tag *tag)
{
	for (;;) {
		size_t blanks = count_blanks(s, 0);
		bool leaf =
			tag->element != NM_NOT_KNOWN && nm_known_elements[tag->element].level == 3;

		if (peek(s, blanks) == '>') {
			copy(s, blanks + 1);
			return;
		}
		if (next_is(s, blanks, "/>")) {
			tag->kind = NM_TAG_EMPTY;
			copy(s, blanks + 2);
			return;
		}
		if (next_is(s, blanks, "<!--")) {
			comment_in_tag(s, blanks, "<!--", "-->");
		} else if (next_is(s, blanks, "<?")) {
			comment_in_tag(s, blanks, "<?", "?>");
		} else if (peek(s, blanks) == '<' && tag->element != NM_NOT_KNOWN) {
			tag->kind = leaf ? NM_TAG_EMPTY : NM_TAG_OPEN;
			unended_tag(s, tag, leaf ? "/>" : ">");
			return;
		} else {
			copy(s, blanks);
			s->made->broken |= !attribute(s);
		}
		if (s->made->broken)
			return;
	}
}

static void end_of_end_tag(struct scan *s, const struct nm_tag *tag)
{
	size_t blanks = count_blanks(s, 0);
	char c = peek(s, blanks);

	if (c == '>')
		copy(s, blanks + 1);
	else if (tag->element != NM_NOT_KNOWN && (c == '<' || !c))
		unended_tag(s, tag, ">");
	else
		s->made->broken = true;
}

static void add_tag(struct nm_tags *tags, const struct nm_tag *tag)
{
	if (tags->count == tags->capacity) {
		size_t capacity = tags->capacity ? 2 * tags->capacity : 64;
		struct nm_tag *grown = realloc(tags->items, capacity * sizeof(*grown));

		if (!grown) {
			tags->text.failed = tags->broken = true;
			return;
		}
		tags->items = grown;
		tags->capacity = capacity;
	}
	tags->items[tags->count++] = *tag;
}

/* The begin of a tag, without the blanks that uperf skips there: these go before it. */
static void tag_begin(struct scan *s, size_t before, bool close, size_t after)
{
	struct nm_text *text = &s->made->text;

	nm_text_put_lines(text, s->text + s->at, 1 + before + close + after);
	pass(s, 1 + before + close + after);
	nm_text_put_word(text, close ? "</" : "<");
}

static void tag(struct scan *s)
{
	size_t before = count_blanks(s, 1);
	bool close = peek(s, 1 + before) == '/';
	size_t after = close ? count_blanks(s, 2 + before) : 0;
	size_t name = 1 + before + close + after;
	struct nm_tag made = {.kind = close ? NM_TAG_CLOSE : NM_TAG_OPEN,
			      .name_length = name_length(s, name)};

	made.element = find_element(s->text + s->at + name, made.name_length);
	if (!made.name_length || (before + after && made.element == NM_NOT_KNOWN)) {
		s->made->broken = true;
		return;
	}
	if (before + after)
		nm_remark(&s->made->remarks, s->line, "a blank in \"<%s %s\": left out",
			  close ? "/" : "", nm_known_elements[made.element].name);
	tag_begin(s, before, close, after);
	made.line = s->line;
	made.name = s->made->text.used;
	made.at = made.name - (close ? 2 : 1);
	copy(s, made.name_length);
	if (close)
		end_of_end_tag(s, &made);
	else
		attributes(s, &made);
	made.end = s->made->text.used;
	s->begun |= !close;
	if (!s->made->broken)
		add_tag(s->made, &made);
}

static void anything(struct scan *s)
{
	if (next_is(s, 0, "<!--"))
		comment(s);
	else if (next_is(s, 0, "<?"))
		instruction(s);
	else if (next_is(s, 0, "<![CDATA["))
		copy_through(s, 9, "]]>");
	else if (is_doctype(s))
		doctype(s);
	else if (next_is(s, 0, "<!"))
		s->made->broken = true;
	else
		tag(s);
}

void nm_tags_scan(struct nm_tags *tags, const char *text, size_t length)
{
	struct scan s = {.text = text, .length = length, .line = 1, .made = tags};

	while (s.at < length && !tags->broken) {
		const char *next = memchr(text + s.at, '<', length - s.at);

		copy(&s, next ? (size_t)(next - text) - s.at : length - s.at);
		if (next)
			anything(&s);
	}
	copy(&s, length - s.at);
	tags->last_line = s.line;
	for (; length && is_blank(text[length - 1]); length--)
		tags->last_line -= text[length - 1] == '\n';
}
