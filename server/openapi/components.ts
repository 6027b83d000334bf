import { isDeepStrictEqual } from 'node:util'
import { type SchemaNotes, schemaNamed } from '../platform/http/named-schemas.ts'
import { NOT_BLANK_PATTERN } from '../platform/http/validation.ts'

type Json = Record<string, unknown>

/** Key of an operation with the scope that the key of the caller needs. */
export const SCOPE_KEY = 'x-required-scope'

/** OpenAPI keys whose value is a map from arbitrary names to schemas or other nodes. */
const NAME_MAPS = new Set(['properties', 'patternProperties', 'responses', 'headers', 'webhooks'])
/** OpenAPI keys whose value is data, not a schema. */
const DATA_KEYS = new Set(['default', 'enum', 'const', 'example', 'examples', 'required'])

/** Collects named schemas (see `named`) as `components.schemas`. */
export class SchemaComponents {
  readonly #schemas = new Map<string, Json>()

  /** The named schemas found so far, sorted by name. */
  get schemas(): Record<string, Json> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** Returns a copy of a schema or a part of a description in which every named schema is a reference. */
  replaceNamedSchemas(node: unknown): unknown {
    if (Array.isArray(node)) return node.map((item) => this.replaceNamedSchemas(item))
    if (node === null || typeof node !== 'object') return node
    const { title } = node as Json
    return typeof title === 'string' ? this.#component(title, node as Json) : this.#copy(node as Json)
  }

  #copy(node: Json): Json {
    const copy: Json = {}
    for (const [key, value] of Object.entries(node)) {
      if (NAME_MAPS.has(key) && isObject(value))
        copy[key] = mapValues(value, (child) => this.replaceNamedSchemas(child))
      else if (key === 'pattern') copy[key] = portablePattern(value)
      else copy[key] = DATA_KEYS.has(key) ? value : this.replaceNamedSchemas(value)
    }
    return withType(copy)
  }

  #component(name: string, schema: Json): Json {
    const { title: _, ...schemaWithoutTitle } = schema
    const { description, default: defaultValue, examples, ...shape } = schemaWithoutTitle
    const structure = this.#copy(shape)
    const notes = notesOf((schemaNamed(name) ?? {}) as Json)
    const component = this.#schemas.get(name)
    if (!component) this.#schemas.set(name, { ...notes, ...structure })
    else if (!isDeepStrictEqual(component, { ...notes, ...structure }))
      throw new Error(`Two different schemas have the name ${name}.`)
    const ownNotes = Object.entries(notesOf({ description, default: defaultValue, examples })).filter(
      ([key, value]) => !isDeepStrictEqual(value, notes[key as keyof SchemaNotes]),
    )
    return { $ref: `#/components/schemas/${name}`, ...Object.fromEntries(ownNotes) }
  }
}

function notesOf({ description, default: defaultValue, examples }: Json): SchemaNotes {
  return {
    ...(typeof description === 'string' ? { description } : {}),
    ...(defaultValue === undefined ? {} : { default: defaultValue }),
    ...(Array.isArray(examples) ? { examples } : {}),
  }
}

/** Adds the `type` that TypeBox enums lack, and that code generators and documentation pages use. */
function withType(schema: Json): Json {
  const { enum: values } = schema
  if (!Array.isArray(values) || 'type' in schema || !values.every((value) => typeof value === 'string')) return schema
  return { type: 'string', ...schema }
}

/**
 * Returns a pattern that tools in any language can compile. `\\P{White_Space}` is exact, but it is valid only in JavaScript with the `u`
 * flag, which many validators do not set.
 */
export function portablePattern(pattern: unknown): unknown {
  return pattern === NOT_BLANK_PATTERN ? '\\S' : pattern
}

function isObject(value: unknown): value is Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

function mapValues(map: Json, change: (value: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]))
}
