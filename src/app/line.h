/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that end with CR LF and may come in pieces. No byte is looked at twice. */
#ifndef NM_APP_LINE_H
#define NM_APP_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of a line that comes in pieces so much is kept; the longest line that a memcached answers with a
 * value has 311 bytes. A longer line than NM_LINE_MAX is refused. */
#define NM_LINE_KEPT 320u
#define NM_LINE_MAX  8192u

/* Where it is enough to keep less of a line, there is room for so many numbers beside it. */
#define NM_LINE_NUMBERS 33u
#define NM_LINE_SHORT	(NM_LINE_KEPT - NM_LINE_NUMBERS * (uint32_t)sizeof(uint32_t))

struct nm_line {
	uint32_t length; /* bytes that have come */
	union {
		char kept[NM_LINE_KEPT];
		struct {
			char kept_of_short[NM_LINE_SHORT];
			uint32_t numbers[NM_LINE_NUMBERS];
		};
	};
};

/* What a line may be: so many bytes of one that comes in pieces are kept, NM_LINE_KEPT or
 * NM_LINE_SHORT; `bare`: LF without CR ends it, too. */
struct nm_line_form {
	uint32_t kept;
	bool bare;
};

enum nm_line_status { NM_LINE_MORE, NM_LINE_WHOLE, NM_LINE_BAD };

/* A whole line without its end; `length` may be more than is there, when it was longer than what is
 * kept: `there` bytes are. */
struct nm_line_text {
	const char *text;
	uint32_t length, there;
};

/* Takes bytes to the end of the line: *ret_taken. WHOLE: *ret is the line, which is in data or in
 * the state, and the state is ready for the next one. BAD: it is too long, or ends as it may not;
 * what has come of it is kept. */
enum nm_line_status nm_line_take_as(struct nm_line *line, struct nm_line_form form,
				    const char *data, size_t n, struct nm_line_text *ret,
				    size_t *ret_taken);

static inline enum nm_line_status nm_line_take(struct nm_line *line, const char *data, size_t n,
					       struct nm_line_text *ret, size_t *ret_taken)
{
	return nm_line_take_as(line, (struct nm_line_form){.kept = NM_LINE_KEPT}, data, n, ret,
			       ret_taken);
}

/* Of what has no lines: keeps the first `most` bytes, NM_LINE_KEPT at most, in line->kept. Adds to
 * *taken what it takes. Whether they are whole. */
bool nm_line_gather(struct nm_line *line, size_t most, const char *data, size_t n, size_t *taken);

/* Whether the line is the text, and whether it begins with it. Here, so that the compiler knows the
 * length of the text. */
static inline bool nm_line_is(const struct nm_line_text *line, const char *text)
{
	size_t n = strlen(text);

	return line->length == n && memcmp(line->text, text, n) == 0;
}

static inline bool nm_line_begins(const struct nm_line_text *line, const char *text)
{
	size_t n = strlen(text);

	return line->there >= n && memcmp(line->text, text, n) == 0;
}

/* The words of a line that are left, with blanks between them. */
struct nm_words {
	const char *at, *end;
};

/* How many bytes the next one has; 0: there is none. */
static inline size_t nm_words_next(struct nm_words *words, const char **ret)
{
	while (words->at < words->end && *words->at == ' ')
		words->at++;
	*ret = words->at;
	while (words->at < words->end && *words->at != ' ')
		words->at++;
	return (size_t)(words->at - *ret);
}

/* Writes text without its NUL: its end. */
static inline char *nm_line_put(const char *text, char *at)
{
	size_t n = strlen(text);

	memcpy(at, text, n);
	return at + n;
}

/* Writes a decimal number: its end. */
#define NM_NUMBER_MAX 20u
char *nm_number_put(uint64_t number, char *at);

/* Reads a decimal number of digits alone, and no more than `most`: how many bytes it has; 0: there
 * is none, or it is too large. */
size_t nm_line_number(const char *text, size_t n, uint64_t most, uint64_t *ret);
/* Whether the next word is such a number. */
static inline bool nm_words_number(struct nm_words *words, uint64_t most, uint64_t *ret)
{
	const char *word;
	size_t n = nm_words_next(words, &word);

	return n && nm_line_number(word, n, most, ret) == n;
}

#endif
