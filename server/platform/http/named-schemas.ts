import type { TSchema } from 'typebox'

const schemaByName = new Map<string, TSchema>()

/**
 * Names a schema in the OpenAPI descriptions and in the types generated from them. The name is stored as the JSON Schema `title`:
 * an annotation that neither validation nor serialization reads, and that copies of the schema, such as those of Type.Optional, keep.
 */
export function named<Schema extends TSchema>(name: string, schema: Schema): Schema {
  if (schemaByName.has(name)) throw new Error(`Two schemas have the name ${name}.`)
  schemaByName.set(name, schema)
  return Object.assign(schema, { title: name })
}

/** Returns the schema that `named` was called with, or undefined for a derived name such as `MandateList`. */
export function schemaNamed(name: string): TSchema | undefined {
  return schemaByName.get(name)
}

/** Returns the options that name a schema after the one it wraps: `MandateList` for a list of `Mandate`. */
export function nameAfter(schema: TSchema, suffix: string): { title?: string } {
  const { title } = schema as { title?: string }
  return title === undefined ? {} : { title: title + suffix }
}

export interface SchemaNotes {
  description?: string
  default?: unknown
  examples?: unknown[]
}

/** Returns a copy of a named schema with notes that apply to one use of it. */
export function withNotes<Schema extends TSchema>(schema: Schema, notes: SchemaNotes): Schema {
  // TypeBox marks kinds and modifiers with properties that are not enumerable, which a spread would lose.
  return Object.assign(Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema)), notes) as Schema
}
