/* SPDX-License-Identifier: Apache-2.0 */
/* Reads XML into a tree with positions, and prints such a tree. Constructs that could make a reader
 * do anything else (document types, entities, inclusions, the network) are refused, and size, depth
 * and counts are limited. */
#include "profile/tree.h"

#include <errno.h>
#include <malloc.h>
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/xmlmemory.h>
#include <libxml/tree.h>
#include <libxml/xmlversion.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/ascii.h"
#include "profile/encoding.h"
#include "profile/legacy/normalise.h"

#if LIBXML_VERSION >= 21200
typedef const xmlError *xml_error_arg;
#else
typedef xmlErrorPtr xml_error_arg;
#endif

#define MAX_SYNTAX_ERRORS 20
#define MAX_QUOTED	  40 /* bytes of a stray text in its message */
/* Attributes of one tag that libxml2 may see: its time goes with their square. */
#define MAX_FLOOD 1024

#define TEXT_OF(number)	 TEXT_OF_(number)
#define TEXT_OF_(number) #number

struct reader {
	const char *file;
	const char *text; /* the text that is parsed, borrowed */
	size_t length;
	struct nm_diags *diags;
	size_t n_nodes;
	size_t n_syntax_errors;
	unsigned depth;
	bool told_text; /* of this run of text */
	bool failed;
};

static void on_syntax_error(void *arg, xml_error_arg error)
{
	struct reader *reader = ((xmlParserCtxt *)arg)->_private;
	int length = error->message ? (int)strcspn(error->message, "\n") : 0;

	if (error->level < XML_ERR_ERROR)
		return;
	reader->failed = true;
	if (reader->n_syntax_errors++ < MAX_SYNTAX_ERRORS)
		nm_diag_error(reader->diags, reader->file, (unsigned)error->line,
			      "not well-formed XML: %.*s%s", length,
			      error->message ? error->message : "",
			      error->code == XML_ERR_LT_IN_ATTRIBUTE ? ": write &lt; for it" : "");
}

#define TOO_MANY_ATTRS "an element has more than " TEXT_OF(NM_PROFILE_MAX_ATTRS) " attributes"

static void fail(struct reader *reader, unsigned line, const char *what)
{
	reader->failed = true;
	nm_diag_error(reader->diags, reader->file, line, "%s", what);
}

/* ---- before libxml2 sees it ---- */

/* libxml2 takes no notice of the encoding, so a wrong one is reported here. */
static void check_encoding(struct reader *reader)
{
	size_t length;
	const char *name = nm_encoding_find(reader->text, reader->length, &length);

	if (!name || nm_encoding_is_known(name, length))
		return;
	reader->failed = true;
	nm_diag_error(reader->diags, reader->file, 1,
		      "encoding=\"%.*s\" is not allowed: a profile is UTF-8 or ISO-8859-1 text",
		      length > MAX_QUOTED ? MAX_QUOTED : (int)length, name);
}

/* No '<' is inside a tag: so no tag has more attributes than stand between two of them, however
 * wrong the text is otherwise. */
static void check_flood(struct reader *reader)
{
	unsigned line = 1, tag_line = 1;
	size_t n = 0;
	bool value = false; /* after '=' and blanks */

	for (size_t i = 0; i < reader->length; i++) {
		char c = reader->text[i];

		line += c == '\n';
		if (c == '<') {
			n = 0;
			tag_line = line;
		}
		if (value && (c == '"' || c == '\'') && ++n > MAX_FLOOD) {
			fail(reader, tag_line, TOO_MANY_ATTRS);
			return;
		}
		value = c == '=' || (value && strchr(" \t\r\n", c));
	}
}

/* ---- while libxml2 reads ---- */

/* Stops the parser before the document type is read: its declarations (entities above all) never
 * come into being. */
static void on_doctype(void *arg, const xmlChar *name, const xmlChar *external_id,
		       const xmlChar *system_id)
{
	xmlParserCtxt *ctxt = arg;

	(void)name, (void)external_id, (void)system_id;
	fail(ctxt->_private, (unsigned)xmlSAX2GetLineNumber(ctxt),
	     "a document type declaration (DOCTYPE) is not allowed in a profile");
	xmlStopParser(ctxt);
}

/* libxml2 reports a tag after its attributes, which may be lines below its name. */
static unsigned start_line(const struct reader *reader, const xmlParserCtxt *ctxt)
{
	const xmlParserInput *input = ctxt->input;
	size_t at = input->consumed + (size_t)(input->cur - input->base);
	unsigned line = (unsigned)input->line;

	if (at > reader->length)
		at = reader->length;
	for (; at > 0 && reader->text[at - 1] != '<' && line > 1; at--)
		line -= reader->text[at - 1] == '\n';
	return line;
}

static bool is_include(const xmlChar *name, const xmlChar *uri)
{
	return uri && strcmp((const char *)name, "include") == 0 &&
	       strncmp((const char *)uri, "http://www.w3.org/", 18) == 0 &&
	       strstr((const char *)uri, "/XInclude");
}

static void on_start(void *arg, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
		     int n_namespaces, const xmlChar **namespaces, int n_attrs, int n_defaulted,
		     const xmlChar **attrs)
{
	xmlParserCtxt *ctxt = arg;
	struct reader *reader = ctxt->_private;
	unsigned line = start_line(reader, ctxt);

	reader->told_text = false;
	if (++reader->depth > NM_PROFILE_MAX_DEPTH) {
		fail(reader, line,
		     "elements are nested deeper than " TEXT_OF(NM_PROFILE_MAX_DEPTH));
		xmlStopParser(ctxt);
		return;
	}
	if (++reader->n_nodes > NM_PROFILE_MAX_NODES) {
		fail(reader, line,
		     "the profile has more than " TEXT_OF(NM_PROFILE_MAX_NODES) " elements");
		xmlStopParser(ctxt);
		return;
	}
	if (n_attrs > NM_PROFILE_MAX_ATTRS)
		fail(reader, line, TOO_MANY_ATTRS);
	if (is_include(name, uri))
		fail(reader, line, "an include is not allowed in a profile");
	xmlSAX2StartElementNs(ctxt, name, prefix, uri, n_namespaces, namespaces, n_attrs,
			      n_defaulted, attrs);
	if (ctxt->node)
		ctxt->node->_private = (void *)(uintptr_t)line;
}

static void on_end(void *arg, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
	xmlParserCtxt *ctxt = arg;
	struct reader *reader = ctxt->_private;

	reader->depth--;
	reader->told_text = false;
	xmlSAX2EndElementNs(ctxt, name, prefix, uri);
}

/* The whole characters of a word that fit into a message. */
static int quoted_length(const char *word, size_t length)
{
	size_t n = 0;

	while (n < length && !strchr(" \t\r\n", word[n]))
		n++;
	if (n <= MAX_QUOTED)
		return (int)n;
	for (n = MAX_QUOTED; n && ((unsigned char)word[n] & 0xc0) == 0x80;)
		n--;
	return (int)n;
}

/* May be called several times for one text. */
static void on_text(void *arg, const xmlChar *text, int length)
{
	xmlParserCtxt *ctxt = arg;
	struct reader *reader = ctxt->_private;
	const char *end = (const char *)text + length;
	const char *word = nm_skip_blanks((const char *)text, end);
	unsigned line = (unsigned)ctxt->input->line; /* where it ends */

	/* Text behind a syntax error may be the rest of that error. */
	if (word == end || reader->told_text || reader->n_syntax_errors)
		return;
	for (const char *c = word; c < end && line > 1; c++)
		line -= *c == '\n';
	reader->told_text = true;
	reader->failed = true;
	nm_diag_error(reader->diags, reader->file, line,
		      "text is not allowed inside <%s>: \"%.*s\"",
		      ctxt->node ? (const char *)ctxt->node->name : "",
		      quoted_length(word, (size_t)(end - word)), word);
}

/* ---- from libxml2's tree to ours ---- */

/* A name as it is written, so that nothing with a prefix passes for something of ours; NULL: out of
 * memory. */
static char *whole_name(const xmlNs *ns, const xmlChar *name)
{
	char *whole = NULL;

	if (!ns || !ns->prefix)
		return strdup((const char *)name);
	return asprintf(&whole, "%s:%s", (const char *)ns->prefix, (const char *)name) < 0 ? NULL
											   : whole;
}

/* Adds an attribute, whose two strings become the node's in any case. 0 or -ENOMEM. */
static int append_attr(struct nm_node *node, char *name, char *value)
{
	struct nm_attr *attrs =
		name && value ? realloc(node->attrs, (node->n_attrs + 1) * sizeof *attrs) : NULL;

	if (!attrs) {
		free(name);
		free(value);
		return -ENOMEM;
	}
	node->attrs = attrs;
	attrs[node->n_attrs++] = (struct nm_attr){.name = name, .value = value};
	return 0;
}

static void copy_attrs(struct reader *reader, const xmlNode *from, struct nm_node *to)
{
	for (const xmlAttr *attr = from->properties; attr; attr = attr->next) {
		xmlChar *value = xmlNodeListGetString(from->doc, attr->children, 1);
		const char *text = value ? (const char *)value : "";

		if (strlen(text) > NM_PROFILE_MAX_VALUE)
			fail(reader, to->line,
			     "the value of an attribute is longer than " TEXT_OF(
				     NM_PROFILE_MAX_VALUE) " bytes");
		else if (append_attr(to, whole_name(attr->ns, attr->name), strdup(text)) < 0)
			fail(reader, to->line, "out of memory");
		xmlFree(value);
	}
}

static struct nm_node *convert(struct reader *reader, const xmlNode *from);

static void copy_child(struct reader *reader, const xmlNode *child, struct nm_node *to)
{
	struct nm_node *node = convert(reader, child);
	size_t n = to->n_children;

	if (!node)
		return;
	/* There is room up to the next power of two. */
	if ((n & (n - 1)) == 0) {
		struct nm_node **children =
			realloc(to->children, (n ? 2 * n : 1) * sizeof(struct nm_node *));

		if (!children) {
			fail(reader, to->line, "out of memory");
			nm_node_free(node);
			return;
		}
		to->children = children;
	}
	to->children[to->n_children++] = node;
}

/* on_start has bounded the depth, and so this recursion. */
static struct nm_node *convert(struct reader *reader, const xmlNode *from)
{
	struct nm_node *node = calloc(1, sizeof(*node));
	unsigned line = (unsigned)(uintptr_t)from->_private;

	if (!node || !(node->name = whole_name(from->ns, from->name))) {
		fail(reader, line, "out of memory");
		return nm_node_free(node);
	}
	node->line = line;
	copy_attrs(reader, from, node);
	for (const xmlNode *child = from->children; child; child = child->next)
		if (child->type == XML_ELEMENT_NODE)
			copy_child(reader, child, node);
	return node;
}

static struct nm_node *parse(struct reader *reader, xmlParserCtxt *ctxt)
{
	struct nm_node *root = NULL;

	ctxt->_private = reader;
	ctxt->sax->serror = on_syntax_error;
	ctxt->sax->internalSubset = on_doctype;
	ctxt->sax->startElementNs = on_start;
	ctxt->sax->endElementNs = on_end;
	ctxt->sax->characters = on_text;
	ctxt->sax->ignorableWhitespace = on_text;
	ctxt->sax->cdataBlock = on_text;
	ctxt->sax->comment = NULL;
	ctxt->sax->processingInstruction = NULL;

	xmlDoc *doc = xmlCtxtReadMemory(ctxt, reader->text, (int)reader->length, reader->file, NULL,
					XML_PARSE_NONET | XML_PARSE_IGNORE_ENC);

	if (doc && ctxt->wellFormed && !reader->failed && xmlDocGetRootElement(doc))
		root = convert(reader, xmlDocGetRootElement(doc));
	else if (!reader->failed)
		fail(reader, 0, "not an XML document");
	xmlFreeDoc(doc);
	return reader->failed ? nm_node_free(root) : root;
}

/* Checks the text before libxml2 sees it, and then parses it. */
static struct nm_node *check_and_parse(struct reader *reader)
{
	check_encoding(reader);
	if (!reader->failed)
		check_flood(reader);
	if (reader->failed)
		return NULL;
	xmlInitParser(); /* once in a process, whichever thread comes first */
	xmlParserCtxt *ctxt = xmlNewParserCtxt();

	if (!ctxt) {
		fail(reader, 0, "out of memory");
		return NULL;
	}
	struct nm_node *root = parse(reader, ctxt);

	xmlFreeParserCtxt(ctxt);
	return root;
}

/* A profile may have the password of a key in it. */
static void free_text(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

static void free_wiped(void *memory)
{
	if (memory)
		explicit_bzero(memory, malloc_usable_size(memory));
	free(memory);
}

static void *realloc_wiped(void *memory, size_t size)
{
	void *grown = malloc(size);

	if (grown && memory) {
		size_t before = malloc_usable_size(memory);

		memcpy(grown, memory, before < size ? before : size);
		free_wiped(memory);
	}
	return grown;
}

void nm_profile_wipe_all(void)
{
	(void)xmlMemSetup(free_wiped, malloc, realloc_wiped, strdup);
}

struct nm_node *nm_profile_parse(const char *file, const char *text, size_t length,
				 struct nm_diags *diags)
{
	bool bom = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
	struct reader reader = {.file = file,
				.text = bom ? text + 3 : text,
				.length = bom ? length - 3 : length,
				.diags = diags};
	struct nm_node *root = NULL;
	char *normal = NULL, *converted = NULL;

	if (length > NM_PROFILE_MAX_BYTES) {
		nm_diag_error(diags, file, 0, "the profile is larger than 1 MiB");
		return NULL;
	}
	int r = nm_encoding_convert(file, reader.text, reader.length, &converted, &reader.length,
				    diags);

	if (r == -EINVAL)
		return NULL;
	if (r > 0)
		reader.text = converted;
	if (r >= 0)
		r = nm_profile_normalise(file, reader.text, reader.length, &normal, &reader.length,
					 diags);
	if (r > 0)
		reader.text = normal;
	if (r < 0)
		fail(&reader, 0, "out of memory");
	else
		root = check_and_parse(&reader);
	free_text(normal);
	free_text(converted);
	return root;
}

/* ---- printing ---- */

static void print_escaped(FILE *out, const char *text)
{
	static const char special[] = "&<>\"\n\r\t";
	static const char *const escaped[] = {"&amp;", "&lt;",	"&gt;", "&quot;",
					      "&#10;", "&#13;", "&#9;"};

	for (; *text; text++) {
		const char *found = strchr(special, *text);

		if (found)
			fputs(escaped[found - special], out);
		else
			fputc(*text, out);
	}
}

/* Each element begins on the line that it had in the file, so that the lines in messages still
 * fit. */
static void print_node(FILE *out, const struct nm_node *node, unsigned *line)
{
	for (; *line < node->line; ++*line)
		fputc('\n', out);
	fprintf(out, "<%s", node->name);
	for (size_t i = 0; i < node->n_attrs; i++) {
		fprintf(out, " %s=\"", node->attrs[i].name);
		print_escaped(out, node->attrs[i].value);
		fputc('"', out);
	}
	if (!node->n_children) {
		fputs("/>", out);
		return;
	}
	fputs(">", out);
	for (size_t i = 0; i < node->n_children; i++)
		print_node(out, node->children[i], line);
	fprintf(out, "</%s>", node->name);
}

char *nm_profile_print(const struct nm_node *root)
{
	char *text = NULL;
	size_t size = 0;
	unsigned line = 1;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	print_node(out, root, &line);
	fputc('\n', out);
	bool failed = ferror(out) != 0;

	if (fclose(out) != 0 || failed) {
		free(text);
		return NULL;
	}
	return text;
}

/* ---- nodes ---- */

void nm_attr_drop_pieces(struct nm_attr *attr)
{
	for (size_t i = 0; i < attr->n_pieces; i++) {
		free(attr->pieces[i].name);
		free(attr->pieces[i].text);
	}
	free(attr->pieces);
	attr->pieces = NULL;
	attr->n_pieces = 0;
}

struct nm_node *nm_node_free(struct nm_node *node)
{
	if (!node)
		return NULL;
	for (size_t i = 0; i < node->n_children; i++)
		nm_node_free(node->children[i]);
	for (size_t i = 0; i < node->n_attrs; i++) {
		nm_attr_drop_pieces(&node->attrs[i]);
		free(node->attrs[i].name);
		/* The value may have the password of a key in it. */
		if (node->attrs[i].value)
			explicit_bzero(node->attrs[i].value, strlen(node->attrs[i].value));
		free(node->attrs[i].value);
	}
	free(node->children);
	free(node->attrs);
	free(node->name);
	free(node);
	return NULL;
}

struct nm_node *nm_node_copy(const struct nm_node *node)
{
	struct nm_node *copy = nm_node_new(node->name, node->line);
	int error = copy ? 0 : -ENOMEM;

	for (size_t i = 0; i < node->n_attrs && !error; i++)
		error = nm_node_set_attr(copy, node->attrs[i].name, node->attrs[i].value);
	for (size_t i = 0; i < node->n_children && !error; i++)
		error = nm_node_insert(copy, i, nm_node_copy(node->children[i]));
	return error ? nm_node_free(copy) : copy;
}

int nm_node_insert(struct nm_node *node, size_t at, struct nm_node *child)
{
	struct nm_node **children =
		child ? realloc(node->children, (node->n_children + 1) * sizeof(*children)) : NULL;

	if (!children) {
		nm_node_free(child);
		return -ENOMEM;
	}
	memmove(&children[at + 1], &children[at], (node->n_children - at) * sizeof(*children));
	children[at] = child;
	node->children = children;
	node->n_children++;
	return 0;
}

struct nm_attr *nm_node_find_attr(const struct nm_node *node, const char *name)
{
	for (size_t i = 0; i < node->n_attrs; i++)
		if (nm_ascii_equals(node->attrs[i].name, name))
			return &node->attrs[i];
	return NULL;
}

const char *nm_node_attr(const struct nm_node *node, const char *name)
{
	const struct nm_attr *attr = nm_node_find_attr(node, name);

	return attr ? attr->value : NULL;
}

struct nm_node *nm_node_new(const char *name, unsigned line)
{
	struct nm_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->line = line;
	node->name = strdup(name);
	return node->name ? node : nm_node_free(node);
}

int nm_node_set_attr(struct nm_node *node, const char *name, const char *value)
{
	struct nm_attr *attr = nm_node_find_attr(node, name);

	return attr ? nm_attr_set(attr, value) : append_attr(node, strdup(name), strdup(value));
}

void nm_node_remove_attr(struct nm_node *node, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < node->n_attrs; i++) {
		if (!nm_ascii_equals(node->attrs[i].name, name)) {
			node->attrs[kept++] = node->attrs[i];
			continue;
		}
		free(node->attrs[i].name);
		free(node->attrs[i].value);
	}
	node->n_attrs = kept;
}

int nm_attr_set(struct nm_attr *attr, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return -ENOMEM;
	nm_attr_drop_pieces(attr);
	free(attr->value);
	attr->value = copy;
	return 0;
}

int nm_attr_add_piece(struct nm_attr *attr, const struct nm_piece *piece)
{
	struct nm_piece *pieces = realloc(attr->pieces, (attr->n_pieces + 1) * sizeof *pieces);
	struct nm_piece copy = *piece;

	if (!pieces)
		return -ENOMEM;
	attr->pieces = pieces;
	copy.name = strdup(piece->name);
	copy.text = strdup(piece->text);
	if (!copy.name || !copy.text) {
		free(copy.name);
		free(copy.text);
		return -ENOMEM;
	}
	pieces[attr->n_pieces++] = copy;
	return 0;
}
