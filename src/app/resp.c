/* SPDX-License-Identifier: Apache-2.0 */
/* Takes answers of Redis apart as far as it takes to know where they end: how many elements are
 * missing in all (parser->check) and, as aggregates nest, in each that is not whole. */
#include "app/resp.h"

#include <string.h>

#include "app/value.h"

/* parser->state, beside NM_RESP_ASIDE */
enum { BEGIN, AT_LINE, IN_VALUE };

/* Of parser->line.numbers: how many aggregates are not whole; from 1 on, what each still misses. */
#define DEPTH 0

/* An element is there that has no more of its own. */
static void end_element(struct nm_app_parser *parser)
{
	uint32_t *numbers = parser->line.numbers;

	while (numbers[DEPTH] && --numbers[numbers[DEPTH]] == 0)
		numbers[DEPTH]--;
}

static enum nm_parsed take_scalar(struct nm_app_parser *parser)
{
	parser->check--;
	end_element(parser);
	return NM_PARSED_MORE;
}

enum nm_answer nm_resp_error(const struct nm_line_text *line)
{
	struct nm_words words = {.at = line->text + 1, .end = line->text + line->there};
	const char *word;
	const size_t n = nm_words_next(&words, &word);

#define IS(name)                                                                                   \
	if (n == sizeof #name - 1 && memcmp(word, #name, n) == 0)                                  \
		return NM_ANSWER_REDIS_##name;
	NM_REDIS_ERRORS(IS)
#undef IS
	return NM_ANSWER_OTHER;
}

/* One error is enough, also within an aggregate: the first tells its name. */
static void refuse(struct nm_app_parser *parser, enum nm_answer answer)
{
	if (parser->class != NM_CLASS_REFUSED)
		(void)nm_app_refused(parser, answer);
}

/* So many elements follow. What is no element itself is none of the aggregate that it comes in. */
static enum nm_parsed expect(struct nm_app_parser *parser, uint64_t elements, bool is_element)
{
	uint32_t *numbers = parser->line.numbers;

	if (!elements && is_element)
		return take_scalar(parser);
	parser->check -= is_element;
	if (elements > NM_RESP_ELEMENTS_MAX - parser->check || numbers[DEPTH] == NM_RESP_DEPTH_MAX)
		return NM_PARSED_BAD;
	if (!elements)
		return NM_PARSED_MORE;
	if (!is_element && numbers[DEPTH])
		numbers[numbers[DEPTH]]++;
	numbers[++numbers[DEPTH]] = (uint32_t)elements;
	parser->check += (uint32_t)elements;
	return NM_PARSED_MORE;
}

static enum nm_parsed expect_pairs(struct nm_app_parser *parser, uint64_t pairs, bool is_element)
{
	return pairs > NM_RESP_ELEMENTS_MAX ? NM_PARSED_BAD : expect(parser, 2 * pairs, is_element);
}

/* "$-1", "*-1" and "_". */
static bool is_null(const struct nm_line_text *line)
{
	return nm_line_is(line, "_") || nm_line_is(line, "$-1") || nm_line_is(line, "*-1");
}

/* Reads the number behind the type, and what follows from it. */
static enum nm_parsed take_counted(struct nm_app_parser *parser, const struct nm_line_text *line)
{
	uint64_t n;
	size_t digits = nm_line_number(line->text + 1, line->there - 1, INT64_MAX, &n);

	if (!digits || 1 + digits != line->length)
		return NM_PARSED_BAD;
	switch (line->text[0]) {
	case '!': /* what it says is not looked at */
		refuse(parser, NM_ANSWER_OTHER);
		/* fallthrough */
	case '$':
	case '=':
		parser->state += IN_VALUE - AT_LINE;
		nm_value_begin(parser, 0, n);
		return take_scalar(parser);
	case '*':
	case '~':
		return expect(parser, n, true);
	case '%':
		return expect_pairs(parser, n, true);
	case '|': /* what it is of follows */
		return expect_pairs(parser, n, false);
	case '>': /* belongs to no request */
		return expect(parser, n, false);
	default:
		return NM_PARSED_BAD;
	}
}

/* Whether the line has nothing but these bytes behind its type and a sign. */
static bool has_only(const struct nm_line_text *line, const char *bytes)
{
	uint32_t i = 1 + (line->there > 1 && (line->text[1] == '-' || line->text[1] == '+'));
	const uint32_t from = i;

	while (i < line->there && line->text[i] && strchr(bytes, line->text[i]))
		i++;
	return i > from && i == line->there;
}

static bool is_integer(const struct nm_line_text *line)
{
	const bool negative = line->there > 1 && line->text[1] == '-';
	const size_t from = negative || (line->there > 1 && line->text[1] == '+') ? 2 : 1;
	uint64_t n;
	size_t digits = nm_line_number(line->text + from, line->there - from,
				       (uint64_t)INT64_MAX + negative, &n);

	return digits && from + digits == line->length;
}

/* What is whole with its line. */
static bool is_scalar(const struct nm_line_text *line)
{
	switch (line->text[0]) {
	case '-':
	case '+':
		return true;
	case ':':
		return is_integer(line);
	case '(':
		return has_only(line, "0123456789+-");
	case ',':
		return has_only(line, "0123456789.+-eE") || nm_line_is(line, ",inf") ||
		       nm_line_is(line, ",-inf") || nm_line_is(line, ",nan") ||
		       nm_line_is(line, ",-nan");
	case '#':
		return nm_line_is(line, "#t") || nm_line_is(line, "#f");
	default:
		return is_null(line);
	}
}

static enum nm_parsed take_line(struct nm_app_parser *parser, const struct nm_line_text *line)
{
	if (!line->length)
		return NM_PARSED_BAD;
	if (!is_scalar(line))
		return take_counted(parser, line);
	if (line->text[0] == '-')
		refuse(parser, nm_resp_error(line));
	return take_scalar(parser);
}

/* Takes bytes until no element is missing. */
static enum nm_parsed take(struct nm_app_parser *parser, const char *data, size_t n,
			   size_t *ret_taken)
{
	static const struct nm_app_request unchecked = {.size = 0};
	static const struct nm_line_form form = {.kept = NM_LINE_SHORT};
	enum nm_parsed parsed = NM_PARSED_MORE;
	struct nm_line_text line;
	size_t taken = 0, some;

	while (parsed == NM_PARSED_MORE && taken < n) {
		if ((parser->state & ~NM_RESP_ASIDE) == IN_VALUE) {
			parsed = nm_value_take(parser, &unchecked, data + taken, n - taken, &some);
			if (parsed == NM_PARSED_DONE) {
				parser->state -= IN_VALUE - AT_LINE;
				parsed = NM_PARSED_MORE;
			}
		} else {
			switch (nm_line_take_as(&parser->line, form, data + taken, n - taken, &line,
						&some)) {
			case NM_LINE_WHOLE:
				parsed = take_line(parser, &line);
				break;
			case NM_LINE_BAD:
				parsed = NM_PARSED_BAD;
				break;
			case NM_LINE_MORE:
				break;
			}
		}
		taken += some;
		if (parsed == NM_PARSED_MORE && !parser->check && !parser->line.length &&
		    (parser->state & ~NM_RESP_ASIDE) == AT_LINE)
			parsed = NM_PARSED_DONE;
	}
	*ret_taken = taken;
	return parsed;
}

/* Before so many elements. */
static void begin(struct nm_app_parser *parser, uint32_t elements, uint8_t state)
{
	parser->class = NM_CLASS_OK;
	parser->check = elements;
	parser->state = state;
	parser->line.numbers[DEPTH] = 0;
}

enum nm_parsed nm_resp_take(struct nm_app_parser *parser, const char *data, size_t n,
			    size_t *ret_taken)
{
	if (parser->state == BEGIN)
		begin(parser, 1, AT_LINE);
	return take(parser, data, n, ret_taken);
}

enum nm_parsed nm_resp_take_asides(struct nm_app_parser *parser, const char *data, size_t n,
				   size_t *ret_taken)
{
	enum nm_parsed parsed = NM_PARSED_DONE;
	size_t some;

	for (*ret_taken = 0; parsed == NM_PARSED_DONE && *ret_taken < n &&
			     nm_resp_is_aside(parser, data[*ret_taken]);
	     *ret_taken += some) {
		if (!parser->state)
			begin(parser, 0, AT_LINE | NM_RESP_ASIDE);
		parsed = take(parser, data + *ret_taken, n - *ret_taken, &some);
		if (parsed == NM_PARSED_DONE)
			parser->state = BEGIN;
	}
	return parsed;
}
