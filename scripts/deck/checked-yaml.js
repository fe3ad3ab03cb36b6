/** Reads a YAML file and checks it against a JSON Schema. Every problem names the file, the line, the key, and what was expected. */

import { readFileSync } from "node:fs";
import path from "node:path";

import Ajv from "ajv/dist/2020.js";
import { LineCounter, parse, parseDocument } from "yaml";

const TYPES = {
  object: "a mapping",
  array: "a list",
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  null: "nothing",
};

/** A file that a person wrote cannot be used as it is; the message says where and why. */
export class InvalidFile extends Error {}

/**
 * @param {string} root   the file's name is told relative to this folder
 * @param {string} file   with "/"
 * @param {string} schemaFile   absolute
 * @returns {{value: object, lineOf: (...keys: (string|number)[]) => number}} lineOf: the line of a key, or of the nearest
 *   key above it
 * @throws {InvalidFile} when there is no such file, it is no YAML, or it breaks its schema
 */
export function readCheckedYaml(root, file, schemaFile) {
  const lines = new LineCounter();
  const document = parseDocument(textOf(root, file), { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset) => lines.linePos(offset).line;
  const [broken] = document.errors;
  if (broken) throw new InvalidFile(`${file}:${lineAt(broken.pos[0])}: is not valid YAML: ${broken.message}`);
  const lineOf = (...keys) => lineAt(offsetOf(document, keys));
  const value = valueOf(document, file);
  const validate = validatorOf(schemaFile);
  if (!validate(value)) throw new InvalidFile(messageOf(file, violations(validate.errors), lineOf));
  return { value, lineOf };
}

/**
 * What a text of YAML says, where no schema is.
 * @param {string} text
 * @param {string} file   where it is from
 * @throws {InvalidFile} when it is no YAML
 */
export function parseYaml(text, file) {
  try {
    return parse(text);
  } catch (error) {
    throw new InvalidFile(`${file}: ${error.message}`, { cause: error });
  }
}

const validators = new Map();

/** Compiling a schema takes longer than reading the file. */
function validatorOf(schemaFile) {
  if (!validators.has(schemaFile)) {
    const schema = JSON.parse(readFileSync(schemaFile, "utf8"));
    const ajv = new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true });
    validators.set(schemaFile, ajv.compile(schema));
  }
  return validators.get(schemaFile);
}

function textOf(root, file) {
  try {
    return readFileSync(path.join(root, file), "utf8");
  } catch (error) {
    if (error.code !== "ENOENT") throw new InvalidFile(`${file}: ${error.message}`, { cause: error });
    throw new InvalidFile(`${file}: there is no such file in ${root}`, { cause: error });
  }
}

function valueOf(document, file) {
  try {
    return document.toJS();
  } catch (error) {
    // An alias without its anchor; only this step meets it, and without a place.
    throw new InvalidFile(`${file}:1: is not valid YAML: ${error.message}`, { cause: error });
  }
}

/** Where a key stands, or the nearest key above it that does. */
function offsetOf(document, keys) {
  let node = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const key of keys) {
    const pair =
      node?.items?.[typeof key === "number" ? key : node.items.findIndex((pair) => pair.key?.value === key)];
    if (pair === undefined) break;
    offset = (pair.key ?? pair).range[0];
    node = pair.key === undefined ? pair : pair.value;
  }
  return offset;
}

function messageOf(file, problems, lineOf) {
  const sentences = problems
    .map(({ keys, message }) => ({ line: lineOf(...keys), message }))
    .sort((a, b) => a.line - b.line)
    .map(({ line, message }) => `${file}:${line}: ${message}`);
  return [...new Set(sentences)].join("\n");
}

/** What each violation is about, in words. An alternative that failed is told as a whole, not part by part. */
function violations(errors) {
  const whole = errors.filter(({ keyword }) => keyword === "oneOf").map(({ schemaPath }) => schemaPath);
  return errors
    .filter(({ schemaPath }) => !whole.some((alternatives) => schemaPath.startsWith(`${alternatives}/`)))
    .map((error) => {
      const keys = keysOf(error.instancePath);
      return { keys: lastKey(keys, error), message: `${named(lastKey(keys, error))}: ${wordsOf(error)}` };
    });
}

function wordsOf({ keyword, params, parentSchema, schema, data, message }) {
  switch (keyword) {
    case "additionalProperties":
      return `unknown key; expected one of ${Object.keys(parentSchema.properties ?? {}).join(", ")}`;
    case "required":
      return "this key is missing";
    case "enum":
      return `${shown(data)} is not one of ${schema.join(", ")}`;
    case "type":
      return `expected ${[params.type]
        .flat()
        .map((type) => TYPES[type])
        .join(" or ")}, found ${shown(data)}`;
    default: {
      const expected =
        parentSchema.description === undefined ? message : `expected ${parentSchema.description}`;
      return `${shown(data)}: ${expected}`;
    }
  }
}

/** The key that a violation is about: one that is missing or unknown belongs to the mapping that was looked at. */
function lastKey(keys, { keyword, params, propertyName }) {
  const own = { additionalProperties: params.additionalProperty, required: params.missingProperty }[keyword];
  return [...keys, ...[own ?? propertyName].filter((part) => part !== undefined)];
}

function keysOf(pointer) {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

function named(keys) {
  if (keys.length === 0) return "the file";
  return keys.reduce(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : text ? `${text}.${key}` : key),
    "",
  );
}

function shown(value) {
  if (value === null || value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}…`;
}
