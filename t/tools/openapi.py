#!/usr/bin/python3

# openapi.py lint [<description>]
# openapi.py answers <directory> [<description>]
#
# What holds between docs/reference/openapi.yaml and the rest:
#
# lint      The description is sound: each $ref leads somewhere, each schema is
#           one of JSON Schema 2020-12, each example fits its schema, each
#           operation has what it needs.  Its routes, their arguments and their
#           levels are those of src/api, and its error codes those of
#           docs/reference/error-codes.md, no more and no less.
#
# answers   Each answer that a test has got fits the description.  The tests'
#           clients write answers down by t/lib/SubmissionAnswers.pm, each kind
#           of answer of a test once, and t/tools/prove.sh runs this at the end.
#
# Both print what is wrong, one line each, and fail if there was anything.

import glob
import json
import os
import re
import sys
import urllib.parse
import warnings

warnings.simplefilter('ignore', DeprecationWarning)

import jsonschema   # noqa: E402
import yaml         # noqa: E402

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
DESCRIPTION = 'docs/reference/openapi.yaml'
METHODS = ('get', 'head', 'post', 'put', 'delete', 'patch', 'options')

# of the headers of an answer, those that the API gives a meaning to

HEADERS = ('allow', 'idempotent-replayed', 'retry-after', 'www-authenticate')

Validator = jsonschema.Draft202012Validator


class Loader(getattr(yaml, 'CSafeLoader', yaml.SafeLoader)):
    """YAML in which no key is there twice."""

    def construct_mapping(self, node, deep=False):
        seen = set()

        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, 'the key "%s" is there twice' % key.value,
                    key.start_mark)
            seen.add(key.value)

        return super().construct_mapping(node, deep)


class Description:

    def __init__(self, path):
        with open(path, encoding='utf-8') as f:
            self.doc = yaml.load(f, Loader)

        self.resolver = jsonschema.RefResolver('', self.doc)
        self.validators = {}

    def at(self, ref):
        """What a reference within the document leads to."""

        node = self.doc

        if not ref.startswith('#/'):
            raise KeyError(ref)

        for part in ref[2:].split('/'):
            part = urllib.parse.unquote(part)
            node = node[part.replace('~1', '/').replace('~0', '~')]

        return node

    def deref(self, node):
        while isinstance(node, dict) and '$ref' in node:
            node = self.at(node['$ref'])

        return node

    def faults(self, schema, value):
        """What does not fit, as sentences."""

        validator = self.validators.get(id(schema))

        if validator is None:
            validator = Validator(schema, resolver=self.resolver)
            self.validators[id(schema)] = validator

        found = []

        for error in validator.iter_errors(value):
            where = '/'.join(str(part) for part in error.absolute_path)
            found.append('%s: %s' % (where or 'the body', error.message[:300]))

        return sorted(set(found))

    def operations(self):
        """(path, method, operation, its parameters) of each."""

        for path, item in self.doc['paths'].items():
            for method, operation in item.items():
                if method not in METHODS:
                    continue

                parameters = [self.deref(p)
                              for p in item.get('parameters', [])
                              + operation.get('parameters', [])]

                yield path, method, operation, parameters


# lint


def walk(node, where=''):
    """All nodes, each with its place."""

    yield where, node

    if isinstance(node, dict):
        for key, value in node.items():
            yield from walk(value, where + '/' + str(key).replace('/', '~1'))

    elif isinstance(node, list):
        for i, value in enumerate(node):
            yield from walk(value, '%s/%d' % (where, i))


def lint_document(d):
    doc = d.doc

    if not str(doc.get('openapi', '')).startswith('3.1.'):
        yield 'it is not of OpenAPI 3.1'

    refs = set()

    # generators of clients require a property that has a default

    for where, node in walk(doc):
        if isinstance(node, dict) and 'default' in node \
                and '/examples/' not in where \
                and not where.endswith(('/responses', '/properties')):
            yield '%s: it has a default: say it in the description' % where

    for where, node in walk(doc):
        ref = node.get('$ref') if isinstance(node, dict) else None

        if isinstance(ref, str):
            refs.add(ref)
            try:
                d.at(ref)
            except (KeyError, TypeError):
                yield '%s: there is no %s' % (where, ref)

    for kind, parts in doc.get('components', {}).items():
        for name in parts:
            if '#/components/%s/%s' % (kind, name) not in refs:
                yield 'components/%s/%s is not used' % (kind, name)


def lint_media(d, where, holder):
    """The schema and the examples of a parameter, a header or a body."""

    schema = holder.get('schema')

    if schema is None:
        yield '%s: has no schema' % where
        return

    try:
        Validator.check_schema(schema)
    except jsonschema.SchemaError as e:
        yield '%s: not a schema: %s' % (where, e.message)
        return

    for name, example in holder.get('examples', {}).items():
        for fault in d.faults(schema, d.deref(example)['value']):
            yield '%s: the example "%s" does not fit: %s' % (where, name,
                                                             fault)


def lint_content(d, where, holder):
    if not holder.get('description'):
        yield '%s: has no description' % where

    for name, header in holder.get('headers', {}).items():
        yield from lint_media(d, '%s %s' % (where, name), d.deref(header))

    for kind, media in holder.get('content', {}).items():
        at = '%s %s' % (where, kind)

        yield from lint_media(d, at, media)

        if not media.get('examples'):
            yield '%s: has no examples' % at


def lint_operations(d):
    ids = set()

    for path, method, operation, parameters in d.operations():
        where = '%s %s' % (method.upper(), path)
        name = operation.get('operationId')

        for key in ('operationId', 'summary', 'responses'):
            if not operation.get(key):
                yield '%s: has no %s' % (where, key)

        if name in ids:
            yield '%s: there are two operations %s' % (where, name)

        ids.add(name)

        in_path = set(p['name'] for p in parameters if p['in'] == 'path')

        if in_path != set(re.findall(r'{(\w+)}', path)):
            yield '%s: other parameters in the path than described' % where

        for p in parameters:
            at = '%s %s' % (where, p['name'])

            if not p.get('description'):
                yield '%s: has no description' % at

            yield from lint_media(d, at, p)

        if 'requestBody' in operation:
            yield from lint_content(d, where + ' body',
                                    dict(d.deref(operation['requestBody']),
                                         description=True))

        for status, response in operation.get('responses', {}).items():
            if not re.fullmatch('[1-5]([0-9][0-9]|XX)', str(status)):
                yield '%s: "%s" is not a status' % (where, status)

            yield from lint_content(d, '%s %s' % (where, status),
                                    d.deref(response))

    for status, response in d.doc.get('x-elsewhere', {}).items():
        yield from lint_content(d, 'x-elsewhere %s' % status,
                                d.deref(response))


def lint_schemas(d):
    for name, schema in d.doc['components']['schemas'].items():
        try:
            Validator.check_schema(schema)
        except jsonschema.SchemaError as e:
            yield 'the schema %s: %s' % (name, e.message)

    # what is left open hides a field that nobody has described

    for where, node in walk(d.doc):
        if (isinstance(node, dict) and node.get('type') == 'object'
                and 'additionalProperties' not in node):
            yield '%s: an object without additionalProperties' % where


def read(path):
    with open(os.path.join(TOP, path), encoding='utf-8') as f:
        return f.read()


METHODS_OF = {'GET': ['get'], 'HEAD': [], 'READ': ['get'], 'POST': ['post'],
              'PUT': ['put'], 'DELETE': ['delete']}


def arguments():
    """How requests are read, and the arguments, of all files of src/api."""

    inputs, tables = {}, {}

    for path in sorted(glob.glob(os.path.join(TOP, 'src/api/**/*.c'),
                                   recursive=True)):
        source = read(path)

        for name, body in re.findall(
                r'^const ngx_http_submission_input_t\s+(\w+) = {\n(.*?)^};',
                source, re.M | re.S):
            args = re.search(r'\.args = (\w+)', body)
            inputs[name] = args and args.group(1)

        for name, body in re.findall(
                r'^(?:static )?const ngx_http_submission_arg_t'
                r'\s+(\w+)\[\] = {\n(.*?)^};',
                source, re.M | re.S):
            tables[name] = set(re.findall(r'^\s*{ "(\w+)",', body, re.M))

    return inputs, tables


def routes(inputs):
    """(pattern, method) -> (name of the arguments' table or None, level)."""

    source = read('src/api/ngx_http_submission_api.c')
    table = re.search(r'ngx_http_submission_routes\[\] = {\n(.*?)^};', source,
                      re.M | re.S).group(1)
    found = {}
    rows = 0

    for pattern, bits, level, how in re.findall(
            r'_route\("([^"]*)", (\w+), (\w+),\s+\w+,\s+(\w+)', table):
        rows += 1

        for method in METHODS_OF[bits]:
            found[pattern, method] = (inputs[how], level.lower())

    if not rows or rows != table.count('_route('):
        raise SystemExit('openapi.py: cannot read the table of routes')

    return found


def lint_routes(d):
    inputs, tables = arguments()
    there = routes(inputs)
    described = {}

    for path, method, operation, parameters in d.operations():
        if path.startswith('/v1/'):
            pattern = re.sub(r'{\w+}', '*', path[len('/v1/'):])
            described[pattern, method] = (path, operation, parameters)

    for (pattern, method), (args, level) in there.items():
        where = '%s /v1/%s' % (method.upper(), pattern)

        if (pattern, method) not in described:
            yield '%s: is a route of src/api, and is not described' % where
            continue

        path, operation, parameters = described[pattern, method]
        names = set(p['name'] for p in parameters if p['in'] == 'query')

        if args and args not in tables:
            yield '%s: cannot find its arguments, %s' % (where, args)
            continue

        taken = tables[args] if args else set()

        for name in sorted(taken - names):
            yield '%s: the argument "%s" is not described' % (where, name)

        for name in sorted(names - taken):
            yield '%s: there is no argument "%s"' % (where, name)

        if operation.get('x-access') != level:
            yield '%s: x-access is %s, and the route has %s' % (
                where, operation.get('x-access'), level)

    for pattern, method in sorted(set(described) - set(there)):
        yield '%s /v1/%s: is described, and is no route of src/api' % (
            method.upper(), pattern)


def lint_codes(d):
    described = set(d.at('#/components/schemas/ErrorCode')['enum'])
    listed = set(re.findall(r'^\| \d{3} \| `(\w+)`',
                            read('docs/reference/error-codes.md'), re.M))

    for code in sorted(listed - described):
        yield 'the code %s of error-codes.md is not described' % code

    for code in sorted(described - listed):
        yield 'the code %s is not in error-codes.md' % code


def lint(path):
    d = Description(path)
    found = list(lint_document(d))

    # references lead somewhere, then schemas are schemas, then they are used

    for checks in (lint_schemas,), (lint_operations, lint_routes, lint_codes):
        if not found:
            for check in checks:
                found += check(d)

    return list(dict.fromkeys('%s: %s' % (path, text) for text in found))


# answers


def normalize(path):
    """As nginx merges slashes and resolves dots, where there are any."""

    out = []

    for part in path.split('/')[1:]:
        if part == '..':
            out = out[:-1]
        elif part not in ('', '.'):
            out.append(part)

    return '/' + '/'.join(out + [''] * path.endswith('/'))


def match(d, path):
    """The path of the description that fits, or None."""

    parts = [urllib.parse.unquote(p) for p in path.split('/')]

    for template in d.doc['paths']:
        want = template.split('/')

        if len(want) == len(parts) and all(
                w == p or (w.startswith('{') and p != '')
                for w, p in zip(want, parts)):
            return template

    return None


def response_of(d, answer):
    """(where it is described, the response), or (where, None)."""

    target = re.sub(r'^https?://[^/]*', '', answer['target'])
    path = target.split('?')[0]

    template = match(d, path) or match(d, normalize(path))
    method = answer['method'].lower().replace('head', 'get')
    status = str(answer['status'])

    item = d.doc['paths'].get(template, {})

    if method in item and method in METHODS:
        where = '%s %s' % (method.upper(), template)
        responses = item[method]['responses']
    else:
        where = 'x-elsewhere'
        responses = d.doc['x-elsewhere']

    return where, d.deref(responses.get(status)
                          or responses.get(status[0] + 'XX'))


def read_body(kind, body):
    """The values of a body, one for each line of application/x-ndjson."""

    text = body.decode('utf-8')

    if kind == 'application/json':
        return [json.loads(text)]

    if kind == 'application/x-ndjson':
        if not text.endswith('\n'):
            raise ValueError('its last line has no end')
        return [json.loads(line) for line in text[:-1].split('\n')]

    return [text]


def check_answer(d, answer):
    """What does not fit."""

    where, response = response_of(d, answer)

    if response is None:
        yield 'the status %s of %s is not described' % (answer['status'],
                                                        where)
        return

    headers = {name.lower(): d.deref(header)
               for name, header in response.get('headers', {}).items()}

    for name, value in answer['headers'].items():
        if name not in headers:
            if name in HEADERS:
                yield 'the header %s is not described' % name
            continue

        for fault in d.faults(headers[name]['schema'], value):
            yield 'the header %s: %s' % (name, fault)

    for name, header in headers.items():
        if header.get('required') and name not in answer['headers']:
            yield 'the header %s is missing' % name

    content = response.get('content', {})
    kind = answer['type'].split(';')[0].strip().lower()
    body = answer['body'].encode('latin-1')

    if answer['status'] in (204, 304, '204', '304') and not content:
        if body:
            yield 'it has a body'
        return

    if answer['method'] == 'HEAD':
        if body:
            yield 'HEAD has a body'
        return

    if kind not in content:
        yield 'the type "%s" is not described' % answer['type']
        return

    try:
        values = read_body(kind, body)
    except ValueError as e:
        yield 'the body is not %s: %s' % (kind, e)
        return

    for i, value in enumerate(values):
        for fault in d.faults(content[kind]['schema'], value):
            yield fault if len(values) == 1 else 'line %d: %s' % (i + 1, fault)


# nginx answers with a page of its own if it refuses a request before it has
# found the location, and at /readyz and /metrics.

def is_page(answer):
    early = answer['status'] in (400, 414, 501, 505)
    api = answer['target'].startswith('/v1/')

    return (answer['type'].startswith('text/html') and (early or not api)
            and answer['status'] >= 400
            and ('<center>nginx' in answer['body']
                 or answer['method'] == 'HEAD'))


def answers(directory, path):
    d = Description(path)
    found, seen, wrong, tests = [], set(), set(), set()

    for name in sorted(glob.glob(os.path.join(directory, '*.jsonl'))):
        with open(name, encoding='ascii') as f:
            lines = [json.loads(line) for line in f]

        for answer in lines:
            tests.add(answer['test'])

            if answer.get('full'):
                print('%s: more kinds of answers than are looked at'
                      % answer['test'])
                continue

            if answer['key'] in seen or is_page(answer):
                continue

            seen.add(answer['key'])

            # one mistake is in many answers, and is told once

            where, _ = response_of(d, answer)
            told = []

            for fault in check_answer(d, answer):
                text = '%s %s: %s' % (where, answer['status'], fault)
                text = re.sub(r'[0-9]+', '0', text)

                if text not in wrong:
                    wrong.add(text)
                    told.append(fault)

            if told:
                found.append('\n'.join(
                    ['%s: %s %s -> %s: %s' % (
                        answer['test'], answer['method'],
                        answer['target'][:200], answer['status'], fault)
                     for fault in told[:5]]
                    + ['    ' + answer['body'].strip()[:500]]))

    print('%d kinds of answers in %d tests, %d do not fit %s'
          % (len(seen), len(tests), len(found), DESCRIPTION))

    return found


def main(args):
    path = os.path.join(TOP, DESCRIPTION)

    if args[:1] == ['lint'] and len(args) <= 2:
        os.chdir(TOP)
        found = lint(args[1] if len(args) > 1 else DESCRIPTION)

    elif args[:1] == ['answers'] and 2 <= len(args) <= 3:
        found = answers(args[1], args[2] if len(args) > 2 else path)

    else:
        sys.exit('usage: openapi.py lint|answers <directory> [<description>]')

    for text in found:
        print(text)

    sys.exit(1 if found else 0)


main(sys.argv[1:])
